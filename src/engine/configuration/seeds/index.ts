export { endKey, linkKey, rowFaults, SEED, type SeedRows } from './row-faults.ts'

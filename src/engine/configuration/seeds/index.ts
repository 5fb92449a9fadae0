export { endKey, linkKey, rowFaults, type SeedRows } from './row-faults.ts'
export { SEED } from './seed.ts'

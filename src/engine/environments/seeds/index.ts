export { applySeed, clearSeed, resetSeed, type SeedRun } from './run-seed.ts'

export { BASE, type Base, DEFAULT_SETTINGS, deleteBase, putBase } from './base.ts'
export { countBase, getBase, listBases, listPreviews } from './read.ts'
export { baseLock, baseTable, LOCK_BASE_ID, toRow } from './table.ts'

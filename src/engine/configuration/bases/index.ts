export { BASE, type Base, DEFAULT_SETTINGS, deleteBase, putBase } from './base.ts'
export { countBase, getBase, listBases, listPreviews } from './read.ts'
export { baseTable, LOCK_BASE_ID, LOCK_PREVIEW_ID, toRow } from './table.ts'

export { BASE, type Base, LOCK_BASE_ID } from './base.ts'
export { countBase, getBase, listBases, listPreviews } from './read.ts'
export { baseTable } from './table.ts'
export { deleteBase, putBase } from './write.ts'

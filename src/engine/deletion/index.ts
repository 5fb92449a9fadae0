export { clearLinksOfType } from './clear-type.ts'
export { deleteRecords } from './delete-records.ts'

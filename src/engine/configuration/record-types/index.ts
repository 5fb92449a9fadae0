export { patchRecordType, putRecordType } from './change.ts'
export {
  demandType,
  getRecordType,
  listRecordTypes,
  refreshType,
  typesVersion,
} from './read.ts'
export type { RecordType } from './record-type.ts'
export { deleteRecordType } from './remove.ts'

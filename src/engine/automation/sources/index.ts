export {
  getSourceRecord,
  listSourceRecords,
  type SourcePage,
} from './read.ts'
export { createRecord, patchRecord, putRecord, putRecordByPair, reserveSource } from './records.ts'
export type { SourceRecord } from './source-record.ts'

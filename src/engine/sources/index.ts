export {
  getSourceRecord,
  listSourceRecords,
  type SourceListArgs,
  type SourcePage,
} from './read.ts'
export { createRecord, patchRecord, putRecord, putRecordByPair, reserveSource } from './records.ts'
export type { SourceRecord } from './source-record.ts'

export type { Change } from './changes.ts'
export { type Client, type ClientOptions, createClient } from './client.ts'
export { type Detail, PlinthError } from './errors.ts'
export type { Pages } from './pages.ts'
export type { ListOptions, Records } from './records.ts'
export type {
  AnyBase,
  BaseTypes,
  Filter,
  LinkedRecords,
  RecordTypes,
  Relationship,
  StoredRecord,
  Where,
} from './types.ts'

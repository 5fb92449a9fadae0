import { hasControlCharacters, ID_RULES, isRecordId } from '../../../contract/ids.ts'
import type { ActorKind } from '../../../contract/shapes.ts'
import { invalid, oneFault } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Snippet } from '../search/snippets.ts'
import type { Expansion } from './expansion.ts'
import type { LinkCounts } from './link-counts.ts'

/** A record in the format of all surfaces. */
export type RecordItem = {
  id: string
  recordType: string
  data: unknown
  externalId: string | null
  externalSource: string | null
  version: number
  status: 'active' | 'cancelled'
  cancelledAt: string | null
  /** False when the record violates the current schema; otherwise null. */
  valid: false | null
  createdAt: string
  updatedAt: string
  operation?: 'created' | 'updated' | 'unchanged'
  /** Operations on the links that were written with it. */
  linked?: LinkCounts
  /** What the caller should know of the data that was written. */
  warnings?: readonly string[]
  /** Relevance in a full-text search; null without a search. */
  searchScore?: number | null
  /** What a search found, on request. */
  snippets?: readonly Snippet[] | undefined
  /** Linked records, on request. */
  expansion?: Expansion | undefined
  /** Its active claim, on request; null if nobody holds one. */
  claim?: Claim | null | undefined
}

export type ClaimStatus = 'active' | 'completed' | 'exhausted'
/** A claim in the format of all surfaces. */
export type Claim = {
  id: string
  recordType: string
  recordId: string
  status: ClaimStatus | 'released'
  attempts: number
  expiresAt: string
  /** The token that made it. */
  holder: { tokenId: string; name: string; kind: ActorKind }
  claimedAt: string
}

/** What every format shows of a record. A record of an external source has null for what it lacks. */
type Shown = Pick<RecordItem, 'id' | 'recordType' | 'data' | 'externalId' | 'externalSource'> & {
  [Field in 'version' | 'status' | 'cancelledAt' | 'valid' | 'createdAt' | 'updatedAt']:
    | RecordItem[Field]
    | null
}

/** A record, stored or of an external source, in the format of REST and MCP. */
type ViewOf<Item extends Shown> = {
  id: string
  record_type: string
  data: unknown
  created_at: Item['createdAt']
  updated_at: Item['updatedAt']
  external_id: string | null
  external_source: string | null
  version: Item['version']
  status: Item['status']
  cancelled_at: string | null
  valid?: false
}

/** A stored record in the format of REST and MCP. */
export type RecordRowView = ViewOf<RecordItem> & {
  /** Relevance in a full-text search: higher is better. */
  _search_score?: number
  _snippets?: readonly Snippet[]
}

export type RecordRow = {
  id: string
  external_source: string | null
  external_id: string | null
  data: unknown
  version: number
  cancelled_at: Time | null
  valid: boolean
  created_at: Time
  updated_at: Time
}

/** A timestamp of a row. In a transaction, the ORM returns a Date. */
type Time = Date | string
export const written = (time: Time): string => (typeof time === 'string' ? time : time.toISOString())

/** Columns of a row without its data, for when the data is known. */
export const COLUMNS_BUT_DATA =
  'id, external_source, external_id, version, cancelled_at, valid, created_at, updated_at'
export type RowButData = Omit<RecordRow, 'data'>

/** Columns of a RecordRow. */
export const RECORD_COLUMNS =
  'id, external_source, external_id, data, version, cancelled_at, valid, created_at, updated_at'

export function toRecord(recordType: string, row: RecordRow): RecordItem {
  return {
    id: row.id,
    recordType,
    data: row.data,
    externalId: row.external_id,
    externalSource: row.external_source,
    version: row.version,
    status: row.cancelled_at ? 'cancelled' : 'active',
    cancelledAt: row.cancelled_at ? written(row.cancelled_at) : null,
    valid: row.valid ? null : false,
    createdAt: written(row.created_at),
    updatedAt: written(row.updated_at),
  }
}

export function toView(recordType: string, row: RecordRow & { score?: number }): RecordRowView {
  const view: RecordRowView = {
    id: row.id,
    record_type: recordType,
    data: row.data,
    created_at: written(row.created_at),
    updated_at: written(row.updated_at),
    external_id: row.external_id,
    external_source: row.external_source,
    version: row.version,
    status: row.cancelled_at ? 'cancelled' : 'active',
    cancelled_at: row.cancelled_at ? written(row.cancelled_at) : null,
  }
  if (!row.valid) view.valid = false
  if (row.score !== undefined) view._search_score = row.score
  return view
}

/** Converts a record to the REST format. */
export function viewOf<Item extends Shown>(record: Item): ViewOf<Item> {
  const view: ViewOf<Item> = {
    id: record.id,
    record_type: record.recordType,
    data: record.data,
    created_at: record.createdAt,
    updated_at: record.updatedAt,
    external_id: record.externalId,
    external_source: record.externalSource,
    version: record.version,
    status: record.status,
    cancelled_at: record.cancelledAt,
  }
  if (record.valid === false) view.valid = false
  return view
}

/** Serializes a row to the REST format, with its data as JSON text. Ids and types need no escaping. */
export function toViewText(
  recordType: string,
  row: RecordRow & { score?: number },
  data: unknown = row.data,
): string {
  const { cancelled_at, external_id: externalId, external_source: source } = row
  const cancelled = cancelled_at
    ? `"cancelled","cancelled_at":"${written(cancelled_at)}"`
    : '"active","cancelled_at":null'
  return `{"id":"${row.id}","record_type":"${recordType}","data":${data},"created_at":"${written(row.created_at)}","updated_at":"${written(row.updated_at)}","external_id":${externalId && JSON.stringify(externalId)},"external_source":${source && JSON.stringify(source)},"version":${row.version},"status":${cancelled}${row.valid ? '' : ',"valid":false'}${row.score === undefined ? '' : `,"_search_score":${row.score}`}}`
}

export type Pair = { externalId: string; externalSource: string }
export type PairInput = { externalId?: string | null | undefined; externalSource?: string | null | undefined }

/** The parts of a record that a patch can change. */
export type RecordState = { data: unknown } & PairInput

/**
 * Reads the external pair of a write, with the default source; null if there is none.
 * @throws VALIDATION_ERROR
 */
export function readPair({ externalId, externalSource }: PairInput): Pair | null {
  if (externalId === undefined || externalId === null) {
    if (externalSource === undefined || externalSource === null) return null
    throw invalid({
      path: '/external_id',
      code: 'required',
      message: 'external_source needs an external_id beside it.',
    })
  }
  const pair = { externalId, externalSource: externalSource ?? 'default' }
  checkExternal(pair.externalId, '/external_id')
  checkExternal(pair.externalSource, '/external_source')
  return pair
}

/** Whether a text can be an external id or source. */
export const isExternal = (text: string): boolean =>
  text.length >= 1 && [...text].length <= LIMITS.externalIdChars && !hasControlCharacters(text)

/** @throws VALIDATION_ERROR for a text that no external id or source can be */
export function checkExternal(value: string, path: string): void {
  if (isExternal(value)) return
  throw invalid({
    path,
    code: 'invalid_external_id',
    message: `${path.slice(1)} must have 1 to ${LIMITS.externalIdChars} characters without control characters.`,
  })
}

export function checkRecordId(id: string): void {
  if (isRecordId(id)) return
  throw invalid({
    path: '/id',
    code: 'invalid_id',
    message: `A record id must be ${ID_RULES.record}.`,
    received: id.slice(0, 130),
  })
}

/**
 * Serializes a record's data and checks its size.
 * @throws VALIDATION_ERROR
 */
export function dataText(data: unknown, maxBytes: number): string {
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw invalid({ path: '/data', code: 'type', message: 'data must be an object.', expected: 'object' })
  const text = JSON.stringify(data)
  if (text.length > maxBytes / 4 && Buffer.byteLength(text) > maxBytes)
    throw invalid({
      path: '/data',
      code: 'too_large',
      message: `data can have at most ${maxBytes} bytes as JSON.`,
      expected: maxBytes,
    })
  return text
}

/** `meant` is the id of the record that has the id as its external id. */
export const recordNotFound = (recordType: string, id: string, meant?: string) =>
  oneFault('NOT_FOUND', `There is no record "${id}" of type "${recordType}".`, {
    path: '/id',
    code: 'record_not_found',
    ...(meant === undefined
      ? { message: 'List the records of the type, or create this one.' }
      : { message: `It is the external_id of "${meant}". Send that id.`, hint: meant }),
  })

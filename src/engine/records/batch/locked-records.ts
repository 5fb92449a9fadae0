import type { WriteScope } from '../../core/write/write.ts'
import { COLUMNS_BUT_DATA, type Pair, RECORD_COLUMNS, type RecordRow } from '../../data/ledger/record.ts'
import { type Statement, statement, timed } from '../../storage/database/client.ts'
import { FEW_RECORDS } from '../../storage/database/few-records.ts'
import { tooLarge } from './too-large.ts'

/** A locked record; `data` only if requested. */
export type LockedRow = RecordRow & {
  /** Physical row location (`ctid`); while the row is locked, only this transaction changes it. */
  readonly place: string
  /** Bytes of its data as text, if read. */
  readonly bytes?: number
}

/** The locked records of a batch. */
export type LockedRecords = {
  /** Total bytes of data read. */
  bytes: number
  get(recordType: string, id: string): LockedRow | undefined
  byPair(recordType: string, pair: Pair): LockedRow | undefined
  set(recordType: string, row: LockedRow): void
  remove(recordType: string, id: string): void
  /** Marks a record as outside the caller's row policy. */
  hide(recordType: string, id: string): void
  isHidden(recordType: string, id: string): boolean
  /** Iterates over every record with its type. */
  all(): Iterable<readonly [recordType: string, row: LockedRow]>
}

export const recordKey = (recordType: string, id: string): string => `${recordType}\n${id}`
export const pairKey = ({ externalSource, externalId }: Pair): string => `${externalSource}\n${externalId}`

/** The external id pair of a row, if any. */
const pairOf = ({ external_source, external_id }: RecordRow): Pair | null =>
  external_source === null || external_id === null
    ? null
    : { externalSource: external_source, externalId: external_id }

/** Locked rows of one type, by id and by external id pair. */
type OfType = { rows: Map<string, LockedRow>; pairs: Map<string, string>; hidden: Set<string> }

export function openLockedRecords(): LockedRecords {
  const types = new Map<string, OfType>()
  const of = (recordType: string): OfType => {
    const known = types.get(recordType)
    if (known) return known
    const opened = { rows: new Map(), pairs: new Map(), hidden: new Set<string>() }
    types.set(recordType, opened)
    return opened
  }
  const forget = ({ rows, pairs }: OfType, id: string): void => {
    const row = rows.get(id)
    const pair = row && pairOf(row)
    if (pair) pairs.delete(pairKey(pair))
  }
  return {
    bytes: 0,
    get: (recordType, id) => types.get(recordType)?.rows.get(id),
    byPair: (recordType, pair) => {
      const { rows, pairs } = of(recordType)
      const id = pairs.get(pairKey(pair))
      return id === undefined ? undefined : rows.get(id)
    },
    set: (recordType, row) => {
      const ofType = of(recordType)
      forget(ofType, row.id)
      ofType.rows.set(row.id, row)
      const pair = pairOf(row)
      if (pair) ofType.pairs.set(pairKey(pair), row.id)
    },
    remove: (recordType, id) => {
      const ofType = of(recordType)
      forget(ofType, id)
      ofType.rows.delete(id)
    },
    hide: (recordType, id) => void of(recordType).hidden.add(id),
    isHidden: (recordType, id) => types.get(recordType)?.hidden.has(id) ?? false,
    *all() {
      for (const [recordType, { rows }] of types) for (const row of rows.values()) yield [recordType, row]
    },
  }
}

const PLACE = 'ctid::text AS place'
const NO_DATA = `${COLUMNS_BUT_DATA}, NULL::jsonb AS data, ${PLACE}`
/** Returns data while its running total is at most `$6` bytes. */
const WITH_DATA = `${COLUMNS_BUT_DATA}, place, bytes, CASE WHEN sum(bytes) OVER (ORDER BY id) <= $6 THEN data END AS data`

/**
 * Locks the type (KEY SHARE), then the records by id and by external id pair, in id order like every writer.
 * Returns at least one row: the type's revision, null without the type. The arrays are wrapped in subqueries
 * so that a generic plan does not depend on their length.
 */
const lock = (name: string, strength: string, withData: boolean): Statement => {
  const records = (columns: string) => `SELECT ${columns} FROM ${FEW_RECORDS}
       WHERE EXISTS (SELECT FROM ty) AND base_id = $1 AND record_type = $2 AND id = ANY (ARRAY(
         SELECT k.id COLLATE "C" FROM unnest((SELECT $3::text[])) AS k (id)
         UNION ALL SELECT p.id FROM unnest((SELECT $4::text[]), (SELECT $5::text[])) AS k (external_source, external_id),
         LATERAL (
           SELECT id FROM ${FEW_RECORDS}
           WHERE base_id = $1 AND record_type = $2 AND external_source = k.external_source COLLATE "C"
             AND external_id = k.external_id COLLATE "C" LIMIT 1) p))
       ORDER BY id ${strength}`
  const locked = withData
    ? `SELECT ${WITH_DATA} FROM (
         SELECT *, octet_length(data::text) AS bytes FROM (${records(`${RECORD_COLUMNS}, ${PLACE}`)}) l) l`
    : records(NO_DATA)
  return timed(
    statement(
      name,
      `WITH ty AS MATERIALIZED (SELECT revision FROM plinth.record_type WHERE base_id = $1 AND id = $2 FOR KEY SHARE)
     SELECT (SELECT revision FROM ty) AS revision, s.* FROM (SELECT) AS one LEFT JOIN (${locked}) s ON true`,
    ),
  )
}
const NO_KEY_UPDATE = 'FOR NO KEY UPDATE'
const LOCK = lock('lock_records', NO_KEY_UPDATE, false)
const LOCK_AND_READ = lock('lock_and_read_records', NO_KEY_UPDATE, true)
// FOR UPDATE prevents new links to a record while it is deleted.
const LOCK_TO_DELETE = lock('lock_records_to_delete', 'FOR UPDATE', false)
const READ_TO_DELETE = lock('read_records_to_delete', 'FOR UPDATE', true)

/** The records of one type to lock. */
export type Wanted = {
  readonly ids: Set<string>
  readonly pairs: Map<string, Pair>
  /** Whether to read their data. */
  withData: boolean
  isDeleting: boolean
}

/**
 * Locks the records, adds them to `held` and returns the type's revision; null without the type.
 * @throws VALIDATION_ERROR when their data exceeds the byte budget of a batch
 */
export async function lockRecords(
  scope: WriteScope,
  [baseId, recordType]: readonly [string, string],
  { ids, pairs, withData, isDeleting }: Wanted,
  locked: LockedRecords,
): Promise<number | null> {
  const sources = [...pairs.values()].map((pair) => pair.externalSource)
  const externalIds = [...pairs.values()].map((pair) => pair.externalId)
  const { batchBytes } = scope.limits
  const values: unknown[] = [baseId, recordType, [...ids], sources, externalIds]
  if (withData) values.push(batchBytes - locked.bytes)
  const how = withData ? (isDeleting ? READ_TO_DELETE : LOCK_AND_READ) : isDeleting ? LOCK_TO_DELETE : LOCK
  const rows = await scope.db.query<LockedRow & { id: string | null; revision: number | null }>(how, values)
  for (const row of rows) {
    if (row.id === null) continue
    if (withData && row.data === null) throw tooLarge(batchBytes)
    locked.bytes += row.bytes ?? 0
    locked.set(recordType, row)
  }
  return rows[0]?.revision ?? null
}

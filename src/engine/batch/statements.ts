import { RECORD_LOG_COLUMNS } from '../change-log/entry.ts'
import { writeStatement } from '../indexes/index.ts'
import { formerVersion } from '../record-store/former-version.ts'
import { COLUMNS_BUT_DATA, type RowButData } from '../record-store/record.ts'
import type { LockedRow } from './locked-records.ts'
import type { Content } from './operation.ts'

/** The columns that a write returns. */
export type WrittenRow = Pick<LockedRow, 'id' | 'version' | 'place' | 'updated_at'>
const WRITTEN = 'id, version, place::text AS place, updated_at'

/** A record without its data, and the effect of the upsert. */
export type UpsertedRow = RowButData & { readonly did: 'created' | 'updated' | 'unchanged' }

/** CTE that appends change-log entries for the rows of `w`; the author is bound from `$first`. */
const logged = (operation: string, first: number): string => `logged AS (
     INSERT INTO plinth.change (${RECORD_LOG_COLUMNS})
     SELECT $1, 'record', $2, id, ${operation}, version, data, external_source, external_id, cancelled_at, created_at,
       $${first}, $${first + 1}, $${first + 2}, $${first + 3}, $${first + 4}::jsonb FROM w)`

const LAST_VERSION = formerVersion(
  '$1',
  `SELECT max(version) FROM plinth.change c
       WHERE c.kind = 'record' AND c.base_id = $1 AND c.record_type = $2 AND c.id = i.id COLLATE "C"`,
)

// The type and the records are already locked. Arrays are wrapped in subqueries so that a generic plan does
// not depend on their length. Data is one JSON text, which is cheaper on both sides than an array.

/**
 * Creates many records of one type. A concurrent insert causes a unique violation, and the transaction is
 * retried.
 */
export const CREATE_RECORDS = writeStatement(
  'batch_create_records',
  (entries) => `WITH w AS (
     INSERT INTO plinth.record (base_id, record_type, id, data, external_source, external_id, version)
     SELECT $1, $2, i.id, i.data, i.external_source, i.external_id, 1 + CASE WHEN i.is_new_id THEN 0 ELSE ${LAST_VERSION} END
     FROM ROWS FROM (unnest((SELECT $3::text[]), (SELECT $5::text[]), (SELECT $6::text[]), (SELECT $7::boolean[])), jsonb_array_elements((SELECT $4::jsonb)))
       AS i (id, external_source, external_id, is_new_id, data)
     RETURNING *, ctid AS place),
   ${logged("'create'", 8)}${entries}
   SELECT ${WRITTEN} FROM w`,
)

/**
 * Replaces the data of many records, and external id pairs if given. Skips unchanged records. Rows are
 * located by ctid, which the row lock keeps stable, so the key is not looked up again.
 */
export const UPDATE_RECORDS = writeStatement(
  'batch_update_records',
  (entries) => `WITH w AS (
     UPDATE plinth.record r SET data = i.data, version = r.version + 1, updated_at = now(), valid = true,
       external_source = coalesce(i.external_source, r.external_source), external_id = coalesce(i.external_id, r.external_id)
     FROM ROWS FROM (unnest((SELECT $3::text[]), (SELECT $7::tid[]), (SELECT $5::text[]), (SELECT $6::text[])), jsonb_array_elements((SELECT $4::jsonb)))
       AS i (id, place, external_source, external_id, data)
     WHERE r.ctid = i.place AND r.id = i.id COLLATE "C" AND (r.data IS DISTINCT FROM i.data OR (i.external_id IS NOT NULL
         AND (r.external_source, r.external_id) IS DISTINCT FROM (i.external_source, i.external_id)))
     RETURNING r.*, r.ctid AS place),
   ${logged("'update'", 8)}${entries}
   SELECT ${WRITTEN} FROM w`,
)

/**
 * Upserts many records of one type atomically without a prior read. Returns no rows if the type's revision
 * differs or a concurrent transaction wrote one of the records during the lock wait: the new row version has
 * another ctid, which the statement's snapshot does not see. Locks in id order, like every writer.
 */
export const UPSERT_RECORDS = writeStatement(
  'batch_upsert_records',
  (entries) => `WITH ty AS MATERIALIZED (
     SELECT 1 FROM plinth.record_type WHERE base_id = $1 AND id = $2 AND revision = $3 FOR KEY SHARE),
   locked AS MATERIALIZED (
     SELECT ${COLUMNS_BUT_DATA}, ctid AS place FROM plinth.record
     WHERE EXISTS (SELECT FROM ty) AND base_id = $1 AND record_type = $2 AND id = ANY ((SELECT $4::text[])::text[])
     ORDER BY id FOR NO KEY UPDATE),
   free AS MATERIALIZED (
     SELECT EXISTS (SELECT FROM ty) AND count(*) = (SELECT count(*) FROM locked) AS all
     FROM locked l JOIN plinth.record r ON r.ctid = l.place),
   upd AS (
     UPDATE plinth.record r SET data = i.data, version = r.version + 1, updated_at = now(), valid = true
     FROM locked l JOIN ROWS FROM (unnest((SELECT $4::text[])), jsonb_array_elements((SELECT $5::jsonb))) AS i (id, data)
       ON i.id COLLATE "C" = l.id
     WHERE (SELECT free.all FROM free) AND r.ctid = l.place AND r.data IS DISTINCT FROM i.data RETURNING r.*),
   ins AS (
     INSERT INTO plinth.record (base_id, record_type, id, data, version)
     SELECT $1, $2, i.id, i.data, 1 + ${LAST_VERSION}
     FROM ROWS FROM (unnest((SELECT $4::text[])), jsonb_array_elements((SELECT $5::jsonb))) AS i (id, data)
     WHERE (SELECT free.all FROM free) AND (SELECT count(*) FROM locked) < cardinality((SELECT $4::text[]))
       AND i.id COLLATE "C" NOT IN (SELECT id FROM locked)
     ORDER BY i.id COLLATE "C" RETURNING *),
   w AS (SELECT 'update' AS op, upd.* FROM upd UNION ALL SELECT 'create', ins.* FROM ins),
   ${logged('op', 6)}${entries}
   SELECT op || 'd' AS did, ${COLUMNS_BUT_DATA} FROM w
   UNION ALL SELECT 'unchanged', ${COLUMNS_BUT_DATA} FROM locked
   WHERE (SELECT free.all FROM free) AND (SELECT count(*) FROM upd) < (SELECT count(*) FROM locked)
     AND id NOT IN (SELECT id FROM upd)`,
)

/** Cancels many records. */
export const CANCEL_RECORDS = writeStatement(
  'batch_cancel_records',
  (entries) => `WITH w AS (
     UPDATE plinth.record r SET cancelled_at = now(), version = r.version + 1, updated_at = now()
     WHERE r.base_id = $1 AND r.record_type = $2 AND r.id = ANY ((SELECT $3::text[])::text[]) RETURNING r.*, r.ctid AS place),
   ${logged("'cancel'", 4)}${entries}
   SELECT ${WRITTEN} FROM w`,
)

type Writing = { readonly decision: { readonly write: Content } }

/** Serializes the data of many records as one JSON array. */
export const listText = (writes: readonly Content[]): string =>
  `[${writes.map(({ text }) => text).join(',')}]`

/**
 * Bind values of a bulk write: the data as one JSON text, and the external id pairs. Trailing missing pairs
 * are omitted.
 */
export function columnsOf(all: readonly Writing[]): readonly [string, (string | null)[], (string | null)[]] {
  const text = listText(all.map(({ decision }) => decision.write))
  if (all.every(({ decision }) => decision.write.pair === null)) return [text, [], []]
  const pairs = all.map(({ decision }) => decision.write.pair)
  return [
    text,
    pairs.map((pair) => pair?.externalSource ?? null),
    pairs.map((pair) => pair?.externalId ?? null),
  ]
}

/**
 * Approximate characters of data per statement. PostgreSQL uses up to a hundred bytes for each number that it
 * parses.
 */
export const PART_CHARS = 1024 * 1024

/** Splits writes into chunks of one statement each. */
export function inParts<W extends Writing>(all: readonly W[]): W[][] {
  const parts: W[][] = []
  let room = 0
  for (const each of all) {
    const { length } = each.decision.write.text
    const last = parts.at(-1)
    if (last && length <= room) last.push(each)
    else {
      parts.push([each])
      room = PART_CHARS
    }
    room -= length
  }
  return parts
}

import { ROW_OVERHEAD } from '../database/capped-query.ts'
import type { BoundFilter } from '../filter/bind.ts'
import { compileFilter } from '../filter/compile.ts'
import type { BoundStatement } from '../filter/parameters.ts'
import { type Compiled, compileFor } from '../query/compile-query.ts'
import { all, type ListQuery } from '../query/list-statement.ts'
import { numbersInOrder } from '../query/ordered-rows.ts'
import { scope } from '../query/record-source.ts'
import { RECORD_COLUMNS, type RecordRow } from '../record-store/record.ts'
import { attemptsBefore, keepsOut } from './status-sql.ts'

/** Which records are asked for, in which order, and for how long. */
export type ClaimQuery = Pick<ListQuery, 'baseId' | 'recordType' | 'type' | 'sort'> & {
  filter: BoundFilter | null
  leaseSeconds: number
  maxAttempts: number | null
  tokenId: string
}

/** How many records are handed out: one for each id of a claim, and while they have room; `atLeast` of them always. */
export type ClaimRoom = { ids: readonly string[]; bytes: number; atLeast: number }

/**
 * A record that was picked, with its claim, whose id is null when another came first; one row without a record when none
 * was. `is_cut` says of all of them that more records may match than were looked at, `is_full` that there was no room for
 * one that is free.
 */
export type PickedRow = { is_cut: boolean; is_full: boolean } & (
  | { id: null }
  | (RecordRow & { bytes: number; claim_id: null })
  | (RecordRow & { bytes: number; claim_id: string; expires_at: Date | string; attempts: number })
)

/**
 * Hands out the first records that are free, as many as there is room for, among the first `most` that match. Those that somebody
 * else is just taking are stepped over (SKIP LOCKED), so callers never wait for each other; whether a record is still
 * free is asked again by what writes its claim, as others may have committed since this statement began.
 */
export function claimStatement(
  query: ClaimQuery,
  { ids, bytes, atLeast }: ClaimRoom,
  most: number | null,
): BoundStatement {
  const how = compileFor(query)
  const { parameters } = how
  const attempts = `${parameters.add(query.maxAttempts)}::int`
  const free = freeRecords(query, how, attempts, most)
  const given = `(SELECT ${parameters.add(ids)}::text[])`
  const lease = `${parameters.add(query.leaseSeconds)}::int`
  const base = parameters.add(query.baseId)
  const columns = RECORD_COLUMNS.split(', ').map((column) => `r.${column}`)
  return parameters.bind(`WITH c AS MATERIALIZED (${free.numbers}),
   found AS MATERIALIZED (
    SELECT r.*, row_number() OVER () AS n, octet_length(r.data::text) + ${ROW_OVERHEAD} AS bytes FROM (
      SELECT r.* FROM c, LATERAL (
        SELECT ${columns.join(', ')}, r.row_no FROM plinth.record r WHERE ${free.conditions}
        FOR NO KEY UPDATE OF r SKIP LOCKED) r
      LIMIT ${parameters.add(ids.length)}::bigint) r),
   -- What has no room in the answer is not claimed: nobody would know of it until its lease ends.
   picked AS MATERIALIZED (
    SELECT * FROM (SELECT *, sum(bytes) OVER (ORDER BY n ROWS UNBOUNDED PRECEDING) AS upto FROM found) r
    WHERE n <= ${parameters.add(atLeast)}::bigint OR upto <= ${parameters.add(bytes)}::bigint),
   -- The claims before, by number first: as a join alone the plan might read those of all tenants.
   ended AS (
     UPDATE plinth.claim k SET row_no = NULL FROM picked r
     WHERE k.row_no = ANY (ARRAY(SELECT row_no FROM picked)) AND k.row_no = r.row_no AND NOT ${keepsOut(attempts)}
     RETURNING r.row_no, ${attemptsBefore(attempts)} AS attempts),
   claimed AS (
     INSERT INTO plinth.claim (base_id, id, record_type, record_id, row_no, version, token_id, attempts, max_attempts, lease_seconds, expires_at)
     SELECT ${base}, (${given})[r.n], ${parameters.add(query.recordType)}, r.id, r.row_no, r.version, ${parameters.add(query.tokenId)},
       1 + coalesce(e.attempts, 0), ${attempts}, ${lease}, now() + make_interval(secs => ${lease})
     FROM picked r LEFT JOIN ended e ON e.row_no = r.row_no
     ON CONFLICT (row_no) DO NOTHING RETURNING id, row_no, attempts, expires_at)
   SELECT w.*, ${columns.join(', ')}, r.bytes, d.id AS claim_id, d.expires_at, d.attempts
   FROM (SELECT ${most === null ? 'false' : `(SELECT count(*) FROM c) = ${most}`} AS is_cut,
     (SELECT count(*) FROM found) > (SELECT count(*) FROM picked) AS is_full) w
   LEFT JOIN (picked r LEFT JOIN claimed d ON d.row_no = r.row_no) ON true ORDER BY r.n`)
}

/** Is any record free, whoever may be taking it now? */
export function anyFreeStatement(query: ClaimQuery, most: number | null): BoundStatement {
  const how = compileFor(query)
  const attempts = `${how.parameters.add(query.maxAttempts)}::int`
  const { numbers, conditions } = freeRecords(query, how, attempts, most)
  return how.parameters.bind(
    `SELECT 1 AS one FROM (${numbers}) c, LATERAL (SELECT 1 FROM plinth.record r WHERE ${conditions} LIMIT 1) r LIMIT 1`,
  )
}

/** The numbers of what may match, in order, and what each record has to meet to be handed out. */
function freeRecords(query: ClaimQuery, how: Compiled, attempts: string, most: number | null) {
  const matches = query.filter && compileFilter(query.filter, how.target)
  return {
    numbers: numbersInOrder(query, how, most),
    // The whole filter: a record that changed while its lock was awaited is tested again by these conditions alone.
    conditions: all([
      'r.row_no = c.row_no',
      scope(query, how.parameters),
      'r.cancelled_at IS NULL',
      matches,
      `(SELECT true FROM plinth.claim k WHERE k.row_no = r.row_no AND ${keepsOut(attempts)} LIMIT 1) IS NULL`,
    ]),
  }
}

import type { ActorKind } from '../../../contract/shapes.ts'
import { compileFilter } from '../../data/filter/compile.ts'
import type { BoundStatement } from '../../data/filter/parameters.ts'
import type { BoundFilter } from '../../data/filter/syntax-tree.ts'
import { RECORD_COLUMNS, type RecordRow } from '../../data/ledger/record.ts'
import { ROW_OVERHEAD } from '../../storage/database/capped-query.ts'
import { type Compiled, compileFor } from '../query/compile-query.ts'
import { all, type ListQuery, numbersInOrder } from '../query/list-statement.ts'
import { scope } from '../query/record-source.ts'
import { attemptsBefore, keepsOut } from './claim-guard.ts'

/** The records to claim: filter, order and lease. */
export type ClaimQuery = Pick<ListQuery, 'baseId' | 'recordType' | 'type' | 'sort' | 'candidates'> & {
  filter: BoundFilter | null
  leaseSeconds: number
  maxAttempts: number | null
  tokenId: string
  tokenName: string
  tokenKind: ActorKind | null
}

/** Number of records to claim: one per id, within the byte limit, but always at least `atLeast`. */
export type ClaimRoom = { ids: readonly string[]; bytes: number; atLeast: number }

/**
 * A claimed record. The claim id is null when another worker was faster. A single row without a record means
 * that none was found. `is_cut`: more records may match than were scanned. `is_full`: a free record exceeds
 * the byte limit.
 */
export type PickedRow = { is_cut: boolean; is_full: boolean } & (
  | { id: null }
  | (RecordRow & { bytes: number; claim_id: null })
  | (RecordRow & { bytes: number; claim_id: string; expires_at: Date | string; attempts: number })
)

/**
 * Claims the first free records among the first `most` matches, within the limits. SKIP LOCKED skips records
 * that others are claiming, so callers do not block each other. The INSERT of the claim checks again that the
 * record is free, because other transactions may have committed since the snapshot.
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
   -- A record that does not fit the response is not claimed: no worker would hold it until its lease ends.
   picked AS MATERIALIZED (
    SELECT * FROM (SELECT *, sum(bytes) OVER (ORDER BY n ROWS UNBOUNDED PRECEDING) AS upto FROM found) r
    WHERE n <= ${parameters.add(atLeast)}::bigint OR upto <= ${parameters.add(bytes)}::bigint),
   -- The claims before, by number first: as a join alone the plan might read those of all tenants.
   ended AS (
     UPDATE plinth.claim k SET row_no = NULL FROM picked r
     WHERE k.row_no = ANY (ARRAY(SELECT row_no FROM picked)) AND k.row_no = r.row_no AND NOT ${keepsOut(attempts)}
     RETURNING r.row_no, ${attemptsBefore(attempts)} AS attempts),
   claimed AS (
     INSERT INTO plinth.claim (base_id, id, record_type, record_id, row_no, version, token_id, token_name, token_kind, attempts, max_attempts, lease_seconds, expires_at)
     SELECT ${base}, (${given})[r.n], ${parameters.add(query.recordType)}, r.id, r.row_no, r.version, ${parameters.add(query.tokenId)}, ${parameters.add(query.tokenName)},
       ${parameters.add(query.tokenKind)}::text,
       1 + coalesce(e.attempts, 0), ${attempts}, ${lease}, now() + make_interval(secs => ${lease})
     FROM picked r LEFT JOIN ended e ON e.row_no = r.row_no
     ON CONFLICT (row_no) DO NOTHING RETURNING id, row_no, attempts, expires_at)
   SELECT w.*, ${columns.join(', ')}, r.bytes, d.id AS claim_id, d.expires_at, d.attempts
   FROM (SELECT ${most === null ? 'false' : `(SELECT count(*) FROM c) = ${most}`} AS is_cut,
     (SELECT count(*) FROM found) > (SELECT count(*) FROM picked) AS is_full) w
   LEFT JOIN (picked r LEFT JOIN claimed d ON d.row_no = r.row_no) ON true ORDER BY r.n`)
}

/** Checks whether any record is free, including records that others have locked. */
export function anyFreeStatement(query: ClaimQuery, most: number | null): BoundStatement {
  const how = compileFor(query)
  const attempts = `${how.parameters.add(query.maxAttempts)}::int`
  const { numbers, conditions } = freeRecords(query, how, attempts, most)
  return how.parameters.bind(
    `SELECT 1 AS one FROM (${numbers}) c, LATERAL (SELECT 1 FROM plinth.record r WHERE ${conditions} LIMIT 1) r LIMIT 1`,
  )
}

/** SQL for the candidate row numbers in order, and the conditions for a free record. */
function freeRecords(query: ClaimQuery, how: Compiled, attempts: string, most: number | null) {
  const matches = query.filter && compileFilter(query.filter, how.operands)
  return {
    numbers: numbersInOrder(query, how, most),
    // Repeat the complete filter: after a lock wait, PostgreSQL rechecks only these conditions on the new row
    // version.
    conditions: all([
      'r.row_no = c.row_no',
      scope(query, how.parameters),
      'r.cancelled_at IS NULL',
      matches,
      `(SELECT true FROM plinth.claim k WHERE k.row_no = r.row_no AND ${keepsOut(attempts)} LIMIT 1) IS NULL`,
    ]),
  }
}

import { readNewest } from '../../core/created-at-page.ts'
import { requireBase } from '../../core/existing-base.ts'
import type { Page, PageArgs } from '../../core/page.ts'
import { read, type Scope } from '../../core/scope.ts'
import { Parameters } from '../../data/filter/parameters.ts'
import { type Claim, type ClaimStatus, written } from '../../data/ledger/record.ts'
import { requireBaseAccess, requirePermission } from '../../storage/access/access.ts'
import { shaped, statement } from '../../storage/database/client.ts'
import { type Titled, withTitles } from '../titles.ts'
import {
  CLAIM_COLUMNS,
  type ClaimRow,
  findClaim,
  ITS_RECORD,
  refuseClaim,
  STATUS,
  toClaim,
} from './claim-guard.ts'

type Row = ClaimRow & { shown: ClaimStatus }

/** Which claims to list; all without a value. `holder` is the id or the name of a token. */
type Wanted = {
  status?: ClaimStatus | null | undefined
  recordType?: string | null | undefined
  recordId?: string | null | undefined
  holder?: string | null | undefined
}

/**
 * Lists the claims on records that the token may read, newest first. Lost claims are not included.
 * @throws FORBIDDEN for a record type outside the grants
 */
export async function listClaims(
  scope: Scope,
  baseId: string,
  { status, recordType, recordId, holder, ...args }: PageArgs & Wanted,
): Promise<Page<Titled<Claim>>> {
  requireBaseAccess(scope.access, baseId)
  if (recordType != null) requirePermission(scope.access, 'read', baseId, recordType)
  const wanted = { status, recordType, recordId, holder }
  const page = readNewest(scope, `claims ${JSON.stringify(wanted)} of ${baseId}`, args)
  const parameters = new Parameters()
  const conditions = conditionsFor(scope, baseId, wanted, parameters)
  const { start } = page
  const before = start
    ? `(k.created_at, k.id) < (${parameters.add(start.values[0])}::timestamptz, ${parameters.add(start.id)})`
    : 'true'
  const list = parameters.bind(`SELECT ${CLAIM_COLUMNS} FROM plinth.claim k ${ITS_RECORD}
    WHERE ${conditions} AND ${before} ORDER BY k.created_at DESC, k.id DESC
    LIMIT ${page.limit + 1} OFFSET ${parameters.add(page.offset)}::bigint`)
  const [rows, total] = await Promise.all([
    read<Row>(scope, shaped(list.text), list.values),
    page.includeTotal ? countClaims(scope, baseId, wanted) : null,
  ])
  if (rows.length === 0) await requireBase(scope, baseId)
  const claims = rows.map((row) => ({ ...toClaim(row, row.shown), createdAt: written(row.created_at) }))
  const listed = page.of(claims, total)
  return { ...listed, data: withTitles(scope, baseId, listed.data, recordOf) }
}

const recordOf = ({ recordType, recordId: id }: Claim) => ({ kind: 'record', recordType, id })

/**
 * Reads one claim.
 * @throws NOT_FOUND; CONFLICT when it is lost
 */
export async function getClaim(scope: Scope, baseId: string, id: string): Promise<Claim> {
  const row = await findClaim(scope, baseId, id)
  if (row.shown === null) return refuseClaim(scope, baseId, id)
  const claim = toClaim(row, row.shown)
  return withTitles(scope, baseId, [claim], recordOf)[0] ?? claim
}

async function countClaims(scope: Scope, baseId: string, wanted: Wanted): Promise<number> {
  const parameters = new Parameters()
  const conditions = conditionsFor(scope, baseId, wanted, parameters)
  const { text, values } = parameters.bind(
    `SELECT count(*)::float8 AS total FROM plinth.claim k ${ITS_RECORD} WHERE ${conditions}`,
  )
  const [row] = await read<{ total: number }>(scope, shaped(text), values)
  return row?.total ?? 0
}

function conditionsFor(
  scope: Scope,
  baseId: string,
  { status, recordType, recordId, holder }: Wanted,
  parameters: Parameters,
): string {
  const types = scope.access.types('read', baseId)
  const wanted = status == null ? 'IS NOT NULL' : `= ${parameters.add(status)}`
  return [
    `k.base_id = ${parameters.add(baseId)} AND k.row_no IS NOT NULL AND (${STATUS}) ${wanted}`,
    // Enables the partial index: open claims are few, completed ones may be many.
    ...(status == null || status === 'completed' ? [] : [`k.status <> 'completed'`]),
    ...(recordType == null ? [] : [`k.record_type = ${parameters.add(recordType)}`]),
    ...(recordId == null ? [] : [`k.record_id = ${parameters.add(recordId)}`]),
    ...(holder == null ? [] : [`${parameters.add(holder)} IN (k.token_id, k.token_name)`]),
    ...(types === '*' ? [] : [`k.record_type = ANY (${parameters.add([...types])}::text[])`]),
  ].join(' AND ')
}

const ACTIVE = statement(
  'active_claims_of',
  `SELECT ${CLAIM_COLUMNS} FROM unnest((SELECT $3::text[])) AS w (id),
     LATERAL (SELECT r.row_no, r.version FROM plinth.record r
       WHERE r.base_id = $1 AND r.record_type = $2 AND r.id = w.id COLLATE "C" LIMIT 1) r,
     LATERAL (SELECT * FROM plinth.claim k WHERE k.row_no = r.row_no LIMIT 1) k
   WHERE k.status = 'held' AND k.expires_at > now()`,
)

/** The active claims of records of a type, by record. */
export async function activeClaimsOf(
  scope: Scope,
  baseId: string,
  recordType: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Claim>> {
  const rows = await read<Row>(scope, ACTIVE, [baseId, recordType, ids])
  return new Map(rows.map((row) => [row.record_id, toClaim(row, 'active')]))
}

/** A claim in the form of REST. */
export const claimView = ({
  id,
  recordType,
  recordId,
  status,
  holder,
  claimedAt,
  attempts,
  expiresAt,
}: Claim) => ({
  ...{ id, record_type: recordType, record_id: recordId, status },
  holder: { token_id: holder.tokenId, name: holder.name, kind: holder.kind },
  ...{ claimed_at: claimedAt, attempts, expires_at: expiresAt },
})

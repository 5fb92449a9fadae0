import { requireBaseAccess } from '../access/access.ts'
import { readNewest } from '../core/created-at-page.ts'
import { requireBase } from '../core/existing-base.ts'
import type { Page, PageArgs } from '../core/page.ts'
import { read, type Scope } from '../core/scope.ts'
import { shaped } from '../database/client.ts'
import { Parameters } from '../filter/parameters.ts'
import { written } from '../record-store/record.ts'
import {
  CLAIM_COLUMNS,
  type Claim,
  type ClaimRow,
  type ClaimStatus,
  findClaim,
  ITS_RECORD,
  refuseClaim,
  STATUS,
  toClaim,
} from './claim-guard.ts'

type Row = ClaimRow & { shown: ClaimStatus; created_at: Date | string }

/** Lists the claims on records that the token may read, newest first. Lost claims are not included. */
export async function listClaims(
  scope: Scope,
  baseId: string,
  { status = null, ...args }: PageArgs & { status?: ClaimStatus | null | undefined },
): Promise<Page<Claim>> {
  requireBaseAccess(scope.access, baseId)
  const page = readNewest(scope, `claims ${status} of ${baseId}`, args)
  const parameters = new Parameters()
  const conditions = conditionsFor(scope, baseId, status, parameters)
  const { start } = page
  const before = start
    ? `(k.created_at, k.id) < (${parameters.add(start.values[0])}::timestamptz, ${parameters.add(start.id)})`
    : 'true'
  const list = parameters.bind(`SELECT ${CLAIM_COLUMNS}, k.created_at FROM plinth.claim k ${ITS_RECORD}
    WHERE ${conditions} AND ${before} ORDER BY k.created_at DESC, k.id DESC
    LIMIT ${page.limit + 1} OFFSET ${parameters.add(page.offset)}::bigint`)
  const [rows, total] = await Promise.all([
    read<Row>(scope, shaped(list.text), list.values),
    page.includeTotal ? countClaims(scope, baseId, status) : null,
  ])
  if (rows.length === 0) await requireBase(scope, baseId)
  const claims = rows.map((row) => ({ ...toClaim(row, row.shown), createdAt: written(row.created_at) }))
  return page.of(claims, total)
}

/**
 * Reads one claim.
 * @throws NOT_FOUND; CONFLICT when it is lost
 */
export async function getClaim(scope: Scope, baseId: string, id: string): Promise<Claim> {
  const row = await findClaim(scope, baseId, id)
  return row.shown === null ? refuseClaim(scope, baseId, id) : toClaim(row, row.shown)
}

async function countClaims(scope: Scope, baseId: string, status: ClaimStatus | null): Promise<number> {
  const parameters = new Parameters()
  const conditions = conditionsFor(scope, baseId, status, parameters)
  const { text, values } = parameters.bind(
    `SELECT count(*)::float8 AS total FROM plinth.claim k ${ITS_RECORD} WHERE ${conditions}`,
  )
  const [row] = await read<{ total: number }>(scope, shaped(text), values)
  return row?.total ?? 0
}

function conditionsFor(
  scope: Scope,
  baseId: string,
  status: ClaimStatus | null,
  parameters: Parameters,
): string {
  const types = scope.access.types('read', baseId)
  const wanted = status === null ? 'IS NOT NULL' : `= ${parameters.add(status)}`
  return [
    `k.base_id = ${parameters.add(baseId)} AND k.row_no IS NOT NULL AND (${STATUS}) ${wanted}`,
    // Enables the partial index: open claims are few, completed ones may be many.
    ...(status === null || status === 'completed' ? [] : [`k.status <> 'completed'`]),
    ...(types === '*' ? [] : [`k.record_type = ANY (${parameters.add([...types])}::text[])`]),
  ].join(' AND ')
}

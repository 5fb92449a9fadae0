/** Leases: rejects a write to a record that another worker has claimed. */
import type { ActorKind } from '../../../contract/shapes.ts'
import { advised } from '../../../foundation/advised-requests.ts'
import { oneFault } from '../../../foundation/errors.ts'
import { notInChangeSets } from '../../core/change-set/change-set-scope.ts'
import { policyOn, rightsOf } from '../../core/row-policy/apply.ts'
import type { Scope } from '../../core/scope.ts'
import { LOCK } from '../../data/ledger/read-statements.ts'
import { type Claim, type ClaimStatus, written } from '../../data/ledger/record.ts'
import { requireBaseAccess, requirePermission } from '../../storage/access/access.ts'
import { statement } from '../../storage/database/client.ts'

/**
 * SQL expressions for the state of a row of `plinth.claim`. A completed or exhausted claim keeps its record
 * out of the pool only until another writer changes the record, which its version shows.
 */

/** Whether claim `k` has reached the maximum number of attempts. Null counts as false. */
const isUsedUp = (most: string): string => `coalesce(k.attempts >= ${most}, false)`

/** Whether claim `k` keeps record `r` out of the pool. `most` limits the attempts; null for no limit. */
export const keepsOut = (most: string): string => `CASE WHEN k.status = 'completed' THEN k.version = r.version
     WHEN k.status = 'held' AND k.expires_at > now() THEN true
     ELSE k.version = r.version AND ${isUsedUp(`least(k.max_attempts, ${most})`)} END`

/** Number of earlier attempts on record `r` for the same work as claim `k`. */
export const attemptsBefore = (most: string): string => `CASE WHEN k.status = 'completed'
     OR (k.version <> r.version AND ${isUsedUp(`least(k.max_attempts, ${most})`)}) THEN 0 ELSE k.attempts END`

/** Status of claim `k` of record `r`; null when the claim is lost. */
export const STATUS = `CASE WHEN k.row_no IS NULL THEN NULL
     WHEN k.status = 'completed' THEN CASE WHEN k.version = r.version THEN 'completed' END
     WHEN k.status = 'held' AND k.expires_at > now() THEN 'active'
     WHEN k.version = r.version AND ${isUsedUp('k.max_attempts')} THEN 'exhausted' END`

export type ClaimRow = {
  id: string
  record_type: string
  record_id: string
  token_id: string
  token_name: string
  token_kind: ActorKind | null
  /** Null when the claim is lost. */
  shown: ClaimStatus | null
  attempts: number
  expires_at: Date | string
  created_at: Date | string
}

export const ROW_COLUMNS =
  'k.id, k.record_type, k.record_id, k.token_id, k.token_name, k.token_kind, k.attempts, k.expires_at, k.created_at'
export const CLAIM_COLUMNS = `${ROW_COLUMNS}, ${STATUS} AS shown`
/** Joins each claim with its record, if it exists. */
export const ITS_RECORD =
  'LEFT JOIN LATERAL (SELECT version FROM plinth.record r WHERE r.row_no = k.row_no LIMIT 1) r ON true'

const FIND = statement(
  'find_claim',
  `SELECT ${CLAIM_COLUMNS} FROM plinth.claim k ${ITS_RECORD} WHERE k.base_id = $1 AND k.id = $2`,
)

/**
 * Finds the claim of a record that the token may read, of that type if one is given.
 * @throws NOT_FOUND for an unknown claim and for one outside the grants alike
 */
export async function findClaim(
  scope: Scope,
  baseId: string,
  id: string,
  at = '/id',
  recordType?: string,
): Promise<ClaimRow> {
  requireBaseAccess(rightsOf(scope), baseId)
  const [row] = await scope.db.query<ClaimRow>(FIND, [baseId, id])
  const isOfType = recordType === undefined || row?.record_type === recordType
  if (row && isOfType && maySee(scope, baseId, row)) return row
  throw oneFault('NOT_FOUND', `There is no claim "${id.slice(0, 64)}".`, {
    path: at,
    code: 'claim_not_found',
    message: `The current claims: ${advised('list_claims')}.`,
    received: id.slice(0, 64),
  })
}

/** Under a row policy, the caller sees its own claims: the record of another may be out of its reach. */
const maySee = (scope: Scope, baseId: string, { record_type, token_id }: ClaimRow): boolean =>
  rightsOf(scope).allows('read', baseId, record_type) &&
  (!policyOn(scope, baseId, record_type) || token_id === scope.actor.tokenId)

/** A record written under a claim. */
type Written = { id: string; recordType: string; version: number }

/**
 * Explains why the token cannot use a claim: it belongs to another token or record, or is lost.
 * @throws NOT_FOUND; FORBIDDEN without `write` on the record's type; CONFLICT
 */
export async function refuseClaim(
  scope: Scope,
  baseId: string,
  id: string,
  { at = '/id', on }: { at?: string; on?: Written } = {},
): Promise<never> {
  const row = await findClaim(scope, baseId, id, at)
  requirePermission(rightsOf(scope), 'write', baseId, row.record_type)
  if (on && (on.recordType !== row.record_type || on.id !== row.record_id))
    throw conflict(
      at,
      'claim_of_another_record',
      `This claim belongs to a record other than "${on.id}". Send the claim of this record, or leave claim_id out.`,
    )
  if (row.shown === 'active' && row.token_id !== scope.actor.tokenId)
    throw conflict(at, 'claim_of_another_token', 'Another token holds this claim. Claim another record.')
  throw conflict(
    at,
    'claim_lost',
    'The claim has ended: it expired, was released or completed, or its record was deleted. Discard the work, and claim again.',
  )
}

const conflict = (path: string, code: string, message: string) =>
  oneFault('CONFLICT', message, { path, code })

const KEEP = statement(
  'keep_claim',
  `UPDATE plinth.claim k SET version = $4
   WHERE k.base_id = $1 AND k.id = $2 AND k.token_id = $3 AND k.status = 'held' AND k.expires_at > clock_timestamp()
     AND k.row_no = (SELECT r.row_no FROM plinth.record r WHERE r.base_id = $1 AND r.record_type = $5 AND r.id = $6)
   RETURNING 1 AS kept`,
)

/**
 * Checks in a transaction that the writer holds the claim on the record that it has written. The claim keeps
 * the new version, so that a write by the holder does not return the record to the pool.
 * @throws NOT_FOUND, CONFLICT at `/claim_id`; FORBIDDEN in a change-set
 */
export async function keepClaim(scope: Scope, baseId: string, claim: string, record: Written): Promise<void> {
  // A claim is of production, and would take the version of a draft.
  if (scope.changeSet !== undefined) throw notInChangeSets('A claim', scope.changeSet)
  const { id, recordType, version } = record
  const claimValues = [baseId, claim, scope.actor.tokenId ?? '', version, recordType, id]
  const [kept] = await scope.db.query(KEEP, claimValues)
  if (!kept) await refuseClaim(scope, baseId, claim, { at: '/claim_id', on: record })
}

/**
 * Runs a write of one record, and rolls it back unless the writer holds the claim that it names on that
 * record.
 * @throws NOT_FOUND, CONFLICT at `/claim_id`
 */
export async function underClaim<S extends Scope, T extends Written>(
  scope: S,
  baseId: string,
  claim: string | null,
  work: (scope: S) => Promise<T>,
): Promise<T> {
  if (claim === null) return work(scope)
  return scope.db.transaction(async (tx) => {
    const within = { ...scope, db: tx }
    const record = await work(within)
    await keepClaim(within, baseId, claim, record)
    return record
  })
}

/**
 * Variant for a write that deletes the record, and the claim with it. Checks the claim before the write,
 * under the record's lock, so that it cannot pass to another worker in between.
 * @throws NOT_FOUND, CONFLICT at `/claim_id`
 */
export async function underClaimToEnd<S extends Scope, T>(
  scope: S,
  [baseId, recordType, id]: readonly [baseId: string, recordType: string, id: string],
  claim: string | null,
  work: (scope: S) => Promise<T>,
): Promise<T> {
  if (claim === null) return work(scope)
  return scope.db.transaction(async (tx) => {
    const within = { ...scope, db: tx }
    const [row] = await tx.query<{ version: number }>(LOCK, [baseId, recordType, id])
    if (row) await keepClaim(within, baseId, claim, { id, recordType, version: row.version })
    return work(within)
  })
}

export const toClaim = (row: Omit<ClaimRow, 'shown'>, status: Claim['status']): Claim => ({
  id: row.id,
  recordType: row.record_type,
  recordId: row.record_id,
  status,
  attempts: row.attempts,
  expiresAt: written(row.expires_at),
  holder: { tokenId: row.token_id, name: row.token_name, kind: row.token_kind ?? 'program' },
  claimedAt: written(row.created_at),
})

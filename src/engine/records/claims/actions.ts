import { DomainError, invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { rightsOf } from '../../core/row-policy/apply.ts'
import type { WriteScope } from '../../core/write/write.ts'
import type { Claim } from '../../data/ledger/record.ts'
import { requirePermission } from '../../storage/access/access.ts'
import { type Db, type Statement, statement } from '../../storage/database/client.ts'
import { readLease } from './claim.ts'
import { type ClaimRow, findClaim, ROW_COLUMNS, refuseClaim, toClaim } from './claim-guard.ts'

/**
 * Statement that changes a claim of the token. Uses clock_timestamp(), because a lease may expire while the
 * statement waits for a lock.
 */
const act = (name: string, change: string, ofToken = 'k.token_id = $3') =>
  statement(
    name,
    `UPDATE plinth.claim k SET ${change}
     WHERE k.base_id = $1 AND k.id = $2 AND ${ofToken}
       AND k.row_no IS NOT NULL AND k.status = 'held' AND k.expires_at > clock_timestamp()
     RETURNING ${ROW_COLUMNS}`,
  )

const HEARTBEAT = act(
  'heartbeat_claim',
  `lease_seconds = coalesce($4::int, k.lease_seconds),
     expires_at = clock_timestamp() + make_interval(secs => coalesce($4::int, k.lease_seconds))`,
)
const RELEASE = act('release_claim', `status = 'released'`)
const RELEASE_ANY = act('release_any_claim', `status = 'released'`, '$3::text IS NOT NULL')
const COMPLETE = act(
  'complete_claim',
  `status = 'completed', version = (SELECT r.version FROM plinth.record r WHERE r.row_no = k.row_no)`,
)

/**
 * Renews the lease of a claim, by its own duration or another one.
 * @throws NOT_FOUND; CONFLICT when the claim is lost
 */
export async function heartbeatClaim(
  scope: WriteScope,
  baseId: string,
  id: string,
  leaseSeconds: number | null | undefined,
): Promise<Claim> {
  const row = await change(scope, HEARTBEAT, baseId, id, [readLease(leaseSeconds)])
  return toClaim(row, 'active')
}

/**
 * Releases the record before the lease expires. With `force`, ends the claim of any token, which needs `manage` on the type.
 * @throws FORBIDDEN; NOT_FOUND; CONFLICT when the claim is lost
 */
export async function releaseClaim(
  scope: WriteScope,
  baseId: string,
  id: string,
  force?: boolean | null,
): Promise<Claim> {
  return toClaim(await change(scope, force ? RELEASE_ANY : RELEASE, baseId, id), 'released')
}

/**
 * Completes the claim: the record leaves the pool until it changes. Idempotent.
 * @throws NOT_FOUND; CONFLICT when the claim is lost
 */
export async function completeClaim(scope: WriteScope, baseId: string, id: string): Promise<Claim> {
  const row = await change(scope, COMPLETE, baseId, id)
  return toClaim(row, 'completed')
}

/** The result for one of several claims: the claim, or why it was refused. */
export type ClaimOutcome = {
  id: string
  claim: Claim | null
  error: { code: string; message: string } | null
}

export type ClaimAction = 'heartbeat' | 'release' | 'complete'

/**
 * Acts on several claims in one transaction, each by itself: a lost one does not keep the others.
 * @throws FORBIDDEN; VALIDATION_ERROR for too many, or for a lease out of bounds
 */
export async function actOnClaims(
  scope: WriteScope,
  baseId: string,
  action: ClaimAction,
  ids: readonly string[],
  leaseSeconds: number | null | undefined,
): Promise<{ data: ClaimOutcome[] }> {
  if (ids.length < 1 || ids.length > LIMITS.claimRecords)
    throw invalid({
      path: '/claim_ids',
      code: ids.length < 1 ? 'too_small' : 'too_big',
      message: `claim_ids must have 1 to ${LIMITS.claimRecords} claims.`,
      received: ids.length,
    })
  readLease(leaseSeconds)
  const named = [...new Set(ids)]
  return scope.db.statements(async (tx) => {
    const within: WriteScope = { ...scope, db: tx }
    const outcomes = new Map<string, ClaimOutcome>()
    // In one order, so that two requests for the same claims do not deadlock.
    for (const id of named.toSorted())
      outcomes.set(id, await outcomeOf(id, () => actOn(within, action, baseId, id, leaseSeconds)))
    return { data: named.map((id) => outcomes.get(id) as ClaimOutcome) }
  })
}

function actOn(
  scope: WriteScope,
  action: ClaimAction,
  baseId: string,
  id: string,
  leaseSeconds: number | null | undefined,
): Promise<Claim> {
  if (action === 'heartbeat') return heartbeatClaim(scope, baseId, id, leaseSeconds)
  return (action === 'release' ? releaseClaim : completeClaim)(scope, baseId, id)
}

async function outcomeOf(id: string, acting: () => Promise<Claim>): Promise<ClaimOutcome> {
  try {
    return { id, claim: await acting(), error: null }
  } catch (thrown) {
    if (!(thrown instanceof DomainError) || !isOfClaim(thrown)) throw thrown
    const { code, message, details } = thrown
    return { id, claim: null, error: { code: details[0]?.code ?? code, message } }
  }
}

/** Whether the error is about one claim, and not about the rights of the caller. */
const isOfClaim = ({ code }: DomainError) => code === 'NOT_FOUND' || code === 'CONFLICT'

type Changed = Omit<ClaimRow, 'shown'>

async function change(
  scope: WriteScope,
  how: Statement,
  baseId: string,
  id: string,
  more: readonly unknown[] = [],
): Promise<Changed> {
  const known = await findClaim(scope, baseId, id)
  requirePermission(rightsOf(scope), how === RELEASE_ANY ? 'manage' : 'write', baseId, known.record_type)
  const isRepeated = how === COMPLETE && known.shown === 'completed' && known.token_id === scope.actor.tokenId
  if (isRepeated) return known
  const [row] = await scope.db.query<Changed>(how, [baseId, id, scope.actor.tokenId ?? '', ...more])
  return row ?? refuseClaim(scope, baseId, id)
}

const SWEEP = statement(
  'sweep_claims',
  `DELETE FROM plinth.claim WHERE ctid = ANY (ARRAY(SELECT ctid FROM plinth.claim
     WHERE row_no IS NULL AND expires_at < now() - make_interval(days => ${LIMITS.claimDays}) LIMIT 5000))`,
)

/** Deletes claims that ended over a week ago, a bounded number per call. */
export async function sweepClaims(db: Db): Promise<void> {
  await db.query(SWEEP, [])
}

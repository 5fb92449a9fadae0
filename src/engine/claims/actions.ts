import { LIMITS } from '../../foundation/limits.ts'
import { demand } from '../access/access.ts'
import { type Db, type Statement, statement } from '../database/client.ts'
import type { WriteScope } from '../write/write.ts'
import { readLease } from './claim.ts'
import { type Claim, type ClaimRow, findClaim, refuseClaim, toClaim } from './claim-guard.ts'

/** A statement that changes a claim in the hands of the token: by the clock, for a lease may end while it waits. */
const act = (name: string, change: string) =>
  statement(
    name,
    `UPDATE plinth.claim k SET ${change}
     WHERE k.base_id = $1 AND k.id = $2 AND k.token_id = $3
       AND k.row_no IS NOT NULL AND k.status = 'held' AND k.expires_at > clock_timestamp()
     RETURNING k.id, k.record_type, k.record_id, k.token_id, k.attempts, k.expires_at`,
  )

const HEARTBEAT = act(
  'heartbeat_claim',
  `lease_seconds = coalesce($4::int, k.lease_seconds),
     expires_at = clock_timestamp() + make_interval(secs => coalesce($4::int, k.lease_seconds))`,
)
const RELEASE = act('release_claim', `status = 'released'`)
const COMPLETE = act(
  'complete_claim',
  `status = 'completed', version = (SELECT r.version FROM plinth.record r WHERE r.row_no = k.row_no)`,
)

/** Extends a claim by its lease, or by another one from now on. @throws NOT_FOUND, CONFLICT when it is lost */
export async function heartbeatClaim(
  scope: WriteScope,
  baseId: string,
  id: string,
  leaseSeconds: number | null | undefined,
): Promise<Claim> {
  const row = await change(scope, HEARTBEAT, baseId, id, [readLease(leaseSeconds)])
  return toClaim(row, 'active')
}

/** Gives the record back before the lease ends. @throws NOT_FOUND, CONFLICT when it is lost */
export async function releaseClaim(scope: WriteScope, baseId: string, id: string): Promise<Claim> {
  return toClaim(await change(scope, RELEASE, baseId, id), 'released')
}

/** Takes the record out of the pool until it changes; repeating it changes nothing. @throws NOT_FOUND, CONFLICT when it is lost */
export async function completeClaim(scope: WriteScope, baseId: string, id: string): Promise<Claim> {
  const row = await change(scope, COMPLETE, baseId, id)
  return toClaim(row, 'completed')
}

type Changed = Omit<ClaimRow, 'shown'>

async function change(
  scope: WriteScope,
  how: Statement,
  baseId: string,
  id: string,
  more: readonly unknown[] = [],
): Promise<Changed> {
  const known = await findClaim(scope, baseId, id)
  demand(scope.access, 'write', baseId, known.record_type)
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

/** Forgets claims that were over a week ago, a bounded number at a time. */
export async function sweepClaims(db: Db): Promise<void> {
  await db.query(SWEEP, [])
}

import { LIMITS } from '../../foundation/limits.ts'
import { type Db, statement } from '../db.ts'

const SWEEP = statement(
  'sweep_claims',
  `DELETE FROM plinth.claim WHERE ctid = ANY (ARRAY(SELECT ctid FROM plinth.claim
     WHERE row_no IS NULL AND expires_at < now() - make_interval(days => ${LIMITS.claimDays}) LIMIT 5000))`,
)

/** Forgets claims that were over a week ago, a bounded number at a time. */
export async function sweepClaims(db: Db): Promise<void> {
  await db.query(SWEEP, [])
}

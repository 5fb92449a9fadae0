import { LIMITS } from '../../foundation/limits.ts'
import { type Db, statement } from '../database/client.ts'

const BATCH = 5000
const SWEEP = statement(
  'sweep_deliveries',
  `WITH gone AS (
     DELETE FROM plinth.trigger_delivery WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM plinth.trigger_delivery
       WHERE next_attempt_at IS NULL AND created_at < now() - make_interval(days => ${LIMITS.deliveryDays})
       LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)) RETURNING 1)
   SELECT count(*)::int AS gone FROM gone`,
)

/**
 * Job: deletes deliveries that ended long ago, in batches.
 * @throws when the job is stopped
 */
export async function sweepDeliveries(db: Db, _: object, signal: AbortSignal): Promise<void> {
  for (let gone = BATCH; gone === BATCH; ) {
    signal.throwIfAborted()
    gone = (await db.query<{ gone: number }>(SWEEP, []))[0]?.gone ?? 0
  }
}

import { LIMITS } from '../../foundation/limits.ts'
import { type Db, statement } from '../database/client.ts'
import { inBatches } from '../database/in-batches.ts'

const BATCH = 5000
const SWEEP = statement(
  'sweep_deliveries',
  `WITH gone AS (
     DELETE FROM plinth.trigger_delivery WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM plinth.trigger_delivery
       WHERE next_attempt_at IS NULL AND created_at < now() - make_interval(days => ${LIMITS.deliveryDays})
       LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)) RETURNING 1)
   SELECT count(*)::int AS done FROM gone`,
)

/**
 * Job: deletes deliveries that ended long ago, in batches.
 * @throws when the job is stopped
 */
export async function sweepDeliveries(db: Db, _: object, signal: AbortSignal): Promise<void> {
  await inBatches(db, { statement: SWEEP, batch: BATCH }, signal)
}

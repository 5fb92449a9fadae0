import { LIMITS } from '../../foundation/limits.ts'
import { type Db, statement } from '../database/client.ts'
import { batchDeletion, inBatches } from '../database/in-batches.ts'

const OLD = batchDeletion(
  'sweep_inbound_deliveries',
  'inbound_delivery',
  `created_at < now() - make_interval(days => ${LIMITS.deliveryDays})`,
)
const BATCH = 5000
// The payloads of failed deliveries are kept, so that their number is limited.
const FAILED = statement(
  'sweep_failed_inbound_deliveries',
  `WITH gone AS (
     DELETE FROM plinth.inbound_delivery WHERE ctid = ANY (ARRAY(
       SELECT place FROM (
         SELECT ctid AS place, row_number() OVER (PARTITION BY base_id, webhook_id ORDER BY created_at DESC) AS n
         FROM plinth.inbound_delivery WHERE status = 'failed') f
       WHERE n > ${LIMITS.inboundFailuresKept} LIMIT ${BATCH})) AND status = 'failed' RETURNING 1)
   SELECT count(*)::int AS done FROM gone`,
)

/**
 * Job: deletes old deliveries of inbound webhooks, and failed ones beyond the limit, in batches.
 * @throws when the job is stopped
 */
export async function sweepInboundDeliveries(db: Db, _: object, signal: AbortSignal): Promise<void> {
  await inBatches(db, OLD, signal)
  await inBatches(db, { statement: FAILED, batch: BATCH }, signal)
}

import { LIMITS } from '../../../foundation/limits.ts'
import { batchDeletion, inBatches } from '../../storage/database/batched-statements.ts'
import { type Db, statement } from '../../storage/database/client.ts'

const OLD = batchDeletion(
  'sweep_inbound_deliveries',
  'inbound_delivery',
  `created_at < now() - make_interval(days => ${LIMITS.deliveryDays})`,
)
const BATCH = 5000
const EXCERPTS = statement(
  'sweep_excerpts_of_deliveries',
  `WITH old AS (
     UPDATE plinth.inbound_delivery SET excerpt = NULL WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM plinth.inbound_delivery
       WHERE status = 'succeeded' AND excerpt IS NOT NULL AND last_attempt_at < now() - make_interval(hours => ${LIMITS.excerptHours}) LIMIT ${BATCH})) AND status = 'succeeded' RETURNING 1)
   SELECT count(*)::int AS done FROM old`,
)
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
 * Job: deletes old deliveries of inbound webhooks, failed ones beyond the limit, and bodies of older ones that succeeded,
 * in batches.
 * @throws when the job is stopped
 */
export async function sweepInboundDeliveries(db: Db, _: object, signal: AbortSignal): Promise<void> {
  await inBatches(db, OLD, signal)
  await inBatches(db, { statement: FAILED, batch: BATCH }, signal)
  await inBatches(db, { statement: EXCERPTS, batch: BATCH }, signal)
}

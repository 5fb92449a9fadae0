import { LIMITS } from '../../foundation/limits.ts'
import { type Db, statement } from '../database/client.ts'
import { inBatches } from '../database/in-batches.ts'

const BATCH = 5000
const OLD = statement(
  'sweep_inbound_deliveries',
  `WITH gone AS (
     DELETE FROM plinth.inbound_delivery WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM plinth.inbound_delivery
       WHERE created_at < now() - make_interval(days => ${LIMITS.deliveryDays})
       LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)) RETURNING 1)
   SELECT count(*)::int AS done FROM gone`,
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
 * Job: deletes old deliveries of inbound webhooks, and failed ones beyond the limit, in batches.
 * @throws when the job is stopped
 */
export async function sweepInboundDeliveries(db: Db, _: object, signal: AbortSignal): Promise<void> {
  for (const sweep of [OLD, FAILED]) await inBatches(db, { statement: sweep, batch: BATCH }, signal)
}

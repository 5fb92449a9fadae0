import { LIMITS } from '../../../foundation/limits.ts'
import type { Db } from '../../storage/database/client.ts'
import { batchDeletion, inBatches } from '../../storage/database/in-batches.ts'
import { CHAINS_ENDED } from './chain.ts'

const ENDED = batchDeletion(
  'sweep_deliveries',
  'trigger_delivery',
  `next_attempt_at IS NULL AND created_at < now() - make_interval(days => ${LIMITS.deliveryDays})`,
)

/**
 * Job: deletes deliveries that ended long ago, and the counts of their chains, in batches.
 * @throws when the job is stopped
 */
export async function sweepDeliveries(db: Db, _: object, signal: AbortSignal): Promise<void> {
  await inBatches(db, ENDED, signal)
  await inBatches(db, CHAINS_ENDED, signal)
}

import { LIMITS } from '../../../foundation/limits.ts'
import type { Db } from '../../storage/database/client.ts'
import { batchDeletion, inBatches } from '../../storage/database/in-batches.ts'

const OLD = batchDeletion(
  'sweep_action_runs',
  'action_run',
  `created_at < now() - make_interval(days => ${LIMITS.runDays})`,
)

/**
 * Job: deletes old runs of actions, in batches.
 * @throws when the job is stopped
 */
export const sweepRuns = (db: Db, _: object, signal: AbortSignal): Promise<void> => inBatches(db, OLD, signal)

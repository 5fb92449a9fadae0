import { LIMITS } from '../../foundation/limits.ts'
import { type Db, statement } from '../database/client.ts'
import { inBatches } from '../database/in-batches.ts'

const BATCH = 5000
const SWEEP = statement(
  'sweep_action_runs',
  `WITH gone AS (
     DELETE FROM plinth.action_run WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM plinth.action_run
       WHERE created_at < now() - make_interval(days => ${LIMITS.runDays})
       LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)) RETURNING 1)
   SELECT count(*)::int AS done FROM gone`,
)

/**
 * Job: deletes old runs of actions, in batches.
 * @throws when the job is stopped
 */
export async function sweepRuns(db: Db, _: object, signal: AbortSignal): Promise<void> {
  await inBatches(db, { statement: SWEEP, batch: BATCH }, signal)
}

import { LIMITS } from '../../../foundation/limits.ts'
import { inBatches } from '../../storage/database/batched-statements.ts'
import { type Db, statement } from '../../storage/database/client.ts'

/** The first id of a moment: ids begin with the milliseconds since 1970. */
const firstIdOf = (moment: string): string =>
  `rpad(lpad(to_hex((extract(epoch FROM ${moment}) * 1000)::bigint), 12, '0'), 32, '0')::uuid`

// Of each base by its index, since most rows are younger.
const OLD_CALLS = statement(
  'sweep_calls',
  `WITH gone AS (
     DELETE FROM plinth.call c USING (
       SELECT o.base_id, o.id FROM plinth.base b CROSS JOIN LATERAL (
         SELECT base_id, id FROM plinth.call
         WHERE base_id = b.id AND id < ${firstIdOf(`now() - make_interval(days => (b.settings ->> 'calls_days')::int)`)}
         ORDER BY id LIMIT ${LIMITS.sweptRows}) o
       LIMIT ${LIMITS.sweptRows}) o
     WHERE c.base_id = o.base_id AND c.id = o.id RETURNING 1)
   SELECT count(*)::int AS done FROM gone`,
)

/**
 * Job: deletes calls that their base does not keep any longer.
 * @throws when the job is stopped
 */
export const sweepCalls = (db: Db, _: object, signal: AbortSignal): Promise<void> =>
  inBatches(db, { statement: OLD_CALLS, batch: LIMITS.sweptRows }, signal)

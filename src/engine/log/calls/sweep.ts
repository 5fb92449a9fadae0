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

const OLD_USAGE = statement(
  'sweep_usage',
  `WITH gone AS (
     DELETE FROM plinth.usage u USING (
       SELECT o.place FROM plinth.base b CROSS JOIN LATERAL (
         SELECT ctid AS place FROM plinth.usage
         WHERE base_id = b.id AND hour < now() - interval '${LIMITS.usageDays} days' LIMIT ${LIMITS.sweptRows}) o
       LIMIT ${LIMITS.sweptRows}) o
     WHERE u.ctid = o.place RETURNING 1)
   SELECT count(*)::int AS done FROM gone`,
)

/**
 * Job: deletes calls that their base does not keep any longer, and old usage.
 * @throws when the job is stopped
 */
export async function sweepCalls(db: Db, _: object, signal: AbortSignal): Promise<void> {
  for (const statement of [OLD_CALLS, OLD_USAGE])
    await inBatches(db, { statement, batch: LIMITS.sweptRows }, signal)
}

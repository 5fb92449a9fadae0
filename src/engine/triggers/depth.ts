/** How many runs of triggers led to a change, so that triggers that set off each other come to an end. */
import { LIMITS } from '../../foundation/limits.ts'
import { type Db, statement } from '../database/client.ts'
import type { Entry } from './match.ts'

// The trigger of a run is its actor.
const DEPTHS = statement(
  'depths_of_runs',
  `SELECT k.run, d.depth FROM unnest((SELECT $2::text[])) AS k (run)
   CROSS JOIN LATERAL (
     SELECT * FROM plinth.action_run WHERE base_id = $1 AND id = k.run AND cause IS NOT NULL
     ORDER BY base_id, id LIMIT 1) r
   CROSS JOIN LATERAL (
     SELECT depth FROM plinth.trigger_delivery WHERE base_id = $1 AND trigger_id = r.actor_name AND id = r.cause LIMIT 1) d`,
)

/** The depths of the runs of triggers that made the entries, by run. */
export async function depthsOf(
  db: Db,
  baseId: string,
  entries: readonly Entry[],
): Promise<ReadonlyMap<string, number>> {
  const runs = new Set(
    entries.flatMap(({ via, cause }) => (via === 'action' && cause !== null ? [cause] : [])),
  )
  if (runs.size === 0) return new Map()
  const rows = await db.query<{ run: string; depth: number }>(DEPTHS, [baseId, [...runs]])
  return new Map(rows.map(({ run, depth }) => [run, depth]))
}

/** The depth of a delivery of the entry: 1 if no run of a trigger made it. */
export const depthOf = (depths: ReadonlyMap<string, number>, { cause }: Entry): number =>
  1 + ((cause === null ? undefined : depths.get(cause)) ?? 0)

export const TOO_DEEP = `The action was not run: ${LIMITS.triggerDepth} runs of triggers led to this change, each by a change of the one before. Narrow the condition of the trigger, so that its own changes do not meet it.`

/** The chains of triggers that set off each other by the changes of their runs, so that each chain comes to an end. */
import { LIMITS } from '../../../foundation/limits.ts'
import { batchDeletion } from '../../storage/database/batched-statements.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import type { Entry, Match } from './match.ts'

/** The place of a delivery in its chain. */
type Link = { readonly depth: number; readonly root: string | null }
/** A match with its place; `error` says why its action is not run. */
export type Linked = Match & Link & { readonly error: string | null }

// The trigger of a run is its actor.
const LINKS = statement(
  'depths_of_runs',
  `SELECT k.run, d.depth, coalesce(d.root_id, d.id) AS root FROM unnest((SELECT $2::text[])) AS k (run)
   CROSS JOIN LATERAL (
     SELECT * FROM plinth.action_run WHERE base_id = $1 AND id = k.run AND cause IS NOT NULL
     ORDER BY base_id, id LIMIT 1) r
   CROSS JOIN LATERAL (
     SELECT * FROM plinth.trigger_delivery WHERE base_id = $1 AND trigger_id = r.actor_name AND id = r.cause LIMIT 1) d`,
)

// The relay alone writes these rows, and it is in one process.
const COUNT = statement(
  'count_runs_of_chains',
  `INSERT INTO plinth.trigger_chain AS c (base_id, id, runs) SELECT $1, k.id, k.runs FROM unnest($2::text[], $3::int[]) AS k (id, runs)
   ON CONFLICT (base_id, id) DO UPDATE SET runs = c.runs + excluded.runs RETURNING c.id, c.runs`,
)

/** Finds the place of each match in its chain, and counts the runs that it makes. */
export async function linkMatches(db: Db, baseId: string, matches: readonly Match[]): Promise<Linked[]> {
  const links = await linksOf(db, baseId, matches)
  const linked = matches.map((match): Linked => {
    const before = match.entry.cause === null ? undefined : links.get(match.entry.cause)
    const depth = 1 + (before?.depth ?? 0)
    const isTooDeep = match.runsAction && depth > LIMITS.triggerDepth
    return { ...match, depth, root: before?.root ?? null, error: isTooDeep ? TOO_DEEP : null }
  })
  const following = linked.filter(
    ({ runsAction, root, error }) => runsAction && root !== null && error === null,
  )
  if (following.length === 0) return linked
  const counted = new Map<string | null, number>()
  const chains = Map.groupBy(following, ({ root }) => root)
  const rows = await db.query<{ id: string; runs: number }>(COUNT, [
    baseId,
    [...chains.keys()],
    [...chains.values()].map((own) => own.length),
  ])
  for (const { id, runs } of rows) counted.set(id, runs - (chains.get(id)?.length ?? 0))
  const isCounted = new Set<Linked>(following)
  return linked.flatMap((match): Linked[] => {
    if (!isCounted.has(match)) return [match]
    const place = counted.get(match.root) ?? 0
    counted.set(match.root, place + 1)
    if (place < LIMITS.triggerChainRuns) return [match]
    return place < 2 * LIMITS.triggerChainRuns ? [{ ...match, error: TOO_WIDE }] : []
  })
}

/** The deliveries behind the runs that made the entries, by run. */
async function linksOf(db: Db, baseId: string, matches: readonly { entry: Entry }[]) {
  const causes = matches.flatMap(({ entry: { via, cause } }) =>
    via === 'action' && cause !== null ? [cause] : [],
  )
  if (causes.length === 0) return new Map<string, Link>()
  const rows = await db.query<Link & { run: string }>(LINKS, [baseId, [...new Set(causes)]])
  return new Map(rows.map(({ run, ...link }) => [run, link]))
}

export const CHAINS_ENDED = batchDeletion(
  'sweep_trigger_chains',
  'trigger_chain',
  `created_at < now() - make_interval(days => ${LIMITS.deliveryDays})`,
)

const TOO_DEEP = `The action was not run: ${LIMITS.triggerDepth} runs of triggers led to this change, each by a change of the one before. Narrow the condition of the trigger, so that its own changes do not meet it.`
const TOO_WIDE = `The action was not run: ${LIMITS.triggerChainRuns} runs of triggers follow from one change already. Narrow the conditions of the triggers, or replay this delivery, which starts a new chain. Of the runs left out, ${LIMITS.triggerChainRuns} are listed.`

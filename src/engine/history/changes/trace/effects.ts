/** Forward from a change: deliveries of it, the runs that they started, and changes that have these as their cause. */

import { LIMITS } from '../../../../foundation/limits.ts'
import { read, type Scope, viewerOf } from '../../../core/scope.ts'
import { type EntryRow, toEntry } from '../../../log/entry.ts'
import { visibleTo } from '../../../log/visibility.ts'
import { namedTypes } from '../../../storage/access/access.ts'
import { statement, timed } from '../../../storage/database/client.ts'
import { changeStep, stepOf, type TraceStep } from './step.ts'

const DELIVERIES = timed(
  statement(
    'deliveries_of_changes',
    `SELECT k.seq::text AS cause, d.id, d.trigger_id AS of, d.status, d.created_at AS at
     FROM unnest((SELECT $2::bigint[])) WITH ORDINALITY AS k (seq, n)
     CROSS JOIN LATERAL (
       SELECT * FROM plinth.trigger_delivery WHERE base_id = $1 AND change_seq = k.seq
       ORDER BY base_id, change_seq, trigger_id, id LIMIT $3) d
     ORDER BY k.n, d.trigger_id, d.id LIMIT $3`,
  ),
)

const RUNS = timed(
  statement(
    'runs_of_deliveries',
    `SELECT k.cause, r.id, r.action_id AS of, r.status, r.created_at AS at, r.request_id AS "requestId"
     FROM unnest((SELECT $2::text[])) WITH ORDINALITY AS k (cause, n)
     CROSS JOIN LATERAL (
       SELECT * FROM plinth.action_run WHERE base_id = $1 AND cause = k.cause ORDER BY base_id, cause, id LIMIT $3) r
     ORDER BY k.n, r.id LIMIT $3`,
  ),
)

/**
 * Changes by their causes. A range and not an equality, which would let the planner walk the log in order of seq.
 * Bounds what is read for a cause before it selects what the reader sees.
 */
const changesBy = (name: string, visible: string) =>
  timed(
    statement(
      name,
      `SELECT k.cause, c.seq::float8 AS seq, c.at, c.kind, c.record_type, c.id, c.operation, c.version,
         c.token_id, c.actor_name, c.via, c.actor_kind, c.request_id, c.call, c.found::int AS found
       FROM unnest((SELECT $2::text[])) WITH ORDINALITY AS k (cause, n)
       CROSS JOIN LATERAL (
         SELECT *, count(*) OVER () AS found FROM (
           SELECT * FROM plinth.change
           WHERE base_id = $1 AND cause COLLATE "C" BETWEEN (k.cause COLLATE "C") AND (k.cause COLLATE "C")
           ORDER BY cause COLLATE "C", seq LIMIT $4) c) c
       WHERE ${visible} ORDER BY k.n, c.seq LIMIT $3`,
    ),
  )

const CHANGES = changesBy('effects_of_changes', 'true')
const CHANGES_OF_TYPES = changesBy('effects_of_changes_in_types', visibleTo('$5'))

type Delivery = { cause: string; id: string; of: string; status: string; at: string }
type Run = Delivery & { requestId: string }
type Caused = EntryRow & { cause: string; found: number }

/** The steps after a change, the nearest first. `isCut`: there are more, or they are farther than `deepest`. */
export async function effectsOf(
  scope: Scope,
  baseId: string,
  seq: number,
  deepest: number,
): Promise<{ steps: TraceStep[]; isCut: boolean }> {
  const steps: TraceStep[] = []
  let from: readonly Cause[] = [{ kind: 'change', id: String(seq) }]
  for (let depth = 1; from.length > 0; depth++) {
    const room = LIMITS.traceEffects - steps.length
    const { found, isCut } = await stepsFrom(scope, baseId, from, { depth, room })
    if (depth > deepest) return { steps, isCut: found.length > 0 }
    steps.push(...found.slice(0, room))
    if (isCut || found.length > room) return { steps, isCut: true }
    from = found
  }
  return { steps, isCut: false }
}

type Cause = Pick<TraceStep, 'kind' | 'id'>

async function stepsFrom(
  scope: Scope,
  baseId: string,
  from: readonly Cause[],
  { depth, room }: { depth: number; room: number },
): Promise<{ found: TraceStep[]; isCut: boolean }> {
  const types = namedTypes(scope.access, 'read', baseId)
  const viewer = viewerOf(scope)
  // Triggers and their log are for readers of the whole base.
  const idsOf = (wanted: TraceStep['kind']) => from.flatMap(({ kind, id }) => (kind === wanted ? [id] : []))
  const [changed, delivered, ran] = [idsOf('change'), idsOf('trigger_delivery'), idsOf('action_run')]
  const causes = [...changed, ...ran]
  const deliveries =
    types === null && changed.length > 0
      ? await read<Delivery>(scope, DELIVERIES, [baseId, changed, room + 1])
      : []
  const runs = delivered.length > 0 ? await read<Run>(scope, RUNS, [baseId, delivered, room + 1]) : []
  const caused =
    causes.length === 0
      ? []
      : await read<Caused>(scope, types === null ? CHANGES : CHANGES_OF_TYPES, [
          ...[baseId, causes, room + 1, LIMITS.traceScanned],
          ...(types === null ? [] : [types]),
        ])
  const changes = caused.map((row) => changeStep(viewer, baseId, toEntry(row), { depth, cause: row.cause }))
  return {
    found: [
      ...deliveries.map((each) => stepOf({ ...each, kind: 'trigger_delivery', depth })),
      ...runs.map((each) => stepOf({ ...each, kind: 'action_run', depth })),
      ...changes,
    ],
    isCut: caused.some(({ found }) => found === LIMITS.traceScanned),
  }
}

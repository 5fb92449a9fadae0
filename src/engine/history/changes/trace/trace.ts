/** The trace of a change: what caused it, and what it set off. */
import { invalid } from '../../../../foundation/errors.ts'
import { LIMITS } from '../../../../foundation/limits.ts'
import { read, type Scope, viewerOf } from '../../../core/scope.ts'
import { type Change, callFor, mayRead, SEED_CAUSE } from '../../../log/entry.ts'
import { readEntry } from '../../../log/read.ts'
import { requireBaseAccess } from '../../../storage/access/access.ts'
import { statement, timed } from '../../../storage/database/client.ts'
import { findChange } from '../../revert.ts'
import { effectsOf } from './effects.ts'
import { changeStep, originStep, stepOf, type TraceStep } from './step.ts'

export type ChangeTrace = {
  change: Change
  /** Back to the request, the nearest first. */
  causes: readonly TraceStep[]
  /** What followed, the nearest first. */
  effects: readonly TraceStep[]
  /** There are more steps, or they are farther. */
  truncated: boolean
}

/**
 * Traces a change back and forward, as far as the caller sees the steps.
 * @throws FORBIDDEN without a grant on the base; NOT_FOUND; VALIDATION_ERROR
 */
export async function traceChange(
  scope: Scope,
  baseId: string,
  seq: number,
  depth: number = LIMITS.traceDepth,
): Promise<ChangeTrace> {
  requireBaseAccess(scope.access, baseId)
  if (!Number.isInteger(depth) || depth < 1 || depth > LIMITS.traceDepth) throw outOfRange(depth)
  const change = await findChange(scope, baseId, seq)
  const causes = await causesOf(scope, baseId, change, depth)
  const effects = await effectsOf(scope, baseId, seq, depth)
  return {
    change: callFor(viewerOf(scope), baseId, change),
    causes: causes.steps,
    effects: effects.steps,
    truncated: causes.isCut || effects.isCut,
  }
}

const outOfRange = (depth: number) =>
  invalid({
    path: '/depth',
    code: 'out_of_range',
    message: `depth must be a whole number from 1 to ${LIMITS.traceDepth}.`,
    received: depth,
  })

// Back from a change, step by step, to the request that began it.

type Origin = Pick<TraceStep, 'kind' | 'id' | 'of' | 'status'> & {
  at: string
  request_id: string | null
  delivery: string | null
}

// Of these ids, each is one of a single table. The webhook of a delivery is the author of its changes.
const ORIGIN = timed(
  statement(
    'origin_of_change',
    `SELECT 'inbound_delivery' AS kind, id, webhook_id AS of, status, created_at AS at, request_id, NULL AS delivery FROM plinth.inbound_delivery
     WHERE base_id = $1 AND webhook_id = $2 AND id = $3
     UNION ALL
     SELECT 'promotion', id, from_base, status, created_at, NULL, NULL FROM plinth.promotion WHERE base_id = $1 AND id = $3
     UNION ALL
     SELECT 'action_run', r.id, r.action_id, r.status, r.created_at, r.request_id, r.cause FROM plinth.action a CROSS JOIN LATERAL (
       SELECT * FROM plinth.action_run WHERE base_id = a.base_id AND action_id = a.id AND id = $3 LIMIT 1) r
     WHERE a.base_id = $1`,
  ),
)

/** The steps before a change, the nearest first. `isCut`: there are more than `most`. */
async function causesOf(
  scope: Scope,
  baseId: string,
  traced: Change,
  most: number,
): Promise<{ steps: TraceStep[]; isCut: boolean }> {
  const viewer = viewerOf(scope)
  const steps: TraceStep[] = []
  let last = traced
  for (let isOver = false; !isOver; ) {
    const before = await causeOf(scope, baseId, last)
    const origins = before ? { steps: [] } : await originsOf(scope, baseId, last)
    const next = before ?? origins.behind
    const found = [
      ...origins.steps,
      next
        ? changeStep(viewer, baseId, next, { depth: 0, cause: null })
        : originStep(viewer, baseId, last, 0),
    ]
    for (const step of found) {
      if (steps.length === most) return { steps: chained(steps), isCut: true }
      steps.push({ ...step, depth: steps.length + 1 })
    }
    if (next) last = next
    else isOver = true
  }
  return { steps: chained(steps), isCut: false }
}

const chained = (steps: readonly TraceStep[]): TraceStep[] =>
  steps.map((step, n) => ({ ...step, cause: steps[n + 1]?.id ?? null }))

const SEQ = /^[1-9]\d{0,14}$/

/** The change behind a change, if the reader sees it. */
async function causeOf(scope: Scope, baseId: string, { cause }: Change): Promise<Change | undefined> {
  if (cause === null || !SEQ.test(cause)) return undefined
  const change = await readEntry(scope.db, baseId, Number(cause))
  return change && mayRead(scope.access, baseId, change) ? change : undefined
}

// The trigger of a run is its author.
const DELIVERY = timed(
  statement(
    'delivery_behind_run',
    `SELECT id, trigger_id AS of, status, created_at AS at, change_seq::float8 AS seq FROM plinth.trigger_delivery
     WHERE base_id = $1 AND trigger_id = $2 AND id = $3`,
  ),
)
type Delivery = { id: string; of: string; status: string; at: string; seq: number | null }
type Origins = { readonly steps: readonly TraceStep[]; readonly behind?: Change }

/**
 * What else is behind a change: of a run that a trigger started, also the delivery, and the change behind that.
 * Configuration and its logs are for readers of the whole base.
 */
async function originsOf(scope: Scope, baseId: string, { cause, actor }: Change): Promise<Origins> {
  if (cause === null || SEQ.test(cause) || !scope.access.allows('read', baseId, '*')) return { steps: [] }
  const place = { depth: 0, cause: null }
  if (cause.startsWith(SEED_CAUSE))
    return { steps: [stepOf({ ...place, kind: 'seed', id: cause, of: cause.slice(SEED_CAUSE.length) })] }
  const [found] = await read<Origin>(scope, ORIGIN, [baseId, actor.name, cause])
  if (!found) return { steps: [] }
  const { request_id: requestId, delivery, ...origin } = found
  const step = stepOf({ ...place, ...origin, requestId })
  const [sent] =
    delivery === null ? [] : await read<Delivery>(scope, DELIVERY, [baseId, actor.name, delivery])
  if (!sent) return { steps: [step] }
  const { seq, ...shown } = sent
  const behind = seq === null ? undefined : await readEntry(scope.db, baseId, seq)
  const steps = [step, stepOf({ ...place, ...shown, kind: 'trigger_delivery' })]
  return { steps, ...(behind && mayRead(scope.access, baseId, behind) && { behind }) }
}

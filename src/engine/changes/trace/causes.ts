/** Back from a change, step by step, to the request that began it. */
import { type Change, mayRead, SEED_CAUSE } from '../../change-log/entry.ts'
import { readEntry } from '../../change-log/read.ts'
import { read, type Scope, viewerOf } from '../../core/scope.ts'
import { statement, timed } from '../../database/client.ts'
import { changeStep, originStep, stepOf, type TraceStep } from './step.ts'

type Origin = Pick<TraceStep, 'kind' | 'id' | 'of' | 'status'> & { at: string; request_id: string | null }

// Of these ids, each is one of a single table. The webhook of a delivery is the author of its changes.
const ORIGIN = timed(
  statement(
    'origin_of_change',
    `SELECT 'inbound_delivery' AS kind, id, webhook_id AS of, status, created_at AS at, request_id FROM plinth.inbound_delivery
     WHERE base_id = $1 AND webhook_id = $2 AND id = $3
     UNION ALL
     SELECT 'promotion', id, from_base, status, created_at, NULL FROM plinth.promotion WHERE base_id = $1 AND id = $3
     UNION ALL
     SELECT 'action_run', r.id, r.action_id, r.status, r.created_at, r.request_id FROM plinth.action a CROSS JOIN LATERAL (
       SELECT * FROM plinth.action_run WHERE base_id = a.base_id AND action_id = a.id AND id = $3 LIMIT 1) r
     WHERE a.base_id = $1`,
  ),
)

/** The steps before a change, the nearest first. `isCut`: there are more than `most`. */
export async function causesOf(
  scope: Scope,
  baseId: string,
  traced: Change,
  most: number,
): Promise<{ steps: TraceStep[]; isCut: boolean }> {
  const viewer = viewerOf(scope)
  const steps: TraceStep[] = []
  let last = traced
  for (let before = await causeOf(scope, baseId, last); before; before = await causeOf(scope, baseId, last)) {
    if (steps.length === most) return { steps: chained(steps), isCut: true }
    steps.push(changeStep(viewer, baseId, before, { depth: steps.length + 1, cause: null }))
    last = before
  }
  const origin = await originOf(scope, baseId, last)
  const ends = [...(origin ? [origin] : []), originStep(viewer, baseId, last, 0)]
  for (const end of ends) {
    if (steps.length === most) return { steps: chained(steps), isCut: true }
    steps.push({ ...end, depth: steps.length + 1 })
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

/** What else is behind a change. Configuration and its logs are for readers of the whole base. */
async function originOf(
  scope: Scope,
  baseId: string,
  { cause, actor }: Change,
): Promise<TraceStep | undefined> {
  if (cause === null || SEQ.test(cause) || !scope.access.allows('read', baseId, '*')) return undefined
  const place = { depth: 0, cause: null }
  if (cause.startsWith(SEED_CAUSE))
    return stepOf({ ...place, kind: 'seed', id: cause, of: cause.slice(SEED_CAUSE.length) })
  const [found] = await read<Origin>(scope, ORIGIN, [baseId, actor.name, cause])
  if (!found) return undefined
  const { request_id: requestId, ...origin } = found
  return stepOf({ ...place, ...origin, requestId })
}

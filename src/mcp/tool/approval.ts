import { type PlanKind, wordsOf } from '../../contract/plan-messages.ts'
import { type DeletionFields, deletedBody, planBody } from '../../contract/response-bodies.ts'
import { type DomainError, oneFault } from '../../foundation/errors.ts'
import type { Caller } from '../protocol/provider.ts'

type DeletionPlanFields = Parameters<typeof planBody>[0]
export type DeletionPlanBody = ReturnType<typeof planBody>

/** The body of a delete: its result, or the plan that awaits approval. */
export const deletedOr = <T extends object>({
  plan,
  ...done
}: T & { plan: DeletionPlanFields | null; deletion: DeletionFields | null }): object =>
  plan ? planBody(plan) : deletedBody(done)

export const isPlan = (body: object): body is DeletionPlanBody => 'plan' in body && 'plan_token' in body

/**
 * Runs a write with approval. If the client supports elicitation, asks the user. Otherwise returns the plan,
 * and a second call with its token approves it. `run` gets the approved token. A plan that a view shows is decided there.
 * @throws CONFLICT if the user does not approve; what `elicit` throws
 */
export async function withApproval(
  run: (planToken?: string) => Promise<object>,
  kind: PlanKind,
  caller: Caller,
  isInView = false,
): Promise<object> {
  const answer = await run()
  if (!isPlan(answer) || isInView) return answer
  const said = await caller.elicit(question(kind, answer), choices(kind, answer))
  if (said.outcome === 'unavailable') return answer
  if (said.outcome !== 'accepted') throw notApproved(kind, said.outcome)
  // The answer repeats the summary of the plan. If the call ran again and the plan has changed, the answer
  // does not count.
  if (said.content['choice'] !== answer.plan.what) throw notApproved(kind, 'declined')
  return run(answer.plan_token)
}

function question(kind: PlanKind, { plan: { what, samples, titles } }: DeletionPlanBody): string {
  const { does, asks } = wordsOf(kind)
  const titled = samples?.map((name, n) => (titles?.[n] ? `${name} ${JSON.stringify(titles[n])}` : name))
  const first = titled ? ` First: ${titled.join(', ')}.` : ''
  return `${asks}${what.slice(does.length).replace(/\.$/, '')}?${first}`
}

const choices = (kind: PlanKind, { plan: { what } }: DeletionPlanBody) => ({
  type: 'object',
  properties: { choice: { type: 'string', title: 'Decision', enum: [wordsOf(kind).nothing, what] } },
  required: ['choice'],
})

function notApproved(kind: PlanKind, outcome: 'declined' | 'cancelled'): DomainError {
  const who =
    outcome === 'declined' ? 'The person who was asked declined' : 'The question was closed without an answer'
  const message = `${who}. ${wordsOf(kind).refused} Do not repeat the call unless the user asks for it.`
  return oneFault('CONFLICT', message, { path: '', code: outcome })
}

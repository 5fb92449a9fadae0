import { planBody, trim } from '../../contract/response-bodies.ts'
import { DomainError } from '../../foundation/errors.ts'
import type { Caller } from '../protocol/provider.ts'

type Plan = Parameters<typeof planBody>[0]
type PlanBody = ReturnType<typeof planBody>

/** The body of a delete: its result, or the plan that awaits approval. */
export const deletedOr = <T extends { plan: Plan | null }>({ plan, ...done }: T): object =>
  plan ? planBody(plan) : trim(done)

const isPlan = (body: object): body is PlanBody => 'plan' in body && 'plan_token' in body

/**
 * Runs a delete with approval. If the client supports elicitation, asks the user. Otherwise returns the plan,
 * and a second call with its token approves it. `run` gets the approved token.
 * @throws CONFLICT if the user does not approve; what `elicit` throws
 */
export async function withApproval(
  run: (planToken?: string) => Promise<object>,
  caller: Caller,
): Promise<object> {
  const answer = await run()
  if (!isPlan(answer)) return answer
  const said = await caller.elicit(question(answer), choices(answer))
  if (said.outcome === 'unavailable') return answer
  if (said.outcome !== 'accepted') throw notApproved(answer, said.outcome)
  // The answer repeats the summary of the plan. If the call ran again and the plan has changed, the answer
  // does not count.
  if (said.content['choice'] !== answer.plan.what) throw notApproved(answer, 'declined')
  return run(answer.plan_token)
}

const question = ({ plan: { what, samples } }: PlanBody) =>
  `${what
    .replace(/^Deletes/, 'Delete')
    .replace(/^Undoes/, 'Undo')
    .replace(/^Promotes/, 'Promote')
    .replace(/\.$/, '')}?${samples ? ` First: ${samples.join(', ')}.` : ''}`

const isDeletion = ({ plan: { what } }: PlanBody) => what.startsWith('Deletes')

const choices = (answer: PlanBody) => ({
  type: 'object',
  properties: {
    choice: {
      type: 'string',
      title: 'Decision',
      enum: [isDeletion(answer) ? 'Delete nothing' : 'Change nothing', answer.plan.what],
    },
  },
  required: ['choice'],
})

function notApproved(answer: PlanBody, outcome: 'declined' | 'cancelled'): DomainError {
  const who =
    outcome === 'declined' ? 'The person who was asked declined' : 'The question was closed without an answer'
  const done = isDeletion(answer) ? 'deleted' : 'changed'
  const message = `${who}. Nothing was ${done}. Do not repeat the call unless the user asks for it.`
  return new DomainError('CONFLICT', message, { details: [{ path: '', code: outcome, message }] })
}

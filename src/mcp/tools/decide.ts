/** The tool decide: what a person does in a view. Hosts keep it from the model; a model that calls it all the same lacks both secrets. */
import { z } from 'zod'
import { check, inBody } from '../../contract/validate.ts'
import { type DomainError, oneFault } from '../../foundation/errors.ts'
import { omitUndefined } from '../../foundation/omit-undefined.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { type AddressSession, addressOf } from '../protocol/address-session.ts'
import { success, type ToolResult } from '../protocol/result.ts'
import type { ToolCall } from '../tool/tool.ts'
import { asked } from '../tool/tool-call.ts'
import { definition, publish } from '../tool/tool-definition.ts'
import { openDecision } from '../views/decisions.ts'
import { isPageKey, onlyIn } from '../views/views.ts'

const decideRequest =
  staticOperation(`mutation ViewDecides($base: String!, $id: String!, $decision: String!, $note: String, $revision: Int) {
    done: decideReviewRequest(base: $base, id: $id, decision: $decision, note: $note, revision: $revision) {
      id state from title promotion { id }
    }
  }`)

export const DECIDE = 'decide'

const Decide = z.strictObject({
  decision: z.string(),
  page: z.string(),
  choice: z.enum(['accept', 'send_back', 'decline']),
  note: z.string().optional(),
})

const described = {
  title: 'Decide',
  description: 'For the view of a plan: what the person decided.',
  permission: 'write',
  hints: { destructive: true },
  output: { type: 'object' },
} as const

/** As clients that show views list it. */
export const decideDefinition = { ...definition(DECIDE, described, publish(Decide)), _meta: onlyIn('decide') }

/** The call of `decide` in a session; `resolve` finds the tool whose plan is confirmed. */
export const decideCall =
  (session: AddressSession, resolve: (name: string) => Promise<ToolCall>): ToolCall =>
  async (args, caller) => {
    const { decision: sealed, page, choice, note } = check(Decide, args, inBody())
    const { base, context } = session
    const at = addressOf(session)
    const decision = isPageKey(session, page) ? openDecision(context, at, sealed) : undefined
    if (!decision) throw notOfView()
    if (decision.of === 'plan') {
      if (choice !== 'accept') return success({ choice }, false)
      const call = await resolve(decision.tool)
      return call({ plan_token: decision.token, ...(base === null && { base_id: decision.base }) }, caller)
    }
    const { id, revision } = decision
    const seen = choice === 'accept' && revision !== null ? revision : undefined
    const input = { base: decision.base, id, decision: choice, ...omitUndefined({ note, revision: seen }) }
    const { done } = await decideRequest(input, asked(context, [at, DECIDE, { id, choice }], {}))
    return success({ choice, ...done }, false) satisfies ToolResult
  }

const notOfView = (): DomainError =>
  oneFault('FORBIDDEN', 'This decides for a person, in the view that shows them what it is.', {
    path: '/decision',
    code: 'not_of_view',
    message:
      'Only the page of the view can decide, within an hour, and once. Call the tool again for a new view.',
  })

/** What a person decides in a view. The view gets it sealed; a model gets the plan without its token. */
import { LIMITS } from '../../foundation/limits.ts'
import { type Context, sealText, unsealText } from '../../graphql/context.ts'

/** A plan of a tool, or a request for a promotion: of a change-set, by the revision that the person sees. */
export type Decision =
  | { of: 'plan'; tool: string; base: string; token: string }
  | { of: 'request'; base: string; id: string; revision: number | null }

const BOUND = (at: string) => ['decision in a view', at]

/** Seals a decision for the caller and the address. It ends by itself. */
export const sealDecision = (context: Context, at: string, decision: Decision): string =>
  sealText(context, BOUND(at), JSON.stringify({ ...decision, until: Date.now() + LIMITS.viewDecisionMs }))

/** Opens a decision; undefined if it is forged, over, or of another caller or address. */
export function openDecision(context: Context, at: string, sealed: string): Decision | undefined {
  const text = unsealText(context, BOUND(at), sealed)
  if (text === undefined) return undefined
  const { until, ...decision } = JSON.parse(text) as Decision & { until: number }
  return until < Date.now() ? undefined : (decision as Decision)
}

const DECISION = 'plinth/decision'

/** `_meta` of a result with a decision. Hosts pass it to the view. */
export const decisionMeta = (context: Context, at: string, decision: Decision): object => ({
  [DECISION]: sealDecision(context, at, decision),
})

export const IN_VIEW =
  'A person decides in the view that shows this, and you cannot. Wait for what they say, and do not repeat the call.'

import { digest } from '../../contract/canonical-hash.ts'
import { DomainError, invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { Scope } from '../core/scope.ts'
import { seal, unseal } from '../core/sealed-token.ts'
import { type DeletionPlan, planOf } from './deletion-plan.ts'
import { type DeletionSummary, isMany, stateOf } from './deletion-summary.ts'

/** What a token of a plan says: until when, and, as short names, whose it is, of which request, and of what state. */
type Approval = {
  readonly expiresAt: number
  readonly who: string
  readonly request: string
  readonly state: string
}

const PURPOSE = 'deletion plan'
/** Of each name: 96 bits, in a token that models have to repeat letter by letter. */
const NAME_CHARS = 16

const short = (name: string) => name.slice(0, NAME_CHARS)

// A token never stands for rights: it is of use only to who has them, with the rights that the plan was made with.
const whoOf = ({ actor, access }: Scope) => short(digest([actor.tokenId, actor.name, access.grants]))

/** A token that approves of one request in one state, for ten minutes. */
function sealPlan(scope: Scope, request: string, state: string): { token: string; expiresAt: Date } {
  const expiresAt = Date.now() + LIMITS.planMinutes * 60_000
  const parts = [expiresAt, whoOf(scope), short(request), short(state)]
  return { token: seal(scope.keys.plan, PURPOSE, JSON.stringify(parts)), expiresAt: new Date(expiresAt) }
}

/** What the token approves of. @throws VALIDATION_ERROR when it is not one for this caller and this request */
function openPlan(scope: Scope, request: string, token: string): Approval {
  const text = unseal(scope.keys.plan, PURPOSE, token)
  if (text === undefined)
    throw refused('invalid_plan_token', 'The plan_token is not valid. Send it exactly as it was returned.')
  const [expiresAt, who, of, state] = JSON.parse(text) as [number, string, string, string]
  if (who !== whoOf(scope))
    throw refused('plan_of_another_token', 'The plan belongs to another token, or the grants have changed.')
  if (of !== short(request))
    throw refused('plan_of_another_call', 'The plan belongs to another call. Send the same arguments.')
  return { expiresAt, who, request: of, state }
}

/** Is the approval for what would be taken now? Why not, otherwise. */
function refusalOf({ expiresAt, state }: Approval, now: string): 'plan_expired' | 'plan_stale' | undefined {
  if (Date.now() >= expiresAt) return 'plan_expired'
  return state === short(now) ? undefined : 'plan_stale'
}

const refused = (code: string, message: string) =>
  invalid({
    path: '/plan_token',
    code,
    message: `${message} Call without plan_token for a plan of this call.`,
  })

/** What a write that asks first is held to. */
export type Planning = {
  /** Was a plan approved? Then what it says must hold, also where none would have been asked for. */
  readonly isApproved: boolean
  /** Stops a deletion of many things that nobody has approved of. Called before the transaction ends. @throws Planned */
  demand(taken: DeletionSummary): void
}

/** Of a dry run, which takes nothing that would have to be approved of. */
export const UNASKED: Planning = { isApproved: false, demand: () => {} }

type Refusal = 'plan_expired' | 'plan_stale'

/** Carries a plan out of the transaction that it undoes. */
export class Planned extends Error {
  readonly plan: DeletionPlan
  readonly refusal: Refusal | undefined
  constructor(plan: DeletionPlan, refusal?: Refusal) {
    super('planned')
    this.plan = plan
    this.refusal = refusal
  }
}

/** Opens the planning of a request. @throws VALIDATION_ERROR for a token that is not of this caller and request */
export function openPlanning(scope: Scope, request: () => string, token: string | null): Planning {
  const approval = token === null ? undefined : openPlan(scope, request(), token)
  return {
    isApproved: approval !== undefined,
    demand(taken) {
      if (!approval && !isMany(taken)) return
      const state = stateOf(taken)
      const refusal = approval && refusalOf(approval, state)
      if (approval && !refusal) return
      const { token, expiresAt } = sealPlan(scope, request(), state)
      throw new Planned(planOf(taken, token, expiresAt), refusal)
    },
  }
}

const WHY = {
  plan_expired: `The plan has expired: a plan is valid for ${LIMITS.planMinutes} minutes.`,
  plan_stale: 'What it would delete has changed since the plan was made.',
}

/** The refusal of an approval that does not hold any more, with the plan that does. */
export function outdated({ what, token }: DeletionPlan, code: Refusal): DomainError {
  const message = `${WHY[code]} Nothing was deleted. expected lists what would be deleted now. To delete it, call again with the plan_token in hint.`
  return new DomainError('CONFLICT', message, {
    details: [{ path: '/plan_token', code, message, expected: what, hint: token }],
  })
}

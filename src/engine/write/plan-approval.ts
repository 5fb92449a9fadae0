import { digest } from '../../contract/canonical-hash.ts'
import { DomainError, invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { Scope } from '../core/scope.ts'
import { seal, unseal } from '../core/sealed-token.ts'
import { type DeletionPlan, planOf } from './deletion-plan.ts'
import { type DeletionSummary, isMany, stateOf } from './deletion-summary.ts'

/** Content of an approval token: its expiry, and short hashes of the caller, the request and the state. */
type Approval = {
  readonly expiresAt: number
  readonly who: string
  readonly request: string
  readonly state: string
}

const PURPOSE = 'deletion plan'
/** 96 bits per hash. Kept short, because models repeat the token letter by letter. */
const NAME_CHARS = 16

const short = (name: string) => name.slice(0, NAME_CHARS)

// The token grants no rights. It is valid only for the same caller with the same grants.
const whoOf = ({ actor, access }: Scope) => short(digest([actor.tokenId, actor.name, access.grants]))

/** Creates an approval token for one request in one state, valid for ten minutes. */
function sealPlan(scope: Scope, request: string, state: string): { token: string; expiresAt: Date } {
  const expiresAt = Date.now() + LIMITS.planMinutes * 60_000
  const parts = [expiresAt, whoOf(scope), short(request), short(state)]
  return { token: seal(scope.keys.plan, PURPOSE, JSON.stringify(parts)), expiresAt: new Date(expiresAt) }
}

/**
 * Opens an approval token.
 * @throws VALIDATION_ERROR when it belongs to another caller or request
 */
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

/** The reason why the approval does not match the current state, if there is one. */
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

/** Approval state of a deletion with a preview. */
export type Planning = {
  /**
   * Whether the request has an approval token. It is then checked even for deletions that need no approval.
   */
  readonly isApproved: boolean
  /**
   * Rolls back a deletion of several things without approval. Call it before commit.
   * @throws Planned
   */
  checkApproval(summary: DeletionSummary): void
}

/** For dry runs, which need no approval. */
export const UNASKED: Planning = { isApproved: false, checkApproval: () => {} }

type Refusal = 'plan_expired' | 'plan_stale'

/** Thrown to roll the transaction back and return the plan. */
export class Planned extends Error {
  readonly plan: DeletionPlan
  readonly refusal: Refusal | undefined
  constructor(plan: DeletionPlan, refusal?: Refusal) {
    super('planned')
    this.plan = plan
    this.refusal = refusal
  }
}

/**
 * Opens the approval state of a request.
 * @throws VALIDATION_ERROR when the token belongs to another caller or request
 */
export function openPlanning(scope: Scope, request: () => string, token: string | null): Planning {
  const approval = token === null ? undefined : openPlan(scope, request(), token)
  return {
    isApproved: approval !== undefined,
    checkApproval(summary) {
      if (!approval && !isMany(summary)) return
      const state = stateOf(summary)
      const refusal = approval && refusalOf(approval, state)
      if (approval && !refusal) return
      const { token, expiresAt } = sealPlan(scope, request(), state)
      throw new Planned(planOf(summary, token, expiresAt), refusal)
    },
  }
}

const WHY = {
  plan_expired: `The plan has expired: a plan is valid for ${LIMITS.planMinutes} minutes.`,
  plan_stale: 'What it would delete has changed since the plan was made.',
}

/** Error for an outdated approval, with the current plan. */
export function outdated({ what, token }: DeletionPlan, code: Refusal): DomainError {
  const message = `${WHY[code]} Nothing was deleted. expected lists what would be deleted now. To delete it, call again with the plan_token in hint.`
  return new DomainError('CONFLICT', message, {
    details: [{ path: '/plan_token', code, message, expected: what, hint: token }],
  })
}

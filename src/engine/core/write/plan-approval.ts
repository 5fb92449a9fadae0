import { digestInTurns } from '../../../contract/canonical-hash.ts'
import { type DomainError, oneFault } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Scope } from '../scope.ts'
import { findPlan, planOfAnotherCall, type StoredPlan } from './plan-store.ts'

/** What a write would do, as the approver sees it. */
export type Review = {
  /** Hash of all that must not change before approval. */
  readonly state: string
  /** One sentence. */
  readonly what: string
  /** The plan that `planned` of the mutation gets, together with its token. */
  readonly plan: object
}

/** The token of a plan, beside its content. */
export type Approvable = { readonly token: string; readonly expiresAt: string }

/** Approval state of a write with a preview. */
export type Planning = {
  /**
   * Whether the request has an approval token. It is then checked even for writes that need no approval.
   */
  readonly isApproved: boolean
  /** When the plan was made that the token approves, in milliseconds. */
  readonly plannedAt: number | null
  /**
   * Rolls back a write that needs approval and has none, or not this one. Call it before commit.
   * @throws Planned
   */
  checkApproval(isNeeded: boolean, review: () => Review): void
}

/** For dry runs, which need no approval. */
export const UNASKED: Planning = { isApproved: false, plannedAt: null, checkApproval: () => {} }

type Refusal = 'plan_expired' | 'plan_stale'

/** Thrown to roll the transaction back and return the plan. */
export class Planned extends Error {
  readonly review: Review
  readonly refusal: Refusal | undefined
  constructor(review: Review, refusal?: Refusal) {
    super('planned')
    this.review = review
    this.refusal = refusal
  }
}

/**
 * Opens the approval state of a request.
 * @throws VALIDATION_ERROR when the token belongs to another caller or request
 */
export async function openPlanning(
  scope: Scope,
  request: () => unknown,
  token: string | null,
): Promise<Planning> {
  const approval = token === null ? undefined : await findPlan(scope, token)
  if (approval && approval.requestHash !== (await digestInTurns(request()))) throw planOfAnotherCall()
  return {
    isApproved: approval !== undefined,
    plannedAt: approval?.plannedAt ?? null,
    checkApproval(isNeeded, review) {
      if (!approval && !isNeeded) return
      const now = review()
      const refusal = approval && refusalOf(approval, now.state)
      if (!approval || refusal) throw new Planned(now, refusal)
    },
  }
}

/** The reason why the approval does not match the current state, if there is one. */
function refusalOf({ expiresAt, state }: StoredPlan, now: string): Refusal | undefined {
  if (Date.now() >= expiresAt) return 'plan_expired'
  return state === now ? undefined : 'plan_stale'
}

const WHY = {
  plan_expired: `The plan has expired: a plan is valid for ${LIMITS.planMinutes} minutes.`,
  plan_stale: 'What it would change has changed since the plan was made.',
}

/** Error for an outdated approval, with the current plan. */
export function outdated(what: string, token: string, code: Refusal): DomainError {
  const message = `${WHY[code]} Nothing was written. expected says what it would do now. To do that, send the plan_token in hint.`
  return oneFault('CONFLICT', message, { path: '/plan_token', code, expected: what, hint: token })
}

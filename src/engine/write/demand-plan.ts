import { DomainError } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { Scope } from '../core/scope.ts'
import { type DeletionPlan, planOf } from './deletion-plan.ts'
import { isMany, stateOf, type Taken } from './deletion-summary.ts'
import { openPlan, refusalOf, sealPlan } from './plan-approval.ts'

/** What a write that asks first is held to. */
export type Planning = {
  /** Was a plan approved? Then what it says must hold, also where none would have been asked for. */
  readonly isApproved: boolean
  /** Stops a deletion of many things that nobody has approved of. Called before the transaction ends. @throws Planned */
  demand(taken: Taken): void
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

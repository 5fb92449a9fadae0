import { LIMITS } from '../../../foundation/limits.ts'
import { listingOnce } from './property-names.ts'

/** Thrown when an evaluation exceeds its step budget. */
class BudgetSpent extends Error {}

/**
 * Remaining steps of the current evaluation, about ten nanoseconds each. A schema of a few lines can require
 * 2^60 steps, and evaluation is synchronous, so steps are counted. The budget is global, since only one
 * evaluation runs at a time.
 */
const budget = { left: 0 }

export function spend(steps: number): void {
  budget.left -= steps
  if (budget.left < 0) throw new BudgetSpent()
}

/** Runs work with a full budget. Undefined when it exceeds the budget or the stack, as a hostile schema can. */
export function attempt<T>(work: () => T): T | undefined {
  budget.left = LIMITS.checkSteps
  try {
    return listingOnce(work)
  } catch (error) {
    if (error instanceof BudgetSpent || error instanceof RangeError) return undefined
    throw error
  }
}

/** The steps that the last attempt used. */
export const stepsUsed = (): number => LIMITS.checkSteps - Math.max(0, budget.left)

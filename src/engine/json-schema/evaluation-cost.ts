/** Thrown when an evaluation exceeds its step budget. */
export class BudgetSpent extends Error {}

/**
 * Remaining steps of the current evaluation, about ten nanoseconds each. A schema of a few lines can require
 * 2^60 steps, and evaluation is synchronous, so steps are counted. The budget is global, since only one
 * evaluation runs at a time.
 */
export const budget = { left: 0 }

export function spend(steps: number): void {
  budget.left -= steps
  if (budget.left < 0) throw new BudgetSpent()
}

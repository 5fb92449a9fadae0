/** Thrown when checking a value would take longer than any honest schema needs. */
export class BudgetSpent extends Error {}

/**
 * Steps of some ten nanoseconds that a check may still take. A schema of a few lines can ask for 2^60 steps, and a check
 * runs to its end without a pause, so steps are counted. One budget serves all, as only one check runs at a time.
 */
export const budget = { left: 0 }

export function spend(steps: number): void {
  budget.left -= steps
  if (budget.left < 0) throw new BudgetSpent()
}

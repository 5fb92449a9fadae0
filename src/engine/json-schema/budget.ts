/** Thrown when checking a value would take longer than any honest schema needs. */
export class BudgetSpent extends Error {}

/**
 * How many steps of some ten nanoseconds a check may still take. A schema of a few lines can ask for 2^60 steps, and
 * checks run to their end without a pause, so they count. One budget serves all, as only one check runs at a time.
 */
export const budget = {
  left: 0,
  spent(): never {
    throw new BudgetSpent()
  },
}

export function spend(steps: number): void {
  budget.left -= steps
  if (budget.left < 0) budget.spent()
}

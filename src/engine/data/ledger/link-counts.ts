import { DomainError } from '../../../foundation/errors.ts'

/** Counts of the operations on the links of a record write, which may have a thousand. */
export type LinkCounts = { readonly created: number; readonly updated: number; readonly unchanged: number }

/** A link that was written. */
type Written = { readonly operation?: keyof LinkCounts }

export function countLinks(outcomes: readonly (Written | DomainError | undefined)[]): LinkCounts {
  const counts = { created: 0, updated: 0, unchanged: 0 }
  for (const outcome of outcomes)
    if (outcome && !(outcome instanceof DomainError) && outcome.operation) counts[outcome.operation]++
  return counts
}

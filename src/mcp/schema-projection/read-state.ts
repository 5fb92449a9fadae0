import type { References } from './refs.ts'
import type { Budget } from './shape.ts'

/** Where in a schema the reader is, and what it may still do. */
export type Reading = {
  references: References
  draft07: boolean
  budget: Budget
  /** How many levels below this one are still read. */
  levels: number
  /** The schema that `#` means here. */
  resource: unknown
  /** What was followed on the way to this very value; meeting it again would never end. */
  following: ReadonlySet<unknown>
  /** What was followed on the way to the values around this one. */
  around: readonly unknown[]
  warn: (message: string) => void
}

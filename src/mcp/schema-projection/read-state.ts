import type { References } from './refs.ts'
import type { Budget } from './shape.ts'

/** State of the schema reader: position, and remaining budget. */
export type Reading = {
  references: References
  draft07: boolean
  budget: Budget
  /** Remaining levels of nesting. */
  levels: number
  /** The schema resource that `#` refers to. */
  resource: unknown
  /** References followed on the way to this value; a repeat is an infinite loop. */
  following: ReadonlySet<unknown>
  /** References followed on the way to the enclosing values. */
  around: readonly unknown[]
  warn: (message: string) => void
}

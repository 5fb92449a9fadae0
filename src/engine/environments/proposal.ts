/** What a promotion would change, and what prevents it. */
import type { Detail } from '../../foundation/errors.ts'
import type { RecordsRewritten } from './apply-edits.ts'
import type { Kept, ShownEdit } from './edits.ts'
import type { Conflict } from './three-way.ts'

export type Proposal = {
  from: string
  baseId: string
  changes: readonly ShownEdit[]
  summary: Record<ShownEdit['op'], number>
  /** What production has changed too, in another way. A promotion needs `force` to replace it. */
  conflicts: readonly Conflict[]
  /** What production holds, or lacks, that the changes do not fit, with counts and samples. */
  breaks: readonly Detail[]
  /** Of a change-set: what was looked at. */
  revision?: number
  /** What the preview deleted, and stays without `prune`. */
  kept?: readonly Kept[]
  /** What breaks for clients that were generated from the GraphQL schema of production. */
  warnings?: readonly string[]
  /** How many records migrations would rewrite. */
  recordsRewritten?: RecordsRewritten
}

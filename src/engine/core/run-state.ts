import type { Step } from '../../contract/action-shapes.ts'
import type { Db } from '../storage/database/client.ts'

/** The row of an action, as far as a run needs it. */
export type RunnableAction = {
  readonly baseId: string
  readonly id: string
  readonly version: number
  readonly inputSchema: object
  readonly steps: readonly Step[]
  readonly output: unknown
}

/** A run of an action within a request. It is kept when the transaction is tried again. */
export type RunState = {
  readonly id: string
  readonly startedAt: Date
  /** The action as the run found it, before the caller's rights are checked; undefined if there is none. */
  readonly action: RunnableAction | undefined
  /** The delivery of a trigger that started it; absent if a caller did. */
  readonly cause?: string
  /** Ends the delivery of the run in its transaction, so that a delivery that succeeded runs once. */
  readonly claim?: (tx: Db) => Promise<void>
  /** Answers of http steps, so that a transaction that is tried again sends nothing twice. */
  readonly sent: Map<string, { readonly request: string; readonly answer: object }>
  /** Ids that the run has given to new records, by step: the same in each attempt. */
  readonly ids: Map<string, string>
  /** What the last attempt did, for the log; absent until it began. */
  begun?: { readonly version: number; readonly input: unknown; readonly steps: readonly object[] }
}

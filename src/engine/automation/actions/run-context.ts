/** What the parts of a run share. */
import type { Step } from '../../../contract/action-shapes.ts'
import type { RunState } from '../../core/run-state.ts'
import type { WriteScope } from '../../core/write/write.ts'
import type { Values } from '../../schema/templates/render.ts'

export type ActionAddress = { readonly baseId: string; readonly id: string }

/** What a step did, as the answer shows it. */
export type StepResult = { readonly name: string; readonly type: string; readonly skipped?: true }

/** @throws CONFLICT, at `path`, for a url that a step of production calls, or called at the fork */
export type RequireOwnUrl = (step: Step, url: string, path: string) => void

/** A run in progress. */
export type RunContext = {
  readonly scope: WriteScope
  readonly baseId: string
  readonly run: RunState
  readonly values: Values
  /** Refuses a url of production in a preview. */
  readonly requireOwnUrl: RequireOwnUrl
  /** The secrets of all steps: a receiver may answer one step with what another sent. */
  readonly secrets: readonly string[]
  /** Bytes of records that queries may still read. */
  readonly reads: { left: number }
  /** When the run must have ended. */
  readonly deadline: number
}

/** What a step did: for the answer and later steps, and for the log. */
export type StepOutcome = { readonly result: object; readonly logged: object }

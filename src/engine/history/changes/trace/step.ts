import type { STEP_KINDS } from '../../../../contract/trace-step-kinds.ts'
import { type Change, callFor, type Viewer } from '../../../log/entry.ts'
import type { ToolCall } from '../../../log/tool-call.ts'

/** A step between a change and what caused it, or what it set off. */
export type TraceStep = {
  kind: (typeof STEP_KINDS)[number]
  /** Of a change: its seq. */
  id: string
  /** What it belongs to: the trigger, the inbound webhook, the action, the tool, or the preview of a promotion. */
  of: string | null
  /** How far it is from the traced change, from 1. */
  depth: number
  /** The id of the step that it follows from; null for the first one of all. */
  cause: string | null
  at: string | null
  /** Of a delivery, a run or a promotion. */
  status: string | null
  change: ChangeSummary | null
  actor: Change['actor'] | null
  requestId: string | null
  call: ToolCall | null
}
type ChangeSummary = Pick<Change, 'seq' | 'kind' | 'recordType' | 'id' | 'operation' | 'version'>

type Summary = ChangeSummary & Pick<Change, 'at' | 'actor' | 'requestId' | 'call'>
export type Place = Pick<TraceStep, 'depth' | 'cause'>

const EMPTY = { of: null, at: null, status: null, change: null, actor: null, requestId: null, call: null }

export const stepOf = (
  step: Pick<TraceStep, 'kind' | 'id'> & Place & Partial<Omit<TraceStep, 'kind' | 'id' | 'depth' | 'cause'>>,
): TraceStep => ({ ...EMPTY, ...step })

/** A change as a step, as far as the reader sees it. */
export function changeStep(viewer: Viewer, baseId: string, change: Summary, place: Place): TraceStep {
  const { seq, kind, recordType, id, operation, version, at, actor, requestId } = change
  return stepOf({
    ...place,
    ...{ kind: 'change', id: String(seq), at, actor, requestId },
    change: { seq, kind, recordType, id, operation, version },
    call: callFor(viewer, baseId, { actor, call: change.call }).call,
  })
}

/** The tool call, or else the request, that a change came with. */
export function originStep(viewer: Viewer, baseId: string, change: Change, depth: number): TraceStep {
  const { actor, requestId, at } = change
  const { call } = callFor(viewer, baseId, { actor, call: change.call })
  const own = { depth, cause: null, at, actor, requestId, call }
  return call
    ? stepOf({ ...own, kind: 'tool_call', id: call.id, of: call.tool })
    : stepOf({ ...own, kind: 'request', id: requestId })
}

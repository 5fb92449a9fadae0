/** The plan of an undo. */
import type { Count, Step } from './shapes.ts'

/** What a change set off, and what stays done. */
type Effect = { id: string; of: string | null; status: string | null }
export type UndoItem = {
  reverts: number
  kind: string
  record_type: string | null
  id: string
  operation: string
  title?: string
  diff?: Step[]
}
export type UndoPlan = {
  request_id: string
  count: number
  by: Count[]
  data: UndoItem[]
  also: UndoItem[]
  skipped: {
    kind: string
    record_type: string | null
    id: string
    seq: number
    overtaken_by: number | null
    code: string
    message: string
    title?: string
  }[]
  effects?: { changes: number; deliveries: Effect[]; runs: Effect[] }
}

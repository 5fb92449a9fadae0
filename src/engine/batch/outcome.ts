import type { OperationName } from '../../batch-shapes.ts'
import { JsonRows } from '../../json/rows.ts'
import { type RecordItem, viewOf } from '../records/record.ts'

/** What one operation did. */
export type Outcome = {
  index: number
  type: OperationName
  operation: 'created' | 'updated' | 'unchanged' | 'deleted'
  id: string
  version: number
  /** The record after it; null for what leaves none. */
  record: RecordItem | null
  /** The record as REST shows it, as JSON text, where that costs less than to print it. Nothing that is kept. */
  recordText?: () => string
}

/** Outcomes as REST shows them; `record` only where there is one. */
export const outcomeRows = (outcomes: readonly Outcome[]): JsonRows => new JsonRows(outcomes.map(textOf))

function textOf(outcome: Outcome): string {
  const text = JSON.stringify(withoutRecord(outcome))
  const { record, recordText } = outcome
  return record ? `${text.slice(0, -1)},"record":${recordText?.() ?? JSON.stringify(viewOf(record))}}` : text
}

/** An outcome as MCP shows it: what is read is paid for. */
export const withoutRecord = ({ index, type, operation, id, version }: Outcome) => ({
  index,
  type,
  operation,
  id,
  version,
})

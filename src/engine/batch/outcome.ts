import type { OperationName } from '../../batch-shapes.ts'
import { type RecordItem, type RecordRowView, viewOf } from '../records/record.ts'

/** What one operation did. */
export type Outcome = {
  index: number
  type: OperationName
  operation: 'created' | 'updated' | 'unchanged' | 'deleted'
  id: string
  version: number
  /** The record after it; null for what leaves none. */
  record: RecordItem | null
}

/** An outcome as REST and MCP show it; `record` only where there is one, and only when it is wanted. */
export type OutcomeView = Omit<Outcome, 'record'> & { record?: RecordRowView }

export function outcomeView({ record, ...outcome }: Outcome, withRecord: boolean): OutcomeView {
  return withRecord && record ? { ...outcome, record: viewOf(record) } : outcome
}

import type { OperationName } from '../../contract/batch-shapes.ts'
import { nextTurn, turnIsOver } from '../../foundation/turns.ts'
import { JsonRows } from '../../json/rows.ts'
import { type RecordItem, type RecordRow, toRecord, toViewText, viewOf } from '../record-store/record.ts'

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

type Did = Omit<Outcome, 'record' | 'recordText'>

/** What an operation did to a record, and the text that its data was printed as already, if it was. */
export const outcomeWith = (did: Did, recordType: string, row: RecordRow, dataText?: string): Outcome => ({
  ...did,
  record: toRecord(recordType, row),
  ...(dataText !== undefined && { recordText: () => toViewText(recordType, { ...row, data: dataText }) }),
})

/** Outcomes as REST shows them; `record` only where there is one. */
export async function outcomeRows(outcomes: readonly Outcome[]): Promise<JsonRows> {
  const texts: string[] = []
  for (const outcome of outcomes) {
    if (turnIsOver()) await nextTurn()
    texts.push(textOf(outcome))
  }
  return new JsonRows(texts)
}

function textOf(outcome: Outcome): string {
  const { index, type, operation, id, version, recordText } = outcome
  const text = `{"index":${index},"type":"${type}","operation":"${operation}","id":${JSON.stringify(id)},"version":${version}`
  const record = recordText?.() ?? (outcome.record && JSON.stringify(viewOf(outcome.record)))
  return record ? `${text},"record":${record}}` : `${text}}`
}

/** An outcome as MCP shows it: what is read is paid for. */
export const withoutRecord = ({ index, type, operation, id, version }: Outcome) => ({
  index,
  type,
  operation,
  id,
  version,
})

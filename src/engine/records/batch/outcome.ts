import type { OperationName } from '../../../contract/batch-shapes.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { JsonRows } from '../../../json/rows.ts'
import type { LinkCounts } from '../../data/ledger/link-counts.ts'
import { type RecordItem, type RecordRow, toRecord, toViewText, viewOf } from '../../data/ledger/record.ts'

/** The result of one operation. */
export type Outcome = {
  index: number
  type: OperationName
  operation: 'created' | 'updated' | 'unchanged' | 'deleted'
  id: string
  version: number
  /** The record after the operation; null after a delete. */
  record: RecordItem | null
  /** Operations on the links that were written with a record. */
  linked?: LinkCounts
  /** Ids of the links that a link replaced, which are deleted. */
  replaced?: readonly string[]
  /** Warnings about a written type. */
  warnings?: readonly string[]
  /** Prints the record as REST JSON text, where reuse is cheaper than serialization. Not persisted. */
  recordText?: () => string
}

type Did = Omit<Outcome, 'record' | 'recordText'>

/** Completes an outcome, with the serialized data if it is already available. */
export const outcomeWith = (did: Did, recordType: string, row: RecordRow, dataText?: string): Outcome =>
  Object.assign(did, {
    record: toRecord(recordType, row),
    ...(dataText !== undefined && { recordText: () => toViewText(recordType, row, dataText) }),
  })

/** REST rows of the outcomes; `record` only if there is one. */
export async function outcomeRows(outcomes: readonly Outcome[]): Promise<JsonRows> {
  const texts: string[] = []
  for (const outcome of outcomes) {
    if (turnIsOver()) await nextTurn()
    texts.push(textOf(outcome))
  }
  return new JsonRows(texts)
}

/** Ids need no escaping. */
function textOf(outcome: Outcome): string {
  const { index, type, operation, id, version, linked, replaced, warnings, recordText } = outcome
  const more = linked || replaced || warnings ? moreText({ relationships: linked, replaced, warnings }) : ''
  const text = `{"index":${index},"type":"${type}","operation":"${operation}","id":"${id}","version":${version}${more}`
  const record = recordText?.() ?? (outcome.record && JSON.stringify(viewOf(outcome.record)))
  return record ? `${text},"record":${record}}` : `${text}}`
}

const moreText = (more: object): string => `,${JSON.stringify(more).slice(1, -1)}`

type Done = Pick<Outcome, 'operation' | 'id' | 'version' | 'replaced' | 'warnings'> & {
  relationships?: LinkCounts
}

const doneBy = ({ operation, id, version, linked, replaced, warnings }: Outcome): Done => ({
  ...{ operation, id, version },
  ...(linked && { relationships: linked }),
  ...(replaced && { replaced }),
  ...(warnings && { warnings }),
})

/** An outcome as an object, with the record as REST shows it. */
export const outcomeView = (outcome: Outcome): Done & { readonly record?: object } => ({
  ...doneBy(outcome),
  ...(outcome.record && { record: viewOf(outcome.record) }),
})

/** The MCP form of an outcome, without the record, to save the client's tokens. */
export const withoutRecord = (outcome: Outcome) => ({
  ...{ index: outcome.index, type: outcome.type },
  ...doneBy(outcome),
})

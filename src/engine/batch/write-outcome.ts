import { demandKnown } from './lock-all.ts'
import type { Held, HeldRow } from './locked-records.ts'
import type { Content } from './operation.ts'
import { type Outcome, outcomeWith } from './outcome.ts'
import type { Decided, Decision, Of } from './resolve-operation.ts'
import type { WrittenRow } from './statements.ts'

/** What is done type by type; deletions are not, as they may take records of any type along. */
export type Written = Exclude<Decision['kind'], 'delete'>

const DONE = { create: 'created', update: 'updated', cancel: 'updated' } as const

/** What an operation did, of what its statement wrote; the batch holds the record as it is now. */
export function outcomeOf(
  recordType: string,
  { operation, decision }: Decided<Of<Written>>,
  rows: Map<string, WrittenRow>,
  held: Held,
): Outcome {
  const { index, type } = operation
  const { kind } = decision
  const id = kind === 'create' ? decision.id : decision.row.id
  const written = rows.get(id)
  const row = rowAfter(decision, written)
  held.set(recordType, row)
  const done = kind === 'keep' || !written ? 'unchanged' : DONE[kind]
  const { version } = row
  // What was printed for the database is not printed again.
  const text = 'write' in decision ? decision.write.text : undefined
  return outcomeWith({ index, type, operation: done, id, version }, recordType, row, text)
}

/** The record as it is now: what was known of it, what was written, and what the database made of that. */
function rowAfter(decision: Of<Written>, written: WrittenRow | undefined): HeldRow {
  if (decision.kind === 'create') {
    const now = demandKnown(written)
    const made = { external_source: null, external_id: null, cancelled_at: null, valid: true }
    return { ...now, ...made, created_at: now.updated_at, ...contentOf(decision.write) }
  }
  const { row } = decision
  if (decision.kind === 'update')
    return { ...row, ...(written && { ...written, valid: true }), ...contentOf(decision.write) }
  return written ? { ...row, ...written, cancelled_at: written.updated_at } : row
}

/** The columns that a write gives; without a pair these stay. */
const contentOf = ({ data, text, pair }: Content) => ({
  data,
  bytes: Buffer.byteLength(text),
  ...(pair && { external_source: pair.externalSource, external_id: pair.externalId }),
})

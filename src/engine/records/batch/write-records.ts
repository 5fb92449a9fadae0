import { DomainError } from '../../../foundation/errors.ts'
import { policyOn } from '../../core/row-policy/apply.ts'
import { redacted } from '../../core/row-policy/redact-errors.ts'
import { authorship } from '../../core/scope.ts'
import { NO_EXPECTATION } from '../../core/write/preconditions.ts'
import type { WriteScope } from '../../core/write/write.ts'
import {
  type Becoming,
  guardUnique,
  hasUnique,
  type KeyedRecord,
  releaseUnique,
  variantOf,
  type WriteStatement,
  type Written,
  writeDraftsTogether,
} from '../../data/indexes/index.ts'
import { CREATE_BATCH, REPLACE_BATCH } from '../../data/ledger/put.ts'
import { CANCEL_BATCH } from '../../data/ledger/set-state.ts'
import type { CompiledType } from '../../schema/compiled-types/compiled-type.ts'
import { statement } from '../../storage/database/client.ts'
import { deleteRecords } from '../cascade-delete.ts'
import { ofOperation, placeOf } from './faults.ts'
import { assertDefined } from './lock-all.ts'
import type { LockedRecords, LockedRow } from './locked-records.ts'
import type { Content } from './operation.ts'
import { type Outcome, outcomeWith } from './outcome.ts'
import { columnsOf, inParts } from './parts.ts'
import type { Decided, Decision, Of } from './resolve-operation.ts'

/** The columns that a write returns. */
type WrittenRow = Pick<LockedRow, 'id' | 'version' | 'place' | 'updated_at'>

const SAVEPOINT = statement('batch_savepoint', 'SAVEPOINT batch')
const UNDO = statement('batch_undo', 'ROLLBACK TO SAVEPOINT batch')

/**
 * Writes planned operations on one type with one statement per kind. After a unique violation, they are written as the
 * state that they are together: they may exchange values. Those that do not fit either are retried one by one, so that
 * the error is attributed to a single operation.
 */
export async function writeRecords(
  scope: WriteScope,
  type: CompiledType,
  decided: readonly Decided<Of<WrittenKind>>[],
  locked: LockedRecords,
): Promise<Outcome[]> {
  if (!hasUnique(type) || decided.length === 1) return writeKinds(scope, type, decided, locked)
  await scope.db.query(SAVEPOINT, [])
  for (const write of [writeKinds, exchange])
    try {
      return await write(scope, type, decided, locked)
    } catch (thrown) {
      if (!(thrown instanceof DomainError)) throw thrown
      await scope.db.query(UNDO, [])
    }
  const outcomes: Outcome[] = []
  for (const each of decided) outcomes.push(...(await writeKinds(scope, type, [each], locked)))
  return outcomes
}

/** Writes records that may take unique values of each other. */
async function exchange(
  ...[scope, type, decided, locked]: Parameters<typeof writeRecords>
): Promise<Outcome[]> {
  const write = () => writeKinds(scope, type, decided, locked)
  if (scope.changeSet !== undefined) {
    const ids = decided.map(({ decision }) => ('row' in decision ? decision.row.id : decision.id))
    return guardUnique(type, () => writeDraftsTogether(scope.db, [type.baseId, type.id, ids], write))
  }
  const updates = decided.flatMap(({ decision }) =>
    decision.kind === 'update' ? [becoming(decision.row.id, decision.write)] : [],
  )
  await releaseUnique(scope.db, type.baseId, type.id, updates)
  return write()
}

const becoming = (id: string, { data, pair }: Content): Becoming => ({
  id,
  after: { data, external_id: pair?.externalId, external_source: pair?.externalSource },
})

async function writeKinds(
  scope: WriteScope,
  type: CompiledType,
  decided: readonly Decided<Of<WrittenKind>>[],
  locked: LockedRecords,
): Promise<Outcome[]> {
  const first = decided[0]?.operation.index ?? 0
  const of = <K extends WrittenKind>(kind: K) =>
    decided.filter((each): each is Decided<Of<K>> => each.decision.kind === kind)
  const rows = new Map<string, WrittenRow>()
  const policy = policyOn(scope, type.baseId, type.id)
  const run = async (
    how: WriteStatement,
    values: readonly unknown[],
    records: readonly KeyedRecord[],
    one?: Written,
  ) => {
    const [variant, keys] = variantOf(how, type, records)
    const all = [type.baseId, type.id, ...values, ...authorship(scope), ...keys]
    const query = () => scope.db.query<WrittenRow>(variant, all)
    const written = await ofOperation(first, () => redacted(policy, () => guardUnique(type, query, one)))
    for (const row of written) rows.set(row.id, row)
  }
  const cancels = of('cancel')
  if (cancels.length > 0) await run(CANCEL_BATCH, [cancels.map(({ decision }) => decision.row.id)], [])
  for (const part of inParts(of('update'))) {
    const ids = part.map(({ decision }) => decision.row.id)
    const places = part.map(({ decision }) => decision.row.place)
    await run(REPLACE_BATCH, [ids, ...columnsOf(part), places], keyedOf(part, ids), onlyOne(part, ids))
  }
  for (const part of inParts(of('create'))) {
    const ids = part.map(({ decision }) => decision.id)
    const news = part.map(({ decision }) => decision.isNewId)
    await run(CREATE_BATCH, [ids, ...columnsOf(part), news], keyedOf(part, ids), onlyOne(part, ids))
  }
  return decided.map((each) => outcomeOf(type.id, each, rows, locked))
}

const keyedOf = (part: readonly { decision: { write: Content } }[], ids: readonly string[]): KeyedRecord[] =>
  part.map(({ decision }, n) => ({ id: ids[n] ?? '', data: decision.write.data }))

/** The record of a statement that writes one, to find the record in its way. */
function onlyOne(
  part: readonly { decision: { write: Content } }[],
  [id, another]: readonly string[],
): Written | undefined {
  const [first] = part
  return first && id !== undefined && another === undefined ? { ...first.decision.write, id } : undefined
}

/** Kinds that run per type; deletions do not, since they cascade to records of any type. */
type WrittenKind = Exclude<Decision['kind'], 'delete'>

const DONE = { create: 'created', update: 'updated', cancel: 'updated' } as const

/** Builds the outcome of an operation from the returned row, and updates the locked record. */
function outcomeOf(
  recordType: string,
  { operation, decision }: Decided<Of<WrittenKind>>,
  rows: Map<string, WrittenRow>,
  locked: LockedRecords,
): Outcome {
  const { index, type } = operation
  const { kind } = decision
  const id = kind === 'create' ? decision.id : decision.row.id
  const written = rows.get(id)
  const row = rowAfter(decision, written)
  locked.set(recordType, row)
  const done = kind === 'keep' || !written ? 'unchanged' : DONE[kind]
  const { version } = row
  // Reuses the JSON that was serialized for the database.
  const text = 'write' in decision ? decision.write.text : undefined
  return outcomeWith({ index, type, operation: done, id, version }, recordType, row, text)
}

/** The current record: the locked row, merged with the write and the returned columns. */
function rowAfter(decision: Of<WrittenKind>, written: WrittenRow | undefined): LockedRow {
  if (decision.kind === 'create') {
    const now = assertDefined(written)
    const made = { external_source: null, external_id: null, cancelled_at: null, valid: true }
    return { ...now, ...made, created_at: now.updated_at, ...contentOf(decision.write) }
  }
  const { row } = decision
  if (decision.kind === 'update')
    return { ...row, ...(written && { ...written, valid: true }), ...contentOf(decision.write) }
  return written ? { ...row, ...written, cancelled_at: written.updated_at } : row
}

/** Columns of a write; an omitted external id pair is unchanged. */
const contentOf = ({ data, text, pair }: Content) => ({
  data,
  bytes: Buffer.byteLength(text),
  ...(pair && { external_source: pair.externalSource, external_id: pair.externalId }),
})

/** Deletes records of any types together, with cascades over their links. */
export async function removeRecords(
  scope: WriteScope,
  baseId: string,
  all: readonly Decided<Of<'delete'>>[],
  locked: LockedRecords,
): Promise<Outcome[]> {
  const targets = all.map(({ operation, decision }) => ({
    recordType: operation.recordType,
    id: decision.row.id,
    expected: NO_EXPECTATION,
  }))
  const indexes = all.map(({ operation }) => operation.index)
  const gone = await deleteRecords(scope, baseId, targets).catch((thrown: unknown) => {
    throw thrown instanceof DomainError ? atOperations(thrown, indexes) : thrown
  })
  for (const { recordType, id } of gone) locked.remove(recordType, id)
  return all.map(({ operation: { index, type } }, n) => {
    const { id = '', version = 0 } = gone[n] ?? {}
    return { index, type, operation: 'deleted', id, version, record: null }
  })
}

/** Moves error details from the index of a target to the index of its operation. */
function atOperations(thrown: DomainError, indexes: readonly number[]): DomainError {
  const details = thrown.details.map((detail) => {
    const [, target = '', below = ''] = /^\/(\d+)(.*)$/s.exec(detail.path) ?? []
    return { ...detail, path: placeOf(indexes[Number(target)] ?? 0) + below }
  })
  return new DomainError(thrown.code, thrown.message, { details, cause: thrown })
}

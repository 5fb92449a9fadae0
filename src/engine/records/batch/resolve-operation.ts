import type { DomainError } from '../../../foundation/errors.ts'
import { uuidv7 } from '../../../foundation/uuid.ts'
import type { TypePolicy } from '../../core/policy.ts'
import { alreadyExists, type Expectation, versionMismatch } from '../../core/write/preconditions.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { recordNotFound } from '../../data/ledger/record.ts'
import type { CompiledType } from '../../schema/compiled-types/compiled-type.ts'
import { mergeInto } from '../patch.ts'
import { outsidePolicy } from '../policy-put.ts'
import { seenRow, wholeContent } from '../policy-write.ts'
import { pairTaken } from '../upsert.ts'
import { faultsWithin, wholeWrite } from './apply-policy.ts'
import type { LockedRecords, LockedRow } from './locked-records.ts'
import type { Content, Id, RecordOperation } from './operation.ts'

/** The planned effect of an operation on the locked records. */
export type Decision =
  | { readonly kind: 'create'; readonly id: string; readonly isNewId: boolean; readonly write: Content }
  | { readonly kind: 'update'; readonly row: LockedRow; readonly write: Content }
  | { readonly kind: 'cancel'; readonly row: LockedRow }
  | { readonly kind: 'delete'; readonly row: LockedRow }
  | { readonly kind: 'keep'; readonly row: LockedRow }

export type Of<K extends Decision['kind']> = Extract<Decision, { kind: K }>

/** An operation with its planned effect. */
export type Decided<D extends Decision = Decision> = {
  readonly operation: RecordOperation
  readonly decision: D
}

/** Inputs of planning, for the operations on one type. */
export type Known = {
  readonly scope: WriteScope
  readonly locked: LockedRecords
  readonly type: CompiledType
  readonly policy: TypePolicy | undefined
  readonly recordBytes: number
  /** Resolves an id, including references. */
  readonly idOf: (id: Id) => string
}

/**
 * Plans an operation with the rules of a single-record write.
 * @throws NOT_FOUND, CONFLICT, or VALIDATION_ERROR for the result of a patch
 */
export function decide(operation: RecordOperation, known: Known): Decision {
  const { locked, idOf } = known
  const { recordType } = operation
  if (operation.type === 'create_record') {
    const { id, isNewId, write } = operation
    const owner = write.pair && locked.byPair(recordType, write.pair)
    if (owner) throw pairTaken(known.scope, write.pair, owner.id)
    if (locked.get(recordType, id)) throw alreadyExists(`record "${id}"`)
    return { kind: 'create', id, isNewId, write: wholeWrite(write, undefined, known) }
  }
  if (operation.type === 'upsert_record') {
    const id = operation.id === null ? null : idOf(operation.id)
    return put(id, operation, known)
  }
  const id = idOf(operation.id)
  const there = locked.isHidden(recordType, id) ? undefined : locked.get(recordType, id)
  const row = requireRow(there, operation.expected, () => recordNotFound(recordType, id))
  if (operation.type === 'delete_record') return { kind: 'delete', row }
  if (operation.type === 'cancel_record') return { kind: row.cancelled_at ? 'keep' : 'cancel', row }
  const { policy, recordBytes } = known
  const merged = mergeInto(seenRow(policy, row), operation.merge, recordBytes, policy)
  const write = wholeContent(policy, row, merged, recordBytes)
  const faults = faultsWithin(known.scope, policy, known.type, write.data)
  if (faults) throw faults
  const owner = write.pair && locked.byPair(recordType, write.pair)
  if (owner && owner.id !== id) throw pairTaken(known.scope, write.pair, owner.id)
  return { kind: 'update', row, write }
}

/** Plans an upsert: matches by external id pair, then by id; creates a record without a match. */
function put(
  id: string | null,
  { recordType, write, expected, keeps }: Extract<RecordOperation, { type: 'upsert_record' }>,
  known: Known,
): Decision {
  const { locked } = known
  const named = id === null ? undefined : locked.get(recordType, id)
  const owner = write.pair ? locked.byPair(recordType, write.pair) : undefined
  if (owner && named && owner.id !== named.id) throw pairTaken(known.scope, write.pair, owner.id)
  const found = owner ?? named
  if (!found && !expected.versions)
    return {
      kind: 'create',
      id: id ?? uuidv7(),
      isNewId: id === null,
      write: wholeWrite(write, undefined, known),
    }
  const isHidden = found !== undefined && locked.isHidden(recordType, found.id)
  if (isHidden && !expected.versions) throw outsidePolicy(recordType)
  const row = requireRow(isHidden ? undefined : found, expected, () => recordNotFound(recordType, id ?? ''))
  if (keeps) return { kind: 'keep', row }
  return { kind: 'update', row, write: wholeWrite(write, row, known) }
}

function requireRow(
  row: LockedRow | undefined,
  { versions }: Expectation,
  absent: () => DomainError,
): LockedRow {
  if (!row) throw absent()
  if (versions && !versions.includes(row.version)) throw versionMismatch(row.version, versions)
  return row
}

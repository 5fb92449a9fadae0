import { DomainError } from '../../foundation/errors.ts'
import { deleteRecords } from '../records/cascade-delete.ts'
import { NO_EXPECTATION } from '../write/preconditions.ts'
import type { WriteScope } from '../write/write.ts'
import { placeOf } from './failures.ts'
import type { Held } from './locked-records.ts'
import type { Outcome } from './outcome.ts'
import type { Decided, Of } from './resolve-operation.ts'

/** Deletes records of any types together, with cascades over their links. */
export async function removeRecords(
  scope: WriteScope,
  baseId: string,
  all: readonly Decided<Of<'delete'>>[],
  held: Held,
): Promise<Outcome[]> {
  const targets = all.map(({ operation, decision }) => ({
    recordType: operation.recordType,
    id: decision.row.id,
    expected: NO_EXPECTATION,
  }))
  const indexes = all.map(({ operation }) => operation.index)
  const gone = await deleteRecords(scope, baseId, targets).catch((thrown: unknown) => {
    throw thrown instanceof DomainError ? placed(thrown, indexes) : thrown
  })
  for (const { recordType, id } of gone) held.remove(recordType, id)
  return all.map(({ operation: { index, type } }, n) => {
    const { id = '', version = 0 } = gone[n] ?? {}
    return { index, type, operation: 'deleted', id, version, record: null }
  })
}

/** Moves error details from the index of a target to the index of its operation. */
function placed(thrown: DomainError, indexes: readonly number[]): DomainError {
  const details = thrown.details.map((detail) => {
    const [, target = '', below = ''] = /^\/(\d+)(.*)$/s.exec(detail.path) ?? []
    return { ...detail, path: placeOf(indexes[Number(target)] ?? 0) + below }
  })
  return new DomainError(thrown.code, thrown.message, { details, cause: thrown })
}

import { DomainError, withPaths } from '../../foundation/errors.ts'
import { authorize } from '../core/row-policy/apply.ts'
import type { Expectation } from '../core/write/preconditions.ts'
import { runPlanned } from '../core/write/run-planned.ts'
import type { WriteScope } from '../core/write/write.ts'
import { variantFor } from '../data/indexes/index.ts'
import { LOCK_WHOLE } from '../data/ledger/read-statements.ts'
import { REMOVE_UNLINKED, type RemovedRow } from '../data/ledger/remove.ts'
import type { CompiledType } from '../schema/compiled-types/compiled-type.ts'
import type { Db } from '../storage/database/client.ts'
import { type RecordKey, writeRecord } from './cancel.ts'
import { deleteRecords } from './cascade-delete.ts'
import { underClaimToEnd } from './claims/claim-guard.ts'
import { whereBounded } from './policy-write.ts'
import { absentRecord } from './relationships/missing-ends.ts'

/**
 * Deletes the record and cascades over its links. Its id and pair are free at once.
 * @throws NOT_FOUND; CONFLICT when the version precondition fails, the claim is lost, or a link restricts the
 * deletion
 */
export async function deleteRecord(
  scope: WriteScope,
  target: RecordKey,
  expected: Expectation,
): Promise<{ id: string; deleted: boolean }> {
  authorize(scope, 'write', target[0], target[1])
  await whereBounded(scope, target, (bounded) =>
    underClaimToEnd(bounded, target, expected.claim, async (guarded) => {
      // An approved plan is always checked by the full path, with or without links, and only that says what goes.
      if (guarded.onDeletion) return deleteLinked(guarded, target, expected)
      const row = await writeRecord(guarded, target, expected, (type, values) =>
        removeAfterBuilds(guarded.db, type, target, values),
      )
      if (!row) throw await absentRecord(guarded, ...target)
      if (row.kind === 'linked') await deleteLinked(guarded, target, expected)
    }),
  )
  return { id: target[2], deleted: true }
}

async function deleteLinked(scope: WriteScope, [baseId, recordType, id]: RecordKey, expected: Expectation) {
  try {
    await runPlanned(scope, (within) => deleteRecords(within, baseId, [{ recordType, id, expected }]))
  } catch (thrown) {
    throw thrown instanceof DomainError ? withPaths(thrown, (path) => path.replace(/^\/0/, '')) : thrown
  }
}

/**
 * An index build may have just added the record. A new statement has a snapshot that includes that entry, and
 * deletes it.
 */
async function removeAfterBuilds(
  db: Db,
  type: CompiledType,
  [baseId, recordType, id]: RecordKey,
  values: readonly unknown[],
): Promise<RemovedRow | undefined> {
  const remove = async (db: Db) => {
    const all = [baseId, recordType, [id], ...values, null]
    const [row] = await db.query<RemovedRow>(variantFor(REMOVE_UNLINKED, type), all)
    return row
  }
  if (!type.indexes.some(({ status }) => status === 'building')) return remove(db)
  return db.transaction(async (tx) => {
    await tx.query(LOCK_WHOLE, [baseId, recordType, id])
    return remove(tx)
  })
}

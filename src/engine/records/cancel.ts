import { LIMITS } from '../../foundation/limits.ts'
import { refreshType, requireType } from '../configuration/record-types/index.ts'
import { authorize } from '../core/row-policy/apply.ts'
import { authorship } from '../core/scope.ts'
import { type Expectation, versionMismatch } from '../core/write/preconditions.ts'
import type { WriteScope } from '../core/write/write.ts'
import { guardUnique, variantFor, type WriteStatement } from '../data/indexes/index.ts'
import { type RecordItem, type RecordRow, toRecord } from '../data/ledger/record.ts'
import { CANCEL, RESTORE } from '../data/ledger/set-state.ts'
import type { CompiledType } from '../schema/compiled-types/compiled-type.ts'
import { tooManyWriters } from '../storage/database/retry-races.ts'
import { underClaim } from './claims/claim-guard.ts'
import { onBounded } from './policy-write.ts'
import { absentRecord } from './relationships/missing-ends.ts'

export type RecordKey = readonly [baseId: string, recordType: string, id: string]
type Row = RecordRow & { readonly kind: 'updated' | 'unchanged' | 'version_mismatch' | 'stale_type' }

/** Sets `status: "cancelled"`. No effect on a cancelled record. */
export async function cancelRecord(
  scope: WriteScope,
  target: RecordKey,
  expected: Expectation,
): Promise<RecordItem> {
  const [baseId, recordType] = target
  return underClaim(scope, baseId, expected.claim, (within) =>
    onBounded(within, target, async (guarded) => {
      const row = await run(guarded, CANCEL, target, expected)
      if (!row) throw await absentRecord(guarded, ...target)
      return toRecord(recordType, row)
    }),
  )
}

/** Reverts a cancel. No effect on an active record. Undefined when the record is absent. */
export const uncancel = (
  scope: WriteScope,
  target: RecordKey,
  expected: Expectation,
): Promise<RecordRow | undefined> => run(scope, RESTORE, target, expected)

const run = (scope: WriteScope, how: WriteStatement, target: RecordKey, expected: Expectation) =>
  writeRecord<Row>(scope, target, expected, async (type, values) => {
    const [row] = await scope.db.query<Row>(variantFor(how, type), [...target, ...values])
    return row
  })

/**
 * Runs a statement on one record, with the versions that it may have, the revision of its type and the author. Retries when
 * its type changed concurrently. Undefined when the record is absent.
 * @throws FORBIDDEN; NOT_FOUND without base or type; CONFLICT when the version precondition fails
 */
export async function writeRecord<R extends { readonly kind: string; readonly version: number }>(
  scope: WriteScope,
  [baseId, recordType]: RecordKey,
  { versions }: Expectation,
  execute: (type: CompiledType, values: readonly unknown[]) => Promise<R | undefined>,
): Promise<R | undefined> {
  authorize(scope, 'write', baseId, recordType)
  let type = await requireType(scope, baseId, recordType)
  const row = await scope.db.retry(async () => {
    for (let tries = 0; tries < LIMITS.raceTries; tries++) {
      const values = [versions && [...versions], type.revision, ...authorship(scope)]
      const done = await guardUnique(type, () => execute(type, values))
      if (done?.kind !== 'stale_type') return done
      type = await refreshType(scope, baseId, recordType)
    }
    throw tooManyWriters()
  })
  if (row?.kind === 'version_mismatch') throw versionMismatch(row.version, versions ?? [])
  return row
}

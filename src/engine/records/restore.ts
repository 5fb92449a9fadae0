import { underClaim } from '../claims/claim-guard.ts'
import { refreshType, requireType } from '../configuration/record-types/index.ts'
import { tooManyWriters } from '../database/errors.ts'
import { type RecordItem, toRecord } from '../record-store/record.ts'
import { authorize } from '../row-policy/apply.ts'
import type { Expectation } from '../write/preconditions.ts'
import type { WriteScope } from '../write/write.ts'
import { type RecordKey, uncancel } from './cancel.ts'
import { onBounded } from './policy-write.ts'
import { undelete } from './undelete.ts'

const MAX_TRIES = 50

/**
 * Reverts a cancel, or undeletes a deleted record. If the id is in use, applies to the record that uses it;
 * no effect on an active one.
 */
export async function restoreRecord(
  scope: WriteScope,
  target: RecordKey,
  expected: Expectation,
): Promise<RecordItem> {
  const [baseId, recordType] = target
  authorize(scope, 'write', baseId, recordType)
  return underClaim(scope, baseId, expected.claim, (within) =>
    // Under a policy the record must exist to be checked, so the trash is not searched.
    onBounded(within, target, (held) => restore(held, target, expected)),
  )
}

async function restore(scope: WriteScope, target: RecordKey, expected: Expectation): Promise<RecordItem> {
  const [baseId, recordType] = target
  let type = await requireType(scope, baseId, recordType)
  return scope.db.retry(async () => {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const row = (await uncancel(scope, target, expected)) ?? (await undelete(scope, type, target, expected))
      if (row) return toRecord(recordType, row)
      type = await refreshType(scope, baseId, recordType)
    }
    throw tooManyWriters()
  })
}

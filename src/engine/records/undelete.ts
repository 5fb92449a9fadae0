import { oneFault } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { refreshType, requireType } from '../configuration/record-types/index.ts'
import { authorize } from '../core/row-policy/apply.ts'
import { authorship } from '../core/scope.ts'
import { type Expectation, versionMismatch } from '../core/write/preconditions.ts'
import type { WriteScope } from '../core/write/write.ts'
import { guardUnique, variantFor } from '../data/indexes/index.ts'
import { BRING_BACK, type BroughtBackRow } from '../data/ledger/bring-back.ts'
import { type RecordItem, type RecordRow, recordNotFound, toRecord } from '../data/ledger/record.ts'
import type { CompiledType } from '../schema/compiled-types/compiled-type.ts'
import { statement } from '../storage/database/client.ts'
import { tooManyWriters } from '../storage/database/retry-races.ts'
import { type RecordKey, uncancel } from './cancel.ts'
import { underClaim } from './claims/claim-guard.ts'
import { onBounded } from './policy-write.ts'
import { pairTaken } from './upsert.ts'

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
    onBounded(within, target, (guarded) => restore(guarded, target, expected)),
  )
}

async function restore(scope: WriteScope, target: RecordKey, expected: Expectation): Promise<RecordItem> {
  const [baseId, recordType] = target
  let type = await requireType(scope, baseId, recordType)
  return scope.db.retry(async () => {
    for (let tries = 0; tries < LIMITS.raceTries; tries++) {
      const row = (await uncancel(scope, target, expected)) ?? (await undelete(scope, type, target, expected))
      if (row) return toRecord(recordType, row)
      type = await refreshType(scope, baseId, recordType)
    }
    throw tooManyWriters()
  })
}

/** The last log entry of a record. For a deletion, includes whether it is still in the trash. */
const LAST_ENTRY = statement(
  'last_entry',
  `SELECT l.version, l.operation = 'delete' AS is_deletion,
     l.data IS NOT NULL AND l.at > now() - make_interval(days => (b.settings ->> 'trash_days')::int) AS is_kept
   FROM plinth.base b CROSS JOIN LATERAL (
     SELECT c.version, c.data, c.at, c.operation FROM plinth.change c
     WHERE c.kind = 'record' AND c.base_id = $1 AND c.record_type = $2 AND c.id = $3 ORDER BY c.version DESC LIMIT 1) l
   WHERE b.id = $1`,
)

const DATA_OF = statement(
  'data_of_version',
  `SELECT data, external_id, external_source FROM plinth.change
   WHERE kind = 'record' AND base_id = $1 AND record_type = $2 AND id = $3 AND version = $4`,
)

type DeletedContent = Pick<RecordRow, 'data' | 'external_id' | 'external_source'>
type Entry = { version: number; is_deletion: boolean; is_kept: boolean }

/**
 * Undeletes a record in its last state, or in that of `version`. A record that violates the current schema is
 * restored and flagged as invalid. Undefined after a race with another writer or a schema change.
 * @throws NOT_FOUND when no state is retained; CONFLICT for a taken pair or unique value, or a failed
 * precondition
 */
export async function undelete(
  scope: WriteScope,
  type: CompiledType,
  target: RecordKey,
  expected: Expectation,
  version?: number,
): Promise<RecordRow | undefined> {
  const [, recordType, id] = target
  const [deletion] = await scope.db.query<Entry>(LAST_ENTRY, [...target])
  if (!deletion) throw recordNotFound(recordType, id)
  // What a change-set has deleted is in no trash: it is discarded there.
  if (!deletion.is_deletion && scope.changeSet !== undefined) throw recordNotFound(recordType, id)
  if (!deletion.is_deletion) return undefined
  if (!deletion.is_kept) throw trashExpired(recordType, id)
  // The client knows the version before the deletion, so the precondition applies to that one.
  const deleted = deletion.version - 1
  if (expected.versions && !expected.versions.includes(deleted))
    throw versionMismatch(deleted, expected.versions)
  const from = version ?? deletion.version
  const [content] = await scope.db.query<DeletedContent>(DATA_OF, [...target, from])
  if (!content) return undefined
  const isValid = type.schema.isValid(content.data)
  const [row] = await guardUnique(type, () =>
    scope.db.query<BroughtBackRow>(variantFor(BRING_BACK, type), [
      ...[target[0], recordType, [id], [from], [null], [isValid]],
      ...[...authorship(scope), type.revision, deletion.version],
    ]),
  )
  if (row?.kind === 'pair_taken' && content.external_id !== null)
    throw pairTaken(scope, {
      externalId: content.external_id,
      externalSource: content.external_source ?? 'default',
    })
  return row?.kind === 'restored' ? { ...row, data: content.data } : undefined
}

const trashExpired = (recordType: string, id: string) =>
  oneFault('NOT_FOUND', `Record "${id}" of type "${recordType}" is no longer in the trash.`, {
    path: '/id',
    code: 'trash_expired',
    message:
      'It was deleted longer ago than the base keeps deleted records ("trash_days"). Create it again with PUT.',
  })

import { refreshType } from '../../configuration/record-types/index.ts'
import { policyOn } from '../../core/row-policy/apply.ts'
import type { WriteScope } from '../../core/write/write.ts'
import type { RecordRow } from '../../data/ledger/record.ts'
import { markOutside } from './apply-policy.ts'
import { ofOperation, refuse } from './faults.ts'
import { type LockedRecords, lockRecords, openLockedRecords, pairKey, type Wanted } from './locked-records.ts'
import type { RecordOperation } from './operation.ts'
import { type Types, validateRecords } from './prepare.ts'

/**
 * Pessimistic locking: locks all records that the operations may touch, ordered by type and id to prevent
 * deadlocks between batches. Revalidates the data if a type changed after validation.
 */
export async function lockAll(
  scope: WriteScope,
  baseId: string,
  operations: readonly RecordOperation[],
  types: Types,
): Promise<LockedRecords> {
  const locked = openLockedRecords()
  const byType = Map.groupBy(operations, ({ recordType }) => recordType)
  for (const recordType of [...byType.keys()].sort()) {
    const ofType = assertDefined(byType.get(recordType))
    const target = [baseId, recordType] as const
    const isBounded = policyOn(scope, baseId, recordType) !== undefined
    const revision = await lockRecords(scope, target, wantedBy(ofType, isBounded), locked)
    if (revision !== types.get(recordType)?.revision) {
      const { index } = assertDefined(ofType[0])
      types.set(recordType, await ofOperation(index, () => refreshType(scope, baseId, recordType)))
      refuse(await validateRecords(scope, ofType, types))
    }
    const more = wantedByPatches(ofType, locked)
    if (more.pairs.size > 0) await lockRecords(scope, target, more, locked)
    await markOutside(scope, baseId, types.get(recordType), locked)
  }
  return locked
}

const nothing = (): Wanted => ({ ids: new Set(), pairs: new Map(), withData: true, isDeleting: false })

function wantedBy(operations: readonly RecordOperation[], withData: boolean): Wanted {
  const wanted = { ...nothing(), withData }
  for (const operation of operations) {
    const { id, type } = operation
    if (typeof id === 'string' && !('isNewId' in operation && operation.isNewId)) wanted.ids.add(id)
    const pair = 'write' in operation ? operation.write.pair : null
    if (pair) wanted.pairs.set(pairKey(pair), pair)
    const isRead = type === 'patch_record' || type === 'cancel_record'
    wanted.withData ||= isRead || ('keeps' in operation && operation.keeps === true)
    wanted.isDeleting ||= type === 'delete_record'
  }
  return wanted
}

/** The pairs that patches may set: a patch can name part of a pair, and the record has the rest. */
function wantedByPatches(operations: readonly RecordOperation[], locked: LockedRecords): Wanted {
  const wanted = nothing()
  for (const operation of operations) {
    if (operation.type !== 'patch_record') continue
    const { recordType, id, merge } = operation
    const row = typeof id === 'string' ? locked.get(recordType, id) : undefined
    const pair = pairAfter(merge, row)
    if (pair && !locked.byPair(recordType, pair)) wanted.pairs.set(pairKey(pair), pair)
  }
  return wanted
}

function pairAfter(
  {
    externalId,
    externalSource,
  }: { externalId?: string | null | undefined; externalSource?: string | null | undefined },
  row: RecordRow | undefined,
) {
  if (externalId === undefined && externalSource === undefined) return null
  const id = externalId ?? row?.external_id
  return id === undefined || id === null
    ? null
    : { externalId: id, externalSource: externalSource ?? row?.external_source ?? 'default' }
}

/** Asserts an invariant that an earlier step established. */
export function assertDefined<T>(value: T | undefined): T {
  if (value === undefined)
    throw new Error('Invariant violated: a value that an earlier step of the batch established is missing')
  return value
}

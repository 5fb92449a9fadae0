import { isDeepStrictEqual } from 'node:util'
import { type ResolvedIndex, syncIndexes } from '../../indexes/index.ts'
import type { WriteScope } from '../../write/write.ts'
import { lockType } from '../lifecycle/lock.ts'
import type { TypeRow } from './table.ts'
import { type Repair, reconcile } from './validate-existing.ts'

type Next = { jsonSchema: object; indexes: ResolvedIndex[]; isReindexed: boolean }

/**
 * Validates existing records and index entries against the changed type. Blocks writes until the change
 * commits.
 */
export async function validateRecords(
  scope: WriteScope,
  current: TypeRow,
  { jsonSchema, indexes, isReindexed }: Next,
  repair: Repair,
): Promise<void> {
  const { baseId, id } = current
  const isReshaped = repair.steps.length > 0 || !isDeepStrictEqual(jsonSchema, current.jsonSchema)
  if (isReindexed || isReshaped) await lockType(scope.db, 'record_type', baseId, id)
  // Sync indexes first, so that a removed unique index does not reject a migrated record.
  if (isReindexed) await syncIndexes(scope.db, current, current.indexes, indexes)
  if (isReshaped) await reconcile(scope, current, jsonSchema, repair)
}

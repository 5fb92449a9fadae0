import { authorship } from '../../core/scope.ts'
import { addNamed } from '../../core/write/deletion-summary.ts'
import { confirmFirst } from '../../core/write/preconditions.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { dropIndexes } from '../../data/indexes/index.ts'
import { REMOVE_ALL } from '../../data/ledger/remove.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { clearLinksOfType } from '../cascade/clear-links-of-type.ts'
import type { DeleteOptions } from '../lifecycle/kind.ts'
import { lockType } from '../lifecycle/lock.ts'
import { lockAndFindEmpty } from '../lifecycle/lock-and-find-empty.ts'
import type { TypeRow } from './table.ts'

// The order makes it a probe of the key, with any planner statistics.
const HAS_RECORDS = statement(
  'type_holds_records',
  'SELECT 1 AS one FROM plinth.record WHERE base_id = $1 AND record_type = $2 ORDER BY id LIMIT 1',
)
/**
 * Deletes the records of the type with their log entries and indexes, and cascades over their links. Existing
 * records require the type's id in `confirm`.
 * @throws CONFLICT when a link from a record of another type restricts the deletion
 */
export async function deleteRecordsOf(
  scope: WriteScope,
  current: TypeRow,
  { confirm, checkPlan }: DeleteOptions,
): Promise<void> {
  const { db, summary } = scope
  const { baseId, id } = current
  await lockType(db, 'record_type', baseId, id)
  if (!scope.planning && confirm !== id) await refuseRecords(db, current)
  if (summary) addNamed(summary, 'recordTypes', current)
  await clearLinksOfType(scope, baseId, id, checkPlan)
  await dropIndexes(db, baseId, [id])
  // The deletion of each record is logged before that of the type.
  await db.query(REMOVE_ALL, [baseId, id, ...authorship(scope)])
}

/** Blocks writes of types that are deleted, and drops the indexes of those without records. Returns their ids. */
export async function lockUnusedTypes(
  { db }: WriteScope,
  baseId: string,
  types: readonly TypeRow[],
): Promise<ReadonlySet<string>> {
  const empty = await lockAndFindEmpty(db, 'record_type', baseId, types)
  await dropIndexes(db, baseId, empty)
  return new Set(empty)
}

/** @throws CONFLICT when the type has records */
export async function refuseRecords(db: Db, { baseId, id }: { baseId: string; id: string }): Promise<void> {
  if ((await db.query(HAS_RECORDS, [baseId, id])).length > 0)
    throw confirmFirst(id, `Record type "${id}" has records`, "the type's")
}

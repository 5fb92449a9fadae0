import { authorship } from '../../core/scope.ts'
import { addNamed } from '../../core/write/deletion-summary.ts'
import { confirmFirst } from '../../core/write/preconditions.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { dropIndexes } from '../../data/indexes/index.ts'
import { REMOVE_ALL } from '../../data/ledger/remove.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { deleteRows, unlinkType } from '../cascade/delete-rows.ts'
import { lockCascadeOfType } from '../cascade/find-cascade.ts'
import { checkNoRestrict, limitLinks } from '../cascade/restrict.ts'
import { summarizeType } from '../cascade/summarize.ts'
import type { DeleteOptions } from '../lifecycle/kind.ts'
import { lockAndFindEmpty, lockType } from '../lifecycle/lock.ts'
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

// Creating a link locks its type, so this lock blocks new links in the base until the transaction ends.
const LOCK_LINKS = statement(
  'lock_relationship_types',
  'SELECT 1 AS one FROM plinth.relationship_type WHERE base_id = $1 ORDER BY id FOR UPDATE',
)

/**
 * Prepares the deletion of a record type in its transaction: deletes the links of its records, and cascades
 * to records of other types. Calls `checkApproval` when the plan is complete.
 * @throws CONFLICT when a link from another type restricts the deletion
 */
async function clearLinksOfType(
  scope: WriteScope,
  baseId: string,
  recordType: string,
  checkPlan: () => void,
): Promise<void> {
  const { db: tx, access } = scope
  const hasLinks = (await tx.query(LOCK_LINKS, [baseId])).length > 0
  if (!hasLinks) {
    await summarizeType(scope, baseId, recordType, [], [])
    return checkPlan()
  }
  const types = await typesTouching(tx, baseId, recordType)
  const along = await lockCascadeOfType(tx, baseId, recordType, types.cascading)
  await limitLinks(tx, along)
  const isAlone = along.length === 0
  const restricting = isAlone ? types.restricting : types.allRestricting
  await checkNoRestrict(tx, { access, baseId }, recordType, along, restricting)
  await summarizeType(scope, baseId, recordType, along, types.touching)
  checkPlan()
  const each = new Map(along.map(({ rowNo }) => [rowNo, rowNo]))
  if (along.length > 0) await deleteRows(tx, baseId, along, each, authorship(scope))
  if (types.touching.length > 0)
    await unlinkType(tx, { baseId, recordType, relTypes: types.touching }, authorship(scope))
}

// The relationship types that matter to the deletion of a record type. Their ends bound those of their links.

type RelationshipType = { id: string; on_delete: string; is_touching: boolean; leads_to: boolean }

/** Ids of relationship types, bound to statements: a planner estimates the links of known types by their number. */
type TypesTouching = {
  /** Those that may have a record of the type at an end. */
  readonly touching: readonly string[]
  /** Those that may lead to it, and delete the source with the target. */
  readonly cascading: readonly string[]
  /** Those that restrict deletions: of the type, and of any. */
  readonly restricting: readonly string[]
  readonly allRestricting: readonly string[]
}

const TYPES = statement(
  'relationship_types_touching',
  `SELECT id, on_delete, target_record_types && ARRAY[$2, '*'] AS leads_to,
     source_record_types || target_record_types && ARRAY[$2, '*'] AS is_touching
   FROM plinth.relationship_type WHERE base_id = $1 ORDER BY id`,
)

/** Reads the relationship types of a base, and finds those that may have a record of the type at an end. */
async function typesTouching(db: Db, baseId: string, recordType: string): Promise<TypesTouching> {
  const types = await db.query<RelationshipType>(TYPES, [baseId, recordType])
  const idsOf = (isMeant: (type: RelationshipType) => boolean) => types.filter(isMeant).map(({ id }) => id)
  return {
    touching: idsOf(({ is_touching }) => is_touching),
    cascading: idsOf(({ leads_to, on_delete }) => leads_to && on_delete === 'cascade'),
    restricting: idsOf(({ leads_to, on_delete }) => leads_to && on_delete === 'restrict'),
    allRestricting: idsOf(({ on_delete }) => on_delete === 'restrict'),
  }
}

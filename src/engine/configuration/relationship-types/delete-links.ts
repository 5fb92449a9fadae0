import { authorship } from '../../core/scope.ts'
import { addCounts, addNamed } from '../../core/write/deletion-summary.ts'
import { confirmFirst } from '../../core/write/preconditions.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { logLinks } from '../../data/ledger/relationship-statements.ts'
import { authorAt } from '../../log/log-rows.ts'
import type { RelationshipType as Row } from '../../prisma/client.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import type { DeleteOptions } from '../lifecycle/kind.ts'
import { lockAndFindEmpty, lockType } from '../lifecycle/lock.ts'

// The order makes it a probe of the key, with any planner statistics.
const HAS_LINKS = statement(
  'type_holds_links',
  'SELECT 1 AS one FROM plinth.relationship WHERE base_id = $1 AND rel_type = $2 ORDER BY created_at, id LIMIT 1',
)
// Not filtered by type: a caller who manages the whole base may read all of them.
const COUNT_LINKS = statement(
  'count_links_of_relationship_type',
  `SELECT rel_type AS type, count(*)::int AS count FROM plinth.relationship
   WHERE base_id = $1 AND rel_type = $2 GROUP BY rel_type`,
)
// The deletion of each link is logged before that of the type.
const DELETE_TYPE_LINKS = statement(
  'delete_type_links',
  `WITH w AS (DELETE FROM plinth.relationship WHERE base_id = $1 AND rel_type = $2 RETURNING *)
   ${logLinks('w', 'delete', authorAt(3))}`,
)

/**
 * Deletes the links of the type with their log entries. Existing links require the type's id in `confirm`.
 */
export async function deleteLinksOf(
  scope: WriteScope,
  current: Row,
  { confirm, checkPlan }: DeleteOptions,
): Promise<void> {
  const { db, summary } = scope
  const { baseId, id } = current
  await lockType(db, 'relationship_type', baseId, id)
  if (!scope.planning && confirm !== id) await refuseLinks(db, current)
  if (summary) {
    addNamed(summary, 'relationshipTypes', current)
    addCounts(summary, 'links', await db.query(COUNT_LINKS, [baseId, id]))
    checkPlan()
  }
  await db.query(DELETE_TYPE_LINKS, [baseId, id, ...authorship(scope)])
}

/** Blocks writes of links of types that are deleted. Returns the ids of those without links. */
export async function lockUnusedTypes(
  { db }: WriteScope,
  baseId: string,
  types: readonly Row[],
): Promise<ReadonlySet<string>> {
  return new Set(await lockAndFindEmpty(db, 'relationship_type', baseId, types))
}

/** @throws CONFLICT when the type has relationships */
export async function refuseLinks(db: Db, { baseId, id }: { baseId: string; id: string }): Promise<void> {
  if ((await db.query(HAS_LINKS, [baseId, id])).length > 0)
    throw confirmFirst(id, `Relationship type "${id}" has relationships`, "the type's")
}

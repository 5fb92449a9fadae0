import { demand } from '../access.ts'
import { lockConfiguration } from '../configuration/lock.ts'
import { statement } from '../db.ts'
import { checkVersion, confirmFirst, type Expectation } from '../expectation.ts'
import { planned, takeCounts, takeNamed } from '../plans/index.ts'
import { logLinks } from '../relationships/statements.ts'
import { authorship } from '../scope.ts'
import type { WriteScope } from '../write.ts'
import { finishChange } from './change.ts'
import { lockRelationshipType } from './hold.ts'
import { relationshipTypeNotFound } from './relationship-type.ts'

const HOLDS_LINKS = statement(
  'type_holds_links',
  'SELECT 1 AS one FROM plinth.relationship WHERE base_id = $1 AND rel_type = $2 LIMIT 1',
)
// Who may manage the whole base may read the types of them all.
const COUNT_LINKS = statement(
  'count_links_of_relationship_type',
  `SELECT rel_type AS type, count(*)::int AS count FROM plinth.relationship
   WHERE base_id = $1 AND rel_type = $2 GROUP BY rel_type`,
)
// Each link's deletion is told before the type's.
const DELETE_TYPE_LINKS = statement(
  'delete_type_links',
  `WITH w AS (DELETE FROM plinth.relationship WHERE base_id = $1 AND rel_type = $2 RETURNING *)
   ${logLinks('w', 'delete', '$3, $4, $5, $6')}`,
)

/** Deletes the type. One with links wants `confirm` equal to its id; they are deleted first, each with its entry. */
export async function deleteRelationshipType(
  scope: WriteScope,
  baseId: string,
  id: string,
  confirm: string | null,
  expected: Expectation,
): Promise<{ id: string; deleted: boolean }> {
  demand(scope.access, 'manage', baseId, '*')
  return planned(scope, async (within, told) => {
    const { db: tx, taken } = within
    await lockConfiguration(within, baseId)
    const where = { baseId_id: { baseId, id } }
    const held = await tx.orm.relationshipType.findUnique({ where })
    if (!held) throw relationshipTypeNotFound(id)
    checkVersion(expected, held.version, `relationship type "${id}"`)
    await lockRelationshipType(within, baseId, id)
    if (!scope.planning && confirm !== id && (await tx.query(HOLDS_LINKS, [baseId, id])).length > 0)
      throw confirmFirst(id, `Relationship type "${id}" has relationships`, "the type's")
    if (taken) {
      takeNamed(taken, 'relationshipTypes', held)
      takeCounts(taken, 'links', await tx.query(COUNT_LINKS, [baseId, id]))
      told()
    }
    await tx.query(DELETE_TYPE_LINKS, [baseId, id, ...authorship(scope)])
    await tx.orm.relationshipType.delete({ where })
    await finishChange(within, { ...held, version: held.version + 1 }, 'delete')
    return { id, deleted: true }
  })
}

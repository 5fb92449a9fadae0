import { requireBaseAccess } from '../access/access.ts'
import { requireBase } from '../configuration/bases/index.ts'
import type { Scope } from '../core/scope.ts'
import { statement } from '../database/client.ts'
import {
  RELATIONSHIP_COLUMNS,
  type Relationship,
  type RelationshipRow,
  relationshipNotFound,
  toRelationship,
} from '../record-store/relationship.ts'
import { rightsOf } from '../row-policy/apply.ts'
import { isLinkWithin } from './ends-within.ts'

const GET_LINK = statement(
  'get_relationship',
  `SELECT ${RELATIONSHIP_COLUMNS} FROM plinth.relationship WHERE base_id = $1 AND id = $2`,
)

/**
 * Reads a link.
 * @throws FORBIDDEN without a grant on the base; NOT_FOUND when the base or the link is absent, or an end is
 * outside the grants
 */
export async function getRelationship(scope: Scope, baseId: string, id: string): Promise<Relationship> {
  return toRelationship(await requireLinkRow(scope, baseId, id))
}

/**
 * Reads the row of a link that the token may see.
 * @throws as getRelationship
 */
export async function requireLinkRow(scope: Scope, baseId: string, id: string): Promise<RelationshipRow> {
  requireBaseAccess(rightsOf(scope), baseId)
  const [row] = await scope.db.query<RelationshipRow>(GET_LINK, [baseId, id])
  if (row && (await isLinkWithin(scope, baseId, row))) return row
  await requireBase(scope, baseId)
  throw relationshipNotFound(id)
}

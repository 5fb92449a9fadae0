import type { DomainError } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { missingBase } from '../../core/existing-base.ts'
import { findType, reloadType } from '../../core/load-type.ts'
import type { Scope } from '../../core/scope.ts'
import { requireBaseAccess } from '../../storage/access/access.ts'
import { statement } from '../../storage/database/client.ts'
import { typeNotFound } from './not-found.ts'

const TYPES_VERSION = statement('types_version', 'SELECT types_version FROM plinth.base WHERE id = $1')

/** A version number of all types of the base. It changes with each of them. */
export async function typesVersion(scope: Scope, baseId: string): Promise<number> {
  requireBaseAccess(scope.access, baseId)
  const [row] = await scope.db.query<{ types_version: number }>(TYPES_VERSION, [baseId])
  if (!row) throw await missingBase(scope, baseId)
  return row.types_version
}

const TYPE_IDS = statement(
  'record_type_ids',
  `SELECT id FROM plinth.record_type WHERE base_id = $1 ORDER BY id LIMIT ${LIMITS.pageMax}`,
)

/** Creates the 404 of an absent type with a suggestion, or the 404 of its base. */
export async function typeOrBaseNotFound(scope: Scope, baseId: string, id: string): Promise<DomainError> {
  const [base] = await scope.db.query(TYPES_VERSION, [baseId])
  if (!base) return missingBase(scope, baseId)
  const types = await scope.db.query<{ id: string }>(TYPE_IDS, [baseId])
  const known = types.map((type) => type.id).filter((type) => scope.access.allows('read', baseId, type))
  return typeNotFound(id, known)
}

/**
 * Loads a type.
 * @throws NOT_FOUND when the base or the type is absent
 */
export async function requireType(scope: Scope, baseId: string, id: string) {
  const type = await findType(scope, baseId, id)
  if (!type) throw await typeOrBaseNotFound(scope, baseId, id)
  return type
}

/**
 * Reloads the type from the database, for a write that found its revision stale.
 * @throws NOT_FOUND when it was deleted
 */
export async function refreshType(scope: Scope, baseId: string, id: string) {
  const type = await reloadType(scope, baseId, id)
  if (!type) throw await typeOrBaseNotFound(scope, baseId, id)
  return type
}

import { nearest, unknownName } from '../../contract/suggest.ts'
import { type DomainError, invalid } from '../../foundation/errors.ts'
import type { CompiledRelationshipType } from '../compiled-types/compiled-relationship-type.ts'
import {
  mayReadRelationships,
  readableRelationshipTypes,
  reloadRelationshipTypes,
} from '../configuration/relationship-types/index.ts'
import type { Scope } from '../core/scope.ts'
import { rightsOf } from '../row-policy/apply.ts'

/**
 * Checks the names of relationship types against the base; `at` is their location. For a token that cannot
 * read the whole base, an unknown name counts as a hidden type and matches nothing. Only a near miss of a
 * readable name is an error. Errors thus do not reveal whether a hidden type exists.
 * @throws VALIDATION_ERROR
 */
export async function requireRelationshipTypes(
  scope: Scope,
  baseId: string,
  names: readonly string[],
  at: string,
): Promise<void> {
  const known = await readableRelationshipTypes(scope, baseId)
  if (names.every((name) => known.has(name))) return
  // A type that another process just created may not be cached yet.
  const all = [...(await reloadRelationshipTypes(scope, baseId)).values()]
  const readable = all.filter((type) => mayReadRelationships(rightsOf(scope), type)).map(({ id }) => id)
  const readsAll = rightsOf(scope).types('read', baseId) === '*'
  const wrong = names.find(
    (name) => !readable.includes(name) && (readsAll || nearest(name, readable) !== undefined),
  )
  if (wrong !== undefined) throw unknownRelationshipType(wrong, readable, at)
}

function unknownRelationshipType(
  name: CompiledRelationshipType['id'],
  readable: readonly string[],
  at: string,
): DomainError {
  return invalid({
    path: at,
    code: 'unknown_relationship_type',
    message: `The base has no relationship type "${name.slice(0, 64)}". Use one of those it has.`,
    ...unknownName(name, readable),
  })
}

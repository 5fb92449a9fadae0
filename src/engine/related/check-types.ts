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
 * Holds the names of relationship types to those of the base; `at` is where they stand. To a token that does not read all
 * of the base, a name that it cannot know may be one out of its sight, behind which it finds nothing; only what is almost
 * the name of one that it reads is refused, so that no answer tells whether the other exists.
 * @throws VALIDATION_ERROR
 */
export async function demandRelationshipTypes(
  scope: Scope,
  baseId: string,
  names: readonly string[],
  at: string,
): Promise<void> {
  const known = await readableRelationshipTypes(scope, baseId)
  if (names.every((name) => known.has(name))) return
  // One that was made elsewhere a moment ago is not in memory yet.
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

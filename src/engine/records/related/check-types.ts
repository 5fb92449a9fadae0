import { nearest, unknownName } from '../../../contract/suggest.ts'
import { type DomainError, invalid } from '../../../foundation/errors.ts'
import {
  mayReadRelationships,
  readableRelationshipTypes,
  reloadRelationshipTypes,
} from '../../configuration/relationship-types/index.ts'
import { rightsOf } from '../../core/row-policy/apply.ts'
import type { Scope } from '../../core/scope.ts'
import type { CompiledRelationshipType } from '../../schema/compiled-types/compiled-relationship-type.ts'
import { readableEnds, type Step, stepsTo } from './direction-advice.ts'

/**
 * Checks the names of relationship types against the base; `at` is their location, `from` the record type that they
 * start at. For a token that cannot
 * read the whole base, an unknown name counts as a hidden type and matches nothing. Only a near miss of a
 * readable name is an error. Errors thus do not reveal whether a hidden type exists.
 * @throws VALIDATION_ERROR
 */
export async function requireRelationshipTypes(
  scope: Scope,
  baseId: string,
  names: readonly string[],
  at: '/expand' | '/rel_type',
  from: string,
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
  if (wrong === undefined) return
  const steps = stepsTo(wrong, from, await readableEnds(scope, baseId, null))
  throw steps.length > 0 ? meansRecordType(wrong, steps, at) : unknownRelationshipType(wrong, readable, at)
}

/** For the name of a record type, which models and people write where the relationship type belongs. */
function meansRecordType(name: string, steps: readonly Step[], at: '/expand' | '/rel_type'): DomainError {
  const isPath = at === '/expand'
  const ways = steps.map(({ id, incoming }) =>
    isPath
      ? `"${incoming ? '~' : ''}${id}"`
      : `"${id}" with direction "${incoming ? 'incoming' : 'outgoing'}"`,
  )
  const allowed = steps.map(({ id, incoming }) => (isPath && incoming ? `~${id}` : id))
  const [only, ...others] = allowed
  return invalid({
    path: at,
    code: 'unknown_relationship_type',
    message: `The base has no relationship type "${name.slice(0, 64)}". Links to records of that type are ${ways.join(' or ')}.`,
    received: name.slice(0, 64),
    allowed,
    ...(only !== undefined && others.length === 0 && { hint: only }),
  })
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

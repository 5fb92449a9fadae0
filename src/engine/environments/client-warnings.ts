import { DomainError } from '../../foundation/errors.ts'
import { RECORD_TYPE } from '../configuration/record-types/index.ts'
import { RELATIONSHIP_TYPE } from '../configuration/relationship-types/index.ts'
import type { Scope, TypeEdit } from '../core/scope.ts'
import { type Edit, nextOf } from './edits.ts'

/**
 * What edits of types, all together, break for clients that were generated from the GraphQL schema of the base, as the
 * caller sees it.
 */
export async function clientWarnings(
  scope: Scope,
  baseId: string,
  edits: readonly Edit[],
): Promise<readonly string[]> {
  const ofTypes = edits.filter(({ kind }) => kind === RECORD_TYPE || kind === RELATIONSHIP_TYPE)
  return scope.clientBreaks(scope, baseId, ofTypes.flatMap(typeEditOf))
}

/** None for a definition that is not valid: a comparison shows it all the same. */
function typeEditOf(edit: Edit): TypeEdit[] {
  const { kind, id, before } = edit
  try {
    return [{ kind: kind.name, id, before: nextOf({ ...edit, after: before }), next: nextOf(edit) }]
  } catch (thrown) {
    if (thrown instanceof DomainError) return []
    throw thrown
  }
}

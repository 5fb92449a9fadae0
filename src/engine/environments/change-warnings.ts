/** What edits of configuration warn of. */
import { camelFields } from '../../contract/field-names.ts'
import { DomainError } from '../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { RECORD_TYPE } from '../configuration/record-types/index.ts'
import { RELATIONSHIP_TYPE } from '../configuration/relationship-types/index.ts'
import type { Scope, TypeEdit } from '../core/scope.ts'
import type { Prepared } from './apply-edits.ts'
import { type Edit, nextOf } from './edits.ts'

/** What a PUT of each changed resource would warn of, and what breaks for generated clients. */
export async function editWarnings(
  scope: Scope,
  baseId: string,
  prepared: readonly Prepared<Edit>[],
): Promise<string[]> {
  const edits = prepared.map(({ edit }) => edit)
  return [...(await changeWarnings(prepared)), ...(await clientWarnings(scope, baseId, edits))]
}

/**
 * Warnings that a PUT of each changed resource would give for the change, such as a property that its schema drops. What it
 * says of a definition as it is stays out: the preview has said that.
 */
export async function changeWarnings(prepared: readonly Prepared<Edit>[]): Promise<string[]> {
  const warnings: string[] = []
  for (const { edit, next, options } of prepared) {
    if (turnIsOver()) await nextTurn()
    const { kind, id, before } = edit
    if (!before || !next || !kind.warnings) continue
    const was = { ...kind.defaults(id), ...camelFields(before) }
    try {
      const standing = new Set(kind.warnings(next, next, options))
      const found = kind.warnings(was, next, options).filter((warning) => !standing.has(warning))
      warnings.push(...found.map((warning) => `${kind.name} ${id}: ${warning}`))
    } catch (thrown) {
      // A migration that is malformed is a fault of its own.
      if (!(thrown instanceof DomainError)) throw thrown
    }
  }
  return warnings
}

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
  return scope.breakingChanges(scope, baseId, ofTypes.flatMap(typeEditOf))
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

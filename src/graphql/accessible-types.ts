/** The record types of a base, and what the token may do with each: what descriptions of a whole base are made of. */
import { type NamedType, typesOfBase } from '../engine/configuration/record-types/index.ts'
import { rightsOf } from '../engine/core/row-policy/apply.ts'
import type { Scope } from '../engine/engine.ts'
import { invalid } from '../foundation/errors.ts'
import { LIMITS } from '../foundation/limits.ts'

/** What the token may do with the types of a base; `rights` are the same for the same permissions. */
export function rightsOnTypes(scope: Scope, base: string) {
  const access = rightsOf(scope)
  const [readable, writable] = [access.types('read', base), access.types('write', base)]
  return {
    access,
    isReadable: (id: string) => readable === '*' || readable.has(id),
    isWritable: (id: string) => writable === '*' || writable.has(id),
    rights: [readable, writable].map((ids) => (ids === '*' ? '*' : [...ids].sort())),
  }
}

type Place = { what: string; path: string; instead: string }

/**
 * All types of a base, readable or not, with what the token may do with them.
 * @throws VALIDATION_ERROR if they are too many or too large for what is made of them
 */
export async function accessibleTypes(scope: Scope, base: string, { what, path, instead }: Place) {
  const { types } = await typesOfBase(scope, base)
  if (types) return { types: types as ReadonlyMap<string, NamedType>, ...rightsOnTypes(scope, base) }
  throw invalid({
    path,
    code: 'too_large',
    message: `The record types of the base are too many or too large for ${what} of their own: at most ${LIMITS.typedSchemaTypes}, with ${LIMITS.typedSchemaChars} bytes of JSON Schema together. Use ${instead}.`,
    expected: LIMITS.typedSchemaTypes,
  })
}

import { digest } from '../../../contract/canonical-hash.ts'
import { snakeFields } from '../../../contract/field-names.ts'

/**
 * The canonical form of a resource: its fields in the names of the wire, without what the base adds (version,
 * times, status).
 */
export const definitionOf = (fields: object): Readonly<Record<string, unknown>> =>
  snakeFields(fields) as Record<string, unknown>

/** Hash of the canonical form. Equal definitions have equal hashes, in any base and any order of keys. */
const definitionHash = (fields: object): string => digest(definitionOf(fields))

export const isSameDefinition = (one: object, other: object): boolean =>
  definitionHash(one) === definitionHash(other)

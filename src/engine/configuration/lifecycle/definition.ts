import { digest } from '../../../contract/canonical-hash.ts'
import { snakeFields } from '../../../contract/field-names.ts'
import type { Kind } from './kind.ts'
import { redact } from './secrets.ts'

export type Definition = Readonly<Record<string, unknown>>

/**
 * The canonical form of a resource: its fields in the names of the wire, without what the base adds (version,
 * times, status) and without secrets.
 */
export const definitionOf = (kind: Pick<Kind, 'secrets'>, fields: object): Definition =>
  snakeFields(redact(kind, fields)) as Definition

/** Whether two resources have equal fields, in any base and any order of keys. Compares secrets too. */
export const isSameDefinition = (one: object, other: object): boolean => digest(one) === digest(other)

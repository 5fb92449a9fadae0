/** The names that a property had before it was renamed. They are kept in its schema. */
import { isObject } from '../../../foundation/is-object.ts'

/** The annotation of a property: the list of its former names. */
export const FORMER_NAMES = 'x-former-names'

export function formerNamesOf(schema: unknown): readonly string[] {
  const names = isObject(schema) ? schema[FORMER_NAMES] : undefined
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []
}

/** The property that had a name before, of those that a schema declares now. */
export function renamedTo(properties: Readonly<Record<string, unknown>>, name: string): string | undefined {
  if (Object.hasOwn(properties, name)) return undefined
  return Object.keys(properties).find((each) => formerNamesOf(properties[each]).includes(name))
}

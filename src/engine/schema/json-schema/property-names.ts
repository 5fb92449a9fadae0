import { isObject } from '../../../foundation/is-object.ts'

/** Above this number of names, they are kept for the next keyword. */
const WIDE = 64

/** The last wide object: several keywords ask for its names, and listing thousands takes milliseconds. */
let listed: { data: object; names: readonly string[] } | undefined
let isListingOnce = false

/** Runs work that does not change its values. Within it, the names of a wide object are listed once. */
export function listingOnce<T>(work: () => T): T {
  if (isListingOnce) return work()
  isListingOnce = true
  try {
    return work()
  } finally {
    isListingOnce = false
    listed = undefined
  }
}

/** The property names of an object. */
export function namesOf(data: object): readonly string[] {
  if (listed?.data === data) return listed.names
  const names = Object.keys(data)
  if (isListingOnce && names.length > WIDE) listed = { data, names }
  return names
}

// The names that a property had before it was renamed. They are kept in its schema.

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

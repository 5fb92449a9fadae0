import { isObject } from '../../../foundation/is-object.ts'
import { rootProperties } from '../json-schema/fields.ts'

/** Properties that hold the title of a record, where the type names none. */
const USUAL = ['title', 'name', 'subject', 'label']

/** The property that a record type shows as the title of its records: `display.title`, or the first usual one that it has. */
export function titleProperty(jsonSchema: unknown, display: unknown): string | null {
  const properties = rootProperties(jsonSchema)
  const named = isObject(display) ? display['title'] : undefined
  return [named, ...USUAL].find((name) => isPropertyOf(properties, name)) ?? null
}

export const isPropertyOf = (properties: object, name: unknown): name is string =>
  typeof name === 'string' && Object.hasOwn(properties, name)

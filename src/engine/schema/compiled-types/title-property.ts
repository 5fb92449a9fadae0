import { TITLE_NAMES } from '../../../contract/title-names.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { rootProperties } from '../json-schema/fields.ts'

/** The property that a record type shows as the title of its records: `display.title`, or the first usual one that it has. */
export function titleProperty(jsonSchema: unknown, display: unknown): string | null {
  const properties = rootProperties(jsonSchema)
  const named = isObject(display) ? display['title'] : undefined
  return [named, ...TITLE_NAMES].find((name) => isPropertyOf(properties, name)) ?? null
}

export const isPropertyOf = (properties: object, name: unknown): name is string =>
  typeof name === 'string' && Object.hasOwn(properties, name)

import { TITLE_NAMES } from '../../contract/title-names.ts'
import { isObject } from '../../foundation/is-object.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { clean } from '../../schema-shape/descriptions.ts'
import { ToolRecord } from '../tools/records/operations.ts'

/** Reads one record with all fields that tools show. */
export const readRecord = staticOperation(
  `query ReadRecord($base: String!, $type: String!, $id: String!) {
    record(base: $base, recordType: $type, id: $id) { ...ToolRecord }
  }`,
  [ToolRecord],
)

/** What names a record of the type, best first: `display.title` before what usually does. */
const namesIn = (display: unknown): readonly string[] => {
  const named = isObject(display) ? display['title'] : undefined
  return typeof named === 'string' ? [named, ...TITLE_NAMES] : TITLE_NAMES
}

/** The fields that may hold the title of a record. A list query accepts all of them. */
export function titleFields(jsonSchema: unknown, display: unknown): string[] {
  const schema = (jsonSchema ?? {}) as Readonly<Record<string, unknown>>
  const properties = Object.entries(
    (schema['properties'] ?? {}) as Record<string, { type?: unknown } | boolean>,
  )
  const own = properties.map(([name]) => name)
  const named = namesIn(display).filter((name) => own.includes(name) || isOpen(schema))
  const texts = properties.filter(
    ([name, shape]) =>
      typeof shape === 'object' && shape.type === 'string' && name.length <= LIMITS.recordTitleChars,
  )
  const shown = new Set([...named, ...texts.slice(0, LIMITS.recordTitleTexts).map(([name]) => name)])
  return [...shown].map((name) => `data[${JSON.stringify(name)}]`)
}

/** Whether records can have undeclared properties; false if the schema does not state it plainly. */
const isOpen = (schema: Readonly<Record<string, unknown>>): boolean =>
  schema['additionalProperties'] !== false &&
  !['unevaluatedProperties', '$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'propertyNames'].some((word) =>
    Object.hasOwn(schema, word),
  )

/** Derives a one-line title: a naming property, else the first text, else type and id. */
export function titleOf(recordType: string, id: string, data: object, display: unknown): string {
  const values = data as Readonly<Record<string, unknown>>
  for (const value of [...namesIn(display).map((name) => values[name]), ...Object.values(values)]) {
    const title = typeof value === 'string' ? clean(value, LIMITS.recordTitleChars) : ''
    if (title !== '') return title
  }
  return `${recordType} ${id}`
}

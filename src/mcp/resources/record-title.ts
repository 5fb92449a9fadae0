import { clean } from '../schema-projection/descriptions.ts'

/** Properties that name a record, the most telling first. */
const NAMES = ['title', 'name', 'label', 'subject', 'headline', 'summary']
const TITLE_CHARS = 200
/** Texts that a type without any of them shows instead. */
const TEXTS = 3

/** The fields of a type's records that may hold their titles; every one is one that a list can show. */
export function titleFields(jsonSchema: unknown): string[] {
  const schema = (jsonSchema ?? {}) as Readonly<Record<string, unknown>>
  const properties = Object.entries(
    (schema['properties'] ?? {}) as Record<string, { type?: unknown } | boolean>,
  )
  const own = properties.map(([name]) => name)
  const named = NAMES.filter((name) => own.includes(name) || isOpen(schema))
  const texts = properties.filter(
    ([name, shape]) => typeof shape === 'object' && shape.type === 'string' && name.length <= TITLE_CHARS,
  )
  const shown = new Set([...named, ...texts.slice(0, TEXTS).map(([name]) => name)])
  return [...shown].map((name) => `data[${JSON.stringify(name)}]`)
}

/** May its records have what it does not name? Where that is not said plainly, no. */
const isOpen = (schema: Readonly<Record<string, unknown>>): boolean =>
  schema['additionalProperties'] !== false &&
  !['unevaluatedProperties', '$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'propertyNames'].some((word) =>
    Object.hasOwn(schema, word),
  )

/** What a record is called, in one line: what names it, else its first text, else its type and id. */
export function titleOf(recordType: string, id: string, data: object): string {
  const values = data as Readonly<Record<string, unknown>>
  for (const value of [...NAMES.map((name) => values[name]), ...Object.values(values)]) {
    const title = typeof value === 'string' ? clean(value, TITLE_CHARS) : ''
    if (title !== '') return title
  }
  return `${recordType} ${id}`
}

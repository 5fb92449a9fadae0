/** Reduces a JSON Schema to an outline of names and types. */

type Schema = Record<string, unknown>

const PLAIN = ['type', 'enum', 'const', 'format', 'required', '$ref', '$anchor', '$id'] as const
const ONE = ['items', 'additionalProperties', 'unevaluatedProperties'] as const
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'] as const
const MAPS = ['properties', 'patternProperties', '$defs', 'definitions'] as const

/** Keeps names, types, formats, enums and required properties, and drops all other keywords. */
export function briefSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(briefSchema)
  if (!isObject(schema)) return schema
  const kept = [
    ...PLAIN.map((name) => [name, schema[name]]),
    // Objects are open by default.
    ...ONE.map((name) => [name, schema[name] === true ? undefined : briefSchema(schema[name])]),
    ...LISTS.map((name) => [name, briefSchema(schema[name])]),
    ...MAPS.map((name) => [name, eachOf(schema[name])]),
  ]
  return Object.fromEntries(kept.filter(([, value]) => value !== undefined))
}

const eachOf = (map: unknown): unknown =>
  isObject(map)
    ? Object.fromEntries(Object.entries(map).map(([name, part]) => [name, briefSchema(part)]))
    : undefined

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

import { isObject } from '../../../json-schema/checks.ts'
import { locate } from '../../../json-schema/references.ts'

/** Column type of a property, derived from its schema. */
export type Kind = 'integer' | 'number' | 'boolean' | 'string' | 'date-time' | 'date' | 'json'

type Schema = Record<string, unknown>

const MOST_HOPS = 100

/** The top-level properties of a schema in order, with their column types. */
export function propertiesOf(jsonSchema: unknown): [name: string, kind: Kind][] {
  const properties = follow(jsonSchema, jsonSchema)?.['properties']
  if (!isObject(properties)) return []
  return Object.entries(properties).map(([name, schema]) => [name, kindOf(follow(schema, jsonSchema))])
}

function kindOf(schema: Schema | undefined): Kind {
  const bare = schema && withoutNull(schema)
  switch (bare?.['type']) {
    case 'integer':
    case 'number':
    case 'boolean':
      return bare['type']
    case 'string':
      return bare['format'] === 'date-time' || bare['format'] === 'date' ? bare['format'] : 'string'
    case undefined:
      return bare ? kindOfValues(bare) : 'json'
    default:
      return 'json'
  }
}

/** Infers the type of an enum or const schema from its values. */
function kindOfValues(schema: Schema): Kind {
  const listed = 'const' in schema ? [schema['const']] : schema['enum']
  const values = Array.isArray(listed) ? listed.filter((each) => each !== null) : []
  if (values.length === 0) return 'json'
  if (values.every((each) => typeof each === 'string')) return 'string'
  if (values.every((each) => typeof each === 'boolean')) return 'boolean'
  if (values.every((each) => Number.isSafeInteger(each))) return 'integer'
  return values.every((each) => typeof each === 'number') ? 'number' : 'json'
}

/** Removes null: `["x", "null"]` becomes `"x"`, and `anyOf` of a schema and null becomes that schema. */
function withoutNull(schema: Schema): Schema {
  const { type } = schema
  if (Array.isArray(type)) {
    const rest = type.filter((each) => each !== 'null')
    return rest.length === 1 ? { ...schema, type: rest[0] } : schema
  }
  const choices = schema['anyOf'] ?? schema['oneOf']
  if (type !== undefined || !Array.isArray(choices) || choices.length !== 2) return schema
  const rest = choices.filter((each) => !(isObject(each) && each['type'] === 'null'))
  return rest.length === 1 && isObject(rest[0]) ? rest[0] : schema
}

/** Resolves local references. */
function follow(schema: unknown, root: unknown): Schema | undefined {
  let place = schema
  for (let hops = 0; hops < MOST_HOPS && isObject(place); hops++) {
    const { $ref } = place
    if (typeof $ref !== 'string') return place
    place = locate(root, $ref)?.raw
  }
  return undefined
}

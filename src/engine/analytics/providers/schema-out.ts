import { isObject } from '../../../foundation/is-object.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { locate } from '../../../schema-shape/refs.ts'
import type { Note } from '../../schema/json-schema/schema-warnings.ts'
import type { Json } from './input.ts'
import { joined, mapChildren, mergeAll, mergeSchemas, omit, someSchema } from './schema-walk.ts'

/** Root keywords for which model APIs reject the whole request. */
const ROOT_ONLY = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'enum', 'const']

/** Flattens root combinators: properties of their branches become root properties. */
export function flattenRoot(schema: Json, label: string, note: Note): Json {
  const own = followRef(schema, schema)
  let root = mergeAll([own, ...branches(own, schema, ['allOf'])])
  const more = branches(root, schema, ['anyOf', 'oneOf', 'then', 'else'])
    .map((branch) => branch['properties'])
    .filter(isObject)
  const properties = root['properties'] ?? {}
  // A branch cannot add properties to a closed root.
  if (root['additionalProperties'] !== false && isObject(properties) && more.length > 0)
    root = { ...root, properties: joined([properties, ...more]) }
  for (const key of ROOT_ONLY) {
    if (root[key] !== undefined)
      note(`${label} takes no "${key}" at the root: records are still checked by it`)
  }
  return { ...omit(root, ...ROOT_ONLY), type: 'object' }
}

/** Adds `items` to arrays without it, which OpenAI requires. */
export function itemsEverywhere(schema: Json): Json {
  const types = [schema['type']].flat()
  const bare = types.includes('array') && schema['items'] === undefined && schema['prefixItems'] === undefined
  return mapChildren(bare ? { ...schema, items: {} } : schema, '', itemsEverywhere)
}

/** Whether a schema satisfies strict mode: closed objects and, for OpenAI, all properties required. */
export function fitsStrict(schema: Json, everyPropertyRequired: boolean): boolean {
  return !someSchema(schema, (each) => {
    const properties = each['properties']
    if (![each['type']].flat().includes('object') && !isObject(properties)) return false
    if (each['additionalProperties'] !== false) return true
    const required = Array.isArray(each['required']) ? each['required'] : []
    return (
      everyPropertyRequired &&
      Object.keys(isObject(properties) ? properties : {}).some((p) => !required.includes(p))
    )
  })
}

/** Inlines the root `$ref`; sibling keywords take precedence. */
export function followRef(schema: Json, root: Json): Json {
  let found = schema
  for (let hop = 0; hop < LIMITS.providerRootHops; hop++) {
    const ref = found['$ref']
    if (typeof ref !== 'string') return found
    const target = locate(root, ref)?.schema
    found = isObject(target)
      ? mergeSchemas(omit(found, '$ref'), target === found ? {} : target)
      : omit(found, '$ref')
  }
  return omit(found, '$ref')
}

function branches(schema: Json, root: Json, keys: readonly string[]): Json[] {
  return keys
    .flatMap((key) => schema[key])
    .filter(isObject)
    .map((branch) => followRef(branch, root))
}

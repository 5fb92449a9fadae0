import type { Note } from './codec.ts'
import { isObject, type Json, pointer } from './input.ts'
import { joined, mapChildren, mergeAll, mergeSchemas, omit, resolveRef, someSchema } from './schema-walk.ts'

const REF_HOPS = 16
/** Model APIs refuse a whole request for one of these at the root of a tool's parameters. */
const ROOT_ONLY = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'enum', 'const']

/** A schema whose root is a plain object: what its combinations name becomes properties of the root. */
export function flattenRoot(schema: Json, label: string, note: Note): Json {
  const own = followRef(schema, schema)
  let root = mergeAll([own, ...branches(own, schema, ['allOf'])])
  const more = branches(root, schema, ['anyOf', 'oneOf', 'then', 'else'])
    .map((branch) => branch['properties'])
    .filter(isObject)
  const properties = root['properties'] ?? {}
  // Where the root closes its properties, a branch cannot open them.
  if (root['additionalProperties'] !== false && isObject(properties) && more.length > 0)
    root = { ...root, properties: joined([properties, ...more]) }
  for (const key of ROOT_ONLY) {
    if (root[key] !== undefined)
      note(`${label} takes no "${key}" at the root: records are still checked by it`)
  }
  return { ...omit(root, ...ROOT_ONLY), type: 'object' }
}

/** OpenAI refuses an array that does not say what it holds. */
export function itemsEverywhere(schema: Json): Json {
  const types = [schema['type']].flat()
  const bare = types.includes('array') && schema['items'] === undefined && schema['prefixItems'] === undefined
  return mapChildren(bare ? { ...schema, items: {} } : schema, '', itemsEverywhere)
}

/** Notes the property names outside what a provider accepts. */
export function notePropertyNames(schema: Json, pattern: RegExp, label: string, note: Note, at = ''): void {
  for (const name of Object.keys(isObject(schema['properties']) ? schema['properties'] : {})) {
    if (!pattern.test(name)) note(`${label} refuses this property name`, pointer(at, 'properties', name))
  }
  mapChildren(schema, at, (child, place) => notePropertyNames(child, pattern, label, note, place))
}

/** Whether a strict mode takes the schema: objects are closed and, for OpenAI, every property is required. */
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

/** A schema with its own `$ref` replaced by what it names; keywords beside the reference stay and win. */
export function followRef(schema: Json, root: Json): Json {
  let found = schema
  for (let hop = 0; hop < REF_HOPS; hop++) {
    const ref = found['$ref']
    if (typeof ref !== 'string') return found
    const target = resolveRef(root, ref)
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

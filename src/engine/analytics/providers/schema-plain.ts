import { isObject } from '../../../foundation/is-object.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { locate } from '../../../schema-shape/refs.ts'
import type { Json } from './input.ts'
import { mergeAll, mergeSchemas, omit } from './schema-walk.ts'

/** Type-specific keywords. */
const OWN: Record<string, readonly string[]> = {
  object:
    'properties required additionalProperties patternProperties minProperties maxProperties propertyNames'.split(
      ' ',
    ),
  array: 'items prefixItems minItems maxItems uniqueItems contains'.split(' '),
  string: 'minLength maxLength pattern format'.split(' '),
  number: 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf'.split(' '),
}

/** A simplified schema node: at most one type, or branches of one type each. */
export type PlainSchema = {
  schema: Json
  type?: string
  nullable: boolean
  branches?: Json[]
  refs: string[]
}

type Say = (message: string) => void

/** Resolves references, `allOf`, `const`, null and type lists; reports losses to `say`. */
export function plainSchema(value: unknown, root: Json, say: Say, hops = 0): PlainSchema {
  if (value === false) say('Google has no schema that refuses every value')
  const { schema, refs } = unwrap(isObject(value) && hops < LIMITS.providerRefHops ? value : {}, root, say)
  const types = [schema['type']].flat().filter((type) => typeof type === 'string')
  const branched = [schema['anyOf'], schema['oneOf']].filter((each) => Array.isArray(each))
  const [given, another] = branched
  // An enum is more specific than any combinator beside it.
  if (!given || Array.isArray(schema['enum'])) {
    if (given) say('Google has no "anyOf" or "oneOf" beside "enum"')
    return { ...oneType(omit(schema, 'anyOf', 'oneOf'), types), refs }
  }
  if (another) say('Google has no "oneOf" beside "anyOf"')
  else if (given === schema['oneOf']) say('Google has no "oneOf": it is shown as "anyOf"')

  const base = omit(schema, 'anyOf', 'oneOf', ...(types.length > 1 ? ['type'] : []))
  const solid = given.filter((branch) => !(isObject(branch) && branch['type'] === 'null'))
  const nullable = solid.length < given.length && (types.length === 0 || types.includes('null'))
  if (solid.length === 1) {
    const inner = plainSchema(mergeSchemas(base, asSchema(solid[0])), root, say, hops + 1)
    return { ...inner, nullable: nullable || inner.nullable, refs: [...refs, ...inner.refs] }
  }
  const shared = omit(base, 'title', 'description')
  return { schema: base, nullable, branches: solid.map((each) => mergeSchemas(asSchema(each), shared)), refs }
}

/** Resolves `$ref` and merges `allOf` until neither remains, then normalizes the result. */
function unwrap(from: Json, root: Json, say: Say): { schema: Json; refs: string[] } {
  const refs: string[] = []
  const { const: only, examples, ...rest } = unfold(from, root, say, refs)
  if (only !== undefined) rest['enum'] = [only]
  if (Array.isArray(examples) && rest['example'] === undefined) rest['example'] = examples[0]
  return { schema: tuple(bounds(rest, say), say), refs }
}

function unfold(from: Json, root: Json, say: Say, refs: string[]): Json {
  const { $ref, allOf, ...own } = from
  let schema = own
  if (typeof $ref === 'string') {
    const target = refs.length < LIMITS.providerRefHops ? locate(root, $ref)?.schema : undefined
    refs.push($ref)
    if (!isObject(target)) say(`Google has no reference to ${$ref}`)
    else schema = mergeSchemas(schema, unfold(target, root, say, refs))
  }
  if (!Array.isArray(allOf)) return schema
  const all = [schema]
  const spoken = new Set(Object.keys(schema))
  for (const each of allOf) {
    const branch = unfold(asSchema(each), root, say, refs)
    const keys = Object.keys(branch)
    if (keys.some((key) => !JOINED.has(key) && spoken.has(key)))
      say('Google has no "allOf": its first branch is shown')
    for (const key of keys) spoken.add(key)
    all.push(branch)
  }
  return mergeAll(all)
}

/** Keywords that can be merged across `allOf` branches. */
const JOINED = new Set(['properties', 'required', 'type', 'title', 'description'])

function oneType(schema: Json, types: readonly string[]): Omit<PlainSchema, 'refs'> {
  const values = Array.isArray(schema['enum']) ? schema['enum'] : undefined
  const solid = types.filter((type) => type !== 'null')
  const nullable = solid.length < types.length || (types.length === 0 && values?.includes(null) === true)
  const onlyNull = values ? values.every((value) => value === null) : types.length === 1
  if (nullable && onlyNull) return { schema: omit(schema, 'enum'), type: 'null', nullable: false }
  const found = solid.length > 0 ? solid : guess(schema, values)
  const [type] = found
  if (found.length > 1) {
    const branches = found.map((each) => ({
      ...narrow(omit(schema, 'title', 'description'), each),
      type: each,
    }))
    return { schema, nullable, branches }
  }
  const plain = values ? { ...schema, enum: values.filter((value) => value !== null) } : schema
  return type === undefined ? { schema: plain, nullable } : { schema: plain, type, nullable }
}

/** Infers the types of an untyped schema from its keywords. */
function guess(schema: Json, values: readonly unknown[] | undefined): string[] {
  if (values) return [...new Set(values.filter((value) => value !== null).map(typeOf))]
  const found = Object.keys(OWN).find((type) => OWN[type]?.some((key) => schema[key] !== undefined))
  return found === undefined ? [] : [found]
}

/** The part of a multi-type schema for one type. */
function narrow(schema: Json, type: string): Json {
  const family = type === 'integer' ? 'number' : type
  const foreign = Object.keys(OWN).filter((each) => each !== family)
  const result = omit(schema, ...foreign.flatMap((each) => OWN[each] ?? []))
  if (!Array.isArray(result['enum'])) return result
  return { ...result, enum: result['enum'].filter((value) => [type, family].includes(typeOf(value))) }
}

function bounds(schema: Json, say: Say): Json {
  const { exclusiveMinimum: above, exclusiveMaximum: below, ...rest } = schema
  const whole = schema['type'] === 'integer'
  if ((typeof above === 'number' || typeof below === 'number') && !whole)
    say('Google has no exclusive bounds')
  if (typeof above === 'number') rest['minimum'] = whole ? Math.floor(above) + 1 : above
  if (typeof below === 'number') rest['maximum'] = whole ? Math.ceil(below) - 1 : below
  return rest
}

function tuple(schema: Json, say: Say): Json {
  const places = Array.isArray(schema['items']) ? schema['items'] : schema['prefixItems']
  if (!Array.isArray(places)) return schema
  say('Google has no tuples: each item may be any of them')
  return { ...omit(schema, 'prefixItems'), items: { anyOf: places } }
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

function asSchema(value: unknown): Json {
  return isObject(value) ? value : {}
}

import { nearest } from '../../../contract/suggest.ts'
import { invalid } from '../../../foundation/errors.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { own } from '../../../foundation/own.ts'
import type { Note } from '../../schema/json-schema/schema-warnings.ts'
import type { OpenedTool } from './codec.ts'
import { type Json, pointer, readObject, typeName, wrongType } from './input.ts'
import { mapChildren, omit } from './schema-walk.ts'

/** URIs of the supported JSON Schema dialects. */
const DIALECTS = /^https?:\/\/json-schema\.org\/(?:draft\/2020-12|draft-07)\/schema#?$/

/** Converts tool parameters to the JSON Schema of a record type. Idempotent. */
export function readSchema(tool: OpenedTool, note: Note): Json {
  const { schema, schemaAt: at, dialect } = tool
  if (schema === undefined) return { type: 'object', properties: {} }
  const given = readObject(schema, at)
  const native = dialect === 'google' ? fromGoogle(given, at) : given
  return objectRoot(knownDialect(native, at, note), at)
}

/**
 * Treats any other dialect as 2020-12: generators often emit an arbitrary `$schema`, and common keywords have
 * the same meaning in every draft.
 */
function knownDialect(schema: Json, at: string, note: Note): Json {
  const { $schema } = schema
  if ($schema === undefined || (typeof $schema === 'string' && DIALECTS.test($schema))) return schema
  note(`The dialect ${JSON.stringify($schema)} is read as JSON Schema 2020-12`, pointer(at, '$schema'))
  return omit(schema, '$schema')
}

/** Sets the root type to object, since arguments always are one: a missing or nullable type is replaced. */
function objectRoot(schema: Json, at: string): Json {
  const { type } = schema
  if (type === 'object') return schema
  if (type === undefined) return { type: 'object', ...schema }
  if (Array.isArray(type) && type.includes('object')) return { ...schema, type: 'object' }
  throw invalid({
    path: pointer(at, 'type'),
    code: 'root_type',
    message: 'The parameters of a tool must be an object: a record type holds objects.',
    expected: 'object',
    received: typeof type === 'string' ? type : typeName(type),
  })
}

const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']

/** Snake-case keys of Google's Python client. */
const SPELLINGS: Record<string, string> = {
  max_items: 'maxItems',
  min_items: 'minItems',
  max_length: 'maxLength',
  min_length: 'minLength',
  max_properties: 'maxProperties',
  min_properties: 'minProperties',
  any_of: 'anyOf',
  property_ordering: 'propertyOrdering',
  additional_properties: 'additionalProperties',
  defs: '$defs',
  ref: '$ref',
}

/** 64-bit integers, which Google's JSON may encode as strings. */
const COUNTS = ['maxItems', 'minItems', 'maxLength', 'minLength', 'maxProperties', 'minProperties']

/** Converts Google's OpenAPI dialect to JSON Schema. JSON Schema input is unchanged. */
function fromGoogle(schema: Json, at: string): Json {
  const spelt = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      const name = own(SPELLINGS, key) ?? key
      return [name, key === 'ref' ? rootedRef(value) : COUNTS.includes(name) ? count(value) : value]
    }),
  )
  const typed = readType(spelt, at)
  return mapChildren(readNullable(typed, at), at, fromGoogle)
}

function readType(schema: Json, at: string): Json {
  const type = schema['type']
  if (typeof type !== 'string') return schema
  if (type === 'TYPE_UNSPECIFIED') return omit(schema, 'type')
  const lower = type.toLowerCase()
  if (!TYPES.includes(lower)) {
    const near = nearest(lower, TYPES)?.toUpperCase()
    const allowed = TYPES.map((each) => each.toUpperCase())
    const path = pointer(at, 'type')
    const detail = { path, code: 'enum', message: `Google has no type "${type}".`, received: type, allowed }
    throw invalid(near === undefined ? detail : { ...detail, hint: near })
  }
  const result: Json = { ...schema, type: lower }
  // Google encodes numeric enum values as strings.
  if ((lower === 'integer' || lower === 'number') && Array.isArray(schema['enum'])) {
    result['enum'] = schema['enum'].map((each) => number(each))
  }
  return result
}

function readNullable(schema: Json, at: string): Json {
  const nullable = schema['nullable']
  if (nullable === undefined) return schema
  if (typeof nullable !== 'boolean') throw wrongType(nullable, pointer(at, 'nullable'), 'true or false')
  const result = omit(schema, 'nullable')
  if (!nullable) return result
  const { type, anyOf } = result
  if (typeof type === 'string' && type !== 'null') result['type'] = [type, 'null']
  if (Array.isArray(result['enum']) && !result['enum'].includes(null))
    result['enum'] = [...result['enum'], null]
  if (Array.isArray(anyOf) && !anyOf.some(allowsNull)) result['anyOf'] = [...anyOf, { type: 'null' }]
  return result
}

function allowsNull(branch: unknown): boolean {
  return isObject(branch) && (branch['nullable'] === true || String(branch['type']).toLowerCase() === 'null')
}

function rootedRef(ref: unknown): unknown {
  return typeof ref === 'string' ? ref.replace(/^#\/defs\//, '#/$defs/') : ref
}

function count(value: unknown): unknown {
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
}

function number(value: unknown): unknown {
  return typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value))
    ? Number(value)
    : value
}

import { invalid } from '../../../foundation/errors.ts'
import type { Note } from '../../schema/json-schema/schema-warnings.ts'
import type { OpenedTool } from './codec.ts'
import { type Json, pointer, readObject, typeName } from './input.ts'
import { fromGoogle } from './schema-from-google.ts'
import { omit } from './schema-walk.ts'

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

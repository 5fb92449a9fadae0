import { invalid } from '../../foundation/errors.ts'
import type { Checks, Note, OpenedTool } from './codec.ts'
import { type Json, pointer, readObject, typeName } from './input.ts'
import { uncheck } from './schema-checks.ts'
import { fromGoogle } from './schema-from-google.ts'
import { omit } from './schema-walk.ts'

/** The two dialects record types are written in. */
const DIALECTS = /^https?:\/\/json-schema\.org\/(?:draft\/2020-12|draft-07)\/schema#?$/

/** The parameters of a tool as the JSON Schema of a record type. Doing it twice changes nothing more. */
export function readSchema(tool: OpenedTool, checks: Checks, note: Note): Json {
  const { schema, schemaAt: at, dialect } = tool
  if (schema === undefined) return { type: 'object', properties: {} }
  const given = readObject(schema, at)
  const native = dialect === 'google' ? fromGoogle(given, at) : given
  return uncheck(objectRoot(knownDialect(native, at, note), at), at, checks, note)
}

/**
 * A schema of another dialect is read as 2020-12: to tool authors `$schema` is what their generator
 * happened to print, and most of what they use means the same in every draft.
 */
function knownDialect(schema: Json, at: string, note: Note): Json {
  const { $schema } = schema
  if ($schema === undefined || (typeof $schema === 'string' && DIALECTS.test($schema))) return schema
  note(`The dialect ${JSON.stringify($schema)} is read as JSON Schema 2020-12`, pointer(at, '$schema'))
  return omit(schema, '$schema')
}

/** Arguments are always an object, so a root that leaves its type out, or allows null as well, means one. */
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

import { isObject } from '../../../foundation/is-object.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Note } from '../../schema/json-schema/schema-warnings.ts'
import { type Json, pointer } from './input.ts'
import { flattenRoot } from './schema-out.ts'
import { type PlainSchema, plainSchema } from './schema-plain.ts'

const SUPPORTED =
  'title description default example propertyOrdering minItems maxItems minLength maxLength pattern minProperties maxProperties minimum maximum'.split(
    ' ',
  )
/** Keywords without effect on validation, or converted separately. */
const SILENT = '$schema $id $anchor $comment $defs definitions type enum format'.split(' ')
const KNOWN_KEYS = new Set([...SUPPORTED, ...SILENT])
const FORMATS: Record<string, readonly string[]> = {
  string: ['date-time'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
}

type Trip = { root: Json; note: Note; nodes: number }

/** Converts JSON Schema to Google's OpenAPI dialect, with references inlined. */
export function toGoogle(schema: Json, note: Note): Json {
  return write(flattenRoot(schema, 'Google', note), '', { root: schema, note, nodes: 0 }, [])
}

function write(schema: unknown, at: string, trip: Trip, refs: readonly string[]): Json {
  if (++trip.nodes > LIMITS.googleSchemaNodes)
    return cutOff(isObject(schema) ? schema['type'] : undefined, at, trip.note)
  const plain = plainSchema(schema, trip.root, (message) => trip.note(message, at))
  const path = [...refs, ...plain.refs]
  if (plain.refs.some((ref) => path.filter((each) => each === ref).length > LIMITS.googleSameRef)) {
    return cutOff(plain.type, at, trip.note)
  }
  if (plain.branches) return writeBranches(plain, plain.branches, at, trip, path)
  if (plain.type === undefined) trip.note('Google has no schema for any value: it is shown as a string', at)
  const type = plain.type ?? 'string'
  const out: Json = { type: type.toUpperCase(), ...(plain.nullable ? { nullable: true } : {}) }
  for (const key of SUPPORTED) if (plain.schema[key] !== undefined) out[key] = plain.schema[key]
  Object.assign(out, writeFormat(plain.schema, type))
  Object.assign(out, writeEnum(out, plain.schema['enum'], type, at, trip.note))
  if (type === 'object') Object.assign(out, writeObject(plain.schema, at, trip, path))
  if (type === 'array') out['items'] = write(plain.schema['items'] ?? {}, pointer(at, 'items'), trip, path)
  noteLost(plain.schema, type, at, trip.note)
  return out
}

/** Minimal valid schema of a type, used at a limit. */
function cutOff(type: unknown, at: string, note: Note): Json {
  note('Google has no references: what repeats itself is cut off', at)
  if (type === 'array') return { type: 'ARRAY', items: { type: 'STRING' } }
  return { type: typeof type === 'string' ? type.toUpperCase() : 'STRING' }
}

/** Copies sibling keywords into each `anyOf` branch, since Google rejects most keywords beside `anyOf`. */
function writeBranches(
  plain: PlainSchema,
  branches: readonly Json[],
  at: string,
  trip: Trip,
  refs: readonly string[],
): Json {
  const { title, description } = plain.schema
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(plain.nullable ? { nullable: true } : {}),
    anyOf: branches.map((branch, i) => write(branch, pointer(at, 'anyOf', i), trip, refs)),
  }
}

function writeObject(schema: Json, at: string, trip: Trip, refs: readonly string[]): Json {
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const required: unknown[] = Array.isArray(schema['required']) ? schema['required'] : []
  const known = required.filter((name) => typeof name === 'string' && Object.hasOwn(properties, name))
  if (known.length < required.length) trip.note('Google requires only properties that are described', at)
  const written = Object.entries(properties).map(([name, each]): [string, Json] => [
    name,
    write(each, pointer(at, 'properties', name), trip, refs),
  ])
  return {
    ...(schema['properties'] === undefined ? {} : { properties: Object.fromEntries(written) }),
    ...(known.length > 0 ? { required: known } : {}),
  }
}

/** One value that is not a string, or is empty, makes Gemini refuse all tools. Then the description lists the values. */
function writeEnum({ description }: Json, values: unknown, type: string, at: string, note: Note): Json {
  if (!Array.isArray(values)) return {}
  if (type === 'string' && values.every((value) => typeof value === 'string' && value !== ''))
    return { enum: values }
  note('Google has only enums of strings that are not empty: the description lists the values', at)
  const said = `One of: ${values
    .slice(0, 50)
    .map((value) => JSON.stringify(value))
    .join(', ')}.`
  return { description: typeof description === 'string' ? `${description} ${said}` : said }
}

/** Writes an unsupported format into the description, which the model reads. */
function writeFormat(schema: Json, type: string): Json {
  const { format, description } = schema
  if (typeof format !== 'string' || Array.isArray(schema['enum'])) return {}
  if (FORMATS[type]?.includes(format)) return { format }
  return {
    description: typeof description === 'string' ? `${description} (format: ${format})` : `Format: ${format}`,
  }
}

function noteLost(schema: Json, type: string, at: string, note: Note): void {
  const own = type === 'object' ? ['properties', 'required'] : type === 'array' ? ['items'] : []
  for (const key of Object.keys(schema))
    if (!KNOWN_KEYS.has(key) && !own.includes(key)) note(`Google has no "${key}"`, at)
}

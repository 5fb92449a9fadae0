import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { nearest } from '../../../contract/suggest.ts'
import { type Detail, DomainError, invalid } from '../../../foundation/errors.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { type Projection, projectInTurns } from '../../../schema-shape/portable-schema.ts'
import type { Names } from '../../../schema-shape/rename-properties.ts'
import { type Note, notebook } from '../../schema/json-schema/schema-warnings.ts'
import type { ExportedType, OpenedTool, ProviderCodec, Shape, ToolCall } from './codec.ts'
import { type Json, pointer } from './input.ts'
import { PROVIDERS } from './registry.ts'
import { readSchema } from './schema-in.ts'
import { someSchema } from './schema-walk.ts'

type Written = { tool: Json; alias: string; warnings: string[] }
type Export = { provider: ProviderCodec['id']; tools: Json[]; warnings: string[] }
/** The import source of a record type, and whether its schema is unchanged. */
type Origin = { codec: ProviderCodec; tool: OpenedTool; unchanged: boolean }

/** Keys that every codec handles or that are converted rather than copied. */
const COMMON = new Set(
  'type name description parameters input_schema inputSchema parametersJsonSchema parameters_json_schema'.split(
    ' ',
  ),
)

/** Combines written definitions into one export. */
export function bundle(codec: ProviderCodec, written: readonly Written[]): Export {
  return {
    provider: codec.id,
    tools: codec.wrap(written.map(({ tool }) => tool)),
    warnings: written.flatMap(({ warnings }) => warnings),
  }
}

/** Calls need the names of a form again. */
const portable = new WeakMap<Json, Promise<Projection | undefined>>()

/** The portable form of a schema with property names that the provider refuses, and their other names. */
export async function portableForm(codec: ProviderCodec, schema: Json): Promise<Projection | undefined> {
  const { propertyPattern } = codec
  if (!propertyPattern) return undefined
  const form = portable.get(schema) ?? readForm(schema, propertyPattern)
  portable.set(schema, form)
  return await form
}

async function readForm(schema: Json, accepted: RegExp): Promise<Projection | undefined> {
  const namesOf = ({ properties, required }: Json) => [
    ...Object.keys(Object(properties)),
    ...[required].flat(),
  ]
  const isRefused = (name: unknown) => typeof name === 'string' && !accepted.test(name)
  return someSchema(schema, (each) => namesOf(each).some(isRefused))
    ? await projectInTurns(schema)
    : undefined
}

/** Converts one record type to a native tool definition, with its tool name. */
export function writeTool(
  codec: ProviderCodec,
  type: ExportedType,
  shape: Shape = 'chat',
  form?: Projection,
): Written {
  const { note, lines } = notebook()
  const named = alias(type.id, codec.namePattern)
  if (named !== type.id) note(`${codec.label} does not accept the name: it is exported as "${named}"`)
  const origin = readOrigin(type)
  const native = origin?.codec === codec ? origin.tool : null
  if (origin && !native) noteForeignKeys(origin, note)
  // While the schema is unchanged, the native parameters are returned verbatim; otherwise they are
  // regenerated.
  const schema =
    native && origin?.unchanged
      ? undefined
      : form
        ? portableSchema(codec, form, note)
        : codec.project(type.jsonSchema, note, native)
  const title = type.name === type.id || type.name === native?.title ? null : type.name
  const tool = codec.write(
    { alias: named, title, description: type.description, schema, native, shape },
    note,
  )
  return { tool, alias: named, warnings: lines().map((line) => `${type.id}: ${line}`) }
}

function portableSchema({ label }: ProviderCodec, { schema, names, warnings }: Projection, note: Note): Json {
  note(
    'The other property names need a simpler form of the schema. Its descriptions say what it has no keyword for',
  )
  for (const warning of warnings) note(warning.replace(/\.$/, ''))
  const noteNames = ({ properties, items, additional, renames }: Names, at: string) => {
    if (!renames) return
    for (const [name, { original, names: below }] of properties) {
      const place = pointer(at, 'properties', original)
      if (name !== original)
        note(`${label} does not accept the property name: it is exported as "${name}"`, place)
      noteNames(below, place)
    }
    if (items) noteNames(items, pointer(at, 'items'))
    if (additional) noteNames(additional, pointer(at, 'additionalProperties'))
  }
  noteNames(names, '')
  return { ...schema }
}

/** Accepted tool names of a record type: its id and its exported alias. */
export function acceptedNames(codec: ProviderCodec, type: { id: string }): string[] {
  return [...new Set([type.id, alias(type.id, codec.namePattern)])]
}

/** Rejects a call whose tool name is not that of the record type. */
export function requireCallName(codec: ProviderCodec, call: ToolCall, type: { id: string }): void {
  const allowed = acceptedNames(codec, type)
  if (allowed.includes(call.name)) return
  const detail: Detail = {
    path: call.nameAt,
    code: 'other_function',
    message: `The call names "${call.name.slice(0, 100)}", but the path names the record type "${type.id}".`,
    received: call.name.slice(0, 100),
    allowed,
  }
  const near = nearest(call.name, allowed)
  throw invalid(near === undefined ? detail : { ...detail, hint: near })
}

/** Reads the stored import source. Any client can write `display`, so an invalid value means no source. */
function readOrigin(type: ExportedType): Origin | null {
  const source = isObject(type.display) ? type.display['source'] : undefined
  if (!isObject(source) || typeof source['provider'] !== 'string') return null
  const codec = Object.hasOwn(PROVIDERS, source['provider']) ? PROVIDERS[source['provider']] : undefined
  if (!codec) return null
  try {
    const [tool, another] = codec.open(source['definition'], '')
    if (!tool || another) return null
    const imported = readSchema(tool, () => {})
    return { codec, tool, unchanged: isDeepStrictEqual(plain(imported), plain(type.jsonSchema)) }
  } catch (fault) {
    if (fault instanceof DomainError) return null
    throw fault
  }
}

function noteForeignKeys({ codec, tool }: Origin, note: Note): void {
  const body = isObject(tool.definition['function']) ? tool.definition['function'] : tool.definition
  for (const [key, value] of Object.entries(body)) {
    if (!COMMON.has(key) && value !== false && value !== null)
      note(`"${key}" exists for ${codec.label} only and is left out`)
  }
}

/** Normalizes a value to plain JSON for comparison. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

const MAX_CHARS = 64

/**
 * A name that a provider accepts: the name itself, or a sanitized form with a digest suffix. It depends on the
 * name only, so it is stable across exports.
 */
function alias(name: string, pattern: RegExp): string {
  if (pattern.test(name)) return name
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8)
  const clean = name.replaceAll(/[^A-Za-z0-9_-]/g, '_')
  const named = pattern.test(clean) ? clean : `_${clean}`
  return `${named.slice(0, MAX_CHARS - 9)}_${digest}`
}

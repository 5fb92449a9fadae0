import { isDeepStrictEqual } from 'node:util'
import { nearest } from '../../contract/suggest.ts'
import { type Detail, DomainError, invalid } from '../../foundation/errors.ts'
import { isObject } from '../../foundation/is-object.ts'
import { type Note, notebook } from '../json-schema/schema-warnings.ts'
import { alias } from './alias.ts'
import type { ExportedType, OpenedTool, ProviderCodec, Shape, ToolCall } from './codec.ts'
import type { Json } from './input.ts'
import { exportedNames, renameProperties } from './property-names.ts'
import { PROVIDERS } from './registry.ts'
import { readSchema } from './schema-in.ts'

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

/** Converts one record type to a native tool definition, with its tool name. */
export function writeTool(codec: ProviderCodec, type: ExportedType, shape: Shape = 'chat'): Written {
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
      : renamed(codec, type.jsonSchema, codec.project(type.jsonSchema, note, native), note)
  const title = type.name === type.id || type.name === native?.title ? null : type.name
  const tool = codec.write(
    { alias: named, title, description: type.description, schema, native, shape },
    note,
  )
  return { tool, alias: named, warnings: lines().map((line) => `${type.id}: ${line}`) }
}

/** The projected schema with names of properties that the provider accepts. */
function renamed(codec: ProviderCodec, own: Json, projected: Json, note: Note): Json {
  if (!codec.propertyPattern) return projected
  return renameProperties(projected, exportedNames(own, codec.propertyPattern), codec.label, note)
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

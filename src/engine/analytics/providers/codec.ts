import type { Note } from '../../schema/json-schema/schema-warnings.ts'
import type { Json } from './input.ts'

export type ProviderId = 'openai' | 'anthropic' | 'google' | 'mcp'

/** The two OpenAI formats: Chat Completions and Responses. */
export type Shape = 'chat' | 'responses'

/** A parsed native tool definition whose schema is not yet converted. */
export type OpenedTool = {
  /** The original definition of this tool. */
  definition: Json
  name: unknown
  nameAt: string
  /** Display name, if the provider has one. */
  title: unknown
  titleAt: string
  description: unknown
  descriptionAt: string
  /** The original parameters; undefined without any. */
  schema: unknown
  schemaAt: string
  /** `google` is the OpenAPI dialect with upper-case types; `json` is JSON Schema. */
  dialect: 'json' | 'google'
}

/** A converted tool definition, from which a record type is created. */
export type ToolDefinition = {
  name: string
  /** JSON Pointer of the name, for error details. */
  nameAt: string
  /** JSON Pointer of the parameters, for error details. */
  schemaAt: string
  title: string | null
  description: string | null
  jsonSchema: Json
  /** Stored as `display.source` of the record type; export restores the tool from it. */
  source: ToolSource
  warnings: string[]
}

type ToolSource = { provider: ProviderId; definition: Json }

/** The parts of a record type that export needs. */
export type ExportedType = {
  id: string
  name: string
  description: string | null
  jsonSchema: Json
  display: unknown
}

/** Input for writing a native definition. */
export type ToolDraft = {
  alias: string
  /** Set only when the record type's name differs from `alias` and the id. */
  title: string | null
  description: string | null
  /** JSON Schema in the provider's dialect; undefined keeps the native parameters. */
  schema: Json | undefined
  /** The imported definition, if it came from the same provider. */
  native: OpenedTool | null
  shape: Shape
}

/** A parsed native tool call. */
export type ToolCall = {
  provider: ProviderId
  /** Format variant of the call; the result uses the same one. */
  form: 'chat' | 'responses' | 'camel' | 'snake' | 'plain'
  name: string
  nameAt: string
  callId: string | null
  arguments: Json
  /** JSON Pointer of the arguments in the native call. */
  argumentsAt: string
}

type ToolOutcome = { id: string; record_type: string; operation: string; record: unknown }

/** Codec of one provider: pure functions without database or clock. */
export type ProviderCodec = {
  /** Provider id; also the `external_source` of records created from its calls. */
  id: ProviderId
  label: string
  /** Pattern of valid tool names. */
  namePattern: RegExp
  /** Pattern of valid property names; any name is valid without it. A schema with others is exported in portable form. */
  propertyPattern?: RegExp
  /** Parses a native entry of `tools`; a Google entry holds several tools. */
  open(native: unknown, at: string): OpenedTool[]
  /** Converts a JSON Schema to the provider's dialect; reports losses to `note`. */
  project(schema: Json, note: Note, native: OpenedTool | null): Json
  write(draft: ToolDraft, note: Note): Json
  /** Wraps tools as the `tools` list of an API request. */
  wrap(tools: readonly Json[]): Json[]
  readCall(native: unknown, at?: string): ToolCall
  toolResult(call: ToolCall, outcome: ToolOutcome): Json
}

/** Writes a flat native definition: updates the imported one, or creates one. */
export function rewrite(draft: ToolDraft, schemaKey: string): Json {
  const tool: Json = { ...draft.native?.definition, name: draft.alias }
  if (draft.description !== null) tool['description'] = draft.description
  // An explicit null is equivalent to an absent key; a description removed from the type is removed here.
  else if (typeof tool['description'] === 'string') delete tool['description']
  if (draft.schema !== undefined) tool[schemaKey] = draft.schema
  return tool
}

import type { Json } from './input.ts'

export type ProviderId = 'openai' | 'anthropic' | 'google' | 'mcp'

/** The two spellings OpenAI has for the same thing: Chat Completions and Responses. */
export type Shape = 'chat' | 'responses'

/** What the schema engine can check. Anything else becomes an annotation. */
export type Checks = { isKnownFormat(name: string): boolean; canRunPattern(pattern: string): boolean }

/** A native tool definition taken apart, before its schema is read. */
export type OpenedTool = {
  /** The definition of this one tool, as it came. */
  definition: Json
  name: unknown
  nameAt: string
  /** A name for people, where the provider has one. */
  title: unknown
  titleAt: string
  description: unknown
  descriptionAt: string
  /** The parameters as they came; undefined when there are none. */
  schema: unknown
  schemaAt: string
  /** `google` is the OpenAPI dialect with upper-case types, all else is JSON Schema. */
  dialect: 'json' | 'google'
}

/** A tool definition read: what its record type is made of. */
export type ToolDefinition = {
  name: string
  /** JSON Pointer of the name, for faults found later. */
  nameAt: string
  /** JSON Pointer of the parameters, for faults found later. */
  schemaAt: string
  title: string | null
  description: string | null
  jsonSchema: Json
  /** Belongs in `display.source` of the record type: export starts from it. */
  source: ToolSource
  warnings: string[]
}

type ToolSource = { provider: ProviderId; definition: Json }

/** What export needs to know of a record type. */
export type ExportedType = {
  id: string
  name: string
  description: string | null
  jsonSchema: Json
  display: unknown
}

/** What a native definition is written from. */
export type ToolDraft = {
  alias: string
  /** Differs from `alias` and the id only when the record type was given a name of its own. */
  title: string | null
  description: string | null
  /** JSON Schema in the provider's dialect; undefined leaves the native parameters as they were. */
  schema: Json | undefined
  /** The definition this type was imported with, when it came from the same provider. */
  native: OpenedTool | null
  shape: Shape
}

/** A native tool call taken apart. */
export type ToolCall = {
  provider: ProviderId
  /** Which of the provider's spellings it came in; the result is written in the same. */
  form: 'chat' | 'responses' | 'camel' | 'snake' | 'plain'
  name: string
  nameAt: string
  callId: string | null
  arguments: Json
  /** JSON Pointer of the arguments inside the native call. */
  argumentsAt: string
}

type ToolOutcome = { id: string; record_type: string; operation: string; record: unknown }

/** One provider. Pure: no database, no clock. */
export type ProviderCodec = {
  /** Also the `external_source` of records made from its calls. */
  id: ProviderId
  label: string
  /** The names the provider takes. */
  namePattern: RegExp
  /** Takes a native entry of `tools` apart; Google's holds several tools. */
  open(native: unknown, at: string): OpenedTool[]
  /** A JSON Schema in the provider's dialect; what it cannot say goes to `note`. */
  project(schema: Json, note: Note, native: OpenedTool | null): Json
  write(draft: ToolDraft, note: Note): Json
  /** The list an API request carries. */
  wrap(tools: readonly Json[]): Json[]
  readCall(native: unknown, at?: string): ToolCall
  toolResult(call: ToolCall, outcome: ToolOutcome): Json
}

/** Takes one thing that was lost and, where it has one, the place in the schema. */
export type Note = (message: string, place?: string) => void

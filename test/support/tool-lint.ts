/** Linter for tool definitions, stricter than any MCP client: definitions that pass work in all of them. */
type Tool = {
  name: string
  description?: string | undefined
  inputSchema: unknown
  outputSchema?: unknown
  annotations?: Readonly<Record<string, unknown>> | undefined
}

/** The keywords that all known clients accept, by type. Some client rejects every other keyword. */
const KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  any: ['type', 'description', 'enum', 'default', 'examples'],
  mixed: ['anyOf'],
  null: [],
  object: ['properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties'],
  array: ['items', 'minItems', 'maxItems', 'uniqueItems'],
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  boolean: [],
}
const ANNOTATIONS = {
  title: 'string',
  readOnlyHint: 'boolean',
  destructiveHint: 'boolean',
  idempotentHint: 'boolean',
  openWorldHint: 'boolean',
}
const MAX_DEPTH = 8
/** Invisible characters: controls, bidi overrides, zero-width characters, tags. */
const HIDDEN = /[\p{Cc}\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e0fff}]/u

/** Lints a tool. Returns one sentence per fault. */
export function lintTool(tool: Tool): string[] {
  const { name, description, inputSchema, outputSchema, annotations = {} } = tool
  const faults: string[] = []
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) faults.push(`name ${JSON.stringify(name)} is not portable`)
  if (!description?.trim()) faults.push('description is missing')
  if ((description?.length ?? 0) > 1024) faults.push('description is longer than 1024 characters')
  if (HIDDEN.test((description ?? '').replaceAll('\n', ' ')))
    faults.push('description holds hidden characters')
  if (HIDDEN.test(String(annotations['title']))) faults.push('title holds hidden characters')
  for (const [hint, type] of Object.entries(ANNOTATIONS)) {
    // The hints for writes have no meaning for read-only tools.
    if (annotations['readOnlyHint'] === true && /^(destructive|idempotent)/.test(hint)) continue
    if (typeof annotations[hint] !== type) faults.push(`annotation ${hint} is missing`)
  }
  faults.push(...lintSchema(inputSchema, 'inputSchema'))
  if (outputSchema !== undefined) faults.push(...lintSchema(outputSchema, 'outputSchema'))
  return faults
}

/** Lints a list: each tool, and conflicts between tools. */
export function lintTools(tools: readonly Tool[]): string[] {
  const folded = tools.map(({ name }) => name.toLowerCase().replaceAll('-', '_'))
  // Some clients normalize both to the same name.
  const twins = tools.filter((_, i) => folded.indexOf(folded[i] ?? '') !== i).map(({ name }) => name)
  return [
    ...tools.flatMap((tool) => lintTool(tool).map((fault) => `${tool.name}: ${fault}`)),
    ...twins.map((name) => `${name} differs from another name only in case or hyphens`),
    ...(tools.length > 128 ? [`${tools.length} tools are more than providers take`] : []),
  ]
}

/** Lints the root schema of a tool. */
export function lintSchema(schema: unknown, at: string): string[] {
  const faults = isObject(schema) && schema['type'] === 'object' ? [] : [`${at}: the root is not type object`]
  if (isObject(schema) && !isObject(schema['properties'])) faults.push(`${at}: the root has no properties`)
  return [...faults, ...lintNode(schema, at, 0)]
}

function lintNode(schema: unknown, at: string, depth: number): string[] {
  if (!isObject(schema)) return [`${at}: a schema must be an object, not ${JSON.stringify(schema)}`]
  if (depth > MAX_DEPTH) return [`${at}: deeper than ${MAX_DEPTH} levels`]
  const { type, description, items, anyOf } = schema
  const faults = lintKeywords(schema, at)
  if (Array.isArray(type)) faults.push(`${at}: type is a list`)
  else if (type !== undefined && !(String(type) in KEYWORDS)) faults.push(`${at}: type ${String(type)}`)
  // Without a type, Gemini refuses properties. Only words say what is taken.
  if (type === undefined && !anyOf && !description) faults.push(`${at}: has no type and no words`)
  if (anyOf !== undefined) faults.push(...lintBranches(anyOf, at))
  if (type === 'array' && items === undefined) faults.push(`${at}: an array without items`)
  if (description !== undefined && (typeof description !== 'string' || HIDDEN.test(description))) {
    faults.push(`${at}: description is no text, or hides characters`)
  }
  faults.push(...lintValues(schema, at), ...lintSamples(schema, at), ...lintRules(schema, at))
  faults.push(...lintNames(schema, at))
  for (const [name, part] of Object.entries(isObject(schema['properties']) ? schema['properties'] : {})) {
    faults.push(...lintNode(part, `${at}.properties.${name}`, depth + 1))
  }
  if (items !== undefined) faults.push(...lintNode(items, `${at}.items`, depth + 1))
  const rest = schema['additionalProperties']
  if (rest !== undefined && typeof rest !== 'boolean') {
    faults.push(...lintNode(rest, `${at}.additionalProperties`, depth + 1))
  }
  return faults
}

/** Some clients keep only the object of an `anyOf`, so each branch is another scalar. */
function lintBranches(anyOf: unknown, at: string): string[] {
  const branches: unknown[] = Array.isArray(anyOf) ? anyOf : []
  const types = branches.map((each) => (isObject(each) ? each['type'] : undefined))
  const isScalar = (type: unknown) =>
    ['string', 'number', 'integer', 'boolean', 'null'].includes(String(type))
  return [
    ...(types.length > 1 && new Set(types).size === types.length && types.every(isScalar)
      ? []
      : [`${at}: anyOf is not of several scalar types`]),
    ...branches.flatMap((each, n) => lintNode(each, `${at}.anyOf[${n}]`, MAX_DEPTH)),
  ]
}

/** Some clients reject keywords of another type. */
function lintKeywords(schema: Record<string, unknown>, at: string): string[] {
  const { type } = schema
  const own = KEYWORDS[typeof type === 'string' ? type : 'mixed'] ?? []
  const taken = [...(KEYWORDS['any'] ?? []), ...own]
  return Object.keys(schema)
    .filter((keyword) => !taken.includes(keyword))
    .map((keyword) => `${at}: has ${keyword}${typeof type === 'string' ? ` beside type ${type}` : ''}`)
}

function lintValues({ enum: values, type }: Record<string, unknown>, at: string): string[] {
  if (values === undefined) return []
  if (!Array.isArray(values) || values.length === 0) return [`${at}: enum is empty`]
  // Gemini refuses all tools for one empty or other value.
  const isPlain = (value: unknown) => typeof value === 'string' && value !== '' && isShown(value)
  const faults = values.every(isPlain) ? [] : [`${at}: enum holds more than strings that are not empty`]
  if (new Set(values).size !== values.length) faults.push(`${at}: enum repeats itself`)
  if (!values.every((value) => fits(value, type)))
    faults.push(`${at}: enum does not fit type ${String(type)}`)
  return faults
}

function lintSamples(schema: Record<string, unknown>, at: string): string[] {
  const { examples = [], type, anyOf } = schema
  const types = Array.isArray(anyOf) ? anyOf.map((each: { type?: unknown }) => each.type) : [type]
  if (!Array.isArray(examples)) return [`${at}: examples is no list`]
  const samples = 'default' in schema ? [schema['default'], ...examples] : examples
  return samples
    .filter((sample) => ![sample].flat().every(isShown) || !types.some((each) => fits(sample, each)))
    .map(
      (sample) => `${at}: the sample ${JSON.stringify(sample)} is not plain, or not of type ${String(type)}`,
    )
}

/** Checks keywords that clients compile before the first call. */
function lintRules(schema: Record<string, unknown>, at: string): string[] {
  const faults = []
  const { pattern, format } = schema
  if (pattern !== undefined && !isPattern(pattern)) faults.push(`${at}: pattern ${String(pattern)}`)
  if (format !== undefined && typeof format !== 'string') faults.push(`${at}: format is no text`)
  for (const [keyword, value] of Object.entries(schema))
    if (/^(min|max|exclusive|multiple)/.test(keyword) && !Number.isFinite(value))
      faults.push(`${at}: ${keyword} is no number`)
  return faults
}

/** Whether a scalar has no invisible characters. */
const isShown = (value: unknown): boolean =>
  typeof value === 'string' ? !HIDDEN.test(value) : ['number', 'boolean'].includes(typeof value)

function fits(value: unknown, type: unknown): boolean {
  if (type === 'array') return Array.isArray(value)
  return type === 'integer' ? Number.isInteger(value) : typeof value === type
}

function isPattern(pattern: unknown): boolean {
  try {
    return typeof pattern === 'string' && new RegExp(pattern, 'u') !== undefined
  } catch {
    return false
  }
}

function lintNames(schema: Record<string, unknown>, at: string): string[] {
  const names = Object.keys(isObject(schema['properties']) ? schema['properties'] : {})
  const required: unknown[] = Array.isArray(schema['required']) ? schema['required'] : []
  return [
    ...(new Set(required).size === required.length ? [] : [`${at}: required repeats itself`]),
    ...names
      .filter((name) => !/^[A-Za-z0-9_.-]{1,64}$/.test(name))
      .map((name) => `${at}: property name ${JSON.stringify(name)} is not portable`),
    ...required
      .filter((name) => !names.includes(name as string))
      .map((name) => `${at}: requires ${JSON.stringify(name)}, which is no property`),
  ]
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

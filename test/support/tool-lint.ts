/** A stricter linter of tool definitions than any client's: what passes here is taken by all of them. */
type Tool = {
  name: string
  description?: string | undefined
  inputSchema: unknown
  outputSchema?: unknown
  annotations?: Readonly<Record<string, unknown>> | undefined
}

const BANNED = [
  ...[
    '$ref',
    '$dynamicRef',
    '$defs',
    'definitions',
    '$schema',
    '$id',
    '$anchor',
    '$dynamicAnchor',
    '$comment',
  ],
  ...['oneOf', 'anyOf', 'allOf', 'not', 'if', 'then', 'else', 'const', 'prefixItems', 'additionalItems'],
  ...['patternProperties', 'propertyNames', 'dependentSchemas', 'dependentRequired', 'dependencies'],
  ...['unevaluatedProperties', 'unevaluatedItems', 'contains', 'nullable'],
]
const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean']
const ANNOTATIONS = {
  title: 'string',
  readOnlyHint: 'boolean',
  destructiveHint: 'boolean',
  idempotentHint: 'boolean',
  openWorldHint: 'boolean',
}
const MAX_DEPTH = 8
/** What a reader does not see: controls, bidi overrides, zero-width characters, tags. */
const HIDDEN = /[\p{Cc}\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e0fff}]/u

/** What is wrong with a tool, one sentence each; empty where nothing is. */
export function lintTool(tool: Tool): string[] {
  const { name, description, inputSchema, outputSchema, annotations = {} } = tool
  const faults: string[] = []
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) faults.push(`name ${JSON.stringify(name)} is not portable`)
  if (!description?.trim()) faults.push('description is missing')
  if ((description?.length ?? 0) > 1024) faults.push('description is longer than 1024 characters')
  if (HIDDEN.test((description ?? '').replaceAll('\n', ' ')))
    faults.push('description holds hidden characters')
  for (const [hint, type] of Object.entries(ANNOTATIONS)) {
    if (typeof annotations[hint] !== type) faults.push(`annotation ${hint} is missing`)
  }
  faults.push(...lintSchema(inputSchema, 'inputSchema'))
  if (outputSchema !== undefined) faults.push(...lintSchema(outputSchema, 'outputSchema'))
  return faults
}

/** What is wrong with one root schema. */
export function lintSchema(schema: unknown, at: string): string[] {
  const faults = isObject(schema) && schema['type'] === 'object' ? [] : [`${at}: the root is not type object`]
  if (isObject(schema) && !isObject(schema['properties'])) faults.push(`${at}: the root has no properties`)
  return [...faults, ...lintNode(schema, at, 0)]
}

function lintNode(schema: unknown, at: string, depth: number): string[] {
  if (!isObject(schema)) return [`${at}: a schema must be an object, not ${JSON.stringify(schema)}`]
  if (depth > MAX_DEPTH) return [`${at}: deeper than ${MAX_DEPTH} levels`]
  const faults = BANNED.filter((keyword) => Object.hasOwn(schema, keyword)).map(
    (keyword) => `${at}: has ${keyword}`,
  )
  const { type, description, items } = schema
  if (Array.isArray(type)) faults.push(`${at}: type is a list`)
  else if (type !== undefined && !TYPES.includes(type as string)) faults.push(`${at}: type ${String(type)}`)
  // An any-value has no type; this keyword then says so to clients that refuse a schema without a rule.
  if (type === undefined && !('enum' in schema) && !('additionalProperties' in schema)) {
    faults.push(`${at}: has neither type, enum nor additionalProperties`)
  }
  if (type === 'array' && items === undefined) faults.push(`${at}: an array without items`)
  if (description !== undefined && (typeof description !== 'string' || HIDDEN.test(description))) {
    faults.push(`${at}: description is no text, or hides characters`)
  }
  faults.push(...lintValues(schema['enum'], at), ...lintNames(schema, at))
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

function lintValues(values: unknown, at: string): string[] {
  if (values === undefined) return []
  if (!Array.isArray(values) || values.length === 0) return [`${at}: enum is empty`]
  const scalar = values.every((value) => ['string', 'number', 'boolean'].includes(typeof value))
  return scalar ? [] : [`${at}: enum holds more than scalars`]
}

function lintNames(schema: Record<string, unknown>, at: string): string[] {
  const names = Object.keys(isObject(schema['properties']) ? schema['properties'] : {})
  const required: unknown[] = Array.isArray(schema['required']) ? schema['required'] : []
  return [
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

import { own } from '../../../foundation/own.ts'

/** Shapes of keyword values without subschemas. */
export type PlainShape =
  | 'string'
  | 'number'
  | 'boolean'
  | 'array'
  | 'positive'
  | 'count'
  | 'flags'
  | 'name'
  | 'id'

/** Shape of a keyword's value, as the meta-schema defines it. */
export type Shape =
  | 'schema'
  | 'schemas'
  | 'schema-map'
  | 'schema-or-schemas'
  | 'dependencies'
  | 'strings'
  | 'strings-map'
  | 'types'
  | 'pattern'
  | 'format'
  | 'reference'
  | 'dialect'
  | 'any'
  | PlainShape

type Keywords = Readonly<Record<string, Shape>>

// Keywords with the same shape in both dialects.
const SHARED = {
  $ref: 'reference',
  type: 'types',
  enum: 'array',
  const: 'any',
  multipleOf: 'positive',
  maximum: 'number',
  exclusiveMaximum: 'number',
  minimum: 'number',
  exclusiveMinimum: 'number',
  maxLength: 'count',
  minLength: 'count',
  pattern: 'pattern',
  format: 'format',
  maxItems: 'count',
  minItems: 'count',
  uniqueItems: 'boolean',
  maxProperties: 'count',
  minProperties: 'count',
  required: 'strings',
  properties: 'schema-map',
  patternProperties: 'schema-map',
  additionalProperties: 'schema',
  propertyNames: 'schema',
  dependencies: 'dependencies',
  contains: 'schema',
  allOf: 'schemas',
  anyOf: 'schemas',
  oneOf: 'schemas',
  not: 'schema',
  if: 'schema',
  // biome-ignore lint/suspicious/noThenProperty: it is the keyword's name, and nothing awaits this.
  then: 'schema',
  else: 'schema',
} as const satisfies Keywords

/** Assertion and applicator keywords per dialect. */
export const ASSERTIONS = {
  '2020-12': {
    ...SHARED,
    $dynamicRef: 'reference',
    items: 'schema',
    prefixItems: 'schemas',
    unevaluatedItems: 'schema',
    unevaluatedProperties: 'schema',
    dependentSchemas: 'schema-map',
    dependentRequired: 'strings-map',
    minContains: 'count',
    maxContains: 'count',
  },
  'draft-07': { ...SHARED, items: 'schema-or-schemas', additionalItems: 'schema' },
} as const satisfies Record<string, Keywords>

export type Dialect = keyof typeof ASSERTIONS

const SHARED_NOTES = {
  $schema: 'dialect',
  $comment: 'string',
  title: 'string',
  description: 'string',
  default: 'any',
  examples: 'array',
  readOnly: 'boolean',
  writeOnly: 'boolean',
  definitions: 'schema-map',
  contentMediaType: 'string',
  contentEncoding: 'string',
} as const satisfies Keywords

/** Annotation keywords per dialect: validated for shape only. */
export const NOTES: Record<Dialect, Keywords> = {
  '2020-12': {
    ...SHARED_NOTES,
    $id: 'id',
    $defs: 'schema-map',
    $anchor: 'name',
    $dynamicAnchor: 'name',
    $recursiveAnchor: 'name',
    $recursiveRef: 'string',
    $vocabulary: 'flags',
    contentSchema: 'schema',
    deprecated: 'boolean',
  },
  'draft-07': { ...SHARED_NOTES, $id: 'string' },
}

const URIS: Readonly<Record<string, Dialect>> = {
  'https://json-schema.org/draft/2020-12/schema': '2020-12',
  'http://json-schema.org/draft-07/schema': 'draft-07',
}

/** Accepted values of `$schema`. */
export const DIALECT_URIS = Object.keys(URIS)

/** The dialect of a `$schema` URI; an empty fragment is ignored. */
export function dialectOf(uri: string): Dialect | undefined {
  const bare = uri.replace(/#$/, '')
  return own(URIS, bare)
}

export const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'] as const

/** Type names of other languages, for error hints. */
export const TYPE_SYNONYMS: Readonly<Record<string, (typeof TYPES)[number]>> = {
  int: 'integer',
  long: 'integer',
  float: 'number',
  double: 'number',
  decimal: 'number',
  bool: 'boolean',
  str: 'string',
  text: 'string',
  date: 'string',
  datetime: 'string',
  list: 'array',
  dict: 'object',
  map: 'object',
  none: 'null',
}

/** Valid schemas that clients fail on when they are published unchanged. */
export const NASTY_SCHEMAS: Record<string, object> = {
  choice: {
    type: 'object',
    oneOf: [{ properties: { a: { const: 1 } }, required: ['a'] }, { properties: { b: {} } }],
  },
  recursive: {
    type: 'object',
    $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' }, v: true } } },
    properties: { root: { $ref: '#/$defs/node' } },
  },
  names: {
    type: 'object',
    properties: {
      'größe in cm': { type: 'number' },
      'a/b': { type: 'string' },
      'a~b': {},
      '': {},
      'a b': {},
      a_b: {},
    },
    required: ['größe in cm'],
  },
  objects: {
    type: 'object',
    properties: { toString: { type: 'string' }, constructor: {}, hasOwnProperty: { type: 'integer' } },
  },
  unions: {
    type: 'object',
    properties: {
      x: { type: ['string', 'null', 'integer'] },
      y: { anyOf: [{ type: 'array' }, { enum: [1, null] }] },
    },
  },
  tuple: {
    type: 'object',
    properties: {
      t: { type: 'array', prefixItems: [{ type: 'string' }, {}], items: false },
      l: { type: 'array' },
    },
  },
  conditional: {
    type: 'object',
    if: { required: ['a'] },
    // biome-ignore lint/suspicious/noThenProperty: the keyword's name.
    then: { required: ['b'] },
    dependentRequired: { c: ['d'] },
    not: { required: ['z'] },
  },
  patterns: {
    type: 'object',
    patternProperties: { '^x-': { type: 'string' } },
    propertyNames: { maxLength: 20 },
    additionalProperties: { type: 'number' },
  },
  draft7: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    definitions: { s: { type: 'string' } },
    properties: { a: { $ref: '#/definitions/s' } },
  },
  hidden: {
    type: 'object',
    description: 'Be\u202egood\u0007',
    properties: { a: { type: 'string', description: 'x\u200by\u{e0041}' } },
  },
  deep: Array.from({ length: 20 }).reduce<object>(
    (inner) => ({ type: 'object', properties: { in: inner } }),
    { type: 'object' },
  ),
  reserved: {
    type: 'object',
    properties: {
      id: {},
      _id: {},
      external_id: { type: 'integer' },
      idempotency_key: {},
      dry_run: { type: 'string' },
      expected_version: {},
    },
  },
  empty: {},
  never: { type: 'object', properties: { a: false, b: true }, required: ['b'] },
  enums: {
    type: 'object',
    properties: {
      blank: { enum: [''] },
      mixed: { enum: [1, 'two', true] },
      level: { type: 'integer', enum: [1, 2] },
      choice: { type: ['string', 'null'], enum: ['a', null] },
      amount: { type: 'number' },
      due: { type: 'string', format: 'date' },
    },
  },
  mixed: {
    type: 'object',
    properties: {
      any: {},
      scalar: { type: ['string', 'integer', 'null'] },
      either: { oneOf: [{ type: 'string' }, { type: 'number' }] },
      nested: { type: ['object', 'integer'] },
    },
  },
  kanji: { type: 'object', properties: { 名前: { type: 'string' }, 金額: { type: 'number' } } },
}

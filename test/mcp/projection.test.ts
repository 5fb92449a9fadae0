import { describe, expect, test } from 'vitest'
import { projectSchema, restoreNames } from '../../src/schema-shape/portable-schema.ts'
import { type PortableSchema, TAKES } from '../../src/schema-shape/publish.ts'
import { publishPointer } from '../../src/schema-shape/rename-properties.ts'
import { lintSchema } from '../support/tool-lint.ts'

/** The projection of one property of an object. */
function property(schema: unknown, defs: Record<string, unknown> = {}): PortableSchema | undefined {
  const projection = projectSchema({ type: 'object', properties: { it: schema }, $defs: defs })
  expect(lintSchema(projection.schema, 'schema')).toEqual([])
  return projection.schema.properties?.['it']
}

describe('a published property', () => {
  const any: PortableSchema = { description: 'Any JSON value.', [TAKES]: ['object', 'array'] }
  const person: PortableSchema = {
    type: 'object',
    properties: { name: { type: 'string' } },
    required: ['name'],
  }

  test.each<[string, unknown, PortableSchema]>([
    [
      'keeps its limits',
      { type: 'string', minLength: 1, maxLength: 9 },
      { type: 'string', minLength: 1, maxLength: 9 },
    ],
    [
      'lists only values of its type',
      { type: 'integer', enum: [1, 2.5, 'a'] },
      { type: 'integer', description: 'One of: 1.' },
    ],
    [
      'lists only what both of its rules admit',
      { allOf: [{ type: 'integer' }, { enum: [1, 2.5] }] },
      { type: 'integer', description: 'One of: 1.' },
    ],
    [
      'tells its format',
      { type: 'string', format: 'date' },
      { type: 'string', format: 'date', description: 'A date (YYYY-MM-DD).' },
    ],
    [
      'has the types of a scalar that may be null',
      { type: ['integer', 'null'], minimum: 1 },
      { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }] },
    ],
    [
      'leaves to the words that an array may be null',
      { type: ['array', 'null'], items: { type: 'string' } },
      { type: 'array', items: { type: 'string' }, description: 'May be null.' },
    ],
    ['takes anything where true stands', true, any],
    ['takes anything where nothing stands', {}, any],
    [
      'has each of its scalar types, with its limits',
      { type: ['string', 'number', 'boolean', 'null'], maxLength: 3, maximum: 9, default: 1 },
      {
        anyOf: [
          { type: 'string', maxLength: 3 },
          { type: 'number', maximum: 9 },
          { type: 'boolean' },
          { type: 'null' },
        ],
        default: 1,
      },
    ],
    [
      'has no type where an object may stand beside a scalar',
      { type: ['object', 'integer'] },
      { description: 'An integer or an object.', [TAKES]: ['object'] },
    ],
    [
      'has no type, and no properties, where an object or an array may stand',
      { type: ['object', 'array'], properties: { a: { type: 'string' } } },
      { description: 'An array or an object with a.', [TAKES]: ['object', 'array'] },
    ],
    [
      'has no properties where a string may stand',
      { oneOf: [{ type: 'string' }, { type: 'object', properties: { a: {} }, required: ['a'] }] },
      { description: 'One of: a string; or an object with a.', [TAKES]: ['object'] },
    ],
    [
      'says an enum with an empty string',
      { enum: ['', 'a'] },
      { type: 'string', description: 'One of: "" | "a".' },
    ],
    ['says an enum of booleans', { enum: [true] }, { type: 'boolean', description: 'One of: true.' }],
    ['has items where they were left out', { type: 'array' }, { type: 'array', items: any }],
    ['lists a constant', { const: 'x' }, { type: 'string', enum: ['x'] }],
    [
      'says values of several kinds',
      { enum: [1, 'a', null] },
      {
        anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }],
        description: 'One of: 1 | "a" | null.',
      },
    ],
    [
      'lists strings that may be null',
      { enum: ['a', null] },
      { anyOf: [{ type: 'string', enum: ['a'] }, { type: 'null' }] },
    ],
    [
      'says a date among its types',
      { anyOf: [{ type: 'string', format: 'date' }, { type: 'integer' }] },
      {
        anyOf: [{ type: 'string', format: 'date' }, { type: 'integer' }],
        description: 'One of: a date (YYYY-MM-DD); or an integer.',
      },
    ],
    ['joins constants', { oneOf: [{ const: 'a' }, { const: 'b' }] }, { type: 'string', enum: ['a', 'b'] }],
    [
      'takes the branch beside null',
      { anyOf: [{ type: 'null' }, { type: 'number', minimum: 1 }] },
      { anyOf: [{ type: 'number', minimum: 1 }, { type: 'null' }] },
    ],
    [
      'widens branches of one kind',
      {
        anyOf: [
          { type: 'integer', maximum: 5 },
          { type: 'number', maximum: 9 },
        ],
      },
      { type: 'number', maximum: 9 },
    ],
    [
      'merges allOf',
      { allOf: [{ type: 'string' }, { minLength: 2 }, { minLength: 4 }] },
      { type: 'string', minLength: 4 },
    ],
    [
      'follows references',
      { $ref: '#/$defs/person', description: 'Owner' },
      { ...person, description: 'Owner.' },
    ],
    [
      'tells a tuple in order',
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
      {
        type: 'array',
        maxItems: 2,
        description: 'In order: a string, a number.',
        items: { anyOf: [{ type: 'string' }, { type: 'number' }] },
      },
    ],
    [
      'keeps the schema of a map',
      { type: 'object', additionalProperties: { type: 'integer' } },
      { type: 'object', additionalProperties: { type: 'integer' } },
    ],
    [
      'drops a pattern of another engine',
      { type: 'string', pattern: '(?i)^a$' },
      { type: 'string', description: 'Matches (?i)^a$ (RE2).' },
    ],
    [
      'drops values that hide characters',
      { enum: ['a\u202eb'] },
      { type: 'string', description: 'One of: "a b".' },
    ],
    [
      'says that rules are missing',
      { type: 'string', not: { const: 'x' } },
      { type: 'string', description: 'More rules apply than shown.' },
    ],
  ])('%s', (_name, schema, published) => {
    expect(property(schema, { person })).toEqual(published)
  })

  test('has the keys of every branch of oneOf', () => {
    const cat = {
      type: 'object',
      properties: { kind: { const: 'cat' }, lives: { type: 'integer' } },
      required: ['kind'],
    }
    const dog = { type: 'object', properties: { kind: { const: 'dog' } }, required: ['kind'] }
    expect(property({ oneOf: [cat, dog] })).toMatchObject({
      type: 'object',
      description: 'One of: an object with kind = "cat", lives; or an object with kind = "dog".',
      properties: {
        kind: { type: 'string', enum: ['cat', 'dog'] },
        lives: { description: 'Any JSON value. In some cases an integer.' },
      },
      required: ['kind'],
    })
  })

  test('has its description without control characters, cut to 500 characters', () => {
    const hidden = 'see\u0000 \u202ethis\u{e0041}\nnow'
    expect(property({ type: 'string', description: hidden })?.description).toBe('see this now.')
    const long = property({ type: 'string', description: 'word '.repeat(9999) })?.description
    expect(long?.length).toBeLessThanOrEqual(500)
  })

  test('describes a recursion in words', () => {
    const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' } } }
    const cut = { type: 'object', description: 'Holds next.', additionalProperties: true }
    expect(property({ $ref: '#/$defs/node' }, { node })?.properties?.['next']).toEqual({
      ...cut,
      description: undefined,
      additionalProperties: undefined,
      properties: { next: cut },
    })
  })
})

describe('a projected schema', () => {
  test('is open or closed as its type is', () => {
    expect(projectSchema({ type: 'object' })).toMatchObject({
      open: true,
      schema: { additionalProperties: true },
    })
    const closed = { type: 'object', additionalProperties: false }
    expect(projectSchema(closed)).toMatchObject({ open: false, schema: { additionalProperties: false } })
    const unevaluated = { allOf: [{ properties: { a: true } }], unevaluatedProperties: false }
    expect(projectSchema(unevaluated)).toMatchObject({ open: false, properties: new Map([['a', 'a']]) })
  })

  test('has fewer properties than a type of 9,000, with a note and a warning', { tags: 'full' }, () => {
    const properties = Object.fromEntries(
      Array.from({ length: 9000 }, (_, at) => [`property_${at}`, { type: 'string' }]),
    )
    const { schema, open, warnings } = projectSchema({
      properties,
      required: ['property_8999'],
      additionalProperties: false,
    })
    expect(JSON.stringify(schema).length).toBeLessThan(101_000)
    expect(schema.required).toEqual(['property_8999'])
    expect(schema.description).toMatch(/of 9000 properties are not shown/)
    expect(open).toBe(true)
    expect(warnings).not.toEqual([])
  })

  test('terminates for references that multiply, and for infinite references', { tags: 'full' }, () => {
    const doubled = (at: number) => [
      `d${at}`,
      { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
    ]
    const $defs = Object.fromEntries(Array.from({ length: 60 }, (_, at) => doubled(at)))
    expect(projectSchema({ $ref: '#/$defs/d0', $defs }).schema.type).toBe('object')
    const chain = Array.from({ length: 5000 }, (_, at) => [`d${at}`, { $ref: `#/$defs/d${at + 1}` }])
    expect(projectSchema({ $ref: '#/$defs/d0', $defs: Object.fromEntries(chain) }).schema.type).toBe('object')
    expect(projectSchema({ $ref: '#' }).schema).toMatchObject({ type: 'object', properties: {} })
  })

  test('follows anchors, and resolves references inside an embedded resource against it', () => {
    const inner = {
      $id: 'https://a.example/b',
      $defs: { word: { type: 'string' } },
      properties: { w: { $ref: '#/$defs/word' } },
    }
    const { schema } = projectSchema({
      properties: { inner, anchored: { $ref: '#here' } },
      $defs: { word: { type: 'number' }, x: { $anchor: 'here', type: 'boolean' } },
    })
    expect(schema.properties).toMatchObject({
      inner: { properties: { w: { type: 'string' } } },
      anchored: { type: 'boolean' },
    })
  })

  test('of a draft-07 schema ignores the keywords beside a $ref', () => {
    const { schema } = projectSchema({
      $schema: 'http://json-schema.org/draft-07/schema#',
      properties: {
        a: { $ref: '#/definitions/word', maxLength: 1 },
        b: { type: 'array', items: [{ type: 'string' }], additionalItems: false },
      },
      definitions: { word: { type: 'string' } },
    })
    expect(schema.properties).toEqual({
      a: { type: 'string' },
      b: { type: 'array', maxItems: 1, description: 'In order: a string.', items: { type: 'string' } },
    })
  })
})

describe('a published property name', () => {
  const type = {
    type: 'object',
    properties: {
      'first name': { type: 'string' },
      constructor: { type: 'string' },
      äöü: { type: 'array', items: { type: 'object', properties: { 'a/b': { type: 'number' } } } },
      first_name: { type: 'string' },
      ['n'.repeat(80)]: { type: 'string' },
    },
  }

  test('is portable and maps to the original name', () => {
    const { properties } = projectSchema(type)
    expect([...properties.values()]).toEqual(Object.keys(type.properties))
    expect([...properties.keys()]).toEqual([
      expect.stringMatching(/^first_name_[0-9a-f]{8}$/),
      expect.stringMatching(/^constructor_[0-9a-f]{8}$/),
      '___',
      'first_name',
      expect.stringMatching(/^n{55}_[0-9a-f]{8}$/),
    ])
  })

  test('is restored at every level; unknown names and original names are kept', () => {
    const projection = projectSchema(type)
    expect(restoreNames({ ___: [{ a_b: 1, c: 2 }], other: 3 }, projection)).toEqual({
      äöü: [{ 'a/b': 1, c: 2 }],
      other: 3,
    })
    expect(restoreNames({ äöü: [{ a_b: 1 }] }, projection)).toEqual({ äöü: [{ 'a/b': 1 }] })
  })

  test('is refused together with the original name of the same property', () => {
    expect(() => restoreNames({ ___: [], äöü: [] }, projectSchema(type))).toThrow(
      expect.objectContaining({ code: 'VALIDATION_ERROR' }),
    )
  })

  test('is used in the paths of errors', () => {
    const { names } = projectSchema(type)
    expect(publishPointer('/äöü/0/a~1b', names)).toBe('/___/0/a_b')
    expect(publishPointer('/other/0', names)).toBe('/other/0')
    expect(publishPointer('', names)).toBe('')
  })
})

import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Allowance, compileSchema } from '../../src/engine/schema/json-schema/compile.ts'
import { stepsUsed } from '../../src/engine/schema/json-schema/evaluation-cost.ts'
import { fieldExists } from '../../src/engine/schema/json-schema/fields.ts'
import { FORMATS } from '../../src/engine/schema/json-schema/formats.ts'
import { type Detail, DomainError, invalid } from '../../src/foundation/errors.ts'
import { cases } from '../support/cases.ts'

const DRAFT_07 = 'http://json-schema.org/draft-07/schema#'

/** The faults of a schema; empty when it compiles. */
function refusals(schema: unknown): readonly Detail[] {
  try {
    compileSchema(schema, '/json_schema')
  } catch (error) {
    if (error instanceof DomainError && error.code === 'VALIDATION_ERROR') return error.details
    throw error
  }
  return []
}

const refused = (schema: unknown) => refusals(schema).map(({ path, code }) => `${code} ${path}`)
const faults = (schema: unknown, data: unknown) =>
  compileSchema(schema, '/json_schema').validate(data, '/data')
const failed = (schema: unknown, data: unknown) =>
  faults(schema, data).map(({ path, code }) => `${code} ${path}`)
/** The faults of a value, by a schema for a value of any type. */
const wrong = (schema: unknown, value: unknown) => failed({ properties: { v: schema } }, { v: value })
/** The warning about a schema; undefined without one. */
const warned = (schema: unknown) => compileSchema(schema, '/json_schema').warnings[0]
const many = <T>(count: number, make: (i: number) => T) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, make(i)]))

describe('compileSchema checks a schema against its meta-schema', () => {
  test.each([
    [{ type: 'object', properties: { a: { type: 'strng' } } }, 'enum /json_schema/properties/a/type'],
    [{ properties: { a: { type: ['string', 'nil'] } } }, 'enum /json_schema/properties/a/type/1'],
    [{ required: 'a' }, 'type /json_schema/required'],
    [{ required: ['a', 'a'] }, 'unique_items /json_schema/required/1'],
    [{ properties: { a: { minimum: '3' } } }, 'type /json_schema/properties/a/minimum'],
    [{ properties: { a: { multipleOf: 0 } } }, 'range /json_schema/properties/a/multipleOf'],
    [{ properties: { a: { minLength: -1 } } }, 'range /json_schema/properties/a/minLength'],
    [{ properties: { l: { type: 'array', items: [{}] } } }, 'type /json_schema/properties/l/items'],
    [{ properties: { 'a/b': { enum: 'x' } } }, 'type /json_schema/properties/a~1b/enum'],
    [{ properties: [] }, 'type /json_schema/properties'],
    [{ allOf: [] }, 'min_items /json_schema/allOf'],
    [{ anyOf: [{}, 3] }, 'type /json_schema/anyOf/1'],
    [{ $defs: { a: { not: null } } }, 'type /json_schema/$defs/a/not'],
    [{ type: 'object', pattern: 3 }, 'type /json_schema/pattern'],
    [{ title: 3 }, 'type /json_schema/title'],
    [{ $anchor: '1a' }, 'range /json_schema/$anchor'],
    [{ type: 'array' }, 'enum /json_schema/type'],
    [{ type: ['object'] }, 'enum /json_schema/type'],
    ['{}', 'type /json_schema'],
    [[], 'type /json_schema'],
    [true, 'type /json_schema'],
    [{ properties: { a: { const: '\u0000' } } }, 'invalid_string /json_schema/properties/a/const'],
  ])('%j is refused', (schema, expected) => expect(refused(schema)).toEqual([expected]))

  test('a misspelt type or reference has the correct one as hint', () => {
    const hint = (schema: unknown) => refusals({ properties: { a: schema } })[0]?.hint
    expect(hint({ type: 'strng' })).toBe('string')
    expect(hint({ type: 'int' })).toBe('integer')
    expect(hint({ type: 'OBJECT' })).toBe('object')
    expect(refusals({ $defs: { user: {} }, properties: { a: { $ref: '#/$defs/usr' } } })[0]?.hint).toBe(
      '#/$defs/user',
    )
  })

  test('at most twenty faults are reported', () => {
    expect(refused({ required: 1, properties: { a: { type: 'x' }, b: { maximum: null } } })).toHaveLength(3)
    expect(refused({ properties: many(50, () => 1) })).toHaveLength(20)
  })

  test('an unknown keyword is an annotation', () => {
    const schema = {
      'x-label': 1,
      nullable: true,
      id: 'a',
      $async: true,
      discriminator: 1,
      cost: 1,
      formatMinimum: 2,
    }
    expect(refused({ ...schema, properties: { a: { ...schema, type: 'string' } } })).toEqual([])
    expect(failed({ properties: { a: { type: 'string', nullable: true } } }, { a: null })).toEqual([
      'type /data/a',
    ])
    const data = { const: { $data: '1/b' } }
    expect(wrong(data, { $data: '1/b' })).toEqual([])
  })

  test('the schema {} accepts objects of any content and nothing else', () => {
    expect(failed({}, { a: [1] })).toEqual([])
    expect(failed({}, [1])).toEqual(['type /data'])
  })

  test('the dialect is 2020-12, or draft-07 with that $schema', () => {
    const tuple = { properties: { a: { items: [{ type: 'string' }], additionalItems: { type: 'null' } } } }
    expect(refused(tuple)).toEqual(['type /json_schema/properties/a/items'])
    for (const $schema of [DRAFT_07, DRAFT_07.slice(0, -1)]) {
      expect(failed({ ...tuple, $schema }, { a: ['x', null] })).toEqual([])
      expect(failed({ ...tuple, $schema }, { a: [1, 'x'] })).toEqual(['type /data/a/0', 'type /data/a/1'])
    }
    expect(refused({ $schema: 'https://json-schema.org/draft/2020-12/schema' })).toEqual([])
    const [fault] = refusals({ $schema: 'http://json-schema.org/draft-04/schema#' })
    expect(fault).toMatchObject({ path: '/json_schema/$schema', code: 'enum' })
    expect(fault?.allowed).toHaveLength(2)
  })

  test('a schema of more than 256 KiB is refused', () => {
    expect(refused({ description: 'x'.repeat(270_000) })).toEqual(['too_large /json_schema'])
  })

  test('a schema is refused exactly when Ajv refuses it', { tags: ['full', 'sampled'] }, () => {
    const scalar = fc.constantFrom<unknown>(
      null,
      true,
      0,
      1.5,
      -1,
      'a',
      'string',
      'object',
      [],
      ['a'],
      ['a', 'a'],
      {},
      [{}],
    )
    const keywords =
      'type enum const multipleOf maximum exclusiveMaximum maxLength minLength maxItems uniqueItems minProperties required properties additionalProperties propertyNames dependencies contains allOf anyOf oneOf not if then else items title description default examples readOnly definitions contentEncoding contentSchema deprecated $comment prefixItems additionalItems unevaluatedItems unevaluatedProperties dependentSchemas dependentRequired minContains $defs $anchor $vocabulary other'
    const { schema } = fc.letrec((tie) => ({
      schema: fc.dictionary(fc.constantFrom(...keywords.split(' ')), tie('value'), { maxKeys: 3 }),
      value: fc.oneof(
        { depthSize: 'small' },
        scalar,
        tie('schema'),
        fc.dictionary(fc.constantFrom('a', 'b'), tie('schema')),
        fc.array(tie('schema'), { maxLength: 2 }),
      ),
    }))
    const modern = new Ajv2020({ strict: false, validateFormats: false, logger: false })
    const draft07 = new Ajv({ strict: false, validateFormats: false, logger: false })
    const check = (schema: object, ajv: Ajv | Ajv2020, dialect?: string) => {
      const { type: _type, ...rest } = schema as Record<string, unknown>
      const root = { ...rest, ...(dialect && { $schema: dialect }) }
      // Ajv is stricter than draft-07 about "enum".
      if (dialect && JSON.stringify(root).includes('"enum"')) return
      expect(refused(root).length === 0, JSON.stringify(root)).toBe(ajv.validateSchema(root))
    }
    fc.assert(
      fc.property(schema as fc.Arbitrary<object>, (schema) => check(schema, modern)),
      { numRuns: cases(1000) },
    )
    fc.assert(
      fc.property(schema as fc.Arbitrary<object>, (schema) => check(schema, draft07, DRAFT_07)),
      { numRuns: cases(1000) },
    )
  })
})

describe('references of a schema', () => {
  test.each([
    'http://example.com/a',
    'a.json',
    '/etc/passwd',
    'file:///etc/passwd',
    DRAFT_07,
    'x#/$defs/a',
    '',
  ])('%j is refused as a remote reference', ($ref) =>
    expect(refused({ properties: { a: { $ref } } })).toEqual(['remote_ref /json_schema/properties/a/$ref']),
  )

  test.each(['#/$defs/b', '#nowhere', '#/$defs/a/type', '#/constructor', '#/%zz'])(
    '%s is refused as unresolved',
    ($ref) =>
      expect(refused({ $defs: { a: { type: 'string' } }, properties: { a: { $ref } } })).toEqual([
        'unresolved_ref /json_schema/properties/a/$ref',
      ]),
  )

  test.each(['#/$defs/a~1b%20c', '#word', '#/x-parts/0', '#/properties/other'])('%s is resolved', ($ref) => {
    const string = { type: 'string' }
    const $defs = { 'a/b c': string, named: { ...string, $anchor: 'word' } }
    const schema = { $defs, 'x-parts': [string], properties: { a: { $ref }, other: string } }
    expect(failed(schema, { a: 1 })).toEqual(['type /data/a'])
    expect(failed(schema, { a: 'x' })).toEqual([])
  })

  test('beside a $ref, draft-07 ignores all else, and 2020-12 nothing', () => {
    const word = { type: 'string' }
    const a = { $ref: '#/definitions/word', type: 'integer', maxLength: 1, enum: ['x'] }
    const schema = { definitions: { word }, properties: { a } }
    const draft07 = { ...schema, $schema: DRAFT_07 }
    expect(failed(draft07, { a: 'long' })).toEqual([])
    expect(failed(draft07, { a: 1 })).toEqual(['type /data/a'])
    expect(failed(schema, { a: 'long' })).not.toEqual([])
    // What is ignored is checked against the meta-schema all the same.
    expect(refused({ ...draft07, properties: { a: { ...a, type: 'strng' } } })).toEqual([
      'enum /json_schema/properties/a/type',
    ])
  })

  test('a subschema outside the keywords is checked against the meta-schema when it is referenced', () => {
    const schema = { 'x-part': { type: 'strng' }, properties: { a: { $ref: '#/x-part' } } }
    expect(refused(schema)).toEqual(['enum /json_schema/x-part/type'])
  })

  test('recursion through members is supported', () => {
    const tree = {
      type: 'object',
      properties: { children: { type: 'array', items: { $ref: '#' } }, n: { type: 'number' } },
    }
    expect(failed(tree, { children: [{ children: [{ n: 'x' }] }] })).toEqual([
      'type /data/children/0/children/0/n',
    ])
    const dynamic = {
      $dynamicAnchor: 'node',
      properties: { next: { $dynamicRef: '#node' }, n: { type: 'null' } },
    }
    expect(failed(dynamic, { next: { next: { n: 1 } } })).toEqual(['type /data/next/next/n'])
  })

  test('recursion without a member in between is refused', () => {
    const $defs = { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { anyOf: [{ not: { $ref: '#/$defs/a' } }] } }
    expect(refused({ $ref: '#' })).toEqual(['circular_ref /json_schema/$ref'])
    expect(refused({ $defs, properties: { x: { $ref: '#/$defs/a' } } })[0]).toMatch(/^circular_ref/)
  })

  test('an $id does not affect other schemas, and does not redirect references', () => {
    const $id = 'https://example.com/a'
    expect(failed({ $id, properties: { a: { type: 'string' } } }, { a: 1 })).toEqual(['type /data/a'])
    expect(failed({ $id, properties: { a: { type: 'number' } } }, { a: 1 })).toEqual([])
    expect(failed({ $id: 'https://json-schema.org/draft/2020-12/schema', required: ['a'] }, {})).toHaveLength(
      1,
    )
    expect(refused({ type: 'object', properties: { a: { type: 'strng' } } })).toHaveLength(1)
    expect(refused({ properties: { a: { $id, properties: { b: { $ref: '#/$defs/x' } } } } })).toEqual([
      'unsupported_ref /json_schema/properties/a/properties/b/$ref',
    ])
    const labelled = { $schema: DRAFT_07, properties: { a: { $id: '#/properties/a', type: 'string' } } }
    expect(failed(labelled, { a: 1 })).toEqual(['type /data/a'])
  })
})

describe('patterns run in linear time', () => {
  test('a pattern with exponential backtracking elsewhere takes steps in proportion to the text', () => {
    const { validate } = compileSchema({ properties: { a: { pattern: '^(a+)+$' } } }, '')
    const stepsFor = (length: number): number => {
      expect(validate({ a: `${'a'.repeat(length)}!` })).toHaveLength(1)
      return stepsUsed()
    }
    expect(stepsFor(50_000)).toBeLessThanOrEqual(stepsFor(5000) * 10)
  })

  test.each([
    '^(?=a)b',
    'a(?!b)',
    '(?<=a)b',
    '(?<!a)b',
    '(a)\\1',
    '(?<n>a)\\k<n>',
    'a{1001}',
    '(a{500}b{500}){9}',
    '\\Z',
    '\\p{Nonsense}',
    '\\p{constructor}',
  ])('%s is not checked, with a warning that has its path', (pattern) => {
    expect(warned({ properties: { a: { pattern } } })).toMatch(
      /cannot run .* \(at \/properties\/a\/pattern\)/,
    )
    expect(wrong({ pattern }, 'anything')).toEqual([])
    expect(warned({ patternProperties: { [pattern]: {} } })).toContain('(at /patternProperties/')
  })

  test.each(['(', 'a)', '[b-a]', '*'])('%s is refused, because it is no regular expression', (pattern) => {
    expect(refused({ properties: { a: { pattern } } })).toEqual([
      'invalid_pattern /json_schema/properties/a/pattern',
    ])
    expect(refused({ patternProperties: { [pattern]: {} } })[0]).toContain('invalid_pattern')
  })

  test('the warning names the unsupported construct', () => {
    expect(warned({ properties: { a: { pattern: '^(?!x)' } } })).toContain('negative lookahead (?!…)')
    expect(warned({ properties: { a: { pattern: '(.)\\1' } } })).toContain('backreference \\1')
  })

  test.each([
    ['\\d\\w\\s', '1a\u00a0', 'a1 '],
    ['^\\S+$', 'é', 'a\u2003b'],
    ['^[\\s\\d]+$', '1\ufeff\u30002', 'a'],
    ['^[^\\s]$', '\u200b', '\u00a0'],
    ['^[\\S]$', 'x', '\u2028'],
    ['\\/\\-\\.\\$\\^\\@', '/-.$^@', 'x'],
    ['^\\u0041\\x42\\u{43}\\cA$', 'ABC\u0001', 'ABC'],
    ['^\\ud83d\\ude00$', '😀', 'x'],
    ['^.$', '😀', '\u2028'],
    ['^\\p{L}+$', 'Éa日', '1'],
    ['^\\p{Letter}\\p{Script=Greek}\\P{Lu}$', 'aωb', 'aωB'],
    ['^[\\p{Lu}\\p{Uppercase_Letter}]$', 'É', 'é'],
    ['^(?<year>\\d{4})-(?<month>\\d\\d)$', '2025-01', '2025'],
    ['^[[(\\]]+$', '[(]', 'a'],
    ['^[\\w-.]+$', 'a-b.c', 'a b'],
    ['^[\\b]$', '\b', 'b'],
    ['^[^]$', '\n', ''],
    ['a|[]', 'a', ''],
    ['^\\0$', '\0', '0'],
    ['^{a}$', '{a}', 'a'],
    ['^a{2,}?$', 'aa', 'a'],
    ['b', 'abc', 'ac'],
    ['^a$', 'a', 'a\n'],
    ['\\bfoo\\b', 'a foo.', 'food'],
    ['', '', undefined],
  ])('%s matches as in JavaScript', (pattern, match, other) => {
    expect(wrong({ pattern }, match)).toEqual([])
    if (other !== undefined) expect(wrong({ pattern }, other)).toEqual(['pattern /data/v'])
  })

  test('generated patterns match as in JavaScript', () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      '.',
      '\\d',
      '\\s',
      '[ab]',
      '[^a\\s]',
      'a?',
      'b*',
      '(?:ab)+',
      'a|b',
      '^',
      '$',
      '\\b',
      '(a)',
      '[\\w.-]',
      '1{1,2}',
      '-',
    )
    const text = fc.array(fc.constantFrom('a', 'b', '1', ' ', '\n', '-', 'é', '\u00a0', '😀'), {
      maxLength: 6,
    })
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 5 }), text, (pieces, letters) => {
        let expression: RegExp
        try {
          expression = new RegExp(pieces.join(''), 'u')
        } catch {
          return
        }
        const matches = expression.test(letters.join(''))
        if (warned({ properties: { a: { pattern: pieces.join('') } } }) === undefined) {
          expect(wrong({ pattern: pieces.join('') }, letters.join('')).length === 0).toBe(matches)
        }
      }),
      { numRuns: 300 },
    )
  })
})

describe('the format of a string is checked', () => {
  test.each([
    ['date-time', '2025-03-01T09:30:00.5+02:00', '2025-02-30T00:00:00Z'],
    ['date', '2024-02-29', '2025-02-29'],
    ['time', '09:30:00Z', '24:00:00Z'],
    ['duration', 'P1DT2H', 'P'],
    ['email', 'ada@example.com', 'ada'],
    ['idn-email', 'ada@exämple.com', 'ada@'],
    ['hostname', 'example.com', '-a'],
    ['idn-hostname', 'exämple.com', 'a b'],
    ['uri', 'https://example.com/a', '/a'],
    ['iri', 'https://example.com/ä', 'ä'],
    ['uuid', '01958f2e-7a3b-7c41-9d2e-5f60718293a4', '0195'],
    ['ipv4', '192.0.2.1', '256.0.0.1'],
    ['ipv6', '2001:db8::1', '2001'],
    ['url', 'https://example.com', 'ftp'],
    ['int32', 1, 2 ** 31],
  ])('by the rules of %s', (format, right, bad) => {
    expect(wrong({ format }, right)).toEqual([])
    expect(wrong({ format }, bad)).toEqual(['format /data/v'])
    expect(wrong({ format }, null)).toEqual([])
  })

  test.each([
    ['base64', 'YQ==', 'a'],
    ['base64url', 'YQ', 'a+b'],
    ['e164', '+41443210000', '044'],
    ['jwt', `${btoa('{"alg":"none"}')}.e30.x`, 'a.b.c'],
    ['ulid', '01ARZ3NDEKTSV4RRFFQ69G5FAV', '01ARZ3'],
    ['nanoid', 'V1StGXR8_Z5jdHi6B-myT', 'V1'],
    ['cuid', 'cjld2cjxh0000qzrmn831i7rn', '-'],
    ['cuid2', 'tz4a98xxat96iws9zmbrgj3a', 'A'],
    ['xid', '9m4e2mr0ui3e8a215n4g', '9m'],
    ['ksuid', '0ujsswThIGTUYm2K8FjOOfXtY1K', '0'],
    ['cidrv4', '192.0.2.0/24', '192.0.2.0'],
    ['cidrv6', '2001:db8::/32', '2001:db8::'],
    ['mac', '00:1b:44:11:3a:b7', '00'],
    ['emoji', '👍🏽', 'a'],
    ['hex', 'c0ffee', 'coffee'],
    ['sha256_hex', 'a'.repeat(64), 'a'],
    ['lowercase', 'abc', 'aBc'],
    ['uuid4', '7b5e4c9e-62b1-4f6e-9d0f-3c9d3f1c2b1a', '7b5e4c9e-62b1-7f6e-9d0f-3c9d3f1c2b1a'],
    ['json-string', '{"a":1}', '{'],
  ])('by the rules of the generators that print %s', (format, right, bad) => {
    expect(warned({ properties: { a: { format } } })).toBeUndefined()
    expect(wrong({ format }, right)).toEqual([])
    expect(wrong({ format }, bad)).toEqual(['format /data/v'])
  })

  // A format of quadratic time would take longer than the test may.
  test('in time linear in its length, for every known format', { tags: 'full' }, () => {
    for (const format of Object.keys(FORMATS))
      for (const text of ['a', '0', 'A-', '👍', '1.', ':', '/', '[', '{"a":', 'YQ==']) {
        const { isValid } = compileSchema({ properties: { v: { format } } }, '')
        expect(isValid({ v: text.repeat(200_000) }), `${format} ${text}`).toBeTypeOf('boolean')
      }
  })

  test('for known formats only: an unknown format is not checked, and a warning names it', () => {
    const schema = { properties: { a: { format: 'colour' }, b: { items: { format: 'colour' } } } }
    expect(warned(schema)).toBe(
      'The format "colour" is not known: it is kept as an annotation and not checked (at /properties/a/format, /properties/b/items/format).',
    )
    expect(warned({ properties: { a: { format: 'datetime' } } })).toContain('Did you mean "date-time"?')
    expect(warned({ properties: { a: { format: 'constructor' } } })).toContain('"constructor"')
    expect(wrong({ format: 'colour' }, 'x')).toEqual([])
    expect(refused({ properties: { a: { format: 1 } } })).toEqual(['type /json_schema/properties/a/format'])
  })
})

describe('without a pattern that cannot run', () => {
  const LOOK = '^(?=x)'
  const accepts = (schema: object, data: object) => faults(schema, data).length === 0

  test('a schema accepts every value that the original accepts', () => {
    expect(accepts({ properties: { a: { not: { pattern: LOOK } } } }, { a: 'y' })).toBe(true)
    const choice = { oneOf: [{ pattern: LOOK }, { type: 'string', maxLength: 3 }] }
    expect(accepts({ properties: { a: choice } }, { a: 'yz' })).toBe(true)
    const unlike = { properties: { a: { not: { pattern: LOOK } } } }
    const condition = { if: unlike, else: { required: ['b'] } }
    expect(accepts(condition, { a: 'y' })).toBe(true)
    const named = { patternProperties: { [LOOK]: {}, '^z': {} }, additionalProperties: false }
    expect(accepts(named, { xa: 1 })).toBe(true)
    const outer = { allOf: [{ patternProperties: { [LOOK]: {} } }], unevaluatedProperties: false }
    expect(accepts(outer, { xa: 1 })).toBe(true)
    const referred = { $defs: { x: { pattern: LOOK } }, properties: { a: { not: { $ref: '#/$defs/x' } } } }
    expect(accepts(referred, { a: 'y' })).toBe(true)
    const few = { contains: { pattern: LOOK }, maxContains: 1 }
    expect(accepts({ properties: { a: few } }, { a: ['y', 'z'] })).toBe(true)
    for (const schema of [condition, named, outer, referred, { properties: { a: few } }])
      expect(warned(schema)).toContain('cannot run')
  })

  test('its other parts are checked', () => {
    const schema = {
      properties: { a: { pattern: LOOK, maxLength: 2 }, b: { not: { pattern: LOOK }, type: 'string' } },
      unevaluatedProperties: false,
    }
    expect(faults(schema, { a: 'abc', b: 1, c: 1 })).toHaveLength(2)
    expect(accepts(schema, { a: 'a', c: 1 })).toBe(false)
    expect(accepts({ properties: { a: { anyOf: [{ pattern: LOOK }, { type: 'null' }] } } }, { a: 1 })).toBe(
      true,
    )
  })
})

describe('the faults of a value', () => {
  const order = {
    type: 'object',
    required: ['title'],
    additionalProperties: false,
    properties: {
      title: { type: 'string' },
      qty: { type: 'integer', minimum: 1 },
      status: { enum: ['open', 'done'] },
    },
  }

  test('name a missing property in the path', () => {
    expect(faults(order, {})).toEqual([
      { path: '/data/title', code: 'required', message: '"title" is required.', expected: 'string' },
    ])
  })

  test('name an unknown property with the most similar known one', () => {
    const [fault] = faults(order, { title: 'x', qtyy: 1 })
    expect(fault).toMatchObject({ path: '/data/qtyy', code: 'additional_properties', hint: 'qty' })
    expect(fault?.allowed).toEqual(['title', 'qty', 'status'])
    expect(failed({ properties: { a: {} }, unevaluatedProperties: false }, { 'b/~': 1 })).toEqual([
      'unevaluated_properties /data/b~1~0',
    ])
  })

  test('name the expected and received type, and not the value', () => {
    expect(faults(order, { title: { secret: 1 } })[0]).toEqual({
      path: '/data/title',
      code: 'type',
      message: '"title" must be of type string.',
      expected: 'string',
      received: 'object',
    })
  })

  test('name the most similar allowed value of an enum', () => {
    expect(faults(order, { title: 'x', status: 'opn' })[0]).toMatchObject({
      path: '/data/status',
      code: 'enum',
      allowed: ['open', 'done'],
      received: 'opn',
      hint: 'open',
    })
  })

  test.each([
    [{ minimum: 3 }, 2, 'minimum'],
    [{ exclusiveMaximum: 3 }, 3, 'exclusive_maximum'],
    [{ multipleOf: 0.01 }, 0.005, 'multiple_of'],
    [{ maxLength: 1 }, '😀😀', 'max_length'],
    [{ minItems: 1 }, [], 'min_items'],
    [{ maxProperties: 0 }, { a: 1 }, 'max_properties'],
    [{ const: { a: 1 } }, { a: 2 }, 'const'],
    [{ not: {} }, 1, 'not'],
    [false, 1, 'false_schema'],
    [{ contains: { type: 'null' } }, [1], 'contains'],
    [{ oneOf: [{}, true] }, 1, 'one_of'],
  ])('have the path of the value for %j', (schema, value, code) =>
    expect(wrong(schema, value)).toEqual([`${code} /data/v`]),
  )

  test.each([
    [{ uniqueItems: true }, [{ a: 1, b: 2 }, 3, { b: 2, a: 1 }], 'unique_items /data/v/2'],
    [{ propertyNames: { pattern: '^a' } }, { b: 1 }, 'property_names /data/v/b'],
    [{ dependentRequired: { a: ['b'] } }, { a: 1 }, 'dependent_required /data/v/b'],
    [{ if: { required: ['a'] }, else: { required: ['b'] } }, {}, 'required /data/v/b'],
    [{ prefixItems: [{ type: 'null' }], items: false }, [null, 1], 'items /data/v'],
  ])('have the path of the member for %j', (schema, value, expected) =>
    expect(wrong(schema, value)).toEqual([expected]),
  )

  test('of anyOf and oneOf are those of the branch that the value is closest to', () => {
    const tagged = (kind: string, field: string) => ({
      type: 'object',
      properties: { kind: { const: kind }, [field]: { type: 'number' } },
      required: ['kind', field],
    })
    for (const keyword of ['anyOf', 'oneOf']) {
      const schema = { [keyword]: [tagged('circle', 'r'), tagged('square', 'side'), { type: 'null' }] }
      expect(wrong(schema, { kind: 'square', side: 'x' })).toEqual(['type /data/v/side'])
      expect(wrong(schema, { kind: 'square' })).toEqual(['required /data/v/side'])
      expect(wrong(schema, { kind: 'x' })).toHaveLength(1)
    }
    const types = faults({ properties: { v: { anyOf: [{ type: 'string' }, { type: 'null' }] } } }, { v: 1 })
    expect(types).toMatchObject([{ code: 'type', expected: ['string', 'null'], received: 'number' }])
    const values = faults({ properties: { v: { oneOf: [{ const: 'a' }, { enum: ['b'] }] } } }, { v: 'A' })
    expect(values).toMatchObject([{ code: 'enum', allowed: ['a', 'b'], hint: 'a' }])
  })

  test('are at most twenty, without duplicates', () => {
    expect(faults({ required: Object.keys(many(50, () => 1)) }, {})).toHaveLength(20)
    expect(failed({ required: ['a'], allOf: [{ required: ['a'] }] }, {})).toEqual(['required /data/a'])
  })

  test('treat inherited properties of an object as absent', () => {
    expect(failed({ required: ['constructor'], properties: { toString: { type: 'string' } } }, {})).toEqual([
      'required /data/constructor',
    ])
    expect(failed({ properties: { a: {} }, additionalProperties: false }, { valueOf: 1 })).toHaveLength(1)
  })

  test('are the same for an object without a prototype', () => {
    const bare = Object.assign(Object.create(null), { a: 1 })
    for (const schema of [{ const: { a: 1 } }, { enum: [{ a: 1 }] }, { required: ['a'] }]) {
      expect(wrong(schema, bare)).toEqual([])
    }
    expect(wrong({ uniqueItems: true }, [bare, { a: 1 }])).toEqual(['unique_items /data/v/1'])
  })

  test('do not depend on coercion: values and defaults are not changed', () => {
    const data = { n: '1', extra: true }
    const schema = {
      properties: { n: { type: 'string' }, d: { default: 3 } },
      additionalProperties: { type: 'boolean' },
    }
    expect(failed(schema, data)).toEqual([])
    expect(data).toEqual({ n: '1', extra: true })
    expect(wrong({ type: 'number' }, '1')).toEqual(['type /data/v'])
  })

  test('decide multipleOf in decimal: 19.99 is a multiple of 0.01', () =>
    expect(wrong({ multipleOf: 0.01 }, 19.99)).toEqual([]))

  test('exist exactly when Ajv refuses the value', { tags: ['full', 'sampled'] }, () => {
    const leaf = fc.constantFrom<object | boolean>(
      { type: 'string' },
      { type: ['number', 'null'] },
      { enum: ['a', 1, { a: 1 }] },
      { const: [1] },
      { minimum: 1 },
      { maxLength: 1 },
      { minItems: 2 },
      { uniqueItems: true },
      { required: ['a'] },
      { minProperties: 2 },
      true,
      false,
    )
    const { schema } = fc.letrec<{ schema: object | boolean; node: object }>((tie) => ({
      schema: fc.oneof({ depthSize: 'small' }, leaf, tie('node')),
      node: fc.oneof(
        ...['not', 'items', 'contains', 'additionalProperties', 'unevaluatedProperties', 'propertyNames'].map(
          (keyword) => tie('schema').map((schema) => ({ [keyword]: schema })),
        ),
        ...['allOf', 'anyOf', 'oneOf', 'prefixItems'].map((keyword) =>
          fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((list) => ({ [keyword]: list })),
        ),
        ...['properties', 'patternProperties', 'dependentSchemas'].map((keyword) =>
          fc.dictionary(fc.constantFrom('a', 'b'), tie('schema')).map((map) => ({ [keyword]: map })),
        ),
        fc.tuple(tie('node'), tie('node')).map(([a, b]) => ({ ...a, ...b })),
        // Ajv marks items as evaluated by a failed condition, so conditions are generated without that case.
        fc.tuple(leaf, tie('schema')).map(([a, b]) => ({ if: a, else: { items: b } })),
        fc.constantFrom('#/$defs/one', '#/$defs/two').map(($ref) => ({ properties: { a: { $ref } } })),
      ),
    }))
    const value = fc.jsonValue({ maxDepth: 3 })
    const { data } = fc.letrec((tie) => ({
      data: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom<unknown>('a', 'bb', 1, 0, null, [1], [1, 1]),
        tie('array'),
        tie('object'),
        value,
      ),
      array: fc.array(tie('data'), { maxLength: 3 }),
      object: fc.dictionary(fc.constantFrom('a', 'b', 'p3', 'c'), tie('data'), {
        maxKeys: 3,
        noNullPrototype: true,
      }),
    }))
    const widths = fc.constantFrom(
      (a: unknown, b: unknown) => ({ properties: { ...many(40, () => b), a }, unevaluatedProperties: b }),
      (a: unknown, b: unknown) => ({ properties: { ...many(40, () => b), a }, additionalProperties: b }),
      (a: unknown, b: unknown) => ({
        patternProperties: { ...many(40, () => a), a: b },
        additionalProperties: b,
      }),
      (a: unknown, b: unknown) => ({ anyOf: [...Array<unknown>(40).fill(a), b] }),
      (a: unknown, b: unknown) => ({
        allOf: [...Array<unknown>(40).fill(a), b],
        ...(!isMisjudged(a) && !isMisjudged(b) && { unevaluatedItems: false }),
      }),
      (a: unknown, b: unknown) => ({ dependentSchemas: { ...many(40, () => a), a: b } }),
      (a: unknown) => a,
    )
    const values = fc.array(data, { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(schema, schema, schema, widths, values, (a, one, two, widen, values) => {
        const root = { $defs: { one, two }, properties: { v: widen(a, one) } }
        const ours = compileSchema(root, '')
        const theirs = new Ajv2020({ strict: false, ownProperties: true, logger: false }).compile(root)
        for (const v of values) {
          expect(ours.validate({ v }).length === 0, JSON.stringify({ root, v })).toBe(theirs({ v }))
        }
      }),
      { numRuns: cases(80) },
    )
  })
})

/**
 * Whether Ajv judges `unevaluatedItems: false` beside this schema wrongly. It takes all items as evaluated by `contains`, and
 * compares the number of items with `true` if a choice evaluates them (https://github.com/ajv-validator/ajv/issues/1909).
 */
function isMisjudged(schema: unknown, isChosen = false): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  const {
    allOf,
    anyOf,
    oneOf,
    dependentSchemas,
    else: otherwise,
    ...rest
  } = schema as Record<string, unknown>
  if ('contains' in rest || (isChosen && ('items' in rest || 'prefixItems' in rest))) return true
  const chosen = [anyOf, oneOf, dependentSchemas].flatMap((each) => Object.values(each ?? {}))
  return (
    [...chosen, otherwise].some((each) => isMisjudged(each, true)) ||
    Object.values(allOf ?? {}).some((each) => isMisjudged(each, isChosen))
  )
}

describe('a hostile schema', () => {
  test('does not inject code with its strings', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text must stay literal.
    const word = '"];process.exit()//`${process.exit()}\'\\\u2028*/'
    const schema = {
      $id: `http://x/${encodeURIComponent(word)}`,
      properties: { [word]: { const: word, enum: [word], type: 'string' } },
      required: [word],
      dependentRequired: { [word]: [word] },
      patternProperties: { [`^x${word.replace(/[[\](){}*\\$]/g, '\\$&')}`]: { type: 'null' } },
      $defs: { [word]: { minProperties: 1, [word]: word } },
      allOf: [{ $ref: `#/$defs/${encodeURIComponent(word.replaceAll('/', '~1'))}` }],
    }
    expect(failed(schema, { [word]: word })).toEqual([])
    expect(failed(schema, {})).toHaveLength(2)
  })

  test('ends when the budget of steps is spent', { tags: 'full' }, () => {
    const doubling = (content: object) => ({
      $ref: '#/$defs/p0',
      $defs: many(60, (i) =>
        i === 59 ? content : { allOf: [{ $ref: `#/$defs/p${i + 1}` }, { $ref: `#/$defs/p${i + 1}` }] },
      ),
    })
    const both = (keyword: string) => ({
      [keyword]: ['a', 'b'].map((name) => ({ properties: { x: { $ref: '#' } }, required: [name] })),
    })
    const deep = JSON.parse(`${'{"x":'.repeat(50)}{}${'}'.repeat(50)}`)
    const list = (items: unknown) => ({ properties: { v: { type: 'array', items } } })
    const ends: [schema: object, data: object, first: string | undefined][] = [
      [doubling({ minProperties: 1 }), { x: 1 }, 'too_complex'],
      [both('anyOf'), deep, 'too_complex'],
      [both('oneOf'), deep, 'too_complex'],
      [list({ allOf: Array(4000).fill({ type: 'number' }) }), { v: Array(100_000).fill(1) }, 'too_complex'],
      [list({ required: Object.keys(many(1000, () => 1)) }), { v: Array(100_000).fill({}) }, 'required'],
      [
        list({ pattern: '^[^x]{1,900}[^y]{1,900}$' }),
        { v: Array(200).fill('z'.repeat(5000)) },
        'too_complex',
      ],
      [list({ format: 'url' }), { v: Array(200).fill(`http://[${'http'.repeat(1000)}`) }, 'too_complex'],
      [
        { properties: { v: { uniqueItems: true } } },
        { v: Array.from({ length: 10_000 }, (_, i) => ({ i, t: [1] })) },
        undefined,
      ],
      [{ patternProperties: many(1000, () => ({})) }, many(10_000, () => 1), 'too_complex'],
      [
        { properties: { v: { allOf: Array(3000).fill({ maxLength: 9 }) } } },
        { v: 'x'.repeat(1e6) },
        'max_length',
      ],
    ]
    for (const [schema, data, first] of ends) expect(faults(schema, data)[0]?.code).toBe(first)
  })

  test('of great width or depth is compiled or refused', { tags: 'full' }, () => {
    const wide = {
      properties: many(5000, () => ({ type: 'string', maxLength: 3 })),
      additionalProperties: false,
    }
    expect(failed(wide, { p4999: 'long!', p5000: 1 })).toEqual([
      'max_length /data/p4999',
      'additional_properties /data/p5000',
    ])
    expect(wrong({ oneOf: Array.from({ length: 300 }, (_, i) => ({ const: i })) }, 300)).toEqual([
      'enum /data/v',
    ])
    expect(refused({ properties: many(10_001, () => ({})) })).toEqual(['too_complex /json_schema'])
    const chain = many(3000, (i) => (i === 2999 ? {} : { $ref: `#/$defs/p${i + 1}` }))
    expect(refused({ $defs: chain, $ref: '#/$defs/p0' })).toEqual(['too_complex /json_schema'])
    expect(refused(JSON.parse(`${'{"not":'.repeat(70)}{}${'}'.repeat(70)}`))[0]).toMatch(/^too_deep/)
  })
})

describe('a schema or value with a high cost', () => {
  const branches = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ properties: { k: { const: i } } }))
  const listOf = (items: object) => ({ properties: { v: { items } } })
  const items = (count: number) => ({ v: Array.from({ length: count }, (_, i) => ({ k: i % 400 })) })

  test.each(['oneOf', 'anyOf'])('is refused for the cost of the failed branches of %s', (keyword) => {
    const { isValid, validate } = compileSchema(listOf({ [keyword]: branches(400) }), '')
    expect(validate(items(20), '/data')).toEqual([])
    expect(isValid(items(10_000))).toBe(false)
    expect(validate(items(10_000), '/data')).toMatchObject([{ path: '/data', code: 'too_complex' }])
  })

  test.each(['oneOf', 'anyOf'])(
    'is compiled and decided for %s with 4,000 branches',
    { tags: 'full' },
    (keyword) => {
      const schema = listOf({ [keyword]: branches(4000) })
      expect(failed(schema, { v: [{ k: 3999 }, { k: 0 }] })).toEqual([])
      expect(failed(schema, { v: [{ k: 'x' }] })).toHaveLength(1)
      if (keyword === 'oneOf')
        expect(faults(schema, { v: [{}] })[0]?.message).toContain('matches forms 0 and 1 of the schema')
    },
  )

  test('is refused when the checks of one request exceed their shared allowance', () => {
    const { isValid, validate } = compileSchema(listOf({ type: 'number' }), '')
    const value = { v: Array(10_000).fill(1) }
    const spent = () => invalid({ path: '/operations', code: 'too_complex', message: 'Send fewer.' })
    const allowance = new Allowance(100_000, spent)
    expect(isValid(value, allowance)).toBe(true)
    expect(() => {
      for (let i = 0; i < 10; i++) validate(value, '/data', allowance)
    }).toThrow('Send fewer.')
  })

  test('has a count of all faults beyond the twenty that are reported', () => {
    const unknown = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`x${i}`, 1]))
    const shown = faults({ properties: { a: {} }, additionalProperties: false }, unknown)
    expect(shown).toHaveLength(20)
    expect(shown.at(-1)).toMatchObject({ code: 'more_faults', count: 3000 })
  })

  test('is refused for too many patterns before they are compiled', () => {
    const many = Object.fromEntries(
      Array.from({ length: 2000 }, (_, i) => [`p${i}`, { pattern: `^[a-z]{1,90}${i}$` }]),
    )
    expect(refused({ properties: many })[0]).toMatch(/^too_complex /)
  })
})

describe('fieldExists', () => {
  const schema = {
    additionalProperties: false,
    properties: {
      open: { type: 'object', properties: { a: {} } },
      closed: { $ref: '#/$defs/closed' },
      list: { type: 'array', items: { $ref: '#/$defs/closed' } },
      patterned: { additionalProperties: false, patternProperties: { '^x': {} } },
    },
    $defs: { closed: { type: 'object', properties: { b: {}, '0': {} }, additionalProperties: false } },
  }

  test.each([
    [['open']],
    [['open', 'zzz']],
    [['closed', 'b']],
    [['closed', '0']],
    [['list', 0, 'b']],
    [['list', '0', 'b']],
    [['patterned', 'q']],
    [[]],
  ])('%j exists', (path) => expect(fieldExists(schema, path)).toEqual({ exists: true, allowed: [] }))

  test.each([
    [['closd'], ['open', 'closed', 'list', 'patterned']],
    [
      ['closed', 'c'],
      ['0', 'b'],
    ],
    [
      ['list', 3, 'c'],
      ['0', 'b'],
    ],
    [['constructor'], ['open', 'closed', 'list', 'patterned']],
  ])('%j does not exist', (path, allowed) =>
    expect(fieldExists(schema, path)).toEqual({ exists: false, missing: path.length - 1, allowed }),
  )

  test('any field exists in a schema without restrictions', () => {
    for (const open of [{}, true, null, { $ref: '#' }, { $ref: 'x' }, { properties: { a: {} } }]) {
      expect(fieldExists(open, ['b', 'c'])).toEqual({ exists: true, allowed: [] })
    }
  })
})

test('isClosed is true for a schema with additionalProperties false', () => {
  expect(compileSchema({ additionalProperties: false }, '').isClosed).toBe(true)
  expect(compileSchema({ properties: { a: {} } }, '').isClosed).toBe(false)
})

test.each([
  [{ contains: { type: 'string' } }, ['a', 1], false],
  [{ contains: { type: 'string' } }, ['a', 'b'], true],
  [{ prefixItems: [true], contains: { type: 'string' } }, [1, 'a'], true],
  [{ contains: { type: 'string' }, minContains: 0 }, [1], false],
  [{ allOf: [{ contains: { const: 1 } }, { contains: { const: 2 } }] }, [1, 2, 1], true],
  [{ anyOf: [{ contains: { const: 1 } }, { contains: { const: 2 } }] }, [1, 2, 3], false],
  [{ allOf: [{ oneOf: [{ contains: { const: 1 } }] }, { items: { minimum: 1 } }] }, [1, 2], true],
  [{ allOf: [{ oneOf: [{ contains: { const: 1 } }] }] }, [1, 2], false],
  [{ anyOf: [{ items: { const: 1 } }] }, [1, 1], true],
  [{ anyOf: [true, { items: { const: 1 } }] }, [2], false],
])('unevaluatedItems excludes exactly the items that contains matched: %j', (list, items, isValid) => {
  const schema = compileSchema({ properties: { list: { ...list, unevaluatedItems: false } } }, '')
  expect(schema.isValid({ list: items })).toBe(isValid)
  expect(schema.validate({ list: items }).length === 0).toBe(isValid)
})

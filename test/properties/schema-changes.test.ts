// @module-tag full
// @module-tag sampled
/** A changed schema judges the records that exist as a new type with this schema judges them. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CASES_TIMEOUT } from '../support/cases.ts'
import { forAll } from '../support/for-all.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const name = fc.constantFrom('a', 'b', 'c', 'ü "\'\\.$', '')
const leaf = fc.constantFrom<object>(
  {},
  { type: 'string' },
  { type: 'integer' },
  { type: 'integer', minimum: 3 },
  { enum: ['x', 1] },
  { const: null },
  { type: ['array', 'null', 'number'], exclusiveMaximum: 5, minimum: 1.5 },
  { type: 'integer', maximum: 1e21 },
  { type: 'number' },
  { type: 'number', minimum: -1e308, exclusiveMaximum: 1e308 },
  { type: 'number', exclusiveMinimum: 0.1 },
  { minimum: 0 },
  { enum: ['x', '1', 'true', 'null', '[1]', '{}'] },
  { enum: ['', 'e\u0301', null] },
  { type: 'string', enum: ['x', '1', '', null] },
  { enum: [true, 1, 0.1, null] },
  { type: 'boolean' },
  { type: ['boolean', 'integer', 'null'] },
  { type: 'string', const: '1' },
  { minLength: 2 },
  { type: 'string', maxLength: 1, enum: ['x', 'y"\\', '😀'] },
  { type: 'string', maxLength: 1, minLength: 1 },
  { type: 'string', maxLength: 0 },
  { type: 'string', title: 'Only a title' },
  { $ref: '#/$defs/d' },
  { $ref: '#/properties/a' },
  { type: 'object', properties: { in: { type: 'integer' } }, required: ['in'] },
)
/** `a` cannot refer to itself. */
const isNoCircle = (of: object) => !JSON.stringify(of).includes('#/properties/a')
const schema = fc.record(
  {
    properties: fc
      .tuple(leaf.filter(isNoCircle), fc.dictionary(name, leaf, { maxKeys: 3 }))
      .map(([a, others]) => ({ ...others, a })),
    required: fc.uniqueArray(name, { maxLength: 2 }),
    additionalProperties: fc.constantFrom<unknown>(true, false, { type: 'integer' }),
    minProperties: fc.constant(1),
    dependentRequired: fc.constant({ a: ['b'] }),
    $defs: fc.constantFrom<object>({ d: { type: 'string' } }, { d: { type: 'integer' } }),
    description: fc.string({ maxLength: 3 }),
  },
  { requiredKeys: ['properties'] },
)
const valid = (of: object) => ({ $defs: { d: {} }, ...of, type: 'object' })
const value = fc.constantFrom<unknown>(
  'x',
  'y',
  'y"\\',
  '😀',
  '',
  1,
  1.5,
  2,
  5,
  null,
  { in: 1 },
  {},
  [1],
  ['x'],
  ...[
    '1',
    '1.0',
    'true',
    'null',
    '[1]',
    '{}',
    'é',
    'e\u0301',
    '日本',
    '\u{10ffff}',
    '\u0001',
    'xy'.repeat(40),
  ],
  ...[true, false, 0, -1, 0.1, 0.30000000000000004, 1e21, 1e308, -1e308, 5e-324, 9007199254740991],
  ...[[], [[1]], ['1'], [null], { a: 1 }],
)
/** PostgreSQL packs a document of more than 2 KB. */
const LONG = 'long '.repeat(1000)
const record = fc
  .tuple(fc.dictionary(name, value, { maxKeys: 3 }), fc.boolean())
  .map(([data, isLong]): object => (isLong ? { ...data, z: LONG } : data))
const records = fc.array(record, { minLength: 1, maxLength: 8 })
/** Cancelled records count, deleted ones do not. */
const DELETED = { a: {}, b: {}, c: {} }

test(
  'records are flagged, counted and refused as the new schema alone would do',
  async () => {
    await forAll(fc.tuple(schema, schema, schema, records), 150, async ([first, second, third, all]) => {
      const type = await world.newType()
      const path = `/v1/crm/record-types/${type}`
      for (const [n, data] of all.entries())
        succeed(await world.call('PUT', `/v1/crm/records/${type}/r${n}`, { data }), 201)
      succeed(await world.call('POST', `/v1/crm/records/${type}/r0/cancel`))
      succeed(await world.call('PUT', `/v1/crm/records/${type}/gone`, { data: DELETED }), 201)
      succeed(await world.call('DELETE', `/v1/crm/records/${type}/gone`))
      for (const each of [first, second, third].map(valid)) {
        const fresh = await world.newType({ json_schema: each })
        const fits: boolean[] = []
        for (const data of all) {
          const tried = await world.call('POST', `/v1/crm/records/${fresh}?dry_run=true`, { data })
          fits.push(tried.status < 300)
        }
        const refused = await world.call('PUT', `${path}?dry_run=true`, { json_schema: each })
        const invalid = fits.filter((isFit) => !isFit).length
        const isSame =
          JSON.stringify(succeed(await world.call('GET', path)).json_schema) === JSON.stringify(each)
        if (!isSame)
          expect([refused.status, refused.body.error?.details[0].count]).toEqual(
            invalid > 0 ? [409, invalid] : [200, undefined],
          )
        succeed(await world.call('PUT', `${path}?on_invalid=allow`, { json_schema: each }))
        const { data } = succeed(await world.call('GET', `/v1/crm/records/${type}?sort=id`))
        expect(data.map((record: Body) => record.valid !== false)).toEqual(fits)
      }
    })
  },
  CASES_TIMEOUT,
)

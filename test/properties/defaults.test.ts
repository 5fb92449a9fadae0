// @module-tag full
// @module-tag sampled
/** A write of a value equals a write of the value with its defaults filled in by a reference implementation. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CASES_TIMEOUT } from '../support/cases.ts'
import { forAll } from '../support/for-all.ts'
import type { Json, JsonObject } from '../support/paths.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

type Schema = {
  $ref?: string
  default?: Json
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: Schema
  allOf?: Schema[]
  anyOf?: (Schema | { type: 'null' })[]
}

const NAMES = ['a', 'b', 'c']
const objectOf = <T>(value: fc.Arbitrary<T>) =>
  fc.dictionary(fc.constantFrom(...NAMES), value, { maxKeys: 3 })

const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Json>(null, 1, 'x'),
    objectOf(tie('value')) as fc.Arbitrary<Json>,
    fc.array(tie('value'), { maxLength: 3 }) as fc.Arbitrary<Json>,
  ),
}))

const { schema } = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Schema>({}, { $ref: '#/$defs/one' }, { $ref: '#/$defs/two', default: 5 }),
    value.map((each): Schema => ({ default: each })),
    fc.record({ properties: objectOf(tie('schema')), default: value }, { requiredKeys: ['properties'] }),
    fc.record({ items: tie('schema') }),
    fc.record({ properties: objectOf(tie('schema')), additionalProperties: tie('schema') }),
    fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
    tie('schema').map((each): Schema => ({ anyOf: [each, { type: 'null' }] })),
  ),
}))

/** The reference implementation. */
function reference($defs: Record<string, Schema>) {
  const target = ({ $ref }: Schema) => ($ref ? $defs[$ref.slice('#/$defs/'.length)] : undefined)
  const inPlace = (schema: Schema): Schema[] => [
    ...(schema.allOf ?? []),
    ...[target(schema)].filter((each) => each !== undefined),
    ...(schema.anyOf ? [schema.anyOf[0] as Schema] : []),
  ]
  const defaultOf = (schema: Schema): Json | undefined =>
    schema.default !== undefined
      ? schema.default
      : inPlace(schema)
          .map(defaultOf)
          .find((each) => each !== undefined)
  const fill = (schema: Schema, data: Json): Json => {
    let whole = data
    if (Array.isArray(whole)) whole = whole.map((item) => (schema.items ? fill(schema.items, item) : item))
    else if (typeof whole === 'object' && whole !== null) {
      const properties = schema.properties ?? {}
      const filled: JsonObject = {}
      for (const [name, member] of Object.entries(whole)) {
        const own = properties[name] ?? schema.additionalProperties
        filled[name] = own ? fill(own, member) : member
      }
      for (const [name, own] of Object.entries(properties)) {
        const absent = Object.hasOwn(whole, name) ? undefined : defaultOf(own)
        if (absent !== undefined) filled[name] = fill(own, absent)
      }
      whole = filled
    }
    for (const each of inPlace(schema)) whole = fill(each, whole)
    return whole
  }
  return fill
}

test(
  'a write fills in what the reference implementation fills in, and filling again changes nothing',
  async () => {
    let filled = 0
    const records = objectOf(value) as fc.Arbitrary<JsonObject>
    const root = fc.record({ properties: objectOf(schema), one: schema, two: schema })
    await forAll(
      fc.tuple(root, fc.array(records, { minLength: 1, maxLength: 4 })),
      150,
      async ([made, all]) => {
        // What a definition refers to has no further references, so that no default contains itself.
        const bare = (each: Schema): Schema =>
          JSON.parse(JSON.stringify(each).replace(/"\$ref":"[^"]*",?/g, ''))
        const $defs = { one: bare(made.one), two: bare(made.two) }
        const json_schema = { properties: made.properties, $defs }
        const type = await world.newType({ json_schema })
        const operations = all.map((data, i) => ({
          type: 'upsert_record',
          record_type: type,
          id: `r${i}`,
          data,
        }))
        const done = succeed(await world.call('POST', '/v1/crm/batch', { operations })).data
        const fill = reference($defs)
        for (const [i, data] of all.entries()) {
          const expected = fill({ properties: made.properties }, data)
          expect(done[i].record.data).toEqual(expected)
          if (JSON.stringify(expected) !== JSON.stringify(data)) filled++
          const path = `/v1/crm/records/${type}/r${i}`
          expect(succeed(await world.call('PUT', path, { data })).operation).toBe('unchanged')
          expect(succeed(await world.call('PUT', path, { data: expected })).operation).toBe('unchanged')
        }
      },
    )
    expect(filled).toBeGreaterThan(5)
  },
  CASES_TIMEOUT,
)

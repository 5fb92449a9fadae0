/** The schema that the records of a type have. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, times } from '../../support/answers.ts'
import { callTool } from '../../support/mcp.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ PLINTH_RATE_LIMIT: '0' })
})
afterAll(() => world.close())

async function filled(records: readonly object[]): Promise<string> {
  const type = await world.newType()
  for (let from = 0; from < records.length; from += 500) {
    const operations = records
      .slice(from, from + 500)
      .map((data) => ({ type: 'create_record', record_type: type, data }))
    succeed(await world.call('POST', '/v1/crm/batch', { operations }))
  }
  return type
}
const infer = async (type: string) =>
  succeed(await world.call('GET', `/v1/crm/record-types/${type}/infer?from=records`))
const schemaOf = async (records: readonly object[]) => (await infer(await filled(records))).json_schema

test('kinds, formats, enums of few values, and what every record has', async () => {
  const type = await filled(
    times(20, (n) => ({
      title: `Task ${n}`,
      stage: ['open', 'won', 'lost'][n % 3],
      amount: n % 2 ? n : n + 0.5,
      count: n,
      is_done: n % 2 === 0,
      due: `2026-01-${String(n + 1).padStart(2, '0')}`,
      at: `2026-01-01T00:00:${String(n).padStart(2, '0')}Z`,
      mail: `p${n}@example.com`,
      page: `https://example.com/${n}`,
      note: n % 4 === 0 ? null : 'text',
      ...(n > 0 && { late: n }),
      either: n % 2 ? 1 : 'one',
      address: { city: `City ${n}`, ...(n % 2 && { zip: 'x' }) },
      items: times(n % 3, (i) => ({ sku: `s${i}`, ...(i > 0 && { price: i / 4 }) })),
      tags: times(n % 2, () => 'a'),
      nothing: null,
    })),
  )
  const { json_schema: schema, ...found } = await infer(type)
  expect(found).toEqual({ record_type: type, count: 20, read: 20 })
  expect(schema.properties).toEqual({
    title: { type: 'string' },
    stage: { type: 'string', enum: ['lost', 'open', 'won'] },
    amount: { type: 'number' },
    count: { type: 'integer' },
    is_done: { type: 'boolean' },
    due: { type: 'string', format: 'date' },
    at: { type: 'string', format: 'date-time' },
    mail: { type: 'string', format: 'email' },
    page: { type: 'string', format: 'uri' },
    note: { type: ['string', 'null'], enum: ['text', null] },
    late: { type: 'integer' },
    either: { type: expect.arrayContaining(['integer', 'string']) },
    address: {
      type: 'object',
      properties: { city: { type: 'string' }, zip: { type: 'string', enum: ['x'] } },
      required: ['city'],
    },
    items: {
      type: 'array',
      items: {
        type: 'object',
        properties: { sku: { type: 'string', enum: ['s0', 's1'] }, price: { type: 'number' } },
        required: ['sku'],
      },
    },
    tags: { type: 'array', items: { type: 'string', enum: ['a'] } },
    nothing: {},
  })
  expect(schema.required.sort()).toEqual(
    Object.keys(schema.properties)
      .filter((name) => name !== 'late')
      .sort(),
  )
  // The proposal is a schema that the type takes, with all of its records.
  succeed(await world.call('PATCH', `/v1/crm/record-types/${type}`, { json_schema: schema }))
})

test('many values, long ones and rare ones are no enum', async () => {
  const { properties } = await schemaOf(
    times(60, (n) => ({ many: `v${n % 20}`, long: 'x'.repeat(100), empty: '', ...(n < 3 && { rare: 'r' }) })),
  )
  for (const name of ['many', 'long', 'empty', 'rare']) expect(properties[name]).toEqual({ type: 'string' })
})

test('names that are unusual are properties like others', async () => {
  const data = { 'a b': 1, 'a.b': 'x', '[]': true, constructor: 1, '': { '0': 1 } }
  const { properties } = await schemaOf([data])
  expect(Object.keys(properties).sort()).toEqual(Object.keys(data).sort())
  expect(properties[''].properties).toEqual({ '0': { type: 'integer' } })
})

test('a type without records is any object; deep and wide data is cut', { tags: 'full' }, async () => {
  expect(await schemaOf([])).toEqual({ type: 'object' })
  const deep = times(30, (n) => n).reduce<unknown>((inner) => ({ inner }), 'end')
  expect(JSON.stringify(await schemaOf([{ deep }])).match(/inner/g)?.length).toBeLessThan(20)
  const wide = Object.fromEntries(times(4000, (n) => [`key${n}`, n]))
  const { json_schema, omitted_fields } = await infer(await filled([wide]))
  expect(Object.keys(json_schema.properties).length + omitted_fields).toBeGreaterThan(2000)
  expect(Object.keys(json_schema.properties).length).toBeLessThanOrEqual(2000)
})

test('a large type is read in part, evenly', { tags: 'full' }, async () => {
  const type = await filled(times(3000, (n) => ({ n, ...(n >= 2990 && { late: 1 }) })))
  const { count, read, json_schema } = await infer(type)
  expect([count, read]).toEqual([3000, 2000])
  expect(json_schema.required).toEqual(['n'])
})

test('an inferred schema needs read on the type; the tool describe_type has it too', async () => {
  const type = await filled([{ a: 1 }])
  const other = await world.newToken([{ record_type: 'other', permission: 'admin' }])
  expectFailure(await other.call('GET', `/v1/crm/record-types/${type}/infer`), 'FORBIDDEN')
  expectFailure(await world.call('GET', '/v1/crm/record-types/absent/infer'), 'NOT_FOUND')
  expectFault(await world.call('GET', `/v1/crm/record-types/${type}/infer?from=files`), 'query/from')
  const { body } = await callTool(world, '/mcp/crm', 'describe_type', {
    record_type: type,
    detail: 'inferred',
  })
  const { record_type: id, ...found } = await infer(type)
  expect(body).toEqual({ id, ...found })
})

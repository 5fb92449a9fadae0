/** Properties that an open schema does not declare, and that are near to ones that it does. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed, times } from '../../support/answers.ts'
import { callTool } from '../../support/mcp.ts'
import { type Body, openServer, type TestServer } from '../../support/server.ts'

let server: TestServer
const text = { type: 'string' }
const number = { type: 'number' }
const TYPES = {
  deal: {
    properties: {
      title: text,
      amount: number,
      due_date: text,
      tags: { type: 'array', items: text },
      address: { type: 'object', properties: { street: text, city: text } },
      parent: { $ref: '#' },
    },
  },
  closed: { properties: { amount: number }, additionalProperties: false },
  map: { properties: { total: number }, additionalProperties: number },
  named: { properties: { amount: number }, patternProperties: { '^x-': number } },
  any: {},
  parts: { allOf: [{ properties: { amount: number } }, { properties: { amounts: number } }] },
}
const path = '/v1/crm/records'

beforeAll(async () => {
  server = await openServer()
  succeed(await server.call('PUT', '/v1/bases/crm', {}), 201)
  for (const [id, schema] of Object.entries(TYPES))
    succeed(
      await server.call('PUT', `/v1/crm/record-types/${id}`, { json_schema: { type: 'object', ...schema } }),
      201,
    )
})
afterAll(() => server.close())

const create = async (type: string, data: object): Promise<Body> =>
  succeed(await server.call('POST', `${path}/${type}`, { data }), 201)
const about = (place: string, near: string) =>
  `data${place} is not a property of the schema. It is stored as sent. Did you mean "${near}"?`

test.each([
  [{ amout: 5 }, '/amout', 'amount'],
  [{ dueDate: 'x' }, '/dueDate', 'due_date'],
  [{ Title: 'x' }, '/Title', 'title'],
  [{ tag: [] }, '/tag', 'tags'],
  [{ address: { stret: 'x' } }, '/address/stret', 'street'],
  [{ parent: { parent: { titel: 'x' } } }, '/parent/parent/titel', 'title'],
])('a property near to a declared one is stored with a warning: %j', async (data, place, near) => {
  const record = await create('deal', data)
  expect(record.meta).toEqual({ warnings: [about(place, near)] })
  expect(record.data).toEqual(data)
  const read = succeed(await server.call('GET', `${path}/deal/${record.id}`))
  expect(read.data).toEqual(data)
  expect(read).not.toHaveProperty('meta')
})

test.each([
  ['deal', { amount: 1, title: 'x' }],
  ['deal', { amount: 1, amounts: 2 }],
  ['deal', { color: 'red', priority: 'low', dew: 1 }],
  ['map', { totl: 1 }],
  ['named', { amout: 1 }],
  ['any', { amout: 1 }],
  ['parts', { amounts: 1 }],
])('data of %s without such a property has no warning: %j', async (type, data) => {
  expect(await create(type, data)).not.toHaveProperty('meta')
})

test('a closed type refuses the property, as before', async () => {
  const { status, body } = await server.call('POST', `${path}/closed`, { data: { amout: 1 } })
  expect(status).toBe(400)
  expect(body.error.details[0]).toMatchObject({ path: '/data/amout', hint: 'amount' })
})

test('PUT, PATCH and JSON Patch warn of what they set, and of nothing that was there', async () => {
  const { id } = await create('deal', { titel: 'x', amount: 1 })
  const one = `${path}/deal/${id}`
  const merged = succeed(await server.call('PATCH', one, { data: { amout: 2 } }))
  expect(merged.meta.warnings).toEqual([about('/amout', 'amount')])
  expect(succeed(await server.call('PATCH', one, { data: { amount: 3 } }))).not.toHaveProperty('meta')
  const operations = [{ op: 'add', path: '/data/dueDate', value: 'x' }]
  const headers = { 'content-type': 'application/json-patch+json' }
  const patched = succeed(await server.call('PATCH', one, operations, headers))
  expect(patched.meta.warnings).toEqual([about('/dueDate', 'due_date')])
  const put = succeed(await server.call('PUT', one, { data: { titel: 'y' } }))
  expect(put.meta.warnings).toEqual([about('/titel', 'title')])
})

test('a replay answers the same warning', async () => {
  const headers = { 'idempotency-key': 'misspelt' }
  const send = () => server.call('POST', `${path}/deal`, { data: { amout: 1 } }, headers)
  const [first, again] = [await send(), await send()]
  expect(again.headers.get('idempotency-replayed')).toBe('true')
  expect(again.body).toEqual(first.body)
  expect(first.body.meta.warnings).toHaveLength(1)
})

test('a batch gives each warning once, with its operations', async () => {
  const operation = (data: object) => ({ type: 'create_record', record_type: 'deal', data })
  const operations = [
    ...times(3, () => operation({ amout: 1 })),
    operation({ amount: 1 }),
    operation({ titel: 'x' }),
  ]
  const warnings = [
    `Operations 0 to 2: ${about('/amout', 'amount')}`,
    `Operation 4: ${about('/titel', 'title')}`,
  ]
  const done = succeed(await server.call('POST', '/v1/crm/batch', { operations }))
  expect(done.meta).toEqual({ count: 5, warnings })
  const called = await callTool(server, '/mcp/crm', 'batch', { operations })
  expect(called.body.meta).toEqual({ count: 5, request_id: expect.any(String), warnings })
  const right = { operations: [operation({ amount: 1 })] }
  expect(succeed(await server.call('POST', '/v1/crm/batch', right)).meta).toEqual({ count: 1 })
})

test('a batch of upserts, and one that changes the type, warn too', async () => {
  const upsert = { type: 'upsert_record', record_type: 'deal', id: 'u1', data: { amout: 1 } }
  const fast = succeed(await server.call('POST', '/v1/crm/batch', { operations: [upsert] }))
  expect(fast.meta.warnings).toEqual([`Operation 0: ${about('/amout', 'amount')}`])
  const body = { json_schema: { type: 'object', properties: { ...TYPES.deal.properties, owner: text } } }
  const operations = [
    { type: 'upsert_record_type', id: 'deal', body },
    { type: 'patch_record', record_type: 'deal', id: 'u1', data: { owners: 'x' } },
  ]
  const mixed = succeed(await server.call('POST', '/v1/crm/batch', { operations }))
  expect(mixed.meta.warnings).toEqual([`Operation 1: ${about('/owners', 'owner')}`])
})

test.each([
  ['create_deal', { amout: 1 }],
  ['upsert_record', { record_type: 'deal', data: { amout: 1 } }],
  ['upsert_record', { record_type: 'deal', id: 'm1', data: { amout: 1 } }],
  ['upsert_record', { record_type: 'deal', external_id: 'm2', data: { amout: 1 } }],
  ['update_record', { record_type: 'deal', id: 'm1', data: { amout: 1 } }],
  ['update_deal', { id: 'm1', amout: 2 }],
])('the tool %s answers the warning: %j', async (name, args) => {
  const { body, error } = await callTool(server, '/mcp/crm', name, args)
  expect(error).toBeUndefined()
  expect(body.meta.warnings).toEqual([about('/amout', 'amount')])
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { callTool } from '../support/mcp.ts'
import { type Body, openServer, type TestServer } from '../support/server.ts'

let server: TestServer

const tool = (name: string, args: Record<string, unknown> = {}) => callTool(server, '/mcp/crm', name, args)
const read = async (id: string, type = 'task'): Promise<Body> =>
  (await server.call('GET', `/v1/crm/records/${type}/${id}`)).body

beforeAll(async () => {
  server = await openServer()
  await server.call('PUT', '/v1/bases/crm', {})
  const properties = { title: { type: 'string' }, qty: { type: 'integer' } }
  await server.call('PUT', '/v1/crm/record-types/task', {
    json_schema: { type: 'object', properties, additionalProperties: false },
  })
  await server.call('PUT', '/v1/crm/record-types/open', { json_schema: { type: 'object', properties } })
  await server.call('PUT', '/v1/crm/record-types/own', {
    json_schema: {
      type: 'object',
      properties: { ...properties, status: { type: 'string' } },
      additionalProperties: false,
    },
  })
  for (const id of ['t1', 't2', 't3', 't4', 't5'])
    await server.call('PUT', `/v1/crm/records/task/${id}`, { data: { title: id } })
})
afterAll(() => server.close())

test('an update with all fields of the record that was read, one of them changed, is written', async () => {
  const stored = await read('t1')
  const updated = await tool('update_record', { ...stored, data: { qty: 1 } })
  expect(updated.body).toMatchObject({ id: 't1', version: 2, data: { title: 't1', qty: 1 } })
  const replaced = await tool('upsert_record', { ...(await read('t1')), data: { title: 'whole' } })
  expect(replaced.body).toMatchObject({ id: 't1', version: 3, data: { title: 'whole' } })
  const { data: _, ...about } = await read('t1')
  const typed = await tool('update_task', { ...about, title: 'typed' })
  expect(typed.body).toMatchObject({ id: 't1', version: 4, data: { title: 'typed' } })
})

test('a metadata field that differs from the stored record is refused by name, and nothing is written', async () => {
  const stored = await read('t2')
  const wrong = { version: 9, status: 'cancelled', created_at: '2020-01-01T00:00:00.000Z' }
  for (const [name, args] of [
    ['update_record', { ...stored, ...wrong, data: { qty: 1 } }],
    ['upsert_record', { ...stored, ...wrong, data: { title: 'x' } }],
    ['update_task', { id: 't2', qty: 1, ...wrong }],
  ] as const) {
    const { error } = await tool(name, args)
    expect(error, name).toMatchObject({ code: 'VALIDATION_ERROR' })
    expect(Object.fromEntries(error.details.map((each: Body) => [each.path, each])), name).toMatchObject({
      '/version': { code: 'not_writable', expected: 1, received: 9 },
      '/status': { code: 'not_writable', expected: 'active', received: 'cancelled' },
      '/created_at': { code: 'not_writable', expected: stored.created_at },
    })
    expect(error.details).toHaveLength(3)
  }
  expect(await read('t2')).toEqual(stored)
})

test('null does not clear the external_id of a record and is refused as not_writable', async () => {
  const pair = { external_id: 'x-1', external_source: 'shop' }
  await server.call('PUT', '/v1/crm/records/task/t3', { data: { title: 't3' }, ...pair })
  const { error } = await tool('update_record', { record_type: 'task', id: 't3', external_id: null })
  expect(error.details).toMatchObject([{ path: '/external_id', code: 'not_writable', expected: 'x-1' }])
  const stored = await read('t3')
  const { id: _, ...byPair } = stored
  const written = await tool('upsert_record', { ...byPair, data: { title: 'by pair' } })
  expect(written.body).toMatchObject({ id: 't3', data: { title: 'by pair' }, ...pair })
})

test('metadata of a record that does not exist is refused', async () => {
  const absent = await tool('upsert_record', { record_type: 'task', id: 'none', data: {}, version: 1 })
  expect(absent.error.details).toMatchObject([{ path: '/version', code: 'not_writable' }])
  const unnamed = await tool('upsert_record', { record_type: 'task', data: {}, version: 1 })
  expect(unnamed.error.details).toMatchObject([{ path: '/version', code: 'not_conditional' }])
  expect((await server.call('GET', '/v1/crm/records/task/none')).status).toBe(404)
  const made = await tool('create_task', { title: 'new', version: 1 })
  expect(made.error.code).toBe('VALIDATION_ERROR')
})

test('a repeated idempotency_key returns the first result even if the record has a newer version', async () => {
  const call = { ...(await read('t4')), data: { qty: 7 }, idempotency_key: 'echo-1' }
  const first = await tool('update_record', call)
  expect(first.body.version).toBe(2)
  expect((await tool('update_record', call)).body).toEqual(first.body)
})

test('a property named like a metadata field, and any field sent to an open type, is data', async () => {
  await server.call('PUT', '/v1/crm/records/own/o1', { data: { status: 'mine' } })
  const own = await tool('update_own', { id: 'o1', status: 'yours', version: 1 })
  expect(own.body.data).toEqual({ status: 'yours' })
  await server.call('PUT', '/v1/crm/records/open/o2', { data: {} })
  const open = await tool('update_open', { id: 'o2', status: 'data' })
  expect(open.body).toMatchObject({ status: 'active', data: { status: 'data' } })
})

test('a placeholder argument "random_string" is ignored by tools without required arguments', async () => {
  const listed = await tool('list_types', { random_string: 'dummy' })
  expect(listed.body.data).toHaveLength(3)
  const bases = await callTool(server, '/mcp', 'list_bases', { random_string: '' })
  expect(bases.body.data).toHaveLength(1)
  const { error } = await tool('get_record', { record_type: 'task', id: 't1', random_string: 'x' })
  expect(error.details).toMatchObject([{ path: '/random_string', code: 'unknown_key' }])
})

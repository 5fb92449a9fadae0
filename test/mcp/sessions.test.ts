import { afterAll, beforeAll, expect, test } from 'vitest'
import { LIMITS } from '../../src/foundation/limits.ts'
import { rpc } from '../support/mcp.ts'
import { openSession } from '../support/mcp-session.ts'
import { type Body, openServer, type TestServer } from '../support/server.ts'
import { SERVERS } from '../support/several-servers.ts'
import type { OpenStream } from '../support/sse.ts'

/** A session ends, and has its stream, at one server. */
const atOne = test.skipIf(SERVERS > 1)
let server: TestServer
let second: TestServer
beforeAll(async () => {
  server = await openServer()
  second = await openServer({}, server.database)
  await server.call('PUT', '/v1/bases/crm', {})
  await server.call('PUT', '/v1/bases/other', {})
  await putType('task')
})
afterAll(async () => {
  await second.close()
  await server.close()
})

const putType = (id: string, title = 'string', at = server) =>
  at.call('PUT', `/v1/crm/record-types/${id}`, {
    json_schema: { type: 'object', properties: { [title]: { type: 'string' } } },
  })
const tokenFor = async (...types: string[]): Promise<{ token: string; id: string }> => {
  const grants = [{ base: 'crm', record_type: types, environment: '*', permission: 'write' }]
  return (await server.call('POST', '/v1/tokens', { name: 'agent', grants })).body
}
/** The notifications of a changed type. */
const CHANGED = ['notifications/tools/list_changed', 'notifications/resources/list_changed']
/** The notifications of the nth change. */
const changeOf = async (stream: OpenStream, nth: number) =>
  (await stream.until(nth * 2)).slice(-2).map((event) => event.data)
const TOLD = CHANGED.map((method) => ({ jsonrpc: '2.0', method }))

atOne('initialize opens a session that is served until DELETE ends it', async () => {
  const session = await openSession(server)
  expect(session.id).toMatch(/^[\x21-\x7e]{16,}$/)
  expect(session.initialized.capabilities.tools).toEqual({ listChanged: true })
  expect((await session.request('ping')).body).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
  const { body } = await session.request('tools/call', { name: 'list_types', arguments: {} }, 'x')
  expect(body).toMatchObject({ id: 'x', result: { structuredContent: { data: [{ id: 'task' }] } } })
  expect((await session.end()).status).toBe(204)
  for (const method of ['ping', 'tools/list']) {
    const { status, body } = await session.request(method)
    expect(status).toBe(404)
    expect(body).toMatchObject({ id: null, error: { message: expect.stringContaining('initialize') } })
  }
  expect((await session.end()).status).toBe(404)
})

test('a session is 404 for another token, another URL or a wrong id', async () => {
  const { token } = await tokenFor('task')
  const session = await openSession(server, { token })
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
  const asked = (at: TestServer, path: string, as: string, id = session.id) =>
    at.as(as)('POST', path, ping, { 'mcp-session-id': id })
  expect((await asked(server, '/mcp/crm', token)).status).toBe(200)
  expect((await asked(server, '/mcp/crm', server.adminToken)).status).toBe(404)
  expect((await asked(server, '/mcp/crm?readonly=1', token)).status).toBe(404)
  expect((await asked(server, '/mcp', token)).status).toBe(404)
  expect((await asked(server, '/mcp/crm', token, 'made-up')).status).toBe(404)
  for (const method of ['GET', 'DELETE']) {
    const { status } = await server.call(method, '/mcp/crm', undefined, { 'mcp-session-id': session.id })
    expect(status, method).toBe(404)
  }
  expect((await asked(server, '/mcp/crm', token)).status).toBe(200)
})

test('a POST without a session id is served and opens no session', async () => {
  const { headers, body } = await rpc(server, '/mcp/crm', 'tools/list')
  expect(headers.get('mcp-session-id')).toBeNull()
  expect(body.result.tools.length).toBeGreaterThan(0)
})

test('above the limit the stream of the least recently used session ends, and the session stays usable', {
  tags: 'full',
}, async () => {
  const { token } = await tokenFor('task')
  const other = await (await openSession(server)).listen()
  const first = await openSession(server, { token })
  const next = await openSession(server, { token })
  const [kept, left] = [await first.listen(), await next.listen()]
  await first.request('ping')
  for (let n = 2; n < LIMITS.mcpSessionsOfToken + 1; n++) await openSession(server, { token })
  await left.ended
  await putType('task', 'above')
  await Promise.all([kept.until(2), other.until(2)])
  expect((await next.request('ping')).status).toBe(200)
  for (const stream of [kept, other]) stream.cut()
})

atOne('a session of one process is served by another one, for the same token and address only', async () => {
  const { token } = await tokenFor('task')
  const session = await openSession(server, { token })
  const asked = (at: TestServer, path: string, as: string, method: string, params = {}) =>
    at.as(as)('POST', path, { jsonrpc: '2.0', id: 1, method, params }, { 'mcp-session-id': session.id })
  expect((await asked(second, '/mcp/crm', token, 'ping')).status).toBe(200)
  expect((await asked(second, '/mcp/crm', server.adminToken, 'ping')).status).toBe(404)
  expect((await asked(second, '/mcp', token, 'ping')).status).toBe(404)
  const { body } = await asked(second, '/mcp/crm', token, 'tools/call', { name: 'list_types', arguments: {} })
  expect(body.result.structuredContent.data).toHaveLength(1)
  expect((await session.end()).status).toBe(204)
  expect((await asked(server, '/mcp/crm', token, 'ping')).status).toBe(404)
})

test('an id of a session is short whatever the client says of itself', async () => {
  const long = 'x'.repeat(20_000)
  const { headers } = await rpc(server, '/mcp/crm', 'initialize', {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {}, experimental: { [long]: { long } } },
    clientInfo: { name: long, version: long },
  })
  expect(headers.get('mcp-session-id')?.length).toBeLessThan(1000)
})

test('a session stream notifies of changed tools when any server process changes a type', {
  tags: 'full',
}, async () => {
  const session = await openSession(server)
  const stream = await session.listen()
  expect([stream.status, stream.type]).toEqual([200, 'text/event-stream; charset=utf-8'])
  await putType('late')
  expect(await changeOf(stream, 1)).toEqual(TOLD)
  const names = (await session.request('tools/list')).body.result.tools.map((tool: Body) => tool.name)
  expect(names).toContain('create_late')
  await putType('late', 'renamed', second)
  expect(await changeOf(stream, 2)).toEqual(TOLD)
  await server.call('DELETE', '/v1/crm/record-types/late')
  expect(await changeOf(stream, 3)).toEqual(TOLD)
  stream.cut()
})

test('a session is not notified of types outside its grants', { tags: 'full' }, async () => {
  await putType('secret')
  const { token } = await tokenFor('task')
  const stream = await (await openSession(server, { token })).listen()
  await putType('secret', 'other')
  await server.call('PUT', '/v1/other/record-types/task', {})
  await putType('task', 'seen')
  expect(await changeOf(stream, 1)).toEqual(TOLD)
  expect(stream.events).toHaveLength(2)
  stream.cut()
})

test('a revoked token ends its streams and sessions', { tags: 'full' }, async () => {
  const { token, id } = await tokenFor('task')
  const session = await openSession(server, { token })
  const [own, account] = [
    await session.listen(),
    await (await openSession(server, { token, path: '/mcp' })).listen(),
  ]
  await server.call('DELETE', `/v1/tokens/${id}`)
  await Promise.all([own.ended, account.ended])
  expect((await session.request('ping')).status).toBe(401)
})

atOne('a second stream of a session ends the first', async () => {
  const session = await openSession(server)
  const lost = await session.listen()
  const stream = await session.listen()
  await lost.ended
  await putType('task', 'again')
  await stream.until(1)
  expect(lost.events).toEqual([])
  await session.end()
  await stream.ended
})

test('session streams count towards the stream limit of the token', { tags: 'full' }, async () => {
  const { token } = await tokenFor('task')
  const open = []
  for (let n = 0; n < LIMITS.streamsOfToken; n++)
    open.push(await (await openSession(server, { token })).listen())
  const session = await openSession(server, { token })
  const refused = await server.as(token)('GET', '/mcp/crm', undefined, session.headers)
  expect(refused.status).toBe(429)
  expect(refused.body.error.data.error).toMatchObject({ code: 'RATE_LIMITED' })
  for (const stream of open) stream.cut()
})

atOne('session streams end on graceful shutdown, and the server closes', async () => {
  const short = await openServer({}, server.database)
  const stream = await (await openSession(short)).listen()
  const ends = Promise.all([short.close(), stream.ended]).then(() => 'ended')
  await expect(ends).resolves.toBe('ended')
})

import { request } from 'node:http'
import { connect as open } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callTool, connect, DIALECTS, rpc } from '../support/mcp.ts'
import { type Body, openServer, type TestServer } from '../support/server.ts'

let server: TestServer
let reader: string
const message = (method: string, id?: number | string | null, params?: object) => ({
  jsonrpc: '2.0',
  ...(id !== undefined && { id }),
  method,
  ...(params && { params }),
})
const post = (
  body: unknown,
  headers: Record<string, string> = {},
  path = '/mcp/crm',
  token = server.adminToken,
) => server.as(token)('POST', path, body, { 'content-type': 'application/json', ...headers })

beforeAll(async () => {
  server = await openServer()
  await server.call('PUT', '/v1/bases/crm', {})
  await server.call('PUT', '/v1/bases/other', {})
  await server.call('PUT', '/v1/crm/record-types/task', {
    json_schema: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] },
  })
  const made = await server.call('POST', '/v1/tokens', {
    name: 'reader',
    grants: [{ base: 'crm', record_type: '*', environment: 'production', permission: 'read' }],
  })
  reader = made.body.token
})
afterAll(() => server.close())

const INITIALIZE = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'raw', version: '0' },
}
const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}
const modernHeaders = (method: string, name?: string) => ({
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': method,
  ...(name && { 'mcp-name': name }),
})

describe.each(DIALECTS)('a %s client', (dialect) => {
  test('gets the instructions, and the same tools in the same order in each connection', async () => {
    const [one, two] = await Promise.all([
      connect(server.url, server.adminToken, dialect, '/mcp/crm'),
      connect(server.url, server.adminToken, dialect, '/mcp/crm'),
    ])
    const instructions = one.getInstructions() ?? ''
    expect(instructions).toMatch(/Plinth/)
    for (const name of ['query_records', 'aggregate_records', 'upsert_record', 'task (0): title! string'])
      expect(instructions).toContain(name)
    const first = await one.listTools()
    expect(first.tools.map((tool) => tool.name)).toEqual(
      expect.arrayContaining(['list_types', 'query_records', 'create_task']),
    )
    expect(first.tools.map((tool) => tool.name)).not.toContain('update_task')
    expect((await two.listTools()).tools).toEqual(first.tools)
    await Promise.all([one.close(), two.close()])
  })

  test('lists the tools for bases and types on /mcp', async () => {
    const client = await connect(server.url, server.adminToken, dialect)
    const { tools } = await client.listTools()
    const names = tools.map((tool) => tool.name)
    expect(names).toEqual(expect.arrayContaining(['list_bases', 'put_base', 'define', 'query_records']))
    expect(names).not.toContain('create_task')
    const query = tools.find((tool) => tool.name === 'query_records')
    expect(query.inputSchema.required).toEqual(expect.arrayContaining(['base_id', 'record_type']))
    await client.close()
  })

  test('is refused with an unknown token', async () => {
    await expect(connect(server.url, 'plt_nobody', dialect, '/mcp/crm')).rejects.toThrow()
  })
})

test('initialize accepts a supported version, and offers the newest for any other', async () => {
  for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
    const { body } = await rpc(server, '/mcp', 'initialize', { ...INITIALIZE, protocolVersion: version })
    expect(body.result.protocolVersion).toBe(version)
  }
  const { body } = await rpc(server, '/mcp', 'initialize', { ...INITIALIZE, protocolVersion: '1999-01-01' })
  expect(body.result).toMatchObject({ protocolVersion: '2025-11-25', serverInfo: { name: 'plinth' } })
  expect(body.result.capabilities).toHaveProperty('tools')
})

test('a ping is answered, and a notification is 202 without a body', async () => {
  expect((await rpc(server, '/mcp/crm', 'ping', undefined, { id: 'p' })).body).toEqual({
    jsonrpc: '2.0',
    id: 'p',
    result: {},
  })
  for (const note of ['notifications/initialized', 'notifications/cancelled', 'notifications/unheard_of']) {
    const { status, text } = await post(message(note, undefined, { requestId: 1 }))
    expect([status, text], note).toEqual([202, ''])
  }
  const answer = await post({ jsonrpc: '2.0', id: 4, result: {} })
  expect([answer.status, answer.text]).toEqual([202, ''])
})

test('an unsupported method is -32601', async () => {
  for (const method of ['roots/list', 'tasks/list', 'nonsense']) {
    const { status, body } = await rpc(server, '/mcp/crm', method)
    expect(status).toBe(200)
    expect(body).toMatchObject({ id: 1, error: { code: -32601 } })
  }
})

test('invalid params are -32602, with the faulty parameter in the message', { tags: 'full' }, async () => {
  const cases: [string, object | undefined, string][] = [
    ['tools/call', undefined, 'params'],
    ['tools/call', {}, 'params.name'],
    ['tools/call', { name: 5 }, 'params.name'],
    ['tools/call', { name: 'list_types', arguments: [] }, 'params.arguments'],
    ['tools/call', { name: 'list_types', arguments: '{}' }, 'params.arguments'],
    ['tools/list', { cursor: 'abc' }, 'cursor'],
    ['initialize', { protocolVersion: '2025-06-18' }, 'params.'],
  ]
  for (const [method, params, where] of cases) {
    const { status, body } = await rpc(server, '/mcp/crm', method, params)
    expect(status).toBe(200)
    expect(body, `${method} ${JSON.stringify(params)}`).toMatchObject({ id: 1, error: { code: -32602 } })
    expect(body.error.message).toContain(where)
  }
  for (const name of ['__proto__', 'constructor', '', 'create_', 'x'.repeat(5000)]) {
    const { rpcError } = await callTool(server, '/mcp/crm', name)
    expect(rpcError, name).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/^There is no tool/),
    })
    expect(rpcError.message.length).toBeLessThan(400)
  }
})

test('a JSON-RPC batch has one response with a result for each request id', async () => {
  const { status, body } = await post([
    message('ping', 1),
    message('notifications/initialized'),
    message('tools/call', 'b', { name: 'list_types', arguments: {} }),
    message('nonsense', 3),
  ])
  expect(status).toBe(200)
  expect(body.map((each: Body) => each.id).sort()).toEqual([1, 3, 'b'])
  expect(body.find((each: Body) => each.id === 'b').result.structuredContent.data).toHaveLength(1)
  const notes = await post([message('notifications/initialized'), message('notifications/initialized')])
  expect([notes.status, notes.text]).toEqual([202, ''])
})

test('an invalid JSON-RPC message is 400 with the JSON-RPC error code', async () => {
  const malformed = await post('{"jsonrpc":')
  expect(malformed.status).toBe(400)
  expect(malformed.body).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32700 } })
  const bodies: unknown[] = [
    [],
    {},
    '5',
    'null',
    { id: 1, method: 'ping' },
    { jsonrpc: '1.0', id: 1, method: 'ping' },
    { jsonrpc: '2.0', id: 1, method: 5 },
    { jsonrpc: '2.0', id: {}, method: 'ping' },
    [message('ping', 1), { nothing: true }],
    [message('ping', 1), message('ping', 1)],
    Array.from({ length: 101 }, (_, id) => message('ping', id)),
  ]
  for (const body of bodies) {
    const answer = await post(body)
    expect(answer.status, JSON.stringify(body)?.slice(0, 80)).toBe(400)
    expect(answer.body).toMatchObject({ jsonrpc: '2.0', error: { code: -32600 } })
    expect(answer.body).not.toHaveProperty('result')
  }
  const empty = await post('')
  expect(empty.status).toBe(400)
  const unsafe = await post(
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"n":9007199254740993}}}',
  )
  // The message is a valid call, so the number is a fault of the call.
  expect(unsafe.status).toBe(200)
  expect(unsafe.body).toMatchObject({ id: 1, result: { isError: true } })
  expect(JSON.parse(unsafe.body.result.content[0].text).error).toMatchObject({
    code: 'VALIDATION_ERROR',
    details: [{ path: '/n', code: 'unsafe_number' }],
  })
  const text = await post(JSON.stringify(message('ping', 1)), { 'content-type': 'text/plain' })
  expect(text.status).toBe(400)
})

test('an unsupported MCP-Protocol-Version is 400; a missing one is accepted', async () => {
  for (const version of ['1999-01-01', 'latest', '']) {
    const { status, body } = await post(message('ping', 1), { 'mcp-protocol-version': version })
    expect(status, version).toBe(400)
    expect(body.error.code).toBeLessThan(0)
  }
  expect((await post(message('ping', 1), { 'mcp-protocol-version': '2025-06-18' })).status).toBe(200)
})

test('a POST whose Accept has no supported media type is 406', async () => {
  expect((await post(message('ping', 1), { accept: 'text/html' })).status).toBe(406)
  expect((await post(message('ping', 1), { accept: 'application/json, text/event-stream' })).status).toBe(200)
})

test('a GET or DELETE without a session is 405', async () => {
  for (const method of ['GET', 'DELETE']) {
    const { status, headers } = await server.call(method, '/mcp/crm', undefined, {
      accept: 'text/event-stream',
    })
    expect(status, method).toBe(405)
    expect(headers.get('allow')).toBe('POST')
  }
})

test('stateless requests discover, list and call tools without a session', async () => {
  const discover = await post(
    message('server/discover', 1, { _meta: MODERN }),
    modernHeaders('server/discover'),
  )
  expect(discover.status).toBe(200)
  expect(discover.body.result.supportedVersions).toContain('2026-07-28')
  const list = await post(message('tools/list', 2, { _meta: MODERN }), modernHeaders('tools/list'))
  expect(list.body.result).toMatchObject({ cacheScope: 'private', ttlMs: expect.any(Number) })
  const call = await post(
    message('tools/call', 3, { _meta: MODERN, name: 'list_types', arguments: {} }),
    modernHeaders('tools/call', 'list_types'),
  )
  expect(call.body.result.structuredContent.data).toHaveLength(1)
  const mismatch = await post(
    message('tools/call', 4, { _meta: MODERN, name: 'list_types', arguments: {} }),
    modernHeaders('tools/call', 'delete_record'),
  )
  expect(mismatch.status).toBe(400)
  expect(mismatch.body).not.toHaveProperty('result')
})

const asking = (name: unknown, meta: object = MODERN) =>
  message('tools/call', 7, { _meta: meta, name, arguments: {} })
const base64 = (name: string) => `=?base64?${Buffer.from(name).toString('base64')}?=`

test('a stateless request whose headers differ from its message is 400 with the difference', async () => {
  const named = modernHeaders('tools/call', 'list_types')
  const without = (gone: string) =>
    Object.fromEntries(Object.entries(named).filter(([name]) => name !== gone))
  for (const headers of [
    without('mcp-protocol-version'),
    without('mcp-method'),
    without('mcp-name'),
    { ...named, 'mcp-method': 'tools/list' },
    { ...named, 'mcp-protocol-version': '2025-11-25' },
    { ...named, 'mcp-name': 'LIST_TYPES' },
    { ...named, 'mcp-name': base64('delete_record') },
    { ...named, 'mcp-name': '=?base64?YQ?=' },
    { ...named, 'mcp-name': '=?base64?//8=?=' },
  ]) {
    const { status, body } = await post(asking('list_types'), headers)
    expect([status, body.id, body.error?.code], JSON.stringify(headers)).toEqual([400, 7, -32020])
    expect(body.error.data.mismatch).toMatchObject({ header: expect.any(String), body: expect.any(String) })
  }
  const encoded = await post(asking('list_types'), { ...named, 'mcp-name': base64('list_types') })
  expect(encoded.body.result.structuredContent.data).toHaveLength(1)
})

test('a stateless request with an invalid _meta or an unsupported version is 400', async () => {
  const version = 'io.modelcontextprotocol/protocolVersion'
  const headers = modernHeaders('tools/call', 'list_types')
  for (const meta of [
    undefined,
    {},
    { [version]: 5 },
    { [version]: '2026-07-28' },
    { ...MODERN, 'io.modelcontextprotocol/logLevel': 'loud' },
  ]) {
    const { status, body } = await post(asking('list_types', meta ?? {}), headers)
    expect([status, body.error?.code], JSON.stringify(meta)).toEqual([400, -32602])
  }
  for (const requested of ['2027-01-01', '2025-11-25']) {
    const meta = { ...MODERN, [version]: requested }
    const { status, body } = await post(asking('list_types', meta), {
      ...headers,
      'mcp-protocol-version': requested,
    })
    expect([status, body.id, body.error?.code], requested).toEqual([400, 7, -32022])
    expect(body.error.data).toEqual({ supported: ['2026-07-28'], requested })
  }
})

test('a stateless request refuses session methods and invalid params, and ignores notifications', {
  tags: 'full',
}, async () => {
  for (const method of ['ping', 'initialize', 'logging/setLevel', 'resources/subscribe', 'constructor']) {
    const { status, body } = await post(message(method, 7, { _meta: MODERN }), modernHeaders(method))
    expect([status, body.error?.code], method).toEqual([404, -32601])
  }
  const cases: [string, object, string][] = [
    ['tools/call', {}, 'params.name'],
    ['tools/call', { name: 'list_types', arguments: [] }, 'params.arguments'],
    ['tools/list', { cursor: 5 }, 'params.cursor'],
    ['resources/read', {}, 'params.uri'],
    ['prompts/get', { name: 'x', arguments: { a: 5 } }, 'params.arguments.a'],
  ]
  for (const [method, params, where] of cases) {
    const name = (params as { name?: string }).name
    const sent = message(method, 7, { _meta: MODERN, ...params })
    const { status, body } = await post(sent, modernHeaders(method, name))
    expect([status, body.error?.code], method).toEqual([200, -32602])
    expect(body.error.message).toContain(where)
  }
  const note = await post(message('notifications/cancelled', undefined, { requestId: 7, _meta: MODERN }), {
    ...modernHeaders('notifications/cancelled'),
  })
  expect([note.status, note.text]).toEqual([202, ''])
})

test('an older version says which params of logging/setLevel are not valid', async () => {
  for (const [params, where] of [
    [{ level: 'loud' }, 'params.level'],
    [{}, 'params.level'],
    [undefined, 'params'],
  ] as const) {
    const { status, body } = await post(message('logging/setLevel', 7, params))
    expect([status, body.id, body.error?.code]).toEqual([200, 7, -32602])
    expect(body.error.message).toContain(`The params of logging/setLevel are not valid: ${where}:`)
  }
  expect((await post(message('logging/setLevel', 8, { level: 'info' }))).body.result).toEqual({})
})

test('a request without a valid token is 401 with a WWW-Authenticate header', async () => {
  for (const token of [null, 'plt_nobody'])
    for (const path of ['/mcp', '/mcp/crm', '/mcp/nowhere']) {
      const { status, body, headers } = await rpc(server, path, 'initialize', INITIALIZE, { token })
      expect(status).toBe(401)
      expect(headers.get('www-authenticate')).toMatch(/^Bearer/)
      expect(body).toMatchObject({
        jsonrpc: '2.0',
        id: null,
        error: { data: { error: { code: 'UNAUTHORIZED', details: [{ path: 'header/Authorization' }] } } },
      })
    }
  expect((await server.as(null)('GET', '/mcp')).status).toBe(401)
})

test('a base outside the grants is 403 whether or not it exists', async () => {
  const ask = (path: string, method = 'tools/list') =>
    rpc(server, path, method, method === 'initialize' ? INITIALIZE : {}, { token: reader })
  for (const method of ['initialize', 'tools/list']) {
    const [real, absent] = await Promise.all([ask('/mcp/other', method), ask('/mcp/nowhere', method)])
    expect([real.status, absent.status]).toEqual([403, 403])
    expect(real.body.error.data.error.code).toBe('FORBIDDEN')
    expect(absent.body.error.message).toBe(real.body.error.message.replace('other', 'nowhere'))
  }
  expect((await rpc(server, '/mcp/No_Base', 'tools/list')).status).toBe(404)
  expect((await rpc(server, '/mcp/crm/', 'tools/list')).status).toBe(404)
  expect((await rpc(server, '/mcp/crm/e/none', 'tools/list')).status).toBe(404)
})

test('a base or endpoint that does not exist is 404 for every method and protocol version', {
  tags: 'full',
}, async () => {
  const call = { name: 'list_types', arguments: {} }
  for (const path of ['/mcp/nowhere', '/mcp/nowhere?readonly=1', '/mcp/nowhere/e/none', '/mcp/crm/e/none']) {
    const answers = [
      await rpc(server, path, 'initialize', INITIALIZE),
      await rpc(server, path, 'tools/list'),
      await rpc(server, path, 'tools/call', call),
      await post(message('server/discover', 1, { _meta: MODERN }), modernHeaders('server/discover'), path),
      await post(message('tools/list', 2, { _meta: MODERN }), modernHeaders('tools/list'), path),
      await server.call('GET', path, undefined, { accept: 'text/event-stream' }),
    ]
    for (const { status, body } of answers) {
      expect(status, path).toBe(404)
      expect(body).toMatchObject({ jsonrpc: '2.0', error: { code: -32000 } })
      const [detail] = body.error.data.error.details
      expect(detail.path).toBe(path.startsWith('/mcp/crm') ? 'path/endpoint_id' : 'path/base_id')
    }
  }
  await expect(connect(server.url, server.adminToken, 'v1', '/mcp/nowhere')).rejects.toThrow(/no base/)
  // Invalid options are reported before the missing base.
  expect((await rpc(server, '/mcp/nowhere?readnly=1', 'tools/list')).status).toBe(400)
})

test('a base is served as soon as it is created, and is 404 as soon as it is deleted', {
  tags: 'full',
}, async () => {
  const status = async () => (await rpc(server, '/mcp/brief', 'tools/list')).status
  expect(await status()).toBe(404)
  await server.call('PUT', '/v1/bases/brief', {})
  expect([await status(), await status()]).toEqual([200, 200])
  await server.call('DELETE', '/v1/bases/brief')
  expect(await status()).toBe(404)
  await server.call('PUT', '/v1/bases/brief', {})
  expect(await status()).toBe(200)
})

test('?readonly=1 lists only tools that read, and makes the others unknown', { tags: 'full' }, async () => {
  const path = '/mcp/crm?readonly=1'
  const { body } = await rpc(server, path, 'tools/list')
  expect(body.result.tools.map((tool: Body) => tool.name).sort()).toEqual([
    'aggregate_records',
    'changes',
    'describe_type',
    'get_record',
    'get_related',
    'list_types',
    'query_records',
    'record_history',
    'sql_query',
    'work',
  ])
  expect(body.result.tools.every((tool: Body) => tool.annotations.readOnlyHint)).toBe(true)
  for (const name of ['upsert_record', 'create_task', 'update_task', 'delete_record']) {
    const { rpcError } = await callTool(server, path, name, { record_type: 'task', data: { title: 'x' } })
    expect(rpcError, name).toMatchObject({ code: -32602 })
  }
  expect((await server.call('GET', '/v1/crm/records/task')).body.data).toEqual([])
  const account = await rpc(server, '/mcp?readonly=true', 'tools/list')
  expect(account.body.result.tools.map((tool: Body) => tool.name)).not.toContain('put_base')
  expect((await rpc(server, '/mcp/crm?readonly=0', 'tools/list')).body.result.tools.length).toBeGreaterThan(3)
})

test('the SQL tools are not listed when SQL is disabled, and a call returns sql_disabled', {
  tags: 'full',
}, async () => {
  const off = await openServer({ PLINTH_SQL_ENABLED: 'false' })
  try {
    await off.call('PUT', '/v1/bases/crm', {})
    for (const path of ['/mcp', '/mcp/crm']) {
      const named = async (from: TestServer) =>
        (await rpc(from, path, 'tools/list')).body.result.tools.map((tool: Body) => tool.name)
      const on = await named(server)
      expect(on).toContain('sql_query')
      expect(await named(off)).toEqual(on.filter((name: string) => !/^sql_(query|write)$|_task$/.test(name)))
    }
    const { error } = await callTool(off, '/mcp/crm', 'sql_query', { query: 'SELECT 1 AS one' })
    expect(error).toMatchObject({ code: 'FORBIDDEN', details: [{ code: 'sql_disabled' }] })
  } finally {
    await off.close()
  }
})

test('an unknown, invalid or repeated URL option is 400 and named', async () => {
  for (const [query, path] of [
    ['read_only=1', 'query/read_only'],
    ['readonly=yes', 'query/readonly'],
    ['readonly=', 'query/readonly'],
    ['readonly=1&readonly=0', 'query/readonly'],
    ['base=crm', 'query/base'],
    ['types=ta sk', 'query/types'],
    ['tools=query', 'query/tools'],
  ] as const) {
    const { status, body } = await rpc(server, `/mcp/crm?${query}`, 'tools/list')
    expect(status, query).toBe(400)
    expect(body.error.data.error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path }] })
  }
  const { body } = await rpc(server, '/mcp/crm?readonyl=1', 'tools/list')
  expect(body.error.data.error.details[0].hint).toBe('readonly')
})

/** The status of a request with the given Host and Origin. */
const statusWith = (headers: Record<string, string>) =>
  new Promise<number>((resolve, reject) => {
    const { hostname, port } = new URL(server.url)
    const body = JSON.stringify(message('ping', 1))
    const outgoing = request(
      {
        hostname,
        port,
        method: 'POST',
        path: '/mcp/crm',
        setHost: false,
        headers: {
          host: `127.0.0.1:${port}`,
          authorization: `Bearer ${server.adminToken}`,
          'content-type': 'application/json',
          'content-length': body.length,
          ...headers,
        },
      },
      (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })

test('a foreign Host or Origin is 403, which prevents DNS rebinding', async () => {
  const { port } = new URL(server.url)
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    'localhost.evil.example',
    '127.0.0.1.nip.io',
    '10.0.0.1',
  ])
    expect(await statusWith({ host }), host).toBe(403)
  for (const host of ['localhost', `localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, 'LOCALHOST'])
    expect(await statusWith({ host }), host).toBe(200)
  for (const origin of ['http://evil.example', 'null', 'http://localhost.evil.example', 'file://'])
    expect(await statusWith({ origin }), origin).toBe(403)
  for (const origin of ['http://localhost:3000', `http://127.0.0.1:${port}`])
    expect(await statusWith({ origin }), origin).toBe(200)
})

test('the public URL and the CORS origins are accepted as Host and Origin', { tags: 'full' }, async () => {
  const shared = await openServer(
    { PLINTH_PUBLIC_URL: 'https://data.example/', PLINTH_CORS_ORIGINS: 'https://app.example' },
    server.database,
  )
  const address = JSON.parse(shared.log.find((line) => line.includes('Server listening')) ?? '{}').msg
  const { port } = new URL(address.replace('Server listening at ', ''))
  const ask = (headers: Record<string, string>) =>
    new Promise<number>((resolve) => {
      const body = JSON.stringify(message('ping', 1))
      const common = { 'content-type': 'application/json', authorization: `Bearer ${server.adminToken}` }
      const outgoing = request(
        {
          port,
          host: '127.0.0.1',
          path: '/mcp',
          method: 'POST',
          setHost: false,
          headers: { ...common, ...headers },
        },
        (response) => {
          response.resume()
          resolve(response.statusCode ?? 0)
        },
      )
      outgoing.end(body)
    })
  expect(await ask({ host: 'data.example' })).toBe(200)
  expect(await ask({ host: 'data.example', origin: 'https://app.example' })).toBe(200)
  expect(await ask({ host: 'data.example', origin: 'https://data.example' })).toBe(200)
  expect(await ask({ host: 'data.example', origin: 'http://app.example' })).toBe(403)
  expect(await ask({ host: 'app.example' })).toBe(403)
  await shared.close()
})

test('a client that disconnects during a call causes no error in the log', { tags: 'full' }, async () => {
  const { hostname, port } = new URL(server.url)
  const body = JSON.stringify(message('tools/call', 1, { name: 'create_task', arguments: { title: 'gone' } }))
  for (let i = 0; i < 20; i++) {
    const socket = open(Number(port), hostname)
    socket.on('error', () => {})
    socket.write(
      `POST /mcp/crm HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.adminToken}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    await sleep(i % 5)
    socket.destroy()
  }
  await sleep(100)
  expect((await rpc(server, '/mcp/crm', 'ping')).status).toBe(200)
  expect(server.log.filter((line) => /"level":(50|60)/.test(line))).toEqual([])
})

test('an internal error is only in the log; the response has no details of it', async () => {
  const rename = (table: string, from: string, to: string) =>
    server.database.query(`ALTER TABLE plinth.${table} RENAME COLUMN ${from} TO ${to}`)
  await rename('base', 'types_version', 'hidden')
  await rename('record', 'external_source', 'hidden')
  const [list, call] = await Promise.all([
    rpc(server, '/mcp/crm', 'tools/list'),
    callTool(server, '/mcp/crm', 'get_record', { record_type: 'task', id: 'x' }),
  ])
  await rename('base', 'hidden', 'types_version')
  await rename('record', 'hidden', 'external_source')
  expect(list.body.error).toMatchObject({ code: -32603, data: { error: { code: 'INTERNAL_ERROR' } } })
  expect(call.error).toMatchObject({ code: 'INTERNAL_ERROR', details: [] })
  for (const text of [list.text, call.text]) expect(text).not.toMatch(/column|types_version|external_source/)
  for (const name of ['types_version', 'external_source'])
    expect(server.log.some((line) => line.includes(name) && line.includes('"err"'))).toBe(true)
})

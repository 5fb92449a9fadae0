import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Relay } from '../../src/cli/mcp-relay/relay.ts'
import { Upstream } from '../../src/cli/mcp-relay/upstream.ts'
import { until } from '../support/until.ts'

type Request = {
  method: string
  headers: IncomingMessage['headers']
  body: { id?: number; method?: string; params?: { uri?: string } }
}
type Handler = (request: Request, response: ServerResponse) => void

let http: Server
let url: string
let seen: Request[]
let answer: Handler
let written: unknown[]
let logged: string[]
let upstream: Upstream
let relay: Relay

beforeEach(async () => {
  seen = []
  written = []
  logged = []
  answer = sessionServer('one')
  http = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const read: Request = {
      method: request.method ?? '',
      headers: request.headers,
      body: text ? JSON.parse(text) : {},
    }
    seen.push(read)
    answer(read, response)
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  upstream = new Upstream(async () => ({ url, token: 'plt_x' }), '/mcp/crm')
  relay = new Relay(upstream, {
    write: (line) => void written.push(JSON.parse(line)),
    log: (text) => void logged.push(text),
  })
})
afterEach(async () => {
  await upstream.close()
  http.closeAllConnections()
  http.close()
})

const json = (response: ServerResponse, body: unknown, headers = {}) =>
  void response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

/** A server with one session, as before protocol version 2026-07-28; a result is the method name. */
function sessionServer(session: string): Handler {
  return ({ method, headers, body }, response) => {
    if (method !== 'POST') return void response.writeHead(405).end()
    if (body.method === 'initialize')
      return json(
        response,
        { jsonrpc: '2.0', id: body.id, result: { protocolVersion: '2025-06-18' } },
        { 'mcp-session-id': session },
      )
    if (headers['mcp-session-id'] !== session)
      return void response
        .writeHead(404)
        .end('{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}')
    if (body.id === undefined) return void response.writeHead(202).end()
    return json(response, { jsonrpc: '2.0', id: body.id, result: body.method })
  }
}

const line = (method: string, id?: number | string, params?: object) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })
const modern = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } }

test('the relay sends messages with the session id and the negotiated protocol version', async () => {
  for (const text of [line('initialize', 1), line('notifications/initialized'), line('tools/list', 2)])
    await relay.take(text)
  await relay.drain(1000)
  expect(written).toMatchObject([{ id: 1 }, { id: 2, result: 'tools/list' }])
  const list = seen.find(({ body }) => body.method === 'tools/list')
  expect(list?.headers).toMatchObject({
    authorization: 'Bearer plt_x',
    'mcp-session-id': 'one',
    'mcp-protocol-version': '2025-06-18',
  })
  await upstream.close()
  expect(seen.at(-1)).toMatchObject({ method: 'DELETE', headers: { 'mcp-session-id': 'one' } })
})

test('the relay opens a new session when the server returns 404 for the old one', {
  tags: 'full',
}, async () => {
  for (const text of [line('initialize', 1), line('notifications/initialized')]) await relay.take(text)
  answer = sessionServer('two')
  await Promise.all([relay.take(line('tools/list', 2)), relay.take(line('tools/list', 3))])
  await relay.drain(1000)
  expect(written.map((message) => (message as { id: number }).id).sort()).toEqual([1, 2, 3])
  expect(seen.filter(({ body }) => body.method === 'initialize')).toHaveLength(2)
})

test('the relay opens a new session and subscribes again when the session stream is lost', {
  tags: 'full',
}, async () => {
  let session = 'one'
  const streams = new Map<string, ServerResponse>()
  const asked: string[] = []
  answer = (request, response) => {
    const { method, headers, body } = request
    if (headers['mcp-session-id'] === session && body.method === 'resources/subscribe')
      asked.push(`${session} ${String(body.params?.uri)}`)
    if (method !== 'GET' || headers['mcp-session-id'] !== session)
      return method === 'GET' ? void response.writeHead(404).end() : sessionServer(session)(request, response)
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n')
    streams.set(session, response)
  }
  for (const text of [line('initialize', 1), line('notifications/initialized')]) await relay.take(text)
  await relay.take(line('logging/setLevel', 2, { level: 'info' }))
  for (const [id, uri] of ['test://a', 'test://b'].entries())
    await relay.take(line('resources/subscribe', `s${id}`, { uri }))
  await relay.take(line('resources/unsubscribe', 5, { uri: 'test://a' }))
  await until(() => streams.has('one') && written.length === 5)
  session = 'two'
  streams.get('one')?.destroy()
  await until(() => streams.has('two'))
  expect(asked).toEqual(['one test://a', 'one test://b', 'two test://b'])
  expect(seen.filter(({ body }) => body.method === 'logging/setLevel')).toHaveLength(2)
  streams.get('two')?.write('data: {"jsonrpc":"2.0","method":"notifications/resources/updated"}\n\n')
  await until(() => written.length === 6)
  expect(written.at(-1)).toMatchObject({ method: 'notifications/resources/updated' })
})

test('the relay returns an error when a new session fails, and tries again with the next message', async () => {
  for (const text of [line('initialize', 1), line('notifications/initialized')]) await relay.take(text)
  const serve = sessionServer('two')
  let broken = true
  answer = (request, response) =>
    request.body.method === 'initialize' && broken
      ? void response.writeHead(503).end()
      : serve(request, response)
  await relay.take(line('tools/list', 2))
  await until(() => written.length === 2)
  expect(written[1]).toMatchObject({ id: 2, error: { code: -32603 } })
  broken = false
  await relay.take(line('tools/list', 3))
  await until(() => written.length === 3)
  expect(written[2]).toMatchObject({ id: 3, result: 'tools/list' })
})

test('the relay forwards a server request during a call, and the answer of the client', async () => {
  let calling: ServerResponse | undefined
  answer = ({ body }, response) => {
    if (body.method === 'tools/call') {
      calling = response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"jsonrpc":"2.0","id":0,"method":"elicitation/create","params":{}}\n\n')
      return
    }
    response.writeHead(202).end()
    calling?.end('data: {"jsonrpc":"2.0","id":7,"result":"asked"}\n\n')
  }
  await relay.take(line('tools/call', 7))
  await until(() => written.length === 1)
  expect(written[0]).toMatchObject({ id: 0, method: 'elicitation/create' })
  await relay.take('{"jsonrpc":"2.0","id":0,"result":{"action":"accept"}}')
  await relay.drain(1000)
  expect(seen.at(-1)?.body).toMatchObject({ id: 0, result: { action: 'accept' } })
  expect(written).toHaveLength(2)
  expect(written[1]).toMatchObject({ id: 7, result: 'asked' })
})

test('the relay sends the MCP headers of a message with its own protocol version', async () => {
  answer = ({ body }, response) => json(response, { jsonrpc: '2.0', id: body.id, result: {} })
  await relay.take(line('tools/call', 1, { ...modern, name: 'get_record' }))
  await relay.take(line('resources/read', 2, { ...modern, uri: 'plinth://ü' }))
  await relay.drain(1000)
  const headers = (id: number) => seen.find(({ body }) => body.id === id)?.headers
  expect(headers(1)).toMatchObject({
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'get_record',
  })
  expect(headers(2)?.['mcp-name']).toBe(`=?base64?${Buffer.from('plinth://ü').toString('base64')}?=`)
})

test('the relay parses server-sent events split at any byte', async () => {
  answer = async ({ body }, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const progress = '{"jsonrpc":"2.0","method":"notifications/progress"}'
    const text = `: hello\r\nid: 1\r\ndata:\r\n\r\ndata: ${progress}\r\n\r\ndata: {"jsonrpc":"2.0",\ndata: "id":${body.id},"result":"ü"}\n\n`
    for (const byte of Buffer.from(text)) response.write(Buffer.from([byte]))
    response.end()
  }
  await relay.take(line('tools/call', 7))
  await relay.drain(1000)
  expect(written).toEqual([
    { jsonrpc: '2.0', method: 'notifications/progress' },
    { jsonrpc: '2.0', id: 7, result: 'ü' },
  ])
})

test('the relay forwards notifications of the session stream', async () => {
  const serve = answer
  answer = (request, response) => {
    if (request.method !== 'GET') return serve(request, response)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n')
  }
  for (const text of [line('initialize', 1), line('notifications/initialized')]) await relay.take(text)
  await until(() => written.length === 2)
  expect(written[1]).toMatchObject({ method: 'notifications/tools/list_changed' })
})

test.each<[string, Handler, object]>([
  [
    'a refusal of the API',
    (_, response) => void response.writeHead(401).end('{"error":{"code":"UNAUTHORIZED","message":"No."}}'),
    { code: -32603, message: expect.stringMatching(/^UNAUTHORIZED: No\./) },
  ],
  [
    'a refusal of the protocol',
    (_, response) =>
      void response
        .writeHead(400)
        .end('{"jsonrpc":"2.0","id":null,"error":{"code":-32020,"message":"Bad header"}}'),
    { code: -32020, message: expect.stringMatching(/^Bad header/) },
  ],
  [
    'a page of something else',
    (_, response) => void response.writeHead(502).end('<html>'),
    { code: -32603, message: expect.stringMatching(/^The server answered HTTP 502\./) },
  ],
  ['a lost connection', (_, response) => void response.destroy(), { code: -32603 }],
  [
    'no answer in the answer',
    (_, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(),
    { code: -32603 },
  ],
])(
  'the relay answers the request with an error that names the server after %s',
  async (_, handler, error) => {
    answer = handler
    await relay.take(line('tools/list', 'a'))
    await relay.drain(1000)
    expect(written).toMatchObject([{ jsonrpc: '2.0', id: 'a', error }])
    expect(JSON.stringify(written)).toContain(`the server at ${url}`)
  },
)

test('the relay answers an invalid line with a parse error, and serves the next one', async () => {
  answer = ({ body }, response) => json(response, { jsonrpc: '2.0', id: body.id, result: {} })
  for (const text of ['nonsense', '', '[]', line('ping', 1)]) await relay.take(text)
  await relay.drain(1000)
  expect(written).toMatchObject([
    { id: null, error: { code: -32700 } },
    { id: null, error: { code: -32700 } },
    { id: 1, result: {} },
  ])
})

test('a cancellation aborts a stateless request, and is forwarded for a session request', async () => {
  const closed: number[] = []
  answer = ({ body }, response) => {
    if (body.method !== 'tools/call') return void response.writeHead(202).end()
    response.on('close', () => closed.push(body.id ?? 0))
  }
  await relay.take(line('tools/call', 1, modern))
  await relay.take(line('tools/call', 2))
  await until(() => seen.length === 2)
  await relay.take(line('notifications/cancelled', undefined, { requestId: 1 }))
  await relay.take(line('notifications/cancelled', undefined, { requestId: 2 }))
  await until(() => closed.length === 1)
  expect(closed).toEqual([1])
  expect(seen.filter(({ body }) => body.method === 'notifications/cancelled')).toHaveLength(1)
  await relay.drain(50)
  expect(written).toEqual([])
})

test('the relay writes no response for a cancelled request, whatever the server returns', async () => {
  const held: ServerResponse[] = []
  answer = ({ body }, response) => {
    if (body.method !== 'tools/call') return void response.writeHead(202).end()
    held[body.id ?? 0] = response
  }
  const cancel = (requestId: number) => line('notifications/cancelled', undefined, { requestId })
  for (const id of [1, 2, 3, 4]) await relay.take(line('tools/call', id))
  await until(() => seen.length === 4)
  for (const id of [1, 2, 3]) await relay.take(cancel(id))
  // A server may still answer, may end without an answer, or may disconnect.
  json(held[1] as ServerResponse, { jsonrpc: '2.0', id: 1, result: {} })
  held[2]?.writeHead(202).end()
  held[3]?.destroy()
  json(held[4] as ServerResponse, { jsonrpc: '2.0', id: 4, result: 'waited for' })
  await relay.drain(1000)
  expect(written).toEqual([{ jsonrpc: '2.0', id: 4, result: 'waited for' }])
})

test('an answer without content to a cancelled request is no failure', async () => {
  const held: ServerResponse[] = []
  answer = ({ body }, response) => {
    if (body.method === 'tools/call') held.push(response)
    else response.writeHead(202).end()
  }
  await relay.take(line('tools/call', 1))
  await until(() => held.length === 1)
  await relay.take(line('notifications/cancelled', undefined, { requestId: 1 }))
  held[0]?.writeHead(202, { 'content-type': 'application/json' }).end()
  await relay.drain(1000)
  expect([written, logged]).toEqual([[], []])
})

test('the relay looks up the server again when the connection is refused', async () => {
  const found = [`http://127.0.0.1:1`, url]
  // fetch itself refuses port 1; the operating system refuses a closed port.
  const closed = createServer()
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
  found[0] = `http://127.0.0.1:${(closed.address() as AddressInfo).port}`
  await new Promise((resolve) => closed.close(resolve))
  answer = ({ body }, response) => json(response, { jsonrpc: '2.0', id: body.id, result: {} })
  const moving = new Upstream(async () => ({ url: found.shift() ?? '', token: undefined }), '/mcp')
  const other = new Relay(moving, { write: (text) => void written.push(JSON.parse(text)), log: () => {} })
  await other.take(line('ping', 1))
  await other.drain(1000)
  expect(written).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }])
})

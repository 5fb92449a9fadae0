/** Verdicts on the shape of calls are remembered: a wrong call is refused as the first one of its client is. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { openServer, type TestServer } from '../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await openServer()
  succeed(await server.call('PUT', '/v1/bases/crm', {}), 201)
})
afterAll(() => server.close())

type Message = { params: Record<string, unknown> } & Record<string, unknown>
const META = 'io.modelcontextprotocol'
const MODERN = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'list_types' }
const envelope = (client: string): object => ({
  [`${META}/protocolVersion`]: '2026-07-28',
  [`${META}/clientInfo`]: { name: client, version: '1' },
  [`${META}/clientCapabilities`]: {},
})
type Era = readonly [version: string, headers: Record<string, string>, metaOf: (client: string) => object]
const ERAS: readonly Era[] = [
  ['2025-11-25', { 'mcp-protocol-version': '2025-11-25' }, (client) => ({ client })],
  ['2026-07-28', MODERN, envelope],
]
const callOf = (meta: object): Message => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'list_types', arguments: {}, _meta: meta },
})

const param = (name: string, value: unknown) => (message: Message) => {
  message.params[name] = value
}
const member = (name: string, value: unknown) => (message: Message) => {
  message[name] = value
}
const meta = (name: string, value: unknown) => (message: Message) => {
  Object.assign(message.params['_meta'] as object, { [name]: value })
}

/** What a client may send in place of a good call: in the body, or in the headers. */
const OTHERS: readonly [string, (message: Message) => void, Record<string, string>?][] = [
  ['another id', member('id', 'two')],
  ['a fraction as id', member('id', 1.5)],
  ['null as id', member('id', null)],
  ['no id', member('id', undefined)],
  ['another version of JSON-RPC', member('jsonrpc', '1.0')],
  ['another method', member('method', 'tools/list')],
  ['a result beside the method', member('result', {})],
  ['params as a list', member('params', ['list_types'])],
  ['a number as name', param('name', 7)],
  ['no name', param('name', undefined)],
  ['another name', param('name', 'list_typos')],
  ['a list as arguments', param('arguments', [])],
  ['a text as arguments', param('arguments', '{}')],
  ['wrong arguments', param('arguments', { limit: 0 })],
  ['no arguments', param('arguments', undefined)],
  ['a wrong task', param('task', 7)],
  ['a text as _meta', param('_meta', 'x')],
  ['no _meta', param('_meta', undefined)],
  ['a progress token', meta('progressToken', 7)],
  ['an object as progress token', meta('progressToken', {})],
  ['another protocol version in _meta', meta(`${META}/protocolVersion`, '2025-11-25')],
  ['no client', meta(`${META}/clientInfo`, undefined)],
  ['wrong capabilities', meta(`${META}/clientCapabilities`, 7)],
  ['another name in the header', () => {}, { 'mcp-name': 'query_records' }],
  ['another method in the header', () => {}, { 'mcp-method': 'tools/list' }],
  ['an unknown version in the header', () => {}, { 'mcp-protocol-version': '2030-01-01' }],
]

test.each(ERAS)(
  'in protocol version %s, a call is answered the same after good calls',
  { tags: 'full' },
  async (_, headers, metaOf) => {
    let clients = 0
    const post = async (message: object, more: Record<string, string> = {}) => {
      const { status, body } = await server.call('POST', '/mcp/crm', JSON.stringify(message), {
        'content-type': 'application/json',
        accept: 'application/json',
        ...headers,
        ...more,
      })
      return { status, body: JSON.stringify(body ?? null).replace(/[\w-]{36}|client \d+/g, '…') }
    }
    for (const [what, change, more] of OTHERS) {
      const first = callOf(metaOf(`client ${++clients}`))
      change(first)
      const answer = await post(first, more)
      const known = metaOf(`client ${++clients}`)
      for (let n = 0; n < 2; n++) expect((await post(callOf(known))).status, what).toBe(200)
      const later = callOf({ ...known })
      change(later)
      expect(await post(later, more), what).toEqual(answer)
    }
  },
)

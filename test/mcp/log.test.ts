import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { digest } from '../../src/contract/canonical-hash.ts'
import { succeed } from '../support/answers.ts'
import { rpc } from '../support/mcp.ts'
import { DRIVERS } from '../support/mcp-drivers.ts'
import { openSession } from '../support/mcp-session.ts'
import { openServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let tokenId: string
let token: string

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const PARENT = `00-${TRACE}-${SPAN}-01`
const OTHER = `00-${'4'.repeat(32)}-${'5'.repeat(16)}-00`

const VERSION = 'io.modelcontextprotocol/protocolVersion'
const ENVELOPE = { [VERSION]: '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} }
const CAN_BE_ASKED = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } }
/** A stateless request of protocol version 2026-07-28. */
const modern = (method: string, params: Record<string, unknown>, meta: object = {}) => {
  const named = params['name'] ?? params['uri']
  const headers = {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(named !== undefined && { 'mcp-name': `=?base64?${Buffer.from(String(named)).toString('base64')}?=` }),
  }
  return { params: { ...params, _meta: { ...ENVELOPE, ...meta } }, headers }
}

// biome-ignore lint/suspicious/noExplicitAny: log lines have no type.
type Line = any
let serial = 0
/** The log lines of the request that `send` makes, found by its request id. */
async function linesOf(send: (headers: Record<string, string>) => Promise<unknown>): Promise<Line[]> {
  const id = `logged-${++serial}`
  await send({ 'x-request-id': id })
  const found = () =>
    world.log
      .map((line): Line => JSON.parse(line))
      .filter((each) => each.reqId === id && each.msg === 'request')
  await until(() => found().length > 0)
  return found()
}
const linesAbout = (tool: string): Line[] =>
  world.log.map((line): Line => JSON.parse(line)).filter((line) => line.tool === tool)
const inLegacy = (method: string, params?: object, path = '/mcp/crm') =>
  linesOf((headers) => rpc(world, path, method, params, { token, headers }))
const inModern = (method: string, given: Record<string, unknown>, meta?: object) => {
  const { params, headers } = modern(method, given, meta)
  return linesOf((more) =>
    rpc(world, '/mcp/crm', method, params, { token, headers: { ...headers, ...more } }),
  )
}

const CANARY = 'canary-in-the-mine'
const get = { name: 'get_record', arguments: { record_type: 'note', id: CANARY } }
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/record-types/note', {}), 201)
  await world.call('PUT', `/v1/crm/records/note/${CANARY}`, { data: { secret: CANARY } })
  ;({ id: tokenId, token } = await world.newToken([{ permission: 'write' }]))
})
afterAll(() => world.close())

describe.each([
  ['legacy', (method: string, params: object) => inLegacy(method, params)],
  ['modern', (method: string, params: object) => inModern(method, params as Record<string, unknown>)],
] as const)('the log line of a %s request', (_, lines) => {
  test('contains the token id, the tool, the outcome and a digest of the arguments', async () => {
    const [line, ...more] = await lines('tools/call', get)
    expect(more).toEqual([])
    expect(line).toMatchObject({
      method: 'POST',
      route: '/mcp/:base_id',
      status: 200,
      token: tokenId,
      rpc_method: 'tools/call',
      tool: 'get_record',
      outcome: 'ok',
      arguments_sha256: sha256(`{"id":"${CANARY}","record_type":"note"}`),
    })
    expect(line.ms).toBeTypeOf('number')
    const turned = { name: 'get_record', arguments: { id: CANARY, record_type: 'note' } }
    expect((await lines('tools/call', turned))[0].arguments_sha256).toBe(line.arguments_sha256)
    const other = { name: 'get_record', arguments: { id: 'other', record_type: 'note' } }
    expect((await lines('tools/call', other))[0].arguments_sha256).not.toBe(line.arguments_sha256)
  })

  test('contains the error code of a failure', async () => {
    const outcome = async (params: object, method = 'tools/call') => (await lines(method, params))[0].outcome
    expect(await outcome({ name: 'get_record', arguments: { record_type: 'note', id: 'none' } })).toBe(
      'NOT_FOUND',
    )
    expect(await outcome({ name: 'get_record', arguments: { record_type: 'note' } })).toBe('VALIDATION_ERROR')
    expect(await outcome({ name: 'get_recrod', arguments: {} })).toBe('-32602')
    expect(await outcome({}, 'tools/none')).toBe('-32601')
  })

  test('contains the prompt name, and only the kind of a resource', { tags: 'full' }, async () => {
    const [prompt] = await lines('prompts/get', { name: 'greet', arguments: { who: CANARY } })
    expect(prompt).toMatchObject({
      prompt: 'greet',
      outcome: '-32602',
      arguments_sha256: sha256(`{"who":"${CANARY}"}`),
    })
    const kind = async (uri: string) => (await lines('resources/read', { uri }))[0].resource
    expect(await kind(`plinth://crm/records/note/${CANARY}`)).toBe('record')
    expect(await kind('plinth://crm/records/note')).toBe('records')
    expect(await kind('plinth://crm/types/note')).toBe('type')
    expect(await kind(`https://${CANARY}.example/`)).toBe('unknown')
    const [list] = await lines('tools/list', {})
    expect(list).toMatchObject({ rpc_method: 'tools/list', outcome: 'ok' })
    expect(list).not.toHaveProperty('arguments_sha256')
  })

  test('contains client-provided names truncated, escaped and on one line', async () => {
    const name = `evil\u001b[2J\n{"level":60,"msg":"forged"}\u2028\u202e\u009b${'x'.repeat(1000)}`
    const { length } = world.log
    const [line] = await lines('tools/call', { name, arguments: {} })
    expect(line.outcome).toBe('-32602')
    expect(line.tool).toMatch(
      /^evil\\u\{1b\}\[2J\\u\{a\}\{"level":60,"msg":"forged"\}\\u\{2028\}\\u\{202e\}\\u\{9b\}x+$/,
    )
    expect(line.tool.length).toBeLessThan(200)
    for (const written of world.log.slice(length)) {
      expect(written.trimEnd()).not.toMatch(/(?! )[\p{C}\p{Z}]/u)
      expect(JSON.parse(written).msg).not.toBe('forged')
    }
  })

  test('contains no arguments, ids or resource URIs', async () => {
    await lines('tools/call', {
      name: 'query_records',
      arguments: { record_type: CANARY, filter: { and: [CANARY] } },
    })
    await lines('tools/call', { name: 'create_note', arguments: { secret: CANARY } })
    await lines('completion/complete', {
      ref: { type: 'ref/resource', uri: 'plinth://crm/records/{type}/{id}' },
      argument: { name: 'type', value: CANARY },
    })
    expect(world.log.join('')).not.toContain(CANARY)
  })
})

describe('the request log of a POST', () => {
  test('has one line per message of a batch', async () => {
    const call = (id: number, name: string, args: object) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name, arguments: args },
    })
    const batch = [
      call(1, 'get_record', get.arguments),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      call(2, 'get_record', { record_type: 'note', id: 'none' }),
    ]
    const lines = await linesOf((headers) => world.as(token)('POST', '/mcp/crm', batch, headers))
    expect(lines.map(({ rpc_method, outcome }) => [rpc_method, outcome])).toEqual([
      ['tools/call', 'ok'],
      ['notifications/initialized', undefined],
      ['tools/call', 'NOT_FOUND'],
    ])
    const tooLong = await linesOf((headers) =>
      world.as(token)('POST', '/mcp/crm', Array(101).fill(batch[1]), headers),
    )
    expect(tooLong).toHaveLength(1)
  })

  test('has the outcome "refused" when the request is refused before its message is run', async () => {
    const [gone] = await linesOf((headers) =>
      rpc(world, '/mcp/crm', 'tools/call', get, { token, headers: { ...headers, 'mcp-session-id': 'none' } }),
    )
    expect(gone).toMatchObject({ status: 404, tool: 'get_record', outcome: 'refused' })
    const [option] = await inLegacy('tools/call', get, '/mcp/crm?reedonly=1')
    expect(option).toMatchObject({ status: 400, tool: 'get_record', outcome: 'refused' })
    const { params, headers } = modern('tools/call', get)
    const [mismatch] = await linesOf((more) =>
      rpc(world, '/mcp/crm', 'tools/call', params, {
        token,
        headers: { ...headers, ...more, 'mcp-name': 'other' },
      }),
    )
    expect(mismatch).toMatchObject({ status: 400, outcome: 'refused' })
    const [noToken] = await linesOf((more) =>
      rpc(world, '/mcp/crm', 'tools/call', get, { token: 'no', headers: more }),
    )
    expect(noToken).toMatchObject({ status: 401 })
    expect(noToken).not.toHaveProperty('tool')
  })

  test('has no rpc_method when the body is not a JSON-RPC message', async () => {
    for (const body of ['{"jsonrpc"', '[]', '[[[]]]', '{"method":{},"params":[]}', '7', 'null'])
      for (const line of await linesOf((headers) =>
        world.as(token)('POST', '/mcp/crm', body, { 'content-type': 'application/json', ...headers }),
      )) {
        expect(line.status).toBe(400)
        expect(line).not.toHaveProperty('rpc_method')
      }
  })

  test('has the outcome of a streamed call once its stream has ended', { tags: 'full' }, async () => {
    for (const id of ['s1', 's2']) await world.call('PUT', `/v1/crm/records/note/${id}`, { data: {} })
    const operations = ['s1', 's2'].map((id) => ({ type: 'delete_record', record_type: 'note', id }))
    const session = await openSession(world, { token, capabilities: { elicitation: {} } })
    const stream = await session.streaming('tools/call', { name: 'batch', arguments: { operations } })
    const [question] = await stream.until(1)
    expect(linesAbout('batch')).toEqual([])
    await session.send({ jsonrpc: '2.0', id: question?.data.id, result: { action: 'decline' } })
    await stream.ended
    await until(() => linesAbout('batch').length > 0)
    expect(linesAbout('batch')).toMatchObject([{ status: 200, outcome: 'CONFLICT' }])
    const asked = await inModern('tools/call', { name: 'batch', arguments: { operations } }, CAN_BE_ASKED)
    expect(asked).toMatchObject([{ tool: 'batch', status: 200, outcome: 'input_required' }])
  })

  test('has the outcome "cancelled" when the client disconnects', { tags: 'full' }, async () => {
    const params = { name: 'work', arguments: { action: 'wait', record_type: await world.newType() } }
    const later = modern('tools/call', params)
    for (const [sent, headers] of [
      [params, {}],
      [later.params, later.headers],
    ] as const) {
      const gone = new AbortController()
      const [line] = await linesOf(async (more) => {
        // Time for the server to start the wait on a slow machine.
        setTimeout(() => gone.abort(), 1000)
        const asked = fetch(`${world.url}/mcp/crm`, {
          method: 'POST',
          signal: gone.signal,
          headers: {
            authorization: `Bearer ${token}`,
            'content-type': 'application/json',
            ...headers,
            ...more,
          },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: sent }),
        })
        await expect(asked).rejects.toThrow(/abort/)
      })
      expect(line).toMatchObject({ status: 499, tool: 'work', outcome: 'cancelled', token: tokenId })
    }
  })
})

describe('a trace context', () => {
  const traceOf = ({ trace_id, parent_span_id, trace_state }: Line) => [trace_id, parent_span_id, trace_state]
  const headers = { traceparent: PARENT, tracestate: 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE' }

  test('of a REST or GraphQL request is in the log line, beside the request id of the change log', async () => {
    const [line] = await linesOf((more) =>
      world.as(token)('PUT', '/v1/crm/records/note/traced', { data: {} }, { ...headers, ...more }),
    )
    expect(traceOf(line)).toEqual([TRACE, SPAN, headers.tracestate])
    const [entry] = await world.logOf('note', 'traced')
    expect(entry?.request_id).toBe(line.reqId)
    const query = { query: '{ bases { data { id } } }' }
    const [asked] = await linesOf((more) =>
      world.as(token)('POST', '/graphql', query, { ...headers, ...more }),
    )
    expect(traceOf(asked)).toEqual([TRACE, SPAN, headers.tracestate])
    const [without] = await linesOf((more) => world.as(token)('GET', '/v1/bases', undefined, more))
    expect(without).not.toHaveProperty('trace_id')
  })

  test('of an MCP request is that of its _meta, otherwise that of its headers', async () => {
    const _meta = { traceparent: OTHER, tracestate: 'a=1' }
    const other = ['4'.repeat(32), '5'.repeat(16), 'a=1']
    const call = (meta: object, given: Record<string, string> = headers) =>
      linesOf((more) =>
        rpc(
          world,
          '/mcp/crm',
          'tools/call',
          { ...get, _meta: meta },
          { token, headers: { ...given, ...more } },
        ),
      )
    expect(traceOf((await call(_meta))[0])).toEqual(other)
    expect(traceOf((await call(_meta, {}))[0])).toEqual(other)
    expect(traceOf((await call({}))[0])).toEqual([TRACE, SPAN, headers.tracestate])
    // A tracestate applies only with the traceparent that it came with.
    expect(traceOf((await call({ traceparent: OTHER }))[0])).toEqual([other[0], other[1], undefined])
    expect(traceOf((await call({ traceparent: 'nonsense', tracestate: 'a=1' }))[0])).toEqual([
      TRACE,
      SPAN,
      headers.tracestate,
    ])
    expect(traceOf((await inModern('tools/call', get, _meta))[0])).toEqual(other)
  })

  test('that is malformed is ignored, and the request is served', { tags: 'full' }, async () => {
    const faulty = [
      PARENT.toUpperCase(),
      `ff${PARENT.slice(2)}`,
      `${PARENT}-more`,
      `${PARENT},${PARENT}`,
      PARENT.slice(3),
      PARENT.replace(TRACE, '0'.repeat(32)),
      PARENT.replace(SPAN, '0'.repeat(16)),
      PARENT.replace(TRACE, `${TRACE}0`),
      PARENT.replaceAll('-', '_'),
      `01${PARENT.slice(2)}.more`,
    ]
    for (const traceparent of faulty) {
      const [line] = await linesOf((more) =>
        world.as(token)('GET', '/v1/bases', undefined, { traceparent, tracestate: 'a=1', ...more }),
      )
      expect(line, traceparent).toMatchObject({ status: 200 })
      expect(traceOf(line), traceparent).toEqual([undefined, undefined, undefined])
    }
    for (const traceparent of [7, null, {}, [PARENT], `${PARENT}\n`]) {
      const [line] = await inLegacy('tools/call', { ...get, _meta: { traceparent } })
      expect(line, JSON.stringify(traceparent)).toMatchObject({ status: 200, outcome: 'ok' })
      expect(line).not.toHaveProperty('trace_id')
    }
  })

  test('of a later version is parsed by the rules of the known version', async () => {
    for (const traceparent of [`cc${PARENT.slice(2)}`, `cc${PARENT.slice(2)}-what-comes-after`]) {
      const [line] = await linesOf((more) =>
        world.as(token)('GET', '/v1/bases', undefined, { traceparent, ...more }),
      )
      expect(traceOf(line)).toEqual([TRACE, SPAN, undefined])
    }
  })

  test('has a trace_state only when its tracestate is well-formed', { tags: 'full' }, async () => {
    const stateOf = async (tracestate: string) =>
      (
        await linesOf((more) =>
          world.as(token)('GET', '/v1/bases', undefined, { traceparent: PARENT, tracestate, ...more }),
        )
      )[0].trace_state
    const sound = ['a=1', 'a=1 , b=2', 'fw529a3039@dt=FfF;x', 'a=1,,b=2', 'k*/_-=a b']
    for (const state of sound) expect(await stateOf(state)).toBe(state)
    const many = Array.from({ length: 33 }, (_, i) => `k${i}=1`).join(',')
    for (const state of ['a', '=1', 'A=1', 'a=1,a=2', 'a==', 'a=', 'é=1', many, `a=${'x'.repeat(511)}`])
      expect(await stateOf(state), state).toBeUndefined()
  })
})

test('a call through the stdio relay has a log line with its token and outcome', {
  tags: 'full',
}, async () => {
  const [name, open] = Object.entries(DRIVERS)[0] ?? []
  if (!open) throw new Error(`${name} is none`)
  const driver = await open({ way: 'stdio', url: world.url, token, base: 'crm' })
  await driver.call('aggregate_records', { record_type: 'note', aggregations: [{ fn: 'count' }] })
  await driver.close()
  expect(linesAbout('aggregate_records')).toMatchObject([{ token: tokenId, outcome: 'ok' }])
})

test('at log level "warn" a call has no log line', { tags: 'full' }, async () => {
  const silent = await openServer({ PLINTH_LOG_LEVEL: 'warn' })
  try {
    await rpc(silent, '/mcp', 'tools/call', { name: 'list_bases', arguments: {} })
    expect(silent.log.filter((line) => line.includes('tools/call'))).toEqual([])
  } finally {
    await silent.close()
  }
})

test('the argument digest is equal for equal values in any key order', () => {
  expect(digest({ b: [{ d: 1, c: 2 }], a: 'x' })).toBe(digest({ a: 'x', b: [{ c: 2, d: 1 }] }))
  expect(digest({ a: [1, 2] })).not.toBe(digest({ a: [2, 1] }))
  expect(digest(JSON.parse('{"__proto__":{"a":1}}'))).not.toBe(digest({}))
  expect(digest({ 10: 'a', 9: 'b' })).toBe(digest({ 9: 'b', 10: 'a' }))
})

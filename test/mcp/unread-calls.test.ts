import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { succeed } from '../support/answers.ts'
import { openServer, type TestServer } from '../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await openServer()
  succeed(await server.call('PUT', '/v1/bases/crm', {}), 201)
  succeed(await server.call('PUT', '/v1/crm/record-types/note', {}), 201)
})
afterAll(() => server.close())

const MODERN = {
  headers: {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'upsert_record',
  },
  meta: {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  },
}
const ERAS = [
  ['before 2026-07-28', {}, undefined],
  ['from 2026-07-28', MODERN.headers, MODERN.meta],
] as const

describe.each(ERAS)('a tools/call with invalid JSON values, in protocol versions %s', (_, headers, meta) => {
  const post = (data: string, method = 'tools/call', id: unknown = 'call-1') => {
    const params = JSON.stringify({
      name: 'upsert_record',
      arguments: { record_type: 'note', id: 'n1', data: 'DATA' },
      ...(meta && { _meta: meta }),
    }).replace('"DATA"', data)
    const text = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"${method}","params":${params}}`
    return server.call('POST', '/mcp/crm', text, {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    })
  }

  test.each([
    ['NUL', '{"a":"\\u0000"}', 'invalid_string', '/data/a'],
    ['__proto__', '{"__proto__":1}', 'forbidden_key', '/data/__proto__'],
    ['depth', `${'['.repeat(80)}${']'.repeat(80)}`, 'too_deep', '/data'],
    ['a number', '{"n":12345678901234567890}', 'unsafe_number', '/data/n'],
  ])('is answered as a failed call with its id: %s', async (_, data, code, path) => {
    const { status, body } = await post(data)
    expect(status).toBe(200)
    expect(body).toMatchObject({ jsonrpc: '2.0', id: 'call-1', result: { isError: true } })
    expect(body.result.resultType).toBe(meta && 'complete')
    expect(body.result).not.toHaveProperty('structuredContent')
    const { error } = JSON.parse(body.result.content[0].text)
    expect(error.code).toBe('VALIDATION_ERROR')
    expect(error.details[0].code).toBe(code)
    expect(error.details[0].path.startsWith(path)).toBe(true)
    expect((await server.call('GET', '/v1/crm/records/note/n1')).status).toBe(404)
  })

  test('is a protocol error when it is another method, has no id or is malformed JSON', async () => {
    for (const answer of [
      await post('{"a":"\\u0000"}', 'tools/list'),
      await post('{"a":"\\u0000"}', 'tools/call', null),
      await post('{"a":}'),
    ]) {
      expect(answer.status).toBe(400)
      expect(answer.body).toMatchObject({
        id: null,
        error: { data: { error: { code: 'VALIDATION_ERROR' } } },
      })
    }
  })
})

describe.each(ERAS)(
  'a hostile call leaves its line and its entry, in protocol versions %s',
  (_, headers, meta) => {
    const send = (text: string, requestId: string) =>
      server.call('POST', '/mcp/crm', text, {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'x-request-id': requestId,
        ...headers,
      })
    const found = async (requestId: string) =>
      succeed(await server.call('GET', `/v1/crm/calls?request_id=${requestId}`)).data
    const params = (args: unknown) => ({
      name: 'upsert_record',
      arguments: args,
      ...(meta && { _meta: meta }),
    })
    const era = meta ? 'new' : 'old'

    test('of arguments that nest too deep for what logs them', async () => {
      const text = JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: params({ data: 'DATA' }),
      })
      const deep = text.replace('"DATA"', '['.repeat(200_000) + ']'.repeat(200_000))
      const { status, body } = await send(deep, `deep-${era}`)
      expect(status).toBe(200)
      expect(body.result.isError).toBe(true)
      await vi.waitFor(async () =>
        expect(await found(`deep-${era}`)).toMatchObject([
          { tool: 'upsert_record', outcome: 'VALIDATION_ERROR' },
        ]),
      )
      expect(server.log.join('')).not.toContain('was not recorded')
    })

    test.each([
      ['an object without a text', { toString: null, valueOf: null }],
      ['a list of one', [{ toString: null }]],
    ])('of an id that is %s', async (_what, id) => {
      const requestId = `id-${era}-${Array.isArray(id) ? 'list' : 'object'}`
      const call = {
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: params({ record_type: 'note', data: {} }),
      }
      for (const sent of [call, [call, call]]) {
        const { status } = await send(JSON.stringify(sent), requestId)
        expect(status).toBe(400)
      }
      await vi.waitFor(async () => expect((await found(requestId)).length).toBeGreaterThan(0))
      expect(server.log.join('')).not.toContain('was not recorded')
      expect((await server.call('GET', '/healthz')).status).toBe(200)
    })
  },
)

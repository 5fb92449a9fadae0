import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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

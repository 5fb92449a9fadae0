import http from 'node:http'
import net from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROUTES } from '../../../src/rest/plugin.ts'
import { expectFailure, expectFault, succeed } from '../../support/answers.ts'
import { openServer } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let at: string
beforeAll(async () => {
  world = await openWorld()
  at = `/v1/crm/records/${await world.newType({ json_schema: { type: 'object', properties: { n: { type: 'number' } } } })}`
})
afterAll(() => world.close())

const JSON_TYPE = { 'content-type': 'application/json' }
const raw = (text: string | Uint8Array, headers: Record<string, string> = JSON_TYPE, path = `${at}/raw`) =>
  world.call('PUT', path, text, headers)

describe('Authentication', () => {
  test.each([
    ['GET', '/v1/bases'],
    ['PUT', '/v1/bases/x'],
    ['GET', '/v1/crm/record-types'],
    ['GET', '/v1/no/such/path'],
    ['POST', '/v1/tokens'],
    ['OPTIONS', '/v1/bases'],
  ])('without a valid token fails with 401: %s %s', async (method, path) => {
    for (const token of [null, 'plt_wrong', `${world.adminToken}x`]) {
      const answer = await world.as(token)(method, path, method === 'GET' ? undefined : {})
      expectFailure(answer, 'UNAUTHORIZED')
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/)
    }
  })

  test.each(['Basic abc', 'Bearer', 'Bearer ', 'plt_x', 'Bearer a b', `Bearer ${'x'.repeat(600)}`])(
    'with the header "%s" fails with 401',
    async (authorization) => {
      expectFailure(await world.as(null)('GET', '/v1/bases', undefined, { authorization }), 'UNAUTHORIZED')
    },
  )

  test('accepts the scheme Bearer in any case', async () => {
    const authorization = `bearer ${world.adminToken}`
    succeed(await world.as(null)('GET', '/v1/bases', undefined, { authorization }))
  })
})

test('what a request without a body refuses is named in its path, its query or a header', {
  tags: 'full',
}, async () => {
  const given = { ':base_id': 'crm', ':record_type': at.split('/').at(-1) ?? '', ':provider': 'openai' }
  const streams = /stream|export|wait/
  const reads = ROUTES.filter(({ method, path }) => method === 'GET' && !streams.test(path))
  const named = new Map<string, string[]>()
  for (const { path } of reads)
    for (const base of ['crm', 'absent']) {
      const known: Readonly<Record<string, string>> = { ...given, ':base_id': base }
      const filled = path.replace(/:\w+|\*/g, (name) => known[name] ?? 'absent')
      const { status, body } = await world.call('GET', `/v1${filled}`)
      const places = status < 400 ? [] : body.error.details.map(({ path }: { path: string }) => path)
      if (places.length > 0) named.set(filled, places)
    }
  expect([...named].filter(([, places]) => places.some((place) => place.startsWith('/')))).toEqual([])
  expect(named.get('/crm/record-types/absent')).toEqual(['path/id'])
  expect(named.get('/crm/files/absent/absent')).toEqual(['path/file_type'])
  expect(named.get('/absent/mcp/tools')).toEqual(['path/base_id'])
})

describe('An unknown path or method', () => {
  test.each([
    ['GET', '/nope'],
    ['GET', '/v1'],
    ['GET', '/v1/'],
    ['GET', '/v2/bases'],
    ['GET', '/V1/bases'],
    ['GET', '/v1/Bases'],
    ['GET', '/v1/bases/'],
    ['GET', '/v1/bases/crm/'],
    ['GET', '/v1//bases'],
    ['GET', '/v1/crm/records'],
    ['GET', '/v1/crm/records/task/'],
    ['GET', '/v1/crm/records/task/a/'],
    ['GET', '/v1/crm/records/task/a/nope'],
    ['GET', '/v1/crm/record-types/'],
    ['POST', '/v1/bases/crm'],
    ['PATCH', '/v1/tokens'],
    ['DELETE', '/v1/bases'],
    ['OPTIONS', '/v1/bases'],
    ['POST', '/v1/crm/records/task/a'],
    ['GET', '/v1/crm/records/task/a/cancel'],
    ['DELETE', '/healthz'],
    ['GET', '/v1/../etc/passwd'],
  ])('%s %s is 404', async (method, path) => {
    const answer = await world.call(method, path, method === 'GET' || method === 'DELETE' ? undefined : {})
    expect(expectFailure(answer, 'NOT_FOUND').details[0].code).toBe('unknown_route')
  })

  test.each([
    ['GET', '/v1', 'GET /v1/bases'],
    ['GET', '/v1/crm', 'GET /v1/bases/crm'],
    ['GET', '/v1/crm/customer', 'GET /v1/crm/records/customer'],
    ['PATCH', '/v1/nobase/customer/c1', 'PATCH /v1/nobase/records/customer/c1'],
    ['GET', '/v1/crm/record-type', 'GET /v1/crm/record-types'],
    ['GET', '/v1/crm/colections/task', 'GET /v1/crm/collections/task'],
    ['POST', '/v1/crm/records/task/qeury', 'POST /v1/crm/records/task/query'],
    ['GET', '/v1/crm/types', 'GET /v1/crm/record-types'],
    ['GET', '/v1/crm/record-types/?x=1', 'GET /v1/crm/record-types'],
    ['GET', '/v1/tokens/me', 'GET /v1/tokens/self'],
    ['POST', '/v1/crm/rollback', 'POST /v1/crm/promote/rollback'],
    ['POST', '/v1/crm/changes/undo', 'POST /v1/crm/revert'],
    ['GET', '/v1/tokens/current', 'GET /v1/tokens/self'],
    ['GET', '/v1/crm/records', undefined],
    ['GET', '/v1/crm/a/b/c/d/e', undefined],
    ['GET', `/v1/crm/${'x'.repeat(600)}`, undefined],
  ])('%s %s, an unknown route, has the meant one as hint', async (method, path, hint) => {
    const answer = await world.call(method, path, method === 'GET' ? undefined : {})
    expect(expectFailure(answer, 'NOT_FOUND').details[0].hint).toBe(hint)
  })

  test.each(['/nothing', '/guides/nothing', '/bases/crm'])('%s is a page for browsers only', async (path) => {
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8'
    const page = await fetch(world.url + path, { headers: { accept } })
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    expect(await page.text()).toContain('<a href="/">')
    expectFailure(await world.call('GET', path), 'NOT_FOUND')
    expectFailure(await world.call('GET', '/v1/nothing', undefined, { accept }), 'NOT_FOUND')
  })

  test('an unknown method of a known path is 404 with the methods that the path takes', async () => {
    const { details } = expectFailure(await world.call('POST', '/v1/crm/records/task/a', {}), 'NOT_FOUND')
    expect(details[0]).toMatchObject({ code: 'unknown_route', allowed: ['GET', 'PUT', 'PATCH', 'DELETE'] })
  })

  test.each(['/v1/bases/%zz', '/v1/crm/records/task/%E0%A4%A', '/v1/bases/%', '/v1/bases/%C3'])(
    'with a malformed escape is 400 or 404: %s',
    async (path) => {
      const answer = await world.call('GET', path)
      expectFailure(answer, answer.status === 404 ? 'NOT_FOUND' : 'VALIDATION_ERROR')
    },
  )

  test.each(['bases', 'crm/record-types', 'crm/records/task', 'tokens', 'crm/providers/openai/export'])(
    'with a NUL in /v1/%s is never a 500',
    async (path) => {
      for (const nul of [
        `${path}/%00`,
        `${path}?record_types=%00`,
        `${path}?filter=%00`,
        `${path}?%00=1`,
        `${path}?confirm=%00`,
      ])
        for (const method of ['GET', 'DELETE', 'PUT']) {
          const answer = await world.call(method, `/v1/${nul}`, method === 'PUT' ? {} : undefined)
          expect([400, 404], `${method} ${nul} ${answer.text}`).toContain(answer.status)
        }
    },
  )
})

describe('The order of errors', () => {
  test('is 401, unknown route 404, 403, body 400, key 409, base or type 404, schema 400, record 404, other 409', {
    tags: 'full',
  }, async () => {
    const { call: reader } = await world.newToken([{ permission: 'read' }])
    const stranger = world.as('plt_wrong')
    const bad = { dta: 1 }
    const key = { 'idempotency-key': 'order' }
    const put = world.call
    succeed(await put('POST', at, { data: {} }, key), 201)
    const steps = [
      [await stranger('PUT', '/v1/no/such/route/at/all', bad, key), 'UNAUTHORIZED'],
      [await reader('PUT', '/v1/no/such/route/at/all', bad, key), 'NOT_FOUND'],
      [await reader('PUT', `${at}/a`, bad, key), 'FORBIDDEN'],
      [await reader('PUT', '/v1/other/records/none/a', bad, key), 'FORBIDDEN'],
      [await put('PUT', '/v1/nobase/records/none/a', bad, key), 'VALIDATION_ERROR'],
      [await put('PUT', '/v1/nobase/records/none/a', { data: {} }, key), 'CONFLICT'],
      [await put('PUT', '/v1/nobase/records/none/a', { data: {} }), 'NOT_FOUND'],
      [await put('PUT', '/v1/crm/records/none/a', { data: {} }), 'NOT_FOUND'],
      [await put('PUT', `${at}/a`, { data: { n: 'x' } }, { 'if-match': '"1"' }), 'VALIDATION_ERROR'],
      [await put('PUT', `${at}/a`, { data: { n: 1 } }, { 'if-match': '"1"' }), 'NOT_FOUND'],
      [await put('DELETE', '/v1/crm/records/none/_a'), 'VALIDATION_ERROR'],
      [await put('DELETE', '/v1/crm/records/none/a?nope=1'), 'VALIDATION_ERROR'],
    ] as const
    for (const [answer, code] of steps) expectFailure(answer, code)
    expectFailure(await put('GET', `${at}/a`), 'NOT_FOUND')
  })

  test('has 401, 404 and 403 before the body is parsed', async () => {
    const { call: reader } = await world.newToken([{ permission: 'read' }])
    expectFailure(await reader('PUT', `${at}/a`, '{', JSON_TYPE), 'FORBIDDEN')
    expectFailure(await world.as(null)('PUT', `${at}/a`, '{', JSON_TYPE), 'UNAUTHORIZED')
    expectFailure(await world.call('PUT', '/v1/no/route/here/at/all', '{', JSON_TYPE), 'NOT_FOUND')
  })
})

describe('A body', () => {
  test.each([
    ...['{"data":', '{data:{}}', '{"data":{}}x', '{"data":{},}', "{'data':{}}", '{"data":{"a":01}}'],
    ...['{"data":{"a":NaN}}', '\ufeff\ufeff{"data":{}}', '[]', '"x"', 'null', '7', ''],
  ])('of %j is 400', async (text) => {
    expectFailure(await raw(text), 'VALIDATION_ERROR')
  })

  test.each<[string, string]>([
    ['{"data":{"l":[0,"\\u0000"]}}', '/data/l/1'],
    ['{"data":{"l":[0,"a\\ud83d"]}}', '/data/l/1'],
    ['{"data":{"n":9007199254740993}}', '/data/n'],
    ['{"data":{"n":1e400}}', '/data/n'],
    ['{"data":{"n":0.10000000000000000001}}', '/data/n'],
    ['{"data":{"a":{"__proto__":{}}}}', '/data/a/__proto__'],
  ])('of %s is refused at %s', async (text, path) => {
    expectFault(await raw(text), path)
  })

  test('with a number or string out of bounds is refused with the bound', async () => {
    const refused = async (body: object) =>
      expectFailure(await world.call('POST', '/v1/crm/records/task/claim', body), 'VALIDATION_ERROR').details
    expect(await refused({ limit: 101, lease_seconds: 0 })).toMatchObject([
      { path: '/limit', code: 'too_big', message: '"limit" must be at most 100.', expected: 100 },
      {
        path: '/lease_seconds',
        code: 'too_small',
        message: '"lease_seconds" must be at least 1.',
        expected: 1,
      },
    ])
    const record = await world.call('PUT', '/v1/crm/records/task/a', { data: {}, claim_id: '' })
    expect(expectFault(record, '/claim_id').message).toBe('"claim_id" must have at least 1 character.')
  })

  test('nested deeper than 64 levels is 400', async () => {
    const nest = (depth: number) => `{"data":{"d":${'['.repeat(depth)}${']'.repeat(depth)}}}`
    expect((await raw(nest(62))).status).toBe(201)
    for (const depth of [63, 1000, 200_000]) expectFailure(await raw(nest(depth)), 'VALIDATION_ERROR')
  })

  test('with invalid UTF-8 or of another media type is 400', { tags: 'full' }, async () => {
    expectFailure(
      await raw(Buffer.from([0x7b, 0x22, 0xff, 0xc0, 0x22, 0x3a, 0x31, 0x7d])),
      'VALIDATION_ERROR',
    )
    for (const type of [
      'text/plain',
      'application/xml',
      'application/x-www-form-urlencoded',
      'nonsense',
      'application/jsonx',
    ])
      expectFault(await raw('{"data":{}}', { 'content-type': type }), 'header/Content-Type')
    const charset = { 'content-type': 'Application/JSON; charset=utf-8' }
    expect((await raw('{"data":{}}', charset, `${at}/charset`)).status).toBe(201)
  })

  test('with a duplicate key uses the last value, and one BOM is ignored', async () => {
    expect(succeed(await raw('{"data":{"a":1,"a":2}}', JSON_TYPE, `${at}/twice`), 201).data).toEqual({ a: 2 })
    succeed(await raw('\ufeff{"data":{"a":2}}', JSON_TYPE, `${at}/twice`))
  })

  test('larger than the limit is 400, with or without Content-Length', { tags: 'full' }, async () => {
    const small = await openServer({ PLINTH_MAX_BODY_BYTES: '2000' })
    try {
      const body = JSON.stringify({ name: 'x'.repeat(3000) })
      expect(
        expectFailure(await small.call('PUT', '/v1/bases/x', body, JSON_TYPE), 'VALIDATION_ERROR').details[0]
          .code,
      ).toBe('body_too_large')
      const chunked = await send(small.url, small.adminToken, { 'content-type': 'application/json' }, [
        body.slice(0, 1500),
        body.slice(1500),
      ])
      expect([chunked.status, JSON.parse(chunked.text).error.code]).toEqual([400, 'VALIDATION_ERROR'])
      expectFailure(await small.call('GET', '/v1/bases/x'), 'NOT_FOUND')
    } finally {
      await small.close()
    }
  })

  test('cut off by a closed connection writes nothing', { tags: 'full' }, async () => {
    const { host, hostname, port } = new URL(world.url)
    const body = JSON.stringify({ data: { n: 1 } })
    await new Promise<void>((resolve) => {
      const socket = net.connect(Number(port), hostname, () => {
        socket.write(
          `PUT ${at}/cut HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${world.adminToken}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, -3)}`,
        )
        setTimeout(() => socket.destroy(), 100)
      })
      socket.on('close', () => resolve())
    })
    expectFailure(await world.call('GET', `${at}/cut`), 'NOT_FOUND')
  })

  test('that is not HTTP is 400 with a JSON error on the socket', async () => {
    const { hostname, port } = new URL(world.url)
    const text = await new Promise<string>((resolve) => {
      let all = ''
      const socket = net.connect(Number(port), hostname, () => socket.write('NONSENSE\r\n\r\n'))
      socket.on('data', (chunk) => {
        all += chunk
      })
      socket.on('close', () => resolve(all))
    })
    expect(text).toMatch(/^HTTP\/1.1 400 /)
    expect(JSON.parse(text.split('\r\n\r\n')[1] ?? '').error).toMatchObject({
      code: 'VALIDATION_ERROR',
      request_id: expect.any(String),
    })
  })
})

function send(url: string, token: string, headers: Record<string, string>, parts: string[]) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const options = { method: 'PUT', headers: { authorization: `Bearer ${token}`, ...headers } }
    const request = http.request(`${url}/v1/bases/x`, options, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    request.on('error', reject)
    for (const part of parts) request.write(part)
    request.end()
  })
}

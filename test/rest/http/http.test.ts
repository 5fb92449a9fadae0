import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, sleep, succeed } from '../../support/answers.ts'
import { openServer } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

describe('X-Request-Id', () => {
  test('is on every answer, and differs between requests', { tags: 'full' }, async () => {
    const ids = new Set<string | null>()
    const paths = [
      '/v1/bases',
      '/v1/bases/absent',
      '/nope',
      '/healthz',
      '/v1/bases?lmit=1',
      '/openapi.json',
      '/v1/bases/%zz',
    ]
    for (const path of paths) ids.add((await world.call('GET', path)).headers.get('x-request-id'))
    expect(ids.size).toBe(paths.length)
    expect(ids).not.toContain(null)
  })

  test('of a request is returned when valid, and replaced when invalid', { tags: 'full' }, async () => {
    const sent = async (id: string) =>
      (await world.call('GET', '/v1/bases/absent', undefined, { 'x-request-id': id })).headers.get(
        'x-request-id',
      )
    for (const id of ['abc', 'A-b.c:d_9', 'x'.repeat(128)]) expect(await sent(id)).toBe(id)
    for (const id of ['', 'a b', '<script>', 'x'.repeat(129), 'a"b', 'a,b'])
      expect(await sent(id)).not.toBe(id)
  })
})

describe('HEAD', () => {
  test.each([
    '/v1/bases',
    '/v1/bases/crm',
    '/v1/crm/record-types',
    '/v1/bases/absent',
    '/v1/bases?lmit=1',
    '/nope',
  ])('of %s has the status and headers of GET without a body', async (path) => {
    const get = await world.call('GET', path, undefined, { 'x-request-id': 'h' })
    const head = await world.call('HEAD', path, undefined, { 'x-request-id': 'h' })
    expect([head.status, head.text]).toEqual([get.status, ''])
    for (const name of ['etag', 'content-type', 'content-length', 'x-request-id', 'cache-control'])
      expect(head.headers.get(name), name).toBe(get.headers.get(name))
  })

  test('without a token is 401', async () => {
    expect((await world.as(null)('HEAD', '/v1/bases')).status).toBe(401)
  })
})

describe('A query parameter', () => {
  test.each([
    ['PUT', '/v1/bases/q?dryrun=true', 'query/dryrun', 'dry_run'],
    ['PUT', '/v1/bases/q?dry_run=maybe', 'query/dry_run', undefined],
    ['PUT', '/v1/bases/q?dry_run=', 'query/dry_run', undefined],
    ['PUT', '/v1/bases/q?dry_run', 'query/dry_run', undefined],
    ['PUT', '/v1/bases/q?dry_run=true&dry_run=true', 'query/dry_run', undefined],
    ['PUT', '/v1/bases/q?include=counts', 'query/include', undefined],
    ['GET', '/v1/bases/crm?dry_run=true', 'query/dry_run', undefined],
    ['DELETE', '/v1/bases/crm?comfirm=crm', 'query/comfirm', 'confirm'],
    ['PUT', '/v1/crm/record-types/q?migrat=true', 'query/migrat', 'migrate'],
    ['POST', '/v1/tokens?limit=1', 'query/limit', undefined],
    ['DELETE', '/v1/tokens/x?force=true', 'query/force', undefined],
    ['GET', '/v1/crm/providers/openai/export?record_type=x', 'query/record_type', 'record_types'],
  ])('that is unknown or malformed is refused: %s %s', async (method, path, at, hint) => {
    const fault = expectFault(
      await world.call(method, path, method === 'PUT' || method === 'POST' ? {} : undefined),
      at,
    )
    if (hint) expect(fault.hint).toBe(hint)
    expectFailure(await world.call('GET', '/v1/bases/q'), 'NOT_FOUND')
  })
})

test('a slash at the end of a query string is not a trailing slash of the path', async () => {
  expectFault(await world.call('GET', '/v1/bases?include=/'), 'query/include')
})

describe('CORS', () => {
  const preflight = { origin: 'https://app.example', 'access-control-request-method': 'PUT' }

  test('is disabled by default: no headers, and no answer to a preflight', async () => {
    const answer = await world.call('GET', '/v1/bases', undefined, { origin: 'https://app.example' })
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    expectFailure(await world.call('OPTIONS', '/v1/bases', undefined, preflight), 'NOT_FOUND')
    expectFailure(await world.as(null)('OPTIONS', '/v1/bases', undefined, preflight), 'UNAUTHORIZED')
  })

  test('allows the configured origins and no others', { tags: 'full' }, async () => {
    const open = await openServer({ PLINTH_CORS_ORIGINS: 'https://app.example, https://b.example' })
    try {
      const flight = await open.as(null)('OPTIONS', '/v1/bases', undefined, preflight)
      expect([flight.status, flight.text]).toEqual([204, ''])
      expect(flight.headers.get('access-control-allow-origin')).toBe('https://app.example')
      expect(flight.headers.get('access-control-allow-methods')).toContain('PUT')
      const allowed = flight.headers.get('access-control-allow-headers')?.split(', ')
      expect(allowed).toEqual(
        expect.arrayContaining(['Idempotency-Key', 'X-File-Metadata', 'Range', 'Last-Event-ID']),
      )
      const get = await open.call('GET', '/v1/bases', undefined, { origin: 'https://b.example' })
      expect(get.headers.get('access-control-allow-origin')).toBe('https://b.example')
      const exposed = get.headers.get('access-control-expose-headers')?.split(', ')
      expect(exposed).toEqual(
        expect.arrayContaining(['ETag', 'Content-Range', 'X-Next-Cursor', 'X-RateLimit-Limit']),
      )
      const description = (await open.as(null)('GET', '/openapi.json')).text
      const named = new Set(
        [...description.matchAll(/"name":"([\w-]+)","in":"header"/g)].map(([, name]) => name),
      )
      expect(named.size).toBeGreaterThan(5)
      expect([...named].filter((name) => !allowed?.includes(name ?? ''))).toEqual([])
      expect(get.headers.get('vary')).toContain('Origin')
      expect(get.headers.get('access-control-allow-credentials')).toBeNull()
      const failed = await open.as(null)('GET', '/v1/bases', undefined, { origin: 'https://b.example' })
      expectFailure(failed, 'UNAUTHORIZED')
      expect(failed.headers.get('access-control-allow-origin')).toBe('https://b.example')
      for (const origin of [
        'https://evil.example',
        'null',
        'https://app.example.evil',
        'http://app.example',
      ]) {
        const other = await open.call('GET', '/v1/bases', undefined, { origin })
        expect(other.headers.get('access-control-allow-origin'), origin).toBeNull()
        const refused = await open.as(null)('OPTIONS', '/v1/bases', undefined, { ...preflight, origin })
        expectFailure(refused, 'UNAUTHORIZED')
        expect(refused.headers.get('access-control-allow-origin')).toBeNull()
      }
    } finally {
      await open.close()
    }
  })
})

describe('An internal error', () => {
  test('is a 500 without SQL, paths or stack; the log has the cause with the request id', {
    tags: 'full',
  }, async () => {
    const broken = await openServer()
    try {
      succeed(await broken.call('PUT', '/v1/bases/crm', {}), 201)
      succeed(await broken.call('PUT', '/v1/crm/record-types/task', {}), 201)
      await broken.database.query('ALTER TABLE plinth.record RENAME TO record_away')
      await broken.database.query('ALTER TABLE plinth.record_type RENAME TO record_type_away')
      const requests: [string, string, unknown][] = [
        ['GET', '/v1/crm/records/task', undefined],
        ['GET', '/v1/crm/records/task/a', undefined],
        ['PUT', '/v1/crm/records/task/a', { data: { canary: 'canary-4711' } }],
        ['POST', '/v1/crm/records/task', { data: { canary: 'canary-4711' } }],
        ['PATCH', '/v1/crm/records/task/a', { data: {} }],
        ['DELETE', '/v1/crm/records/task/a', undefined],
        ['GET', '/v1/crm/record-types', undefined],
        ['PUT', '/v1/crm/record-types/other', {}],
        ['GET', '/v1/bases?include=counts', undefined],
        ['DELETE', '/v1/bases/crm', undefined],
      ]
      for (const [index, [method, path, body]] of requests.entries()) {
        const id = `broken-${index}`
        const error = expectFailure(
          await broken.call(method, path, body, { 'x-request-id': id }),
          'INTERNAL_ERROR',
        )
        expect(error.message).not.toMatch(/record|relation|does not exist|column/i)
        expect(error.details).toEqual([])
        await sleep(1)
        const lines = broken.log.filter((line) => line.includes(id)).map((line) => JSON.parse(line))
        expect(
          lines.some((line) => line.level === 50 && /does not exist/.test(JSON.stringify(line.err))),
          path,
        ).toBe(true)
      }
      expect(broken.log.join('\n')).not.toContain('canary-4711')
      succeed(await broken.call('GET', '/v1/bases'))
    } finally {
      await broken.close()
    }
  })
})

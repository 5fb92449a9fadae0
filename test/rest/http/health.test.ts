import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { get } from 'node:http'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { start } from '../../cli/plinth.ts'
import { expectFailure, sleep, succeed } from '../../support/answers.ts'
import { cloneDatabase } from '../../support/database.ts'
import { holdOpen } from '../../support/holding.ts'
import { callTool } from '../../support/mcp.ts'
import { openProxy } from '../../support/proxy.ts'
import { openServer } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

describe('A ready server', () => {
  test('answers /healthz and /readyz without a token', async () => {
    const anyone = world.as(null)
    expect(succeed(await anyone('GET', '/healthz'))).toEqual({ status: 'ok' })
    expect(succeed(await anyone('GET', '/readyz'))).toMatchObject({ status: 'ready' })
    const head = await anyone('HEAD', '/readyz')
    expect([head.status, head.text]).toEqual([200, ''])
  })

  test('reports metrics by route, without ids', async () => {
    succeed(await world.call('PUT', '/v1/bases/counted-canary', {}), 201)
    expectFailure(await world.call('GET', '/v1/bases/absent-canary'), 'NOT_FOUND')
    const metrics = await world.as(null)('GET', '/metrics')
    expect(metrics.status).toBe(200)
    expect(metrics.headers.get('content-type')).toMatch(/^text\/plain/)
    expect(metrics.text).toMatch(
      /plinth_http_request_duration_seconds_count\{method="PUT",route="\/v1\/bases\/:id",status="201"\} [1-9]/,
    )
    expect(metrics.text).toMatch(/plinth_http_failures_total\{status="404"\} [1-9]/)
    expect(metrics.text).toMatch(/^process_cpu_seconds_total /m)
    expect(metrics.text).not.toContain('canary')
  })

  test('reports versions, jobs, sizes, streams and refused requests, without tokens and bases', {
    tags: 'full',
  }, async () => {
    const stream = await fetch(`${world.url}/v1/crm/changes/stream`, {
      headers: { authorization: `Bearer ${world.adminToken}` },
    })
    const read = async () => (await world.as(null)('GET', '/metrics')).text
    const first = await read()
    expect(first).toMatch(/^plinth_build_info\{version="\S+",postgres="1[5-8].*",sql_isolation="\w+"\} 1$/m)
    expect(first).toMatch(/^plinth_bytes\{of="database"\} [1-9]\d{5,}/m)
    expect(first).toMatch(/^plinth_bytes\{of="free"\} [1-9]/m)
    expect(first).toMatch(/^plinth_rows\{table="change"\} \d+$/m)
    expect(first).toMatch(/^plinth_job_oldest_seconds [\d.]+$/m)
    expect(first).toMatch(/^plinth_bytes\{of="wal"\} [1-9]/m)
    expect(first).toMatch(/^plinth_feed_lag_seconds 0$/m)
    expect(first).toMatch(/^plinth_leader\{work="triggers"\} 0$/m)
    expect(first).toMatch(/^plinth_streams\{surface="rest"\} 1$/m)
    expect(first).toMatch(/^plinth_rate_limited_total\{reason="token"\} 0$/m)
    expect(first).not.toMatch(/crm|plt_/)
    await stream.body?.cancel()
    await expect.poll(read).toMatch(/^plinth_streams\{surface="rest"\} 0$/m)
  })

  test('counts calls of tools by their outcome, and says how long an open write holds back the feed', {
    tags: 'full',
  }, async () => {
    const held = await holdOpen(world.database)
    await held.query('LOCK TABLE plinth.change IN ROW EXCLUSIVE MODE')
    const other = await openServer({}, world.database)
    try {
      await callTool(other, '/mcp/crm', 'get_record', { record_type: 'absent', id: 'x' })
      const { text } = await other.as(null)('GET', '/metrics')
      expect(text).toMatch(/^plinth_tool_calls_total\{outcome="NOT_FOUND"\} 1$/m)
      expect(Number(/^plinth_feed_lag_seconds (\S+)/m.exec(text)?.[1])).toBeGreaterThan(0)
    } finally {
      await held.end()
      await other.close()
    }
  })

  test('docs/operations.md names each metric, and none else', async () => {
    const { text } = await world.as(null)('GET', '/metrics')
    const shown = [...text.matchAll(/^# HELP (plinth_\w+) /gm)].map(([, name]) => name)
    const table = (await readFile('docs/operations.md', 'utf8')).matchAll(/^\| (`plinth_.*?) \|/gm)
    const named = [...table]
      .flatMap(([, cell = '']) => [...cell.matchAll(/`(plinth_\w+)/g)])
      .map(([, name]) => name)
    expect(named.toSorted()).toEqual(shown.toSorted())
  })

  test('counts requests over the limit', { tags: 'full' }, async () => {
    const limited = await openServer({ PLINTH_RATE_LIMIT: '1' })
    try {
      await limited.call('GET', '/v1/bases')
      expectFailure(await limited.call('GET', '/v1/bases'), 'RATE_LIMITED')
      expect((await limited.as(null)('GET', '/metrics')).text).toMatch(
        /^plinth_rate_limited_total\{reason="token"\} 1$/m,
      )
    } finally {
      await limited.close()
    }
  })

  test.each([
    ['host', 'evil.example'],
    ['host', 'localhost.evil.example:80'],
    ['x-forwarded-for', '127.0.0.1'],
    ['x-forwarded-for', ''],
    ['forwarded', 'for=127.0.0.1'],
    ['x-real-ip', '127.0.0.1'],
    ['via', '1.1 proxy'],
  ])('needs an admin token for /metrics with the header %s: %s', async (name, value) => {
    const ask = (token?: string) =>
      new Promise<number>((resolve, reject) => {
        const headers = { [name]: value, ...(token && { authorization: `Bearer ${token}` }) }
        get(`${world.url}/metrics`, { headers }, (answer) => {
          answer.resume()
          resolve(answer.statusCode ?? 0)
        }).on('error', reject)
      })
    expect(await ask()).toBe(401)
    expect(await ask(world.adminToken)).toBe(200)
    const { token } = await world.newToken([{ permission: 'read' }])
    expect(await ask(token)).toBe(403)
  })
})

test('without a database a server is unready and answers 500 with Retry-After, and recovers by itself', {
  tags: 'full',
}, async () => {
  const database = await cloneDatabase()
  const proxy = await openProxy(database.url)
  const away = await openServer({ DATABASE_URL: proxy.url }, database)
  try {
    succeed(await away.call('PUT', '/v1/bases/crm', {}), 201)
    succeed(await away.call('PUT', '/v1/crm/record-types/task', {}), 201)
    proxy.shut()
    expect((await away.call('GET', '/healthz')).status).toBe(200)
    const ready = await away.call('GET', '/readyz')
    expect([ready.status, ready.body.status]).toEqual([503, 'unready'])
    for (const [method, path, body] of [
      ['GET', '/v1/bases', undefined],
      ['GET', '/v1/crm/records/task', undefined],
      ['PUT', '/v1/crm/records/task/a', { data: {} }],
      ['PATCH', '/v1/crm/records/task/a', { data: {} }],
      ['PUT', '/v1/crm/record-types/task', { name: 'x' }],
    ] as const) {
      const answer = await away.call(method, path, body)
      const error = expectFailure(answer, 'INTERNAL_ERROR')
      expect(answer.headers.get('retry-after'), `${method} ${path} ${error.message}`).toMatch(/^\d+$/)
      expect(answer.text).not.toMatch(/127\.0\.0\.1|ECONN|postgres/i)
    }
    proxy.open()
    const deadline = Date.now() + 10_000
    while ((await away.call('GET', '/readyz')).status !== 200 && Date.now() < deadline) await sleep(50)
    succeed(await away.call('GET', '/readyz'))
    succeed(await away.call('PUT', '/v1/crm/records/task/a', { data: {} }), 201)
    expect(succeed(await away.call('GET', '/v1/crm/record-types/task')).version).toBe(1)
  } finally {
    await away.close()
    await proxy.close()
    await database.drop()
  }
})

const UPSERT = { type: 'upsert_record', record_type: 'held', id: 'under-POST', data: { n: 2 } }

test.each([
  ['POST', '/v1/crm/batch', { operations: [UPSERT] }],
  ['PATCH', '/v1/crm/records/held/under-PATCH', { data: { n: 2 } }],
])(
  'a database connection lost during a %s of %s fails that request and no other request',
  async (method, url, body) => {
    const id = `under-${method}`
    const path = `/v1/crm/records/held/${id}`
    await world.call('PUT', '/v1/crm/record-types/held', {})
    succeed(await world.call('PUT', path, { data: { n: 1 } }), 201)
    const held = await holdOpen(world.database)
    await held.query(`SELECT FROM plinth.record WHERE id = $1 FOR UPDATE`, [id])
    const asked = world.call(method, url, body)
    await expect.poll(held.waiting).toHaveLength(1)
    const [{ pid } = { pid: 0 }] = await held.waiting()
    await world.database.query('SELECT pg_terminate_backend($1)', [pid])
    const answer = await asked
    const { details } = expectFailure(answer, 'INTERNAL_ERROR')
    // Only where nothing was written.
    const isUnknown = details[0]?.code === 'outcome_unknown'
    expect(answer.headers.get('retry-after') === null, answer.text).toBe(isUnknown)
    await held.end()
    expect(succeed(await world.call('GET', path)).data).toEqual({ n: 1 })
    succeed(await world.call('PUT', path, { data: { n: 3 } }))
  },
)

describe('The log', () => {
  test('is JSON lines with request ids, without tokens, bodies, record ids or queries', {
    tags: 'full',
  }, async () => {
    const id = 'log-request-1'
    succeed(await world.call('PUT', '/v1/crm/record-types/logged', {}), 201)
    const { token } = await world.newToken([{ permission: 'write' }])
    const canary = 'canary-in-the-mine'
    const call = world.as(token)
    await call('PUT', `/v1/crm/records/logged/${canary}`, { data: { canary } }, { 'x-request-id': id })
    await call('GET', `/v1/crm/records/logged?filter=${canary}`)
    await call('PUT', `/v1/crm/records/logged/a`, `{"data":{"${canary}":`, {
      'content-type': 'application/json',
    })
    await call('GET', `/v1/crm/records/logged`, undefined, { cookie: canary, 'x-canary': canary })
    await world.as(`plt_${canary}`)('GET', '/v1/bases')
    await sleep(20)
    const lines = world.log.map((line) => JSON.parse(line))
    const [line] = lines.filter((each) => JSON.stringify(each).includes(id))
    expect(line).toMatchObject({
      method: 'PUT',
      route: '/v1/:base_id/records/:record_type/:id',
      status: 201,
      msg: 'request',
    })
    expect(line.ms).toBeTypeOf('number')
    const all = world.log.join('')
    for (const secret of [canary, token, token.slice(4), world.adminToken]) expect(all).not.toContain(secret)
  })
})

describe('Graceful shutdown', () => {
  test('completes open requests, refuses new ones and exits with 0', {
    tags: 'full',
  }, async () => {
    const database = await cloneDatabase()
    const dataDir = await mkdtemp(join(tmpdir(), 'plinth-drain-'))
    const child = start(['serve'], {
      DATABASE_URL: database.url,
      PLINTH_PORT: '0',
      PLINTH_ADMIN_TOKEN: 'plt_administrator-canary',
      PLINTH_DATA_DIR: dataDir,
    })
    const errors: string[] = []
    createInterface({ input: child.stderr }).on('line', (line) => void errors.push(line))
    const ended = new Promise((resolve) => child.on('close', (code, signal) => resolve(code ?? signal)))
    const url = await new Promise<string>((resolve) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (line.startsWith('plinth ready ')) resolve(line.slice('plinth ready '.length))
      })
    })
    // The body is sent in two parts, before and after SIGTERM, on a keep-alive connection.
    const { hostname, port } = new URL(url)
    const socket = net.connect(Number(port), hostname)
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk
    })
    const body = '{"name":"Late"}'
    socket.write(
      `PUT /v1/bases/late HTTP/1.1\r\nhost: x\r\nauthorization: Bearer plt_administrator-canary\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
    )
    setTimeout(() => child.kill('SIGTERM'), 200)
    setTimeout(() => socket.write(body.slice(5)), 600)
    const hungUp = new Promise((resolve) => socket.on('close', resolve))
    expect(await ended).toBe(0)
    await hungUp
    expect(answer).toMatch(/^HTTP\/1\.1 201 /)
    await expect(fetch(`${url}/healthz`)).rejects.toThrow()
    expect(await database.query(`SELECT name FROM plinth.base WHERE id = 'late'`)).toEqual([{ name: 'Late' }])
    for (const line of errors) expect(() => JSON.parse(line), line).not.toThrow()
    expect(errors.join('')).not.toContain('canary')
    await database.drop()
    await rm(dataDir, { recursive: true, force: true })
  })

  test('does not wait for an idle connection', { tags: 'full' }, async () => {
    const server = await openServer()
    const socket = net.connect(Number(new URL(server.url).port), '127.0.0.1')
    const closed = new Promise((resolve) => socket.on('close', resolve))
    await new Promise((resolve) => socket.on('connect', resolve))
    const began = performance.now()
    await server.close()
    await closed
    expect(performance.now() - began).toBeLessThan(5000)
  })
})

test('browsers get no referrer from pages, and HSTS at the public address if that is https', {
  tags: 'full',
}, async () => {
  const headersAt = async (url: string, host: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>()
    get(`${url}/healthz`, { headers: { host } }, (response) => {
      response.resume()
      resolve(response.headers)
    }).on('error', reject)
    return promise
  }
  const database = await cloneDatabase()
  const server = await openServer({ PLINTH_PUBLIC_URL: 'https://data.example.com:8443' }, database)
  try {
    const { url } = JSON.parse(await readFile(join(server.dataDir, 'server.json'), 'utf8'))
    expect(await headersAt(url, 'data.example.com:8443')).toMatchObject({
      'referrer-policy': 'no-referrer',
      'strict-transport-security': 'max-age=31536000',
    })
    expect(await headersAt(url, 'other.example.com')).not.toHaveProperty('strict-transport-security')
    expect(await headersAt(world.url, new URL(world.url).host)).not.toHaveProperty(
      'strict-transport-security',
    )
  } finally {
    await server.close()
    await database.drop()
  }
})

/** A revoked token has no effect any more, even for requests that began before. */
import { Agent, request as openRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, sleep, succeed, times } from '../../support/answers.ts'
import { type Holding, holdOpen } from '../../support/holding.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', {}), 201)
})
afterAll(() => world.close())

const ADMIN = { base: '*', record_type: '*', environment: '*', permission: 'admin' }
const admin = (more: object = {}) => world.newToken([ADMIN], more)

/** Sends the headers of a request, and its body when `finish` is called. */
function begin(
  token: string,
  method: string,
  path: string,
  body: object,
  headers: Record<string, string> = {},
) {
  const text = JSON.stringify(body)
  const request = openRequest(world.url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
      ...headers,
    },
  })
  const answer = new Promise<{ status: number; text: string; challenge: string | undefined }>(
    (resolve, fail) => {
      request.on('error', fail)
      request.on('response', (response) => {
        let received = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          received += chunk
        })
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            text: received,
            challenge: response.headers['www-authenticate'],
          }),
        )
      })
    },
  )
  request.write(text.slice(0, 5))
  return {
    finish: () => {
      request.end(text.slice(5))
      return answer
    },
  }
}

test('a connection that several clients share answers each by its own token, and knows none that is revoked', {
  tags: 'full',
}, async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const sockets = new Set<unknown>()
  const statusOf = (token: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}` }
      const asked = openRequest(`${world.url}/v1/crm/record-types/deal`, { agent, headers }, (response) => {
        sockets.add(response.socket)
        response.resume().on('end', () => resolve(response.statusCode))
      })
      asked.on('error', reject).end()
    })
  const { id, token } = await admin()
  const other = await world.newToken([{ base: 'crm', record_type: 'note', permission: 'read' }])
  const wrong = token.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))
  for (let n = 0; n < 2; n++)
    expect([await statusOf(token), await statusOf(other.token), await statusOf(wrong)]).toEqual([
      200, 403, 401,
    ])
  succeed(await world.call('DELETE', `/v1/tokens/${id}`))
  expect([await statusOf(token), await statusOf(other.token)]).toEqual([401, 403])
  // More than are kept.
  for (const one of await Promise.all(times(10, () => admin()))) expect(await statusOf(one.token)).toBe(200)
  expect(sockets.size).toBe(1)
  agent.destroy()
})

const tokens = async (): Promise<number> =>
  succeed(await world.call('GET', '/v1/tokens?limit=1000')).data.length
const toolCall = (name: string, args: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args },
})
const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '0' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const written = (id: string) => ({ record_type: 'deal', id, data: {} })

describe('The token of a request is checked again after its body', () => {
  test.each<[string, string, string, object, Record<string, string>]>([
    ['a PUT', 'PUT', '/v1/crm/records/deal/late', { data: {} }, {}],
    ['a batch', 'POST', '/v1/crm/batch', { operations: [{ type: 'upsert_record', ...written('late') }] }, {}],
    ['a query', 'POST', '/v1/crm/records/deal/query', { limit: 5 }, {}],
    ['the making of a token', 'POST', '/v1/tokens', { name: 'kept', grants: [ADMIN] }, {}],
    [
      'GraphQL',
      'POST',
      '/graphql',
      { query: 'mutation { putRecord(base: "crm", recordType: "deal", id: "late", data: {}) { id } }' },
      {},
    ],
    ['a tool call', 'POST', '/mcp/crm', toolCall('upsert_record', written('late')), {}],
    [
      'several tool calls',
      'POST',
      '/mcp/crm',
      times(3, () => toolCall('upsert_record', written('late'))),
      { 'mcp-protocol-version': '2025-03-26' },
    ],
    [
      'a tool call of the newer era',
      'POST',
      '/mcp/crm',
      {
        ...toolCall('upsert_record', written('late')),
        params: { name: 'upsert_record', arguments: written('late'), _meta: MODERN },
      },
      { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'upsert_record' },
    ],
  ])(
    '%s is 401 and does nothing if the token was revoked meanwhile',
    async (_name, method, path, body, headers) => {
      const { id, token } = await admin()
      const request = begin(token, method, path, body, headers)
      // The request must be authenticated before the revocation; otherwise it would be 401 in any case.
      await sleep(100)
      succeed(await world.call('DELETE', `/v1/tokens/${id}`))
      const before = await tokens()
      const { status, text, challenge } = await request.finish()
      expect(status, text).toBe(401)
      expect(challenge).toMatch(/^Bearer realm="plinth"/)
      expect(await tokens()).toBe(before)
      expect((await world.call('GET', '/v1/crm/records/deal/late')).status).toBe(404)
    },
  )

  test('a PUT is 401 if the token expired meanwhile', { tags: 'full' }, async () => {
    const { token } = await admin({ expires_at: new Date(Date.now() + 1000).toISOString() })
    const request = begin(token, 'PUT', '/v1/crm/records/deal/late', { data: {} })
    await sleep(1100)
    expect((await request.finish()).status).toBe(401)
    expect((await world.call('GET', '/v1/crm/records/deal/late')).status).toBe(404)
  })

  test('a PUT with a slow body is served if the token is still valid', { tags: 'full' }, async () => {
    const { id, token } = await admin()
    const request = begin(token, 'PUT', '/v1/crm/records/deal/slow', { data: {} })
    // Longer than authentication is cached.
    await sleep(1200)
    expect((await request.finish()).status).toBe(201)
    succeed(await world.call('DELETE', `/v1/tokens/${id}`))
  })
})

/** Waits until another session waits for the lock. */
const untilAwaited = (held: Holding) =>
  expect.poll(async () => (await held.waiting()).length, { timeout: 10_000, interval: 10 }).toBeGreaterThan(0)

describe('If a token is revoked while its request waits', () => {
  test('a new token is not created once the revocation is committed', async () => {
    const { id, call } = await admin()
    const held = await holdOpen(world.database)
    await held.query('DELETE FROM plinth.token WHERE id = $1', [id])
    const making = call('POST', '/v1/tokens', { name: 'kept', grants: [ADMIN] })
    await untilAwaited(held)
    await held.end('COMMIT')
    expectFailure(await making, 'UNAUTHORIZED')
    expect(await world.database.query(`SELECT FROM plinth.token WHERE name = 'kept'`)).toEqual([])
  })

  test('a request that waits for its Idempotency-Key is 401 and is neither executed nor replayed', {
    tags: 'full',
  }, async () => {
    const { id, call } = await admin()
    succeed(await world.call('PUT', '/v1/crm/records/deal/held', { data: {} }), 201)
    const held = await holdOpen(world.database)
    await held.query(`SELECT FROM plinth.record WHERE base_id = 'crm' AND id = 'held' FOR UPDATE`)
    const put = () =>
      call('PUT', '/v1/crm/records/deal/held', { data: { n: 1 } }, { 'idempotency-key': 'waits' })
    const first = put()
    await untilAwaited(held)
    const second = put()
    await sleep(50)
    succeed(await world.call('DELETE', `/v1/tokens/${id}`))
    await held.end()
    expect((await first).status).toBe(200)
    expectFailure(await second, 'UNAUTHORIZED')
  })

  test('it creates no token after its deletion in the log', { tags: 'full' }, async () => {
    for (let round = 0; round < 12; round++) {
      const { id, call } = await admin()
      const [made, ended] = await Promise.all([
        call('POST', '/v1/tokens', { name: `made ${round}`, grants: [ADMIN] }),
        sleep(round % 4).then(() => world.call('DELETE', `/v1/tokens/${id}`)),
      ])
      succeed(ended)
      expect([201, 401], made.text).toContain(made.status)
      const log = await world.database.query<{ id: string; operation: string }>(
        `SELECT id, operation FROM plinth.change WHERE kind = 'token' AND (id = $1 OR token_id = $1) ORDER BY seq`,
        [id],
      )
      expect(log.at(-1)).toEqual({ id, operation: 'delete' })
      expect(log.filter((each) => each.id !== id)).toHaveLength(made.status === 201 ? 1 : 0)
      expectFailure(await call('POST', '/v1/tokens', { name: 'late', grants: [ADMIN] }), 'UNAUTHORIZED')
    }
  })
})

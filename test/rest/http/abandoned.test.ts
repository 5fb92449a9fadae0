// @module-tag full
/** A request whose client disconnects: a read is cancelled, a write runs to completion, other requests are not affected. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed, times } from '../../support/answers.ts'
import { type Holding, holdOpen } from '../../support/holding.ts'
import { transportOne } from '../../support/mcp-drivers.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  const searched = { indexes: [{ fields: ['data.s'], type: 'text' }] }
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', searched), 201)
  succeed(await world.call('PUT', '/v1/crm/relationship-types/next', {}), 201)
  for (const id of ['a', 'b']) succeed(await world.call('PUT', path(id), { data: { n: 1, s: 'word' } }), 201)
})
afterAll(() => world.close())

const path = (id: string) => `/v1/crm/records/deal/${id}`

/** Sends a request that can be aborted by the client. */
function leaving(method: string, url: string, body?: unknown) {
  const gone = new AbortController()
  const answer = fetch(world.url + url, {
    method,
    headers: {
      authorization: `Bearer ${world.adminToken}`,
      accept: 'application/json, text/event-stream',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: gone.signal,
  }).then(
    ({ status }) => status,
    () => 'left' as const,
  )
  return { answer, leave: () => gone.abort() }
}

/** Locks the record table, so that every query of it waits as behind a long statement. */
async function holdRecords(): Promise<Holding> {
  const held = await holdOpen(world.database)
  await held.query('LOCK TABLE plinth.record IN ACCESS EXCLUSIVE MODE')
  return held
}

/** The process ids of the pool's connections, in ascending order. */
const backends = async () => {
  const rows = await world.database.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'plinth' ORDER BY pid`,
  )
  return rows.map(({ pid }) => pid)
}

const where = encodeURIComponent(JSON.stringify({ field: 'data.n', op: 'eq', value: 1 }))
const search = encodeURIComponent(JSON.stringify({ field: 'data.s', op: 'search', value: 'word' }))
const aggregate = { aggregations: [{ fn: 'count' }] }
const call = { jsonrpc: '2.0', id: 1, method: 'tools/call' }

test.each([
  ['a list', 'GET', '/v1/crm/records/deal'],
  ['a filter', 'GET', `/v1/crm/records/deal?filter=${where}&include_total=true`],
  ['a search', 'GET', `/v1/crm/records/deal?filter=${search}`],
  ['a query', 'POST', '/v1/crm/records/deal/query', { expand: ['next'] }],
  ['an aggregate', 'POST', '/v1/crm/records/deal/aggregate', aggregate],
  ['a walk', 'GET', '/v1/crm/records/deal/a/related?depth=3'],
  ['a query across bases', 'POST', '/v1/accounts/default/query', { bases: ['crm'], record_type: 'deal' }],
  ['an SQL statement', 'POST', '/v1/crm/sql', { query: 'SELECT count(*) FROM deal' }],
  [
    'a GraphQL query',
    'POST',
    '/graphql',
    { query: '{ records(base: "crm", recordType: "deal") { data { id } } }' },
  ],
  [
    'a tool call',
    'POST',
    '/mcp/crm',
    { ...call, params: { name: 'query_records', arguments: { record_type: 'deal' } } },
  ],
] as const)(
  '%s is cancelled when its client disconnects, and an equal request of another client is answered',
  async (_, method, url, body?: object) => {
    const held = await holdRecords()
    const one = leaving(method, url, body)
    await expect.poll(held.waiting).toHaveLength(1)
    const [{ pid: left } = { pid: 0 }] = await held.waiting()
    const other = leaving(method, url, body)
    await expect.poll(held.waiting).toHaveLength(2)
    const before = await backends()
    one.leave()
    expect(await one.answer).toBe('left')
    await expect.poll(held.waiting, { timeout: 5000 }).toHaveLength(1)
    expect((await held.waiting())[0]?.pid).not.toBe(left)
    await held.end()
    expect(await other.answer).toBe(200)
    // A background job may open one more meanwhile.
    expect(await backends(), 'no connection is lost by it').toEqual(expect.arrayContaining(before))
  },
)

test('a tool call that the client cancels ends, and the MCP session stays usable', async () => {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transportOne({ way: 'http', url: world.url, token: world.adminToken, base: 'crm' }))
  const held = await holdRecords()
  const cancelled = new AbortController()
  const query = { name: 'query_records', arguments: { record_type: 'deal' } }
  const asked = client.callTool(query, undefined, { signal: cancelled.signal }).catch(() => 'cancelled')
  await expect.poll(held.waiting).toHaveLength(1)
  cancelled.abort('enough')
  expect(await asked).toBe('cancelled')
  await expect.poll(held.waiting, { timeout: 5000 }).toHaveLength(0)
  await held.end()
  expect(await client.callTool(query)).toMatchObject({ structuredContent: { data: [{}, {}] } })
  await client.close()
})

test('requests whose clients disconnect release their connections, and queued ones are never started', async () => {
  const held = await holdRecords()
  const all = times(30, () => leaving('GET', '/v1/crm/records/deal'))
  await expect.poll(held.waiting).toHaveLength(2)
  const bases = world.call('GET', '/v1/bases')
  for (const one of all) one.leave()
  expect(await Promise.all(all.map(({ answer }) => answer))).toEqual(times(30, () => 'left'))
  succeed(await bases)
  await expect.poll(held.waiting, { timeout: 5000 }).toHaveLength(0)
  await held.end()
  expect(world.log.filter((line) => line.includes('"msg":"a request failed"'))).toEqual([])
})

test.each([
  ['a PUT', 'PUT', path('a'), { data: { n: 2, s: 'put' } }],
  ['a PATCH', 'PATCH', path('a'), { data: { n: 3 } }],
  [
    'a batch',
    'POST',
    '/v1/crm/batch',
    { operations: [{ type: 'upsert_record', record_type: 'deal', id: 'a', data: { n: 4 } }] },
  ],
  ['a claim', 'POST', '/v1/crm/records/deal/claim', { filter: { field: 'id', op: 'eq', value: 'a' } }],
  ['a DELETE', 'DELETE', path('a')],
] as const)('%s runs to completion when its client disconnects', async (_, method, url, body?: object) => {
  const held = await holdRecords()
  const [{ last } = { last: 0 }] = await world.database.query<{ last: number }>(
    'SELECT max(seq)::int AS last FROM plinth.change',
  )
  const one = leaving(method, url, body)
  await expect.poll(held.waiting).toHaveLength(1)
  one.leave()
  expect(await one.answer).toBe('left')
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(await held.waiting()).toHaveLength(1)
  await held.end()
  const written = async () => {
    const [row] = await world.database.query<{ n: number }>(
      `SELECT (SELECT count(*) FROM plinth.change WHERE seq > $1)::int + (SELECT count(*) FROM plinth.claim)::int AS n`,
      [last],
    )
    return row?.n
  }
  await expect.poll(written).toBeGreaterThan(0)
})

test('a wait request is answered although an identical one was aborted before it', async () => {
  const url = `/v1/crm/wait/deal?filter=${encodeURIComponent(JSON.stringify({ field: 'id', op: 'eq', value: 'b' }))}`
  const held = await holdRecords()
  const first = leaving('GET', url)
  await expect.poll(held.waiting).toHaveLength(1)
  const second = leaving('GET', url)
  first.leave()
  expect(await first.answer).toBe('left')
  await new Promise((resolve) => setTimeout(resolve, 300))
  await held.end()
  expect(await second.answer).toBe(200)
})

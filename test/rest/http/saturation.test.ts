// @module-tag full
/** A token that exceeds its share of connections waits or is 429; other tokens are served meanwhile. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LIMITS } from '../../../src/foundation/limits.ts'
import { expectFailure, succeed, times } from '../../support/answers.ts'
import { type Holding, holdOpen } from '../../support/holding.ts'
import type { Call } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let greedy: { id: string; token: string; call: Call }
let modest: { id: string; token: string; call: Call }
beforeAll(async () => {
  world = await openWorld()
  const searched = { indexes: [{ fields: ['data.s'], type: 'text' }] }
  succeed(await world.call('PUT', '/v1/crm/record-types/doc', searched), 201)
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', {}), 201)
  succeed(await world.call('PUT', '/v1/crm/records/doc/a', { data: { s: 'word' } }), 201)
  succeed(await world.call('PUT', '/v1/crm/records/deal/a', { data: { n: 1 } }), 201)
  greedy = await world.newToken([{ permission: 'read' }])
  modest = await world.newToken([{ permission: 'write' }])
})
afterAll(() => world.close())

/** Connections that long reads may use at once: per token, and in total. */
const OF_TOKEN = 2
const IN_ALL = 4
const QUEUE = 250

const filter = (word: string) => JSON.stringify({ field: 'data.s', op: 'search', value: word })
const search = (word = 'word') => `/v1/crm/records/doc?filter=${encodeURIComponent(filter(word))}`

/** Blocks every search by a lock on the text entries, which only searches read. */
async function holdSearches(): Promise<Holding> {
  const held = await holdOpen(world.database)
  await held.query('LOCK TABLE plinth.record_text IN ACCESS EXCLUSIVE MODE')
  return held
}

/** Sends requests that can be aborted, and collects the statuses of those answered. */
function sendAll(count: number, path: (index: number) => string, token = greedy.token) {
  const gone = new AbortController()
  const statuses: number[] = []
  const all = times(count, async (index) => {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await fetch(world.url + path(index), { headers, signal: gone.signal }).catch(() => null)
    if (answer) statuses.push(answer.status)
    return answer
  })
  return { statuses, answers: () => Promise.all(all), leave: () => gone.abort() }
}

async function metric(name: string): Promise<number> {
  const { text } = await world.as(null)('GET', '/metrics')
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)`, 'm').exec(text)?.[1])
}

// First: a long poll that another test leaves may look once more, and would count as a call.
test('an MCP batch runs few of its calls at a time and answers all of them', { tags: 'full' }, async () => {
  const held = await holdSearches()
  const calls = times(60, (id) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: {
      name: 'query_records',
      arguments: { record_type: 'doc', filter: { field: 'data.s', op: 'search', value: `word${id}` } },
    },
  }))
  const asked = greedy.call('POST', '/mcp/crm', calls, { accept: 'application/json' })
  await expect.poll(held.waiting).toHaveLength(OF_TOKEN)
  const waiting = await metric('plinth_database_waiting')
  succeed(await modest.call('GET', '/v1/crm/records/deal?limit=1'))
  expect(waiting, 'the rest of the batch has not begun').toBeLessThanOrEqual(LIMITS.mcpBatchAtOnce - OF_TOKEN)
  await held.end()
  const answers: { id: number; result: { isError?: boolean } }[] = succeed(await asked)
  expect(answers.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(times(60, (id) => id))
  expect(answers.filter(({ result }) => result.isError)).toEqual([])
})

test('other tokens are served while one token has more long reads than its limit', async () => {
  const held = await holdSearches()
  const attack = sendAll(24, (index) => search(`word${index}`))
  await expect.poll(held.waiting).toHaveLength(OF_TOKEN)
  for (const round of [0, 1]) {
    succeed(await modest.call('GET', '/v1/crm/records/deal?limit=1'))
    succeed(await modest.call('GET', '/v1/crm/records/deal/a'))
    succeed(await modest.call('PUT', '/v1/crm/records/deal/b', { data: { round } }), round === 0 ? 201 : 200)
    succeed(await modest.call('PATCH', '/v1/crm/records/deal/b', { data: { patched: round } }))
    succeed(await world.call('GET', '/v1/bases'))
    const aggregate = { aggregations: [{ fn: 'count' }] }
    succeed(await modest.call('POST', '/v1/crm/records/deal/aggregate', aggregate))
  }
  succeed(await greedy.call('GET', '/v1/crm/records/deal/a'))
  expect(attack.statuses, 'none of the attack was answered meanwhile').toEqual([])
  expect(await held.waiting()).toHaveLength(OF_TOKEN)
  expect(await metric('plinth_database_waiting')).toBe(24 - OF_TOKEN)
  await held.end()
  await attack.answers()
  expect(attack.statuses).toEqual(times(24, () => 200))
  expect(await metric('plinth_database_waiting')).toBe(0)
})

test('a long read that exceeds the queue or its waiting time is 429 with Retry-After, never 500', {
  tags: 'full',
}, async () => {
  const held = await holdSearches()
  const refused = await metric('plinth_database_refused_total')
  const attack = sendAll(QUEUE + OF_TOKEN + 6, (index) => search(`word${index}`))
  // The queue of a token is bounded: further requests are refused at once.
  await expect.poll(() => attack.statuses.length).toBeGreaterThanOrEqual(6)
  await expect.poll(() => attack.statuses.length).toBe(QUEUE + 6)
  expect(await held.waiting(), 'those that run are not ended').toHaveLength(OF_TOKEN)
  await held.end()
  const answers = await attack.answers()
  expect(attack.statuses.filter((status) => status === 200)).toHaveLength(OF_TOKEN)
  expect(attack.statuses.filter((status) => status === 429)).toHaveLength(QUEUE + 6)
  for (const answer of answers)
    if (answer?.status === 429) {
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
      const { error } = (await answer.json()) as { error: { code: string; details: { code: string }[] } }
      expect([error.code, error.details[0]?.code]).toEqual(['RATE_LIMITED', 'busy'])
    }
  expect(await metric('plinth_database_refused_total')).toBe(refused + QUEUE + 6)
})

test('tokens that use all connections for long reads leave those for other requests free', async () => {
  const other = await world.newToken([{ permission: 'read' }])
  const third = await world.newToken([{ permission: 'read' }])
  const held = await holdSearches()
  const attacks = [greedy, other, third].map(({ token }) => sendAll(10, (i) => search(`word${i}`), token))
  await expect.poll(held.waiting).toHaveLength(IN_ALL)
  succeed(await modest.call('GET', '/v1/crm/records/deal/a'))
  succeed(await modest.call('PUT', '/v1/crm/records/deal/c', { data: {} }), 201)
  expect(await held.waiting()).toHaveLength(IN_ALL)
  await held.end()
  for (const attack of attacks) {
    await attack.answers()
    expect(attack.statuses).toEqual(times(10, () => 200))
  }
})

test('a GraphQL query with many fields uses no more connections than separate requests', async () => {
  const held = await holdSearches()
  const fields = times(30, (i) => {
    const asked = `{ field: "data.s", op: "search", value: "word${i}" }`
    return `f${i}: records(base: "crm", recordType: "doc", filter: ${asked}, limit: 1) { data { id } }`
  })
  const asked = greedy.call('POST', '/graphql', { query: `{ ${fields.join('\n')} }` })
  await expect.poll(held.waiting).toHaveLength(OF_TOKEN)
  succeed(await modest.call('GET', '/v1/crm/records/deal?limit=1'))
  expect(await held.waiting()).toHaveLength(OF_TOKEN)
  await held.end()
  const { data, errors } = succeed(await asked)
  expect(errors).toBeUndefined()
  expect(Object.keys(data)).toHaveLength(30)
})

test('writes that wait for a row lock leave connections for reads and for other tokens', async () => {
  const held = await holdOpen(world.database)
  await held.query(`SELECT FROM plinth.record WHERE record_type = 'deal' AND id = 'a' FOR UPDATE`)
  const writer = await world.newToken([{ permission: 'write' }])
  const patches = times(20, () => writer.call('PATCH', '/v1/crm/records/deal/a', { data: { n: 2 } }))
  await expect.poll(async () => (await held.waiting()).length).toBeGreaterThan(0)
  succeed(await modest.call('GET', '/v1/crm/records/deal/a'))
  succeed(await modest.call('PATCH', '/v1/crm/records/deal/b', { data: { n: 3 } }))
  await held.end()
  for (const answer of await Promise.all(patches)) succeed(answer)
})

test('batches of one token wait in their turn, and leave turns when their clients go; other tokens are served', {
  tags: 'full',
}, async () => {
  const held = await holdOpen(world.database)
  await held.query(`SELECT FROM plinth.record WHERE record_type = 'deal' AND id = 'a' FOR UPDATE`)
  const writer = await world.newToken([{ permission: 'write' }])
  const upsert = (id: string) => ({
    type: 'upsert_record',
    record_type: 'deal',
    id,
    data: { s: 'x'.repeat(500) },
  })
  const batch = (first: string, own: number) => ({
    operations: [first, ...times(60, (n) => `batch-${own}-${n}`)].map(upsert),
  })
  const gone = new AbortController()
  const lost = times(10, () =>
    fetch(`${world.url}/v1/crm/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${writer.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(batch('a', 0)),
      signal: gone.signal,
    }).then(
      () => 'answered',
      () => 'gone',
    ),
  )
  await expect.poll(async () => (await held.waiting()).length).toBeGreaterThan(0)
  const kept = times(20, (n) => writer.call('POST', '/v1/crm/batch', batch('a', n + 1)))
  succeed(await modest.call('POST', '/v1/crm/batch', batch('other', 99)))
  // Small ones have no turn: they wait for a connection alone.
  succeed(await modest.call('POST', '/v1/crm/batch', { operations: [upsert('other')] }))
  gone.abort()
  expect(new Set(await Promise.all(lost))).toEqual(new Set(['gone']))
  await held.end()
  for (const answer of await Promise.all(kept)) succeed(answer)
  for (const n of [1, 20]) succeed(await modest.call('GET', `/v1/crm/records/deal/batch-${n}-59`))
})

test('a malformed batch among many gets its own 400', async () => {
  const writer = await world.newToken([{ permission: 'write' }])
  const operations = times(60, (n) => ({
    ...{ type: 'upsert_record', record_type: 'deal', id: `sound-${n}`, data: { s: 'x'.repeat(500) } },
  }))
  const sound = times(12, () => writer.call('POST', '/v1/crm/batch', { operations }))
  const broken = times(12, () =>
    fetch(`${world.url}/v1/crm/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${writer.token}`, 'content-type': 'application/json' },
      body: `${JSON.stringify({ operations }).slice(0, -1)},,`,
    }),
  )
  for (const answer of await Promise.all(broken)) expect(answer.status).toBe(400)
  for (const answer of await Promise.all(sound)) succeed(answer)
})

test('SQL statements over the limit of a token are 429 with Retry-After', async () => {
  const held = await holdOpen(world.database)
  await held.query('LOCK TABLE plinth.record IN ACCESS EXCLUSIVE MODE')
  const query = { query: 'SELECT count(*) FROM deal' }
  const all = times(6, () => greedy.call('POST', '/v1/crm/sql', query))
  const first = await Promise.race(all)
  const error = expectFailure(first, 'RATE_LIMITED')
  expect(error.details[0].code).toBe('busy')
  expect(first.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  await held.end()
  const statuses = (await Promise.all(all)).map(({ status }) => status)
  expect(new Set(statuses)).toEqual(new Set([200, 429]))
})

test('after a write, the open waits of one token are checked one after another', async () => {
  const waiter = await world.newToken([{ permission: 'read' }])
  const gone = new AbortController()
  const asked = times(20, (index) => {
    const path = `/v1/crm/wait/doc?timeout=30&filter=${encodeURIComponent(filter(`later${index}`))}`
    const headers = { authorization: `Bearer ${waiter.token}` }
    return fetch(world.url + path, { headers, signal: gone.signal }).then(
      ({ status }) => status,
      () => 'left',
    )
  })
  const open = async () => (await world.call('GET', '/v1/crm/records/doc/a')).status
  for (const _ of asked) expect(await open()).toBe(200)
  await expect.poll(() => metric('plinth_database_in_use')).toBe(0)
  const held = await holdSearches()
  const write = { data: { n: 1 } }
  succeed(await modest.call('PUT', '/v1/crm/records/deal/d', write), 201)
  await expect.poll(held.waiting).toHaveLength(1)
  succeed(await modest.call('GET', '/v1/crm/records/deal?limit=1'))
  succeed(await waiter.call('GET', '/v1/crm/records/deal?limit=1'))
  expect(await held.waiting(), 'one look of the token at a time').toHaveLength(1)
  await held.end()
  succeed(await modest.call('PUT', '/v1/crm/records/doc/b', { data: { s: 'later7' } }), 201)
  expect(await Promise.any(asked), 'what was waited for is found').toBe(200)
  gone.abort()
  await Promise.all(asked)
  await expect.poll(() => metric('plinth_database_in_use')).toBe(0)
})

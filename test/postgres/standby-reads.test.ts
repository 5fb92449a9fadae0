// @module-tag full
/** Reads on a standby: each token reads its own writes, nothing is older than promised, and no request is lost. */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { readConfig } from '../../src/config/read-config.ts'
import { succeed } from '../support/answers.ts'
import type { Call } from '../support/caller.ts'
import { relate } from '../support/links.ts'
import { openProxy } from '../support/proxy.ts'
import { openServer, type TestServer } from '../support/server.ts'
import { openPair, type Pair } from '../support/standby.ts'
import { eventually } from '../support/until.ts'

let pair: Pair
let server: TestServer

beforeAll(async () => {
  pair = await openPair({ settings: { fsync: 'off' } })
  const pool = new pg.Pool({ connectionString: pair.primary.url, max: 2 })
  const database = {
    url: pair.primary.url,
    query: async <Row extends object>(text: string, values: unknown[] = []) =>
      (await pool.query<Row>(text, values)).rows,
    drop: () => pool.end(),
  }
  server = await openServer({ PLINTH_REPLICA_URL: pair.standby.url }, database)
  succeed(await server.call('PUT', '/v1/bases/crm', {}), 201)
  const schema = { properties: { n: { type: 'integer' }, of: { type: 'string' } } }
  const indexes = [{ fields: ['data.of'], type: 'text' }]
  succeed(await server.call('PUT', '/v1/crm/record-types/order', { json_schema: schema, indexes }), 201)
  const operations = Array.from({ length: 1000 }, (_, n) => ({
    ...{ type: 'create_record', record_type: 'order', id: `o${n}`, data: { n, of: 'all' } },
  }))
  succeed(await server.call('POST', '/v1/crm/batch', { operations }))
  const ends = { source_record_types: ['order'], target_record_types: ['order'] }
  succeed(await server.call('PUT', '/v1/crm/relationship-types/after', ends), 201)
  succeed(await relate(server.call, 'after', ['order', 'o0'], ['order', 'o1']), 201)
  await used()
})

beforeEach(used)

afterAll(async () => {
  pair.standby.signal('SIGCONT')
  await server.close()
  await server.database.drop()
  await pair.close()
})

/** Waits until the standby serves again. */
async function used(): Promise<void> {
  await eventually(async () => (await server.call('GET', '/readyz')).body.replica === 'used' || undefined)
}

/** Changes a setting of the standby for the rest of a test. */
async function set(name: string, value: string): Promise<AsyncDisposable> {
  const apply = async (text: string) => {
    await pair.standby.query(`ALTER SYSTEM ${text}`)
    await pair.standby.query('SELECT pg_reload_conf()')
  }
  await apply(`SET ${name} = '${value}'`)
  return { [Symbol.asyncDispose]: () => apply(`RESET ${name}`) }
}

/** Keeps the standby from replaying for the rest of a test. */
async function pause(): Promise<AsyncDisposable> {
  await pair.standby.query('SELECT pg_wal_replay_pause()')
  return {
    [Symbol.asyncDispose]: async () => void (await pair.standby.query('SELECT pg_wal_replay_resume()')),
  }
}

const metric = async (name: string, label = ''): Promise<number> => {
  const { body } = await server.call('GET', '/metrics')
  const line = String(body)
    .split('\n')
    .find((each) => each.startsWith(`${name}${label}`) && !each.startsWith('#'))
  return Number(line?.split(' ').at(-1) ?? 0)
}
const readsThere = () => metric('plinth_replica_reads_total')

const tokenOf = async (name: string): Promise<Call & { id: string }> => {
  const grants = [{ base: 'crm', record_type: '*', environment: '*', permission: 'write' }]
  const { token, id } = succeed(await server.call('POST', '/v1/tokens', { name, grants }), 201)
  return Object.assign(server.as(token), { id })
}

const equal = (field: string, value: string) => ({ field, op: 'eq', value })
const count = async (call: Call, of: string): Promise<number> =>
  succeed(
    await call('POST', '/v1/crm/records/order/aggregate', {
      filter: equal('data.of', of),
      aggregations: [{ fn: 'count' }],
    }),
  ).data[0].count
const listed = async (call: Call, of: string): Promise<number> =>
  succeed(await call('POST', '/v1/crm/records/order/query', { filter: equal('data.of', of), limit: 100 }))
    .data.length

const ofSql = async (call: Call): Promise<number> =>
  succeed(
    await call('POST', '/v1/crm/sql', { query: `SELECT count(*) AS count FROM "order" WHERE "of" = 'all'` }),
  ).data[0].count
const found = async (call: Call): Promise<number> =>
  succeed(
    await call('POST', '/v1/crm/records/order/query', {
      filter: { field: 'data.of', op: 'search', value: 'all' },
      limit: 100,
    }),
  ).data.length
const relatedTo = async (call: Call, id: string): Promise<string[]> =>
  succeed(await call('GET', `/v1/crm/records/order/${id}/related`)).data.map(
    ({ record }: { record: { id: string } }) => record.id,
  )

test('the standby answers lists, searches, aggregates, related records and SQL of a token that has not written', async () => {
  const reader = await tokenOf('reader')
  // The type is compiled, and the role of SQL made: the standby has to follow.
  await count(reader, 'all')
  await ofSql(reader)
  await found(reader)
  await sleep(100)
  const before = await readsThere()
  expect(await count(reader, 'all')).toBe(1000)
  expect(await listed(reader, 'all')).toBe(100)
  expect(await ofSql(reader)).toBe(1000)
  expect(await found(reader)).toBe(100)
  expect(await relatedTo(reader, 'o0')).toEqual(['o1'])
  expect(await readsThere()).toBe(before + 5)
})

test('a token reads its own writes, whatever the delay of the standby', async () => {
  await using _delayed = await set('recovery_min_apply_delay', '150ms')
  const before = await readsThere()
  const writers = Array.from({ length: 6 }, async (_, w) => {
    const call = await tokenOf(`writer ${w}`)
    for (let n = 1; n <= 25; n++) {
      const data = { n, of: `w${w}` }
      const path = `/v1/crm/records/order/w${w}-${n}`
      const write =
        n % 3 === 0
          ? call('POST', '/v1/crm/batch', {
              operations: [{ type: 'create_record', record_type: 'order', id: `w${w}-${n}`, data }],
            })
          : call('PUT', path, { data })
      expect((await write).status).toBeLessThan(300)
      await sleep(Math.random() * (n % 5 === 0 ? 500 : 30))
      expect([await count(call, `w${w}`), await listed(call, `w${w}`)]).toEqual([n, n])
    }
  })
  await Promise.all(writers)
  expect(await readsThere()).toBeGreaterThan(before)
})

test('while the standby does not replay, nothing is read that is older than a second, and then nothing there', async () => {
  const [writer, reader] = await Promise.all([tokenOf('writer'), tokenOf('reader')])
  await used()
  await using _paused = await pause()
  const written: number[] = []
  for (let n = 0; n < 80; n++) {
    succeed(await writer('PUT', `/v1/crm/records/order/p${n}`, { data: { n, of: 'paused' } }), 201)
    written.push(performance.now())
    const asked = performance.now()
    const found = await count(reader, 'paused')
    expect(found).toBeGreaterThanOrEqual(written.filter((at) => at < asked - 1000).length)
    await sleep(20)
  }
  const before = await readsThere()
  expect(await count(reader, 'paused')).toBe(80)
  expect(await readsThere()).toBe(before)
  expect((await server.call('GET', '/readyz')).body.replica).toBe('behind')
  const { checks } = succeed(await server.call('GET', '/v1/diagnostics'))
  expect(checks.find(({ name }: { name: string }) => name === 'replica').status).toBe('warning')
})

test('a type, an index and its entries that the standby does not have yet are read on the primary', async () => {
  const reader = await tokenOf('reader')
  await sleep(100)
  await using _paused = await pause()
  const type = {
    json_schema: { properties: { k: { type: 'string' } } },
    indexes: [{ fields: [{ field: 'data.k' }] }],
  }
  succeed(await server.call('PUT', '/v1/crm/record-types/late', type), 201)
  succeed(await server.call('PUT', '/v1/crm/records/late/l1', { data: { k: 'a' } }), 201)
  const found = succeed(
    await reader('POST', '/v1/crm/records/late/query', { filter: equal('data.k', 'a') }),
  ).data
  expect(found).toHaveLength(1)
})

test('a waiting read sees the change that ends it', async () => {
  const [writer, waiter, other] = await Promise.all([tokenOf('writer'), tokenOf('waiter'), tokenOf('other')])
  await sleep(100)
  await using _paused = await pause()
  const path = `/v1/crm/wait/order?timeout=20&filter=${encodeURIComponent(JSON.stringify(equal('data.of', 'awaited')))}`
  // Both wait for the answer to one question.
  const waiting = [waiter('GET', path), other('GET', path)]
  await sleep(100)
  succeed(await writer('PUT', '/v1/crm/records/order/awaited', { data: { n: 1, of: 'awaited' } }), 201)
  for (const answer of waiting) expect(succeed(await answer).data).toHaveLength(1)
  expect([await listed(waiter, 'awaited'), await listed(other, 'awaited')]).toEqual([1, 1])
})

test('a setting that names no standby of the database is refused, or not used', async () => {
  expect(() => readConfig({ PLINTH_REPLICA_URL: pair.standby.url })).toThrow(
    'PLINTH_REPLICA_URL is a standby of the database of DATABASE_URL, which is not set',
  )
  await pair.primary.query('CREATE DATABASE another')
  const another = new URL(pair.standby.url)
  another.pathname = '/another'
  const both = await openProxy(pair.standby.url, 0, undefined, [pair.primary.url])
  for (const [url, words] of [
    [pair.primary.url, 'is no standby'],
    [another.href, 'is no standby'],
    [both.url, 'leads to several servers'],
  ] as const) {
    const other = await openServer({ PLINTH_REPLICA_URL: url }, server.database)
    try {
      await eventually(async () => other.log.some((line) => line.includes(words)) || undefined)
      expect(await count(other.call, 'all')).toBe(1000)
      expect((await other.call('GET', '/readyz')).body.replica).toBe('unreachable')
    } finally {
      await other.close()
    }
  }
  await both.close()
})

test('a revoked token reads nothing', async () => {
  const reader = await tokenOf('reader')
  await sleep(100)
  await using _paused = await pause()
  expect(await count(reader, 'all')).toBe(1000)
  succeed(await server.call('DELETE', `/v1/tokens/${reader.id}`))
  expect((await reader('POST', '/v1/crm/records/order/query', {})).status).toBe(401)
})

const AGGREGATE = '/v1/crm/records/order/aggregate'
const SUMS = { aggregations: [{ fn: 'sum', field: 'data.n' }], group_by: ['data.of'] }
const SQL = { query: 'SELECT "of", sum(n) FROM "order" GROUP BY 1' }

/** Reads with several tokens until stopped: how many were answered, what failed, and the longest time. */
function load() {
  const failures: string[] = []
  let answered = 0
  let longestMs = 0
  let isOver = false
  const readers = Array.from({ length: 4 }, async (_, r) => {
    const call = await tokenOf(`reader ${r}`)
    while (!isOver) {
      const begun = performance.now()
      const { status, text } =
        r === 0 ? await call('POST', '/v1/crm/sql', SQL) : await call('POST', AGGREGATE, SUMS)
      longestMs = Math.max(longestMs, performance.now() - begun)
      if (status === 200) answered++
      else failures.push(text)
      await sleep(2)
    }
  })
  return {
    end: async () => {
      isOver = true
      await Promise.all(readers)
      return { answered, failures, longestMs }
    },
  }
}

test('a statement that replay stops is answered by the primary', async () => {
  await using _impatient = await set('max_standby_streaming_delay', '0')
  const before = await metric('plinth_replica_fallbacks_total', '{reason="conflict"}')
  const reads = load()
  const client = new pg.Client({ connectionString: pair.primary.url })
  await client.connect()
  // Replay of the lock stops all that reads the table on the standby.
  for (let n = 0; n < 150; n++) {
    await client.query('BEGIN; LOCK TABLE plinth.record IN ACCESS EXCLUSIVE MODE; COMMIT')
    await sleep(10)
  }
  await client.end()
  const { failures } = await reads.end()
  expect(failures).toEqual([])
  expect(await metric('plinth_replica_fallbacks_total', '{reason="conflict"}')).toBeGreaterThan(before)
})

test.each<[string, (pair: Pair) => Promise<unknown>]>([
  [
    'hangs',
    async ({ standby }) => {
      standby.signal('SIGSTOP')
      await sleep(3000)
      standby.signal('SIGCONT')
    },
  ],
  [
    'ends all connections',
    async ({ standby }) =>
      standby.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'plinth%'`,
      ),
  ],
])('the standby %s amid reads: none fails, and none takes long', async (_case, harm) => {
  const before = await readsThere()
  const reads = load()
  await sleep(500)
  await harm(pair)
  await used()
  const { answered, failures, longestMs } = await reads.end()
  expect(failures).toEqual([])
  expect(longestMs).toBeLessThan(2500)
  expect(await readsThere()).toBeGreaterThan(before)
  console.info(`${answered} reads, 0 failed; the longest took ${longestMs.toFixed(0)} ms`)
})

test('the standby is killed amid reads: none fails, the primary answers, and it serves again afterwards', async () => {
  const before = await readsThere()
  const reads = load()
  await eventually(async () => (await readsThere()) > before || undefined)
  pair.standby.signal('SIGKILL')
  await eventually(
    async () => (await server.call('GET', '/readyz')).body.replica === 'unreachable' || undefined,
  )
  const reader = await tokenOf('reader')
  const gone = await readsThere()
  expect([await count(reader, 'all'), await found(reader), await ofSql(reader)]).toEqual([1000, 100, 1000])
  expect(await relatedTo(reader, 'o0')).toEqual(['o1'])
  expect(await readsThere()).toBe(gone)
  await pair.standby.start()
  await used()
  await eventually(async () => (await readsThere()) > gone || undefined)
  const { answered, failures } = await reads.end()
  expect(failures).toEqual([])
  console.info(`${answered} reads, 0 failed`)
})

test('a standby that takes writes of its own is used no more', async () => {
  await pair.standby.query('SELECT pg_promote()')
  await eventually(
    async () => (await server.call('GET', '/readyz')).body.replica === 'unreachable' || undefined,
  )
  await pair.standby.query(
    `DELETE FROM plinth.relationship; DELETE FROM plinth.record WHERE record_type = 'order'`,
  )
  const reader = await tokenOf('reader')
  await sleep(100)
  expect(await count(reader, 'all')).toBe(1000)
  expect(await ofSql(reader)).toBe(1000)
})

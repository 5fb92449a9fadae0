/** The server, its PostgreSQL, or both are killed again and again amid all kinds of writers. `PLINTH_TEST_CYCLES` says how often. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CASES_TIMEOUT, cases } from '../support/cases.ts'
import { type ChildServer, startChild } from '../support/child-server.ts'
import { sha256 } from '../support/files.ts'
import { outOfTrue } from '../support/indexes.ts'
import { scratch } from '../support/scratch.ts'
import type { Answer, Body } from '../support/server.ts'
import type { World } from '../support/world.ts'

const CYCLES = Number(process.env['PLINTH_TEST_CYCLES'] ?? (cases(50) >= 1000 ? 1000 : 10))
/** Acknowledged writes between two kills. */
const WRITES = 30
const WRITERS = 4
const adminToken = `plt_${randomBytes(32).toString('base64url')}`
const TYPE = {
  json_schema: { type: 'object', properties: { title: { type: 'string' }, n: { type: 'integer' } } },
  indexes: [{ fields: ['data.n'] }, { fields: ['data.title'], type: 'text' }],
}
/** What a kill explains. Statements that wait for the database hold the SQL slots of the token. */
const isTransient = ({ status }: Answer) => status === 429 || status >= 500
const jsonOf = { 'content-type': 'application/json' }

/** What was acknowledged, and so must be there. */
const orders = new Set<string>()
const pairs = new Set<string>()
const deleted = new Set<string>()
/** What was acknowledged last, and what was sent since, each of which may have been written. */
const counters = new Map<string, { acknowledged: number; sent: number[] }>()
const files = new Map<string, string>()
const once = new Set<string>()
/** Drafts of pairs in a change-set that stays open. */
const drafts = new Set<string>()
/** Two records that the statements of one SQL request wrote. */
const twins = new Set<string>()
/** By record: who claimed it and has not begun to release it. */
const holders = new Map<string, string>()
/** What no moment may show. */
const wrongs: string[] = []
const refused: string[] = []
let acknowledged = 0
let failed = 0

test('no acknowledged write is lost and none is half applied, whatever is killed', {
  tags: ['full', 'sampled'],
  timeout: Math.max(CASES_TIMEOUT, CYCLES * 20_000),
}, async () => {
  const dataDir = await scratch('plinth-cycles-')
  const start = () => startChild({ adminToken }, { PLINTH_DATA_DIR: dataDir })
  let server: ChildServer = await start()
  const postmaster = () =>
    Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])
  const send = async (...args: Parameters<ChildServer['call']>): Promise<Answer | undefined> => {
    const answer = await server.call(...args).catch(() => undefined)
    if (answer && answer.status < 300) {
      acknowledged++
      return answer
    }
    if (answer && !isTransient(answer)) refused.push(answer.text)
    failed++
    await sleep(20)
    return undefined
  }
  succeed(await server.call('PUT', '/v1/bases/crm', {}), 201)
  for (const type of ['order', 'counter'])
    succeed(await server.call('PUT', `/v1/crm/record-types/${type}`, TYPE), 201)
  const link = { source_record_types: ['order'], target_record_types: ['order'] }
  succeed(await server.call('PUT', '/v1/crm/relationship-types/pairs', link), 201)
  succeed(await server.call('PUT', '/v1/crm/file-types/docs', {}), 201)

  succeed(await server.call('PUT', '/v1/crm/record-types/task', {}), 201)
  succeed(await server.call('POST', '/v1/crm/preview', { name: 'kept', copy: 'on_write' }), 201)

  const dataOf = (name: string, n: number) => ({ title: `Order ${name} of ${n % 7} words`, n })
  /** Two records and the relationship between them. */
  const pairOf = (name: string, n: number) => {
    const put = (id: string) => ({ type: 'upsert_record', record_type: 'order', id, data: dataOf(id, n) })
    const pair = {
      ...{ type: 'upsert_relationship', rel_type: 'pairs', id: `${name}-l` },
      ...{ source_record_type: 'order', source_id: `${name}-p` },
      ...{ target_record_type: 'order', target_id: `${name}-q` },
    }
    return { operations: [put(`${name}-p`), put(`${name}-q`), pair] }
  }
  const untilAcknowledged = async (key: string, path: string, body: object): Promise<void> => {
    while (refused.length === 0) {
      const answer = await send('POST', path, JSON.stringify(body), { ...jsonOf, 'idempotency-key': key })
      if (answer) return
    }
  }
  const isOdd = (n: number) => Math.floor(n / writes.length) % 2 === 1
  const writes: ((name: string, writer: number, n: number) => Promise<void>)[] = [
    async (name, _, n) => {
      if (await send('PUT', `/v1/crm/records/order/${name}`, { data: dataOf(name, n) })) orders.add(name)
    },
    async (_, writer, n) => {
      const id = `c${writer}`
      const counter = counters.get(id) ?? { acknowledged: 0, sent: [] }
      counters.set(id, counter)
      counter.sent.push(n)
      const isPatch = isOdd(n) && counter.acknowledged > 0
      const answer = await send(isPatch ? 'PATCH' : 'PUT', `/v1/crm/records/counter/${id}`, { data: { n } })
      if (answer) Object.assign(counter, { acknowledged: n, sent: [] })
    },
    async (name, _, n) => {
      if (await send('POST', '/v1/crm/batch', pairOf(name, n))) pairs.add(name)
    },
    async (name, _, n) => {
      const content = randomBytes(isOdd(n) ? 2000 : 200_000)
      if (await send('PUT', `/v1/crm/files/docs/${name}`, content)) files.set(name, sha256(content))
    },
    async (name) => {
      const [oldest] = [...orders].filter((id) => id[1] === name[1])
      if (oldest === undefined) return
      orders.delete(oldest)
      if (await send('DELETE', `/v1/crm/records/order/${oldest}`)) deleted.add(oldest)
    },
    async (name, _, n) => {
      const params = { name: 'create_order', arguments: { ...dataOf(name, n) } }
      const answer = await send('POST', '/mcp/crm', { jsonrpc: '2.0', id: 1, method: 'tools/call', params })
      const id = answer?.body.result?.structuredContent?.id
      if (id !== undefined) orders.add(id)
      else if (answer) failed++
    },
    // Sent until it is acknowledged, under one key: it must be there once.
    async (name) => {
      await untilAcknowledged(name, '/v1/crm/records/order', { data: { title: `once ${name}`, n: 0 } })
      once.add(`once ${name}`)
    },
    async (name, _, n) => {
      const query = `mutation ($id: ID!, $data: Order_Input!) { createOrder(id: $id, data: $data) { order { id } } }`
      const answer = await send('POST', '/graphql/crm', {
        query,
        variables: { id: name, data: dataOf(name, n) },
      })
      if (answer?.body.data?.createOrder) orders.add(name)
      else if (answer) failed++
    },
    async (name, _, n) => {
      const insert = (id: string) =>
        `INSERT INTO "order" (id, title, n) VALUES ('${id}', '${dataOf(id, n).title}', ${n})`
      const statements = `${insert(`${name}-s`)}; ${insert(`${name}-t`)}`
      if (await send('POST', '/v1/crm/sql/execute', { statements })) twins.add(name)
    },
    async (name, _, n) => {
      if (await send('POST', '/v1/crm--kept/batch', pairOf(name, n))) drafts.add(name)
    },
    // Its promotion is sent until it is acknowledged: after each kill it is there whole or not at all.
    async (name, _, n) => {
      await untilAcknowledged(`${name}-open`, '/v1/crm/preview', { name, copy: 'on_write' })
      await untilAcknowledged(`${name}-write`, `/v1/crm--${name}/batch`, pairOf(name, n))
      await untilAcknowledged(`${name}-merge`, '/v1/crm/promote', { from: `crm--${name}` })
      pairs.add(name)
    },
    async (name, _, n) => {
      await send('PUT', `/v1/crm/records/task/${name}`, { data: {} })
      const claim = { lease_seconds: 86_400, patch: { by: name } }
      const answer = await send('POST', '/v1/crm/records/task/claim', claim)
      const [claimed] = answer?.body.data ?? []
      if (claimed === undefined) return
      const { id } = claimed.record
      if (holders.has(id)) wrongs.push(`${id} is held by ${holders.get(id)} and by ${name}`)
      holders.set(id, name)
      // A release that nobody acknowledged may have freed it.
      if (isOdd(n)) holders.delete(id)
      await send('POST', `/v1/crm/claims/${claimed.claim.id}/${isOdd(n) ? 'release' : 'complete'}`)
    },
  ]
  /** What was written together and is not there together, in production and in the change-set, while others write. */
  const halves = async (): Promise<unknown> => {
    const sql = `SELECT name, string_agg(part, '' ORDER BY part) AS parts FROM (
        SELECT left(id, -2) AS name, right(id, 1) AS part FROM records WHERE record_type = 'order' AND id ~ '-[pqst]$'
        UNION ALL SELECT left(id, -2), right(id, 1) FROM relationships) AS written
      GROUP BY name HAVING string_agg(part, '' ORDER BY part) NOT IN ('lpq', 'st')`
    for (;;) {
      const answer = await server.call('POST', '/v1/crm--kept/sql', { query: sql }).catch(() => undefined)
      if (answer && !isTransient(answer)) return succeed(answer).data
      await sleep(20)
    }
  }
  let isOver = false
  const writer = async (at: number): Promise<void> => {
    for (let n = 1; !isOver; n++) await writes[n % writes.length]?.(`w${at}-${n}`, at, n)
  }
  const running = Array.from({ length: WRITERS }, (_, at) => writer(at))
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    await sleep((cycle * 37) % 200)
    const what = cycle % 3
    if (what !== 1) process.kill(postmaster(), 'SIGKILL')
    if (what !== 0) {
      await server.kill()
      server = await start()
    }
    expect(await halves()).toEqual([])
    const before = acknowledged
    await expect
      .poll(() => refused.length > 0 || acknowledged - before > WRITES, { timeout: 60_000, interval: 10 })
      .toBe(true)
    expect(refused).toEqual([])
  }
  isOver = true
  await Promise.all(running)

  const socket = encodeURIComponent(join(dataDir, 'run'))
  // No pool: its end does not wait until the connection is closed.
  const client = new pg.Client({ connectionString: `postgres://plinth@localhost:5432/plinth?host=${socket}` })
  await client.connect()
  const query = async <Row extends object>(text: string, values: unknown[] = []) =>
    (await client.query<Row>(text, values)).rows
  const ids = async (text: string) => new Set((await query<{ id: string }>(text)).map(({ id }) => id))
  const kept = await ids(`SELECT id FROM plinth.record WHERE record_type = 'order'`)
  const links = await ids('SELECT id FROM plinth.relationship')
  expect([...orders].filter((id) => !kept.has(id))).toEqual([])
  expect([...deleted].filter((id) => kept.has(id))).toEqual([])
  expect([...pairs].filter((id) => !links.has(`${id}-l`))).toEqual([])
  expect([...twins].filter((name) => !kept.has(`${name}-s`) || !kept.has(`${name}-t`))).toEqual([])
  expect(await halves()).toEqual([])
  const drafted = await ids(`SELECT id FROM plinth.draft_record WHERE branch = 'crm--kept'`)
  expect([...drafts].filter((name) => !drafted.has(`${name}-p`))).toEqual([])
  expect([...drafted].filter((id) => kept.has(id))).toEqual([])
  // Each claim wrote its record once, and who was told so has it.
  const tasks = await query<{ id: string; by: string; written: number; attempts: number }>(
    `SELECT r.id, r.data ->> 'by' AS by, r.version - 1 AS written, coalesce(c.attempts, 0) AS attempts
     FROM plinth.record r LEFT JOIN plinth.claim c USING (row_no) WHERE r.record_type = 'task'`,
  )
  expect(tasks.filter(({ written, attempts }) => written !== attempts)).toEqual([])
  const by = new Map(tasks.map((task) => [task.id, task.by]))
  expect([...holders].filter(([id, holder]) => by.get(id) !== holder)).toEqual([])
  expect(wrongs).toEqual([])
  for (const [id, counter] of counters) {
    const { n } = succeed(await server.call('GET', `/v1/crm/records/counter/${id}`)).data
    expect([counter.acknowledged, ...counter.sent], id).toContain(n)
  }
  for (const [path, digest] of files) {
    const response = await fetch(`${server.url}/v1/crm/files/docs/${path}`, {
      headers: { authorization: `Bearer ${adminToken}`, accept: 'application/octet-stream' },
    })
    expect(sha256(Buffer.from(await response.arrayBuffer())), path).toBe(digest)
  }
  const titles = await query<{ title: string; count: number }>(
    `SELECT data ->> 'title' AS title, count(*)::int AS count FROM plinth.record WHERE data ->> 'title' LIKE 'once %' GROUP BY 1`,
  )
  expect(titles.filter(({ count }) => count !== 1)).toEqual([])
  expect([...once].filter((title) => !titles.some((one) => one.title === title))).toEqual([])

  // Each record is the last entry of its history, which has every version once.
  const wrong = await query<Body>(
    `SELECT coalesce(r.id, c.id) AS id, r.version, c.versions FROM plinth.record r
     FULL JOIN (SELECT record_type, id, array_agg(version ORDER BY seq) AS versions, (array_agg(data ORDER BY seq DESC))[1] AS data,
         (array_agg(operation ORDER BY seq DESC))[1] AS operation FROM plinth.change WHERE kind = 'record' GROUP BY 1, 2) c
       ON c.record_type = r.record_type AND c.id = r.id
     WHERE c.versions IS DISTINCT FROM (SELECT array_agg(v) FROM generate_series(1, coalesce(r.version, cardinality(c.versions))) v)
       OR (r.id IS NULL) <> (c.operation = 'delete') OR (r.id IS NOT NULL AND r.data IS DISTINCT FROM c.data) LIMIT 10`,
  )
  expect(wrong).toEqual([])
  const world = { database: { query } } as unknown as World
  for (const type of ['order', 'counter']) expect(await outOfTrue(world, type)).toEqual([])
  const unsearched = await query<Body>(
    `SELECT r.id FROM plinth.record r JOIN plinth.record_type_index d ON d.base_id = r.base_id AND d.record_type = r.record_type AND d.kind = 'text'
     LEFT JOIN plinth.record_text t ON t.base_id = r.base_id AND t.index_id = d.id AND t.id = r.id
     WHERE r.data ? 'title' AND t.id IS NULL LIMIT 10`,
  )
  expect(unsearched).toEqual([])
  console.info(`${CYCLES} cycles: ${acknowledged} acknowledged and kept, ${failed} failed requests`)
  await client.end()
  process.kill(server.pid, 'SIGTERM')
  await sleep(1000)
  await server.kill()
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
})

/** While the database accepts statements without answering, every request ends; afterwards the server recovers. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Code, expectFailure, sleep, succeed, times } from '../../support/answers.ts'
import { cloneDatabase, type TestDatabase } from '../../support/database.ts'
import { openProxy } from '../../support/proxy.ts'
import { type Answer, openServer, type TestServer } from '../../support/server.ts'

let database: TestDatabase
let proxy: Awaited<ReturnType<typeof openProxy>>
let server: TestServer
beforeAll(async () => {
  database = await cloneDatabase()
  proxy = await openProxy(database.url)
  server = await openServer(
    { DATABASE_URL: proxy.url, PLINTH_REQUEST_TIMEOUT_MS: '1000', PLINTH_SQL_TIMEOUT_MS: '1000' },
    database,
  )
  succeed(await server.call('PUT', '/v1/bases/crm', {}), 201)
  succeed(await server.call('PUT', '/v1/crm/record-types/task', {}), 201)
  succeed(await server.call('PUT', '/v1/crm/records/task/a', { data: { n: 1 } }), 201)
})
afterAll(async () => {
  await server.close()
  await proxy.close()
  await database.drop()
})

const isReady = () => expect.poll(async () => (await server.call('GET', '/readyz')).status).toBe(200)

/** Resolves when the server is ready again and no connection is in use. */
async function recovered(): Promise<void> {
  await isReady()
  const inUse = async () =>
    /^plinth_database_in_use (\d+)/m.exec((await server.call('GET', '/metrics')).text)?.[1]
  await expect.poll(inUse).toBe('0')
  for (const call of times(14, () => server.call('GET', '/v1/crm/records/task/a'))) succeed(await call)
}

function expectLater(answer: Answer, code: Code = 'INTERNAL_ERROR') {
  const error = expectFailure(answer, code)
  const isUnknown = answer.body.error.details?.[0]?.code === 'outcome_unknown'
  // Only where nothing was written.
  if (isUnknown) expect(answer.headers.get('retry-after')).toBeNull()
  else expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  return error
}

const UPSERT = { type: 'upsert_record', record_type: 'task', id: 'batched', data: { n: 2 } }

test('while the database is silent, requests end as 500 or 429 with Retry-After; later ones are served', {
  tags: 'full',
}, async () => {
  proxy.silence('all')
  const ready = server.call('GET', '/readyz')
  const reads = [
    server.call('GET', '/v1/bases'),
    server.call('GET', '/v1/crm/records/task'),
    server.call('GET', '/v1/crm/records/task/a'),
    server.call('POST', '/v1/crm/records/task/aggregate', { aggregations: [{ fn: 'count' }] }),
  ]
  const writes = [
    server.call('PUT', '/v1/crm/records/task/a', { data: { n: 2 } }),
    server.call('PATCH', '/v1/crm/records/task/a', { data: { n: 3 } }),
    server.call('POST', '/v1/crm/batch', { operations: [UPSERT] }),
    server.call('PUT', '/v1/crm/record-types/task', { name: 'x' }),
  ]
  const answers = await Promise.all([...reads, ...writes])
  for (const answer of answers) expectLater(answer)
  expect(await ready.then(({ status, body }) => [status, body.database])).toEqual([503, 'unreachable'])
  // These arrive while every connection is in use or being opened.
  const more = await Promise.all(times(30, (i) => server.call('GET', `/v1/crm/records/task?limit=${i + 1}`)))
  for (const answer of more) expect([429, 500], answer.text).toContain(answer.status)
  for (const answer of more) expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  proxy.speak()
  await recovered()
  succeed(await server.call('PUT', '/v1/crm/records/task/a', { data: { n: 4 } }))
})

test('the first SQL of a token ends in time, although its role is still to be made', {
  tags: 'full',
}, async () => {
  const grants = [{ base: 'crm', record_type: 'task', environment: '*', permission: 'read' }]
  const sql = (token: string) => server.as(token)('POST', '/v1/crm/sql', { query: 'SELECT 1 AS one' })
  const tokens: string[] = []
  for (const name of ['a', 'b'])
    tokens.push(succeed(await server.call('POST', '/v1/tokens', { name, grants }), 201).token)
  for (const token of tokens) succeed(await server.as(token)('GET', '/v1/crm/records/task'))
  proxy.silence('answers')
  const since = performance.now()
  for (const answer of await Promise.all(tokens.map(sql))) expectLater(answer)
  expect(performance.now() - since).toBeLessThan(4000)
  proxy.speak()
  await recovered()
  for (const token of tokens)
    await expect.poll(async () => (await sql(token)).status, { timeout: 30_000 }).toBe(200)
})

test('a write without an answer from the database is outcome_unknown; its retry with the key writes once', {
  tags: 'full',
}, async () => {
  // Opens the connections first: a write that has to open one has sent nothing yet, and gets another error.
  for (const answer of await Promise.all(
    times(6, (i) => server.call('GET', `/v1/crm/records/task?limit=${i + 1}`)),
  ))
    succeed(answer)
  const key = { 'idempotency-key': 'lost-answer' }
  const body = { data: { n: 'keyed' } }
  proxy.silence('answers')
  const [keyed, plain] = await Promise.all([
    server.call('POST', '/v1/crm/records/task', body, key),
    server.call('PUT', '/v1/crm/records/task/plain', { data: { n: 'plain' } }),
  ])
  for (const answer of [keyed, plain]) {
    const { message, details } = expectLater(answer)
    expect(message).toMatch(/may have been applied/)
    expect(details[0]).toMatchObject({ code: 'outcome_unknown' })
  }
  expect(keyed.body.error.details[0].message).toMatch(/same Idempotency-Key/)
  proxy.speak()
  await recovered()
  const again = await server.call('POST', '/v1/crm/records/task', body, key)
  expect(again.status, again.text).toBe(201)
  const rows = await database.query(`SELECT id FROM plinth.record WHERE data ->> 'n' = 'keyed'`)
  expect(rows, 'one effect').toHaveLength(1)
})

test('writes acknowledged before the database falls silent are present afterwards', {
  tags: 'full',
}, async () => {
  const acknowledged: string[] = []
  let isOver = false
  const lanes = times(6, async (lane) => {
    for (let i = 0; !isOver; i++) {
      const id = `lane${lane}-${i}`
      const { status } = await server.call('PUT', `/v1/crm/records/task/${id}`, { data: { lane } })
      if (status === 201) acknowledged.push(id)
      else expect([429, 500]).toContain(status)
    }
  })
  for (const what of ['answers', 'all'] as const) {
    await sleep(300)
    proxy.silence(what)
    await sleep(2500)
    proxy.speak()
    await isReady()
  }
  isOver = true
  await Promise.all(lanes)
  await recovered()
  expect(acknowledged.length).toBeGreaterThan(0)
  const rows = await database.query<{ id: string }>(`SELECT id FROM plinth.record WHERE id LIKE 'lane%'`)
  const found = new Set(rows.map(({ id }) => id))
  expect(acknowledged.filter((id) => !found.has(id))).toEqual([])
})

test('after a silent database recovers, a write ends a wait', { tags: 'full' }, async () => {
  proxy.silence('all')
  await sleep(1500)
  proxy.speak()
  await recovered()
  const filter = encodeURIComponent(JSON.stringify({ field: 'id', op: 'eq', value: 'heard' }))
  const wait = server.call('GET', `/v1/crm/wait/task?timeout=20&filter=${filter}`)
  await sleep(300)
  succeed(await server.call('PUT', '/v1/crm/records/task/heard', { data: {} }), 201)
  expect(succeed(await wait).data).toHaveLength(1)
})

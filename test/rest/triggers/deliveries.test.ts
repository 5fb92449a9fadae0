// @module-tag full
/** The deliveries of a base: those of all its triggers and inbound webhooks. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed } from '../../support/answers.ts'
import { explain, statementsOf } from '../../support/query-plans.ts'
import { answering, openReceiver, type Receiver } from '../../support/receiver.ts'
import type { Body } from '../../support/server.ts'
import { triggersOf } from '../../support/triggers.ts'
import { eventually } from '../../support/until.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let receiver: Receiver
let out: Awaited<ReturnType<ReturnType<typeof triggersOf>['newTrigger']>>
let inbound: { recordType: string; path: string }
const KEY = 'a-secret-of-the-sender'
beforeAll(async () => {
  receiver = await openReceiver()
  world = await openWorld({ PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1', PLINTH_WEBHOOK_SCHEDULE: '0.02' })
  out = await triggersOf(world, receiver).newTrigger({ name: 'Sender', max_attempts: 2 })
  const recordType = await world.newType({ json_schema: { properties: { n: { type: 'integer' } } } })
  const body = { name: 'Taker', record_type: recordType, secret: KEY, signature: { scheme: 'token' } }
  const made = succeed(await world.call('PUT', '/v1/crm/inbound-webhooks/taker', body), 201)
  inbound = { recordType, path: new URL(made.ingest_url).pathname }
  receiver.on(out.path, answering(500))
  await out.put('r1', { n: 1 })
  await out.delivery(({ status }) => status === 'dead')
  await send({ n: 1 })
  await send({ n: 'one' })
})
afterAll(async () => {
  await world.close()
  await receiver.close()
})

const call: World['call'] = (...args) => world.call(...args)
const send = (payload: object) =>
  fetch(`${world.url}${inbound.path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from(`x:${KEY}`).toString('base64')}`,
    },
    body: JSON.stringify(payload),
  })
const list = async (query = ''): Promise<Body[]> =>
  succeed(await call('GET', `/v1/crm/deliveries${query}`)).data
const shown = (data: readonly Body[]) => data.map(({ of, status }) => `${of.id} ${status}`)

test('those of triggers and inbound webhooks are one list, newest first, each with whose it is', async () => {
  const all = await list()
  expect(all).toMatchObject([
    {
      direction: 'in',
      of: { kind: 'inbound_webhook', id: 'taker', name: 'Taker' },
      status: 'failed',
      record_type: inbound.recordType,
      record_id: null,
      error: expect.stringContaining('n'),
    },
    { direction: 'in', status: 'succeeded', record_id: expect.any(String), error: null },
    {
      direction: 'out',
      of: { kind: 'trigger', id: out.id, name: 'Sender' },
      status: 'dead',
      attempts: 2,
      event: 'record.created',
      record_type: out.recordType,
      record_id: 'r1',
      webhook_id: expect.stringMatching(/^msg_/),
      response_status: 500,
      response: { status: 500, body: expect.any(String), duration_ms: expect.any(Number) },
      error: 'The receiver answered 500.',
    },
  ])
  // An entry has what the list of its trigger says of it.
  const { direction: _, of: __, response_status: ___, ...entry } = all[2] as Body
  expect(succeed(await call('GET', `/v1/crm/triggers/${out.id}/deliveries`)).data).toEqual([entry])
  expect(all[0]).toMatchObject({ webhook_id: null, response: null })
  const times = all.map(({ created_at }) => created_at)
  expect(times).toEqual([...times].sort().reverse())
  const [failed, taken] = all as [Body, Body, Body]
  const filters: [string, string[]][] = [
    ['?direction=out', [`${out.id} dead`]],
    ['?direction=in', ['taker failed', 'taker succeeded']],
    ['?of=taker&status=failed', ['taker failed']],
    ['?status=dead', [`${out.id} dead`]],
    ['?direction=in&status=dead', []],
    [`?record_type=${out.recordType}`, [`${out.id} dead`]],
    [`?record_type=${out.recordType}&id=r1`, [`${out.id} dead`]],
    [`?record_type=${out.recordType}&id=r2`, []],
    [`?record_type=${inbound.recordType}&id=${taken.record_id}`, ['taker succeeded']],
    ['?since=1h', ['taker failed', 'taker succeeded', `${out.id} dead`]],
    ['?until=1h', []],
    [`?since=${failed.created_at}`, ['taker failed']],
    [`?until=${failed.created_at}`, ['taker succeeded', `${out.id} dead`]],
  ]
  for (const [query, expected] of filters) expect(shown(await list(query)), query).toEqual(expected)
  const pages: string[] = []
  for (let cursor = ''; ; ) {
    const { data, meta } = succeed(
      await call('GET', `/v1/crm/deliveries?limit=1&include_total=true${cursor}`),
    )
    expect(meta.total).toBe(3)
    pages.push(...shown(data))
    if (!meta.has_more) break
    cursor = `&cursor=${encodeURIComponent(meta.next_cursor)}`
  }
  expect(pages).toEqual(shown(all))
  expect(shown(await list('?offset=1&limit=1'))).toEqual(['taker succeeded'])
  for (const [query, at] of [
    ['?direction=up', 'query/direction'],
    ['?status=odd', 'query/status'],
    ['?since=soon', 'query/since'],
    ['?id=r1', 'query/record_type'],
    ['?trigger=x', 'query/trigger'],
  ] as const)
    expectFault(await call('GET', `/v1/crm/deliveries${query}`), at)
})

test('GraphQL has the same list', async () => {
  const query =
    '{ deliveries(base: "crm", direction: "out", since: "2h") { data { of status webhookId response } } }'
  const { data } = (await call('POST', '/graphql', { query })).body
  expect(data.deliveries.data).toEqual([
    {
      ...{ of: { kind: 'trigger', id: out.id, name: 'Sender' }, status: 'dead' },
      webhookId: expect.stringMatching(/^msg_/),
      response: { status: 500, body: expect.any(String), duration_ms: expect.any(Number) },
    },
  ])
})

test('only a grant on the whole base sees them, and manage replays them', async () => {
  const { call: limited } = await world.newToken([{ record_type: out.recordType, permission: 'manage' }])
  expectFailure(await limited('GET', '/v1/crm/deliveries'), 'FORBIDDEN')
  const { call: reader } = await world.newToken([{ permission: 'read' }])
  succeed(await reader('GET', '/v1/crm/deliveries'))
  expectFailure(await reader('POST', '/v1/crm/deliveries/replay', { status: 'dead' }), 'FORBIDDEN')
  expectFailure(await call('GET', '/v1/none/deliveries'), 'NOT_FOUND')
})

test('a replay sends again what matches, a dry run only counts it, and one that fails again keeps none from it', async () => {
  const replay = (body: object, query = '') => call('POST', `/v1/crm/deliveries/replay${query}`, body)
  expect(succeed(await replay({ status: 'dead' }, '?dry_run=true'))).toEqual({
    ...{ count: 1, failed: 0, has_more: false, dry_run: true },
  })
  expect(shown(await list('?status=dead'))).toEqual([`${out.id} dead`])
  expectFault(await replay({}), '/status')
  expectFault(await replay({ status: 'pending' }), '/status')
  expect(succeed(await replay({ status: 'dead', of: 'none' }))).toMatchObject({ count: 0 })
  expect(succeed(await replay({ status: 'dead', since: '1s', of: out.id }))).toMatchObject({ failed: 0 })
  receiver.on(out.path, answering(204))
  const before = receiver.at(out.path)
  await eventually(async () => {
    succeed(await replay({ status: 'dead' }))
    return shown(await list('?status=dead')).length === 0 || undefined
  })
  await eventually(async () => shown(await list('?direction=out&status=succeeded')).length === 1 || undefined)
  const sent = receiver.at(out.path).slice(before.length)
  expect(sent[0]?.headers['webhook-id']).toBe(before[0]?.headers['webhook-id'])
  // The inbound one fails again as long as the type is as it is.
  await send({ n: 'two' })
  expect(succeed(await replay({ status: 'failed', direction: 'in' }))).toMatchObject({ count: 0, failed: 2 })
  const key = { 'idempotency-key': 'once' }
  succeed(await call('PUT', `/v1/crm/record-types/${inbound.recordType}`, { json_schema: {} }))
  expect(succeed(await replay({ status: 'failed' }, '?dry_run=true'))).toMatchObject({ count: 2 })
  expect(succeed(await call('POST', '/v1/crm/deliveries/replay', { status: 'failed' }, key))).toMatchObject({
    ...{ count: 2, failed: 0 },
  })
  expect(shown(await list('?status=failed'))).toEqual([])
  expect(succeed(await call('GET', `/v1/crm/records/${inbound.recordType}`)).data).toHaveLength(3)
})

test('metrics say how many have not succeeded, and how long the oldest is due', async () => {
  const response = await (await fetch(`${world.url}/metrics`)).text()
  expect(response).toMatch(/^plinth_deliveries\{kind="trigger",status="dead"\} \d+$/m)
  expect(response).toMatch(/^plinth_deliveries\{kind="inbound_webhook",status="failed"\} \d+$/m)
  expect(response).toMatch(/^plinth_delivery_oldest_due_seconds \d/m)
  expect(response).toMatch(/^plinth_leader\{work="triggers"\} 1$/m)
})

test('a page of many reads few, with and without planner statistics', { tags: 'full' }, async () => {
  await world.database.query(
    `INSERT INTO plinth.trigger_delivery (base_id, trigger_id, id, event, record_type, record_id, change_seq, status, created_at)
     SELECT 'crm', $1, 'm' || n, 'record.created', 't', 'r' || n, -n, CASE WHEN n % 1000 = 0 THEN 'dead' ELSE 'succeeded' END, now() - n * interval '1 s'
     FROM generate_series(1, 50000) n`,
    [out.id],
  )
  for (const query of ['', '?status=dead', '?record_type=t&id=r77', `?of=${out.id}`]) {
    const ran = await statementsOf(() => list(query))
    const listed = ran.find(({ text }) => text.includes("'out' AS direction"))
    if (!listed) throw new Error('The list was not read.')
    for (const statistics of [false, true]) {
      if (statistics) await world.database.query('ANALYZE plinth.trigger_delivery')
      const { widest, text } = await explain(world.database, listed)
      expect(widest, `${query}\n${text}`).toBeLessThan(2000)
    }
  }
})

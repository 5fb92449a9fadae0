import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LIMITS } from '../../../src/foundation/limits.ts'
import { expectFailure, expectFault, succeed, times } from '../../support/answers.ts'
import type { Body } from '../../support/server.ts'
import { openStream } from '../../support/sse.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const STREAM = '/v1/crm/changes/stream'
const page = async (query: string): Promise<Body> =>
  succeed(await world.call('GET', `/v1/crm/changes?${query}`))
const head = async (): Promise<number> => (await page('since=2999-01-01T00:00:00Z')).meta.next_after
const put = async (type: string, id: string, data: object) =>
  expect((await world.call('PUT', `/v1/crm/records/${type}/${id}`, { data })).status).toBeLessThan(300)
const idsOf = (events: Body[]) => events.map((event) => event.data.id)

test('a stream sends new changes, in the form of the change pages', { tags: 'full' }, async () => {
  const type = await world.newType()
  await put(type, 'before', { n: 1 })
  const stream = await openStream(world, STREAM)
  expect(stream.status).toBe(200)
  expect(stream.type).toMatch(/^text\/event-stream/)
  await put(type, 'later', { n: 1 })
  const [event] = await stream.until(1)
  expect(event).toMatchObject({ event: 'change', id: `${event?.data.seq}`, data: { id: 'later' } })
  const { data } = await page(`after=${event?.data.seq - 1}&limit=1`)
  expect(event?.data).toEqual(data[0])
  stream.cut()
})

test('a stream resumes after Last-Event-ID, otherwise after the parameter `after`', {
  tags: 'full',
}, async () => {
  const type = await world.newType()
  const begin = await head()
  for (const n of times(60, (index) => index)) await put(type, `r${n % 7}`, { n })
  const log = (await page(`after=${begin}&limit=1000`)).data
  const got: Body[] = []
  for (const count of [17, 20, log.length - 37]) {
    const headers = { 'last-event-id': `${got.at(-1)?.id ?? begin}` }
    const stream = await openStream(world, `${STREAM}?after=0`, { headers })
    got.push(...(await stream.until(count)))
    stream.cut()
  }
  expect(got.map((event) => event.data)).toEqual(log)
  const stream = await openStream(world, `${STREAM}?after=${log[57].seq}`)
  expect((await stream.until(2)).map((event) => event.data)).toEqual(log.slice(58))
  stream.cut()
})

test('a stream sends its start position first, so a client that disconnects early can resume without loss', {
  tags: 'full',
}, async () => {
  const type = await world.newType()
  const stream = await openStream(world, STREAM)
  stream.cut()
  await put(type, 'between', { n: 1 })
  const headers = { 'last-event-id': `${stream.startsAfter}` }
  const resumed = await openStream(world, STREAM, { headers })
  expect(idsOf(await resumed.until(1))).toEqual(['between'])
  resumed.cut()
})

test('a stream accepts the filters of the change pages', { tags: 'full' }, async () => {
  const [one, two] = [await world.newType(), await world.newType()]
  const stream = await openStream(world, `${STREAM}?record_type=${two}&id=a&kind=record`)
  await put(one, 'a', { n: 1 })
  await put(two, 'b', { n: 1 })
  await put(two, 'a', { n: 1 })
  const [event] = await stream.until(1)
  expect(event?.data).toMatchObject({ record_type: two, id: 'a' })
  expect(stream.events).toHaveLength(1)
  stream.cut()
})

test('a stream with a condition sends the changes that meet it, before and after the change', {
  tags: 'full',
}, async () => {
  const [type, other] = [await world.newType(), await world.newType()]
  const begin = await head()
  const won = {
    and: [
      { field: 'data.stage', op: 'eq', value: 'won' },
      { field: 'previous.data.stage', op: 'neq', value: 'won' },
    ],
  }
  const query = `record_type=${type}&condition=${encodeURIComponent(JSON.stringify(won))}`
  const live = await openStream(world, `${STREAM}?${query}`)
  await put(type, 'a', { stage: 'open' })
  await put(other, 'a', { stage: 'won' })
  await put(type, 'a', { stage: 'won' })
  await put(type, 'a', { stage: 'won', n: 1 })
  for (const n of times(30, (n) => n)) await put(type, 'b', { n })
  await put(type, 'b', { stage: 'won' })
  const seen = (await live.until(2)).map(({ data }) => [data.id, data.version])
  expect(seen).toEqual([
    ['a', 2],
    ['b', 31],
  ])
  live.cut()
  const again = await openStream(world, `${STREAM}?${query}&after=${begin}`)
  expect((await again.until(2)).map(({ data }) => [data.id, data.version])).toEqual(seen)
  again.cut()
})

test('a condition with an unknown field, or on other kinds than records, is refused', async () => {
  const type = await world.newType({
    json_schema: { properties: { n: { type: 'number' } }, additionalProperties: false },
  })
  const ask = (condition: object, more = '') =>
    world.call('GET', `${STREAM}?condition=${encodeURIComponent(JSON.stringify(condition))}${more}`)
  const unknown = await ask({ field: 'previous.data.m', op: 'eq', value: 1 }, `&record_type=${type}`)
  expect(expectFault(unknown, 'query/condition/field').code).toBe('unknown_field')
  const any = { field: 'id', op: 'eq', value: 'a' }
  expect(expectFault(await ask(any, '&kind=file'), 'query/kind').code).toBe('exclusive')
})

test('a stream with invalid parameters is refused with an error answer', async () => {
  expectFault(await world.call('GET', `${STREAM}?kind=recrd`), 'query/kind')
  expectFault(await world.call('GET', `${STREAM}?limit=1`), 'query/limit')
  const headers = { 'last-event-id': 'x' }
  expectFault(await world.call('GET', STREAM, undefined, headers), 'header/Last-Event-ID')
  expectFailure(await world.call('GET', '/v1/nowhere/changes/stream'), 'NOT_FOUND')
  expectFailure(await world.as(null)('GET', STREAM), 'UNAUTHORIZED')
  const hasNone = await world.call('HEAD', STREAM)
  expect([hasNone.status, hasNone.text]).toEqual([200, ''])
})

test('a stream sends only the changes of types that the token can read', { tags: 'full' }, async () => {
  const [open, shut] = [await world.newType(), await world.newType()]
  const { token, call } = await world.newToken([{ record_type: open, permission: 'read' }])
  expectFailure(await call('GET', `${STREAM}?record_type=${shut}`), 'FORBIDDEN')
  const begin = await head()
  const stream = await openStream(world, STREAM, { token })
  for (const n of [1, 2]) {
    await put(shut, 's', { secret: `canary-${n}` })
    await put(open, 'o', { n })
  }
  await stream.until(2)
  const resumed = await openStream(world, `${STREAM}?after=${begin}`, { token })
  await resumed.until(2)
  for (const { events } of [stream, resumed]) {
    expect(idsOf(events)).toEqual(['o', 'o'])
    expect(JSON.stringify(events)).not.toMatch(/canary/)
  }
  stream.cut()
  resumed.cut()
})

test('a stream ends when its token is revoked or expires, or its base is deleted', {
  tags: 'full',
}, async () => {
  succeed(await world.call('PUT', '/v1/bases/passing', {}), 201)
  const revoked = await world.newToken([{ permission: 'read' }])
  const expiring = await world.newToken([{ permission: 'read' }], {
    expires_at: new Date(Date.now() + 700).toISOString(),
  })
  const streams = [
    await openStream(world, STREAM, { token: revoked.token }),
    await openStream(world, STREAM, { token: expiring.token }),
    await openStream(world, '/v1/passing/changes/stream'),
  ]
  const other = await openStream(world, STREAM)
  succeed(await world.call('DELETE', `/v1/tokens/${revoked.id}`))
  succeed(await world.call('DELETE', '/v1/bases/passing'))
  await Promise.all(streams.map((stream) => stream.ended))
  const type = await world.newType()
  await put(type, 'a', { n: 1 })
  await other.until(2)
  for (const stream of streams) expect(stream.events.map((event) => event.data.kind)).not.toContain('record')
  other.cut()
})

test('a token can open a limited number of streams, and closing one allows another', {
  tags: 'full',
}, async () => {
  const { token, call } = await world.newToken([{ permission: 'read' }])
  const streams = await Promise.all(times(LIMITS.streamsOfToken, () => openStream(world, STREAM, { token })))
  const error = expectFailure(await call('GET', STREAM), 'RATE_LIMITED')
  expect(error.details[0]).toMatchObject({ code: 'too_many_streams', expected: LIMITS.streamsOfToken })
  const other = await openStream(world, STREAM)
  other.cut()
  streams[0]?.cut()
  await expect
    .poll(async () => {
      const next = await openStream(world, STREAM, { token })
      next.cut()
      return next.status
    })
    .toBe(200)
  for (const stream of streams) stream.cut()
})

test('a graceful shutdown ends open streams', { tags: 'full' }, async () => {
  const other = await openWorld()
  const stream = await openStream(other, STREAM)
  await other.close()
  await stream.ended
  expect(stream.events).toEqual([])
})

test('a stream delays changes until older transactions have ended, and skips none', {
  tags: 'full',
}, async () => {
  const type = await world.newType()
  const stream = await openStream(world, `${STREAM}?record_type=${type}`)
  const late = new Client({ connectionString: world.database.url })
  await late.connect()
  await late.query('BEGIN')
  await late.query(
    `INSERT INTO plinth.change (base_id, kind, record_type, id, operation, version, data, actor_name, via, request_id)
     VALUES ('crm', 'record', $1, 'late', 'create', 1, '{}', 'x', 'system', 'late')`,
    [type],
  )
  await put(type, 'early', { n: 1 })
  await page(`record_type=${type}`)
  expect(stream.events).toEqual([])
  await late.query('COMMIT')
  await late.end()
  expect(idsOf(await stream.until(2))).toEqual(['late', 'early'])
  stream.cut()
})

test('under eight writers, streams and pages give each change once and in order, also after reconnects', {
  tags: 'full',
}, async () => {
  const seed = Date.now() % 1_000_000
  console.log(`seed ${seed}`)
  let state = seed
  const random = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
  const type = await world.newType()
  const begin = await head()
  const [writers, each] = [8, 60]
  const total = writers * each

  const plain = await openStream(world, `${STREAM}?after=${begin}`)
  const writing = Promise.all(
    times(writers, async (writer) => {
      for (const n of times(each, (index) => index)) await put(type, `r${writer}-${n % 9}`, { writer, n })
    }),
  )
  const paging = (async () => {
    const seen: Body[] = []
    for (let after = begin; seen.length < total; ) {
      const { data, meta } = await page(`after=${after}&limit=${1 + random(20)}`)
      seen.push(...data)
      after = meta.next_after
    }
    return seen
  })()
  const broken = (async () => {
    const seen: Body[] = []
    while (seen.length < total) {
      const headers = { 'last-event-id': `${seen.at(-1)?.seq ?? begin}` }
      const stream = await openStream(world, STREAM, { headers })
      const wanted = Math.min(total - seen.length, 1 + random(60))
      seen.push(...(await stream.until(wanted)).map((event) => event.data))
      stream.cut()
    }
    return seen
  })()
  await writing
  const straight = (await plain.until(total)).map((event) => event.data)
  plain.cut()

  const log = await world.logOf(type)
  expect(log).toHaveLength(total)
  const order = log.map((row) => Number(row.seq))
  for (const [name, seen] of Object.entries({ paging: await paging, broken: await broken, straight }))
    expect(
      seen.map((entry: Body) => entry.seq),
      name,
    ).toEqual(order)
  expect(await broken).toEqual(straight)
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, times } from '../../support/answers.ts'
import { type Answer, openServer } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

// Two instances on one database: each notifies the other of its writes.
let one: World
let two: World
beforeAll(async () => {
  one = await openWorld()
  two = await openWorld({}, one.database)
})
afterAll(async () => {
  await two.close()
  await one.close()
})

const OPEN = { field: 'data.status', op: 'eq', value: 'open' }
const at = (type: string, query = '', filter: object = OPEN) =>
  `/v1/crm/wait/${type}?filter=${encodeURIComponent(JSON.stringify(filter))}${query}`
const put = (type: string, id: string, data: object, world = one) =>
  world.call('PUT', `/v1/crm/records/${type}/${id}`, { data })

const ended = async (promise: Promise<unknown>): Promise<boolean> =>
  Promise.race([promise.then(() => true), new Promise<boolean>((go) => setImmediate(() => go(false)))])

/** Starts more waits than a token may have, and returns those that were not refused. */
async function crowd(begin: () => Promise<{ status: number }>): Promise<Promise<{ status: number }>[]> {
  const waits = times(100 + 20, begin)
  const waiting = new Set(waits)
  await new Promise<void>((full) => {
    for (const wait of waits)
      void wait.then(({ status }) => {
        if (status === 429) waiting.delete(wait)
        if (waiting.size === 100) full()
      })
  })
  return [...waiting]
}

test('a wait returns existing matches at once, as a list would', async () => {
  const type = await one.newType()
  for (const id of ['a', 'b']) succeed(await put(type, id, { status: 'open', n: id }), 201)
  const list = `/v1/crm/records/${type}?sort=id&fields=id,data.n&limit=1&filter=${encodeURIComponent(JSON.stringify(OPEN))}`
  const { body } = await one.call('GET', at(type, '&sort=id&fields=id,data.n&limit=1'))
  expect(body).toEqual(succeed(await one.call('GET', list)))
  expect(body.data).toEqual([{ id: 'a', data: { n: 'a' } }])
})

test('a wait ends at a matching write of another instance, and not at other writes', {
  tags: 'full',
}, async () => {
  const type = await one.newType()
  const waiting = one.call('GET', at(type, '&timeout=60'))
  succeed(await put(type, 'other', { status: 'closed' }, two), 201)
  const follower = one.call('GET', at(type, '&timeout=60', { field: 'id', op: 'eq', value: 'other' }))
  expect(succeed(await follower).data).toHaveLength(1)
  expect(await ended(waiting)).toBe(false)
  succeed(await two.call('PATCH', `/v1/crm/records/${type}/other`, { data: { status: 'open' } }))
  expect(succeed(await waiting).data).toMatchObject([{ id: 'other', version: 2 }])
})

test('a wait without a match returns an empty page at its timeout', { tags: 'full' }, async () => {
  const type = await one.newType()
  const { data, meta } = succeed(await one.call('GET', at(type, '&timeout=1')))
  expect(data).toEqual([])
  expect(meta).toEqual({ has_more: false, limit: 50, offset: 0 })
  expect(succeed(await one.call('GET', at(type, '&timeout=0'))).data).toEqual([])
})

test('a wait that starts after a write sees it, also if it is shared with equal waits', {
  tags: 'full',
}, async () => {
  const type = await one.newType()
  succeed(await put(type, 'a', { status: 'open' }), 201)
  const waits = times(10, async () => {
    const open = at(type, '&timeout=60')
    expect(succeed(await one.call('GET', open)).data).toHaveLength(1)
  })
  await Promise.all(waits)
  succeed(await put(type, 'a', { status: 'closed' }))
  expect(succeed(await one.call('GET', at(type, '&timeout=0'))).data).toEqual([])
})

test('100 equal waits of a token are answered together, and one more is 429', { tags: 'full' }, async () => {
  const type = await one.newType()
  const { call } = await one.newToken([{ permission: 'read' }])
  const waiting = await crowd(() => call('GET', at(type, '&timeout=60')))
  const refused = await call('GET', at(type, '&timeout=60'))
  expect(expectFailure(refused, 'RATE_LIMITED').details).toMatchObject([{ code: 'too_many_streams' }])
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(succeed(await one.call('GET', at(type, '&timeout=0'))).data).toEqual([])
  succeed(await put(type, 'a', { status: 'open' }, two), 201)
  for (const answer of await Promise.all(waiting))
    expect(succeed(answer as Answer).data).toMatchObject([{ id: 'a' }])
  succeed(await call('GET', at(type)))
})

test('a wait ends when its client disconnects', { tags: 'full' }, async () => {
  const type = await one.newType()
  const { token, call } = await one.newToken([{ permission: 'read' }])
  const gone = new AbortController()
  const headers = { authorization: `Bearer ${token}` }
  const waiting = await crowd(() =>
    fetch(one.url + at(type, '&timeout=60'), { headers, signal: gone.signal }).catch(() => ({ status: 0 })),
  )
  gone.abort()
  expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toEqual(new Set([0]))
  const isFree = async () => (await call('GET', at(type, '&timeout=0'))).status === 200
  while (!(await isFree()));
})

test('a wait of a revoked token ends', { tags: 'full' }, async () => {
  const type = await one.newType()
  const { id, call } = await one.newToken([{ permission: 'read' }])
  const waiting = call('GET', at(type, '&timeout=60'))
  await one.call('DELETE', `/v1/tokens/${id}`)
  const answer = await waiting
  if (answer.status !== 401) expect(succeed(answer).data).toEqual([])
})

test('a wait returns an empty page at graceful shutdown', { tags: 'full' }, async () => {
  const type = await one.newType()
  const server = await openServer({}, one.database)
  const { token, call } = await one.newToken([{ permission: 'read' }])
  const asking = server.as(token)
  const waiting = await crowd(() => asking('GET', at(type, '&timeout=60')))
  await server.close()
  for (const answer of await Promise.all(waiting)) expect(succeed(answer as Answer).data).toEqual([])
  succeed(await call('GET', at(type, '&timeout=0')))
})

test('a wait needs read permission on the type, and refuses invalid parameters', async () => {
  const type = await one.newType()
  const { call } = await one.newToken([{ record_type: type, permission: 'read' }])
  for (const name of ['type1', 'absent'])
    expectFailure(await call('GET', `/v1/crm/wait/${name}?timeout=61`), 'FORBIDDEN')
  expectFailure(await one.call('GET', '/v1/crm/wait/absent'), 'NOT_FOUND')
  expectFault(await call('GET', `/v1/crm/wait/${type}?timeout=61`), 'query/timeout')
  expectFault(await call('GET', `/v1/crm/wait/${type}?timeout=-1`), 'query/timeout')
  expectFault(await call('GET', `/v1/crm/wait/${type}?cursor=x`), 'query/cursor')
  expectFault(await call('GET', at(type, '', { field: 'data.a', op: 'is', value: 1 })), 'query/filter/op')
})

/** `max_string`: reads of records, changes and rows without their long strings. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFault, succeed } from '../../support/answers.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
const LONG = 'é'.repeat(500)
const EMOJI = '🙂'.repeat(100)
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/record-types/doc', {}), 201)
  const ends = { source_record_types: ['*'], target_record_types: ['*'] }
  succeed(await world.call('PUT', '/v1/crm/relationship-types/next', ends), 201)
  const data = { short: 'x'.repeat(50), 'long/~text': LONG, deep: [{ text: EMOJI }], n: 12, none: null }
  for (const id of ['a', 'b']) succeed(await world.call('PUT', `/v1/crm/records/doc/${id}`, { data }), 201)
  const link = {
    rel_type: 'next',
    source_record_type: 'doc',
    source_id: 'a',
    target_record_type: 'doc',
    target_id: 'b',
  }
  succeed(await world.call('POST', '/v1/crm/relationships', link), 201)
})
afterAll(() => world.close())

const read = async (path: string, body?: object): Promise<Body> =>
  succeed(await world.call(body ? 'POST' : 'GET', `/v1/${path}`, body))
const CUT = {
  short: 'x'.repeat(50),
  'long/~text': 'é'.repeat(50),
  deep: [{ text: '🙂'.repeat(50) }],
  n: 12,
  none: null,
}
const cutsAt = (path: string) => [
  // In the order of the stored properties, which is by length.
  { path: `${path}/deep/0/text`, size: 400 },
  { path: `${path}/long~1~0text`, size: 1000 },
]

test('a record has its strings cut at whole characters, and says which', async () => {
  const answer = await world.call('GET', '/v1/crm/records/doc/a?max_string=50')
  expect(succeed(answer)).toMatchObject({ id: 'a', version: 1, data: CUT, truncated: cutsAt('/data') })
  // What is written back with If-Match must be the whole.
  expect(answer.headers.get('etag')).toBeNull()
  const whole = await world.call('GET', '/v1/crm/records/doc/a?max_string=500')
  expect(whole.body).toEqual((await world.call('GET', '/v1/crm/records/doc/a')).body)
  expect(whole.headers.get('etag')).not.toBeNull()
})

test('each item of a list is cut, and the cursor is not', { tags: 'full' }, async () => {
  const list = await read('crm/records/doc?max_string=50&limit=1&sort=id')
  expect(list.data).toMatchObject([{ id: 'a', data: CUT }])
  expect(list.truncated).toEqual(cutsAt('/data/0/data'))
  const next = await read(`crm/records/doc?max_string=50&limit=1&sort=id&cursor=${list.meta.next_cursor}`)
  expect(next.data).toMatchObject([{ id: 'b', data: CUT }])
  expect(await read('crm/records/doc?max_string=500&sort=id')).toEqual(await read('crm/records/doc?sort=id'))
  const queried = await read('crm/records/doc/query?max_string=50', { sort: 'id', fields: ['data.deep'] })
  expect(queried.truncated.map(({ path }: Body) => path)).toEqual([
    '/data/0/data/deep/0/text',
    '/data/1/data/deep/0/text',
  ])
})

test('changes, history, the trash, related records, waits, SQL and queries across bases are cut', {
  tags: 'full',
}, async () => {
  succeed(await world.call('PUT', '/v1/crm/records/doc/gone', { data: { text: LONG } }), 201)
  succeed(await world.call('DELETE', '/v1/crm/records/doc/gone'))
  const cutAt: Record<string, string> = {
    'crm/changes?id=a': '/data/0/diff/0/value/data/long~1~0text',
    'crm/changes/3/trace?': '/change/diff/0/value/data/long~1~0text',
    'crm/records/doc/a/history?': '/data/0/diff/0/value/data/long~1~0text',
    'crm/trash?': '/data/0/data/text',
    'crm/records/doc/a/related?': '/data/0/record/data/long~1~0text',
    'crm/records/doc/a?expand=next': '/_expanded/next/0/record/data/long~1~0text',
    'crm/wait/doc?timeout=0&sort=id': '/data/0/data/long~1~0text',
  }
  const [made] = (await read('crm/changes?record_type=doc&id=a')).data
  for (const [path, at] of Object.entries(cutAt)) {
    const { truncated } = await read(`${path.replace('/3/', `/${made.seq}/`)}&max_string=50`)
    expect(truncated, path).toContainEqual({ path: at, size: 1000 })
  }
  const query = `SELECT data ->> 'text' AS text, '${LONG}' AS long FROM doc LIMIT 1`
  expect((await read('crm/sql?max_string=50', { query })).truncated).toEqual([
    { path: '/data/0/long', size: 1000 },
  ])
  const across = await read('accounts/default/query?max_string=50', { bases: ['*'], record_type: 'doc' })
  expect(across.truncated).toHaveLength(4)
  // The body of a query takes what its address takes, and answers the same.
  const bodies: [path: string, body: object][] = [
    ['crm/sql', { query }],
    ['crm/records/doc/query', { sort: 'id' }],
    ['accounts/default/query', { bases: ['*'], record_type: 'doc' }],
  ]
  for (const [path, body] of bodies) {
    const cut = await read(path, { ...body, max_string: 50 })
    expect(cut, path).toEqual(await read(`${path}?max_string=50`, body))
    expect(cut.truncated, path).not.toEqual([])
  }
})

test('max_string is a number from 20, of JSON answers of reads', async () => {
  for (const value of ['0', '19', '1000001', 'x', '-1', ''])
    expectFault(await world.call('GET', `/v1/crm/records/doc?max_string=${value}`), 'query/max_string')
  const headers = { accept: 'text/csv' }
  expectFault(
    await world.call('GET', '/v1/crm/records/doc?max_string=50', undefined, headers),
    'query/max_string',
  )
  expectFault(
    await world.call('PUT', '/v1/crm/records/doc/a?max_string=50', { data: {} }),
    'query/max_string',
  )
  expectFault(await world.call('GET', '/v1/crm/record-types?max_string=50'), 'query/max_string')
  const query = (body: object, address = '', headers = {}) =>
    world.call('POST', `/v1/crm/records/doc/query${address}`, body, headers)
  expectFault(await query({ max_string: 19 }), '/max_string')
  expectFault(await query({ max_string: 50 }, '?max_string=50'), '/max_string')
  expectFault(await query({ max_string: 50 }, '', { Accept: 'text/csv' }), '/max_string')
  expectFault(await world.call('PUT', '/v1/crm/records/doc/a', { data: {}, max_string: 50 }), '/max_string')
})

test('at most a thousand strings are listed', { tags: 'full' }, async () => {
  const data = Object.fromEntries(Array.from({ length: 1100 }, (_, n) => [`p${n}`, 'y'.repeat(30)]))
  succeed(await world.call('PUT', '/v1/crm/records/doc/many', { data }), 201)
  const { truncated, data: cut } = await read('crm/records/doc/many?max_string=20')
  expect([truncated.length, cut.p1099]).toEqual([1000, 'y'.repeat(20)])
})

test('names that an object has by nature stay own properties', async () => {
  const data = { constructor: 'z'.repeat(40), toString: 'z'.repeat(40) }
  succeed(await world.call('PUT', '/v1/crm/records/doc/proto', { data }), 201)
  const { data: cut } = await read('crm/records/doc/proto?max_string=20')
  expect(cut).toEqual({ constructor: 'z'.repeat(20), toString: 'z'.repeat(20) })
})

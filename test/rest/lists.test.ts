import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, times } from '../support/answers.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let at: string
beforeAll(async () => {
  world = await openWorld()
  at = `/v1/crm/records/${await world.newType()}`
  for (const id of times(61, (i) => `r${String(i).padStart(2, '0')}`))
    succeed(await world.call('PUT', `${at}/${id}`, { data: { id } }), 201)
})
afterAll(() => world.close())

const list = async (query = '', path = at) => succeed(await world.call('GET', `${path}?${query}`))
const ids = (body: Body): string[] => body.data.map((record: Body) => record.id)
const sorted = (sort: unknown, path = at) =>
  list(`sort=${encodeURIComponent(typeof sort === 'string' ? sort : JSON.stringify(sort))}&limit=1000`, path)

describe('A page', () => {
  test('is 50 by default, says has_more truly, and has a total only when asked', async () => {
    const first = await list()
    expect(first.data).toHaveLength(50)
    expect(first.meta).toEqual({ has_more: true, limit: 50, offset: 0 })
    const second = await list('offset=50')
    expect(second.meta).toEqual({ has_more: false, limit: 50, offset: 50 })
    expect(new Set([...ids(first), ...ids(second)]).size).toBe(61)
    expect((await list('limit=61')).meta.has_more).toBe(false)
    expect((await list('limit=60')).meta.has_more).toBe(true)
    expect((await list('limit=7&offset=14&include_total=true')).meta).toEqual({
      has_more: true,
      limit: 7,
      offset: 14,
      total: 61,
    })
    expect((await list('include_total=false')).meta).not.toHaveProperty('total')
    const beyond = await list('offset=100&include_total=true')
    expect(beyond).toEqual({ data: [], meta: { has_more: false, limit: 50, offset: 100, total: 61 } })
    expect(await list('offset=2147483647')).toMatchObject({ data: [] })
  })

  test('after page meets each record once', async () => {
    const seen: string[] = []
    for (let offset = 0, more = true; more; offset += 9) {
      const page = await list(`limit=9&offset=${offset}&sort=id`)
      seen.push(...ids(page))
      more = page.meta.has_more
    }
    expect(seen).toEqual(times(61, (i) => `r${String(i).padStart(2, '0')}`))
  })

  test('is newest first', async () => {
    expect(ids(await list('limit=2'))).toEqual(['r60', 'r59'])
  })

  test.each([
    ...['limit=0', 'limit=1001', 'limit=-1', 'limit=abc', 'limit=1.5', 'limit=', 'limit=1e2', 'limit=%2B1'],
    ...['offset=-1', 'offset=x', 'offset=2147483648', 'include_total=maybe', 'include_total='],
    ...['limit=1&limit=1', 'offset=0&offset=0', 'include_total=true&include_total=true'],
  ])('is refused for %s on every list', async (query) => {
    for (const path of [at, '/v1/crm/record-types', '/v1/bases', '/v1/tokens'])
      expectFault(await world.call('GET', `${path}?${query}`), `query/${query.split('=')[0]}`)
  })
})

describe('A parameter', () => {
  test.each([
    ['lmit=5', 'lmit', 'limit'],
    ['include_totl=true', 'include_totl', 'include_total'],
    ['fiter=x', 'fiter', 'filter'],
    ['__proto__=1', '__proto__', undefined],
    ['constructor=1', 'constructor', undefined],
    ['limit[]=1', 'limit[]', 'limit'],
  ])('that is unknown is refused by name: %s', async (query, name, hint) => {
    const fault = expectFault(await world.call('GET', `${at}?${query}`), `query/${name}`)
    expect(fault.code).toBe('unknown_key')
    if (hint) expect(fault.hint).toBe(hint)
  })

  test.each(['fields=id', 'expand=x', 'cursor=abc', 'as_of=2026-01-01T00:00:00Z', 'version=1'])(
    'that is not served yet is refused, never ignored: %s',
    async (query) => {
      expectFault(await world.call('GET', `${at}?${query}`), `query/${query.split('=')[0]}`)
      expectFault(await world.call('GET', `${at}/r00?${query}`), `query/${query.split('=')[0]}`)
    },
  )

  test.each(['filter', 'sort'])('%s given twice is refused', async (name) => {
    expectFault(await world.call('GET', `${at}?${name}=id&${name}=id`), `query/${name}`)
  })
})

describe('Sort', () => {
  test('takes the shorthand and the JSON form alike', async () => {
    const ascending = ids(await list('limit=1000')).sort()
    expect(ids(await sorted('id'))).toEqual(ascending)
    expect(ids(await sorted([{ field: 'id' }]))).toEqual(ascending)
    expect(ids(await sorted('-id'))).toEqual(ascending.toReversed())
    expect(ids(await sorted([{ field: 'id', direction: 'desc' }]))).toEqual(ascending.toReversed())
  })

  test('puts null last both ways, compares by code point, and breaks ties by id in the last direction', async () => {
    const path = `/v1/crm/records/${await world.newType()}`
    const pairs = { a: 'z', b: 'B', c: 'a', d: null, e: null, f: 'é', g: 'Z' }
    for (const [id, external_id] of Object.entries(pairs))
      succeed(
        await world.call('PUT', `${path}/${id}`, { data: {}, ...(external_id && { external_id }) }),
        201,
      )
    expect(ids(await sorted('external_id', path)).join('')).toBe('bgcafde')
    expect(ids(await sorted('-external_id', path)).join('')).toBe('facgbed')
    for (const id of ['b', 'd']) succeed(await world.call('POST', `${path}/${id}/cancel`))
    expect(ids(await sorted('status', path)).join('')).toBe('acefgbd')
    expect(ids(await sorted('-status', path)).join('')).toBe('dbgfeca')
    expect(ids(await sorted('-version,id', path)).join('')).toBe('bdacefg')
    expect(ids(await sorted('version,-id', path)).join('')).toBe('gfecadb')
    succeed(await world.call('PUT', `${path}/c`, { data: { n: 1 } }))
    expect(ids(await sorted('-updated_at', path))[0]).toBe('c')
    expect(ids(await sorted('created_at', path)).join('')).toBe('abcdefg')
  })

  test('compares ids by code point', async () => {
    const path = `/v1/crm/records/${await world.newType()}`
    for (const id of ['a', 'B', 'b', 'A', 'a-1', 'a.1', 'a_1', 'a1', 'Z'])
      succeed(await world.call('PUT', `${path}/${id}`, { data: {} }), 201)
    const expected = ['a', 'B', 'b', 'A', 'a-1', 'a.1', 'a_1', 'a1', 'Z'].sort()
    expect(ids(await sorted('id', path))).toEqual(expected)
  })

  test.each<[unknown, string]>([
    ['statu', 'status'],
    ['external_idd', 'external_id'],
    ['-creatd_at', 'created_at'],
    ['data.n', ''],
    ['data.items[].n', ''],
    ['id,,version', ''],
    ['id,', ''],
    ['--id', 'id'],
    ['+id', 'id'],
    ['valid', ''],
    ['', ''],
  ])('by %s is refused by name', async (sort, hint) => {
    const fault = expectFault(
      await world.call('GET', `${at}?sort=${encodeURIComponent(String(sort))}`),
      'query/sort',
    )
    expect(fault.code).toBe('unknown_field')
    if (hint) expect(fault.hint).toBe(hint)
  })

  test.each<[unknown, string]>([
    [[], 'query/sort'],
    [['id'], 'query/sort/0'],
    [[{ field: 'id', direction: 'down' }], 'query/sort/0/direction'],
    [[{ field: 'id', dir: 'asc' }], 'query/sort/0/dir'],
    [[{ direction: 'asc' }], 'query/sort/0/field'],
    [[{ field: 7 }], 'query/sort/0/field'],
    [[{ field: 'id' }, null], 'query/sort/1'],
  ])('of %j is refused at %s', async (sort, path) => {
    expectFault(await world.call('GET', `${at}?sort=${encodeURIComponent(JSON.stringify(sort))}`), path)
  })

  test('of malformed JSON is refused', async () => {
    expectFailure(await world.call('GET', `${at}?sort=[{"field":"id"}`), 'VALIDATION_ERROR')
  })
})

test('HEAD of a list answers its headers and no body', async () => {
  const head = await world.call('HEAD', at)
  expect([head.status, head.text]).toEqual([200, ''])
  expect(head.headers.get('content-type')).toMatch(/^application\/json/)
})

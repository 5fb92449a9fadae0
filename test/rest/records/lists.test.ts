import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, times } from '../../support/answers.ts'
import { holdOpen } from '../../support/holding.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

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

describe('A page of a list', () => {
  test('is the same when it is asked again and again, alone and at once', { tags: 'full' }, async () => {
    const filter = encodeURIComponent(JSON.stringify({ field: 'data.id', op: 'gte', value: 'r05' }))
    const query = `filter=${filter}&sort=-data.id&limit=7`
    // A page that took long has a hint.
    const page = async () => {
      const { data, meta } = await list(query)
      return { data, meta: { ...meta, hint: undefined } }
    }
    const first = await page()
    expect(ids(first)).toEqual(times(7, (i) => `r${60 - i}`))
    for (let turn = 0; turn < 4; turn++) expect(await page()).toEqual(first)
    for (const again of await Promise.all(times(40, page))) expect(again).toEqual(first)
    const next = `${query}&cursor=${first.meta.next_cursor}`
    for (let turn = 0; turn < 3; turn++) expect(ids(await list(next))[0]).toBe('r53')
  })

  test('has 50 records by default, a correct has_more, and a total only on request', async () => {
    const first = await list()
    expect(first.data).toHaveLength(50)
    expect(first.meta).toEqual({
      has_more: true,
      limit: 50,
      offset: 0,
      next_cursor: expect.any(String),
    })
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
      next_cursor: expect.any(String),
    })
    expect((await list('include_total=false')).meta).not.toHaveProperty('total')
    const beyond = await list('offset=100&include_total=true')
    expect(beyond).toEqual({ data: [], meta: { has_more: false, limit: 50, offset: 100, total: 61 } })
    expect(await list('offset=2147483647')).toMatchObject({ data: [] })
  })

  test('by offset returns each record once', async () => {
    const seen: string[] = []
    for (let offset = 0, more = true; more; offset += 9) {
      const page = await list(`limit=9&offset=${offset}&sort=id`)
      seen.push(...ids(page))
      more = page.meta.has_more
    }
    expect(seen).toEqual(times(61, (i) => `r${String(i).padStart(2, '0')}`))
  })

  test('is newest first by default', async () => {
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

describe('A parameter of a list', () => {
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

  test.each(['filter', 'sort'])('%s given twice is refused', async (name) => {
    expectFault(await world.call('GET', `${at}?${name}=id&${name}=id`), `query/${name}`)
  })
})

test.each([
  ['data.id desc', '-data.id'],
  ['data.id DESC', '-data.id'],
  ['data.id:asc', 'data.id'],
  ['status,data.id desc', 'status,-data.id'],
  ['data.id desc nulls last', '-data.id'],
])('a sort with a direction after its field is refused with the shorthand: %s', async (sort, hint) => {
  const at400 = await world.call('GET', `${at}?sort=${encodeURIComponent(sort)}`)
  expect(expectFault(at400, 'query/sort')).toMatchObject({ code: 'invalid_field', hint })
})

test('a property whose name ends in a direction sorts by its quoted path', async () => {
  const path = `/v1/crm/records/${await world.newType()}`
  for (const [id, rank] of Object.entries({ a: 2, b: 1 }))
    succeed(await world.call('PUT', `${path}/${id}`, { data: { 'rank desc': rank } }), 201)
  expect(ids(await sorted('data["rank desc"]', path))).toEqual(['b', 'a'])
})

describe('The parameter fields', () => {
  let path: string
  beforeAll(async () => {
    path = `/v1/crm/records/${await world.newType()}`
    const data = {
      name: { first: 'Ada', last: 'L' },
      'odd,key': 1,
      items: [{ sku: 'A', n: 1 }, { n: 2 }],
      none: null,
    }
    succeed(await world.call('PUT', `${path}/a`, { data, external_id: 'e' }), 201)
  })

  test.each<[string, object]>([
    ['id', { id: 'a' }],
    ['id,data.name', { id: 'a', data: { name: { first: 'Ada', last: 'L' } } }],
    ['data.name.first,version', { version: 1, data: { name: { first: 'Ada' } } }],
    ['data["odd,key"],external_id', { external_id: 'e', data: { 'odd,key': 1 } }],
    ['data.items[].sku', { data: { items: [{ sku: 'A' }, null] } }],
    ['data.none', { data: { none: null } }],
    ['data.missing,data.name.none', {}],
    ['data.name.first.deeper', {}],
    [
      'record_type,status,cancelled_at',
      { record_type: expect.any(String), status: 'active', cancelled_at: null },
    ],
    ['data.name.first,data.name', { data: { name: { first: 'Ada', last: 'L' } } }],
  ])('with %s returns exactly the named fields', async (fields, expected) => {
    expect((await list(`fields=${encodeURIComponent(fields)}`, path)).data).toEqual([expected])
    const names = fields.match(/(?:\["[^"]*"\]|[^,])+/g)
    const asked = succeed(await world.call('POST', `${path}/query`, { fields: names }))
    expect(asked.data).toEqual([expected])
  })

  test.each([
    ['nme', 'unknown_field'],
    ['id,', 'invalid_field'],
    ['data.items[0].sku', 'invalid_field'],
    ['data..x', 'invalid_field'],
    ['password', 'unknown_field'],
  ])('with %s is refused', async (fields, code) => {
    const answer = await world.call('GET', `${path}?fields=${encodeURIComponent(fields)}`)
    expect(expectFault(answer, 'query/fields').code).toBe(code)
  })

  test('with a property that a closed schema does not declare is refused with a hint', async () => {
    const properties = { title: { type: 'string' }, tags: { type: 'array', items: { type: 'object' } } }
    const closed = await world.newType({
      json_schema: { type: 'object', properties, additionalProperties: false },
    })
    const of = (fields: string) => world.call('GET', `/v1/crm/records/${closed}?fields=${fields}`)
    expect(expectFault(await of('id,data.titel'), 'query/fields')).toMatchObject({
      code: 'unknown_field',
      hint: 'data.title',
    })
    succeed(await of('id,data.title,data.tags[].any'))
    succeed(await of(`data.titel&as_of=${new Date().toISOString()}`))
  })
})

describe('The parameter expand', () => {
  test.each([
    ['owner', 'unknown_relationship_type'],
    ['~owner.company', 'unknown_relationship_type'],
    ['a.b.c.d', 'too_deep'],
    ['a..b', 'invalid_expand'],
    ['~~a', 'invalid_expand'],
  ])('with %s is refused', async (expand, code) => {
    const fault = expectFault(await world.call('GET', `${at}?expand=${expand}`), 'query/expand')
    expect(fault.code).toBe(code)
  })
})

describe('A cursor', () => {
  const walk = async (query: string, path = at): Promise<string[]> => {
    const seen: string[] = []
    for (let cursor = ''; ; ) {
      const page = await list(`${query}${cursor && `&cursor=${cursor}`}`, path)
      seen.push(...ids(page))
      expect(page.meta.has_more).toBe('next_cursor' in page.meta)
      if (!page.meta.has_more) return seen
      cursor = page.meta.next_cursor
    }
  }

  test.each([
    '',
    'sort=id',
    'sort=-data.id',
    'sort=status,-updated_at',
    'sort=external_id',
    'sort=data.none,-id',
  ])('continues after the previous page: %s', async (sort) => {
    expect(await walk(`${sort}&limit=7`)).toEqual(ids(await list(`${sort}&limit=1000`)))
  })

  test('continues after the previous page in every list', { tags: 'full' }, async () => {
    for (const id of ['c1', 'c2', 'c3', 'c4']) {
      succeed(await world.call('PUT', `/v1/bases/${id}`, {}), 201)
      succeed(await world.call('PUT', `/v1/crm/record-types/${id}`, {}), 201)
      await world.newToken([{ permission: 'read' }])
    }
    for (const path of ['/v1/bases', '/v1/crm/record-types', '/v1/tokens'])
      expect(await walk('limit=2', path)).toEqual(ids(await list('limit=1000', path)))
  })

  test('is valid only with the type, filter, sort and grants of its first page', {
    tags: 'full',
  }, async () => {
    const filter = encodeURIComponent('{"field":"data.id","op":"neq","value":"r00"}')
    const { meta } = await list(`limit=5&sort=data.id&filter=${filter}`)
    const cursor = meta.next_cursor
    const other = `/v1/crm/records/${await world.newType()}`
    const reader = await world.newToken([{ permission: 'read' }])
    const same = `limit=9&cursor=${cursor}&sort=data.id&filter=${filter}`
    expect((await list(same)).data).toHaveLength(9)
    const refused: [string, string, typeof world.call][] = [
      [at, `cursor=${cursor}&sort=data.id`, world.call],
      [at, `cursor=${cursor}&sort=-data.id&filter=${filter}`, world.call],
      [at, `cursor=${cursor}`, world.call],
      [other, same, world.call],
      [at, same, reader.call],
      ['/v1/bases', `cursor=${cursor}`, world.call],
      ...[
        'abc',
        `${cursor}A`,
        cursor.slice(0, -3),
        `${cursor.startsWith('A') ? 'B' : 'A'}${cursor.slice(1)}`,
        encodeURIComponent('ü'),
      ].map((bad): [string, string, typeof world.call] => [
        at,
        `cursor=${bad}&sort=data.id&filter=${filter}`,
        world.call,
      ]),
    ]
    for (const [path, query, call] of refused) {
      const fault = expectFault(await call('GET', `${path}?${query}`), 'query/cursor')
      expect(fault.code).toBe('invalid_cursor')
    }
  })

  test('with an offset is refused', async () => {
    const { meta } = await list('limit=5')
    const answer = await world.call('GET', `${at}?limit=5&offset=5&cursor=${meta.next_cursor}`)
    expect(expectFault(answer, 'query/offset').code).toBe('exclusive')
  })
})

describe('A query by POST', () => {
  test('returns the answer of the list', async () => {
    const filter = { field: 'data.id', op: 'gte', value: 'r10' }
    const body = { filter, sort: '-data.id', limit: 4, offset: 2, include_total: true, fields: ['id'] }
    const asked = succeed(await world.call('POST', `${at}/query`, body))
    const query = `filter=${encodeURIComponent(JSON.stringify(filter))}&sort=-data.id&limit=4&offset=2&include_total=true&fields=id`
    expect(asked).toEqual(await list(query))
    expect(asked.meta.total).toBe(51)
  })

  test.each<[object, string]>([
    [{ filter: '{}' }, '/filter'],
    [{ sort: { field: 'id' } }, '/sort'],
    [{ fields: 'id' }, '/fields'],
    [{ fields: [] }, '/fields'],
    [{ limit: 0 }, '/limit'],
    [{ limit: '5' }, '/limit'],
    [{ offset: -1 }, '/offset'],
    [{ include_total: 'true' }, '/include_total'],
    [{ cursor: 'x' }, '/cursor'],
    [{ fiter: {} }, '/fiter'],
  ])('of %j is refused with the path of the error', async (body, path) => {
    expectFault(await world.call('POST', `${at}/query`, body), path)
  })
})

describe('The parameter sort', () => {
  test('accepts a shorthand and a JSON form', async () => {
    const ascending = ids(await list('limit=1000')).sort()
    expect(ids(await sorted('id'))).toEqual(ascending)
    expect(ids(await sorted([{ field: 'id' }]))).toEqual(ascending)
    expect(ids(await sorted('-id'))).toEqual(ascending.toReversed())
    expect(ids(await sorted([{ field: 'id', direction: 'desc' }]))).toEqual(ascending.toReversed())
  })

  test('orders null last in both directions, strings by code point, and ties by id in the last direction', {
    tags: 'full',
  }, async () => {
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

  test('orders ids by code point', { tags: 'full' }, async () => {
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
    ['--id', 'id'],
    ['+id', 'id'],
    ['valid', ''],
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
    [[{ field: { toString: 1 } }], 'query/sort/0/field'],
    [[{ field: 'id' }, null], 'query/sort/1'],
  ])('of %j is refused at %s', async (sort, path) => {
    expectFault(await world.call('GET', `${at}?sort=${encodeURIComponent(JSON.stringify(sort))}`), path)
  })

  test.each<[string, string]>([
    ['data.items[].n', 'many_values'],
    ['id,,version', 'invalid_field'],
    ['id,', 'invalid_field'],
    ['', 'invalid_field'],
    ['data.', 'invalid_field'],
    [times(9, () => 'id').join(), 'too_many'],
    ['_search_score', 'unknown_field'],
  ])('by %s is refused', async (sort, code) => {
    const answer = await world.call('GET', `${at}?sort=${encodeURIComponent(sort)}`)
    expect(expectFault(answer, 'query/sort').code).toBe(code)
  })

  test('of malformed JSON is refused', async () => {
    expectFailure(await world.call('GET', `${at}?sort=[{"field":"id"}`), 'VALIDATION_ERROR')
  })
})

test('HEAD of a list has its headers and no body', async () => {
  const head = await world.call('HEAD', at)
  expect([head.status, head.text]).toEqual([200, ''])
  expect(head.headers.get('content-type')).toMatch(/^application\/json/)
})

test('a query cancelled at its deadline is 400 timeout with a hint to indexes', {
  tags: 'full',
}, async () => {
  const type = await world.newType()
  const other = await holdOpen(world.database)
  await other.query('LOCK TABLE plinth.record')
  const waiting = `FROM pg_stat_activity WHERE application_name = 'plinth' AND wait_event_type = 'Lock' AND datname = current_database()`
  const asked = world.call('POST', `/v1/crm/records/${type}/query`, { sort: 'data.n' })
  await expect.poll(() => world.database.query(`SELECT pg_cancel_backend(pid) ${waiting}`)).not.toEqual([])
  const { details } = expectFailure(await asked, 'VALIDATION_ERROR')
  expect(details).toMatchObject([{ path: '', code: 'timeout', message: expect.stringContaining('index') }])
  await other.end()
})

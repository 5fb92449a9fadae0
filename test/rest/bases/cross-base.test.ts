import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed } from '../../support/answers.ts'
import type { Body, Call } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
const at = '/v1/accounts/default/query'
const ask = async (body: object, call: Call = world.call): Promise<Body> =>
  succeed(await call('POST', at, { record_type: 'ticket', ...body }))
const places = (page: Body): string[] => page.data.map(({ base_id, id }: Body) => `${base_id}/${id}`)
const ALL = ['north', 'south', 'west']

const when = { type: 'string', format: 'date-time' }
/** The type in west has the time zone of Paris and a closed schema. */
const TYPES: Record<string, object> = {
  north: { json_schema: { properties: { when } } },
  south: { json_schema: { properties: { when } } },
  west: {
    timezone: 'Europe/Paris',
    json_schema: { properties: { n: {}, when }, additionalProperties: false },
  },
}

beforeAll(async () => {
  world = await openWorld()
  for (const [base, type] of Object.entries(TYPES)) {
    succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
    succeed(await world.call('PUT', `/v1/${base}/record-types/ticket`, type), 201)
    for (const n of [1, 2, 3]) {
      const data = { n, when: `2026-03-0${n}T23:30:00Z`, ...(base === 'north' && { note: 'urgent call' }) }
      succeed(await world.call('PUT', `/v1/${base}/records/ticket/t${n}`, { data }), 201)
    }
  }
})
afterAll(() => world.close())

const granted = async (...grants: Body[]) =>
  (await world.newToken(grants.map((grant) => ({ permission: 'read', ...grant })))).call

describe('A list across bases', () => {
  test('is sorted, limited and counted over all bases, with ties ordered by base and then id', async () => {
    const body = { bases: ALL, sort: '-data.n', limit: 4, include_total: true }
    const first = await ask(body)
    expect(places(first)).toEqual(['west/t3', 'south/t3', 'north/t3', 'west/t2'])
    expect(first.meta).toEqual({ has_more: true, limit: 4, offset: 0, total: 9 })
    const rest = await ask({ ...body, offset: 4, limit: 9 })
    expect(places(rest)).toEqual(['south/t2', 'north/t2', 'west/t1', 'south/t1', 'north/t1'])
    expect(rest.meta.has_more).toBe(false)
    expect(places(await ask({ bases: ALL, sort: 'data.when', limit: 2 }))).toEqual(['north/t1', 'south/t1'])
  })

  test('is newest first by default, and reads a base that is named twice once', async () => {
    expect(places(await ask({ bases: ['north', 'west', 'north'] }))).toEqual([
      ...['west/t3', 'west/t2', 'west/t1', 'north/t3', 'north/t2', 'north/t1'],
    ])
  })

  test('has base_id in each row, whatever fields are selected', async () => {
    const [whole] = (await ask({ bases: ['west'], sort: 'id' })).data
    expect(whole).toMatchObject({
      base_id: 'west',
      id: 't1',
      record_type: 'ticket',
      data: { n: 1 },
      version: 1,
    })
    const of = async (fields: string[]) => (await ask({ bases: ['west'], sort: 'id', limit: 1, fields })).data
    expect(await of(['data.n'])).toEqual([{ base_id: 'west', data: { n: 1 } }])
    expect(await of(['base_id'])).toEqual([{ base_id: 'west' }])
  })

  test('reads times without an offset in the time zone of each type', async () => {
    const filter = { field: 'data.when', op: 'lt', value: '2026-03-03' }
    // In Paris, 2026-03-02T23:30:00Z is on the third of March.
    expect(places(await ask({ bases: ALL, filter, sort: 'id' })).sort()).toEqual([
      ...['north/t1', 'north/t2', 'south/t1', 'south/t2', 'west/t1'],
    ])
  })

  test('filters by a field of only some bases, and refuses a field of none', async () => {
    const filter = { field: 'data.note', op: 'is_not_null' }
    expect(places(await ask({ bases: ALL, filter, sort: 'id' }))).toEqual([
      'north/t1',
      'north/t2',
      'north/t3',
    ])
    const missing = { field: 'data.note', op: 'is_null' }
    expect(places(await ask({ bases: ALL, filter: missing }))).toHaveLength(6)
    const alone = await world.call('POST', at, { record_type: 'ticket', bases: ['west'], filter })
    expect(expectFault(alone, '/filter/field').code).toBe('unknown_field')
  })

  test('can search, with the score in each row', async () => {
    const filter = { field: 'data.note', op: 'search', value: 'urgent' }
    const { data } = await ask({ bases: ALL, filter })
    expect(data).toHaveLength(3)
    expect(data[0]._search_score).toBeGreaterThan(0)
  })
})

describe('The bases of a query', () => {
  test('are for ["*"] those in which the token can read the type', { tags: 'full' }, async () => {
    const two = await granted({ base: ['north', 'west'] })
    const page = await ask({ bases: ['*'], include_total: true }, two)
    expect([page.meta.total, new Set(page.data.map((row: Body) => row.base_id))]).toEqual([
      6,
      new Set(['north', 'west']),
    ])
    const memos = await granted({ base: '*', record_type: 'memo' })
    expect(await ask({ bases: ['*'], include_total: true }, memos)).toMatchObject({
      data: [],
      meta: { total: 0 },
    })
    const counted = await ask({ bases: ['*'], aggregations: [{ fn: 'count' }] }, memos)
    expect(counted.data).toEqual([{ count: 0 }])
    expect((await ask({ bases: ['*'], include_total: true })).meta.total).toBe(9)
  })

  test('include previews if the environment of the grant allows them', { tags: 'full' }, async () => {
    const insert = (sql: string) => world.database.query(sql, [])
    await insert(`INSERT INTO plinth.base (id, name, environment, production_base, settings)
      VALUES ('north--try', 'Try', 'preview', 'north', '{}')`)
    await insert(`INSERT INTO plinth.record_type (base_id, id, portable_id, graphql_name, name, json_schema, timezone, display)
      VALUES ('north--try', 'ticket', 'ticket', 'Ticket', 'Ticket', '{}', 'UTC', '{}')`)
    await insert(`INSERT INTO plinth.record (base_id, record_type, id, data, version)
      VALUES ('north--try', 'ticket', 'p1', '{}', 1)`)
    const seen = async (environment: string) => {
      const call = await granted({ base: 'north', environment })
      return new Set((await ask({ bases: ['*'] }, call)).data.map((row: Body) => row.base_id))
    }
    expect(await seen('*')).toEqual(new Set(['north', 'north--try']))
    expect(await seen('production')).toEqual(new Set(['north']))
    expect(await seen('preview')).toEqual(new Set(['north--try']))
    await insert(`DELETE FROM plinth.base WHERE id = 'north--try'`)
  })

  test('are 403 without a grant, whether or not they exist', async () => {
    const north = await granted({ base: 'north' })
    for (const base of ['west', 'no-such-base'])
      for (const asked of [{}, { aggregations: [{ fn: 'count' }] }, { filter: {} }])
        expectFailure(
          await north('POST', at, { bases: ['north', base], record_type: 'ticket', ...asked }),
          'FORBIDDEN',
        )
    const memos = await granted({ base: 'north', record_type: 'memo' })
    expectFailure(await memos('POST', at, { bases: ['north'], record_type: 'ticket' }), 'FORBIDDEN')
  })

  test('are skipped without the type, and 404 if they do not exist', async () => {
    expect(places(await ask({ bases: ['crm', 'west'], sort: 'id' }))).toEqual([
      'west/t1',
      'west/t2',
      'west/t3',
    ])
    const absent = await world.call('POST', at, { bases: ['west', 'wst'], record_type: 'ticket' })
    expect(expectFailure(absent, 'NOT_FOUND').message).toContain('"wst"')
  })

  test('are no change-sets, which show production: 400, and never an empty answer', async () => {
    succeed(await world.call('POST', '/v1/north/preview', { name: 'fix', copy: 'on_write' }), 201)
    const count = { aggregations: [{ fn: 'count' }] }
    for (const body of [{}, count]) {
      const refused = await world.call('POST', at, {
        record_type: 'ticket',
        bases: ['north', 'north--fix'],
        ...body,
      })
      expect(expectFault(refused, '/bases')).toMatchObject({ code: 'not_in_change_sets' })
      expect(refused.body.error.message).toContain('north--fix')
    }
    expect(new Set((await ask({ bases: ['*'] })).data.map(({ base_id }: Body) => base_id))).toEqual(
      new Set(ALL),
    )
    succeed(await world.call('DELETE', '/v1/bases/north--fix'))
  })

  test('of another account are 404', async () => {
    const other = await world.call('POST', '/v1/accounts/other/query', {
      bases: ['*'],
      record_type: 'ticket',
    })
    expect(expectFailure(other, 'NOT_FOUND').details[0].hint).toBe('default')
    expectFailure(await world.as(null)('POST', '/v1/accounts/other/query', {}), 'UNAUTHORIZED')
  })

  test.each<[string, object, string]>([
    ['no base', { bases: [] }, '/bases'],
    ['no list', {}, '/bases'],
    ['all and some', { bases: ['*', 'north'] }, '/bases'],
    ['a cursor', { bases: ALL, cursor: 'x' }, '/cursor'],
    ['fields of groups', { bases: ALL, fields: ['id'], aggregations: [{ fn: 'count' }] }, '/fields'],
    ['groups of nothing', { bases: ALL, group_by: ['base_id'] }, '/aggregations'],
  ])('are refused for %s', async (_what, body, path) => {
    expectFault(await world.call('POST', at, { record_type: 'ticket', ...body }), path)
  })
})

describe('An aggregate across bases', () => {
  test('computes over all bases together, or by base when grouped by base_id', async () => {
    const aggregations = [
      { fn: 'count' },
      { fn: 'sum', field: 'data.n' },
      { fn: 'count_distinct', field: 'data.n' },
    ]
    expect((await ask({ bases: ALL, aggregations })).data).toEqual([
      { count: 9, sum_n: 18, count_distinct_n: 3 },
    ])
    const byBase = await ask({
      bases: ALL,
      aggregations,
      group_by: ['base_id'],
      having: { field: 'base_id', op: 'neq', value: 'south' },
      sort: '-base_id',
      include_total: true,
    })
    expect(byBase.data).toEqual([
      { base_id: 'west', count: 3, sum_n: 6, count_distinct_n: 3 },
      { base_id: 'north', count: 3, sum_n: 6, count_distinct_n: 3 },
    ])
    expect(byBase.meta.total).toBe(2)
  })

  test('starts intervals in the time zone of each type', async () => {
    const body = { aggregations: [{ fn: 'count' }], group_by: [{ field: 'data.when', interval: 'day' }] }
    const { data } = await ask({ bases: ['north', 'west'], ...body })
    expect(data.slice(0, 2)).toEqual([
      { 'data.when': '2026-03-01T00:00:00.000Z', count: 1 },
      { 'data.when': '2026-03-01T23:00:00.000Z', count: 1 },
    ])
    expect(data).toHaveLength(6)
  })
})

test('GraphQL queries across bases return the rows of REST', async () => {
  const query = `{
    queryBases(bases: ["north", "west"], recordType: "ticket", sort: "id") { rows hasMore }
    aggregateBases(bases: ["*"], recordType: "ticket", aggregations: [{ fn: "count" }], groupBy: ["base_id"]) { rows }
  }`
  const { data } = succeed(await world.call('POST', '/graphql', { query }))
  expect(data.queryBases.rows).toEqual((await ask({ bases: ['north', 'west'], sort: 'id' })).data)
  expect(data.aggregateBases.rows).toEqual(ALL.map((base_id) => ({ base_id, count: 3 })))
})

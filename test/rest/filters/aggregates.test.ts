import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { expectFailure, expectFault, succeed, times } from '../../support/answers.ts'
import { holdOpen } from '../../support/holding.ts'
import { callTool, jsonOf } from '../../support/mcp.ts'
import type { Body, Call } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
const at = '/v1/crm/records/sale/aggregate'
const ask = async (body: object, path = at, call: Call = world.call): Promise<Body> =>
  succeed(await call('POST', path, body))
const COUNT = { fn: 'count' }

const SALES: Body[] = [
  { id: 'a', status: 'open', amount: 0.1, when: '2026-03-28T23:30:00Z' },
  { id: 'b', status: 'open', amount: 0.2, when: '2026-03-29T00:30:00+01:00' },
  { id: 'c', status: 'done', amount: '7', when: '2026-03-29T22:30:00Z' },
  { id: 'd', status: null, amount: 9007199254740991, when: '2026-03-30' },
  { id: 'e', amount: 2, when: 'some day' },
]

async function load(type: string, body: object, rows: readonly Body[]): Promise<string> {
  succeed(await world.call('PUT', `/v1/crm/record-types/${type}`, body), 201)
  for (const { id, ...data } of rows)
    succeed(await world.call('PUT', `/v1/crm/records/${type}/${id}`, { data }), 201)
  return `/v1/crm/records/${type}/aggregate`
}

beforeAll(async () => {
  world = await openWorld()
  await load('sale', { timezone: 'Europe/Paris' }, SALES)
  const when = { type: 'string', format: 'date-time' }
  const typed = { timezone: 'Europe/Paris', json_schema: { type: 'object', properties: { when } } }
  succeed(await world.call('PUT', '/v1/crm/record-types/sale?on_invalid=allow', typed))
})
afterAll(() => world.close())

describe('An aggregate', () => {
  test('computes every function with exact decimals under its default name', async () => {
    const fns = ['sum', 'avg', 'min', 'max', 'count_distinct', 'count'].map((fn) => ({
      fn,
      field: 'data.amount',
    }))
    const filter = { field: 'data.status', op: 'eq', value: 'open' }
    const { data, meta } = await ask({ aggregations: [COUNT, ...fns], filter })
    expect(data).toEqual([
      {
        count: 2,
        sum_amount: 0.3,
        avg_amount: 0.15,
        min_amount: 0.1,
        max_amount: 0.2,
        count_distinct_amount: 2,
        count_amount: 2,
      },
    ])
    expect(meta).toEqual({ has_more: false, limit: 50, offset: 0 })
  })

  test('returns a sum that a double cannot represent as a string', async () => {
    const filter = { field: 'id', op: 'in', value: ['a', 'd', 'e'] }
    const { data } = await ask({ aggregations: [{ fn: 'sum', field: 'data.amount' }], filter })
    expect(data).toEqual([{ sum_amount: '9007199254740993.1' }])
  })

  test('groups missing values with null, and ignores strings in sums', async () => {
    const body = { aggregations: [COUNT, { fn: 'sum', field: 'data.amount' }], group_by: ['data.status'] }
    expect((await ask(body)).data).toEqual([
      { 'data.status': 'done', count: 1, sum_amount: null },
      { 'data.status': 'open', count: 2, sum_amount: 0.3 },
      { 'data.status': null, count: 2, sum_amount: '9007199254740993' },
    ])
  })

  test('orders min and max over mixed types as a sort does, and returns times as stored', async () => {
    const of = (field: string) => ['min', 'max'].map((fn) => ({ fn, field }))
    const { data } = await ask({ aggregations: [...of('data.amount'), ...of('data.when'), ...of('version')] })
    expect(data).toEqual([
      {
        min_amount: '7',
        max_amount: 9007199254740991,
        min_when: '2026-03-28T23:30:00Z',
        max_when: 'some day',
        min_version: 1,
        max_version: 1,
      },
    ])
  })

  test('groups equal instants together and returns them in UTC', async () => {
    const body = { aggregations: [COUNT], group_by: ['data.when'] }
    expect((await ask(body)).data).toEqual([
      { 'data.when': '2026-03-28T23:30:00.000Z', count: 2 },
      { 'data.when': '2026-03-29T22:00:00.000Z', count: 1 },
      { 'data.when': '2026-03-29T22:30:00.000Z', count: 1 },
      { 'data.when': 'some day', count: 1 },
    ])
  })

  test('over no records is one row without group keys, and no rows with group keys', async () => {
    const filter = { field: 'data.status', op: 'eq', value: 'none' }
    const aggregations = [COUNT, { fn: 'max', field: 'data.amount' }, { fn: 'count_distinct', field: 'id' }]
    expect((await ask({ aggregations, filter })).data).toEqual([
      { count: 0, max_amount: null, count_distinct_id: 0 },
    ])
    const grouped = await ask({ aggregations, filter, group_by: ['data.status'], include_total: true })
    expect(grouped).toEqual({ data: [], meta: { has_more: false, limit: 50, offset: 0, total: 0 } })
  })

  test('filters, sorts and pages groups by their columns, and counts all groups', async () => {
    const body = {
      aggregations: [{ ...COUNT, alias: 'n' }],
      group_by: [{ field: 'data.status', alias: 'state' }],
      having: { field: 'n', op: 'gte', value: 1 },
      sort: '-n,-state',
      include_total: true,
      limit: 1,
    }
    const first = await ask(body)
    expect(first).toEqual({
      data: [{ state: 'open', n: 2 }],
      meta: { has_more: true, limit: 1, offset: 0, total: 3 },
    })
    expect((await ask({ ...body, offset: 1 })).data).toEqual([{ state: null, n: 2 }])
    expect((await ask({ ...body, offset: 9 })).meta).toMatchObject({ has_more: false, total: 3 })
    expect((await ask({ ...body, having: { field: 'state', op: 'is_null' } })).data).toEqual([
      { state: null, n: 2 },
    ])
  })

  test('returns the same rows with a declared index as without one', { tags: 'full' }, async () => {
    const rows = times(40, (i) => ({ id: `r${i}`, status: i % 3 ? 'open' : 'done', n: i }))
    const body = {
      aggregations: [COUNT, { fn: 'sum', field: 'data.n' }],
      group_by: ['data.status'],
      filter: { field: 'data.status', op: 'eq', value: 'open' },
    }
    const plain = await load('plain', {}, rows)
    const indexed = await load('indexed', { indexes: [{ fields: ['data.status'] }] }, rows)
    const { data } = await ask(body, indexed)
    expect(data).toEqual([{ 'data.status': 'open', count: 26, sum_n: 507 }])
    expect((await ask(body, plain)).data).toEqual(data)
  })
})

describe('An interval', () => {
  test('starts in the time zone of the type, across a change to summer time', async () => {
    const by = async (interval: string) => {
      const { data } = await ask({ aggregations: [COUNT], group_by: [{ field: 'data.when', interval }] })
      return Object.fromEntries(data.map((row: Body) => [row['data.when'], row.count]))
    }
    expect(await by('day')).toEqual({
      '2026-03-28T23:00:00.000Z': 2,
      '2026-03-29T22:00:00.000Z': 2,
      null: 1,
    })
    expect(await by('week')).toEqual({
      '2026-03-22T23:00:00.000Z': 2,
      '2026-03-29T22:00:00.000Z': 2,
      null: 1,
    })
    expect(await by('year')).toEqual({ '2025-12-31T23:00:00.000Z': 4, null: 1 })
  })

  test('of a day with two midnights starts at the first midnight', async () => {
    const path = await load('havana', { timezone: 'America/Havana' }, [
      { id: 'first', at: '2025-11-02T04:30:00Z' },
      { id: 'second', at: '2025-11-02T05:30:00Z' },
    ])
    const { data } = await ask(
      { aggregations: [COUNT], group_by: [{ field: 'data.at', interval: 'day' }] },
      path,
    )
    expect(data).toEqual([{ 'data.at': '2025-11-02T04:00:00.000Z', count: 2 }])
  })

  test('before 1970 starts at or before the times in it', async () => {
    const path = await load('moon', {}, [{ id: 'landing', at: '1969-07-20T20:17:40Z' }])
    const keys = ['minute', 'hour', 'week'].map((interval) => ({
      field: 'data.at',
      interval,
      alias: interval,
    }))
    expect((await ask({ aggregations: [COUNT], group_by: keys }, path)).data).toEqual([
      {
        minute: '1969-07-20T20:17:00.000Z',
        hour: '1969-07-20T20:00:00.000Z',
        week: '1969-07-14T00:00:00.000Z',
        count: 1,
      },
    ])
  })
})

describe('An invalid aggregate', () => {
  const sum = { fn: 'sum', field: 'data.amount' }
  const day = { field: 'created_at', interval: 'day' }
  test.each<[string, object, string, string]>([
    ['no aggregations', {}, '/aggregations', 'required'],
    ['an empty list', { aggregations: [] }, '/aggregations', 'too_small'],
    [
      'too many of them',
      { aggregations: times(17, (i) => ({ ...COUNT, alias: `a${i}` })) },
      '/aggregations',
      'too_big',
    ],
    ['an unknown function', { aggregations: [{ ...sum, fn: 'total' }] }, '/aggregations/0/fn', 'enum'],
    ['no field', { aggregations: [{ fn: 'sum' }] }, '/aggregations/0/field', 'required'],
    ['an unknown key', { aggregations: [{ ...sum, as: 'x' }] }, '/aggregations/0/as', 'unknown_key'],
    [
      'an alias that is no name',
      { aggregations: [{ ...COUNT, alias: '__proto__' }] },
      '/aggregations/0/alias',
      'custom',
    ],
    ['one name twice', { aggregations: [sum, sum] }, '/aggregations/1', 'duplicate'],
    [
      'an alias that is a key',
      { aggregations: [{ ...COUNT, alias: 'id' }], group_by: ['id'] },
      '/aggregations/0',
      'duplicate',
    ],
    [
      'two intervals of a field',
      { aggregations: [COUNT], group_by: [day, { ...day, interval: 'year' }] },
      '/group_by/1',
      'duplicate',
    ],
    [
      'an interval of no time',
      { aggregations: [COUNT], group_by: [{ ...day, field: 'version' }] },
      '/group_by/0/interval',
      'invalid_field',
    ],
    [
      'an unknown interval',
      { aggregations: [COUNT], group_by: [{ ...day, interval: 'fortnight' }] },
      '/group_by/0/interval',
      'enum',
    ],
    [
      'a key of many values',
      { aggregations: [COUNT], group_by: ['data.lines[].sku'] },
      '/group_by/0',
      'many_values',
    ],
    [
      'a sum of many values',
      { aggregations: [{ fn: 'sum', field: 'data.lines[].qty' }] },
      '/aggregations/0/field',
      'many_values',
    ],
    [
      'an unknown column kept',
      { aggregations: [sum], having: { field: 'sum_amont', op: 'gt', value: 1 } },
      '/having/field',
      'unknown_field',
    ],
    [
      'a search in groups',
      { aggregations: [COUNT], having: { field: 'count', op: 'search', value: 'x' } },
      '/having/op',
      'unknown_operator',
    ],
    [
      'a sort by a field',
      { aggregations: [COUNT], group_by: ['id'], sort: 'data.status' },
      '/sort',
      'unknown_field',
    ],
    [
      'the base of one base',
      { aggregations: [COUNT], group_by: ['base_id'] },
      '/group_by/0',
      'unknown_field',
    ],
    ['a cursor', { aggregations: [COUNT], cursor: 'x' }, '/cursor', 'unknown_key'],
    ['a key in another case', { aggregations: [COUNT], groupBy: ['id'] }, '/groupBy', 'unknown_key'],
  ])('is refused with a field error: %s', async (_what, body, path, code) => {
    expect(expectFault(await world.call('POST', at, body), path).code).toBe(code)
  })

  test('is refused with the likely name of the misspelt column', async () => {
    const misspelt = { aggregations: [sum], having: { field: 'sum_amont', op: 'gt', value: 1 } }
    expect(expectFault(await world.call('POST', at, misspelt), '/having/field').allowed).toEqual([
      'sum_amount',
    ])
  })

  test('of a field that a closed schema does not declare is refused as unknown_field', async () => {
    const path = await load(
      'closed',
      { json_schema: { properties: { n: {} }, additionalProperties: false } },
      [],
    )
    const body = { aggregations: [{ fn: 'sum', field: 'data.m' }] }
    expect(expectFault(await world.call('POST', path, body), '/aggregations/0/field').code).toBe(
      'unknown_field',
    )
  })
})

describe('An aggregate request', () => {
  const body = { aggregations: [COUNT], group_by: ['data.status'] }

  test('by GraphQL or MCP returns the rows of REST', { tags: 'full' }, async () => {
    const { data } = await ask(body)
    const query =
      '{ aggregate(base: "crm", recordType: "sale", aggregations: [{ fn: "count" }], groupBy: ["data.status"]) { rows } }'
    const graphql = succeed(await world.call('POST', '/graphql', { query }))
    expect(graphql.data.aggregate.rows).toEqual(data)
    const args = { record_type: 'sale', ...body }
    const answer = await callTool(world, '/mcp/crm', 'aggregate_records', args, { token: world.adminToken })
    expect(jsonOf(answer.text)).toMatchObject({ data })
  })

  test('on a type without a grant is 403, whether or not the type exists', async () => {
    const { call } = await world.newToken([{ permission: 'read', record_type: 'other' }])
    for (const type of ['sale', 'never-made'])
      expectFailure(await call('POST', `/v1/crm/records/${type}/aggregate`, body), 'FORBIDDEN')
    expectFailure(await world.call('POST', '/v1/crm/records/never-made/aggregate', body), 'NOT_FOUND')
  })
})

describe('A field whose type the schema says', () => {
  const STATES = ['done', 'open', 'étude', 'Zürich', 'a', '']
  const ROWS: Body[] = [
    ...times(40, (i) => ({
      id: `r${i}`,
      status: STATES[i % 6],
      amount: i / 8,
      nested: { name: STATES[i % 5] },
    })),
    { id: 'null', status: null, amount: null, nested: null },
    { id: 'missing' },
    { id: 'text', status: 'open', amount: '12', nested: 'open' },
    { id: 'number', status: 1, amount: 1e20, nested: { name: 1.5 } },
    { id: 'list', status: ['open'], amount: [1], nested: { name: ['open'] } },
    { id: 'object', status: { a: 1 }, amount: { a: 1 }, nested: { name: { b: [] } } },
    { id: 'boolean', status: true, amount: false, nested: { name: false } },
  ]
  const typed = {
    type: 'object',
    properties: {
      status: { type: 'string' },
      amount: { type: 'number' },
      nested: { type: 'object', properties: { name: { enum: STATES } } },
    },
  }
  const fields = ['data.status', 'data.nested.name', 'data.amount']
  const BODIES: Body[] = [
    ...fields.flatMap((field) => [
      { group_by: [field], aggregations: [COUNT, { fn: 'sum', field: 'data.amount' }] },
      {
        group_by: [field],
        aggregations: [
          { fn: 'min', field },
          { fn: 'count_distinct', field },
          { fn: 'count', field },
        ],
      },
      { aggregations: ['sum', 'avg', 'min', 'max', 'count', 'count_distinct'].map((fn) => ({ fn, field })) },
      { group_by: [field], aggregations: [COUNT], having: { field, op: 'gt', value: 'b' } },
      {
        group_by: [field],
        aggregations: [COUNT],
        sort: `-${field}`,
        limit: 3,
        offset: 1,
        include_total: true,
      },
    ]),
    {
      group_by: ['data.status', 'data.nested.name'],
      aggregations: [COUNT, { fn: 'avg', field: 'data.amount' }],
    },
    {
      group_by: ['data.status'],
      aggregations: [COUNT],
      filter: { field: 'data.amount', op: 'gte', value: 2 },
    },
  ]

  test('gives what it gave without, whatever records of before hold', { tags: 'full' }, async () => {
    const path = await load('untyped', {}, ROWS)
    const before = await Promise.all(BODIES.map((body) => ask(body, path)))
    const define = (json_schema: object) =>
      world.call('PUT', '/v1/crm/record-types/untyped?on_invalid=allow', { json_schema })
    succeed(await define(typed))
    expect(await Promise.all(BODIES.map((body) => ask(body, path)))).toEqual(before)
    // The mark is of the record: the other fields of a record that is not valid are read with care too.
    const { data } = await ask({ group_by: ['data.status'], aggregations: [COUNT] }, path)
    expect(data).toContainEqual({ 'data.status': 'open', count: 8 })
    expect(data).toContainEqual({ 'data.status': 1, count: 1 })
    succeed(await define({}))
    expect(await Promise.all(BODIES.map((body) => ask(body, path)))).toEqual(before)
  })

  test('is read with care when the schema has changed since the statement was made', {
    tags: 'full',
  }, async () => {
    const number = { type: 'object', properties: { value: { type: 'number' }, kind: { type: 'string' } } }
    const path = await load('late', { json_schema: number }, [
      { id: 'a', value: 2, kind: 'x' },
      { id: 'b', value: 3, kind: 'x' },
    ])
    const body = { group_by: ['data.kind'], aggregations: [COUNT, { fn: 'sum', field: 'data.value' }] }
    expect((await ask(body, path)).data).toEqual([{ 'data.kind': 'x', count: 2, sum_value: 5 }])
    const held = await holdOpen(world.database)
    await held.query('LOCK TABLE plinth.record IN ACCESS EXCLUSIVE MODE')
    const asked = ask(body, path)
    await vi.waitUntil(async () => (await held.waiting()).length > 0, 5000)
    // What another process commits while the statement waits: a wider schema, and records that it accepts.
    await held.query(
      "UPDATE plinth.record_type SET json_schema = '{}', revision = revision + 1 WHERE id = 'late'",
    )
    await held.query(
      `UPDATE plinth.record SET data = '{"value": "three", "kind": ["x"]}' WHERE record_type = 'late' AND id = 'b'`,
    )
    await held.end('COMMIT')
    expect((await asked).data).toEqual([
      { 'data.kind': 'x', count: 1, sum_value: 2 },
      { 'data.kind': ['x'], count: 1, sum_value: null },
    ])
  })

  test('is read right while the schema changes between string and number', { tags: 'full' }, async () => {
    const other = await openWorld({}, world.database)
    try {
      const schemaOf = (type: string) => ({ type: 'object', properties: { value: { type } } })
      const path = await load('changing', { json_schema: schemaOf('string') }, [{ id: 'a', value: 'x' }])
      const body = { group_by: ['data.value'], aggregations: [COUNT, { fn: 'sum', field: 'data.value' }] }
      let isOver = false
      const seen: Body[] = []
      const read = async ({ call }: World) => {
        while (!isOver) seen.push(...(await ask(body, path, call)).data)
      }
      const change = async () => {
        for (let turn = 0; turn < 25; turn++) {
          const [type, value] = turn % 2 === 0 ? ['number', turn] : ['string', `${turn}`]
          const json_schema = schemaOf(type as string)
          succeed(await world.call('PUT', '/v1/crm/record-types/changing?on_invalid=allow', { json_schema }))
          succeed(await world.call('PUT', `/v1/crm/records/changing/b${turn}`, { data: { value } }), 201)
          succeed(
            await world.call('PUT', '/v1/crm/records/changing/c', { data: { value } }),
            turn ? 200 : 201,
          )
        }
        isOver = true
      }
      await Promise.all([change(), read(world), read(other), read(other)])
      for (const row of seen) {
        const { 'data.value': value, count, sum_value: sum } = row
        expect(sum).toBe(typeof value === 'number' ? value * count : null)
      }
      expect(new Set(seen.map((row) => typeof row['data.value']))).toEqual(new Set(['string', 'number']))
    } finally {
      await other.close()
    }
  })
})

/** Tests of the reference implementation, so that its errors are not taken for errors of the server. */
import { describe, expect, test } from 'vitest'
import { decimal, equals, over, plus, printed } from '../support/decimals.ts'
import { INTERVALS, instant, startOf } from '../support/instants.ts'
import { type Json, type JsonObject, pathOf } from '../support/paths.ts'
import { type Filter, matches, project, type Row, reader, type Sort, select } from '../support/reference.ts'
import { type AggregateQuery, aggregate } from '../support/reference-aggregates.ts'

const RULES = {
  timezone: 'Europe/Paris',
  json_schema: {
    properties: {
      at: { format: 'date-time' },
      day: { format: 'date' },
      times: { items: { format: 'date-time' } },
    },
  },
}
const row = (data: JsonObject, more: JsonObject = {}): Row => ({ id: 'r', ...more, data })
const holds = (filter: Filter, data: JsonObject, more: JsonObject = {}) =>
  matches(filter, reader(row(data, more), RULES))

describe('the path parser of the reference implementation', () => {
  test.each<[string, unknown[]]>([
    ['status', ['status']],
    ['data', ['data']],
    ['data.a.b', ['data', 'a', 'b']],
    ['data.l[0].x', ['data', 'l', 0, 'x']],
    ['data.l[][].x', ['data', 'l', null, null, 'x']],
    ['data["odd.key"]["q\\"\\\\"][""]', ['data', 'odd.key', 'q"\\', '']],
    ['data["\\u00e9"].ключ 🗝', ['data', 'é', 'ключ 🗝']],
    ['data["[0]"]', ['data', '[0]']],
  ])('parses %s', (field, path) => {
    expect(pathOf(field)).toEqual(path)
  })
})

describe('a condition in the reference implementation', () => {
  const TRUE = true
  const FALSE = false
  test.each<[string, string, Json | undefined, JsonObject, boolean]>([
    ['data.a', 'eq', 1, { a: 1 }, TRUE],
    ['data.a', 'eq', 1, { a: '1' }, FALSE],
    ['data.a', 'eq', 1, { a: true }, FALSE],
    ['data.a', 'eq', '', { a: '' }, TRUE],
    ['data.a', 'eq', false, { a: 0 }, FALSE],
    ['data.a', 'eq', { x: [1, { y: 2 }], z: null }, { a: { z: null, x: [1, { y: 2 }] } }, TRUE],
    ['data.a', 'eq', { x: 1 }, { a: { x: 1, y: 2 } }, FALSE],
    ['data.a', 'eq', [1, 2], { a: [2, 1] }, FALSE],
    ['data.a', 'eq', null, {}, TRUE],
    ['data.a', 'eq', null, { a: null }, TRUE],
    ['data.a', 'eq', null, { a: 0 }, FALSE],
    ['data.a', 'neq', null, { a: false }, TRUE],
    ['data.a', 'neq', null, {}, FALSE],
    ['data.a', 'neq', 1, {}, TRUE],
    ['data.a', 'neq', 1, { a: '1' }, TRUE],
    ['data.a', 'neq', 1, { a: 1 }, FALSE],
    ['data.a.b', 'eq', 1, { a: [{ b: 1 }] }, FALSE],
    ['data.a[0]', 'eq', 1, { a: { 0: 1 } }, FALSE],
    ['data["0"]', 'eq', 1, { 0: 1 }, TRUE],
    ['data.a.length', 'eq', 1, { a: [1] }, FALSE],
    ['data.toString', 'is_null', undefined, {}, TRUE],
    ['data', 'eq', { a: 1 }, { a: 1 }, TRUE],
    ['data.a', 'gt', 1, { a: 1.5 }, TRUE],
    ['data.a', 'gt', 1, { a: 1 }, FALSE],
    ['data.a', 'gt', 1, { a: '2' }, FALSE],
    ['data.a', 'gt', 1, {}, FALSE],
    ['data.a', 'gte', 1, { a: 1 }, TRUE],
    ['data.a', 'lt', 'b', { a: 'a' }, TRUE],
    ['data.a', 'lt', 'b', { a: 1 }, FALSE],
    ['data.a', 'lte', 'B', { a: 'a' }, FALSE],
    // By code point: U+FF5E comes before U+1F600, whose first UTF-16 unit is smaller.
    ['data.a', 'gt', '～', { a: '😀' }, TRUE],
    ['data.a', 'in', [1, '2'], { a: '2' }, TRUE],
    ['data.a', 'in', [[1]], { a: [1] }, TRUE],
    ['data.a', 'in', [], { a: 1 }, FALSE],
    ['data.a', 'not_in', [], {}, TRUE],
    ['data.a', 'not_in', [1], {}, TRUE],
    ['data.a', 'not_in', [1], { a: 1 }, FALSE],
    ['data.a', 'is_null', undefined, { a: null }, TRUE],
    ['data.a', 'is_null', undefined, {}, TRUE],
    ['data.a', 'is_null', undefined, { a: '' }, FALSE],
    ['data.a', 'is_not_null', undefined, { a: [] }, TRUE],
    ['data.l[]', 'eq', 2, { l: [1, 2] }, TRUE],
    ['data.l[]', 'neq', 2, { l: [1, 2] }, FALSE],
    ['data.l[]', 'neq', 3, { l: [1, 2] }, TRUE],
    ['data.l[]', 'neq', 3, { l: 3 }, TRUE],
    ['data.l[]', 'not_in', [1], { l: [1, 2] }, FALSE],
    ['data.l[]', 'is_null', undefined, { l: [null, 1] }, FALSE],
    ['data.l[]', 'is_null', undefined, { l: [null] }, TRUE],
    ['data.l[]', 'is_null', undefined, { l: [] }, TRUE],
    ['data.l[][0]', 'gt', 1, { l: [[0, 9], [2]] }, TRUE],
    ['data.l[].s', 'like', 'x%', { l: [{ s: 'a' }, 'x', { s: 'xy' }] }, TRUE],
    ['data.s', 'like', 'a%', { s: 'abc' }, TRUE],
    ['data.s', 'like', 'A%', { s: 'abc' }, FALSE],
    ['data.s', 'like', 'b', { s: 'abc' }, FALSE],
    ['data.s', 'like', 'a.c', { s: 'abc' }, FALSE],
    ['data.s', 'like', '', { s: '' }, TRUE],
    ['data.s', 'like', '_', { s: '😀' }, TRUE],
    ['data.s', 'like', 'a%c', { s: 'a\n\nc' }, TRUE],
    ['data.s', 'like', '100\\%_', { s: '100%!' }, TRUE],
    ['data.s', 'like', '100\\%_', { s: '1000!' }, FALSE],
    ['data.s', 'like', '\\a\\\\', { s: 'a\\' }, TRUE],
    ['data.s', 'like', '%', { s: 5 }, FALSE],
    ['data.s', 'ilike', 'ÅL%', { s: 'ålesund' }, TRUE],
    ['data.s', 'ilike', 'фр_нция', { s: 'ФРАНЦИЯ' }, TRUE],
    ['data.s', 'starts_with', 'a%', { s: 'a%b' }, TRUE],
    ['data.s', 'starts_with', 'a%', { s: 'ab' }, FALSE],
    ['data.s', 'starts_with', 'A', { s: 'ab' }, FALSE],
    ['data.l', 'has', 2, { l: [1, 2] }, TRUE],
    ['data.l', 'has', '2', { l: [1, 2] }, FALSE],
    ['data.l', 'has', { a: 1 }, { l: [{ a: 1 }] }, TRUE],
    ['data.l', 'has', { a: 1 }, { l: [{ a: 1, b: 2 }] }, FALSE],
    ['data.l', 'has', [1], { l: [[1, 2]] }, FALSE],
    ['data.l', 'has', null, { l: [null] }, TRUE],
    ['data.l', 'has', null, { l: [] }, FALSE],
    ['data.l', 'has', 'a', { l: 'a' }, FALSE],
    ['data.l', 'has', 'a', { l: { a: 1 } }, FALSE],
    ['data.l', 'has_any', [9, 1], { l: [2, 1] }, TRUE],
    ['data.l', 'has_any', [9], { l: [2, 1] }, FALSE],
    ['data.l', 'has_all', [1, 2], { l: [2, 3, 1] }, TRUE],
    ['data.l', 'has_all', [1, 4], { l: [2, 3, 1] }, FALSE],
    ['data.at', 'eq', '2026-01-01T00:00:00', { at: '2025-12-31T23:00:00Z' }, TRUE],
    ['data.at', 'eq', '2026-01-01T05:30:00+05:30', { at: '2026-01-01T00:00:00.000000Z' }, TRUE],
    ['data.at', 'lt', '2026-07-01', { at: '2026-06-30T21:59:59Z' }, TRUE],
    ['data.at', 'lt', '2026-07-01', { at: '2026-06-30T22:00:00Z' }, FALSE],
    ['data.at', 'in', ['2026-06-30T22:00:00Z'], { at: '2026-07-01' }, TRUE],
    ['data.at', 'eq', 'tomorrow', { at: 'tomorrow' }, FALSE],
    ['data.at', 'gt', '2026-01-01', { at: 'tomorrow' }, FALSE],
    ['data.at', 'neq', '2026-01-01', { at: 'tomorrow' }, TRUE],
    ['data.at', 'like', 'tomor%', { at: 'tomorrow' }, TRUE],
    ['data.at', 'eq', 5, { at: 5 }, TRUE],
    ['data.times[]', 'eq', '2026-01-01T00:00:00Z', { times: ['x', '2026-01-01T01:00:00+01:00'] }, TRUE],
    ['data.plain', 'eq', '2026-01-01T00:00:00Z', { plain: '2026-01-01T00:00:00.000Z' }, FALSE],
  ])('evaluates %s %s %j on %j to %s', (field, op, value, data, expected) => {
    const condition = { field, op, ...(value !== undefined && { value }) }
    expect(holds(condition, data)).toBe(expected)
    expect(holds({ not: condition }, data)).toBe(!expected)
    expect(holds({ and: [condition, { not: { or: [condition] } }] }, data)).toBe(false)
    expect(holds({ or: [condition, { not: { and: [condition] } }] }, data)).toBe(true)
  })

  test('reads columns, including times', () => {
    const more = { status: 'active', version: 3, external_id: null, created_at: '2026-03-01T00:00:00.000Z' }
    expect(holds({ field: 'version', op: 'gt', value: 2 }, {}, more)).toBe(true)
    expect(holds({ field: 'external_id', op: 'is_null' }, {}, more)).toBe(true)
    expect(holds({ field: 'created_at', op: 'eq', value: '2026-03-01T01:00:00' }, {}, more)).toBe(true)
  })

  test('with an unknown operator throws', () => {
    expect(() => holds({ field: 'id', op: 'equals', value: 1 }, {})).toThrow('equals')
  })
})

describe('instants in the reference implementation', () => {
  const iso = (text: string, zone: string) => {
    const found = instant(text, zone)
    return found === null ? null : new Date(Number(found / 1000n)).toISOString()
  }
  test.each<[string, string, string | null]>([
    ['2026-03-01', 'Asia/Tokyo', '2026-02-28T15:00:00.000Z'],
    ['2026-03-01T12:30', 'Asia/Kolkata', '2026-03-01T07:00:00.000Z'],
    ['2026-03-01 12:30:15.250', 'UTC', '2026-03-01T12:30:15.250Z'],
    ['2026-03-01t12:30:15z', 'Asia/Tokyo', '2026-03-01T12:30:15.000Z'],
    ['2026-03-01T00:00:00-05:30', 'Asia/Tokyo', '2026-03-01T05:30:00.000Z'],
    // Skipped by the clock: read with the offset before. Repeated: the later one.
    ['2026-03-08T02:30:00', 'America/New_York', '2026-03-08T07:30:00.000Z'],
    ['2026-11-01T01:30:00', 'America/New_York', '2026-11-01T06:30:00.000Z'],
    ['2026-10-25T02:30:00', 'Europe/Paris', '2026-10-25T01:30:00.000Z'],
    ['2026-03-29T02:30:00', 'Europe/Paris', '2026-03-29T01:30:00.000Z'],
    ['2026-02-30', 'UTC', null],
    ['2026-13-01', 'UTC', null],
    ['2026-01-01T24:00:00Z', 'UTC', null],
    ['2026-01-01T00:61:00Z', 'UTC', null],
    ['2026-1-1', 'UTC', null],
    ['20260101', 'UTC', null],
    ['tomorrow', 'UTC', null],
    ['', 'UTC', null],
  ])('parse %s in %s as %s', (text, zone, expected) => {
    expect(iso(text, zone)).toBe(expected)
  })

  test('have a precision of microseconds', () => {
    expect(instant('1970-01-01T00:00:00.000001Z', 'UTC')).toBe(1n)
    expect(instant('1969-12-31T23:59:59.999999Z', 'UTC')).toBe(-1n)
  })

  test.each<[string, string, string[]]>([
    [
      '2026-11-22T23:30:59.9Z',
      'UTC',
      [
        '2026-11-22T23:30',
        '2026-11-22T23:00',
        '2026-11-22T00:00',
        '2026-11-16T00:00',
        '2026-11-01T00:00',
        '2026-10-01T00:00',
        '2026-01-01T00:00',
      ],
    ],
    [
      '2026-06-30T22:30:00Z',
      'Europe/Paris',
      [
        '2026-06-30T22:30',
        '2026-06-30T22:00',
        '2026-06-30T22:00',
        '2026-06-28T22:00',
        '2026-06-30T22:00',
        '2026-06-30T22:00',
        '2025-12-31T23:00',
      ],
    ],
    [
      '2026-11-01T06:10:00Z',
      'America/New_York',
      [
        '2026-11-01T06:10',
        '2026-11-01T06:00',
        '2026-11-01T04:00',
        '2026-10-26T04:00',
        '2026-11-01T04:00',
        '2026-10-01T04:00',
        '2026-01-01T05:00',
      ],
    ],
    [
      '1969-12-24T22:58:59.5Z',
      'UTC',
      [
        '1969-12-24T22:58',
        '1969-12-24T22:00',
        '1969-12-24T00:00',
        '1969-12-22T00:00',
        '1969-12-01T00:00',
        '1969-10-01T00:00',
        '1969-01-01T00:00',
      ],
    ],
    [
      '1969-12-31T23:59:59.5Z',
      'Asia/Kolkata',
      [
        '1969-12-31T23:59',
        '1969-12-31T23:30',
        '1969-12-31T18:30',
        '1969-12-28T18:30',
        '1969-12-31T18:30',
        '1969-12-31T18:30',
        '1969-12-31T18:30',
      ],
    ],
  ])('of %s in %s have the right start of each interval', (text, zone, starts) => {
    const at = instant(text, 'UTC') ?? 0n
    expect(INTERVALS.map((interval) => startOf(interval, at, zone))).toEqual(
      starts.map((start) => `${start}:00.000Z`),
    )
  })
})

describe('decimals in the reference implementation', () => {
  const sum = (...numbers: number[]) => printed(numbers.map(decimal).reduce(plus))
  test('are added exactly, and are strings if a double cannot represent the sum', () => {
    expect(sum(0.1, 0.2)).toBe(0.3)
    expect(sum(1e21, 1e21)).toBe(2e21)
    expect(sum(9007199254740991, 2)).toBe('9007199254740993')
    expect(sum(-9007199254740991, -2)).toBe('-9007199254740993')
    expect(sum(1e16, 0.5)).toBe('10000000000000000.5')
    expect(sum(1e308, 1e308)).toBe(`2${'0'.repeat(308)}`)
    expect(sum(5e-324, 1)).toBe(`1.${'0'.repeat(323)}5`)
    expect(sum(1e308, -1e308, 0.25)).toBe(0.25)
    expect(sum(-0.5, 0.5)).toBe(0)
  })
  test('are equal whatever their notation', () => {
    expect(equals(decimal('1.50'), decimal('15e-1'))).toBe(true)
    expect(equals(decimal('1.5'), decimal('1.6'))).toBe(false)
  })
  test('are divided to the nearest double', () => {
    expect(over(decimal(1), 3)).toBe(1 / 3)
    expect(over(decimal(-7e-300), 2)).toBe(-3.5e-300)
    expect(over(plus(decimal(1e308), decimal(1e308)), 2)).toBe(1e308)
  })
})

describe('sorting in the reference implementation', () => {
  const MIXED: Json[] = ['b', null, 2, { x: 1 }, false, [2], 'a', 10, true, [1], {}, '～', '😀']
  const rows = [
    ...MIXED.map((v, at) => ({ id: String.fromCharCode(97 + at), data: { v } })),
    { id: 'z', data: {} },
  ]
  const sorted = (sort: Sort) =>
    select(rows, RULES, null, sort)
      .map(({ id }) => id)
      .join('')

  test('orders across types, with nulls last and ties by id in the direction of the last term', () => {
    expect(sorted([{ field: 'data.v', direction: 'asc' }])).toBe('galmcheifjdkbz')
    expect(sorted([{ field: 'data.v', direction: 'desc' }])).toBe('kdjfiehcmlagzb')
    expect(sorted([{ field: 'data.none', direction: 'desc' }])).toBe('zmlkjihgfedcba')
    expect(
      sorted([
        { field: 'data.none', direction: 'desc' },
        { field: 'data.v', direction: 'asc' },
      ]),
    ).toBe('galmcheifjdkbz')
  })

  test('orders times by instant, then strings that are no times', () => {
    const times = ['2026-01-01T00:00:00Z', '2026-01-01T00:30:00', 'Tomorrow', '2025-12-31', 7, 'Never', null]
    const data = times.map((at, index) => ({ id: String(index), data: { at } }))
    const ids = (direction: 'asc' | 'desc') =>
      select(data, RULES, null, [{ field: 'data.at', direction }]).map(({ id }) => id)
    expect(ids('asc')).toEqual(['3', '1', '0', '5', '2', '4', '6'])
    expect(ids('desc')).toEqual(['4', '2', '5', '0', '1', '3', '6'])
  })

  test('is applied after filtering', () => {
    const filter = { field: 'data.v', op: 'gte', value: 0 }
    expect(select(rows, RULES, filter, [{ field: 'data.v', direction: 'desc' }]).map(({ id }) => id)).toEqual(
      ['h', 'c'],
    )
  })
})

test('projection in the reference implementation keeps the nesting of fields and omits missing ones', () => {
  const record = row({ a: { b: null, c: [1], d: 2 }, 'odd.key': 'x' }, { external_id: null })
  expect(project(record, ['id', 'external_id', 'data.a.b', 'data["odd.key"]', 'data.x.y'])).toEqual({
    id: 'r',
    external_id: null,
    data: { a: { b: null }, 'odd.key': 'x' },
  })
  expect(project(record, ['data.none'])).toEqual({})
  expect(project(record, ['data.a.d', 'data.a'])).toEqual({ data: { a: { b: null, c: [1], d: 2 } } })
  expect(project(record, ['data.a', 'data.a.d'])).toEqual({ data: { a: { b: null, c: [1], d: 2 } } })
})

describe('aggregation in the reference implementation', () => {
  const rows = [
    row({ n: 2, g: 'a', at: '2026-03-31T23:30:00Z' }),
    row({ n: 0.1, g: 'a', at: '2026-03-15' }),
    row({ g: 'b', at: '2026-04-01' }),
    row({ n: 'x', g: null, o: { x: 1, y: [1] }, at: 'Never' }),
    row({ n: true, o: { y: [1], x: 1 } }),
  ]
  const run = (query: AggregateQuery) => aggregate(rows, RULES, query)

  test('computes counts, sums, minima and maxima', () => {
    expect(
      run({
        aggregations: [
          { fn: 'count' },
          { fn: 'count', field: 'data.n' },
          { fn: 'sum', field: 'data.n' },
          { fn: 'avg', field: 'data.n', alias: 'mean' },
          { fn: 'min', field: 'data.n' },
          { fn: 'max', field: 'data.n' },
          { fn: 'count_distinct', field: 'data.o' },
          { fn: 'sum', field: 'data.g' },
          { fn: 'min', field: 'data.at' },
          { fn: 'max', field: 'data.at' },
        ],
      }),
    ).toEqual([
      {
        count: 5,
        count_n: 4,
        sum_n: 2.1,
        mean: 1.05,
        min_n: 'x',
        max_n: true,
        count_distinct_o: 1,
        sum_g: null,
        min_at: '2026-03-15',
        max_at: 'Never',
      },
    ])
  })

  test('distinguishes deeply different values, whatever the order of their keys', () => {
    const values: Json[] = [
      [{}],
      [[]],
      [{ a: 1, b: 2 }],
      [{ b: 2, a: 1 }],
      [[['a', 1]]],
      '1',
      1,
      1.0,
      'null',
      [null],
    ]
    const aggregations: AggregateQuery['aggregations'] = [{ fn: 'count_distinct', field: 'data.v' }]
    expect(
      aggregate(
        values.map((v) => row({ v })),
        RULES,
        { aggregations },
      ),
    ).toEqual([{ count_distinct_v: 8 }])
  })

  test('groups missing values with null, and sorts by the keys', () => {
    expect(run({ aggregations: [{ fn: 'count' }], group_by: ['data.g'] })).toEqual([
      { 'data.g': 'a', count: 2 },
      { 'data.g': 'b', count: 1 },
      { 'data.g': null, count: 2 },
    ])
  })

  test('groups by interval in the timezone', () => {
    expect(
      run({ aggregations: [{ fn: 'count' }], group_by: [{ field: 'data.at', interval: 'month' }] }),
    ).toEqual([
      { 'data.at': '2026-02-28T23:00:00.000Z', count: 1 },
      { 'data.at': '2026-03-31T22:00:00.000Z', count: 2 },
      { 'data.at': null, count: 2 },
    ])
  })

  test('groups times by instant, and shows one spelling', () => {
    const times = [
      '2026-01-01T00:00:00',
      '2025-12-31T23:00:00.000000Z',
      '2025-12-31T23:00:00.00001Z',
      'Never',
    ]
    const query: AggregateQuery = { aggregations: [{ fn: 'count' }], group_by: ['data.at'] }
    expect(
      aggregate(
        times.map((at) => row({ at })),
        RULES,
        query,
      ),
    ).toEqual([
      { 'data.at': '2025-12-31T23:00:00.000Z', count: 2 },
      { 'data.at': '2025-12-31T23:00:00.000010Z', count: 1 },
      { 'data.at': 'Never', count: 1 },
    ])
  })

  test('filters groups by having, and sorts them by sort', () => {
    const query: AggregateQuery = {
      aggregations: [{ fn: 'count' }, { fn: 'sum', field: 'data.n' }],
      group_by: [{ field: 'data.g', alias: 'group' }],
      having: {
        or: [
          { field: 'count', op: 'gt', value: 1 },
          { field: 'group', op: 'eq', value: 'b' },
        ],
      },
      sort: [
        { field: 'sum_n', direction: 'desc' },
        { field: 'count', direction: 'desc' },
      ],
    }
    expect(run(query).map((each) => each['group'])).toEqual(['a', null, 'b'])
    expect(run({ ...query, having: { field: 'sum_n', op: 'is_null' } }).map((each) => each['group'])).toEqual(
      [null, 'b'],
    )
  })

  test('of no rows is one row, and with group_by none', () => {
    const filter = { field: 'data.g', op: 'eq', value: 'z' }
    const aggregations: AggregateQuery['aggregations'] = [{ fn: 'count' }, { fn: 'max', field: 'data.n' }]
    expect(run({ filter, aggregations })).toEqual([{ count: 0, max_n: null }])
    expect(run({ filter, aggregations, group_by: ['data.g'] })).toEqual([])
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFault, succeed, times } from '../../support/answers.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

/** Content by record id; each record has values that others lack. */
const CONTENT: Record<string, object> = {
  one: { n: 1, s: 'one', b: true, o: { a: { c: 1 } }, l: [1, 'x', null], 'odd.key': 1, nil: null },
  text1: { n: '1', s: '1', b: 'true', o: { a: { c: '1' } }, l: ['1'], 'odd.key': '1' },
  two: { n: 2, s: 'Two', b: false, o: { a: {} }, l: [], items: [{ sku: 'A', q: [1, 2] }, { sku: 'B' }] },
  list: { n: [1], l: [[1], { a: 1 }], items: [{ sku: 'B', q: [3] }, { sku: null }, 'loose'] },
  empty: {},
  nulls: { n: null, s: null, o: null, l: [null], items: [null], 'odd.key': null },
  object: { n: { c: 1, d: 2 }, items: { sku: 'A' }, 'q"uo\\te': 'q', é: 'accent', '': 'none' },
}

let world: World
let at: string
beforeAll(async () => {
  world = await openWorld()
  at = `/v1/crm/records/${await world.newType()}`
  for (const [id, data] of Object.entries(CONTENT))
    succeed(await world.call('PUT', `${at}/${id}`, { data }), 201)
  succeed(await world.call('PUT', `${at}/two`, { data: CONTENT['two'], external_id: 'e2' }))
  succeed(await world.call('POST', `${at}/one/cancel`))
})
afterAll(() => world.close())

const ask = (filter: unknown, path = at) =>
  world.call('GET', `${path}?include_total=true&sort=id&filter=${encodeURIComponent(JSON.stringify(filter))}`)
/** The ids of the matching records; checks that the total agrees. */
async function matching(filter: unknown, path = at): Promise<string[]> {
  const { data, meta } = succeed(await ask(filter, path))
  expect(meta.total).toBe(data.length)
  return data.map((record: Body) => record.id)
}
const OPERATORS = [
  ...['eq', 'neq', 'gt', 'gte', 'lt', 'lte', 'in', 'not_in', 'like', 'ilike', 'starts_with', 'search'],
  ...['is_null', 'is_not_null', 'has', 'has_any', 'has_all'],
]
const eq = (field: string, value: unknown) => ({ field, op: 'eq', value })
const ALL = Object.keys(CONTENT).sort()
const without = (...gone: string[]) => ALL.filter((id) => !gone.includes(id))

describe('eq', () => {
  test.each<[string, unknown, string[]]>([
    ['data.n', 1, ['one']],
    ['data.n', '1', ['text1']],
    ['data.n', 1.0, ['one']],
    ['data.n', true, []],
    ['data.n', [1], ['list']],
    ['data.n', { d: 2, c: 1 }, ['object']],
    ['data.n', { c: 1 }, []],
    ['data.s', 'Two', ['two']],
    ['data.s', 'two', []],
    ['data.b', true, ['one']],
    ['data.b', false, ['two']],
    ['data.b', 'true', ['text1']],
    ['data.o.a.c', 1, ['one']],
    ['data.o.a', {}, ['two']],
    ['data["o"]["a"].c', '1', ['text1']],
    ['data["odd.key"]', 1, ['one']],
    ['data.odd.key', 1, []],
    ['data["q\\"uo\\\\te"]', 'q', ['object']],
    ['data["\\u00e9"]', 'accent', ['object']],
    ['data.é', 'accent', ['object']],
    ['data[""]', 'none', ['object']],
    ['data.l[0]', 1, ['one']],
    ['data.l[1]', 'x', ['one']],
    ['data.l[9]', 1, []],
    ['data.l[0][0]', 1, ['list']],
    ['data.l[1].a', 1, ['list']],
    ['data.l[]', 1, ['one']],
    ['data.l[]', 'x', ['one']],
    ['data.l[][]', 1, ['list']],
    ['data.items[].sku', 'A', ['two']],
    ['data.items[].sku', 'B', ['list', 'two']],
    ['data.items[0].sku', 'B', ['list']],
    ['data.items[].q[]', 2, ['two']],
    ['data.items[].q[0]', 3, ['list']],
    ['data.items[]', 'loose', ['list']],
    ['data', {}, ['empty']],
    ['data.constructor', 1, []],
    ['data.__proto__', {}, []],
    ['id', 'one', ['one']],
    ['id', 'ONE', []],
    ['external_id', 'e2', ['two']],
    ['external_source', 'default', ['two']],
    ['status', 'cancelled', ['one']],
    ['status', 'active', without('one')],
    ['version', 2, ['one', 'two']],
    ['version', '2', []],
    ['version', 2.5, []],
    ['version', 9e15, []],
    ['id', 1, []],
  ])('%s = %j', async (field, value, expected) => {
    expect(await matching(eq(field, value))).toEqual(expected)
    expect(await matching({ not: eq(field, value) })).toEqual(without(...expected))
  })

  test.each<[string, string[]]>([
    ['data.n', ['empty', 'nulls']],
    ['data.nil', ALL],
    ['data.o.a.c', without('one', 'text1')],
    ['data["odd.key"]', without('one', 'text1')],
    ['data.l[0]', ['empty', 'nulls', 'object', 'two']],
    ['external_id', without('two')],
    ['external_source', without('two')],
    ['id', []],
    ['version', []],
    ['status', []],
    ['created_at', []],
    // On a path of any element it is the negation of "some element is not null".
    ['data.l[]', ['empty', 'nulls', 'object', 'two']],
    ['data.items[].sku', without('list', 'two')],
  ])('%s = null matches missing and null', async (field, expected) => {
    expect(await matching(eq(field, null))).toEqual(expected)
    expect(await matching({ not: eq(field, null) })).toEqual(without(...expected))
  })
})

describe('Groups of conditions', () => {
  test('combine conditions with and, or and not; a missing value is no match, and its negation is one', async () => {
    const n1 = eq('data.n', 1)
    const s2 = eq('data.s', 'Two')
    expect(await matching({ or: [n1, s2] })).toEqual(['one', 'two'])
    expect(await matching({ and: [n1, s2] })).toEqual([])
    expect(await matching({ and: [n1, { not: s2 }] })).toEqual(['one'])
    expect(await matching({ not: { or: [n1, s2] } })).toEqual(without('one', 'two'))
    expect(await matching({ not: { not: n1 } })).toEqual(['one'])
    expect(await matching({ not: { and: [n1] } })).toEqual(without('one'))
  })

  test('can be nested 10 deep, and a deeper one is refused', async () => {
    const nest = (depth: number) => times(depth, () => 0).reduce<object>((not) => ({ not }), eq('id', 'one'))
    expect(await matching(nest(10))).toEqual(['one'])
    const fault = expectFault(await ask(nest(11)), `query/filter${'/not'.repeat(10)}`)
    expect(fault.code).toBe('too_deep')
  })

  test('can have 100 conditions, and more are refused', async () => {
    const any = (count: number) => ({ or: times(count, (i) => eq('data.n', i)) })
    expect(await matching(any(100))).toEqual(['one', 'two'])
    expectFault(await ask(any(101)), 'query/filter/or/100')
  })

  test('can have 2,000 characters of patterns in total, and more are refused', async () => {
    const like = (chars: number) => ({ field: 'data.n', op: 'like', value: 'x'.repeat(chars) })
    succeed(await ask({ and: [like(1000), like(999), like(1)] }))
    const fault = expectFault(
      await ask({ and: [like(1000), like(999), like(2)] }),
      'query/filter/and/2/value',
    )
    expect(fault).toMatchObject({ code: 'too_long', expected: 2000 })
  })
})

describe('A condition on a time', () => {
  let path: string
  beforeAll(async () => {
    const json_schema = {
      type: 'object',
      properties: {
        at: { type: 'string', format: 'date-time' },
        day: { type: 'string', format: 'date' },
        plain: { type: 'string' },
        list: { type: 'array', items: { type: 'string', format: 'date-time' } },
      },
    }
    path = `/v1/crm/records/${await world.newType({ json_schema, timezone: 'Asia/Tokyo' })}`
    const content = {
      utc: { at: '2026-03-01T00:00:00Z', plain: '2026-03-01T00:00:00Z', day: '2026-03-01' },
      offset: { at: '2026-03-01T09:00:00.000+09:00', list: ['2026-03-01T01:00:00+01:00'] },
      other: { at: '2026-03-01T00:00:01Z', day: '2026-03-02' },
    }
    for (const [id, data] of Object.entries(content))
      succeed(await world.call('PUT', `${path}/${id}`, { data }), 201)
  })

  test.each<[string, unknown, string[]]>([
    ['data.at', '2026-03-01T00:00:00Z', ['offset', 'utc']],
    ['data.at', '2026-02-28T19:00:00.000-05:00', ['offset', 'utc']],
    ['data.at', '2026-03-01T09:00:00', ['offset', 'utc']],
    ['data.at', '2026-03-01T00:00:00', []],
    ['data.at', '2026-03-01', []],
    ['data.at', 'tomorrow', []],
    ['data.at', '2026-02-30T00:00:00Z', []],
    ['data.at', 0, []],
    ['data.day', '2026-03-01', ['utc']],
    ['data.day', '2026-03-01T00:00:00', ['utc']],
    ['data.day', '2026-02-28T15:00:00Z', ['utc']],
    ['data.plain', '2026-03-01T00:00:00Z', ['utc']],
    ['data.plain', '2026-03-01T09:00:00+09:00', []],
    ['data.list[]', '2026-03-01T00:00:00Z', ['offset']],
  ])('compares instants if the schema declares a time format: %s = %j', async (field, value, expected) => {
    expect(await matching(eq(field, value), path)).toEqual(expected)
  })

  test('on created_at or updated_at compares instants, without an offset in the time zone of the type', {
    tags: 'full',
  }, async () => {
    const { created_at } = succeed(await world.call('GET', `${path}/utc`))
    const moment = new Date(created_at)
    const tokyo = new Date(moment.getTime() + 9 * 3_600_000).toISOString().replace('Z', '')
    for (const value of [created_at, `${tokyo}+09:00`, tokyo]) {
      expect(await matching(eq('created_at', value), path), value).toContain('utc')
      expect(await matching(eq('updated_at', value), path), value).toContain('utc')
    }
    expect(await matching(eq('created_at', created_at.replace('Z', '')), path)).not.toContain('utc')
    expect(await matching(eq('created_at', 'yesterday'), path)).toEqual([])
  })
})

describe('A filter is refused with the path of its error', () => {
  test.each(['equals', '==', 'EQ', '', 7, null, { toString: 1 }])('for the operator %j', async (op) => {
    const fault = expectFault(await ask({ field: 'data.n', op, value: 1 }), 'query/filter/op')
    expect(fault.code).toBe('unknown_operator')
    expect(fault.allowed).toEqual(OPERATORS)
  })

  test.each<[unknown, string]>([
    [{}, 'query/filter'],
    [[], 'query/filter'],
    ['text', 'query/filter'],
    [null, 'query/filter'],
    [7, 'query/filter'],
    [{ and: [] }, 'query/filter/and'],
    [{ or: {} }, 'query/filter/or'],
    [{ not: [] }, 'query/filter/not'],
    [{ and: [{}] }, 'query/filter/and/0'],
    [{ and: [eq('id', 'x')], or: [eq('id', 'y')] }, 'query/filter/or'],
    [{ ...eq('id', 'x'), not: eq('id', 'y') }, 'query/filter/field'],
    [{ field: 'id', op: 'eq' }, 'query/filter/value'],
    [{ op: 'eq', value: 1 }, 'query/filter/field'],
    [{ field: 'id', value: 1 }, 'query/filter/op'],
    [{ feild: 'id', op: 'eq', value: 1 }, 'query/filter/feild'],
    [{ 'data.n': 1 }, 'query/filter/data.n'],
    [{ and: [eq('id', 'x'), eq('nope', 1)] }, 'query/filter/and/1/field'],
    [eq('n', 1), 'query/filter/field'],
    [eq('', 1), 'query/filter/field'],
    [eq('data.', 1), 'query/filter/field'],
    [eq('data..n', 1), 'query/filter/field'],
    [eq('data[n]', 1), 'query/filter/field'],
    [eq('data[-1]', 1), 'query/filter/field'],
    [eq('data["n"', 1), 'query/filter/field'],
    [eq("data['n']", 1), 'query/filter/field'],
    [eq('data["a\\u0000"]', 1), 'query/filter/field'],
    [eq('data["\\ud800"]', 1), 'query/filter/field'],
    [eq('data["\\x"]', 1), 'query/filter/field'],
    [eq(`data${'.a'.repeat(33)}`, 1), 'query/filter/field'],
    [eq('DATA.n', 1), 'query/filter/field'],
    [eq('record_type', 'x'), 'query/filter/field'],
  ])('when it is invalid: %j', async (filter, path) => {
    expectFault(await ask(filter), path)
  })

  test('for a misspelt field, with a corrected condition as hint', async () => {
    const hintOf = async (field: string) =>
      JSON.parse(expectFault(await ask(eq(field, 'active')), 'query/filter/field').hint)
    expect(await hintOf('sttus')).toEqual(eq('status', 'active'))
    expect(await hintOf('amount')).toEqual(eq('data.amount', 'active'))
  })

  test('for a property that a closed schema does not declare', async () => {
    const json_schema = { type: 'object', properties: { a: {} }, additionalProperties: false }
    const path = `/v1/crm/records/${await world.newType({ json_schema })}`
    expect(expectFault(await ask(eq('data.b', 1), path), 'query/filter/field').allowed).toEqual(['a'])
    expect(await matching(eq('data.a.b', 1), path)).toEqual([])
  })

  test.each([
    ['{"field":"id"', 'malformed_json'],
    ['', 'malformed_json'],
    ['{"field":"data.n","op":"eq","value":9007199254740993}', 'unsafe_number'],
    ['{"field":"data.n","op":"eq","value":"\\u0000"}', undefined],
    ['{"field":"data.n","op":"eq","value":{"__proto__":1}}', undefined],
    [`{"field":"data.n","op":"eq","value":${'['.repeat(70)}${']'.repeat(70)}}`, undefined],
  ])('for the text %s', async (text, code) => {
    const answer = await world.call('GET', `${at}?filter=${encodeURIComponent(text)}`)
    expect(answer.status, answer.text).toBe(400)
    expect(answer.body.error.details[0].path).toMatch(/^query\/filter/)
    if (code === 'malformed_json') expect(answer.body.error.details[0].code).toBe(code)
  })
})

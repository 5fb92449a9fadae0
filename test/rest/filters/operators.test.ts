import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFault, succeed, times } from '../../support/answers.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

/** One value of every kind that a filter can compare, by record id. */
const VALUES: Record<string, unknown> = {
  zero: 0,
  five: 5,
  half: 5.5,
  minus: -7,
  huge: 1e300,
  textFive: '5',
  abc: 'abc',
  upper: 'ABC',
  empty: '',
  percent: '100%_\\x',
  newline: 'a\nb',
  greek: 'ΣΊΣΥΦΟΣ',
  emoji: '😀 smile',
  yes: true,
  no: false,
  list: [1, 'abc', null, [2], { a: 1 }],
  none: [],
  object: { a: 1 },
  nil: null,
}

let world: World
let at: string
beforeAll(async () => {
  world = await openWorld()
  at = `/v1/crm/records/${await world.newType()}`
  for (const [id, v] of Object.entries(VALUES))
    succeed(await world.call('PUT', `${at}/${id}`, { data: { v, l: [v] } }), 201)
  succeed(await world.call('PUT', `${at}/missing`, { data: {} }), 201)
})
afterAll(() => world.close())

const ALL = [...Object.keys(VALUES), 'missing'].sort()
const ask = (filter: unknown) => world.call('POST', `${at}/query`, { filter, sort: 'id', limit: 1000 })
const matching = async (filter: unknown): Promise<string[]> =>
  succeed(await ask(filter)).data.map((record: Body) => record.id)
const sorted = (ids: readonly string[]) => [...ids].sort()
const without = (ids: readonly string[]) => ALL.filter((id) => !ids.includes(id))

const CASES: [op: string, value: unknown, expected: string[]][] = [
  ['eq', 5, ['five']],
  ['eq', { a: 1 }, ['object']],
  ['gt', 5, ['half', 'huge']],
  ['gte', 5, ['five', 'half', 'huge']],
  ['lt', 5, ['zero', 'minus']],
  ['lte', 5, ['zero', 'minus', 'five']],
  ['gt', 'ABC', ['abc', 'newline', 'greek', 'emoji']],
  ['lte', '5', ['textFive', 'empty', 'percent']],
  ['gte', '\u{10000}', ['emoji']],
  ['in', [5, 'abc', true, { a: 1 }, []], ['five', 'abc', 'yes', 'object', 'none']],
  ['in', [null, 0], ['nil', 'missing', 'zero']],
  ['in', [], []],
  ['in', ['5'], ['textFive']],
  ['like', 'a%', ['abc', 'newline']],
  ['like', 'a_c', ['abc']],
  ['like', 'A%', ['upper']],
  ['like', '100\\%\\_\\\\%', ['percent']],
  ['like', '%', ['textFive', 'abc', 'upper', 'empty', 'percent', 'newline', 'greek', 'emoji']],
  ['like', '_ smile', ['emoji']],
  ['like', '', ['empty']],
  ['ilike', 'abC', ['abc', 'upper']],
  ['ilike', 'σίσυφος', ['greek']],
  ['starts_with', 'AB', ['upper']],
  ['starts_with', '100%', ['percent']],
  ['starts_with', '', ['textFive', 'abc', 'upper', 'empty', 'percent', 'newline', 'greek', 'emoji']],
  ['has', 1, ['list']],
  ['has', 'abc', ['list']],
  ['has', null, ['list']],
  ['has', [2], ['list']],
  ['has', { a: 1 }, ['list']],
  ['has', 2, []],
  ['has_any', [9, 'abc'], ['list']],
  ['has_any', [], []],
  ['has_all', [1, { a: 1 }], ['list']],
  ['has_all', [1, 9], []],
  ['has_all', [], ['list', 'none']],
]

describe('A filter operator on a field', () => {
  test.each(CASES)(
    'matches the expected records, and its negation the others: %s %j',
    async (op, value, expected) => {
      const condition = { field: 'data.v', op, value }
      expect(await matching(condition)).toEqual(sorted(expected))
      expect(await matching({ not: condition })).toEqual(without(expected))
    },
  )

  test.each(CASES.filter(([, value]) => !JSON.stringify(value).includes('null')))(
    'matches a list if any element matches: %s %j',
    async (op, value, expected) => {
      expect(await matching({ field: 'data.l[]', op, value })).toEqual(sorted(expected))
    },
  )

  test.each<[string, string, unknown, string[]]>([
    ['neq', 'eq', 5, ['five']],
    ['not_in', 'in', [5, null], ['five', 'nil', 'missing']],
  ])('%s is the exact negation of %s', async (op, _, value, expected) => {
    expect(await matching({ field: 'data.v', op, value })).toEqual(without(expected))
  })

  test('is_null and is_not_null treat a missing field as null', async () => {
    const nulls = ['missing', 'nil']
    for (const filter of [{ op: 'is_null' }, { op: 'eq', value: null }])
      expect(await matching({ field: 'data.v', ...filter })).toEqual(nulls)
    for (const filter of [{ op: 'is_not_null' }, { op: 'neq', value: null }])
      expect(await matching({ field: 'data.v', ...filter })).toEqual(without(nulls))
  })
})

describe('A filter on a column', () => {
  test.each<[string, string, unknown, string[]]>([
    ['id', 'in', ['abc', 'five', 7], ['abc', 'five']],
    ['id', 'gt', 'upper', ['yes', 'zero']],
    ['id', 'starts_with', 'm', ['minus', 'missing']],
    ['id', 'ilike', 'EMO%', ['emoji']],
    ['version', 'gte', 2, []],
    ['version', 'lt', 1.5, ALL],
    ['version', 'in', [1, '1'], ALL],
    ['external_id', 'neq', 'x', ALL],
    ['external_id', 'gt', '', []],
    ['status', 'in', ['active', null], ALL],
    ['created_at', 'gt', '2020-01-01', ALL],
    ['created_at', 'in', ['2020-01-01'], []],
    ['created_at', 'gt', 5, []],
  ])('matches the expected records: %s %s %j', async (field, op, value, expected) => {
    expect(await matching({ field, op, value })).toEqual(sorted(expected))
  })

  test.each([
    ['version', 'like'],
    ['created_at', 'starts_with'],
    ['id', 'has'],
    ['updated_at', 'search'],
  ])('on %s refuses the operator %s and lists those allowed', async (field, op) => {
    const fault = expectFault(await ask({ field, op, value: 'x' }), '/filter/op')
    expect(fault.code).toBe('operator_mismatch')
    expect(fault.allowed).toContain('gte')
    expect(fault.allowed).not.toContain(op)
  })
})

describe('A filter value is refused with its path:', () => {
  test.each<[string, unknown, string]>([
    ['gt', null, 'type'],
    ['gt', true, 'type'],
    ['lte', [1], 'type'],
    ['lt', {}, 'type'],
    ['in', 'abc', 'type'],
    ['in', times(1001, (i) => i), 'too_many'],
    ['not_in', null, 'type'],
    ['has_any', 1, 'type'],
    ['like', 1, 'type'],
    ['like', 'x\\', 'invalid_pattern'],
    ['ilike', '\\\\\\', 'invalid_pattern'],
    ['like', 'x'.repeat(1001), 'too_long'],
    ['starts_with', null, 'type'],
    ['search', 5, 'type'],
    ['search', '!?', 'no_words'],
    ['is_null', null, 'unexpected'],
    ['is_not_null', true, 'unexpected'],
  ])('the operator %s with %j', async (op, value, code) => {
    expect(expectFault(await ask({ field: 'data.v', op, value }), '/filter/value').code).toBe(code)
  })

  test.each(['eq', 'gt', 'in', 'like', 'has', 'search'])('the operator %s without a value', async (op) => {
    expect(expectFault(await ask({ field: 'data.v', op }), '/filter/value').code).toBe('required')
  })

  test('a long run of wildcards is accepted, because it counts as one', async () => {
    const all = await matching({ field: 'data.v', op: 'like', value: '%'.repeat(5000) })
    expect(all).toHaveLength(8)
  })
})

test('a lone surrogate in a filter equals nothing and sorts by its code point', {
  tags: 'full',
}, async () => {
  const ask = async (op: string, value: unknown) => matching({ field: 'data.v', op, value })
  const half = '\ud83d'
  for (const [op, value] of [
    ['eq', half],
    ['eq', { a: half }],
    ['in', [half, [half]]],
    ['like', `${half}%`],
    ['starts_with', half],
    ['has', half],
  ] as const)
    expect(await ask(op, value), op).toEqual([])
  expect(await ask('gt', half)).toEqual(['emoji'])
  expect(await ask('lte', half)).not.toContain('emoji')
  const text = `{"field":"data.v","op":"gte","value":"\\ud83d"}`
  const listed = await world.call('GET', `${at}?filter=${encodeURIComponent(text)}&fields=id`)
  expect(succeed(listed).data).toEqual([{ id: 'emoji' }])
  expect((await world.call('PUT', `${at}/half`, '{"data":{"v":"\\ud83d"}}', JSON_BODY)).status).toBe(400)
})
const JSON_BODY = { 'content-type': 'application/json' }

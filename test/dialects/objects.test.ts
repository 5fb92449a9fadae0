import { describe, expect, test } from 'vitest'
import { correctFilter } from '../../src/dialects/correct.ts'
import { parseFilter } from '../../src/engine/data/filter/parse.ts'

const c = (field: string, op: string, value?: unknown) =>
  value === undefined ? { field, op } : { field, op, value }
const europe = c('data.region', 'eq', 'Europe')

function expectMeant(sent: unknown, meant: unknown): void {
  const found = correctFilter(sent)
  expect(found).toEqual(meant)
  expect(() => parseFilter(found, '')).not.toThrow()
}

describe('correctFilter for a filter object with mistakes', () => {
  test.each<[string, unknown, unknown]>([
    ['a misspelt operator', { ...europe, op: 'equls' }, europe],
    ['a word of another language', { ...europe, op: 'equals' }, europe],
    ['a sign', c('data.area', '>=', 5), c('data.area', 'gte', 5)],
    ['an operator in capitals', c('data.area', 'NOT IN', [1]), c('data.area', 'not_in', [1])],
    ['a misspelt key', { feild: 'data.region', op: 'eq', value: 'Europe' }, europe],
    ['keys of another language', { column: 'data.region', operator: '=', val: 'Europe' }, europe],
    ['an operator as the key', { field: 'data.area', gte: 5 }, c('data.area', 'gte', 5)],
    ['no operator', { field: 'data.region', value: 'Europe' }, europe],
    [
      'no operator and a list',
      { field: 'data.region', value: ['a', 'b'] },
      c('data.region', 'in', ['a', 'b']),
    ],
    ['a property without data', { ...europe, field: 'region' }, europe],
    [
      'a property with odd characters',
      { ...europe, field: 'Size "mm"' },
      { ...europe, field: 'data["Size \\"mm\\""]' },
    ],
    ['a misspelt column', c('externl_id', 'eq', 'F'), c('external_id', 'eq', 'F')],
    ['a column in camel case', c('createdAt', 'gt', '2026-01-01'), c('created_at', 'gt', '2026-01-01')],
    ['one value for a list', c('data.area', 'in', 3), c('data.area', 'in', [3])],
    ['a value where none is taken', c('data.area', 'is_null', true), c('data.area', 'is_null')],
    ['a test that is denied', c('data.area', 'is_null', false), c('data.area', 'is_not_null')],
    ['no null', c('data.area', '!=', null), c('data.area', 'is_not_null')],
    [
      'between',
      c('data.area', 'between', [1, 5]),
      { and: [c('data.area', 'gte', 1), c('data.area', 'lte', 5)] },
    ],
    ['startsWith', c('data.region', 'startsWith', '5%'), c('data.region', 'starts_with', '5%')],
    ['endsWith', c('data.region', 'endsWith', '5%'), c('data.region', 'like', '%5\\%')],
    [
      'a part of a text or a member of a list',
      c('data.tags', 'contains', 'a'),
      { or: [c('data.tags', 'like', '%a%'), c('data.tags', 'has', 'a')] },
    ],
    ['a member that is no text', c('data.tags', 'contains', 5), c('data.tags', 'has', 5)],
    ['a group of one that is no list', { and: europe }, { and: [europe] }],
    ['a denial in a list', { not: [europe] }, { not: europe }],
    ['a list', [europe, { 'data.area': 5 }], { and: [europe, c('data.area', 'eq', 5)] }],
    ['a triple', ['data.region', '=', 'Europe'], europe],
    ['an empty group beside another', { and: [{ ...europe, op: '=' }, {}, { and: [] }] }, { and: [europe] }],
    ['two groups', { and: [europe], or: [europe] }, { and: [europe, { or: [europe] }] }],
    [
      'a condition beside a group',
      { ...europe, and: [c('data.area', 'gt', 5)] },
      { and: [europe, c('data.area', 'gt', 5)] },
    ],
    ['a filter within a filter', { filter: { ...europe, op: '=' } }, europe],
  ])('corrects %s', (_, sent, meant) => expectMeant(sent, meant))
})

describe('correctFilter for a filter object in another query language', () => {
  test.each<[unknown, unknown]>([
    [{ 'data.region': 'Europe' }, europe],
    [{ region: null }, c('data.region', 'is_null')],
    [{ status: 'cancelled' }, c('status', 'eq', 'cancelled')],
    [{ status: 'open' }, c('data.status', 'eq', 'open')],
    [{ _id: 'x' }, c('id', 'eq', 'x')],
    [{ 'items.0.sku': 'x' }, c('data.items[0].sku', 'eq', 'x')],
    [{ 'data["odd.key"]': 1 }, c('data["odd.key"]', 'eq', 1)],
    [{ größe: 1 }, c('data.größe', 'eq', 1)],
    [
      { a: { $gt: 1, $lte: 5 }, b: true },
      { and: [c('data.a', 'gt', 1), c('data.a', 'lte', 5), c('data.b', 'eq', true)] },
    ],
    [{ a: { $nin: [1, null] } }, { and: [c('data.a', 'not_in', [1]), c('data.a', 'is_not_null')] }],
    [{ a: { $in: [1, null] } }, { or: [c('data.a', 'in', [1]), c('data.a', 'is_null')] }],
    [{ a: { $not: { $gt: 5 } } }, { not: c('data.a', 'gt', 5) }],
    [{ $nor: [{ a: 1 }, { b: 2 }] }, { not: { or: [c('data.a', 'eq', 1), c('data.b', 'eq', 2)] } }],
    [{ a: { $exists: false } }, c('data.a', 'is_null')],
    [{ a: { $all: ['x', 'y'] } }, c('data.a', 'has_all', ['x', 'y'])],
    [{ a: { $elemMatch: { sku: 'x' } } }, c('data.a[].sku', 'eq', 'x')],
    [{ a: { $regex: '^a\\.b' } }, c('data.a', 'starts_with', 'a.b')],
    [{ a: { $regex: '5%$', $options: 'i' } }, c('data.a', 'ilike', '%5\\%')],
    [{ a: { $regex: '^x$' } }, c('data.a', 'eq', 'x')],
    [{ a: { gte: 1, not: 5 } }, { and: [c('data.a', 'gte', 1), c('data.a', 'neq', 5)] }],
    [{ a: { contains: 'x', mode: 'insensitive' } }, c('data.a', 'ilike', '%x%')],
    [
      { AND: [{ a: { equals: 1 } }], NOT: { b: 2 } },
      { and: [c('data.a', 'eq', 1), { not: c('data.b', 'eq', 2) }] },
    ],
    [
      { _and: [{ a: { _eq: 1 } }, { _not: { b: { _is_null: true } } }] },
      { and: [c('data.a', 'eq', 1), { not: c('data.b', 'is_null') }] },
    ],
    [{ address: { city: { _eq: 'Rome' } } }, c('data.address.city', 'eq', 'Rome')],
    [{ data: { address: { city: 'Rome' } } }, c('data.address.city', 'eq', 'Rome')],
    [{ a: { _nempty: true } }, { and: [c('data.a', 'is_not_null'), c('data.a', 'neq', '')] }],
  ])('corrects %j', (sent, meant) => expectMeant(sent, meant))
})

describe('correctFilter for an ambiguous or unsupported filter object', () => {
  const nested = (depth: number): object => (depth === 0 ? { a: 1 } : { $and: [nested(depth - 1)] })
  test.each<[unknown]>([
    [null],
    [7],
    [true],
    [[]],
    [{}],
    [{ and: [] }],
    [{ op: 'eq', value: 1 }],
    [{ field: 7, op: 'eq', value: 1 }],
    [{ ...europe, caseSensitive: false }],
    [{ ...europe, or: [europe] }],
    [{ or: [europe, {}] }],
    [{ not: [europe, europe] }],
    [{ or: { a: 1, b: 2 } }],
    [c('data.a', 'iike', 'x')],
    [c('data.a', 'regex', '^x')],
    [c('data.a', 'near', 5)],
    [c('data.a', '>', null)],
    [c('data.a', 'in', 'x,y')],
    [c('data.a', '=')],
    [c('data.', '=', 1)],
    [c('record_type', '=', 'x')],
    [{ a: [1, 2] }],
    [{ address: { city: 'Rome' } }],
    [{ $where: 'x' }],
    [{ $expr: { $gt: ['$a', '$b'] } }],
    [{ eq: ['data.a', 1] }],
    [{ a: { $size: 2 } }],
    [{ a: { $regex: 'a|b' } }],
    [{ a: { $regex: 'x', $options: 'm' } }],
    [{ a: { $elemMatch: { x: 1, y: 2 } } }],
    [{ a: { $elemMatch: { $ne: 1 } } }],
    [{ a: { $eq: { $date: '2026-01-01' } } }],
    [{ a: { $in: [{ deep: { $oid: 'x' } }] } }],
    [{ a: { $gt: 1, b: 2 } }],
    [{ bool: { must: [] } }],
    [{ range: { area: { gte: 5 } } }],
    [{ filter: { a: { $gt: 1 } }, limit: 5 }],
    [JSON.parse('{"__proto__": 1}')],
    [JSON.parse('{"data": {"__proto__": {"$gt": 1}}}')],
    [nested(11)],
    [{ 'a\0': 1 }],
    [{ 'a\ud800': 1 }],
    [{ $or: Array.from({ length: 101 }, (_, n) => ({ n })) }],
  ])('returns undefined for %j', (sent) => expect(correctFilter(sent)).toBeUndefined())

  test('corrects a filter with 10 levels or 100 conditions', () => {
    expectMeant(
      nested(10),
      JSON.parse(
        JSON.stringify(nested(10))
          .replaceAll('$and', 'and')
          .replace('{"a":1}', JSON.stringify(c('data.a', 'eq', 1))),
      ),
    )
    expect(correctFilter({ $or: Array.from({ length: 100 }, () => ({ n: 1 })) })).toEqual({
      or: Array.from({ length: 100 }, () => c('data.n', 'eq', 1)),
    })
  })
})

test('correctFilter does not change Object.prototype', () => {
  correctFilter(JSON.parse('{"__proto__": {"polluted": 1}, "a": {"__proto__": {"$gt": 1}}}'))
  expect(({} as { polluted?: number }).polluted).toBeUndefined()
})

test('correctFilter treats the given field names as columns, not as properties of data', () => {
  expect(correctFilter({ rel_type: 'x', weight: 2 }, ['rel_type'])).toEqual({
    and: [c('rel_type', 'eq', 'x'), c('data.weight', 'eq', 2)],
  })
  expect(correctFilter({ reltype: 'x' }, ['rel_type'])).toEqual(c('rel_type', 'eq', 'x'))
})

import { describe, expect, test } from 'vitest'
import { FORM } from '../../src/dialects/correct.ts'
import { adviseBody, adviseQuery, correctParameter } from '../../src/dialects/parameters.ts'

const c = (field: string, op: string, value?: unknown) =>
  value === undefined ? { field, op } : { field, op, value }
const europe = c('data.region', 'eq', 'Europe')

test.each<[string, string, unknown]>([
  ['data.region', 'Europe', europe],
  ['data.zip', '02134', c('data.zip', 'eq', '02134')],
  ['external_id', '42', c('external_id', 'eq', '42')],
  ['$or', '[{"a":1},{"b":2}]', { or: [c('data.a', 'eq', 1), c('data.b', 'eq', 2)] }],
  ['filter[data.region]', 'Europe', europe],
  ['filter[data.region][eq]', 'Europe', europe],
  ['filter[data][region][_eq]', 'Europe', europe],
  ['filter[_and][0][region][_eq]', 'Europe', europe],
  ['where[region][equals]', 'Europe', europe],
  ['filters[area][$in][]', '5', c('data.area', 'in', [5])],
  ['filter[area][in]', '5,x', c('data.area', 'in', [5, 'x'])],
  ['filter[area][_null]', 'true', c('data.area', 'is_null')],
  ['data[region]', 'Europe', europe],
  ['area[gte]', '5', c('data.area', 'gte', 5)],
  ['address__city__istartswith', 'r%', c('data.address.city', 'ilike', 'r\\%%')],
  ['created_at__lt', '2026-01-01', c('created_at', 'lt', '2026-01-01')],
  ['data.area>', '5', c('data.area', 'gte', 5)],
  ['data.area!', '5', c('data.area', 'neq', 5)],
  ['data.area<5', '', c('data.area', 'lt', 5)],
  ['data.area', '>5', c('data.area', 'gt', 5)],
  ['data.area', 'gt:5', c('data.area', 'gt', 5)],
  ['where', JSON.stringify(europe), europe],
  ['fitler', JSON.stringify(europe), europe],
  ['q', 'new york', c('data', 'search', 'new york')],
])('correctParameter converts %s=%s to a filter', (name, value, filter) =>
  expect(correctParameter(name, value)).toEqual({ filter }),
)

test.each([
  ['order', 'data.area.desc.nullslast,name.asc', '-data.area,data.name'],
  ['orderBy', '{"area":"desc"}', '-data.area'],
  ['order_by', '-area,created_at', '-data.area,created_at'],
  ['$orderby', 'area desc, name', '-data.area,data.name'],
  ['_sort', '[{"area":-1},{"name":1}]', undefined],
  ['order', 'area.desc.nullsfirst', undefined],
  ['order', 'desc', undefined],
])('correctParameter converts %s=%s to a sort if it has one meaning', (name, value, sort) =>
  expect(correctParameter(name, value)).toEqual(sort === undefined ? undefined : { sort }),
)

test.each([
  ['select', 'id,name', 'id,data.name'],
  ['fields[country]', 'name', 'data.name'],
  ['select', '*', undefined],
  ['select', 'name,author(name)', undefined],
  ['select', 'n:name', undefined],
])('correctParameter converts %s=%s to fields if it has one meaning', (name, value, fields) =>
  expect(correctParameter(name, value)).toEqual(fields === undefined ? undefined : { fields }),
)

test.each([
  ['limitt', '1'],
  ['sortt', '1'],
  ['fitler', '1'],
  ['fitler', 'eq.1'],
  ['include_totals', '1'],
  ['region', 'Europe'],
  ['page', '2'],
  ['page[size]', '5'],
  ['sort[area]', 'desc'],
  ['filter[_or][0][region][_eq]', 'x'],
  ['filter[0][field]', 'region'],
  ['filter[search]', 'x'],
  ['filter[region]', 'a,b'],
  ['filter[]', 'x'],
  ['data.region', 'a,b'],
  ['data.region', ''],
  ['data.region', 'fts.x'],
  ['data.region', 'in.x'],
  ['data.region', 'eq.'],
  ['or', '(a.eq.1'],
  ['or', '(a.eq.1)b'],
  ['or', 'x'],
  ['where', 'x'],
  ['q', 'a:b c'],
  ['__proto__', '1'],
  ['__proto__', 'eq.1'],
  ['', 'eq.1'],
  ['x'.repeat(2000), 'eq.1'],
  ['data.a', `eq.${'x'.repeat(20_000)}`],
])('correctParameter returns undefined for the ambiguous %s=%s', (name, value) =>
  expect(correctParameter(name, value)).toBeUndefined(),
)

test.each([
  ['data.region', 'eq.Europe'],
  ['data->>region', 'not.is.null'],
  ['or', '(a.eq.1,b.gt.2)'],
  ['where', '(region,eq,Europe)'],
  ['$filter', "region eq 'Europe'"],
  ['filterByFormula', "{region}='Europe'"],
])('the text form of %s=%s is answered with the form of a filter', (name, value) => {
  expect(correctParameter(name, value)).toBeUndefined()
  expect(adviseQuery({ [name]: value }, ['filter'])(name)).toBe(`filter=${FORM}`)
  expect(adviseQuery({ [name]: value }, ['limit'])(name)).toBeUndefined()
})

describe('the suggested query', () => {
  const known = ['filter', 'sort', 'fields', 'limit']
  const area = c('data.area', 'gt', 5)

  test('combines all conditions with the filter of the request', () => {
    const query = {
      'data.area': '>5',
      'data.region': 'Europe',
      filter: '{"field":"status","op":"eq","value":"active"}',
      limit: '5',
    }
    const advise = adviseQuery(query, known)
    const whole = `filter=${JSON.stringify({ and: [c('status', 'eq', 'active'), area, europe] })}`
    expect(advise('data.area')).toBe(whole)
    expect(advise('data.region')).toBe(whole)
  })

  test('is undefined when the filter of the request cannot be parsed', () => {
    expect(adviseQuery({ 'data.area': '>5', filter: 'nonsense' }, known)('data.area')).toBeUndefined()
  })

  test('uses only parameters that the route accepts', () => {
    const query = { 'data.area': '>5', order: 'area.desc', select: 'id', limitt: '5' }
    expect(['data.area', 'order', 'select', 'limitt', 'other'].map(adviseQuery(query, known))).toEqual([
      `filter=${JSON.stringify(area)}`,
      'sort=-data.area',
      'fields=id',
      undefined,
      undefined,
    ])
    expect(['data.area', 'order', 'select'].map(adviseQuery(query, ['limit']))).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  test('is undefined for more than 100 conditions', () => {
    const query = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`data.p${n}`, '1']))
    expect(adviseQuery(query, known)('data.p0')).toBeUndefined()
  })
})

const PAGED = ['filter', 'sort', 'fields', 'limit', 'offset', 'cursor']

test.each<[Record<string, string>, Record<string, string | undefined>]>([
  [{ page: '3' }, { page: 'offset=100' }],
  [
    { page: '2', per_page: '10' },
    { page: 'offset=10', per_page: 'limit=10' },
  ],
  [{ page: '2', limit: '20' }, { page: 'offset=20' }],
  [
    { pageSize: '5', skip: '15' },
    { pageSize: 'limit=5', skip: 'offset=15' },
  ],
  [{ page_token: 'abc' }, { page_token: 'cursor=abc' }],
  [
    { page: '0', per_page: 'all' },
    { page: undefined, per_page: undefined },
  ],
])('adviseQuery converts the page parameters of %j', (query, advice) => {
  const advise = adviseQuery(query, PAGED)
  for (const [name, hint] of Object.entries(advice)) expect(advise(name)).toBe(hint)
  for (const name of Object.keys(query)) expect(adviseQuery(query, [])(name)).toBeUndefined()
})

test.each<[unknown, string, string | undefined]>([
  [{ where: { region: 'Europe' } }, 'where', JSON.stringify({ filter: europe })],
  [
    { 'data.region': 'Europe', filter: c('data.a', 'eq', 1) },
    'data.region',
    JSON.stringify({ filter: { and: [c('data.a', 'eq', 1), europe] } }),
  ],
  [{ order_by: [{ area: -1 }] }, 'order_by', '{"sort":"-data.area"}'],
  [{ select: ['id', 'name'] }, 'select', '{"fields":["id","data.name"]}'],
  [{ page: 3, limit: 10 }, 'page', '{"offset":20}'],
  [{ filter: 'region:Europe' }, 'filter', FORM],
  [{ fields: 'id,data.name' }, 'fields', '["id","data.name"]'],
  [{ filter: 'what is this' }, 'filter', FORM],
  [{ where: Array(1000).fill({ region: 'Europe' }) }, 'where', undefined],
  ['text', 'where', undefined],
])('adviseBody of %j converts %s', (body, name, hint) => {
  expect(adviseBody(body, PAGED)(name)).toBe(hint)
})

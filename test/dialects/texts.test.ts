import { describe, expect, test } from 'vitest'
import { correctFilter } from '../../src/dialects/correct.ts'
import { parseFilter } from '../../src/engine/filter/parse.ts'

const c = (field: string, op: string, value?: unknown) =>
  value === undefined ? { field, op } : { field, op, value }
const europe = c('data.region', 'eq', 'Europe')
const large = c('data.area', 'gt', 1000)
const both = { and: [europe, large] }

describe('correctFilter for a text in another query language', () => {
  test.each<[string, unknown]>([
    // JSON, and the output of Python and JavaScript
    [JSON.stringify(europe), europe],
    [JSON.stringify(JSON.stringify({ 'data.region': 'Europe' })), europe],
    ["{'field': 'data.region', 'op': 'eq', 'value': 'Europe'}", europe],
    ['{region: "Europe", area: {$gt: 1000,},}', both],
    [
      "{'a': None, 'b': True, 'c': 'it\\'s'}",
      { and: [c('data.a', 'is_null'), c('data.b', 'eq', true), c('data.c', 'eq', "it's")] },
    ],
    // Airtable
    ["{data.region}='Europe'", europe],
    ["AND({region}='Europe', {area}>1000)", both],
    [
      'AND({a}=1, OR({b}>2, NOT({c}=BLANK())))',
      { and: [c('data.a', 'eq', 1), { or: [c('data.b', 'gt', 2), { not: c('data.c', 'is_null') }] }] },
    ],
    ['FIND("5%", {name})', c('data.name', 'like', '%5\\%%')],
    ["SEARCH('x',{name})>0", c('data.name', 'ilike', '%x%')],
    ["{a}!=''", { and: [c('data.a', 'is_not_null'), c('data.a', 'neq', '')] }],
    ['{Size (mm)}>=5', c('data["Size (mm)"]', 'gte', 5)],
    ["IS_AFTER({created_at}, '2026-01-01')", c('created_at', 'gt', '2026-01-01')],
    ['1000<{area}', large],
    ['{done}=TRUE()', c('data.done', 'eq', true)],
    // SQL
    ["data.region = 'Europe' AND data.area > 1000", both],
    ["WHERE region = 'Europe' and area > 1000;", both],
    [
      "a = 1 OR b = 2 AND NOT (c = 'it''s')",
      { or: [c('data.a', 'eq', 1), { and: [c('data.b', 'eq', 2), { not: c('data.c', 'eq', "it's") }] }] },
    ],
    [
      "a IN ('x', 'y') AND b NOT IN (1)",
      { and: [c('data.a', 'in', ['x', 'y']), c('data.b', 'not_in', [1])] },
    ],
    [
      "a LIKE 'x%' OR a NOT ILIKE '%y'",
      { or: [c('data.a', 'like', 'x%'), { not: c('data.a', 'ilike', '%y') }] },
    ],
    [
      'a IS NULL OR a IS NOT NULL OR a IS TRUE',
      { or: [c('data.a', 'is_null'), c('data.a', 'is_not_null'), c('data.a', 'eq', true)] },
    ],
    ['a BETWEEN -1 AND 5', { and: [c('data.a', 'gte', -1), c('data.a', 'lte', 5)] }],
    ["data->'address'->>'city' = 'Rome'", c('data.address.city', 'eq', 'Rome')],
    ['"odd.key" <> 5', c('data["odd.key"]', 'neq', 5)],
    ["'Europe' = region", europe],
    ["NOT (a = '')", { not: c('data.a', 'eq', '') }],
    // PocketBase and OData
    ['region = "Europe" && area > 1000', both],
    [
      '(name ~ "x" || name ~ "y%") && !(a != 1)',
      {
        and: [
          { or: [c('data.name', 'ilike', '%x%'), c('data.name', 'ilike', 'y%')] },
          { not: c('data.a', 'neq', 1) },
        ],
      },
    ],
    ["region eq 'Europe' and area gt 1000", both],
    ["contains(name, 'x')", c('data.name', 'like', '%x%')],
    // NocoDB
    ['(region,eq,Europe)~and(area,gt,1000)', both],
    ['(status,eq,open)', c('data.status', 'eq', 'open')],
    [
      '(a,in,x,y)~or((b,is,null)~and~not(c,like,z))',
      {
        or: [
          c('data.a', 'in', ['x', 'y']),
          { and: [c('data.b', 'is_null'), { not: c('data.c', 'ilike', '%z%') }] },
        ],
      },
    ],
    ['(name,eq,Size (mm))', c('data.name', 'eq', 'Size (mm)')],
    // PostgREST
    ['data.region=eq.Europe', europe],
    // Search engines
    ['data.region:Europe', europe],
    ['region:Europe', europe],
    ['or=(a.eq.1,b.gt.2)', { or: [c('data.a', 'eq', 1), c('data.b', 'gt', 2)] }],
  ])('corrects %s', (sent, meant) => {
    const found = correctFilter(sent)
    expect(found).toEqual(meant)
    expect(() => parseFilter(found, '')).not.toThrow()
  })
})

describe('correctFilter for an ambiguous or unsupported text', () => {
  test.each([
    '',
    ' ',
    'Europe',
    '7',
    'null',
    '"Europe"',
    '{',
    '{}',
    '[]',
    'a =',
    '= 5',
    'a = b',
    'a > b',
    'a = 1 and b',
    'a = 1 b = 2',
    '(a = 1',
    'a = 1)',
    "a = 'x",
    "a = 'x\\n'",
    'a = 9007199254740993',
    'a = 1e999',
    'a = now()',
    'a = 1 + 1',
    'SELECT * FROM t WHERE a = 1',
    "name ~ '^x'",
    'a ?= 1',
    '{a}',
    'AND()',
    'AND({a})',
    'NOT({a}=1, {b}=2)',
    "FIND('x', {a})=1",
    "LOWER({a})='x'",
    '{a}={b}',
    "DATESTR({a})='x'",
    '(a,eq,1)~and(b,eq,2)~or(c,eq,3)',
    '(a,eq,1,2)',
    '(a,eq,)',
    '(a,near,1)',
    '(a,eq,1)~xor(b,eq,2)',
    '(a,eq,(1)',
    'data.region:Europe Asia',
    'https://example.com',
    '=eq.5',
    'a=fts.x',
    "a = 'x' -- c",
    '\0',
    '\ud800 = 1',
  ])('returns undefined for %j', (sent) => expect(correctFilter(sent)).toBeUndefined())
})

test('correctFilter returns undefined in time for long and deep texts', { timeout: 5000 }, () => {
  const deep = (open: string, close: string) => open.repeat(4000) + close.repeat(4000)
  const long = (part: string) => part.repeat(Math.floor(10_000 / part.length))
  const texts = [
    deep('(', ')'),
    deep('[', ']'),
    deep('{"and":', '}'),
    long('NOT '),
    long('!'),
    long('AND('),
    long('~not('),
    long("'"),
    long("''"),
    long('"'),
    long('\\'),
    long(' '),
    long('a.'),
    long('a['),
    long('-'),
    long('1'),
    long('{a}'),
    long('a = 1 and '),
    long('{a:'),
    `a = '${long('\\%')}`,
    `(${long('a,')}`,
    `or=(${long('a.eq.')}`,
  ]
  for (const text of texts) expect.soft(correctFilter(text), text.slice(0, 20)).toBeUndefined()
  expect(correctFilter(`a = '${'x'.repeat(11_000)}'`)).toBeUndefined()
})

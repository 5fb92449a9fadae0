import { describe, expect, test } from 'vitest'
import { correctFilter } from '../../src/dialects/correct.ts'
import { parseFilter } from '../../src/engine/data/filter/parse.ts'

const europe = { field: 'data.region', op: 'eq', value: 'Europe' }

describe('correctFilter for a text', () => {
  test.each<[string, unknown]>([
    [JSON.stringify(europe), europe],
    [JSON.stringify(JSON.stringify({ 'data.region': 'Europe' })), europe],
    ['{"region":"Europe"}', europe],
    ["data.region = 'Europe'", europe],
    ['region=Europe', europe],
    ['area >= 5.5', { field: 'data.area', op: 'gte', value: 5.5 }],
  ])('reads %s', (sent, meant) => {
    const found = correctFilter(sent)
    expect(found).toEqual(meant)
    expect(() => parseFilter(found, '')).not.toThrow()
  })

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
    '{"a":9007199254740993}',
    "{'region': 'Europe'}",
    "{data.region}='Europe'",
    '(region,eq,Europe)',
    'data.region=eq.Europe',
    'or=(a.eq.1,b.gt.2)',
    'region:Europe',
    '\0',
    '"\ud800"',
  ])('finds no filter in %j', (sent) => expect(correctFilter(sent)).toBeUndefined())

  test('ends in time for long and deep texts', { timeout: 5000 }, () => {
    for (const text of ['[', '{"and":', '{"and":[', '"', '\\"', '-', ' '])
      expect.soft(correctFilter(text.repeat(Math.floor(10_000 / text.length))), text).toBeUndefined()
    expect(correctFilter(JSON.stringify({ a: 'x'.repeat(11_000) }))).toBeUndefined()
  })
})

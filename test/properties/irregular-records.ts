/** Irregular records: mixed types, keys that paths must quote, strings in place of times. */
import fc from 'fast-check'
import type { Json, JsonObject } from '../support/paths.ts'
import { mixed, number, small, text, time } from './irregular-values.ts'

const timeOrNot = fc.oneof(
  { weight: 9, arbitrary: time },
  { weight: 1, arbitrary: fc.constantFrom<Json>(null, 7, true, [], {}) },
)

const item = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record(
      { sku: small, qty: number, tags: fc.array(small, { maxLength: 3 }) },
      { requiredKeys: [] },
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom<Json>(null, 'loose', [], {}, { sku: { x: 1 } }) },
)

/** Keys that paths must quote, and some that need no quotes. */
const content: fc.Arbitrary<JsonObject> = fc.record(
  {
    n: fc.oneof({ weight: 9, arbitrary: number }, { weight: 1, arbitrary: fc.constantFrom('1', null, [1]) }),
    s: fc.oneof({ weight: 9, arbitrary: text }, { weight: 1, arbitrary: fc.constantFrom(1, null, ['a']) }),
    b: fc.constantFrom<Json>(true, false, null, 'true', 1),
    m: mixed,
    l: fc.oneof({ weight: 5, arbitrary: fc.array(mixed, { maxLength: 4 }) }, { weight: 1, arbitrary: mixed }),
    items: fc.oneof(
      { weight: 5, arbitrary: fc.array(item, { maxLength: 3 }) },
      { weight: 1, arbitrary: item },
    ),
    o: fc.constantFrom<Json>(
      { a: { b: 1 } },
      { a: { b: '1' } },
      { a: { b: null } },
      { a: [] },
      { a: null },
      [],
      null,
      'a',
    ),
    at: timeOrNot,
    day: timeOrNot,
    times: fc.array(timeOrNot, { maxLength: 3 }),
    group: fc.constantFrom('red', 'green', 'blue'),
    'odd.key': small,
    'q"uo\\te': small,
    'кey🗝': small,
    '': small,
    'l[0]': small,
    "it's%": text,
    constructor: small,
  },
  { requiredKeys: ['group'] },
) as fc.Arbitrary<JsonObject>

export const TIMEZONE = 'America/New_York'
const format = (name: string) => ({ type: 'string', format: name })
export const SCHEMA = {
  type: 'object',
  properties: {
    at: format('date-time'),
    day: format('date'),
    times: { type: 'array', items: format('date-time') },
  },
}

/** Fields that cannot be sorted or grouped by, because they may have several values. */
export const MANY =
  'data.l[] data.items[].sku data.items[].qty data.items[].tags[] data.items[] data.times[] data.l[][] data.s[]'.split(
    ' ',
  )

export const FIELDS = `data.n data.s data.b data.m data.l data.at data.day data.o data.o.a data.o.a.b data
  data.l[0] data.l[1] data.l[0].x data.m.x data.m[0] data.items[0].sku data.items[1].qty data.items[0].tags
  data.items data["odd.key"] data.odd.key data["q\\"uo\\\\te"] data["\\u043aey🗝"] data.кey🗝 data[""] data["l[0]"]
  data["it's%"] data.constructor data.toString data.group data["n"] data.none data.s[0] data.l[99] data.times[0]`.split(
  /\s+/,
)

/** Deterministic for a seed. */
export const oddContents = (seed: number, count: number): JsonObject[] =>
  // fast-check makes objects without a prototype; what is sent is plain JSON.
  fc.sample(content, { seed, numRuns: count }).map((each) => JSON.parse(JSON.stringify(each)) as JsonObject)

/** Values that are hard to compare: long texts, wildcards, huge and tiny numbers, times in every spelling. */
import fc from 'fast-check'
import { times } from '../support/answers.ts'
import type { Json } from '../support/paths.ts'

const WORDS = [
  '',
  ' ',
  '"',
  '{}',
  'a\nb',
  'a\tb',
  '\u0001',
  '\u007f',
  'e\u0301',
  '\ufeffx',
  '\u{10ffff}',
].concat(
  'a A ab abc b B null true 1 1.0 2026-01-01 $1 % _ \\ 100% 100_ 1000 a\\b a%b a.c [a]'.split(' '),
  "it's é ÅL ål Франция ФРАНЦИЯ ΟΔΟΣ οδοσ ～ 😀 👩‍👩‍👧 日本".split(' '),
)

// Pseudo-random, so that compression does not shorten it, and deterministic.
let state = 1
const LONG = times(3400, () => {
  state = (state * 48271) % 2147483647
  return String.fromCharCode(33 + (state % 90))
}).join('')
const LONGS = ['', 'a', 'b', '😀', 'é', 'a😀']
  .map((end) => LONG + end)
  .concat('x'.repeat(3100), `${'x'.repeat(3100)}y`)

export const text: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...WORDS) },
  { weight: 1, arbitrary: fc.constantFrom(...LONGS) },
  {
    weight: 2,
    arbitrary: fc.string({ unit: 'binary', maxLength: 6 }).map((each) => each.replaceAll('\u0000', '~')),
  },
)

const NUMBERS = '0 1 -1 2 10 1.5 0.1 0.2 0.3 1e21 1e308 -1e308 5e-324 -5e-324 1e-7 123456789.125'
  .concat(' 9007199254740991 9007199254740990 -9007199254740991')
  .split(' ')
  .map(Number)

export const number: fc.Arbitrary<number> = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: -9, max: 9 }) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(...NUMBERS),
  },
  // JSON has no minus zero.
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }).map((each) => each || 0) },
)

const scalar: fc.Arbitrary<Json> = fc.oneof(fc.constant(null), fc.boolean(), number, text)
export const small = fc.constantFrom<Json>(null, 0, 1, 2, '1', 'a', 'b', '', true, false)

export const mixed: fc.Arbitrary<Json> = fc.oneof(
  { weight: 4, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(small, { maxLength: 3 }) },
  {
    weight: 1,
    arbitrary: fc.dictionary(fc.constantFrom('x', 'y'), small, { maxKeys: 2, noNullPrototype: true }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Json>([[1]], [{ x: 1 }], { x: [1] }, { x: { y: null } }, [null], {}, []),
  },
)

/** Times around the changes of the clock in New York: a skipped hour on 8 March 2026, a repeated one on 1 November. */
const TIMES = `2026-01-01
  2026-01-01T00:00:00
  2026-01-01T05:00:00Z
  2026-01-01T05:00:00.000000Z
  2026-01-01T06:00:00+01:00
  2026-01-01 00:00
  2026-01-01t05:00:00.001z
  2026-01-01T05:00:00.000001Z
  2026-01-02T04:59:00+23:59
  2025-12-31T05:01:00-23:59
  2026-03-08T02:30:00
  2026-03-08T07:30:00Z
  2026-03-08T06:59:59Z
  2026-03-08
  2026-03-09
  2026-11-01T01:30:00
  2026-11-01T05:30:00Z
  2026-11-01T06:30:00Z
  2026-11-01T01:30:00-04:00
  1999-12-31T23:59:59Z
  2000-01-01T00:00:00Z
  1969-07-20T20:17:40.5Z
  2024-02-29
  9999-12-31
  never
  Tomorrow
  2026-02-30
  2026-13-01T00:00:00Z
  20260101
  😀
  `
  .split('\n')
  .map((line) => line.trim())

const someTime = fc
  .tuple(
    fc.date({ min: new Date('2000-01-01'), max: new Date('2029-12-31'), noInvalidDate: true }),
    fc.constantFrom('Z', '', '+02:00', '-05:30'),
  )
  .map(([date, offset]) => date.toISOString().replace('Z', offset))

export const time: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...TIMES) },
  { weight: 1, arbitrary: someTime },
)

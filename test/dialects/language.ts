import fc from 'fast-check'
import type { Filter, Row } from '../support/reference.ts'
import { matches, reader } from '../support/reference.ts'

/** Filters of our language over a few properties, and rows that tell them apart. */
const STRINGS = ['Europe', 'Asia', '', "it's", 'a"b', '50% (net), a_b', 'größe', '12']
const NUMBERS = [0, -3, 12, 1.5, 1e6]
export const FIELDS = ['data.region', 'data.area', 'data.größe', 'data.address.city']

const text = fc.constantFrom(...STRINGS)
const value = fc.oneof(text, fc.constantFrom(...NUMBERS), fc.boolean())
const ordered = fc.oneof(text, fc.constantFrom(...NUMBERS))
const field = fc.constantFrom(...FIELDS)

const conditions: fc.Arbitrary<Filter> = fc.oneof(
  fc.record({ field, op: fc.constantFrom('eq', 'neq'), value }),
  fc.record({ field, op: fc.constantFrom('gt', 'gte', 'lt', 'lte'), value: ordered }),
  fc.record({ field, op: fc.constant('in'), value: fc.array(value, { minLength: 1, maxLength: 3 }) }),
  fc.record({ field, op: fc.constantFrom('is_null', 'is_not_null') }),
)

const group = (of: fc.Arbitrary<Filter>, least: number): fc.Arbitrary<Filter> => {
  const list = fc.array(of, { minLength: least, maxLength: 3 })
  return fc.oneof(fc.record({ and: list }), fc.record({ or: list }), fc.record({ not: of }))
}

/** Groups of at least two: a printer of words between has nothing to say of a group of one. */
export const filters: fc.Arbitrary<Filter> = fc.oneof(
  conditions,
  group(conditions, 2),
  group(group(conditions, 2), 2),
)

const BROAD = [undefined, ...STRINGS, ...NUMBERS, true, false]
const RULES = { timezone: 'UTC', json_schema: {} }

const rowOf = (id: string, region: unknown, rest: object): Row =>
  ({ id, data: JSON.parse(JSON.stringify({ region, ...rest })) }) as Row

/** Every value once for each field, beside others. */
export const ROWS: readonly Row[] = BROAD.flatMap((one, at) =>
  BROAD.map((other, among) =>
    rowOf(`${at}-${among}`, one, {
      area: other,
      größe: BROAD[(at + among) % BROAD.length],
      address: { city: BROAD[(at * 3 + among) % BROAD.length] },
    }),
  ),
)

/** The ids of the rows a filter holds for. */
export const chosen = (filter: unknown): string[] =>
  ROWS.filter((row) => matches(filter as Filter, reader(row, RULES))).map(({ id }) => id)

/** Generated aggregations. Left out are those whose answer could be written in several ways. */
import fc from 'fast-check'
import { INTERVALS } from '../support/instants.ts'
import type { Json } from '../support/paths.ts'
import { type Filter, type Row, reader, type Sort } from '../support/reference.ts'
import {
  type AggregateQuery,
  type Aggregation,
  aggregate,
  aggregateReader,
  type GroupKey,
  keysOf,
  nameOf,
} from '../support/reference-aggregates.ts'
import { filters, sorts } from './queries.ts'
import type { Sample } from './samples.ts'

export type AggregateCase = { query: AggregateQuery; limit: number; offset: number }

const FUNCTIONS = ['count', 'sum', 'avg', 'min', 'max', 'count_distinct'] as const
const NO_ROW: Row = { id: '', data: {} }
/** Only words and dots, so that the default alias is obvious. */
const isPlain = (field: string) => /^\w+(\.\w+)*$/.test(field) && field !== 'data'

const aggregations = (fields: readonly string[]): fc.Arbitrary<Aggregation> =>
  fc.oneof(
    { weight: 1, arbitrary: fc.constant<Aggregation>({ fn: 'count' }) },
    {
      weight: 5,
      arbitrary: fc
        .record({
          fn: fc.constantFrom(...FUNCTIONS),
          field: fc.constantFrom(...fields),
          alias: fc.constantFrom(undefined, 'one', 'Two_2'),
        })
        .map(({ fn, field, alias = isPlain(field) ? undefined : `${fn}_there` }) => ({
          fn,
          field,
          ...(alias && { alias }),
        })),
    },
  )

function groupKeys({ fields, rules }: Sample): fc.Arbitrary<string | GroupKey> {
  const zoneOf = (field: string) => reader(NO_ROW, rules)(field).zone
  const timed = fields.filter((field) => zoneOf(field) !== null)
  const interval = fc.record({ field: fc.constantFrom(...timed), interval: fc.constantFrom(...INTERVALS) })
  return fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...fields) },
    { weight: 1, arbitrary: fc.constantFrom(...fields).map((field) => ({ field, alias: 'key' })) },
    { weight: 2, arbitrary: interval },
  )
}

const keyName = (key: string | GroupKey) => (typeof key === 'string' ? key : (key.alias ?? key.field))

/** Aggregations with all options; `having` compares with values of the groups. */
export function aggregateCases(sample: Sample): fc.Arbitrary<AggregateCase> {
  const shape = fc.record({
    aggregations: fc.uniqueArray(aggregations(sample.fields), {
      minLength: 1,
      maxLength: 4,
      selector: nameOf,
    }),
    group_by: fc.uniqueArray(groupKeys(sample), { maxLength: 2, selector: keyName }),
    filter: fc.option(filters(sample), { nil: undefined, freq: 2 }),
  })
  const whole = shape.map(
    ({ group_by, filter, ...rest }): AggregateQuery => ({
      ...rest,
      ...(group_by.length > 0 && { group_by }),
      ...(filter && { filter }),
    }),
  )
  return whole.chain((query) => {
    const names = [...keysOf(query).map(keyName), ...query.aggregations.map(nameOf)]
    const means = query.aggregations.filter(({ fn }) => fn === 'avg').map(nameOf)
    // Means are printed as doubles, which can hide their order: terms after a mean are left out.
    const untilMean = (sort: Sort): Sort => {
      const at = sort.findIndex(({ field }) => means.includes(field))
      return at < 0 ? sort : sort.slice(0, at + 1)
    }
    return fc
      .record({
        having: fc.option(havings(sample, query), { nil: undefined, freq: 2 }),
        sort: fc.option(sorts(names).map(untilMean), { nil: undefined, freq: 2 }),
        limit: fc.integer({ min: 1, max: 20 }),
        offset: fc.nat(12),
      })
      .map(({ having, sort, limit, offset }) => ({
        query: { ...query, ...(having && { having }), ...(sort && { sort }) },
        limit,
        offset,
      }))
  })
}

function havings(sample: Sample, query: AggregateQuery): fc.Arbitrary<Filter> {
  const rows = aggregate(sample.rows, sample.rules, query)
  const read = aggregateReader(query, sample.rules)
  const names = [...keysOf(query).map(keyName), ...query.aggregations.map(nameOf)]
  const condition = fc.constantFrom(...names).chain((field): fc.Arbitrary<Filter> => {
    const missing = fc.constantFrom('is_null', 'is_not_null').map((op) => ({ field, op }))
    if (read({})(field).zone !== null) return missing
    const fn = query.aggregations.find((each) => nameOf(each) === field)?.fn
    // Compared with values that no sum or mean equals, because a double could not decide equality.
    if (fn === 'sum' || fn === 'avg')
      return fc.oneof(
        missing,
        compared(field, ['gt', 'gte', 'lt', 'lte'], [0.1234, -3.7171, 1000.5151, 1e15]),
      )
    // Any of several lists tied for the minimum is a valid answer, so conditions on them only test for null.
    const isEnd = fn === 'min' || fn === 'max'
    const values = [...new Set(rows.map((row) => row[field] ?? null))].filter(
      (each) => !isEnd || typeof each !== 'object',
    )
    const ordered = values.filter((value) => typeof value === 'string' || typeof value === 'number')
    return fc.oneof(
      missing,
      compared(field, ['eq', 'neq'], [...values, 1, 'x']),
      compared(field, ['gt', 'gte', 'lt', 'lte'], [...ordered, 2, 'm']),
    )
  })
  const some = fc.array(condition, { minLength: 1, maxLength: 2 })
  return fc.oneof(
    condition,
    some.map((or) => ({ or })),
    some.map((and) => ({ not: { and } })),
  )
}

const compared = (field: string, ops: string[], values: Json[]): fc.Arbitrary<Filter> =>
  fc.record({ field: fc.constant(field), op: fc.constantFrom(...ops), value: fc.constantFrom(...values) })

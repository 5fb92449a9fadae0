// @module-tag full
// @module-tag sampled
/** Every aggregation agrees with the reference implementation. */
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CASES_TIMEOUT } from '../support/cases.ts'
import { decimal, equals } from '../support/decimals.ts'
import { forAll } from '../support/for-all.ts'
import type { Json, JsonObject } from '../support/paths.ts'
import { keyOf, order, type Read, reader, term } from '../support/reference.ts'
import { type Aggregation, aggregate, keysOf, nameOf, rowOrder } from '../support/reference-aggregates.ts'
import { SEED } from '../support/seed.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'
import { type AggregateCase, aggregateCases } from './aggregate-queries.ts'
import { loadCountries, loadOdd, type Sample } from './samples.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

describe.each<[string, number, () => Promise<Sample>]>([
  ['countries', 150, () => loadCountries(world.call)],
  ['odd records', 250, () => loadOdd(world.call, SEED)],
])('aggregations of %s', (_name, count, load) => {
  let sample: Sample
  beforeAll(async () => {
    sample = await load()
  })
  const ask = async (body: object): Promise<Body> =>
    succeed(await world.call('POST', `${sample.at}/aggregate`, { limit: 1000, ...body }))

  test('agree with the reference implementation, and their pages are parts of the whole answer', {
    tags: 'full',
    timeout: CASES_TIMEOUT,
  }, async () => {
    await forAll(aggregateCases(sample), count, async ({ query, limit, offset }) => {
      const { data, meta } = await ask({ ...query, include_total: true })
      const expected = aggregate(sample.rows, sample.rules, query)
      expect(data.length).toBe(expected.length)
      expect(meta).toMatchObject({ total: expected.length, has_more: false })
      for (const [found, wanted] of pairs(data, expected, query)) {
        expect(Object.keys(found).sort()).toEqual(Object.keys(wanted).sort())
        for (const each of query.aggregations)
          expectCell(each, found[nameOf(each)], wanted[nameOf(each)], sample)
      }
      expectOrder(data, query)
      const page = await ask({ ...query, limit, offset })
      expect(page.data).toEqual(data.slice(offset, offset + limit))
      expect(page.meta.has_more).toBe(offset + limit < data.length)
    })
  })

  function expectOrder(data: JsonObject[], query: AggregateCase['query']) {
    const order = rowOrder(query, sample.rules)
    for (const [at, row] of data.slice(1).entries())
      expect(order(data[at] ?? {}, row), `row ${at} before the next`).toBeLessThanOrEqual(0)
  }
})

/** Pairs the rows of both sides by group keys; throws if a row has no partner. */
function pairs(
  data: JsonObject[],
  expected: JsonObject[],
  query: AggregateCase['query'],
): [JsonObject, JsonObject][] {
  const keys = keysOf(query).map(({ field, alias }) => alias ?? field)
  const left = new Set(expected)
  return data.map((found) => {
    const wanted = [...left].find((each) => keys.every((key) => isDeepStrictEqual(each[key], found[key])))
    if (!wanted) throw new Error(`No such group, or twice: ${JSON.stringify(keys.map((key) => found[key]))}`)
    left.delete(wanted)
    return [found, wanted]
  })
}

function expectCell(
  aggregation: Aggregation,
  found: Json | undefined,
  wanted: Json | undefined,
  { rows, rules }: Sample,
) {
  const { fn, field = '' } = aggregation
  const name = JSON.stringify(aggregation)
  if (fn === 'count' || fn === 'count_distinct' || wanted === null || wanted === undefined)
    return expect(found, name).toBe(wanted)
  if (fn === 'sum') {
    expect(typeof found, name).toBe(typeof wanted)
    return expect(
      equals(decimal(found as string | number), decimal(wanted as string | number)),
      `${name}: ${found} is ${wanted}`,
    ).toBe(true)
  }
  if (fn === 'avg') {
    const [is, should] = [Number(found), Number(wanted)]
    return expect(Math.abs(is - should), `${name}: ${found} is ${wanted}`).toBeLessThanOrEqual(
      Math.abs(should) * 1e-12,
    )
  }
  // Any of the values that tie is a valid answer, in its stored form.
  const reads = rows.map((row): Read => reader(row, rules))
  const zone = reads[0]?.(field).zone ?? null
  const [is, should] = [term(found, zone), term(wanted, zone)]
  expect(
    is && should && order(is, should),
    `${name}: ${JSON.stringify(found)} is ${JSON.stringify(wanted)}`,
  ).toBe(0)
  expect(
    reads.some((read) => keyOf(read, field) && isDeepStrictEqual(read(field).values[0], found)),
    name,
  ).toBe(true)
}

// @module-tag full
// @module-tag sampled
/** Declared indexes change no answer, whether built over existing records or maintained by writes. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CASES_TIMEOUT, cases } from '../support/cases.ts'
import { type Filter, type Row, type Sort, select } from '../support/reference.ts'
import { SEED } from '../support/seed.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'
import { oddContents } from './irregular-records.ts'
import { conditionsAt, filters, sorts } from './queries.ts'
import { idsOf, inParallel, loadOdd, type Query, type Sample } from './samples.ts'

type Plain = { filter?: Filter; sort?: Sort; offset?: number; limit: number }
const NEWEST: Sort = [{ field: 'created_at', direction: 'desc' }]

const down = (field: string) => ({ field, direction: 'desc' })
/** Indexes over values of every type, long values, times, columns and quoted keys; one or several fields, both directions. */
const INDEXES = [
  { fields: ['data.n'] },
  { fields: ['data.s'] },
  { fields: [down('data.m')] },
  { fields: ['data.at'] },
  { fields: ['data.group', down('data.n')] },
  { fields: ['data.group', 'data.m', 'data.s'] },
  { fields: [down('data.day'), down('data.b')] },
  { fields: ['status', 'data["odd.key"]', down('updated_at')] },
  { fields: ['external_source', 'data[""]'] },
]
const INDEXED = [
  ...['data.n', 'data.s', 'data.m', 'data.at', 'data.group', 'data.day', 'data.b'],
  ...['status', 'data["odd.key"]', 'updated_at', 'external_source', 'data[""]', 'id', 'created_at'],
]
/** The order of each index, its reverse, and both without the first field. */
const ownSorts = INDEXES.flatMap(({ fields }) => {
  const terms = fields.map((each) => (typeof each === 'string' ? { field: each, direction: 'asc' } : each))
  const turned = terms.map(({ field, direction }) => ({
    field,
    direction: direction === 'asc' ? 'desc' : 'asc',
  }))
  return [terms, turned, terms.slice(1), turned.slice(1)].filter((sort) => sort.length > 0)
})

let world: World
let odd: Sample
let queries: Query[]
beforeAll(async () => {
  world = await openWorld()
  odd = await loadOdd(world.call, SEED)
  queries = fc.sample(indexedQueries(odd), { seed: SEED, numRuns: cases(250) })
}, 600_000)
afterAll(() => world.close())

/** Mostly queries that an index can serve: conditions on its fields, its own order, small pages. */
function indexedQueries(sample: Sample): fc.Arbitrary<Query> {
  const condition = fc.oneof(...INDEXED.map((field) => conditionsAt(sample, field)))
  const group = (odd.rows[0]?.data['group'] ?? 'red') as string
  const filter = fc.oneof(
    condition,
    fc.array(condition, { minLength: 1, maxLength: 3 }).map((and) => ({ and })),
    fc
      .array(condition, { maxLength: 2 })
      .map((more) => ({ and: [{ field: 'data.group', op: 'eq', value: group }, ...more] })),
    filters(sample),
  )
  return fc.record({
    filter: fc.option(filter, { nil: undefined }),
    sort: fc.option(fc.oneof(fc.constantFrom(...ownSorts), sorts(INDEXED)), { nil: undefined }),
    limit: fc.constantFrom(1, 3, 20, 100, 1000),
    offset: fc.constantFrom(undefined, undefined, 1, 30),
    include_total: fc.boolean(),
  }) as fc.Arbitrary<Query>
}

const typePath = () => `/v1/crm/record-types/${odd.type}`

/** Declares exactly these indexes and waits until they are ready. */
async function declare(indexes: object[]): Promise<void> {
  succeed(await world.call('PUT', `${typePath()}?on_invalid=allow`, { ...odd.rules, indexes }))
  await expect
    .poll(
      async () => succeed(await world.call('GET', typePath())).indexes.map(({ status }: Body) => status),
      { timeout: 60_000 },
    )
    .toEqual(indexes.map(() => 'ready'))
}

type Answered = { ids: string[]; meta: Body[]; bytes: string }

/** Two pages, without their opaque cursors and without hints about speed. */
async function answerTo(query: Query): Promise<Answered> {
  const post = async (more: Query) =>
    succeed(await world.call('POST', `${odd.at}/query`, { ...query, ...more }))
  const pages = [await post({})]
  const { next_cursor: cursor } = pages[0].meta
  if (cursor) pages.push(await post({ offset: undefined, cursor }))
  return {
    ids: pages.flatMap(idsOf),
    meta: pages.map(({ meta: { next_cursor: _cursor, hint: _hint, ...meta } }) => meta),
    bytes: JSON.stringify(pages.map(({ data }) => data)),
  }
}

async function answers(): Promise<Map<Query, Answered>> {
  const all = new Map<Query, Answered>()
  await inParallel(queries, async (query) => all.set(query, await answerTo(query)), 4)
  return all
}

const named = (query: Query) => `${JSON.stringify(query)} (seed ${SEED})`

function expectSame(before: Map<Query, Answered>, after: Map<Query, Answered>) {
  expect(after.size).toBe(queries.length)
  for (const [query, { ids, meta, bytes }] of after) {
    const was = before.get(query)
    expect({ ids, meta }, named(query)).toEqual({ ids: was?.ids, meta: was?.meta })
    expect(bytes === was?.bytes, `the same bytes for ${named(query)}`).toBe(true)
  }
}

/** Writes of every kind to half of the records, in parallel. */
async function rewrite(): Promise<void> {
  const contents = oddContents(SEED + 1, odd.rows.length)
  await inParallel(odd.rows.entries(), async ([index, { id, data }]) => {
    const path = `${odd.at}/${id}`
    const fresh = contents[index] ?? {}
    // Values that the schema refuses can no longer be written.
    const { at: _at, day: _day, times: _times, ...rest } = fresh
    if (index % 6 === 0) succeed(await world.call('DELETE', path))
    if (index % 6 === 1) succeed(await world.call('PUT', path, { data: rest }))
    if (index % 6 === 2)
      succeed(
        await world.call('PUT', `${odd.at}/new-${id}`, { data: { ...rest, at: '2026-01-01T05:00:00Z' } }),
        201,
      )
    if (index % 12 === 3)
      await world.call('PATCH', path, { data: { n: index, at: null, day: null, times: null } })
    if (index % 12 === 9) await world.call('POST', `${path}/${data['b'] === true ? 'cancel' : 'restore'}`)
  })
}

describe('declared indexes', () => {
  test(
    'over existing records give the same answers as no indexes',
    async () => {
      const before = await answers()
      await declare(INDEXES)
      expectSame(before, await answers())
    },
    CASES_TIMEOUT,
  )

  test(
    'maintained by writes give the answers of the reference implementation and of no indexes',
    async () => {
      await rewrite()
      const rows: Row[] = succeed(await world.call('GET', `${odd.at}?limit=1000`)).data
      const kept = await answers()
      for (const [query, { ids }] of kept) {
        const { filter = null, sort = NEWEST, offset = 0, limit } = query as Plain
        const expected = select(rows, odd.rules, filter, sort).map(({ id }) => id)
        expect(ids, named(query)).toEqual(expected.slice(offset, offset + 2 * limit))
      }
      await declare([])
      expectSame(kept, await answers())
    },
    CASES_TIMEOUT,
  )
})

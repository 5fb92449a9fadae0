// @module-tag full
// @module-tag sampled
/** Keyset pagination agrees with one large page despite concurrent writes; a cursor is valid for its own query only. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, times } from '../support/answers.ts'
import { CASES_TIMEOUT } from '../support/cases.ts'
import { forAll } from '../support/for-all.ts'
import type { Json } from '../support/paths.ts'
import { type Row, type Sort, select } from '../support/reference.ts'
import { SEED } from '../support/seed.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'
import { door, filters, sorts } from './queries.ts'
import {
  ask,
  type Door,
  idsOf,
  inParallel,
  loadCountries,
  loadOdd,
  type Query,
  type Sample,
} from './samples.ts'

let world: World
let country: Sample
let odd: Sample
beforeAll(async () => {
  world = await openWorld()
  country = await loadCountries(world.call)
  odd = await loadOdd(world.call, SEED)
}, 600_000)
afterAll(() => world.close())

/** Reads all pages in sequence; `between` runs concurrently with each request. */
async function walk(at: string, query: Query, door: Door, between = async () => {}): Promise<Body[]> {
  const seen: Body[] = []
  for (let cursor: string | undefined; ; ) {
    const [{ data, meta }] = await Promise.all([ask(world.call, at, { ...query, cursor }, door), between()])
    seen.push(...data)
    expect(meta.next_cursor === undefined || meta.next_cursor === null).toBe(!meta.has_more)
    if (!meta.has_more) return seen
    expect(data).toHaveLength(Number(query.limit))
    cursor = meta.next_cursor
  }
}

describe('keyset pagination', () => {
  test.each<[string, number, () => Sample]>([
    ['countries', 30, () => country],
    ['odd records', 50, () => odd],
  ])(
    'over %s adds up to one large page',
    async (_name, count, sampleOf) => {
      const sample = sampleOf()
      const query = fc.record({
        filter: fc.option(filters(sample), { nil: undefined }),
        sort: fc.option(sorts(sample.fields), { nil: undefined }),
        limit: fc.constantFrom(16, 61, 249),
        door,
      })
      await forAll(query, count, async ({ door, limit, ...rest }) => {
        const query = { ...rest, fields: ['id', 'created_at'] }
        const whole = await ask(world.call, sample.at, { ...query, limit: 1000 }, door)
        expect(await walk(sample.at, { ...query, limit }, door)).toEqual(whole.data)
      })
    },
    CASES_TIMEOUT,
  )

  test(
    'returns each unchanged record once and in order despite concurrent writes',
    async () => {
      const moves = fc.record({ kind: fc.constantFrom('put', 'delete'), id: fc.nat(40), rank: fc.nat(60) })
      const scenario = fc.record({
        directions: fc.tuple(fc.constantFrom('asc', 'desc'), fc.constantFrom('asc', 'desc')),
        limit: fc.integer({ min: 4, max: 12 }),
        moves: fc.array(moves, { minLength: 40, maxLength: 80 }),
        door,
      })
      let serial = 0
      await forAll(scenario, 4, async ({ directions, limit, moves, door }) => {
        const type = `moving${++serial}`
        const at = `/v1/crm/records/${type}`
        succeed(await world.call('PUT', `/v1/crm/record-types/${type}`, {}), 201)
        const data = (index: number) => (index % 9 === 0 ? {} : { rank: (index * 7) % 60, kind: index % 2 })
        const still: Row[] = []
        await inParallel(times(150, Number), async (index) => {
          still.push(succeed(await world.call('PUT', `${at}/still-${index}`, { data: data(index) }), 201))
        })
        const left = [...moves]
        let written = 0
        const write = async () => {
          await inParallel(left.splice(0, 4), async ({ kind, id, rank }) => {
            const path = `${at}/moving-${id}`
            const done =
              kind === 'put'
                ? await world.call('PUT', path, { data: { rank, kind: 0 } })
                : await world.call('DELETE', path)
            expect([200, 201, 404]).toContain(done.status)
            written++
          })
        }
        const [first, second] = directions
        const sort: Sort = [
          { field: 'data.rank', direction: first },
          { field: 'data.kind', direction: second },
        ]
        const seen = await walk(at, { sort, limit, fields: ['id'] }, door, write)
        const ids = seen.map(({ id }) => id).filter((id: string) => id.startsWith('still-'))
        expect(ids).toEqual(
          select(still, { timezone: 'UTC', json_schema: {} }, null, sort).map(({ id }) => id),
        )
        expect(written).toBeGreaterThan(15)
      })
    },
    CASES_TIMEOUT,
  )
})

test(
  'offset pagination returns a part of the large page, with the right total and has_more',
  async () => {
    const window = fc.record({
      filter: fc.option(filters(country), { nil: undefined }),
      sort: sorts(country.fields),
      limit: fc.constantFrom(1, 5, 50, 249, 250, 1000),
      offset: fc.constantFrom(0, 1, 49, 200, 249, 250, 251, 5000),
      door,
    })
    await forAll(window, 80, async ({ filter, sort, limit, offset, door }) => {
      const expected = select(country.rows, country.rules, filter ?? null, sort).map(({ id }) => id)
      const page = await ask(
        world.call,
        country.at,
        { filter, sort, limit, offset, fields: ['id'], include_total: true },
        door,
      )
      expect(idsOf(page)).toEqual(expected.slice(offset, offset + limit))
      expect(page.meta).toMatchObject({
        limit,
        offset,
        total: expected.length,
        has_more: offset + limit < expected.length,
      })
    })
  },
  CASES_TIMEOUT,
)

describe('a cursor', () => {
  const FILTER = { field: 'data.region', op: 'eq', value: 'Africa' }
  const QUERY: Query = { filter: FILTER, sort: '-data.area', limit: 10, fields: ['id'] }
  let cursor: string
  let second: Json
  beforeAll(async () => {
    cursor = (await ask(world.call, country.at, QUERY, 'GET')).meta.next_cursor
    second = (await ask(world.call, country.at, { ...QUERY, offset: 10 }, 'GET')).data
  })
  const post = (more: object, at = country.at, call = world.call) =>
    call('POST', `${at}/query`, { ...QUERY, cursor, ...more })

  test('works with GET and POST, with other limits and fields, and repeatedly', async () => {
    for (const door of ['GET', 'POST', 'GET'] as const)
      expect((await ask(world.call, country.at, { ...QUERY, cursor }, door)).data).toEqual(second)
    expect(
      succeed(await post({ limit: 3, fields: ['id', 'version'] })).data.map(({ id }: Body) => ({ id })),
    ).toEqual((second as Json[]).slice(0, 3))
  })

  test.each<[string, object]>([
    ['another filter', { filter: { ...FILTER, value: 'Asia' } }],
    ['no filter', { filter: undefined }],
    ['another sort', { sort: 'data.area' }],
    ['one term more', { sort: '-data.area,id' }],
    ['no sort', { sort: undefined }],
    ['an offset beside it', { offset: 10 }],
  ])('with %s is refused', async (_name, more) => {
    expectFailure(await post(more), 'VALIDATION_ERROR')
  })

  test('is refused for another record type', async () => {
    expectFault(await post({}, odd.at), '/cursor')
  })

  test('grants no permission', async () => {
    const { call } = await world.newToken([{ record_type: 'odd', permission: 'read' }])
    expectFailure(await post({}, country.at, call), 'FORBIDDEN')
    expectFault(await post({}, odd.at, call), '/cursor')
  })

  test(
    'is refused after any change to it, with GET and POST',
    async () => {
      const characters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=.~ %é']
      const other = fc.constantFrom(...characters)
      const position = fc.nat(cursor.length - 1)
      const tampered = fc.oneof(
        fc.tuple(position, other).map(([at, one]) => cursor.slice(0, at) + one + cursor.slice(at + 1)),
        fc.tuple(position, other).map(([at, one]) => cursor.slice(0, at) + one + cursor.slice(at)),
        position.map((length) => cursor.slice(0, length)),
        position.map((from) => cursor.slice(from + 1)),
        fc.tuple(position, position).map(([a, b]) => cursor.slice(0, a) + cursor.slice(b)),
        fc.constant(cursor + cursor),
        fc.string({ maxLength: 200 }),
        fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value)).toString('base64url')),
        fc.uint8Array({ maxLength: 120 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
      )
      const changed = tampered.filter(
        (text) => text !== cursor && text.isWellFormed() && !text.includes('\u0000'),
      )
      await forAll(fc.record({ changed, door }), 300, async ({ changed, door }) => {
        if (door === 'POST') return void expectFault(await post({ cursor: changed }), '/cursor')
        const search = new URLSearchParams({
          filter: JSON.stringify(FILTER),
          sort: '-data.area',
          limit: '10',
          fields: 'id',
          cursor: changed,
        })
        expectFault(await world.call('GET', `${country.at}?${search}`), 'query/cursor')
      })
    },
    CASES_TIMEOUT,
  )
})

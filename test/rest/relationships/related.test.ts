/** GET /related: the records that links lead to, each once, by a shortest path. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed } from '../../support/answers.ts'
import { CASES_TIMEOUT } from '../../support/cases.ts'
import { forAll } from '../../support/for-all.ts'
import {
  breadthFirst,
  DIRECTIONS,
  type Graph,
  linkId,
  nodeId,
  putGraph,
  REL_TYPES,
} from '../../support/graph.ts'
import { SEED } from '../../support/seed.ts'
import type { Call } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

type Item = {
  relationship: { id: string; rel_type: string; source_id: string; target_id: string }
  record: { id: string; record_type: string; data: { n: number; even: boolean } }
  depth: number
  path: string[]
}
type Asked = Record<string, string | number | boolean | object>

const TYPES = ['city', 'town', 'fort']
const NODES = 24

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const at = (base: string, type: string, id: string, asked: Asked = {}) => {
  const query = Object.entries(asked).map(([name, value]) => [
    name,
    typeof value === 'object' ? JSON.stringify(value) : String(value),
  ])
  return `/v1/${base}/records/${type}/${id}/related?${new URLSearchParams(Object.fromEntries(query))}`
}
const related = async (call: Call, base: string, type: string, id: string, asked: Asked = {}) =>
  succeed(await call('GET', at(base, type, id, asked))) as unknown as {
    data: Item[]
    meta: { has_more: boolean; total?: number }
  }
const numbers = (items: readonly Item[]) => items.map(({ record }) => record.data.n)
const sorted = (ns: Iterable<number>) => [...ns].sort((a, b) => a - b)

async function newBase(id: string): Promise<void> {
  succeed(await world.call('PUT', `/v1/bases/${id}`, {}), 201)
  for (const type of TYPES) succeed(await world.call('PUT', `/v1/${id}/record-types/${type}`, {}), 201)
  for (const rel of REL_TYPES)
    succeed(
      await world.call('PUT', `/v1/${id}/relationship-types/${rel}`, {
        source_record_types: ['*'],
        target_record_types: ['*'],
      }),
      201,
    )
}

/** A random graph, dense enough for cycles, with self-links and parallel links of two types. */
function randomGraph(): Graph {
  const node = fc.nat(NODES - 1)
  const graph = fc.record({
    types: fc.array(fc.constantFrom(...TYPES), { minLength: NODES, maxLength: NODES }),
    links: fc.uniqueArray(fc.record({ rel: fc.constantFrom(...REL_TYPES), source: node, target: node }), {
      minLength: 50,
      maxLength: 50,
      selector: linkId,
    }),
  })
  const [drawn] = fc.sample(graph, { seed: SEED, numRuns: 1 })
  if (!drawn) throw new Error('nothing was drawn')
  return drawn
}

describe('related records on a random graph', () => {
  const graph = randomGraph()
  beforeAll(async () => {
    await newBase('graph')
    await putGraph(world.call, 'graph', graph)
  })
  const walks = fc.record({
    start: fc.nat(NODES - 1),
    direction: fc.constantFrom(...DIRECTIONS),
    depth: fc.integer({ min: 1, max: 5 }),
    rel: fc.option(fc.constantFrom(...REL_TYPES)),
  })
  const typeOf = (n: number) => graph.types[n] ?? ''
  const ask = (
    call: Call,
    start: number,
    { direction, depth, rel }: { direction: string; depth: number; rel: string | null },
    more: Asked = {},
  ) =>
    related(call, 'graph', typeOf(start), nodeId(start), {
      direction,
      depth,
      limit: 1000,
      ...(rel !== null && { rel_type: rel }),
      ...more,
    })

  test('a walk finds the same records as breadth-first search, each once at its least depth with a valid path', {
    tags: 'sampled',
    timeout: CASES_TIMEOUT,
  }, async () => {
    const links = new Map(graph.links.map((link) => [linkId(link), link]))
    await forAll(walks, 60, async ({ start, ...walk }) => {
      const { data, meta } = await ask(world.call, start, walk, { include_total: true })
      const expected = breadthFirst(graph, start, walk)
      expect(new Map(data.map(({ record, depth }) => [record.data.n, depth]))).toEqual(expected)
      expect([data.length, meta.total]).toEqual([expected.size, expected.size])
      expect(data.map(({ depth }) => depth)).toEqual(sorted(expected.values()))
      for (const { path, depth, record, relationship } of data) {
        expect([path.length, path.at(-1)]).toEqual([depth, relationship.id])
        let here = start
        for (const id of path) {
          const link = links.get(id)
          const ways = [
            ...(walk.direction !== 'incoming' && link?.source === here ? [link.target] : []),
            ...(walk.direction !== 'outgoing' && link?.target === here ? [link.source] : []),
          ]
          expect(ways.length, `${id} does not leave ${here}`).toBeGreaterThan(0)
          if (walk.rel !== null) expect(link?.rel).toBe(walk.rel)
          here = ways[0] ?? -1
        }
        expect(here).toBe(record.data.n)
      }
    })
  })

  test('record type and filter narrow the results but not the walk, and pages add up to the whole', {
    tags: 'sampled',
    timeout: CASES_TIMEOUT,
  }, async () => {
    const shown = fc.record({
      type: fc.option(fc.constantFrom(...TYPES)),
      even: fc.option(fc.boolean()),
      limit: fc.integer({ min: 1, max: 7 }),
    })
    await forAll(fc.tuple(walks, shown), 40, async ([{ start, ...walk }, { type, even, limit }]) => {
      const narrow: Asked = {
        ...(type !== null && { record_type: type }),
        ...(even !== null && { filter: { field: 'data.even', op: 'eq', value: even } }),
      }
      const expected = [...breadthFirst(graph, start, walk).keys()].filter(
        (n) => (type === null || typeOf(n) === type) && (even === null || (n % 2 === 0) === even),
      )
      const whole = await ask(world.call, start, walk, narrow)
      expect(sorted(numbers(whole.data))).toEqual(sorted(expected))
      const byNumber = await ask(world.call, start, walk, { ...narrow, sort: '-data.n' })
      expect(numbers(byNumber.data)).toEqual(sorted(expected).reverse())
      const paged: Item[] = []
      for (let more = true; more; ) {
        const page = await ask(world.call, start, walk, {
          ...narrow,
          limit,
          offset: paged.length,
          include_total: true,
        })
        expect(page.meta.total).toBe(expected.length)
        paged.push(...page.data)
        more = page.meta.has_more
      }
      expect(paged).toEqual(whole.data)
    })
  })

  test('a walk follows only record types that the token may read', {
    tags: 'sampled',
    timeout: CASES_TIMEOUT,
  }, async () => {
    const { call } = await world.newToken([
      { base: 'graph', record_type: ['city', 'town'], permission: 'read' },
    ])
    const open = (type: string) => type !== 'fort'
    await forAll(walks, 40, async ({ start, ...walk }) => {
      if (typeOf(start) === 'fort')
        return void expectFailure(await call('GET', at('graph', 'fort', nodeId(start))), 'FORBIDDEN')
      const page = await ask(call, start, walk, { include_total: true })
      expect(sorted(numbers(page.data))).toEqual(sorted(breadthFirst(graph, start, walk, open).keys()))
      expect(page.meta.total).toBe(page.data.length)
      expect(JSON.stringify(page)).not.toContain('fort')
    })
  })
})

describe('related records in a small graph', () => {
  beforeAll(async () => {
    await newBase('small')
    // 0 → 1 → 2 → 0, 1 → 1, 0 → 3 (fort) → 4
    await putGraph(world.call, 'small', {
      types: ['city', 'town', 'city', 'fort', 'town'],
      links: [
        { rel: 'road', source: 0, target: 1 },
        { rel: 'road', source: 1, target: 2 },
        { rel: 'road', source: 2, target: 0 },
        { rel: 'rail', source: 1, target: 1 },
        { rel: 'road', source: 0, target: 3 },
        { rel: 'road', source: 3, target: 4 },
      ],
    })
  })
  const ask = (asked: Asked, call = world.call) => related(call, 'small', 'city', 'n0', asked)
  const refuse = async (asked: Asked, path: string, code: string) => {
    const fault = expectFault(await world.call('GET', at('small', 'city', 'n0', asked)), path)
    expect(fault['code']).toBe(code)
    return fault
  }

  test('the defaults are outgoing links and depth 1', async () => {
    const { data } = await ask({})
    expect(sorted(numbers(data))).toEqual([1, 3])
    expect(data.every(({ relationship, depth }) => relationship.source_id === 'n0' && depth === 1)).toBe(true)
  })

  test('a walk around a cycle ends, and its start is not in the results', async () => {
    expect(sorted(numbers((await ask({ depth: 5, rel_type: 'road' })).data))).toEqual([1, 2, 3, 4])
  })

  test('an offset behind the last record is an empty page', async () => {
    const { data } = await ask({ offset: 2 ** 31 - 1 })
    expect(data).toEqual([])
  })

  test('a result has its link and its record as GET by id shows them', async () => {
    const { data } = await ask({ record_type: 'town' })
    const [only] = data
    expect(data).toHaveLength(1)
    expect(only?.relationship).toEqual(succeed(await world.call('GET', '/v1/small/relationships/road-0-1')))
    expect(only?.record).toEqual(succeed(await world.call('GET', '/v1/small/records/town/n1')))
  })

  test('fields select parts of the record and leave the rest of the result', { tags: 'full' }, async () => {
    const { data } = await ask({ record_type: 'town', fields: 'id,data.n' })
    expect(data.map(({ record }) => record)).toEqual([{ id: 'n1', data: { n: 1 } }])
    expect(data[0]?.path).toEqual(['road-0-1'])
  })

  test('a search filter sorts by relevance and adds the score', async () => {
    const note = { data: { n: 1, even: false, note: 'a quiet harbour' } }
    succeed(await world.call('PUT', '/v1/small/records/town/n1', note))
    const { data } = await ask({ depth: 5, filter: { field: 'data', op: 'search', value: 'harbor' } })
    expect(numbers(data)).toEqual([1])
    expect(data[0]?.record).toHaveProperty('_search_score')
  })

  test('a walk does not pass through a type that the token may not read', async () => {
    const { call } = await world.newToken([
      { base: 'small', record_type: ['city', 'town'], permission: 'read' },
    ])
    expect(sorted(numbers((await ask({ depth: 5, direction: 'outgoing' }, call)).data))).toEqual([1, 2])
    expectFailure(await call('GET', at('small', 'city', 'n0', { record_type: 'fort' })), 'FORBIDDEN')
    expectFailure(await call('GET', at('small', 'city', 'n0', { record_type: 'no-such' })), 'FORBIDDEN')
  })

  test('a relationship type that the token may not see is answered like an absent one', async () => {
    const body = { source_record_types: ['city'], target_record_types: ['fort'] }
    succeed(await world.call('PUT', '/v1/small/relationship-types/garrison', body), 201)
    const { call } = await world.newToken([
      { base: 'small', record_type: ['city', 'town'], permission: 'read' },
    ])
    const [hidden, absent] = await Promise.all(
      ['garrison', 'xyzzy-plugh'].map((rel_type) => call('GET', at('small', 'city', 'n0', { rel_type }))),
    )
    expect(hidden?.text).toBe(absent?.text)
    expect(hidden?.body['data']).toEqual([])
    expectFault(await call('GET', at('small', 'city', 'n0', { rel_type: 'raod' })), 'query/rel_type')
  })

  test('invalid parameters are refused by name', async () => {
    expect(await refuse({ rel_type: 'roads' }, 'query/rel_type', 'unknown_relationship_type')).toMatchObject({
      hint: 'road',
    })
    expect(await refuse({ record_type: 'twon' }, 'query/record_type', 'unknown_record_type')).toMatchObject({
      hint: 'town',
    })
    for (const asked of [
      { depth: 0 },
      { depth: 6 },
      { depth: 'two' },
      { direction: 'sideways' },
      { deepth: 2 },
      { cursor: 'x' },
      { limit: 0 },
    ])
      expectFailure(await world.call('GET', at('small', 'city', 'n0', asked)), 'VALIDATION_ERROR')
    expectFailure(await world.call('GET', at('small', 'city', 'absent')), 'NOT_FOUND')
    expectFailure(await world.call('GET', at('small', 'absent', 'n0')), 'NOT_FOUND')
  })

  test('a walk does not follow a deleted link', async () => {
    succeed(await world.call('DELETE', '/v1/small/relationships/road-3-4'))
    expect(numbers((await ask({ depth: 5 })).data)).not.toContain(4)
  })
})

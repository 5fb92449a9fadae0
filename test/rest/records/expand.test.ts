/** Expand: the linked records of each record in an answer, level by level. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, times } from '../../support/answers.ts'
import { CASES_TIMEOUT } from '../../support/cases.ts'
import { forAll } from '../../support/for-all.ts'
import { type Graph, linkId, nodeId, putGraph, REL_TYPES } from '../../support/graph.ts'
import { callTool } from '../../support/mcp.ts'
import { SEED } from '../../support/seed.ts'
import type { Body, Call } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

type Step = { rel: string; incoming: boolean }
type Shown = { id: string; _expanded?: Record<string, { relationship: { id: string }; record: Shown }[]> }

const TYPES = ['city', 'town', 'fort']
const NODES = 14

let world: World
beforeAll(async () => {
  world = await openWorld()
  for (const type of TYPES) succeed(await world.call('PUT', `/v1/crm/record-types/${type}`, {}), 201)
  for (const rel of REL_TYPES) {
    const ends = { source_record_types: ['*'], target_record_types: ['*'] }
    succeed(await world.call('PUT', `/v1/crm/relationship-types/${rel}`, ends), 201)
  }
})
afterAll(() => world.close())

const written = (path: readonly Step[]) => path.map(({ rel, incoming }) => `${incoming ? '~' : ''}${rel}`)
const list = async (call: Call, type: string, expand: string, more = ''): Promise<Shown[]> =>
  succeed(await call('GET', `/v1/crm/records/${type}?limit=1000&sort=id&expand=${expand}${more}`)).data

describe('Expand on a random graph', () => {
  const node = fc.nat(NODES - 1)
  const [graph = { types: [], links: [] }] = fc.sample(
    fc.record({
      types: fc.array(fc.constantFrom(...TYPES), { minLength: NODES, maxLength: NODES }),
      links: fc.uniqueArray(fc.record({ rel: fc.constantFrom(...REL_TYPES), source: node, target: node }), {
        minLength: 30,
        maxLength: 30,
        selector: linkId,
      }),
    }),
    { seed: SEED, numRuns: 1 },
  ) satisfies Graph[]
  beforeAll(() => putGraph(world.call, 'crm', graph))

  /** The expected expansion of a record: for each link its far record, expanded by the rest of the path. */
  function expected(n: number, [step, ...rest]: readonly Step[], open: (type: string) => boolean): unknown {
    if (!step) return undefined
    const { rel, incoming } = step
    const ways = graph.links.flatMap((link) => {
      const [near, far] = incoming ? [link.target, link.source] : [link.source, link.target]
      return link.rel === rel && near === n && open(graph.types[far] ?? '') ? [{ id: linkId(link), far }] : []
    })
    return Object.fromEntries(
      ways.map(({ id, far }) => [id, [nodeId(far), expected(far, rest, open)]] as const),
    )
  }
  /** The expansion in an answer, in the same form. */
  function found(record: Shown, [step, ...rest]: readonly string[]): unknown {
    if (step === undefined) {
      expect(record).not.toHaveProperty('_expanded')
      return undefined
    }
    expect(Object.keys(record._expanded ?? {})).toEqual([step])
    const ways = record._expanded?.[step] ?? []
    return Object.fromEntries(
      ways.map(({ relationship, record }) => [relationship.id, [record.id, found(record, rest)]] as const),
    )
  }
  const paths = fc.array(fc.record({ rel: fc.constantFrom(...REL_TYPES), incoming: fc.boolean() }), {
    minLength: 1,
    maxLength: 3,
  })

  test('returns all links of every record along the path, at every level', {
    tags: 'sampled',
    timeout: CASES_TIMEOUT,
  }, async () => {
    await forAll(fc.tuple(fc.constantFrom(...TYPES), paths), 30, async ([type, path]) => {
      const steps = written(path)
      for (const record of await list(world.call, type, steps.join('.')))
        expect(found(record, steps)).toEqual(expected(Number(record.id.slice(1)), path, () => true))
    })
  })

  test('leaves out types without a grant at every level', {
    tags: 'sampled',
    timeout: CASES_TIMEOUT,
  }, async () => {
    const { call } = await world.newToken([{ record_type: ['city', 'town'], permission: 'read' }])
    await forAll(paths, 20, async (path) => {
      const steps = written(path)
      const records = await list(call, 'city', steps.join('.'))
      for (const record of records)
        expect(found(record, steps)).toEqual(
          expected(Number(record.id.slice(1)), path, (type) => type !== 'fort'),
        )
      expect(JSON.stringify(records)).not.toContain('fort')
    })
  })

  test('is the same in a list, a query, a read by id, GraphQL and the MCP tools', async () => {
    const type = graph.types[0] ?? ''
    const expand = 'road.~rail,~road'
    const [first] = await list(world.call, type, expand)
    const at = `/v1/crm/records/${type}`
    const one = await world.call('GET', `${at}/${first?.id}?expand=${expand}`)
    expect(succeed(one)).toEqual(first)
    expect(Object.keys(first?._expanded ?? {})).toEqual(['road', '~road'])
    const query = { expand: expand.split(','), sort: 'id', limit: 1 }
    expect(succeed(await world.call('POST', `${at}/query`, query)).data).toEqual([first])
    const tool = async (name: string, args: object): Promise<Body> =>
      (await callTool(world, '/mcp/crm', name, { record_type: type, expand: query.expand, ...args })).body
    expect(await tool('get_record', { id: first?.id })).toEqual(first)
    expect((await tool('query_records', { sort: 'id', limit: 1 })).data).toEqual([first])
    const related = await callTool(world, '/mcp/crm', 'get_related', { record_type: type, id: first?.id })
    expect(related.body).toMatchObject({
      data: succeed(await world.call('GET', `${at}/${first?.id}/related`)).data,
    })
    const operation = `query ($type: String!, $id: String!, $expand: [String!]) {
      record(base: "crm", recordType: $type, id: $id, expand: $expand) { expanded expandedTruncated } }`
    const variables = { type, id: first?.id, expand: query.expand }
    expect(
      succeed(await world.call('POST', '/graphql', { query: operation, variables })).data.record,
    ).toEqual({ expanded: first?._expanded, expandedTruncated: null })
  })
})

test('a record with expand has no ETag, since its version does not change with linked records', async () => {
  const at = `/v1/crm/records/city/alone`
  succeed(await world.call('PUT', at, { data: {} }), 201)
  expect((await world.call('GET', at)).headers.get('etag')).toBe('"1"')
  expect((await world.call('GET', `${at}?expand=road`)).headers.get('etag')).toBeNull()
})

test('fields select from the record, not from its expanded records', async () => {
  succeed(await world.call('PUT', '/v1/crm/records/city/narrow', { data: { a: 1, b: 2 } }), 201)
  const filter = encodeURIComponent(JSON.stringify({ field: 'id', op: 'eq', value: 'narrow' }))
  expect(await list(world.call, 'city', 'road', `&fields=data.a&filter=${filter}`)).toEqual([
    { data: { a: 1 }, _expanded: { road: [] } },
  ])
})

test('an expand with an unknown relationship type or more than three levels is refused', async () => {
  const at = '/v1/crm/records/city'
  for (const path of [at, `${at}/alone`]) {
    const unknown = expectFault(await world.call('GET', `${path}?expand=roads`), 'query/expand')
    expect(unknown).toMatchObject({
      code: 'unknown_relationship_type',
      hint: 'road',
      allowed: ['rail', 'road'],
    })
    const deep = expectFault(await world.call('GET', `${path}?expand=road.road.road.road`), 'query/expand')
    expect(deep['code']).toBe('too_deep')
  }
})

test('expand of a hidden relationship type returns the same as one that does not exist', async () => {
  const body = { source_record_types: ['city'], target_record_types: ['fort'] }
  succeed(await world.call('PUT', '/v1/crm/relationship-types/garrison', body), 201)
  const { call } = await world.newToken([{ record_type: ['city', 'town'], permission: 'read' }])
  const texts = await Promise.all(
    ['garrison', 'xyzzyplugh'].map(async (rel) =>
      JSON.stringify(await list(call, 'city', rel)).replaceAll(rel, 'REL'),
    ),
  )
  expect(texts[0]).toBe(texts[1])
  expectFailure(await call('GET', '/v1/crm/records/fort?expand=road'), 'FORBIDDEN')
})

test('an expanded list of over 100 is truncated and marked, and one that is too large in total is refused', {
  tags: 'full',
}, async () => {
  const put = async (type: string, id: string) =>
    void succeed(await world.call('PUT', `/v1/crm/records/${type}/${id}`, { data: {} }), 201)
  succeed(await world.call('PUT', '/v1/crm/record-types/hub', {}), 201)
  succeed(await world.call('PUT', '/v1/crm/record-types/spoke', {}), 201)
  for (const id of ['full', 'even']) await put('hub', id)
  const spokes = times(101, (n) => `s${String(n).padStart(3, '0')}`)
  for (const id of spokes) await put('spoke', id)
  const link = async (hub: string, spoke: string) =>
    void succeed(
      await world.call('POST', '/v1/crm/relationships', {
        ...{ rel_type: 'rail', source_record_type: 'hub', source_id: hub },
        ...{ target_record_type: 'spoke', target_id: spoke },
      }),
      201,
    )
  await Promise.all([
    ...spokes.map((id) => link('full', id)),
    ...spokes.slice(1).map((id) => link('even', id)),
  ])
  const [even, full] = (await list(world.call, 'hub', 'rail')) as (Shown & {
    _expanded_truncated?: string[]
  })[]
  const ids = (hub: Shown | undefined) => hub?._expanded?.['rail']?.map(({ record }) => record.id)
  expect([ids(full), full?._expanded_truncated]).toEqual([spokes.slice(0, 100), ['rail']])
  expect([ids(even), even?._expanded_truncated]).toEqual([spokes.slice(1), undefined])

  const fault = expectFault(
    await world.call('GET', '/v1/crm/records/hub?expand=rail.~rail.rail'),
    'query/expand',
  )
  expect(fault['code']).toBe('too_large')
})

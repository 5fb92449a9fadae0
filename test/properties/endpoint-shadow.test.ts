// @module-tag full
// @module-tag sampled
/** An endpoint answers like a base that contains only what the endpoint shows. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CASES_TIMEOUT } from '../support/cases.ts'
import { forAll } from '../support/for-all.ts'
import { settled } from '../support/indexes.ts'
import { callTool, rpc } from '../support/mcp.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ PLINTH_RATE_LIMIT: '0' })
  succeed(await world.call('PUT', '/v1/bases/shadow', {}), 201)
})
afterAll(() => world.close())

const PROPERTIES = {
  title: { type: 'string' },
  stage: { type: 'string' },
  amount: { type: 'number' },
  secret: { type: 'string' },
  rank: { type: 'number' },
  meta: { type: 'object', properties: { note: { type: 'string' } } },
} as const
type Name = keyof typeof PROPERTIES
const NAMES = Object.keys(PROPERTIES) as Name[]

const WORDS = ['alpha', 'beta', 'gamma canary', 'delta']
const word = fc.constantFrom(...WORDS)
const data = fc.record(
  {
    title: word,
    stage: fc.constantFrom('open', 'won'),
    amount: fc.integer({ min: 0, max: 4 }),
    secret: word,
    rank: fc.integer({ min: 0, max: 4 }),
    meta: fc.record({ note: word }),
  },
  { requiredKeys: ['stage', 'rank'] },
)
const indexes = fc.subarray(
  [
    { fields: ['data.secret'] },
    { fields: ['data.rank'] },
    { fields: ['data.rank', { field: 'data.amount', direction: 'desc' }] },
    { fields: ['data.stage', 'data.secret'] },
    { fields: ['data.meta.note'] },
    { fields: ['data.title'] },
    { fields: ['external_id'], unique: true },
    { fields: ['data.secret', 'external_id'], unique: true },
    { fields: ['data.secret'], type: 'text' },
    { fields: ['data.title'], type: 'text' },
    { fields: ['data'], type: 'text' },
  ],
  { minLength: 3, maxLength: 7 },
)
/** What the endpoint shows: a filter on records and a selection of properties. */
const bounds = fc.constantFrom<object | undefined>(
  undefined,
  { field: 'data.stage', op: 'eq', value: 'open' },
  { field: 'data.rank', op: 'lt', value: 3 },
  {
    or: [
      { field: 'data.secret', op: 'eq', value: 'alpha' },
      { field: 'data.amount', op: 'gte', value: 2 },
    ],
  },
)
const shown = fc.option(fc.subarray(NAMES, { minLength: 1 }))

const field = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...NAMES.map((name) => `data.${name}`)) },
  { weight: 1, arbitrary: fc.constantFrom('data.meta.note', 'data.absent', 'external_id', 'id') },
)
const condition = fc.oneof(
  fc.record({
    field,
    op: fc.constantFrom('eq', 'neq', 'gt', 'gte', 'lt', 'lte'),
    value: fc.oneof(word, fc.constantFrom('open'), fc.integer({ min: 0, max: 4 })),
  }),
  fc.record({
    field,
    op: fc.constantFrom('starts_with', 'ilike', 'search'),
    value: fc.constantFrom('al', 'canary', 'o'),
  }),
  // Only a search may use `data` as a whole while some of it is hidden.
  fc.record({
    field: fc.constant('data'),
    op: fc.constant('search'),
    value: fc.constantFrom('al', 'canary'),
  }),
  fc.record({ field, op: fc.constantFrom('is_null', 'is_not_null') }),
  fc.record({ field, op: fc.constant('in'), value: fc.array(word, { minLength: 1, maxLength: 3 }) }),
)
const filter = fc.oneof(
  { weight: 3, arbitrary: condition as fc.Arbitrary<object> },
  { weight: 2, arbitrary: fc.record({ and: fc.array(condition, { minLength: 1, maxLength: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ or: fc.array(condition, { minLength: 1, maxLength: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ not: condition }) },
)
const sort = fc.tuple(fc.constantFrom('', '-'), field).map(([direction, name]) => `${direction}${name}`)
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })

const reads = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      tool: fc.constant('list_lead'),
      args: fc.record({ filter: maybe(filter), sort: maybe(sort), limit: fc.constantFrom(2, 50) }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      tool: fc.constant('aggregate_lead'),
      args: fc.record({
        filter: maybe(filter),
        group_by: maybe(fc.tuple(field)),
        aggregations: fc
          .tuple(fc.constantFrom('min', 'max', 'count_distinct'), field)
          .map(([fn, name]) => [{ fn: 'count' }, { fn, field: name, alias: 'total' }]),
      }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      tool: fc.constant('related_near'),
      args: fc.record({
        record_type: fc.constant('lead'),
        id: fc.constantFrom('r0', 'r1', 'r2'),
        direction: fc.constantFrom('outgoing', 'incoming', 'both'),
        depth: fc.constantFrom(1, 3),
        filter: maybe(filter),
      }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      tool: fc.constant('get_lead'),
      args: fc.record({ id: fc.constantFrom('r0', 'r3', 'none') }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ resource: filter }) },
  { weight: 1, arbitrary: fc.record({ completion: fc.constantFrom('', 'r', 'r3') }) },
)
type Read = { tool: string; args: object } | { resource: object } | { completion: string }

test(
  'every read through an endpoint is answered as by a base that contains only what the endpoint shows',
  async () => {
    const cases = fc.record({
      rows: fc.array(data, { minLength: 8, maxLength: 8 }),
      links: fc.array(fc.tuple(fc.nat(7), fc.nat(7)), { maxLength: 8 }),
      isClosed: fc.boolean(),
      indexes,
      bounds,
      shown,
      asked: fc.array(reads as fc.Arbitrary<Read>, { minLength: 10, maxLength: 20 }),
    })
    let serial = 0
    await forAll(cases, 16, async (drawn) => {
      const base = `real${++serial}`
      const shade = `shade${serial}`
      const rows = drawn.rows.map((each, n) => ({ id: `r${n}`, external_id: `x${n}`, data: each as Row }))
      await fill(base, {
        names: NAMES,
        isClosed: drawn.isClosed,
        indexes: drawn.indexes,
        rows,
        links: drawn.links.map(([from, to]) => [`r${from}`, `r${to}`]),
      })
      const { data: visible } = succeed(
        await world.call('POST', `/v1/${base}/records/lead/query`, { filter: drawn.bounds, sort: 'id' }),
      )
      const ids: string[] = visible.map(({ id }: Body) => id)
      const names = drawn.shown ?? NAMES
      await fill(shade, {
        names,
        isClosed: drawn.isClosed || drawn.shown !== null,
        indexes: [],
        rows: rows
          .filter(({ id }) => ids.includes(id))
          .map((row) => ({ ...row, data: pick(row.data, names) })),
        links: drawn.links
          .map(([from, to]) => [`r${from}`, `r${to}`] as const)
          .filter((ends) => ends.every((end) => ids.includes(end))),
      })
      await publish(base, { filter: drawn.bounds, fields: drawn.shown?.map((name) => `data.${name}`) })
      await publish(shade, {})
      for (const read of drawn.asked) {
        const [real, expected] = [await answerOf(base, read), await answerOf(shade, read)]
        expect(real, JSON.stringify(read)).toEqual(expected)
      }
    })
  },
  CASES_TIMEOUT,
)

type Row = Record<string, unknown>
type Content = {
  names: readonly Name[]
  isClosed: boolean
  indexes: readonly object[]
  rows: readonly { id: string; external_id: string; data: Row }[]
  links: readonly (readonly [string, string])[]
}

const pick = (row: Row, names: readonly string[]): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => names.includes(name)))

async function fill(
  base: string,
  { names, isClosed, indexes: declared, rows, links }: Content,
): Promise<void> {
  succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
  const json_schema = {
    type: 'object',
    properties: pick(PROPERTIES, names),
    ...(isClosed && { additionalProperties: false }),
  }
  succeed(await world.call('PUT', `/v1/${base}/record-types/lead`, { json_schema, indexes: declared }), 201)
  succeed(await world.call('PUT', `/v1/${base}/relationship-types/near`, {}), 201)
  await settled(world, 'lead', base)
  const operations = [
    ...rows.map((row) => ({ type: 'create_record', record_type: 'lead', ...row })),
    ...[...new Map(links.map((ends) => [ends.join(), ends])).values()].map(([source, target]) => ({
      type: 'upsert_relationship',
      rel_type: 'near',
      source_record_type: 'lead',
      source_id: source,
      target_record_type: 'lead',
      target_id: target,
    })),
  ]
  if (operations.length > 0) succeed(await world.call('POST', `/v1/${base}/batch`, { operations }))
}

const publish = async (base: string, selection: object): Promise<void> =>
  void succeed(
    await world.call('PUT', `/v1/${base}/endpoints/desk`, {
      tools: [{ record_type: 'lead', operations: ['get', 'list', 'aggregate'], ...selection }],
      relationships: [{ rel_type: 'near', operations: ['related'] }],
      resources: true,
    }),
    201,
  )

/** The answer without what differs between two bases: names, times, ids of links and cursors. */
async function answerOf(base: string, read: Read): Promise<unknown> {
  const at = `/mcp/${base}/e/desk`
  const known = (value: unknown) => comparable(value, base)
  if ('tool' in read) {
    const { body, error, rpcError } = await callTool(world, at, read.tool, { ...read.args })
    return known({ body, error, rpcError })
  }
  if ('resource' in read) {
    const uri = `plinth://${base}/records/lead?filter=${encodeURIComponent(JSON.stringify(read.resource))}`
    const { result, error } = (await rpc(world, at, 'resources/read', { uri })).body
    return known({ body: result && JSON.parse(result.contents[0].text), error })
  }
  const { result, error } = (
    await rpc(world, at, 'completion/complete', {
      ref: { type: 'ref/resource', uri: `plinth://${base}/records/{type}/{id}` },
      argument: { name: 'id', value: read.completion },
      context: { arguments: { type: 'lead' } },
    })
  ).body
  return known({ body: result?.completion, error })
}

const VARYING = new Set([
  'created_at',
  'updated_at',
  'request_id',
  'next_cursor',
  'prev_cursor',
  'next',
  'uri',
])

function comparable(value: unknown, base: string): unknown {
  const text = JSON.stringify(value ?? null, (key, each: unknown) => {
    if (VARYING.has(key) && each !== null) return 'varies'
    // Only the base of the endpoint has indexes, and a slow machine makes any list slow.
    if (key === 'hint' && typeof each === 'string' && each.startsWith('This list took')) return undefined
    if (key === 'allowed' && Array.isArray(each)) return [...each].sort()
    if (key === 'relationship' || key === 'path') return typeof each === 'string' ? each : 'varies'
    return each
  })
  return JSON.parse(text.replaceAll(base, 'base'))
}

import { afterAll, beforeAll, expect, test } from 'vitest'
import { plinth } from '../../cli/plinth.ts'
import { expectFailure, expectFault, sleep, succeed } from '../../support/answers.ts'
import { callTool } from '../../support/mcp.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let type: string
let before: string
let middle: string
const aggregations = [{ fn: 'count' }, { fn: 'sum', field: 'data.n' }]
const at = (id: string) => `/v1/crm/records/${type}/${id}`
const moment = async () => {
  await sleep(3)
  const now = new Date().toISOString()
  await sleep(3)
  return now
}

beforeAll(async () => {
  world = await openWorld()
  type = await world.newType({
    indexes: [{ fields: ['data.stage'] }, { fields: ['data.text'], type: 'text' }],
  })
  before = await moment()
  const put = (id: string, data: object) => world.call('PUT', at(id), { data })
  for (const [id, n, stage] of [
    ['a', 1, 'open'],
    ['b', 2, 'open'],
    ['c', 4, 'won'],
  ] as const)
    succeed(await put(id, { n, stage, text: `word ${id}` }), 201)
  middle = await moment()
  succeed(await put('a', { n: 8, stage: 'won', text: 'other' }))
  succeed(await world.call('DELETE', at('b')))
  succeed(await put('d', { n: 16, stage: 'open' }), 201)
  succeed(await world.call('POST', `${at('c')}/cancel`))
})
afterAll(() => world.close())

const aggregate = (body: Body) =>
  world.call('POST', `/v1/crm/records/${type}/aggregate`, { aggregations, ...body })
const rows = async (body: Body) => succeed(await aggregate(body)).data

test('an aggregate as_of a moment counts the records as they were then', async () => {
  const byStage = { group_by: ['data.stage'] }
  const then = [
    { 'data.stage': 'open', count: 2, sum_n: 3 },
    { 'data.stage': 'won', count: 1, sum_n: 4 },
  ]
  expect(await rows({ ...byStage, as_of: middle })).toEqual(then)
  expect(await rows({ ...byStage, as_of: before })).toEqual([])
  expect(await rows({ as_of: before })).toEqual([{ count: 0, sum_n: null }])
  const now = [
    { 'data.stage': 'open', count: 1, sum_n: 16 },
    { 'data.stage': 'won', count: 2, sum_n: 12 },
  ]
  expect(await rows({ ...byStage, as_of: new Date().toISOString() })).toEqual(now)
  expect(await rows(byStage)).toEqual(now)
})

test('filter, status, search, having, sort and pages of an aggregate apply to the state at that time', async () => {
  const open = { field: 'data.stage', op: 'eq', value: 'open' }
  expect(await rows({ as_of: middle, filter: open })).toEqual([{ count: 2, sum_n: 3 }])
  const cancelled = { field: 'status', op: 'eq', value: 'cancelled' }
  expect(await rows({ as_of: middle, filter: cancelled })).toMatchObject([{ count: 0 }])
  expect(await rows({ filter: cancelled })).toMatchObject([{ count: 1 }])
  const word = { field: 'data.text', op: 'search', value: 'word' }
  expect(await rows({ as_of: middle, filter: word })).toMatchObject([{ count: 3 }])
  const paged = await aggregate({
    ...{ as_of: middle, group_by: ['data.stage'], sort: '-count', limit: 1, include_total: true },
    having: { field: 'count', op: 'gt', value: 0 },
  })
  expect(succeed(paged)).toMatchObject({
    data: [{ 'data.stage': 'open' }],
    meta: { has_more: true, total: 2 },
  })
})

test('GraphQL, aggregate_records and plinth aggregate take the moment too', { tags: 'full' }, async () => {
  const query = `{ aggregate(base: "crm", recordType: "${type}", aggregations: [{fn: "count"}], asOf: "${middle}") { rows } }`
  const graphql = await world.call('POST', '/graphql', { query })
  expect(graphql.body.data.aggregate.rows).toEqual([{ count: 3 }])
  const args = { record_type: type, aggregations, as_of: middle }
  const { body } = await callTool(world, '/mcp/crm', 'aggregate_records', args, { token: world.adminToken })
  expect(body.data).toEqual([{ count: 3, sum_n: 7 }])
  const settings = { PLINTH_URL: world.url, PLINTH_TOKEN: world.adminToken, PLINTH_BASE: 'crm' }
  const asked = ['aggregate', type, '--fn', 'count', '--fn', 'sum:data.n', '--group-by', 'data.stage']
  const past = await plinth([...asked, '--as-of', middle, '--sort=-count'], settings)
  expect(past).toEqual({ code: 0, out: 'data.stage\tcount\tsum_n\nopen\t2\t3\nwon\t1\t4\n', err: '' })
  const yearly = await plinth(
    ['aggregate', type, '--fn', 'count', '--group-by', 'created_at:year', '--json'],
    settings,
  )
  expect(JSON.parse(yearly.out).data).toMatchObject([{ count: 3 }])
  expect(await plinth(['aggregate', type, '--fn', 'median:data.n'], settings)).toMatchObject({
    code: 2,
    out: '',
  })
})

test('a moment that is no time, or before the history that is kept, is refused', async () => {
  expectFault(await aggregate({ as_of: 'yesterday' }), '/as_of')
  expectFault(await aggregate({ as_of: '2026-01-31T09:30:00 02:00' }), '/as_of')
  await world.database.query(
    `INSERT INTO plinth.retention (base_id, history_from) VALUES ('crm', now() + interval '1 hour')
     ON CONFLICT (base_id) DO UPDATE SET history_from = excluded.history_from`,
    [],
  )
  const { details } = expectFailure(await aggregate({ as_of: middle }), 'VALIDATION_ERROR')
  expect(details[0].code).toBe('history_purged')
  await world.database.query('DELETE FROM plinth.retention', [])
})

test('an endpoint with a filter does not take a moment', { tags: 'full' }, async () => {
  const tools = [
    {
      record_type: type,
      operations: ['aggregate'],
      filter: { field: 'data.stage', op: 'eq', value: 'open' },
    },
  ]
  succeed(await world.call('PUT', '/v1/crm/endpoints/bounded', { tools }), 201)
  const call = (more: Body) =>
    callTool(
      world,
      '/mcp/crm/e/bounded',
      `aggregate_${type}`,
      { aggregations, ...more },
      { token: world.adminToken },
    )
  expect((await call({})).body.data).toEqual([{ count: 1, sum_n: 16 }])
  expect((await call({ as_of: middle })).error.code).toBe('VALIDATION_ERROR')
})

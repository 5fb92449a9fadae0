/** Null for an argument of a generic tool counts as absent, where null has no meaning. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { callTool, rpc } from '../support/mcp.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', {}), 201)
  succeed(await world.call('PUT', '/v1/crm/records/deal/d1', { data: { stage: 'won', note: 'n' } }), 201)
  const ends = { source_record_types: ['deal'], target_record_types: ['deal'] }
  succeed(await world.call('PUT', '/v1/crm/relationship-types/near', ends), 201)
})
afterAll(() => world.close())

const of = { record_type: 'deal' }
const CALLS: [string, Record<string, unknown>][] = [
  ['query_records', of],
  ['get_record', { ...of, id: 'd1' }],
  ['aggregate_records', { ...of, aggregations: [{ fn: 'count' }] }],
  ['describe_type', of],
  ['get_related', { ...of, id: 'd1' }],
  ['record_history', { ...of, id: 'd1' }],
  ['sql_query', { query: 'SELECT count(*) AS n FROM deal' }],
  ['upsert_record', { ...of, id: 'd2', data: { stage: 'new' } }],
  ['update_record', { ...of, id: 'd2', data: { stage: 'old' } }],
  ['batch', { operations: [{ type: 'upsert_record', ...of, id: 'd3', data: {} }] }],
]

test('the calls below cover tools with optional arguments of each kind', async () => {
  const { tools } = (await rpc(world, '/mcp/crm', 'tools/list')).body.result
  const names = tools.map(({ name }: Body) => name)
  for (const [name] of CALLS) expect(names).toContain(name)
})

test.each(CALLS)('%s with null for every optional argument answers as without them', async (name, args) => {
  const { tools } = (await rpc(world, '/mcp/crm', 'tools/list')).body.result
  const { inputSchema } = tools.find((tool: Body) => tool['name'] === name)
  const required: string[] = inputSchema.required ?? []
  const optional = Object.keys(inputSchema.properties).filter(
    (each) => !required.includes(each) && !(each in args),
  )
  expect(optional.length).toBeGreaterThan(0)
  const nulls = Object.fromEntries(optional.map((each) => [each, null]))
  const plain = await callTool(world, '/mcp/crm', name, args)
  expect(plain.error, JSON.stringify(plain.error)).toBeUndefined()
  const strict = await callTool(world, '/mcp/crm', name, { ...args, ...nulls })
  expect(strict.error, JSON.stringify(strict.error)).toBeUndefined()
  expect(Object.keys(strict.body).sort()).toEqual(Object.keys(plain.body).sort())
})

describe('Null', () => {
  const call = (name: string, args: Record<string, unknown>) => callTool(world, '/mcp/crm', name, args)

  test('for a required or an unknown argument is refused', async () => {
    expect((await call('query_records', { record_type: null })).error.details[0].path).toBe('/record_type')
    expect((await call('query_records', { ...of, bogus: null })).error.details[0]).toMatchObject({
      path: '/bogus',
      code: 'unknown_key',
    })
    expect((await call('upsert_record', { ...of, id: 'd4', data: null })).error.details[0].path).toBe('/data')
  })

  test('inside data keeps its meaning: a patch removes the property', async () => {
    const { body } = await call('update_record', { ...of, id: 'd1', data: { note: null } })
    expect(body['data']).toEqual({ stage: 'won' })
    const put = await call('upsert_record', { ...of, id: 'd5', data: { note: null } })
    expect(put.body['data']).toEqual({ note: null })
  })

  test('in a condition keeps its meaning', async () => {
    const filter = { field: 'data.note', op: 'eq', value: null }
    const { body } = await call('query_records', { ...of, filter, fields: null, sort: null })
    expect(body['data'].map(({ id }: Body) => id)).toContain('d1')
  })

  test('for base_id at the address of all bases is refused', async () => {
    const { error } = await callTool(world, '/mcp', 'query_records', { ...of, base_id: null })
    expect(error.details[0].path).toBe('/base_id')
  })
})

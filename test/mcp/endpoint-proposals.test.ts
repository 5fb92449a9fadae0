// @module-tag full
/** A token that proposes, at an endpoint: its tools write into the change-set of the token, within the policy of the endpoint. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { callTool, rpc } from '../support/mcp.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

const PATH = '/mcp/crm/e/desk'
let world: World
beforeAll(async () => {
  world = await openWorld()
  const properties = { team: { type: 'string' }, n: { type: 'integer' } }
  for (const type of ['deal', 'note'])
    succeed(await world.call('PUT', `/v1/crm/record-types/${type}`, { json_schema: { properties } }), 201)
  const ends = { source_record_types: ['deal'], target_record_types: ['note'] }
  succeed(await world.call('PUT', '/v1/crm/relationship-types/about', ends), 201)
  const operations = ['get', 'list', 'create', 'update', 'delete', 'claim', 'attach', 'history']
  const filter = { field: 'data.team', op: 'eq', value: 'a' }
  const tools = [
    { record_type: 'deal', operations, filter },
    { record_type: 'note', operations: ['get', 'create'] },
  ]
  const relationships = [{ rel_type: 'about', operations: ['link', 'unlink', 'related'] }]
  succeed(
    await world.call('PUT', '/v1/crm/endpoints/desk', {
      tools,
      relationships,
      batch: { enabled: true },
      undo: true,
    }),
    201,
  )
  for (const [id, team] of [
    ['mine', 'a'],
    ['theirs', 'b'],
  ])
    succeed(await world.call('PUT', `/v1/crm/records/deal/${id}`, { data: { team, n: 1 } }), 201)
})
afterAll(() => world.close())

const newAgent = async (more: object = {}) => {
  const { token, call } = await world.newToken([{ permission: 'write', writes: 'propose', ...more }])
  const run = (name: string, args: Record<string, unknown>) => callTool(world, PATH, name, args, { token })
  return { token, call, run }
}
const inProduction = async () =>
  (
    await world.database.query<{ rows: string }>(
      `SELECT (SELECT md5(string_agg(r::text, '' ORDER BY id)) FROM plinth.record r) || (SELECT count(*) FROM plinth.relationship)
       || (SELECT count(*) FROM plinth.claim) || (SELECT count(*) FROM plinth.attachment) AS rows`,
      [],
    )
  )[0]?.rows
const namesOf = async (token: string, path = PATH): Promise<string[]> =>
  (await rpc(world, path, 'tools/list', {}, { token })).body.result.tools.map(({ name }: Body) => name)

test('it is offered what can be proposed', async () => {
  const { token } = await newAgent()
  const names = await namesOf(token)
  for (const name of ['create_deal', 'update_deal', 'delete_deal', 'create_note', 'get_deal', 'batch'])
    expect(names).toContain(name)
  for (const name of ['claim_deal', 'attach_deal', 'undo']) expect(names).not.toContain(name)
  expect(
    (await namesOf(token, `${PATH}?readonly=1`)).filter((name) => /create|update|batch/.test(name)),
  ).toEqual([])
  const half = await newAgent({ record_type: ['deal'] })
  expect(await namesOf(half.token)).not.toContain('create_note')
})

test('it writes and reads its change-set, and nothing of production', async () => {
  const { run, call } = await newAgent()
  const before = await inProduction()
  const updated = await run('update_deal', { id: 'mine', n: 2 })
  expect(updated.error).toBeUndefined()
  const set = updated.body.change_set
  expect(set).toMatch(/^crm--p-/)
  const made = await run('create_deal', { team: 'a', n: 3 })
  expect(made.body.change_set).toBe(set)
  const note = await run('create_note', {})
  const operations = [{ type: 'create_record', record_type: 'deal', data: { team: 'a', n: 4 } }]
  expect((await run('batch', { operations })).body.change_set).toBe(set)
  expect((await run('link_about', { source_id: 'mine', target_id: note.body.id })).error).toBeUndefined()
  expect((await run('get_deal', { id: 'mine' })).body.data).toMatchObject({ n: 2 })
  expect(JSON.stringify((await run('list_deal', {})).body)).toContain(made.body.id)
  expect(succeed(await call('GET', '/v1/crm/records/deal/mine')).data.n).toBe(2)
  const { changes } = succeed(await world.call('POST', '/v1/crm/promote/proposal', { from: set }))
  expect(changes).toHaveLength(5)
  expect(await inProduction()).toBe(before)
})

test('the policy of the endpoint bounds what it proposes', async () => {
  const { run, call } = await newAgent()
  const before = await inProduction()
  const refused = [
    await run('update_deal', { id: 'theirs', n: 9 }),
    await run('update_deal', { id: 'mine', team: 'b' }),
    await run('create_deal', { team: 'b' }),
    await run('delete_deal', { id: 'theirs' }),
    await run('claim_deal', { id: 'mine' }),
    await run('attach_deal', { id: 'mine', name: 'x.txt', content: 'x' }),
    await run('undo', {}),
  ]
  for (const [n, { error, rpcError }] of refused.entries())
    expect(error ?? rpcError, `call ${n}`).toBeDefined()
  expect(succeed(await call('GET', '/v1/crm/previews')).data).not.toContainEqual(
    expect.objectContaining({ change_set: expect.objectContaining({ revision: 0 }) }),
  )
  expect(await inProduction()).toBe(before)
})

test('its GraphQL proposes too, within the same policy', async () => {
  const { call, run } = await newAgent()
  const ask = async (query: string) => (await call('POST', '/graphql/crm/e/desk', { query })).body
  const before = await inProduction()
  const previews = async () =>
    succeed(await world.call('GET', '/v1/crm/previews')).data.map(({ id }: Body) => id)
  const opened = await previews()
  expect((await ask('{ deal(id: "mine") { n } }')).data.deal.n).toBe(1)
  const refused = [
    'updateDeal(id: "theirs", data: { n: 9 }) { deal { n } }',
    'updateDeal(id: "mine", data: { team: "b" }) { deal { n } }',
    'createDeal(data: { team: "b" }) { deal { n } }',
    'deleteDeal(id: "theirs") { deleted }',
    'claimDeal(id: "mine") { claim { id } }',
    '_undo { count }',
  ]
  for (const field of refused) expect((await ask(`mutation { ${field} }`)).errors, field).toBeDefined()
  expect(await previews()).toEqual(opened)
  const { data, errors } = await ask('mutation { updateDeal(id: "mine", data: { n: 5 }) { deal { n } } }')
  expect(errors).toBeUndefined()
  expect(data.updateDeal.deal.n).toBe(5)
  expect((await ask('{ deal(id: "mine") { n } dealRecords { nodes { id n } } }')).data).toEqual({
    deal: { n: 5 },
    dealRecords: { nodes: [{ id: 'mine', n: 5 }] },
  })
  const tool = await run('update_deal', { id: 'mine', n: 6 })
  expect((await ask('{ deal(id: "mine") { n } }')).data.deal.n).toBe(6)
  const { changes } = succeed(
    await world.call('POST', '/v1/crm/promote/proposal', { from: tool.body.change_set }),
  )
  expect(changes).toHaveLength(1)
  expect(await inProduction()).toBe(before)
})

test('a grant of the endpoint that writes does so directly', async () => {
  const { token } = await world.newToken([{ base: 'crm', endpoint: 'desk', permission: 'write' } as never])
  const done = await callTool(world, PATH, 'update_deal', { id: 'mine', n: 7 }, { token })
  expect(done.body.change_set).toBeUndefined()
  expect(succeed(await world.call('GET', '/v1/crm/records/deal/mine')).data.n).toBe(7)
})

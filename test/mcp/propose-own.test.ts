// @module-tag full
/** The tool propose of a token that proposes: without `from`, it is about what the token wrote. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { callTool, rpc } from '../support/mcp.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', {}), 201)
})
afterAll(() => world.close())

test('it asks, and reads the answer, without the name of the change-set', async () => {
  const { token } = await world.newToken([{ permission: 'write', writes: 'propose' }])
  const propose = (args: Record<string, unknown>, as = token) =>
    callTool(world, '/mcp/crm', 'propose', args, { token: as })
  expect((await propose({})).error.details[0]).toMatchObject({ path: '/from', code: 'required' })
  const made = await callTool(world, '/mcp/crm', 'create_deal', { n: 1 }, { token })
  const from = made.body.change_set
  expect((await propose({})).body).toMatchObject({ from, summary: { create: 1, update: 0, delete: 0 } })
  expect((await propose({ submit: true })).body).toMatchObject({ from, review_request: { state: 'open' } })
  succeed(await world.call('POST', '/v1/crm/promote', { from }))
  expect((await propose({})).body).toMatchObject({ from, status: 'merged' })
  // What it writes next is in another one, which it then asks about.
  const next = (await callTool(world, '/mcp/crm', 'create_deal', { n: 2 }, { token })).body.change_set
  expect(next).not.toBe(from)
  expect((await propose({})).body.from).toBe(next)
  // Another token names what it asks about.
  expect((await propose({}, world.adminToken)).error.details[0]).toMatchObject({ code: 'required' })
})

test('the first line of a write says how much was proposed, where the answer says so', async () => {
  const { token } = await world.newToken([{ permission: 'write', writes: 'propose' }])
  succeed(await world.call('PUT', '/v1/crm/relationship-types/near', {}), 201)
  const lineOf = async (tool: string, args: Record<string, unknown>) =>
    (await callTool(world, '/mcp/crm', tool, args, { token })).text.split('\n')[0]
  const made = await callTool(
    world,
    '/mcp/crm',
    'upsert_record',
    { record_type: 'deal', id: 'p1', data: {} },
    { token },
  )
  const line = (what: string) =>
    `Proposed in ${made.body.change_set}${what}. Others see it once a person has promoted it.`
  expect(made.text.split('\n')[0]).toBe(line(' (1 record)'))
  const deal = (id: string) => ({ record_type: 'deal', id })
  const link = { rel_type: 'near', source_record_type: 'deal', source_id: 'p1', target_record_type: 'deal' }
  const create = (id: string) => ({ type: 'create_record', ...deal(id), data: {} })
  const linked = { type: 'upsert_relationship', ...link, target_id: 'p2' }
  expect(await lineOf('batch', { operations: [create('p2'), create('p3'), linked] })).toBe(
    line(' (2 records, 1 link)'),
  )
  expect(await lineOf('link_records', { ...link, target_id: 'p3' })).toBe(line(' (1 link)'))
  expect(await lineOf('upsert_record', { ...deal('p1'), data: {} })).toBe(line(' (0 records)'))
  const statements = "INSERT INTO deal (id) VALUES ('p4'), ('p5'); SELECT id FROM deal"
  expect(await lineOf('sql_write', { statements })).toBe(line(' (2 records)'))
  // What goes along with a deletion is in no answer, and a dry run proposes nothing.
  expect(await lineOf('delete_record', deal('p4'))).toBe(line(''))
  expect(await lineOf('cancel_record', { ...deal('p5'), dry_run: true })).not.toContain('Proposed')
})

test('it is listed for a token whose work ends with it, and not for one that writes directly', async () => {
  const listed = async (path: string, token: string): Promise<string[]> =>
    (await rpc(world, path, 'tools/list', undefined, { token })).body.result.tools.map(
      ({ name }: { name: string }) => name,
    )
  const { token } = await world.newToken([{ permission: 'write', writes: 'propose' }])
  const rules = {
    auto: [{ record_type: 'deal', operations: ['update' as const], max: 1, per: 'day' as const }],
  }
  const bounded = await world.newToken([{ permission: 'write', writes: rules }])
  const direct = await world.newToken([{ permission: 'write' }])
  for (const each of [token, bounded.token]) expect(await listed('/mcp/crm', each)).toContain('propose')
  // It takes little room there: what else it takes is listed where an address names it.
  const argumentsAt = async (path: string) => {
    const { tools } = (await rpc(world, path, 'tools/list', undefined, { token })).body.result
    const found = tools.find(({ name }: { name: string }) => name === 'propose')
    return Object.keys(found.inputSchema.properties)
  }
  expect(await argumentsAt('/mcp/crm')).toEqual(['submit', 'title', 'comment', 'max_tokens'])
  expect(await argumentsAt('/mcp/crm?tools=propose')).toEqual(expect.arrayContaining(['from', 'resources']))
  // What is not listed is taken all the same.
  const made = await callTool(world, '/mcp/crm', 'create_deal', { n: 3 }, { token })
  const from = made.body.change_set
  const shown = await callTool(world, '/mcp/crm', 'propose', { from, resources: [] }, { token })
  expect(shown.body).toMatchObject({ from, changes: [] })
  for (const [path, each] of [
    ['/mcp/crm', direct.token],
    ['/mcp/crm', world.adminToken],
    ['/mcp/crm?profile=lean', token],
  ] as const)
    expect(await listed(path, each)).not.toContain('propose')
})

// @module-tag full
/** The tool calls of a session, run again in a change-set. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { callTool } from '../support/mcp.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'
import { plinth, type Settings } from './plinth.ts'

let world: World
let settings: Settings
let made: Body
beforeAll(async () => {
  world = await openWorld()
  settings = { PLINTH_URL: world.url, PLINTH_TOKEN: world.adminToken, PLINTH_BASE: 'crm' }
  succeed(await world.call('PUT', '/v1/bases/crm', { settings: { call_arguments: true } }))
  const text = { type: 'string' }
  const deal = { json_schema: { properties: { title: text, stage: text, of: text } } }
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', deal), 201)
  const follows = { source_record_types: ['deal'], target_record_types: ['deal'] }
  succeed(await world.call('PUT', '/v1/crm/relationship-types/follows', follows), 201)
  for (const id of ['d1', 'd2', 'd3']) await put(id, { title: id, stage: 'new' })
  // A link that goes with a deleted record.
  succeed(await world.call('PUT', '/v1/crm/relationships', { ...link, source_id: 'd3' }), 201)
  made = await session()
})
afterAll(() => world.close())

const put = async (id: string, data: object) =>
  void (await world.call('PUT', `/v1/crm/records/deal/${id}`, { data }))
const link = {
  ...{ rel_type: 'follows', source_record_type: 'deal', target_record_type: 'deal', target_id: 'd1' },
}

/** What an agent does: it makes a deal under an id of the server, changes it, links it, deletes another one, and fails. */
async function session(): Promise<Body> {
  const { token } = await world.newToken(
    [{ base: 'crm', record_type: '*', environment: '*', permission: 'write' }],
    { name: 'bad-day' },
  )
  const call = async (name: string, args: Record<string, unknown>): Promise<Body> =>
    (await callTool(world, '/mcp/crm', name, args, { token })).body
  const made = await call('create_deal', { title: 'New', stage: 'new' })
  const id = made['id']
  await call('update_record', { record_type: 'deal', id, data: { stage: 'won' }, expected_version: 1 })
  await call('link_records', { ...link, source_id: id })
  await call('update_deal', { id: 'd1', stage: 'won', of: id })
  await call('query_records', { record_type: 'deal' })
  await call('update_deal', { id: 'absent', stage: 'won' })
  await call('create_nothing', {})
  const plan = await call('sql_write', { statements: `DELETE FROM deal WHERE id IN ('d2', 'd3')` })
  const done = await call('sql_write', { plan_token: plan['plan_token'] })
  expect(done['meta'].count).toBe(2)
  return { id, token }
}

const replay = async (more: readonly string[]) => {
  const run = await plinth(['replay', '--actor', 'bad-day', ...more, '--json'], settings)
  return { ...run, body: run.out === '' ? null : JSON.parse(run.out) }
}

test('on the state that the session found, it ends as the session did, whatever came later', async () => {
  await put('d1', { title: 'd1', stage: 'later' })
  const { code, body, err } = await replay(['--into', 'crm--then'])
  expect(body, err).toMatchObject({
    into: 'crm--then',
    state: 'then',
    repeated: 7,
    outcomes: [],
    differences: [],
  })
  expect(body.left).toEqual([
    { tool: 'query_records', reason: 'changed nothing', count: 1 },
    { tool: 'sql_write', reason: 'changed nothing', count: 1 },
  ])
  expect(code).toBe(0)
  // Under an id of its own, which the later calls have named.
  const { data } = succeed(await world.call('GET', '/v1/crm--then/records/deal'))
  const again = data.find((each: Body) => each['data'].title === 'New')
  expect(again).toMatchObject({ data: { stage: 'won' } })
  expect(again.id).not.toBe(made['id'])
  expect(data.find((each: Body) => each['id'] === 'd1').data).toMatchObject({ stage: 'won', of: again.id })
  const links = succeed(await world.call('GET', '/v1/crm--then/relationships')).data
  expect(links.map((each: Body) => each['source_id'])).toEqual([again.id])
  const live = succeed(await world.call('GET', '/v1/crm/records/deal/d1'))
  expect(live.data.stage).toBe('later')
  const used = await replay(['--into', 'crm--then'])
  expect(used).toMatchObject({ code: 64, err: expect.stringContaining('is used already') })
})

test('on the state of now, it says row by row where it ends otherwise', { tags: 'full' }, async () => {
  await put('absent', { title: 'there', stage: 'new' })
  const { code, body, err } = await replay(['--state', 'now'])
  expect(code, err).toBe(2)
  expect(body.outcomes).toMatchObject([{ tool: 'update_deal', session: 'NOT_FOUND', replay: 'ok' }])
  expect(body.differences).toEqual([
    { what: 'deal/absent', field: 'data.stage', session: 'new', replay: 'won' },
  ])
  const shown = await plinth(['replay', '--actor', 'bad-day', '--state', 'now'], settings)
  expect(shown.out).toBe('what\tfield\tsession\treplay\ndeal/absent\tdata.stage\tnew\twon\n')
  expect(shown.err).toContain('update_deal: NOT_FOUND then, ok now')
  expect(shown.err).toMatch(/There is 1 difference between the ends\. .* plinth --base crm propose crm--p-/)
})

test('what cannot be run again is named and counted, and a mistake is no answer', {
  tags: 'full',
}, async () => {
  const { token } = await world.newToken(
    [{ base: 'crm', record_type: '*', environment: '*', permission: 'admin' }],
    { name: 'other' },
  )
  const call = async (name: string, args: Record<string, unknown>) =>
    callTool(world, '/mcp/crm', name, args, { token })
  await call('create_deal', { title: 'x'.repeat(3000) })
  await call('upsert_record', { record_type: 'deal', id: 'p', data: { password: 'secret' } })
  await call('define', { record_type: 'note' })
  const { code, err } = await plinth(['replay', '--actor', 'other'], settings)
  expect(code).toBe(64)
  for (const why of [
    '1 of create_deal: its arguments are kept in part',
    '1 of upsert_record: its arguments had secrets',
    '1 of define: no write of records',
  ])
    expect(err).toContain(why)
  for (const wrong of [
    [],
    ['--actor', 'nobody'],
    ['--actor', 'bad-day', '--into', 'desk--x'],
    ['--actor', 'bad-day', '--bogus'],
    ['--actor', 'bad-day', '--state', 'later'],
  ])
    expect(await plinth(['replay', ...wrong], settings)).toMatchObject({ code: 64, out: '' })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { callTool, rpc } from '../support/mcp.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
// biome-ignore lint/suspicious/noExplicitAny: answers have many types.
type Answer = any
type Token = Awaited<ReturnType<World['newToken']>>

let agent: Token
let other: Token

const usage = async (query: string, by: Answer = world): Promise<Answer[]> =>
  succeed(await by.call('GET', `/v1/crm/usage?${query}`)).data
const tool = (name: string, args: Record<string, unknown>, token = agent.token) =>
  callTool(world, '/mcp/crm', name, args, { token })

beforeAll(async () => {
  world = await openWorld()
  const schema = { type: 'object', properties: { stage: { enum: ['new', 'solved'] } }, required: ['stage'] }
  succeed(await world.call('PUT', '/v1/crm/record-types/ticket', { json_schema: schema }), 201)
  agent = await world.newToken([{ permission: 'write' }], { name: 'reply-agent', kind: 'agent' })
  other = await world.newToken([{ record_type: 'ticket', permission: 'write' }], { name: 'importer' })
})
afterAll(() => world.close())

describe('usage', () => {
  test('adds up calls, failures, reads, changes, bytes and time of a token', async () => {
    const sent = {
      jsonrpc: '2.0',
      id: 7,
      method: 'tools/call',
      params: { name: 'create_ticket', arguments: { stage: 'new' } },
    }
    const by = world.as(agent.token)
    const made = await by('POST', '/mcp/crm', sent)
    const read = await by('GET', '/v1/crm/records/ticket?limit=1')
    const failed = await by('PUT', '/v1/crm/records/ticket/t1', { data: { stage: 'lost' } })
    const [used, ...more] = await usage('by=token&token=reply-agent')
    expect(more).toEqual([])
    const body = { data: { stage: 'lost' } }
    expect(used).toEqual({
      at: expect.stringMatching(/:00:00.000Z$/),
      token: { token_id: agent.id, name: 'reply-agent', kind: 'agent' },
      calls: 3,
      failed: 1,
      reads: 1,
      changes: 1,
      bytes_in: JSON.stringify(sent).length + JSON.stringify(body).length,
      bytes_out: [made, read, failed].reduce((sum, answer) => sum + Buffer.byteLength(answer.text), 0),
      ms: expect.any(Number),
    })
    expect(used.ms).toBeGreaterThan(0)
  })

  test('of a tool, an endpoint and a surface is apart, and equals the list of calls', async () => {
    await tool('create_ticket', { stage: 'lost' })
    await tool('get_record', { record_type: 'ticket', id: 'none' })
    const calls = succeed(await world.call('GET', '/v1/crm/calls?token=reply-agent&limit=1000')).data
    const ofTools = await usage('by=tool&token=reply-agent')
    for (const { tool, calls: count, failed } of ofTools.filter((used) => used.tool !== null)) {
      const listed = calls.filter((call: Answer) => call.tool === tool)
      expect([tool, count]).toEqual([tool, listed.length])
      expect(failed).toBe(listed.filter((call: Answer) => call.outcome !== 'ok').length)
    }
    expect(ofTools.map((used) => used.tool).sort()).toEqual(['create_ticket', 'get_record', null].sort())
    const surfaces = await usage('by=surface&token=reply-agent')
    expect(Object.fromEntries(surfaces.map((used) => [used.surface, used.calls]))).toEqual({
      rest: 2,
      mcp: 3,
    })
    expect(await usage('by=endpoint&endpoint=none')).toEqual([])
  })

  test('is by hour and by day, in whole hours, and the sums agree', async () => {
    const sumOf = (rows: Answer[]) => rows.reduce((sum, { calls }) => sum + calls, 0)
    const hours = await usage('interval=hour&token=reply-agent')
    const days = await usage('interval=day&token=reply-agent')
    expect(days[0].at).toMatch(/T00:00:00.000Z$/)
    expect(sumOf(hours)).toBe(sumOf(days))
    expect(await usage('since=2h&until=1h&token=reply-agent')).toEqual([])
    const refused = await world.call('GET', '/v1/crm/usage?since=1h&until=2h')
    expect(refused.body.error.details).toMatchObject([{ path: 'query/since', code: 'out_of_range' }])
  })

  test('counts the changes that no call made, and the name of no tool that does not exist', async () => {
    const before = await usage('by=tool')
    await rpc(
      world,
      '/mcp/crm',
      'tools/call',
      { name: 'no_such_tool', arguments: {} },
      { token: agent.token },
    )
    const after = await usage('by=tool')
    expect(after.map((used) => used.tool)).toEqual(expect.not.arrayContaining(['no_such_tool']))
    const rest = (rows: Answer[]) => rows.find((used) => used.tool === null)
    expect(rest(after).failed).toBe(rest(before).failed + 1)
  })

  test('counts each change once while several read it', async () => {
    const changes = async () => (await usage('token=importer'))[0]?.changes ?? 0
    const by = world.as(other.token)
    await Promise.all(
      Array.from({ length: 12 }, async (_, n) => {
        succeed(await by('PUT', `/v1/crm/records/ticket/i${n}`, { data: { stage: 'new' } }), 201)
        await usage('by=token')
      }),
    )
    expect(await changes()).toBe(12)
  })

  test('is that of its own only, for a token that cannot read the whole base', async () => {
    const mine = await usage('by=token', { call: world.as(other.token) })
    expect(mine.map(({ token }) => token.name)).toEqual(['importer'])
    expect(await usage('token=reply-agent', { call: world.as(other.token) })).toEqual([])
    succeed(await world.call('PUT', '/v1/bases/elsewhere', {}), 201)
    const stranger = await world.newToken([{ base: 'elsewhere', permission: 'read' }])
    expect(await stranger.call('GET', '/v1/crm/usage')).toMatchObject({ status: 403 })
  })

  test('tells an agent what it used, by tool', async () => {
    const asked = { calls: 'usage', actor: 'reply-agent', since: '1h' }
    const { body } = await tool('changes', asked)
    const created = (await usage('by=tool&token=reply-agent')).find((used) => used.tool === 'create_ticket')
    const { at: _, ...sums } = created
    expect(body.data.find((used: Answer) => used.tool === 'create_ticket')).toEqual(sums)
    const { error } = await tool('changes', { ...asked, request_id: 'r1' })
    expect(error.details).toMatchObject([{ path: '/request_id', code: 'exclusive' }])
  })

  test('ends with its base', async () => {
    succeed(await world.call('PUT', '/v1/bases/short', {}), 201)
    await world.call('GET', '/v1/short/record-types')
    expect(succeed(await world.call('GET', '/v1/short/usage')).data).toMatchObject([{ reads: 1 }])
    await world.call('DELETE', '/v1/bases/short')
    expect(await world.call('GET', '/v1/short/usage')).toMatchObject({ status: 404 })
    succeed(await world.call('PUT', '/v1/bases/short', {}), 201)
    const [again] = succeed(await world.call('GET', '/v1/short/usage')).data
    expect(again).toMatchObject({ reads: 0 })
  })

  test('of several servers on a database adds up, also when one stops', { tags: 'full' }, async () => {
    const third = await world.newToken([{ permission: 'write' }], { name: 'third' })
    const second = await openWorld({}, world.database)
    const by = second.as(third.token)
    for (const id of ['s1', 's2'])
      succeed(await by('PUT', `/v1/crm/records/ticket/${id}`, { data: { stage: 'new' } }), 201)
    await second.close()
    await third.call('GET', '/v1/crm/records/ticket/s1')
    expect(await usage('token=third')).toMatchObject([{ calls: 3, reads: 1, changes: 2, failed: 0 }])
  })

  test('is in SQL too: of all tokens for a reader of the whole base, else its own', async () => {
    const [all] = await usage('by=token&token=reply-agent')
    const own = await usage('', other)
    const query = `SELECT actor_name, actor_kind, sum(calls)::int AS calls, sum(changes)::int AS changes FROM usage
      WHERE token_id = '${agent.id}' OR token_id = '${other.id}' GROUP BY 1, 2 ORDER BY calls DESC, 1`
    const rows = async (by: Answer, sql = query): Promise<Answer[]> =>
      succeed(await by.call('POST', '/v1/crm/sql', { query: sql })).data
    const [{ calls, changes }] = own
    expect(await rows(other)).toEqual([{ actor_name: 'importer', actor_kind: 'program', calls, changes }])
    const ofAgent = { actor_name: 'reply-agent', actor_kind: 'agent', calls: all.calls, changes: all.changes }
    expect(await rows(world)).toContainEqual(ofAgent)
    expect(await rows(other, 'SELECT DISTINCT token_id FROM usage')).toEqual([{ token_id: other.id }])
    expect(await rows(other, 'SELECT DISTINCT token_id FROM U&"\\0075sage"')).toEqual([
      { token_id: other.id },
    ])
    succeed(await world.call('PUT', '/v1/bases/quiet', {}), 201)
    const elsewhere = await world.call('POST', '/v1/quiet/sql', { query: 'SELECT * FROM usage' })
    expect(succeed(elsewhere).data).toEqual([])
  })

  test('is kept for 400 days', async () => {
    const add = `INSERT INTO plinth.usage SELECT 'crm', now() - make_interval(days => days), 'old', 'rest', '', '', 'old', NULL,
      1, 0, 0, 0, 0, 0, 0 FROM unnest(ARRAY[399, 402, 500]) AS d (days)`
    await world.database.query(add)
    const kept = async () => (await usage('since=600d&token=old&interval=day')).length
    expect(await kept()).toBe(3)
    await world.database.query(`SELECT graphile_worker.add_job('sweep_calls')::text`)
    await expect.poll(kept, { timeout: 10_000 }).toBe(1)
  })
})

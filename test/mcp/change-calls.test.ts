import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { callTool, rpc } from '../support/mcp.ts'
import { openSession } from '../support/mcp-session.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  for (const type of ['note', 'task'])
    succeed(await world.call('PUT', `/v1/crm/record-types/${type}`, {}), 201)
  succeed(
    await world.call('PUT', '/v1/crm/relationship-types/about', {
      source_record_types: ['note'],
      target_record_types: ['task'],
      on_delete: 'cascade',
    }),
    201,
  )
  succeed(
    await world.call('PUT', '/v1/crm/endpoints/desk', {
      tools: [{ record_type: 'note', operations: ['create', 'update'] }],
    }),
    201,
  )
})
afterAll(() => world.close())

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const traceparent = (trace: string) => `00-${trace}-b7ad6b7169203331-01`
const META = 'io.modelcontextprotocol'

const changesOf = async (id: string, call = world.call): Promise<Body[]> =>
  succeed(await call('GET', `/v1/crm/changes?id=${id}`)).data
const create = (id: string, extra: object = {}) => ({
  name: 'upsert_record',
  arguments: { record_type: 'note', id, data: {}, ...extra },
})

describe('call of a change', () => {
  test('has the id, tool, client and trace of a stateless call', async () => {
    const headers = {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'upsert_record',
    }
    const _meta = {
      [`${META}/protocolVersion`]: '2026-07-28',
      [`${META}/clientCapabilities`]: {},
      [`${META}/clientInfo`]: { name: 'claude-code', version: '2.0' },
      traceparent: traceparent(TRACE),
    }
    const sent = { headers, id: 'call-7' }
    const answer = await rpc(world, '/mcp/crm', 'tools/call', { ...create('modern'), _meta }, sent)
    expect(answer.body.result.isError).toBeFalsy()
    const [change] = await changesOf('modern')
    expect(change?.['call']).toEqual({
      id: 'call-7',
      tool: 'upsert_record',
      endpoint: null,
      client: 'claude-code/2.0',
      trace_id: TRACE,
    })
  })

  test('has the client of the session, and the trace of the request where the call has none', async () => {
    const session = await openSession(world)
    const headers = { ...session.headers, traceparent: traceparent(TRACE) }
    await rpc(world, '/mcp/crm', 'tools/call', create('legacy'), { headers, id: 12 })
    const [change] = await changesOf('legacy')
    expect(change?.['call']).toMatchObject({ id: '12', tool: 'upsert_record', trace_id: TRACE })
    expect(change?.['call'].client).toMatch(/^\S+\/\S+$/)
  })

  test('is a column of changes in SQL: all calls for readers of the whole base, their own for others', {
    tags: 'full',
  }, async () => {
    await rpc(world, '/mcp/crm', 'tools/call', create('in-sql'), { id: 'sql-1' })
    const query = `SELECT call, call->>'tool' AS tool FROM changes WHERE id = 'in-sql'`
    const read = async (call = world.call, text = query) =>
      succeed(await call('POST', '/v1/crm/sql', { query: text })).data
    const [{ call }] = await changesOf('in-sql')
    expect(await read()).toEqual([{ call, tool: 'upsert_record' }])
    expect(call).toMatchObject({ id: 'sql-1', endpoint: null })
    const part = await world.newToken([{ record_type: 'note', permission: 'read' }])
    expect(await read(part.call)).toEqual([{ call: null, tool: null }])
    expect(
      await read(part.call, `SELECT to_jsonb(c) ->> 'call' AS call FROM changes c WHERE id = 'in-sql'`),
    ).toEqual([{ call: null }])
    const own = await world.newToken([{ record_type: 'note', permission: 'write' }])
    await rpc(world, '/mcp/crm', 'tools/call', create('own-in-sql'), { token: own.token, id: 'sql-2' })
    const calls = `SELECT id, "call"->>'id' AS call FROM U&"ch\\0061nges" WHERE id LIKE '%in-sql' ORDER BY id`
    expect(await read(own.call, calls)).toEqual([
      { id: 'in-sql', call: null },
      { id: 'own-in-sql', call: 'sql-2' },
    ])
    expect((await read(part.call, calls)).map((each: Body) => each['call'])).toEqual([null, null])
    await world.call('PUT', '/v1/crm/records/note/by-rest', { data: {} })
    expect(await read(world.call, `SELECT call FROM changes WHERE id = 'by-rest'`)).toEqual([{ call: null }])
  })

  test('is a column of changes in SQL for what the same request wrote', { tags: 'full' }, async () => {
    const statements = `INSERT INTO note (id, data) VALUES ('own-sql', '{}'); SELECT call->>'tool' AS tool FROM changes WHERE id = 'own-sql'`
    const { body } = await callTool(world, '/mcp/crm', 'sql_write', { statements })
    expect(body.data[1].rows).toEqual([{ tool: 'sql_write' }])
    const part = await world.newToken([{ record_type: 'note', permission: 'write' }])
    const calls = `UPDATE note SET data = '{"n":1}' WHERE id = 'own-sql'; SELECT call->>'tool' AS tool FROM changes WHERE id = 'own-sql' ORDER BY seq`
    const sent = { name: 'sql_write', arguments: { statements: calls } }
    const { result } = (await rpc(world, '/mcp/crm', 'tools/call', sent, { token: part.token })).body
    expect(result.structuredContent.data[1].rows).toEqual([{ tool: null }, { tool: 'sql_write' }])
  })

  test('is that of each call of a batch of calls in one POST', async () => {
    const messages = ['a', 'b', 'c'].map((id) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: create(`posted-${id}`),
    }))
    succeed(await world.call('POST', '/mcp/crm', messages))
    const made = (await Promise.all(['a', 'b', 'c'].map((id) => changesOf(`posted-${id}`)))).flat()
    expect(made.map(({ call }) => call.id)).toEqual(['a', 'b', 'c'])
    expect(new Set(made.map(({ request_id }) => request_id)).size).toBe(1)
  })

  test('is that of every operation of a batch tool, with its links and cascades', {
    tags: 'full',
  }, async () => {
    const operations = [
      { type: 'create_record', record_type: 'note', id: 'n1', data: {} },
      { type: 'create_record', record_type: 'task', id: 't1', data: {} },
      {
        type: 'upsert_relationship',
        id: 'l1',
        rel_type: 'about',
        source_record_type: 'note',
        source_id: 'n1',
        target_record_type: 'task',
        target_id: 't1',
      },
      { type: 'cancel_record', record_type: 'note', id: 'n1' },
      { type: 'delete_record', record_type: 'task', id: 't1' },
    ]
    const call = (args: object) => rpc(world, '/mcp/crm', 'tools/call', { name: 'batch', arguments: args })
    const planned = (await call({ operations })).body.result
    expect(planned.isError, planned.content[0].text).toBeFalsy()
    const { plan_token } = planned.structuredContent
    if (plan_token) await call({ operations, plan_token })
    const made = [...(await changesOf('n1')), ...(await changesOf('t1')), ...(await changesOf('l1'))]
    expect(made.length).toBeGreaterThanOrEqual(6)
    for (const { call } of made) expect(call.tool).toBe('batch')
  })

  test('names the endpoint', async () => {
    const made = await rpc(world, '/mcp/crm/e/desk', 'tools/call', {
      name: 'create_note',
      arguments: { external_id: 'x1' },
    })
    expect(made.body.result.isError).toBeFalsy()
    const [change] = await changesOf(made.body.result.structuredContent.id)
    expect(change?.['call']).toMatchObject({ tool: 'create_note', endpoint: 'desk', client: null })
  })

  test('is null for writes of other interfaces', async () => {
    succeed(await world.call('PUT', '/v1/crm/records/note/rest', { data: {} }), 201)
    expect((await changesOf('rest'))[0]?.['call']).toBeNull()
    const [row] = await world.logOf('note', 'rest')
    expect((row as unknown as Body)['call']).toBeNull()
  })

  test('is in the history of a record and of a type', async () => {
    await rpc(world, '/mcp', 'tools/call', {
      name: 'define',
      arguments: { base_id: 'crm', record_type: 'card' },
    })
    const [version] = succeed(await world.call('GET', '/v1/crm/record-types/card/history')).data
    expect(version.call).toMatchObject({ tool: 'define' })
    const [first] = succeed(await world.call('GET', '/v1/crm/records/note/modern/history')).data
    expect(first.call).toMatchObject({ id: 'call-7' })
  })

  test('is bounded, whatever the client sends as its name and id', async () => {
    const id = `${'x'.repeat(5000)}`
    const answer = await rpc(world, '/mcp/crm', 'tools/call', create('long'), { id })
    expect(answer.body.result.isError).toBeFalsy()
    expect((await changesOf('long'))[0]?.['call'].id).toHaveLength(128)
  })

  test('of another token is hidden from a token that reads a part of the base', async () => {
    const part = await world.newToken([{ record_type: 'note', permission: 'write' }])
    await rpc(world, '/mcp/crm', 'tools/call', create('own'), { token: part.token })
    expect((await changesOf('own', part.call))[0]?.['call']).toMatchObject({ tool: 'upsert_record' })
    expect((await changesOf('modern', part.call))[0]).toMatchObject({ id: 'modern', call: null })
    const [version] = succeed(await part.call('GET', '/v1/crm/records/note/modern/history')).data
    expect(version.call).toBeNull()
  })
})

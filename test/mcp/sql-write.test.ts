/** The tool sql_write. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { callTool, rpc } from '../support/mcp.ts'
import { type Body, openServer, type TestServer } from '../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await openServer()
  succeed(await server.call('PUT', '/v1/bases/crm', {}), 201)
  const json_schema = { properties: { title: { type: 'string' }, n: { type: 'integer' } } }
  for (const type of ['deal', 'note'])
    succeed(await server.call('PUT', `/v1/crm/record-types/${type}`, { json_schema }), 201)
})
afterAll(() => server.close())

const run = (args: Body, token = server.adminToken, path = '/mcp/crm') =>
  callTool(server, path, 'sql_write', args, { token })

const tokenWith = async (grant: object): Promise<string> => {
  const grants = [{ base: 'crm', record_type: '*', environment: '*', ...grant }]
  return succeed(await server.call('POST', '/v1/tokens', { name: 'scoped', grants }), 201)['token']
}

test('sql_write writes, and answers the rows that RETURNING names', async () => {
  const { body } = await run({
    statements: `INSERT INTO deal (id, title, n) VALUES (:id, 'One', 1) RETURNING id, n; UPDATE deal SET n = n + 1; SELECT n FROM deal`,
    params: { id: 'd1' },
  })
  expect(body).toEqual({
    data: [
      { statement: 0, operation: 'insert', count: 1, rows: [{ id: 'd1', n: 1 }] },
      { statement: 1, operation: 'update', count: 1 },
      { statement: 2, operation: 'select', count: 1, rows: [{ n: 2 }] },
    ],
    meta: { count: 3, request_id: expect.any(String) },
  })
  const whole = await run(
    { base_id: 'crm', statements: `UPDATE deal SET n = 7 RETURNING n`, dry_run: true },
    server.adminToken,
    '/mcp',
  )
  expect(whole.body).toMatchObject({ dry_run: true, data: [{ rows: [{ n: 7 }] }] })
  const { body: log } = await server.call('GET', '/v1/crm/changes')
  expect(log.data.at(-1)).toMatchObject({
    ...{ actor: { via: 'mcp' }, call: { tool: 'sql_write' } },
    request_id: body['meta'].request_id,
  })
})

test('sql_write answers the plan of a deletion, and its plan_token alone confirms it', async () => {
  await run({ statements: `INSERT INTO note (id) VALUES ('n1'), ('n2')` })
  const { body: plan } = await run({ statements: 'DELETE FROM note RETURNING id' })
  expect(plan).toMatchObject({ plan: { records: { count: 2 } }, plan_token: expect.any(String) })
  const { body: done } = await run({ plan_token: plan['plan_token'] })
  expect(done.data[0]).toMatchObject({ operation: 'delete', count: 2 })
})

test('on lean, the instructions and the error of SET status name the tool that cancels, which can be called', async () => {
  const lean = '/mcp/crm?profile=lean'
  await run({ statements: `INSERT INTO deal (id, title) VALUES ('c1', 'One')` })
  const init = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
  const { body: started } = await rpc(server, lean, 'initialize', init)
  expect(started.result.instructions).toContain('cancel_record (record_type, id)')
  const statements = `UPDATE deal SET status = 'cancelled' WHERE id = 'c1'`
  const { error } = await run({ statements }, server.adminToken, lean)
  expect(error.details).toMatchObject([
    {
      code: 'read_only',
      message: expect.stringContaining(
        'cancel_record (record_type, id) cancels the record, undo reverses that',
      ),
    },
  ])
  const { body } = await callTool(server, lean, 'cancel_record', { record_type: 'deal', id: 'c1' })
  expect(body).toMatchObject({ status: 'cancelled' })
  const status = 'SELECT status, version FROM deal WHERE id = $1'
  const { body: read } = await callTool(server, lean, 'sql_query', { query: status, params: '["c1"]' })
  expect(read.data).toEqual([{ status: 'cancelled', version: 2 }])
})

test('sql_write is for tokens that write, and not at an endpoint', async () => {
  const namesOf = async (path: string, token: string): Promise<string[]> =>
    (await rpc(server, path, 'tools/list', {}, { token })).body.result.tools.map(({ name }: Body) => name)
  const reader = await tokenWith({ permission: 'read' })
  expect(await namesOf('/mcp/crm', server.adminToken)).toContain('sql_write')
  expect(await namesOf('/mcp/crm', reader)).not.toContain('sql_write')
  const tools = [{ record_type: 'deal', operations: ['list', 'update'] }]
  succeed(await server.call('PUT', '/v1/crm/endpoints/desk', { tools, sql_query: true }), 201)
  expect(await namesOf('/mcp/crm/e/desk', server.adminToken)).not.toContain('sql_write')
  const { rpcError } = await run(
    { statements: 'UPDATE deal SET n = 9' },
    server.adminToken,
    '/mcp/crm/e/desk',
  )
  expect(rpcError).toMatchObject({ code: -32602 })
  const query = await callTool(server, '/mcp/crm/e/desk', 'sql_query', { query: 'UPDATE deal SET n = 9' })
  expect(query.error).toMatchObject({ code: 'VALIDATION_ERROR' })
  expect(succeed(await server.call('GET', '/v1/crm/records/deal/d1')).data).toMatchObject({ n: 2 })
})

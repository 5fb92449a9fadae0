import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { callTool, rpc } from '../support/mcp.ts'
import { type Body, openServer, type TestServer } from '../support/server.ts'

let server: TestServer
let narrow: string

const TYPE = { json_schema: { type: 'object', properties: { title: { type: 'string' } } } }
const names = async (path: string, token = server.adminToken): Promise<string[]> => {
  const { body } = await rpc(server, path, 'tools/list', undefined, { token })
  return body.result.tools.map((tool: Body) => tool.name)
}
const tool = (path: string, name: string, args: Record<string, unknown> = {}, token = server.adminToken) =>
  callTool(server, path, name, args, { token })

beforeAll(async () => {
  server = await openServer()
  await server.call('PUT', '/v1/bases/crm', {})
  for (const type of ['task', 'note', 'secret']) {
    succeed(await server.call('PUT', `/v1/crm/record-types/${type}`, TYPE), 201)
    await server.call('PUT', `/v1/crm/records/${type}/${type}-1`, { data: { title: `a ${type}` } })
  }
  await server.call('PUT', '/v1/crm/relationship-types/about', {})
  await server.call('POST', '/v1/crm/batch', {
    operations: ['note', 'secret'].map((type) => ({
      type: 'upsert_relationship',
      rel_type: 'about',
      source_record_type: 'task',
      source_id: 'task-1',
      target_record_type: type,
      target_id: `${type}-1`,
    })),
  })
  const grants = [
    { base: 'crm', record_type: ['task', 'note'], environment: 'production', permission: 'write' },
  ]
  narrow = (await server.call('POST', '/v1/tokens', { name: 'narrow', grants })).body.token
})
afterAll(() => server.close())

describe('the URL option ?types=', () => {
  const at = '/mcp/crm?types=task,note'

  test('leaves the generic tools and the typed tools of the given types', async () => {
    const [whole, left] = [await names('/mcp/crm'), await names(at)]
    const generic = whole.filter((name) => !/^create_/.test(name))
    expect(left).toEqual([...generic, 'create_note', 'update_note', 'create_task', 'update_task'])
  })

  test('makes every generic tool FORBIDDEN for other types', { tags: 'full' }, async () => {
    expect((await tool(at, 'list_types')).body.data.map((type: Body) => type.id)).toEqual(['note', 'task'])
    for (const [name, args] of [
      ['query_records', { record_type: 'secret' }],
      ['get_record', { record_type: 'secret', id: 'secret-1' }],
      ['describe_type', { record_type: 'secret' }],
      ['aggregate_records', { record_type: 'secret', aggregations: [{ fn: 'count' }] }],
      ['record_history', { record_type: 'secret', id: 'secret-1' }],
      ['upsert_record', { record_type: 'secret', id: 'secret-1', data: { title: 'x' } }],
      ['update_record', { record_type: 'secret', id: 'secret-1', data: { title: 'x' } }],
      ['work', { action: 'wait', record_type: 'secret' }],
      ['batch', { operations: [{ type: 'delete_record', record_type: 'secret', id: 'secret-1' }] }],
    ] as const) {
      const { error } = await tool(at, name, args)
      expect(error, name).toMatchObject({ code: 'FORBIDDEN' })
    }
    const link = { rel_type: 'about', source_record_type: 'task', source_id: 'task-1' }
    const linked = { ...link, target_record_type: 'secret', target_id: 'secret-1' }
    expect((await tool(at, 'link_records', linked)).error.code).toBe('FORBIDDEN')
    const related = await tool(at, 'get_related', { record_type: 'task', id: 'task-1' })
    expect(related.body.data.map(({ record }: Body) => record.id)).toEqual(['note-1'])
    const rows = await tool(at, 'sql_query', { query: 'SELECT id FROM records ORDER BY id' })
    expect(rows.body.data).toEqual([{ id: 'note-1' }, { id: 'task-1' }])
    const relation = await tool(at, 'sql_query', { query: 'SELECT id FROM secret' })
    expect(relation.error.details[0].code).toBe('unknown_relation')
    expect((await server.call('GET', '/v1/crm/records/secret/secret-1')).body.data).toEqual({
      title: 'a secret',
    })
  })

  test('makes typed tools of other types unknown', async () => {
    const { rpcError } = await tool(at, 'update_secret', { id: 'secret-1', title: 'x' })
    expect(rpcError).toMatchObject({ code: -32602 })
    expect((await tool(at, 'update_task', { id: 'task-1', title: 'a task' })).error).toBeUndefined()
  })

  test('returns the same for a type outside the grants and for one that does not exist', {
    tags: 'full',
  }, async () => {
    const hidden = await names('/mcp/crm?types=secret', narrow)
    expect(hidden).toEqual(await names('/mcp/crm?types=nothing', narrow))
    expect(hidden).toEqual([])
    for (const type of ['secret', 'nothing']) {
      const path = `/mcp/crm?types=${type}`
      expect((await tool(path, `create_${type}`, {}, narrow)).error.code).toBe('FORBIDDEN')
      expect((await tool(path, 'create_task', {}, narrow)).rpcError.code).toBe(-32602)
      expect((await tool(path, 'list_types', {}, narrow)).rpcError.code).toBe(-32602)
    }
  })

  test('applies on /mcp for all bases', async () => {
    const path = '/mcp?types=task'
    expect((await tool(path, 'list_bases')).body.data).toHaveLength(1)
    expect((await tool(path, 'list_types', { base_id: 'crm' })).body.data).toHaveLength(1)
    const { error } = await tool(path, 'query_records', { base_id: 'crm', record_type: 'note' })
    expect(error.code).toBe('FORBIDDEN')
    const made = await tool(path, 'put_base', { base_id: 'another' })
    expect(made.error.code).toBe('FORBIDDEN')
  })

  test('does not extend the grants of the token', async () => {
    const read = { base: 'crm', record_type: 'note', environment: 'production', permission: 'read' }
    const made = await server.call('POST', '/v1/tokens', { name: 'reader', grants: [read] })
    const written = await tool(at, 'upsert_record', { record_type: 'note', data: {} }, made.body.token)
    expect(written.error.code).toBe('FORBIDDEN')
    const asked = await tool(at, 'query_records', { record_type: 'task' }, made.body.token)
    expect(asked.error.code).toBe('FORBIDDEN')
  })
})

describe('the URL option ?tools=', () => {
  const at = '/mcp/crm?tools=get_record,query_records,create_note'

  test('lists only the given tools, in the usual order', async () => {
    expect(await names(at)).toEqual(['query_records', 'get_record', 'create_note'])
    expect(await names('/mcp/crm?tools=create_nothing')).toEqual([])
  })

  test('makes other tools unknown, and suggests only the given tools', { tags: 'full' }, async () => {
    for (const name of ['upsert_record', 'create_task', 'nonsense']) {
      const { rpcError } = await tool(at, name, { record_type: 'task', data: {} })
      expect(rpcError, name).toMatchObject({ code: -32602 })
    }
    expect((await tool(at, 'create_notes')).rpcError.message).toContain('"create_note"')
    expect((await tool(at, 'query_record')).rpcError.message).toContain('"query_records"')
    expect((await tool(at, 'create_note', { title: 'made' })).body.record_type).toBe('note')
  })
})

describe('the URL option ?readonly=1', () => {
  test('forbids writes, and combines with ?types= and ?tools=', async () => {
    const claimed = await tool('/mcp/crm?readonly=1', 'work', { action: 'claim', record_type: 'task' })
    expect(claimed.error.code).toBe('FORBIDDEN')
    const batch = await tool('/mcp/crm?readonly=1', 'batch', { operations: [] })
    expect(batch.rpcError).toMatchObject({ code: -32602 })
    const left = await names('/mcp/crm?readonly=1&types=task&tools=list_types,upsert_record,create_task')
    expect(left).toEqual(['list_types'])
  })
})

test('tools that need the whole base are named to tokens that reach it, and those that need a part to all', async () => {
  const at =
    '/mcp/crm?tools=configuration,configure,run_action,propose,rollback_promotion,list_files,delete_file,put_file'
  expect(await names(at, narrow)).toEqual(['put_file'])
  expect((await names(at)).sort()).toEqual(at.split('=')[1]?.split(',').sort())
  const attached = await tool(at, 'put_file', { record: 'task/task-1', path: 'a.txt', text: 'x' }, narrow)
  expect(attached.body).toMatchObject({ filename: 'a.txt' })
  const refused = await tool(at, 'configuration', { kind: 'trigger' }, narrow)
  expect(refused.error.details[0].expected).toMatchObject({ record_type: '*', permission: 'read' })
})

test('invalid URL options are refused, with all faults in one response', { tags: 'full' }, async () => {
  const many = Array.from({ length: 101 }, (_, i) => `t${i}`).join(',')
  for (const [query, details] of [
    ['types=', [{ path: 'query/types', code: 'invalid_id' }]],
    ['types=task,', [{ path: 'query/types', code: 'invalid_id' }]],
    ['types=a%20b', [{ path: 'query/types', code: 'invalid_id', received: 'a b' }]],
    [`types=${many}`, [{ path: 'query/types', code: 'too_many' }]],
    ['types=a&types=b', [{ path: 'query/types', code: 'duplicate' }]],
    ['tools=', [{ path: 'query/tools', code: 'enum' }]],
    ['tools=query_record', [{ path: 'query/tools', code: 'enum', hint: 'query_records' }]],
    ['tools=put_base', [{ path: 'query/tools', code: 'enum' }]],
    [
      'typs=task&readonly=yes',
      [
        { path: 'query/typs', code: 'unknown_key', hint: 'types' },
        { path: 'query/readonly', code: 'enum' },
      ],
    ],
  ] as const) {
    const { status, body } = await rpc(server, `/mcp/crm?${query}`, 'tools/list')
    expect(status, query).toBe(400)
    expect(body.error.data.error, query).toMatchObject({ code: 'VALIDATION_ERROR', details })
    const preview = await server.call('GET', `/v1/crm/mcp/tools?${query}`)
    expect(preview.status, query).toBe(400)
  }
})

describe('GET /v1/{base}/mcp/tools', () => {
  test.each(['', '?readonly=1', '?types=note', '?tools=create_note,batch', '?types=task&readonly=true'])(
    'returns the tools of the MCP URL with "%s", for this token, with their token counts',
    async (query) => {
      for (const token of [server.adminToken, narrow]) {
        const { body } = await rpc(server, `/mcp/crm${query}`, 'tools/list', undefined, { token })
        const preview = await server.as(token)('GET', `/v1/crm/mcp/tools${query}`)
        expect(preview.status).toBe(200)
        const shown = preview.body.data.map(({ tokens: _, input_schema, output_schema, ...rest }: Body) => ({
          ...rest,
          inputSchema: input_schema,
          outputSchema: output_schema,
        }))
        expect(shown).toEqual(body.result.tools)
        const sum = preview.body.data.reduce((all: number, each: Body) => all + each.tokens, 0)
        expect(Math.abs(sum - preview.body.meta.tokens)).toBeLessThanOrEqual(preview.body.data.length + 1)
      }
    },
  )

  test('is 404 for a base that does not exist, 403 without a grant and 401 without a token', async () => {
    expect((await server.call('GET', '/v1/absent/mcp/tools')).status).toBe(404)
    expect((await server.call('GET', '/v1/absent/mcp/tools?readonly=1')).status).toBe(404)
    expect((await server.as(narrow)('GET', '/v1/absent/mcp/tools')).status).toBe(403)
    expect((await server.as(null)('GET', '/v1/crm/mcp/tools')).status).toBe(401)
  })
})

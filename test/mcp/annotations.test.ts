/** What tools say of themselves is true, because clients approve calls by it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { genericNames } from '../../src/mcp/plinth-provider.ts'
import { succeed } from '../support/answers.ts'
import { callTool, rpc } from '../support/mcp.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  const put = async (path: string, body: unknown, headers = {}) =>
    succeed(await world.call('PUT', `/v1/crm/${path}`, body, headers), 201)
  await put('record-types/deal', { json_schema: { type: 'object', properties: { n: { type: 'number' } } } })
  await put('records/deal/d1', { data: { n: 1 } })
  await put('file-types/notes', {})
  await put('files/notes/a.md', 'text', { 'content-type': 'text/markdown' })
  await put('actions/win', {
    steps: [{ name: 'a', type: 'upsert_record', record_type: 'deal', id: 'd1', data: { n: 3 } }],
  })
  await put('endpoints/desk', {
    tools: [{ record_type: 'deal', operations: ['get', 'list'] }],
    actions: ['win'],
  })
  succeed(await world.call('POST', '/v1/crm/preview', { name: 'draft', copy: 'on_write' }), 201)
  succeed(await world.call('PATCH', '/v1/crm--draft/records/deal/d1', { data: { n: 2 } }))
})
afterAll(() => world.close())

const list = async (path: string, token = world.adminToken): Promise<Body[]> =>
  (await rpc(world, path, 'tools/list', undefined, { token })).body.result.tools
const allAt = (base: string | null) => genericNames(base).join(',')
const EVERY = () => [
  `/mcp/crm?tools=${allAt('crm')},create_deal,update_deal`,
  `/mcp?tools=${allAt(null)}`,
  '/mcp/crm',
  '/mcp/crm?profile=lean',
  `/mcp/crm?readonly=1&tools=${allAt('crm')}`,
  '/mcp/crm/e/desk',
]

test('every tool of every address has a title and each hint that its kind needs', {
  tags: 'full',
}, async () => {
  for (const path of EVERY()) {
    const tools = await list(path)
    expect(tools.length).toBeGreaterThan(1)
    for (const { name, annotations: hints } of tools) {
      const writes = !hints.readOnlyHint
      expect([name, name.length <= 64, typeof hints.title, typeof hints.openWorldHint]).toEqual([
        name,
        true,
        'string',
        'boolean',
      ])
      expect([name, hints.title.length > 2]).toEqual([name, true])
      expect([name, typeof hints.destructiveHint, typeof hints.idempotentHint]).toEqual([
        name,
        ...(writes ? ['boolean', 'boolean'] : ['undefined', 'undefined']),
      ])
    }
  }
  expect((await list(EVERY()[4] ?? '')).filter(({ annotations }) => !annotations.readOnlyHint)).toEqual([])
})

/** A call of each tool that says it only reads. */
const READS: Readonly<Record<string, Record<string, unknown>>> = {
  list_types: {},
  describe_type: { record_type: 'deal', detail: 'full' },
  query_records: { record_type: 'deal' },
  get_record: { record_type: 'deal', id: 'd1' },
  get_related: { record_type: 'deal', id: 'd1' },
  record_history: { record_type: 'deal', id: 'd1' },
  changes: { group: 'request' },
  aggregate_records: { record_type: 'deal', aggregations: [{ fn: 'count', alias: 'n' }] },
  sql_query: { query: 'SELECT n FROM deal' },
  propose: { from: 'crm--draft' },
  configuration: { kind: 'action', id: 'win' },
  list_files: { file_type: 'notes' },
  get_file: { file_type: 'notes', path: 'a.md' },
  work: { action: 'wait', record_type: 'deal', timeout: 0 },
  search: { query: 'text' },
  fetch: { id: 'deal/d1' },
  list_bases: {},
  whoami: {},
}

/** What is stored, but for the record of calls, which is not data. */
async function stored(): Promise<object[]> {
  const tables = await world.database.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'plinth'
       AND table_type = 'BASE TABLE' AND table_name NOT SIMILAR TO '(call|usage|token|server|sql_grant)%' ORDER BY 1`,
  )
  const states = tables.map(({ name }) =>
    world.database.query(`SELECT '${name}' AS name, count(*), max(xmin::text::bigint) FROM plinth."${name}"`),
  )
  return (await Promise.all(states)).flat()
}

test('a tool that says it only reads changes nothing', { tags: 'full' }, async () => {
  const tools = await list(`/mcp/crm?readonly=1&tools=${allAt('crm')}`)
  const reading = [...tools, ...(await list('/mcp?tools=list_bases'))].map(({ name }) => name)
  expect(reading.filter((name) => !(name in READS))).toEqual([])
  const before = await stored()
  for (const [name, args] of Object.entries(READS)) {
    const path = name === 'list_bases' ? '/mcp' : `/mcp/crm?readonly=1&tools=${allAt('crm')}`
    const { error, rpcError } = await callTool(world, path, name, args)
    expect([name, error ?? rpcError]).toEqual([name, undefined])
  }
  expect(before.length).toBeGreaterThan(30)
  expect(await stored()).toEqual(before)
})

test('a tool that does several things takes the name of what it does', async () => {
  const tools = await list(`/mcp/crm?tools=${allAt('crm')}`)
  const named = (name: string, argument: string) =>
    tools.find((tool) => tool.name === name)?.inputSchema.properties[argument]
  expect(named('work', 'action').enum).toContain('wait')
  expect(named('preview', 'action').enum).toContain('list')
  expect(named('configure', 'act').enum).toContain('delete')
  expect(named('propose', 'submit').type).toBe('boolean')
})

test('asking a person is a write: an address that only reads does not offer it, and refuses it', async () => {
  const path = '/mcp/crm?readonly=1&tools=propose'
  const [tool] = await list(path)
  expect(Object.keys(tool.inputSchema.properties)).not.toContain('submit')
  const { error } = await callTool(world, path, 'propose', { from: 'crm--draft', submit: true })
  expect(error.code).toBe('FORBIDDEN')
})

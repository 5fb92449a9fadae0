import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { callTool, connect, DIALECTS, jsonOf } from '../support/mcp.ts'
import { type Body, openServer, type TestServer } from '../support/server.ts'

const TASK = {
  type: 'object',
  properties: {
    title: { type: 'string', minLength: 1, description: 'What to do.' },
    qty: { type: 'integer', minimum: 0 },
    tags: { type: 'array', items: { type: 'string' } },
    address: { type: 'object', properties: { city: { type: 'string' }, zip: { type: 'string' } } },
    'due date': { type: 'string', format: 'date' },
    size: { enum: ['small', 'large'] },
  },
  required: ['title'],
  additionalProperties: false,
}

let server: TestServer
const at = '/mcp/crm'
const tool = (name: string, args: Record<string, unknown> = {}, token = server.adminToken, path = at) =>
  callTool(server, path, name, args, { token })
const rest = async (path: string) => (await server.call('GET', `/v1/crm${path}`)).body
const withoutOperation = ({ operation: _operation, ...record }: Body) => record

beforeAll(async () => {
  server = await openServer()
  await server.call('PUT', '/v1/bases/crm', {})
  await server.call('PUT', '/v1/bases/other', {})
  await server.call('PUT', '/v1/crm/record-types/task', { json_schema: TASK, description: 'Things to do.' })
  await server.call('PUT', '/v1/crm/record-types/note', {})
  await server.call('PUT', '/v1/crm/record-types/record', {
    json_schema: { type: 'object', properties: { id: { type: 'string' }, dry_run: { type: 'string' } } },
  })
})
afterAll(() => server.close())

async function tokenWith(...grants: object[]): Promise<string> {
  const made = await server.call('POST', '/v1/tokens', {
    name: 'scoped',
    grants: grants.map((grant) => ({ base: 'crm', record_type: '*', environment: 'production', ...grant })),
  })
  return made.body.token
}

describe.each(DIALECTS)('a %s client', (dialect) => {
  test('creates a record with a typed tool that REST and GraphQL then read', { tags: 'full' }, async () => {
    const client = await connect(server.url, server.adminToken, dialect, at)
    const { tools } = await client.listTools()
    const create = tools.find((each) => each.name === 'create_task')
    expect(create.inputSchema.properties).toMatchObject({
      title: { type: 'string', description: 'What to do.' },
      due_date: { type: 'string' },
    })
    const made = await client.callTool({
      name: 'create_task',
      arguments: { title: dialect, due_date: '2026-02-03' },
    })
    expect(made.isError).toBeUndefined()
    expect(made.structuredContent).toMatchObject({
      operation: 'created',
      data: { title: dialect, 'due date': '2026-02-03' },
    })
    const { id } = made.structuredContent
    expect(withoutOperation(made.structuredContent)).toEqual(await rest(`/records/task/${id}`))
    const { body } = await server.call('POST', '/graphql', {
      query: `{ record(base: "crm", recordType: "task", id: "${id}") { data version status } }`,
    })
    expect(body.data.record).toEqual({
      data: { title: dialect, 'due date': '2026-02-03' },
      version: 1,
      status: 'active',
    })
    await client.close()
  })

  test('gets a failed call as an error result with text only, and an unknown tool as -32602', async () => {
    const client = await connect(server.url, server.adminToken, dialect, at)
    const failed = await client.callTool({ name: 'create_task', arguments: { titel: 'x' } })
    expect(failed.isError).toBe(true)
    expect(failed.structuredContent).toBeUndefined()
    expect(JSON.parse(failed.content[0].text)).toMatchObject({ error: { code: 'VALIDATION_ERROR' } })
    await expect(client.callTool({ name: 'get_recrod', arguments: {} })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('get_record'),
    })
    await client.close()
  })
})

test('the structured content of every tool is valid for its output schema and equals its text', {
  tags: 'full',
}, async () => {
  const ajv = new Ajv2020({ strict: false })
  const client = await connect(server.url, server.adminToken, 'v1', `${at}?types=task,note`)
  const tools = new Map((await client.listTools()).tools.map((each) => [each.name as string, each]))
  const outputs: Body[] = []
  const run = async (name: string, args: Record<string, unknown>) => {
    const { body, text, result } = await tool(name, args)
    expect(result.isError, text).toBeUndefined()
    expect(ajv.compile(tools.get(name).outputSchema)(body), name).toBe(true)
    expect(jsonOf(text)).toEqual(body)
    outputs.push(name)
    return body
  }
  const { id } = await run('create_task', { title: 'all' })
  await run('define', { record_type: 'note', dry_run: true })
  await run('sql_write', { statements: 'SELECT 1 AS one' })
  await run('update_task', { id, qty: 3 })
  await run('get_record', { record_type: 'task', id })
  await run('query_records', { record_type: 'task', include_total: true })
  await run('upsert_record', { record_type: 'task', id, data: { title: 'again' } })
  await run('update_record', { record_type: 'task', id, data: { qty: 1 } })
  await run('cancel_record', { record_type: 'task', id })
  await run('delete_record', { record_type: 'task', id })
  await run('list_types', {})
  await run('describe_type', { record_type: 'task' })
  succeed(await server.call('PUT', '/v1/crm/relationship-types/near', {}), 201)
  for (const end of ['end-1', 'end-2'])
    await run('upsert_record', { record_type: 'task', id: end, data: { title: end } })
  const ends = {
    source_record_type: 'task',
    source_id: 'end-1',
    target_record_type: 'task',
    target_id: 'end-2',
  }
  await run('link_records', { rel_type: 'near', ...ends })
  await run('get_related', { record_type: 'task', id: 'end-1' })
  await run('record_history', { record_type: 'task', id: 'end-1' })
  await run('work', { action: 'claim', record_type: 'task' })
  await run('aggregate_records', { record_type: 'task', aggregations: [{ fn: 'count' }] })
  await run('batch', { operations: [{ type: 'create_record', record_type: 'task', data: { title: 'b' } }] })
  await run('sql_query', { query: 'SELECT id, title FROM task' })
  const undone = await run('create_task', { title: 'undone' })
  const { data } = await run('changes', { record_type: 'task', id: undone.id })
  await run('undo', { seq: data[0].seq })
  const generic = [...tools.keys()].filter((name) => !/^(create|update)_(task|note|record_\w+)$/.test(name))
  expect([...new Set(outputs)]).toEqual(expect.arrayContaining(generic))
  await client.close()
})

test('results equal the REST bodies, and mark record content as untrusted', { tags: 'full' }, async () => {
  const { body: made, text } = await tool('create_task', { title: 'same', external_id: 'same-1' })
  expect(text.split('\n')[0]).toMatch(/untrusted/i)
  const found = await tool('get_record', { record_type: 'task', id: made.id })
  expect(found.body).toEqual(await rest(`/records/task/${made.id}`))
  const page = await tool('query_records', {
    record_type: 'task',
    limit: 2,
    sort: '-created_at',
    include_total: true,
  })
  expect(page.body).toEqual(await rest('/records/task?limit=2&sort=-created_at&include_total=true'))
  expect(page.text.split('\n')[0]).toMatch(/untrusted/i)
  const types = await tool('list_types', {})
  expect(types.body).toEqual(await rest('/record-types?limit=20'))
  const bases = await tool('list_bases', {}, server.adminToken, '/mcp')
  expect(bases.body).toEqual((await server.call('GET', '/v1/bases?limit=20')).body)
  const removed = await tool('delete_record', { record_type: 'task', id: made.id })
  expect(removed.body).toEqual({ id: made.id, deleted: true })
  expect(removed.text).toBe(JSON.stringify(removed.body))
})

test('describe_type, aggregate_records and sql_query return what REST returns', {
  tags: 'full',
}, async () => {
  await server.call('PUT', '/v1/crm/record-types/sale', {})
  for (const [shop, amount] of [
    ['north', 5],
    ['north', 7],
    ['south', 1],
    ['west', 20],
  ])
    await tool('upsert_record', { record_type: 'sale', data: { shop, amount } })
  const { body: described, text } = await tool('describe_type', { record_type: 'sale' })
  const { description: _none, ...type } = await rest('/record-types/sale')
  const { id, name, json_schema, indexes, timezone, version } = type
  expect(described).toMatchObject({ id, name, json_schema, indexes, timezone, version })
  expect(described.profile.count).toBe(4)
  expect(described.profile.fields.map((each: Body) => each.field)).toEqual(
    expect.arrayContaining(['data.shop', 'data.amount']),
  )
  expect(text.split('\n')[0]).toMatch(/untrusted/i)

  const query = {
    aggregations: [{ fn: 'sum', field: 'data.amount' }, { fn: 'count' }],
    group_by: ['data.shop'],
    having: { field: 'sum_amount', op: 'gt', value: 1 },
    sort: '-sum_amount',
    limit: 1,
    offset: 1,
  }
  const groups = await tool('aggregate_records', { record_type: 'sale', ...query })
  expect(groups.body.data).toEqual([{ 'data.shop': 'north', sum_amount: 12, count: 2 }])
  expect(groups.body).toEqual((await server.call('POST', '/v1/crm/records/sale/aggregate', query)).body)
  const misspelt = await tool('aggregate_records', {
    record_type: 'sale',
    ...query,
    having: { field: 'sum_amout', op: 'gt', value: 1 },
  })
  expect(misspelt.error.details[0].path).toMatch(/^\/having/)

  const statement = {
    query: "SELECT data->>'shop' AS shop FROM sale WHERE (data->>'amount')::int > :least ORDER BY 1",
    params: { least: 6 },
    limit: 1,
  }
  const rows = await tool('sql_query', statement)
  expect(rows.body).toMatchObject({ data: [{ shop: 'north' }], meta: { rows: 1, has_more: true } })
  const { data, meta } = (await server.call('POST', '/v1/crm/sql', statement)).body
  const { columns, ...bare } = meta
  expect(rows.body).toEqual({ data, meta: bare })
  const none = await tool('sql_query', { query: 'SELECT id FROM sale WHERE false' })
  expect(none.body.meta.columns).toEqual([{ name: 'id', type: 'text' }])
  expect(columns).toEqual([{ name: 'shop', type: 'text' }])
  expect(rows.text.split('\n')[0]).toMatch(/untrusted/i)
  const writes = await tool('sql_query', { query: 'DELETE FROM sale' })
  expect(writes.error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: '/query' }] })
})

test('update_task changes the given properties, deletes those set to null and keeps the others', async () => {
  const { body: made } = await tool('create_task', {
    title: 'keep',
    qty: 2,
    due_date: '2026-01-01',
    address: { city: 'Bern', zip: '3000' },
  })
  const updated = await tool('update_task', {
    id: made.id,
    qty: null,
    due_date: null,
    address: { zip: null },
  })
  expect(updated.body).toMatchObject({ operation: 'updated', version: 2 })
  expect(updated.body.data).toEqual({ title: 'keep', address: { city: 'Bern' } })
  expect((await rest(`/records/task/${made.id}`)).data).toEqual({ title: 'keep', address: { city: 'Bern' } })
  const required = await tool('update_task', { id: made.id, title: null })
  expect(required.error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: '/title' }] })
  const stale = await tool('update_task', { id: made.id, qty: 5, expected_version: 1 })
  expect(stale.error).toMatchObject({
    code: 'CONFLICT',
    details: [{ path: '/expected_version', code: 'version_mismatch', expected: 2, received: 1 }],
  })
  expect((await rest(`/records/task/${made.id}`)).version).toBe(2)
})

test('a reserved argument with the name of a property is renamed with a leading "_"', {
  tags: 'full',
}, async () => {
  const client = await connect(server.url, server.adminToken, 'v1', `${at}?types=record`)
  const { tools } = await client.listTools()
  const names = tools.map((each) => each.name).filter((name) => /_record_/.test(name))
  const create = names.find((name) => name.startsWith('create_record_'))
  const update = names.find((name) => name.startsWith('update_record_'))
  const made = await tool(create, { id: 'own', dry_run: 'yes', _dry_run: false })
  expect(made.body.data).toEqual({ id: 'own', dry_run: 'yes' })
  const changed = await tool(update, { _id: made.body.id, id: 'other', dry_run: null, expected_version: 1 })
  expect(changed.body).toMatchObject({ id: made.body.id, data: { id: 'other' }, version: 2 })
  expect(changed.body.data).not.toHaveProperty('dry_run')
  const missing = await tool(update, { id: 'other' })
  expect(missing.error.details).toMatchObject([{ path: '/_id', code: 'required' }])
})

test('unknown arguments are data in an open type, and are refused by name in a closed type', async () => {
  const open = await tool('create_note', { anything: { goes: [1, 'a', null] } })
  expect(open.body.data).toEqual({ anything: { goes: [1, 'a', null] } })
  const closed = await tool('create_task', { title: 'a', quantity: 1, due_date: 'tomorrow' })
  expect(closed.error.code).toBe('VALIDATION_ERROR')
  expect(closed.error.details.map((detail: Body) => detail.path).sort()).toEqual(['/due_date', '/quantity'])
})

test('a known external_id updates the record with upsert_record and is a CONFLICT with create_note', async () => {
  const pair = { external_id: 'k-1', external_source: 'shop' }
  const first = await tool('upsert_record', { record_type: 'note', data: { n: 1 }, ...pair })
  expect(first.body).toMatchObject({ operation: 'created', ...pair })
  const second = await tool('upsert_record', { record_type: 'note', data: { n: 2 }, ...pair })
  expect(second.body).toMatchObject({ id: first.body.id, operation: 'updated', version: 2 })
  const same = await tool('upsert_record', { record_type: 'note', data: { n: 2 }, ...pair })
  expect(same.body).toMatchObject({ id: first.body.id, operation: 'unchanged', version: 2 })
  const taken = await tool('create_note', { n: 3, ...pair })
  expect(taken.error).toMatchObject({ code: 'CONFLICT', details: [{ path: '/external_id' }] })
  const sourceAlone = await tool('create_note', { n: 3, external_source: 'shop' })
  expect(sourceAlone.error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: '/external_id' }] })
})

test('the default external_source of an external_id is "default"', async () => {
  const made = await tool('create_note', { external_id: 'alone' })
  expect(made.body).toMatchObject({ external_id: 'alone', external_source: 'default', data: {} })
})

test('a wrong expected_version is a CONFLICT, and without id or external_id a VALIDATION_ERROR', {
  tags: 'full',
}, async () => {
  const at5 = { record_type: 'note', data: {}, expected_version: 5 }
  expect((await tool('upsert_record', at5)).error).toMatchObject({
    code: 'VALIDATION_ERROR',
    details: [{ path: '/expected_version' }],
  })
  for (const one of [{ id: 'nobody' }, { external_id: 'nobody' }])
    expect((await tool('upsert_record', { ...at5, ...one })).error).toMatchObject({ code: 'NOT_FOUND' })
  expect((await server.call('GET', '/v1/crm/records/note/nobody')).status).toBe(404)
  await server.call('PUT', '/v1/crm/records/note/somebody', { data: { n: 1 } })
  for (const name of ['upsert_record', 'update_record', 'cancel_record', 'delete_record']) {
    const { data: _data, ...args } = { ...at5, id: 'somebody' }
    const { error } = await tool(name, /^up/.test(name) ? { ...args, data: { n: 2 } } : args)
    expect(error, name).toMatchObject({ code: 'CONFLICT', details: [{ code: 'version_mismatch' }] })
  }
  expect((await rest('/records/note/somebody')).data).toEqual({ n: 1 })
})

test('a repeated idempotency_key returns the first result and writes once', async () => {
  const args = { title: 'once', idempotency_key: 'key-1' }
  const first = await tool('create_task', args)
  const again = await tool('create_task', args)
  expect(again.body).toEqual(first.body)
  const other = await tool('create_task', { ...args, title: 'twice' })
  expect(other.error).toMatchObject({
    code: 'CONFLICT',
    details: [{ path: '/idempotency_key', code: 'key_reused' }],
  })
  for (const [title, count] of [
    ['once', 1],
    ['twice', 0],
  ] as const) {
    const filter = { field: 'data.title', op: 'eq', value: title }
    expect((await tool('query_records', { record_type: 'task', filter })).body.data).toHaveLength(count)
  }
  const bad = await tool('create_task', { title: 'x', idempotency_key: 'with space' })
  expect(bad.error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: '/idempotency_key' }] })
})

test('a dry_run returns the result without writing', async () => {
  const { meta } = await rest('/records/task?include_total=true')
  const dry = await tool('create_task', { title: 'perhaps', dry_run: true, idempotency_key: 'dry-1' })
  expect(dry.body).toMatchObject({ operation: 'created', dry_run: true, data: { title: 'perhaps' } })
  const refused = await tool('create_task', { title: '', dry_run: true })
  expect(refused.error.details).toMatchObject([{ path: '/title' }])
  expect((await rest('/records/task?include_total=true')).meta.total).toBe(meta.total)
  const real = await tool('create_task', { title: 'perhaps', idempotency_key: 'dry-1' })
  expect(real.body).not.toHaveProperty('dry_run')
  const gone = await tool('delete_record', { record_type: 'task', id: real.body.id, dry_run: true })
  const deletion = {
    records: { count: 1, by_type: { task: 1 } },
    samples: [`task/${real.body.id}`],
    titles: ['perhaps'],
  }
  expect(gone.body).toEqual({ id: real.body.id, deleted: true, deletion, dry_run: true })
  expect((await server.call('GET', `/v1/crm/records/task/${real.body.id}`)).status).toBe(200)
})

test('errors of typed tools are the REST errors, with paths that use the published property names', async () => {
  const bad = { title: 7, qty: -1, 'due date': 'never', size: 'smal', tags: ['a', 3] }
  const { body } = await server.call('POST', '/v1/crm/records/task', { data: bad })
  const { 'due date': due, ...others } = bad
  const { error, result } = await tool('create_task', { ...others, due_date: due })
  const comparable = ({ request_id: _id, ...rest }: Body) => rest
  const renamed = JSON.parse(
    JSON.stringify(body.error).replaceAll('/data/due date', '/data/due_date').replaceAll('"/data/', '"/'),
  )
  expect(comparable(error)).toEqual(comparable(renamed))
  expect(error.request_id).toMatch(/./)
  expect(result.structuredContent).toBeUndefined()
  expect(result.content).toHaveLength(1)
  expect(Object.keys(JSON.parse(result.content[0].text))).toEqual(['error'])
})

test('errors of generic tools are the REST errors', async () => {
  const comparable = ({ request_id: _id, ...rest }: Body) => rest
  const missing = await server.call('GET', '/v1/crm/records/task/nobody')
  const found = await tool('get_record', { record_type: 'task', id: 'nobody' })
  expect(found.error.code).toBe('NOT_FOUND')
  expect(found.error.message).toBe(missing.body.error.message)
  expect(found.error.details).toMatchObject([{ path: '/id' }])
  const noType = await tool('get_record', { record_type: 'tsk', id: 'nobody' })
  expect(noType.error).toMatchObject({ code: 'NOT_FOUND', details: [{ path: '/record_type' }] })
  const filter = { field: 'data.titel', op: 'eq', value: 'x' }
  const list = await server.call('POST', '/graphql', {
    query: 'query Q($f: JSON) { records(base: "crm", recordType: "task", filter: $f) { data { id } } }',
    variables: { f: filter },
  })
  const queried = await tool('query_records', { record_type: 'task', filter })
  expect(comparable(queried.error).details).toEqual(list.body.errors[0].extensions.details)
  expect(queried.error.details[0].path).toMatch(/^\/filter/)
  const shape = await tool('query_records', { record_typ: 'task', limit: 0 })
  expect(shape.error.details).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ path: '/record_typ', code: 'unknown_key', hint: 'record_type' }),
      expect.objectContaining({ path: '/limit' }),
    ]),
  )
})

test('an object or array in JSON text is decoded; no other type is coerced', async () => {
  const made = await tool('create_task', { title: 'text', address: '{"city":"Bern"}', tags: '["a","b"]' })
  expect(made.body.data).toEqual({ title: 'text', address: { city: 'Bern' }, tags: ['a', 'b'] })
  const generic = await tool('upsert_record', { record_type: 'task', data: '{"title":"{}"}' })
  expect(generic.body.data).toEqual({ title: '{}' })
  const filter = '{"field":"data.title","op":"eq","value":"text"}'
  expect((await tool('query_records', { record_type: 'task', filter })).body.data).toHaveLength(1)
  for (const [name, value] of [
    ['qty', '3'],
    ['title', 5],
    ['tags', 'a'],
    ['address', '{"city":'],
    ['size', 1],
  ] as const) {
    const { error } = await tool('create_task', { title: 'x', [name]: value })
    expect(error, name).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: `/${name}` }] })
  }
  expect((await tool('query_records', { record_type: 'task', limit: '3' })).error.details).toMatchObject([
    { path: '/limit', code: 'type' },
  ])
  expect((await tool('create_task', { title: 'x', dry_run: 'true' })).error.details).toMatchObject([
    { path: '/dry_run' },
  ])
  const opaque = await tool('create_note', { body: '{"a":1}' })
  expect(opaque.body.data).toEqual({ body: '{"a":1}' })
})

test('a read token neither lists nor can call tools that write', { tags: 'full' }, async () => {
  const reader = await tokenWith({ permission: 'read' })
  const client = await connect(server.url, reader, 'v1', at)
  const { tools } = await client.listTools()
  expect(tools.map((each) => each.name).sort()).toEqual([
    'aggregate_records',
    'changes',
    'describe_type',
    'get_record',
    'get_related',
    'list_types',
    'query_records',
    'record_history',
    'sql_query',
    'work',
  ])
  expect(tools.every(({ annotations }) => annotations.readOnlyHint)).toBe(true)
  await client.close()
  for (const [name, args] of [
    ['create_task', { title: 'x' }],
    ['update_task', { id: 'x' }],
    ['upsert_record', { record_type: 'task', data: { title: 'x' } }],
    ['delete_record', { record_type: 'task', id: 'x' }],
  ] as const) {
    const { error, body } = await tool(name, args, reader)
    expect(error, name).toMatchObject({ code: 'FORBIDDEN' })
    expect(body).toBeUndefined()
  }
  expect((await tool('query_records', { record_type: 'task' }, reader)).body.data.length).toBeGreaterThan(0)
})

test('tools of a type outside the grants return the same errors whether or not the type exists', {
  tags: 'full',
}, async () => {
  const scoped = await tokenWith({ record_type: 'note', permission: 'write' })
  const client = await connect(server.url, scoped, 'v1', at)
  const names = (await client.listTools()).tools.map((each) => each.name)
  expect(names).toEqual(expect.arrayContaining(['create_note', 'upsert_record']))
  expect(names.filter((name) => /task/.test(name))).toEqual([])
  await client.close()
  const comparable = ({ request_id: _id, ...rest }: Body) =>
    JSON.stringify(rest).replaceAll(/task|nowhere/g, 'X')
  const [real, absent] = await Promise.all([
    tool('create_task', { title: 'x' }, scoped),
    tool('create_nowhere', { title: 'x' }, scoped),
  ])
  expect(real.error).toMatchObject({ code: 'FORBIDDEN' })
  expect(comparable(absent.error)).toBe(comparable(real.error))
  const [readReal, readAbsent] = await Promise.all([
    tool('get_record', { record_type: 'task', id: 'x' }, scoped),
    tool('get_record', { record_type: 'nowhere', id: 'x' }, scoped),
  ])
  expect(readReal.error).toMatchObject({ code: 'FORBIDDEN' })
  expect(comparable(readAbsent.error)).toBe(comparable(readReal.error))
  const misspelt = await tool('get_record', { record_type: 'task', idd: 'x' }, scoped)
  expect(misspelt.error).toMatchObject({ code: 'FORBIDDEN' })
  const types = await tool('list_types', {}, scoped)
  expect(types.body.data.map((type: Body) => type.id)).toEqual(['note'])
  const unknown = await tool('nothing_like_it', {}, scoped)
  expect(unknown.rpcError).toMatchObject({ code: -32602 })
  expect(unknown.rpcError.message).not.toMatch(/task/)
})

test('grants apply on /mcp as on the URL of a base', { tags: 'full' }, async () => {
  const scoped = await tokenWith({ record_type: 'note', permission: 'write' })
  const anywhere = (name: string, args: Record<string, unknown>) => tool(name, args, scoped, '/mcp')
  expect((await anywhere('list_bases', {})).body.data.map((base: Body) => base.id)).toEqual(['crm'])
  expect((await anywhere('list_types', { base_id: 'crm' })).body.data).toHaveLength(1)
  for (const base_id of ['other', 'nowhere'])
    expect((await anywhere('list_types', { base_id })).error).toMatchObject({ code: 'FORBIDDEN' })
  const made = await anywhere('upsert_record', { base_id: 'crm', record_type: 'note', data: { a: 1 } })
  expect(made.body).toMatchObject({ operation: 'created', record_type: 'note' })
  const refused = await anywhere('upsert_record', {
    base_id: 'crm',
    record_type: 'task',
    data: { title: 'x' },
  })
  expect(refused.error).toMatchObject({ code: 'FORBIDDEN' })
  for (const name of ['put_base', 'define'])
    expect((await anywhere(name, { base_id: 'crm', record_type: 'x' })).error).toMatchObject({
      code: 'FORBIDDEN',
    })
  expect((await server.call('GET', '/v1/crm/record-types/x')).status).toBe(404)
})

test('/mcp without a base creates and changes bases and types', { tags: 'full' }, async () => {
  const run = (name: string, args: Record<string, unknown>) => tool(name, args, server.adminToken, '/mcp')
  const base = await run('put_base', { base_id: 'made', name: 'Made' })
  expect(base.body).toEqual((await server.call('GET', '/v1/bases/made')).body)
  const type = await run('define', {
    base_id: 'made',
    record_type: 'thing',
    json_schema: '{"type":"object"}',
  })
  expect(type.body).toEqual({ id: 'thing', version: 1, operation: 'created' })
  const stored = (await server.call('GET', '/v1/made/record-types/thing')).body
  expect(stored).toMatchObject({ json_schema: { type: 'object' }, version: 1 })
  const broken = await run('define', { base_id: 'made', record_type: 'bad', json_schema: { type: 'array' } })
  expect(broken.error.code).toBe('VALIDATION_ERROR')
  expect(broken.error.details[0].path).toMatch(/^\/json_schema/)
  const unindexed = await run('define', {
    base_id: 'made',
    record_type: 'bad',
    indexes: [{ fields: ['data.a'], uniq: true }],
  })
  expect(unindexed.error.details).toMatchObject([{ path: '/indexes/0/uniq', code: 'unknown_key' }])
  const unset = await run('put_base', { base_id: 'made', settings: { trash_days: 'all' } })
  expect(unset.error.details).toMatchObject([{ path: '/settings/trash_days', code: 'type' }])
  const badId = await run('put_base', { base_id: 'No Good' })
  expect(badId.error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: '/base_id' }] })
  const missing = await run('list_types', {})
  expect(missing.error.details).toMatchObject([{ path: '/base_id', code: 'required' }])
  const nowhere = await run('list_types', { base_id: 'nowhere' })
  expect(nowhere.error).toMatchObject({ code: 'NOT_FOUND', details: [{ path: '/base_id' }] })
})

test('100 parallel calls with the same JSON-RPC id under 20 tokens each get their own result', {
  tags: 'full',
}, async () => {
  const callers = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const type = `mine${index}`
      await server.call('PUT', `/v1/crm/record-types/${type}`, {})
      return { type, token: await tokenWith({ record_type: type, permission: 'write' }) }
    }),
  )
  const rounds = Array.from({ length: 5 }, () => callers).flat()
  const answers = await Promise.all(
    rounds.map(async ({ type, token }) => ({
      type,
      made: await callTool(server, at, `create_${type}`, { secret: type }, { token, id: 7 }),
      seen: await callTool(server, at, 'list_types', {}, { token, id: 7 }),
    })),
  )
  for (const { type, made, seen } of answers) {
    expect(made.body).toMatchObject({ record_type: type, data: { secret: type } })
    expect(seen.body.data.map((each: Body) => each.id)).toEqual([type])
  }
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { callTool, rpc } from '../support/mcp.ts'
import { type Body, openServer, type TestServer } from '../support/server.ts'

/** Errors name the argument and the correction, and no internal detail. */
const DEAL = {
  type: 'object',
  properties: { title: { type: 'string' }, amount: { type: 'number' } },
  required: ['title'],
  additionalProperties: false,
}

let server: TestServer
const call = (name: string, args: Body = {}, path = '/mcp/crm') => callTool(server, path, name, args)
const put = async (path: string, body: object) => succeed(await server.call('PUT', path, body), 201)

beforeAll(async () => {
  server = await openServer()
  await put('/v1/bases/crm', {})
  await put('/v1/crm/record-types/deal', { json_schema: DEAL })
  await put('/v1/crm/record-types/invoice', {})
  await put('/v1/crm/records/deal/d1', { data: { title: 'Anvils' } })
})
afterAll(() => server.close())

describe('a number that is out of range', () => {
  const one = { record_type: 'deal', id: 'd1' }
  test.each([
    ['query_records', { record_type: 'deal' }, 'offset'],
    ['query_records', { record_type: 'deal' }, 'limit'],
    ['aggregate_records', { record_type: 'deal', aggregations: [{ fn: 'count' }] }, 'offset'],
    ['get_related', one, 'offset'],
    ['get_related', one, 'depth'],
    ['record_history', one, 'version'],
    ['record_history', one, 'limit'],
    ['update_record', { ...one, data: {} }, 'expected_version'],
    ['update_deal', { id: 'd1' }, 'expected_version'],
    ['work', { action: 'claim', record_type: 'deal' }, 'lease_seconds'],
    ['work', { action: 'claim', record_type: 'deal' }, 'max_attempts'],
  ])('is refused with the name of the argument: %s %j %s', async (name, args, argument) => {
    for (const value of [2 ** 31, 2 ** 40, 1e20]) {
      const { error } = await call(name, { ...args, [argument]: value })
      expect(error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: `/${argument}` }] })
      expect(error.message).toMatch(argument)
      expect(JSON.stringify(error)).not.toMatch(/graphql|Variable|Int\b|Too big/)
    }
  })

  test('is refused with the limit in message and details', async () => {
    const { error } = await call('query_records', { record_type: 'deal', limit: 5000 })
    expect(error.details).toEqual([
      {
        path: '/limit',
        code: 'too_big',
        message: '"limit" must be at most 1000.',
        expected: 1000,
        received: 5000,
      },
    ])
    const small = await call('get_record', { record_type: 'deal', id: 'd1', max_tokens: 1 })
    expect(small.error.message).toBe('"max_tokens" must be at least 200.')
  })
})

test('a missing id is refused as a required string', async () => {
  const { error } = await call('update_deal', { amount: 1 })
  expect(error.details).toMatchObject([{ path: '/id', code: 'required', expected: 'string' }])
})

test.each([
  ['undo', { user: 'bob', since: '1h' }, '/user', 'actor'],
  ['changes', { agent: 'bob' }, '/agent', 'actor'],
  ['changes', { from: '1d' }, '/from', 'since'],
  ['batch', { records: [] }, '/records', 'operations'],
  ['sql_query', { query: 'SELECT 1', args: [] }, '/args', 'params'],
])('%s with %j is told the argument that is meant', async (name, args, path, hint) => {
  const { error } = await call(name, args)
  expect(error.details.find((each: Body) => each.path === path)).toMatchObject({ code: 'unknown_key', hint })
})

test.each(['record', 'patch', 'set'])(
  'the content of a record in "%s" is moved into data, not below it',
  async (key) => {
    const { error } = await call('upsert_record', { record_type: 'invoice', id: 'i1', [key]: { total: 1 } })
    expect(JSON.parse(error.details[0].hint)).toEqual({
      record_type: 'invoice',
      id: 'i1',
      data: { total: 1 },
    })
  },
)

describe('an unknown record type', () => {
  test('is refused with the most similar type that the token may read, in MCP and in REST', {
    tags: 'full',
  }, async () => {
    for (const name of ['describe_type', 'query_records', 'aggregate_records']) {
      const aggregations = name === 'aggregate_records' ? { aggregations: [{ fn: 'count' }] } : {}
      const { error } = await call(name, { record_type: 'deals', ...aggregations })
      expect(error.message, name).toBe('There is no record type "deals". Did you mean "deal"?')
      expect(error.details).toMatchObject([
        { path: '/record_type', code: 'record_type_not_found', allowed: ['deal', 'invoice'], hint: 'deal' },
      ])
    }
    const { body } = await server.call('GET', '/v1/crm/records/invoces')
    expect(body.error.details).toMatchObject([{ received: 'invoces', hint: 'invoice' }])
  })

  test('is refused without types that the token may not read', async () => {
    const made = await server.call('POST', '/v1/tokens', {
      name: 'scoped',
      grants: [
        { base: 'crm', record_type: ['deal', 'invoces'], environment: 'production', permission: 'read' },
      ],
    })
    const { token } = succeed(made, 201)
    const { error } = await callTool(
      server,
      '/mcp/crm',
      'query_records',
      { record_type: 'invoces' },
      { token },
    )
    expect(error.details).toMatchObject([{ code: 'record_type_not_found', allowed: ['deal'] }])
    expect(JSON.stringify(error)).not.toMatch('invoice')
  })
})

describe('an unknown tool name', () => {
  test.each([
    ['create_deel', 'create_deal'],
    ['craete_deal', 'create_deal'],
    ['qurey_records', 'query_records'],
    ['query_record', 'query_records'],
    ['delete_deal', 'delete_record'],
    ['get_deal', 'get_record'],
    ['upsert_deal', 'upsert_record'],
    ['define_type', 'define'],
    ['create_record_type', 'define'],
    ['drop_field', 'define'],
    ['delete_type', 'batch'],
    ['delete_definition', 'batch'],
    ['import_csv', 'batch'],
    ['list_deals', 'query_records'],
    ['find_records', 'query_records'],
    ['search', 'query_records'],
    ['fetch_deal', 'get_record'],
    ['add_deal', 'create_deal'],
    ['create_record', 'upsert_record'],
    ['remove_deal', 'delete_record'],
    ['unlink_records', 'batch'],
    ['execute_sql', 'sql_query'],
    ['describe_table', 'describe_type'],
    ['revert_request', 'undo'],
    ['audit_log', 'changes'],
    ['deal_history', 'record_history'],
    ['count_deals', 'aggregate_records'],
    ['claim_deal', 'work'],
    ['attach_file', 'put_file'],
    ['create_attachment', 'put_file'],
    ['getDeal', 'get_record'],
    ['createDeal', 'create_deal'],
  ])('%s is refused with the suggestion %s', async (name, meant) => {
    expect((await call(name)).rpcError.message).toMatch(`Did you mean "${meant}"?`)
  })

  test('is that of a base, where bases are administered', async () => {
    const meant = async (name: string) => (await call(name, {}, '/mcp')).rpcError.message
    expect(await meant('createDatabase')).toContain('Did you mean "put_base"?')
    expect(await meant('list_workspaces')).toContain('Did you mean "list_bases"?')
    expect(await meant('drop_base')).toContain('Did you mean "delete_definition"?')
    expect((await call('delete_base')).rpcError.message).not.toContain('Did you mean')
  })

  test('where the profile lists few tools, the suggestion is one of them', async () => {
    const meant = async (name: string) => (await call(name, {}, '/mcp/crm?profile=lean')).rpcError.message
    expect(await meant('list_deals')).toContain('Did you mean "sql_query"?')
    expect(await meant('create_record')).toContain('Did you mean "sql_write"?')
    expect(await meant('find_records')).toContain('Did you mean "search"?')
    expect(await meant('rollback')).toContain('Did you mean "undo"?')
    // None of the listed ones cancels.
    expect(await meant('cancel_deal')).toContain('Did you mean "cancel_record"?')
  })

  test.each(['create_constructor', 'create_gizmo', 'frobnicate', 'send_email', 'list_attachments'])(
    '%s is refused without a suggestion of a tool with another effect',
    async (name) => {
      expect((await call(name)).rpcError.message).not.toMatch('Did you mean')
    },
  )
})

test('an unknown URL option is refused with the most similar option', async () => {
  const { rpcError } = await call('list_types', {}, '/mcp/crm?type=deal')
  expect(rpcError.message).toBe('Unknown option in the address: "type". Did you mean "types"?')
})

test('the instructions describe the effect of a known external_id in upsert_record and create tools', {
  tags: 'full',
}, async () => {
  const { body } = await rpc(server, '/mcp/crm', 'initialize', {
    ...{ protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  })
  expect(body.result.instructions).toMatch(
    'upsert_record with the same external_id updates that record; create_<type> refuses it',
  )
  const pair = { external_id: 'SF-1', external_source: 'salesforce' }
  await call('create_deal', { title: 'first', ...pair })
  expect((await call('create_deal', { title: 'again', ...pair })).error.code).toBe('CONFLICT')
  const again = await call('upsert_record', { record_type: 'deal', data: { title: 'again' }, ...pair })
  expect(again.body.operation).toBe('updated')
})

test('a time that is none is named by its argument, never by a variable of GraphQL', async () => {
  for (const name of ['undo', 'changes']) {
    const { error } = await call(name, { since: 'at noon', actor: 'admin' })
    expect(error.details).toMatchObject([
      {
        path: '/since',
        code: 'invalid_time',
        message: '"since" must be a time such as 2026-01-31T09:30:00Z, or an age such as 90m, 2h or 7d.',
      },
    ])
    expect(JSON.stringify(error)).not.toMatch(/Variable|DateTime/)
  }
})

test('arguments with shorter names are no content of a record', async () => {
  const ends = { source_type: 'deal', source_id: 'a', target_type: 'deal', target_id: 'b' }
  const { error } = await call('link_records', { rel_type: 'r', ...ends })
  const hints = error.details.map(({ path, hint }: Body) => [path, hint])
  expect(hints).toEqual(
    expect.arrayContaining([
      ['/source_type', 'source_record_type'],
      ['/target_type', 'target_record_type'],
    ]),
  )
})

test('a batch operation of another name has the one that does it as its hint', async () => {
  const { error } = await call('batch', {
    operations: [{ type: 'update_record', record_type: 'deal', id: 'a', data: {} }],
  })
  expect(error.details[0]).toMatchObject({ path: '/operations/0/type', hint: 'patch_record' })
})

test('query_records takes a sort as a list too', async () => {
  const sort = [{ field: 'created_at', direction: 'asc' }]
  expect((await call('query_records', { record_type: 'deal', sort })).error).toBeUndefined()
  const shown = (
    await call('query_records', { record_type: 'deal', sort: [{ field: 'nope', direction: 'asc' }] })
  ).error
  expect(shown.details[0].path).toBe('/sort/0/field')
})

describe('a call in the words of another system', () => {
  const detailOf = async (name: string, args: Body) => (await call(name, args)).error.details.at(-1)

  test('has the argument that is meant as hint', async () => {
    const list = { record_type: 'deal' }
    expect(await detailOf('query_records', { ...list, where: { title: 'Anvils' } })).toMatchObject({
      path: '/where',
      hint: '{"filter":{"field":"data.title","op":"eq","value":"Anvils"}}',
    })
    expect(await detailOf('query_records', { ...list, page: 3 })).toMatchObject({ hint: '{"offset":40}' })
    expect(await detailOf('query_records', { ...list, filter: 'title:Anvils' })).toMatchObject({
      path: '/filter',
      hint: '{"field":"data.property","op":"eq","value":"…"}',
    })
    expect(await detailOf('changes', { since: '2026-11-23' })).toMatchObject({ hint: '2026-11-23T00:00:00Z' })
    expect(await detailOf('sql_query', { sql: 'SELECT 1' })).toMatchObject({ path: '/sql', hint: 'query' })
    expect(await detailOf('query_records', { type: 'deal' })).toMatchObject({ hint: 'record_type' })
    expect((await detailOf('sql_query', { sql: 5 })).hint).toBeUndefined()
  })

  test('that knows a record by its external id is led to the record', async () => {
    const { id } = await put('/v1/crm/records/deal/d7', { data: { title: 'Bell' }, external_id: 'order-7' })
    const one = { record_type: 'deal', external_id: 'order-7' }
    const byId = [
      'get_record',
      'delete_record',
      'record_history',
      'cancel_record',
      'get_related',
      'update_record',
    ]
    for (const name of [...byId, 'update_deal']) {
      const { error } = await call(
        name,
        name === 'update_deal' ? { title: 'x', external_id: 'order-7' } : one,
      )
      const [detail, ...others] = error.details
      expect(others).toEqual([])
      expect(error.message).toBe(
        '"id" is required. query_records finds the record with the filter in hint; send its id.',
      )
      const found = await call('query_records', { record_type: 'deal', filter: JSON.parse(detail.hint) })
      expect(found.body.data[0].id).toBe(id)
    }
    for (const name of byId) {
      const { error } = await call(name, { record_type: 'deal', id: 'order-7' })
      expect(error, name).toMatchObject({ code: 'NOT_FOUND', details: [{ hint: id }] })
    }
    const both = { ...one, external_source: 'default' }
    expect(JSON.parse((await detailOf('cancel_record', both)).hint).and).toHaveLength(2)
  })

  test('that links in the words of link_records has the fields of a link as hints', async () => {
    const relationships = [{ type: 'near', target_id: 'd1', target_record_type: 'deal' }]
    const { error } = await call('upsert_record', {
      record_type: 'deal',
      id: 'd1',
      data: { title: 'x' },
      relationships,
    })
    const hints = error.details.flatMap(({ hint }: Body) => hint ?? [])
    expect(hints).toEqual(['rel_type', 'id', 'record_type'])
  })

  test('that filters with a text of comparisons, or a list, has the filter as hint', async () => {
    const hintOf = async (filter: unknown) =>
      JSON.parse((await detailOf('query_records', { record_type: 'deal', filter })).hint)
    const [title, amount] = [
      { field: 'data.title', op: 'eq', value: 'Bell' },
      { field: 'data.amount', op: 'gt', value: 5 },
    ]
    expect(await hintOf("title = 'Bell' AND amount > 5")).toEqual({ and: [title, amount] })
    expect(await hintOf('title == "Bell" || amount > 5')).toEqual({ or: [title, amount] })
    expect(await hintOf([title, amount])).toEqual({ and: [title, amount] })
    expect(await hintOf("title = 'Bell' AND amount > 5 OR amount > 9")).toMatchObject({ value: '…' })
  })

  test('that sets an own status beside data has it in data as hint, and writes nothing', async () => {
    const one = { record_type: 'deal', id: 'd1' }
    const detail = await detailOf('update_record', { ...one, status: 'won' })
    expect(detail).toMatchObject({ path: '/status', code: 'not_writable', hint: '{"data":{"status":"won"}}' })
    const cancelled = await detailOf('update_record', { ...one, status: 'cancelled' })
    expect(cancelled.message).toMatch(/cancel_record cancels the record, undo reverses that/)
    expect(cancelled.hint).toBeUndefined()
    expect(succeed(await server.call('GET', '/v1/crm/records/deal/d1')).version).toBe(1)
  })

  test.each([
    ['delete_relationship', 'batch'],
    ['remove_link', 'batch'],
    ['create_relationship', 'link_records'],
  ])('of the tool %s names the tool that does it', async (name, meant) => {
    const { rpcError } = await call(name, { id: 'x' })
    expect(rpcError).toMatchObject({ code: -32602 })
    expect(rpcError.message).toContain(`Did you mean "${meant}"?`)
  })
})

describe('SQL as other databases have it', () => {
  const faultOf = async (tool: string, args: Body) => (await call(tool, args)).error.details[0]
  beforeAll(async () => {
    const tags = { type: 'array', items: { type: 'string' } }
    const status = { type: 'string', enum: ['open', 'done'] }
    const json_schema = { type: 'object', properties: { tags, status } }
    await put('/v1/crm/record-types/chore', { json_schema })
  })

  test('names the relation of links for a relationship type', async () => {
    await put('/v1/crm/relationship-types/chore_of', {
      source_record_types: ['chore'],
      target_record_types: ['deal'],
    })
    const { message } = await faultOf('sql_query', { query: 'SELECT * FROM chore_of' })
    expect(message).toContain('Links are rows of relationships')
  })

  test.each([
    ["WITH n AS (INSERT INTO chore (id) VALUES ('c')) SELECT 1", /separate statement to sql_write/],
    ['INSERT INTO chore (id) VALUES (gen_random_uuid()::text)', /Leave id out/],
    ['ALTER TABLE chore ADD COLUMN n int', /changed with define/],
    ["INSERT INTO chore (tags) VALUES ('[]') ON CONFLICT (tags) DO NOTHING", /WHERE NOT EXISTS/],
    ["UPDATE relationships SET rel_type = 'x'", /in the same request/],
    ['COMMIT; SELECT 1', /one transaction already/],
  ])('says in sql_write what to write in place of %s', async (statements, advice) => {
    expect((await faultOf('sql_write', { statements })).message).toMatch(advice)
  })

  test.each([
    ["UPDATE chore SET tags = array_append(tags, 'x')", `coalesce(tags, '[]') || '["x"]'`],
    ["UPDATE chore SET tags = array_remove(tags, 'x')", "tags - 'x'"],
    ["UPDATE chore SET tags = tags || 'x'", '["x"]'],
    ["SELECT id FROM chore WHERE 'x' = ANY(tags)", `tags @> '["x"]'`],
  ])('hints at lists as JSON for %s', async (statements, hint) => {
    await put(`/v1/crm/records/chore/${Math.random()}`, { data: { tags: [] } })
    expect((await faultOf('sql_write', { statements })).hint).toContain(hint)
  })

  test('advises on the own status of records with a property of that name, where it is not meant', {
    tags: 'full',
  }, async () => {
    const hintOf = async (query: string) => (await call('sql_query', { query })).body.meta.hint
    expect(await hintOf('SELECT status, count(*) AS n FROM chore GROUP BY 1')).toContain('data_status')
    expect(await hintOf('SELECT data_status, count(*) AS n FROM chore GROUP BY 1')).toBeUndefined()
    expect(await hintOf("SELECT id FROM chore WHERE status = 'active'")).toBeUndefined()
    expect(await hintOf('SELECT status FROM deal')).toBeUndefined()
    expect(await hintOf('SELECT * FROM chore')).toBeUndefined()
  })

  test('a schema that records break is answered with the arguments of define', async () => {
    const { hint } = await faultOf('define', {
      record_type: 'deal',
      json_schema: { required: ['title', 'amount'] },
    })
    expect(hint).toContain('or a "migration" that repairs them')
    expect(hint).not.toContain('migrate=true')
  })
})

describe('the words of other systems', () => {
  const answer = async (name: string, args: Body, path?: string) => (await call(name, args, path)).error
  const hintsOf = async (name: string, args: Body) => {
    const { details } = await answer(name, args)
    return Object.fromEntries(details.map(({ path, hint }: Body) => [path, hint]))
  }
  beforeAll(async () => {
    const ends = { source_record_types: ['deal'], target_record_types: ['invoice'] }
    await put('/v1/crm/relationship-types/billed_by', { ...ends, cardinality: 'many_to_one' })
    for (const id of ['i1', 'i2']) await put(`/v1/crm/records/invoice/${id}`, { data: {} })
    const link = { ...{ rel_type: 'billed_by', source_record_type: 'deal', source_id: 'd1' } }
    await put('/v1/crm/relationships/l1', { ...link, target_record_type: 'invoice', target_id: 'i1' })
  })

  test.each<[Body, Body]>([
    [{ aggregations: ['count'] }, { '/aggregations/0': '{"fn":"count"}' }],
    [
      { aggregations: ['count(*)', 'sum(amount)'] },
      { '/aggregations/0': '{"fn":"count"}', '/aggregations/1': '{"fn":"sum","field":"data.amount"}' },
    ],
    [{ aggregations: { sum: 'data.amount' } }, { '/aggregations': '[{"fn":"sum","field":"data.amount"}]' }],
    [{ aggregations: 'average(amount)' }, { '/aggregations': '[{"fn":"avg","field":"data.amount"}]' }],
    [{}, { '/aggregations': '[{"fn":"count"}]' }],
    [
      { aggregations: [{ fn: 'count' }], metrics: ['max(amount)'] },
      { '/metrics': '{"aggregations":[{"fn":"max","field":"data.amount"}]}' },
    ],
    [{ aggregations: [{ fn: 'count' }], order_by: '-count' }, { '/order_by': '{"sort":"-count"}' }],
  ])('of aggregations have the form of aggregate_records as hint: %j', async (args, hints) => {
    expect(await hintsOf('aggregate_records', { record_type: 'deal', ...args })).toEqual(hints)
  })

  test.each([
    ['deal', 'invoices', 'billed_by', 'outgoing'],
    ['invoice', 'deal', 'billed_by', 'incoming'],
  ])('from %s to %s name the relationship type and the direction', async (from, name, relType, direction) => {
    const step = direction === 'incoming' ? `~${relType}` : relType
    expect(await hintsOf('query_records', { record_type: from, expand: [name] })).toEqual({ '/expand': step })
    const { data } = (await call('query_records', { record_type: from, expand: [step] })).body
    expect(data.some(({ _expanded }: Body) => _expanded[step].length === 1)).toBe(true)
    const one = { record_type: from, id: from === 'deal' ? 'd1' : 'i1' }
    const error = await answer('get_related', { ...one, rel_type: name })
    expect(error.message).toContain(`"${relType}" with direction "${direction}"`)
    const found = (await call('get_related', { ...one, rel_type: relType, direction })).body
    expect(found.data).toHaveLength(1)
  })

  test('that expand against the direction are answered with the step that finds links', async () => {
    const { body } = await call('query_records', { record_type: 'invoice', expand: ['billed_by'] })
    expect(body.meta.hint).toContain('Expand "~billed_by"')
    const right = await call('query_records', { record_type: 'invoice', expand: ['~billed_by'] })
    expect(right.body.meta.hint).toBeUndefined()
  })

  test('that define types have the field that is meant as hint', async () => {
    const type = { record_type: 'receipt' }
    expect(await hintsOf('define', { ...type, schema: {} })).toEqual({ '/schema': 'json_schema' })
    expect(await hintsOf('define', { ...type, indexes: ['total'] })).toEqual({
      '/indexes/0': '{"fields":["data.total"]}',
    })
    const link = { relationship_type: 'paid_by', target_record_types: ['deal'] }
    expect(await hintsOf('define', { ...link, source: 'invoice' })).toEqual({
      '/source': 'source_record_types',
    })
    expect(await hintsOf('define', { ...link, source_record_types: 'invoice' })).toEqual({
      '/source_record_types': '["invoice"]',
    })
  })

  test('that list properties without "properties" around them are warned about', {
    tags: 'full',
  }, async () => {
    const { body } = await call('define', {
      record_type: 'receipt',
      json_schema: { total: 'number' },
      dry_run: true,
    })
    expect(body.meta.warnings).toEqual([
      expect.stringContaining('{"properties":{"email":{"type":"string"}}}'),
    ])
    for (const json_schema of [
      { title: 'string', total: 'number' },
      { type: 'object', total: { type: 'number' } },
    ])
      expect(
        (await call('define', { record_type: 'receipt', json_schema, dry_run: true })).body.meta.warnings,
      ).toHaveLength(1)
    const named = { record_type: 'receipt', json_schema: { 'x-note': 'own' }, dry_run: true }
    expect((await call('define', named)).body.meta).toBeUndefined()
  })

  test('that put properties in data of a type tool have the flat arguments as hint', async () => {
    expect(await hintsOf('create_deal', { data: { title: 'Nails' }, dry_run: true })).toMatchObject({
      '/data': '{"dry_run":true,"title":"Nails"}',
    })
    expect((await call('create_deal', { dry_run: true, title: 'Nails' })).error).toBeUndefined()
  })

  test('that choose the id of a new record have the tool that takes one in the error', async () => {
    const error = await answer('create_deal', { id: 'd9', title: 'Nails' })
    expect(error.details).toEqual([
      { path: '/id', code: 'unknown_key', message: expect.stringContaining('upsert_record') },
    ])
  })

  test.each<[string, Body, Body]>([
    [
      'batch',
      { operations: [{ op: 'create', record_type: 'deal', data: {} }] },
      { '/operations/0/type': 'create_record' },
    ],
    ['undo', { request_id: 'x', confirm: true }, { '/confirm': 'plan_token' }],
    ['changes', { include: ['before'] }, { '/include': 'before' }],
    ['work', { action: 'complete', id: 'd1' }, { '/id': 'claim_id' }],
    [
      'get_related',
      { record_type: 'deal', id: 'd1', relationship: 'billed_by' },
      { '/relationship': 'rel_type' },
    ],
    [
      'sql_write',
      { statements: ['DELETE FROM deal', 'SELECT 1'] },
      { '/statements': 'DELETE FROM deal; SELECT 1' },
    ],
    [
      'update_record',
      { record_type: 'deal', id: 'd1', fields: { title: 'x' } },
      {
        '/data': '{"record_type":"deal","id":"d1","data":{"title":"x"}}',
        '/fields': 'data',
      },
    ],
  ])('in a call of %s have the argument that is meant as hint: %j', async (name, args, hints) => {
    expect(await hintsOf(name, args)).toMatchObject(hints)
  })

  test.each([
    ['SELECT * FROM deal d JOIN billed_by b ON b.source_id = d.id', /Links are rows of relationships/],
    ['SELECT * FROM deal WHERE invoice_id IS NOT NULL', /Links between records are rows of relationships/],
    ['SELECT * FROM history', /Did you mean changes\?/],
    ["SELECT * FROM crosstab('SELECT 1')", /The function crosstab is not available here\. Use one sum/],
    ["SELECT * FROM deal WHERE to_tsvector(title) @@ to_tsquery('x')", /Find words with .* query_records/],
    ["SELECT to_tsvector('x') FROM deal", /Find words with/],
    ['SELECT * FROM deal LIMIT 1 FOR UPDATE SKIP LOCKED', /work takes records for one worker/],
    ["SELECT * FROM deal AS OF '2026-01-01'", /The past is read with as_of/],
  ])('in SQL are answered with the relation that is meant: %s', async (query, advice) => {
    expect((await answer('sql_query', { query })).message).toMatch(advice)
  })

  test('a second link where there may be one is answered in the words of the tools listed', {
    tags: 'full',
  }, async () => {
    const statements = `INSERT INTO relationships (rel_type, source_id, target_id) VALUES ('billed_by', 'd1', 'i2')`
    const lean = await answer('sql_write', { statements }, '/mcp/crm?profile=lean')
    expect(lean.message).toContain('UPDATE relationships SET source_id or target_id')
    expect(lean.details[0].hint).toBeUndefined()
    const moved = `BEGIN; UPDATE relationships SET target_id = 'i2' WHERE rel_type = 'billed_by' AND source_id = 'd1'; COMMIT`
    expect((await call('sql_write', { statements: moved, dry_run: true })).error).toBeUndefined()
  })
})

test('get_record reads what a record was', { tags: 'full' }, async () => {
  const one = { record_type: 'deal', id: 'd1' }
  const before = (await call('get_record', one)).body
  await call('update_record', { ...one, data: { amount: 7 } })
  expect((await call('get_record', { ...one, version: before.version })).body.data).toEqual(before.data)
  expect((await call('get_record', { ...one, as_of: before.updated_at })).body.data).toEqual(before.data)
  expect((await call('get_record', one)).body.data.amount).toBe(7)
  const both = await call('get_record', { ...one, version: 1, as_of: before.updated_at })
  expect(both.error.details).toMatchObject([{ path: '/as_of', code: 'exclusive' }])
})

test('what is meant otherwise than it is stored or sent is said with the call that does it', async () => {
  await put('/v1/crm/record-types/lead', { json_schema: { properties: { title: { type: 'string' } } } })
  const { meta } = (await call('create_lead', { id: 'i1' })).body
  expect(meta.warnings).toEqual([expect.stringContaining('use upsert_record')])
  const messageOf = async (name: string, args: Body) => (await call(name, args)).error.message
  expect(await messageOf('define', { record_type: 'lead', migration: { drop: 'a' } })).toContain(
    '"migration" must be a list of steps, such as [{"op":',
  )
  expect(await messageOf('work', { action: 'complete', claim_id: 'c', patch: {} })).toContain('update_record')
  const text = await call('query_records', { record_type: 'deal', filter: "title = 'a b'" })
  expect(JSON.parse(text.error.details[0].hint)).toEqual({ field: 'data.title', op: 'eq', value: 'a b' })
  const { error } = await call('query_records', { record_type: 'deal', query: 'anvils' })
  expect(JSON.parse(error.details[0].hint).filter.op).toBe('search')
})

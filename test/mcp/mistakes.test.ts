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

describe('an unknown record type', () => {
  test('is refused with the most similar type that the token may read, in MCP and in REST', async () => {
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
    ['list_deals', 'query_records'],
    ['find_records', 'query_records'],
    ['search', 'query_records'],
    ['fetch_deal', 'get_record'],
    ['add_deal', 'create_deal'],
    ['create_record', 'upsert_record'],
    ['remove_deal', 'delete_record'],
    ['unlink_records', 'link_records'],
    ['execute_sql', 'sql_query'],
    ['describe_table', 'describe_type'],
    ['revert_request', 'undo'],
    ['audit_log', 'changes'],
    ['deal_history', 'record_history'],
    ['count_deals', 'aggregate_records'],
    ['claim_deal', 'work'],
  ])('%s is refused with the suggestion %s', async (name, meant) => {
    expect((await call(name)).rpcError.message).toMatch(`Did you mean "${meant}"?`)
  })

  test('where the profile lists few tools, the suggestion is one of them', async () => {
    const meant = async (name: string) => (await call(name, {}, '/mcp/crm?profile=lean')).rpcError.message
    expect(await meant('list_deals')).toContain('Did you mean "sql_query"?')
    expect(await meant('create_record')).toContain('Did you mean "sql_write"?')
    expect(await meant('find_records')).toContain('Did you mean "search"?')
    expect(await meant('rollback')).toContain('Did you mean "undo"?')
  })

  test.each(['create_constructor', 'create_gizmo', 'frobnicate', 'send_email'])(
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

test('the instructions describe the effect of a known external_id in upsert_record and create tools', async () => {
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
    const { error } = await call(name, { since: '1h', actor: 'admin' })
    expect(error.details).toMatchObject([
      { path: '/since', message: '"since" must be a time such as 2026-01-31T09:30:00Z.' },
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

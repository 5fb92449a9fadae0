import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFault, succeed } from '../support/answers.ts'
import { callTool, rpc } from '../support/mcp.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
// biome-ignore lint/suspicious/noExplicitAny: answers have many types.
type Answer = any
type Token = Awaited<ReturnType<World['newToken']>>

let agent: Token
let other: Token

const tool = (name: string, args: object, requestId: string, path = '/mcp/crm', token = agent.token) =>
  rpc(world, path, 'tools/call', { name, arguments: args }, { token, headers: { 'x-request-id': requestId } })
const calls = async (query: string, by: Answer = world): Promise<Answer[]> =>
  succeed(await by.call('GET', `/v1/crm/calls?${query}`)).data
const setting = async (settings: object) => succeed(await world.call('PUT', '/v1/bases/crm', { settings }))

beforeAll(async () => {
  world = await openWorld()
  const schema = {
    type: 'object',
    properties: { stage: { enum: ['new', 'solved'] }, note: { type: 'string' }, api_key: { type: 'string' } },
    required: ['stage'],
  }
  succeed(await world.call('PUT', '/v1/crm/record-types/ticket', { json_schema: schema }), 201)
  agent = await world.newToken([{ permission: 'write' }], { name: 'reply-agent', kind: 'agent' })
  other = await world.newToken([{ record_type: 'ticket', permission: 'write' }], { name: 'importer' })
})
afterAll(() => world.close())

describe('the calls of a base', () => {
  test('have each tool call, with who, what, how it ended, how large it was and what it changed', async () => {
    const sent = {
      jsonrpc: '2.0',
      id: 7,
      method: 'tools/call',
      params: { name: 'create_ticket', arguments: { stage: 'new' } },
    }
    const answer = await world.as(agent.token)('POST', '/mcp/crm', sent, { 'x-request-id': 'made-one' })
    const [call, ...more] = await calls('request_id=made-one')
    expect(more).toEqual([])
    expect(call).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      at: expect.any(String),
      actor: { token_id: agent.id, name: 'reply-agent', kind: 'agent', via: 'mcp' },
      surface: 'mcp',
      endpoint: null,
      tool: 'create_ticket',
      route: null,
      outcome: 'ok',
      message: null,
      ms: expect.any(Number),
      bytes_in: JSON.stringify(sent).length,
      bytes_out: Buffer.byteLength(JSON.stringify(answer.body)),
      arguments: null,
      request_id: 'made-one',
      changes: 1,
    })
    expect(Date.now() - Date.parse(call.at)).toBeLessThan(60_000)
  })

  test('have what failed, with its code and message', async () => {
    const answer = await callTool(
      world,
      '/mcp/crm',
      'create_ticket',
      { stage: 'closed' },
      { token: agent.token },
    )
    const [failed] = await calls('outcome=failed&tool=create_ticket')
    expect(failed).toMatchObject({ outcome: 'VALIDATION_ERROR', message: answer.error.message, changes: 0 })
    await tool('no_such_tool', {}, 'unknown-tool')
    expect(await calls('request_id=unknown-tool')).toMatchObject([
      { tool: 'no_such_tool', outcome: '-32602' },
    ])
  })

  test('have refused requests of REST and GraphQL, and no others', async () => {
    const by = world.as(agent.token)
    const headers = { 'x-request-id': 'by-rest' }
    await by('PUT', '/v1/crm/records/ticket/t1', { data: { stage: 'new' } }, headers)
    await by('PUT', '/v1/crm/records/ticket/t1', { data: { stage: 'x' } }, headers)
    await by('GET', '/v1/crm/records/ticket/none', undefined, headers)
    await by('PUT', '/v1/crm/record-types/more', {}, headers)
    expect((await calls('request_id=by-rest')).map(({ route, outcome }) => [route, outcome])).toEqual([
      ['PUT /v1/:base_id/record-types/:id', 'FORBIDDEN'],
      ['GET /v1/:base_id/records/:record_type/:id', 'NOT_FOUND'],
      ['PUT /v1/:base_id/records/:record_type/:id', 'VALIDATION_ERROR'],
    ])
    const query = 'query ($b: String!) { record(base: $b, recordType: "ticket", id: "none") { id } }'
    await by('POST', '/graphql', { query, variables: { b: 'crm' } }, { 'x-request-id': 'by-graphql' })
    await by('POST', '/graphql/crm', { query: '{ nothing }' }, { 'x-request-id': 'by-graphql' })
    expect(await calls('request_id=by-graphql')).toMatchObject([
      { surface: 'graphql', route: 'POST /graphql/:base', outcome: 'VALIDATION_ERROR' },
      { surface: 'graphql', route: 'POST /graphql', outcome: 'NOT_FOUND' },
    ])
  })

  test('have a call without a base in its address under the base that its arguments name', async () => {
    await tool('get_record', { base_id: 'crm', record_type: 'ticket', id: 't1' }, 'any-base', '/mcp')
    await tool('list_bases', {}, 'no-base', '/mcp')
    expect(await calls('request_id=any-base')).toMatchObject([{ tool: 'get_record', outcome: 'ok' }])
    expect(await calls('request_id=no-base')).toEqual([])
  })

  test('say of each call of a batch what it changed', async () => {
    const message = (id: number, name: string, args: object) => ({
      ...{ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } },
    })
    const batch = [
      message(1, 'create_ticket', { stage: 'new' }),
      message(2, 'get_record', { record_type: 'ticket', id: 't1' }),
      message(3, 'batch', {
        operations: [
          { type: 'create_record', record_type: 'ticket', data: { stage: 'new' } },
          { type: 'create_record', record_type: 'ticket', data: { stage: 'new' } },
        ],
      }),
    ]
    await world.as(agent.token)('POST', '/mcp/crm', batch, { 'x-request-id': 'three' })
    const found = await calls('request_id=three')
    expect(found.map(({ outcome, message }) => [outcome, message])).toEqual(found.map(() => ['ok', null]))
    expect(Object.fromEntries(found.map(({ tool, changes }) => [tool, changes]))).toEqual({
      create_ticket: 1,
      get_record: 0,
      batch: 2,
    })
  })

  test('count the changes of equal request ids once', async () => {
    const operations = [{ type: 'create_record', record_type: 'ticket', data: { stage: 'new' } }]
    for (let n = 0; n < 3; n++) await tool('create_ticket', { stage: 'new' }, 'reused')
    await tool('batch', { operations }, 'reused')
    const found = await calls('request_id=reused')
    expect(found.reduce((sum, { changes }) => sum + changes, 0)).toBe(4)
  })

  test('say that a write which left all as it was changed nothing', async () => {
    const same = { record_type: 'ticket', id: 'same', data: { stage: 'new' } }
    for (const id of ['first', 'second']) await tool('upsert_record', same, id)
    expect(await calls('request_id=first')).toMatchObject([{ outcome: 'ok', changes: 1 }])
    expect(await calls('request_id=second')).toMatchObject([{ outcome: 'ok', changes: 0 }])
  })

  test('tell an agent what it tried in vain', async () => {
    const asked = { calls: 'failed', actor: 'reply-agent', limit: 1 }
    await callTool(world, '/mcp/crm', 'create_ticket', { stage: 'lost' }, { token: agent.token })
    const { body } = await callTool(world, '/mcp/crm', 'changes', asked, { token: agent.token })
    expect(body.data).toMatchObject([{ tool: 'create_ticket', outcome: 'VALIDATION_ERROR' }])
    const both = await callTool(
      world,
      '/mcp/crm',
      'changes',
      { ...asked, group: 'request' },
      { token: agent.token },
    )
    expect(both.error.details).toMatchObject([{ path: '/group', code: 'exclusive' }])
  })

  test('are found by token, endpoint, time and place in the list', async () => {
    await tool('get_record', { record_type: 'ticket', id: 't1' }, 'by-other', '/mcp/crm', other.token)
    expect(await calls('token=importer')).toMatchObject([{ request_id: 'by-other' }])
    expect(await calls(`token=${other.id}`)).toHaveLength(1)
    expect(await calls('endpoint=none')).toEqual([])
    expect(await calls('until=1h')).toEqual([])
    const all = await calls('since=1h')
    const first = succeed(await world.call('GET', '/v1/crm/calls?limit=2'))
    const next = first.meta.next_before
    expect(first.meta).toEqual({ has_more: true, limit: 2, next_before: first.data[1].id })
    const rest = await calls(`before=${next}&limit=1000`)
    expect([...first.data, ...rest]).toEqual(all)
    const refused = await world.call('GET', '/v1/crm/calls?before=x')
    expect(refused.body.error.details).toMatchObject([{ path: 'query/before', code: 'invalid_id' }])
  })
})

test('an outcome that no call has is refused by name, on REST and GraphQL', async () => {
  const bad = expectFault(await world.call('GET', '/v1/crm/calls?outcome=fail'), 'query/outcome')
  expect(bad).toMatchObject({ code: 'enum', received: 'fail', allowed: expect.arrayContaining(['failed']) })
  expect(bad.message).toContain('Did you mean "failed"?')
  const query = '{ calls(base: "crm", outcome: "bogus") { data { id } } }'
  const { errors } = (await world.call('POST', '/graphql', { query })).body
  expect(errors[0].extensions.code).toBe('VALIDATION_ERROR')
  for (const known of ['failed', 'ok', 'cancelled', 'NOT_FOUND', '-32602'])
    succeed(await world.call('GET', `/v1/crm/calls?outcome=${known}`))
})

describe('what a token sees', () => {
  test('is its own calls, if it cannot read the whole base, in SQL too', async () => {
    const own = await calls('', other)
    expect(own.length).toBeGreaterThan(0)
    expect(new Set(own.map(({ actor }) => actor.name))).toEqual(new Set(['importer']))
    expect(await calls('token=reply-agent', other)).toEqual([])
    const sql = "SELECT DISTINCT actor_name FROM calls WHERE surface = 'mcp' ORDER BY 1"
    const rows = async (by: Answer) => succeed(await by.call('POST', '/v1/crm/sql', { query: sql })).data
    expect(await rows(other)).toEqual([{ actor_name: 'importer' }])
    expect(await rows(world)).toEqual([{ actor_name: 'importer' }, { actor_name: 'reply-agent' }])
  })

  test('is nothing of a base that it has no grant on, where it leaves no trace', async () => {
    succeed(await world.call('PUT', '/v1/bases/closed', {}), 201)
    expect((await agent.call('GET', '/v1/closed/calls')).status).toBe(403)
    expect(succeed(await world.call('GET', '/v1/closed/calls')).data).toEqual([])
  })
})

describe('the arguments', () => {
  const args = async (requestId: string) => (await calls(`request_id=${requestId}`))[0].arguments

  test('are kept if the base says so: the first 2 KiB, without secrets', async () => {
    succeed(
      await world.call('PUT', '/v1/vault/secrets/mail', { value: 'very-secret-value', bases: ['crm'] }),
      201,
    )
    await tool('create_ticket', { stage: 'new' }, 'before')
    expect(await args('before')).toBeNull()
    await setting({ call_arguments: true })
    const note = `see very-secret-value and ${agent.token}`
    await tool('create_ticket', { stage: 'new', note, api_key: 'k-1' }, 'masked')
    expect(JSON.parse(await args('masked'))).toEqual({
      stage: 'new',
      note: 'see <redacted> and <redacted>',
      api_key: '<redacted>',
    })
    await tool('create_ticket', { stage: 'new', note: 'é'.repeat(100_000) }, 'long')
    const long = await args('long')
    expect(long).toMatch(/^\{"stage":"new","note":"éé/)
    expect(Buffer.byteLength(long)).toBeLessThanOrEqual(2048)
    expect(Buffer.byteLength(long)).toBeGreaterThan(1900)
    await tool('create_ticket', { stage: 'new', note: '\ud800 lone' }, 'odd')
    expect(await args('odd')).toContain('lone')
  })
})

test('calls are kept for calls_days of the base, and go with it', async () => {
  const stored = async (base: string) =>
    (
      await world.database.query<{ n: number }>(
        'SELECT count(*)::int AS n FROM plinth.call WHERE base_id = $1',
        [base],
      )
    )[0]?.n
  succeed(await world.call('PUT', '/v1/bases/short', {}), 201)
  const failed = () => world.call('GET', '/v1/short/records/none/x')
  const list = async () => succeed(await world.call('GET', '/v1/short/calls')).data
  for (let n = 0; n < 3; n++) await failed()
  expect(await list()).toHaveLength(3)
  const [oldest] = (await list()).slice(-1)
  // Two of them are eight days old: ids are of the time.
  const old = Date.now() - 8 * 86_400_000
  const id = (n: number) => `${old.toString(16).padStart(12, '0')}7000800000000000000${n}`
  const age = 'UPDATE plinth.call SET id = $2::uuid, at = $3 WHERE base_id = $1 AND id = $4::uuid'
  for (const [n, call] of (await list()).slice(1).entries())
    await world.database.query(age, ['short', id(n), new Date(old), call.id])
  await world.database.query(`SELECT graphile_worker.add_job('sweep_calls')::text`)
  await expect.poll(() => stored('short'), { timeout: 10_000 }).toBe(1)
  expect(await list()).not.toContainEqual(oldest)
  succeed(await world.call('PUT', '/v1/bases/short', { settings: { calls_days: 0 } }))
  await failed()
  expect(await list()).toHaveLength(1)
  succeed(await world.call('DELETE', '/v1/bases/short'))
  expect(await stored('short')).toBe(0)
})

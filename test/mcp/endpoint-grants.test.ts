/** A token with an endpoint grant reaches that endpoint, and nothing else of the base. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ACCOUNT, GENERIC, NAMED_ONLY } from '../../src/mcp/plinth-provider.ts'
import { ROUTES, STREAMS } from '../../src/rest/plugin.ts'
import { spellings } from '../../src/rest/route/aliases.ts'
import { expectFailure, expectFault, succeed } from '../support/answers.ts'
import { sampleOf } from '../support/cases.ts'
import { callTool, connect, DIALECTS, rpc } from '../support/mcp.ts'
import { followWith } from '../support/mcp-following.ts'
import { openSession } from '../support/mcp-session.ts'
import type { Body, Call } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

const CANARY = 'CANARY-5d1e'
const AT = '/mcp/desk/e/frontline'
const OPEN = { field: 'data.state', op: 'in', value: ['open', 'pending'] }
const FRONTLINE = {
  instructions: 'Be kind.',
  tools: [
    {
      record_type: 'ticket',
      operations: ['list', 'get', 'update', 'create'],
      fields: ['data.subject', 'data.state'],
      filter: OPEN,
      defaults: { internal_note: CANARY },
    },
    { record_type: 'article', operations: ['get', 'list'] },
  ],
  resources: true,
}

let world: World
/** Has one grant: `write` on the endpoint `frontline` of the base `desk`. */
let held: { token: string; call: Call; id: string }

const put = async (path: string, body: object) => succeed(await world.call('PUT', path, body), 201)
const change = (body: object) => world.call('PUT', '/v1/desk/endpoints/frontline', body)
const grantOf = (more: object = {}) => ({
  base: 'desk',
  endpoint: 'frontline',
  environment: 'production',
  permission: 'write',
  ...more,
})
const tool = (name: string, args: Body = {}, path = AT, token = held.token) =>
  callTool(world, path, name, args, { token })
const namesAt = async (path: string, token: string): Promise<string[]> =>
  (await rpc(world, path, 'tools/list', {}, { token })).body.result.tools.map(({ name }: Body) => name)

beforeAll(async () => {
  world = await openWorld({ PLINTH_RATE_LIMIT: '0' })
  for (const base of ['desk', 'other']) {
    await put(`/v1/bases/${base}`, { description: 'Support.' })
    for (const type of ['ticket', 'article', 'person']) await put(`/v1/${base}/record-types/${type}`, {})
    await put(`/v1/${base}/records/ticket/t1`, {
      data: { subject: 'Printer', state: 'open', internal_note: CANARY },
    })
    await put(`/v1/${base}/records/ticket/t2`, { data: { subject: CANARY, state: 'closed' } })
    await put(`/v1/${base}/records/article/a1`, { data: { text: 'hello' } })
    await put(`/v1/${base}/records/person/p1`, { data: { name: CANARY } })
    await put(`/v1/${base}/relationship-types/by`, {})
    await put(`/v1/${base}/relationships/l1`, {
      ...{ rel_type: 'by', source_record_type: 'ticket', source_id: 't1' },
      ...{ target_record_type: 'person', target_id: 'p1' },
    })
    await put(`/v1/${base}/toolsets/shared`, {})
    await put(`/v1/${base}/endpoints/frontline`, FRONTLINE)
    await put(`/v1/${base}/endpoints/backline`, {
      tools: [{ record_type: 'person', operations: ['list'] }],
      sql_query: true,
    })
  }
  held = await world.newToken([grantOf()])
})
afterAll(() => world.close())

describe('at its endpoint', () => {
  test.each(DIALECTS)('a %s client has the tools, within the policy', { tags: 'full' }, async (dialect) => {
    const client = await connect(world.url, held.token, dialect, AT)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      ...['list_ticket', 'get_ticket', 'update_ticket', 'create_ticket'],
      ...['get_article', 'list_article'],
    ])
    expect(client.getInstructions()).toMatch(/^Be kind[.]/)
    const got = await client.callTool({ name: 'get_ticket', arguments: { id: 't1' } })
    expect((got['structuredContent'] as Body).data).toEqual({ subject: 'Printer', state: 'open' })
    const read = await client.readResource({ uri: 'plinth://desk/records/ticket/t1' })
    expect(JSON.stringify([tools, got, read])).not.toContain('internal_note')
    await client.close()
  })

  test('writes obey the policy, keep hidden fields and are logged under the token', {
    tags: 'full',
  }, async () => {
    const made = await tool('create_ticket', { subject: 'Mouse', state: 'open' })
    expect(made.body.data).toEqual({ subject: 'Mouse', state: 'open' })
    const record = succeed(await world.call('GET', `/v1/desk/records/ticket/${made.body.id}`))
    expect(record.data.internal_note).toBe(CANARY)
    expect((await tool('update_ticket', { id: 't1', state: 'closed' })).error.code).toBe('FORBIDDEN')
    expect((await tool('get_ticket', { id: 't2' })).error.code).toBe('NOT_FOUND')
    const { data } = succeed(await world.call('GET', `/v1/desk/changes?id=${made.body.id}`))
    expect(data[0].actor).toMatchObject({ token_id: held.id, via: 'mcp' })
  })

  test('a read grant leaves the reading tools, and manage or admin add none', { tags: 'full' }, async () => {
    const reader = await world.newToken([grantOf({ permission: 'read' })])
    expect(await namesAt(AT, reader.token)).toEqual([
      'list_ticket',
      'get_ticket',
      'get_article',
      'list_article',
    ])
    const refused = await tool('create_ticket', { subject: 'x', state: 'open' }, AT, reader.token)
    expect(refused.error.code).toBe('FORBIDDEN')
    const all = await namesAt(AT, held.token)
    for (const permission of ['manage', 'admin'])
      expect(await namesAt(AT, (await world.newToken([grantOf({ permission })])).token)).toEqual(all)
  })

  test('no tool of other addresses can be called', { tags: 'full' }, async () => {
    for (const { name } of [...GENERIC, ...ACCOUNT, ...NAMED_ONLY]) {
      const args = { base_id: 'desk', record_type: 'ticket', id: 't1', query: 'SELECT 1', operations: [] }
      const { body, error, rpcError } = await tool(name, args)
      expect([name, body]).toEqual([name, undefined])
      expect([name, error?.code ?? rpcError?.code]).toEqual([name, expect.toBeOneOf(['FORBIDDEN', -32602])])
    }
  })

  test('resources, prompts and completions show nothing of other types', { tags: 'full' }, async () => {
    const ask = async (method: string, params: object) =>
      (await rpc(world, AT, method, params, { token: held.token })).body
    for (const uri of [
      'records/person/p1',
      'records/ticket/t2',
      'types/person',
      'types/ticket',
      'records/person',
    ])
      expect((await ask('resources/read', { uri: `plinth://desk/${uri}` })).error.code, uri).toBe(-32002)
    expect((await ask('resources/read', { uri: 'plinth://other/records/article/a1' })).error.code).toBe(
      -32002,
    )
    const ref = { type: 'ref/resource', uri: 'plinth://desk/records/{type}/{id}' }
    const completed = await ask('completion/complete', { ref, argument: { name: 'type', value: '' } })
    expect(completed.result.completion.values).toEqual(['article', 'ticket'])
    expect((await ask('prompts/list', {})).result.prompts).toEqual([])
  })

  test('a grant on types adds to it there, and only there', { tags: 'full' }, async () => {
    const both = await world.newToken([
      grantOf({ permission: 'read' }),
      { base: 'desk', record_type: 'article', permission: 'write' },
    ])
    expect(await namesAt(AT, both.token)).toEqual([
      'list_ticket',
      'get_ticket',
      'get_article',
      'list_article',
    ])
    succeed(await both.call('GET', '/v1/desk/records/article/a1'))
    expectFailure(await both.call('GET', '/v1/desk/records/ticket/t1'), 'FORBIDDEN')
    expect(
      (await tool('get_record', { record_type: 'ticket', id: 't1' }, '/mcp/desk', both.token)).error.code,
    ).toBe('FORBIDDEN')
    const listed = succeed(await both.call('GET', '/v1/desk/record-types')).data
    expect(listed.map(({ id }: Body) => id)).toEqual(['article'])
  })
})

/** Routes that an endpoint grant reaches. */
const REACHED = [
  'GET /bases',
  'GET /bases/:id',
  'GET /:base_id/endpoints/:id/resolved',
  // What the token did itself.
  'GET /:base_id/calls',
  'GET /:base_id/usage',
  'GET /tokens/self',
  'GET /tokens/:id',
  'POST /tokens/self/sign-in-codes',
]
const PARAMETERS: Body = {
  base_id: 'desk',
  record_type: 'ticket',
  provider: 'mcp',
  account_id: 'default',
  seq: '1',
}
/** Bodies of routes whose rights depend on the body. */
const BODIES: Body = {
  'POST /accounts/:account_id/query': { bases: ['desk'], record_type: 'ticket' },
}

/** The path of a route on the base, with the id of something that exists. */
function pathOf(path: string): string {
  const ids: Body = {
    bases: 'desk',
    'record-types': 'ticket',
    'relationship-types': 'by',
    relationships: 'l1',
    endpoints: 'frontline',
    toolsets: 'shared',
    tokens: held.id,
  }
  const before = path.split('/:id')[0]?.split('/').at(-1) ?? ''
  return path.replace(/:(\w+)/g, (_, name: string) => PARAMETERS[name] ?? ids[before] ?? 't1')
}

describe('every other door of the base', () => {
  const rows = [...ROUTES, ...STREAMS].flatMap((row) =>
    spellings(row.path).map((path) => ({ ...row, id: `${row.method} ${path}`, canonical: row.id, path })),
  )
  test.each(sampleOf(rows.filter(({ canonical }) => !REACHED.includes(canonical))))(
    'the route $id is refused',
    { tags: 'sampled' },
    async ({ method, path, canonical }) => {
      const body = BODIES[canonical] ?? (method === 'GET' ? undefined : {})
      const answer = await held.call(method, `/v1${pathOf(path)}`, body)
      expectFailure(answer, 'FORBIDDEN')
      expect(answer.text).not.toMatch(new RegExp(`${CANARY}|internal_note|person`))
    },
  )

  test('an absent type, record, endpoint or base gets the same refusal as one that exists', async () => {
    const refusal = async (path: string) => {
      const { text } = await held.call('GET', path, undefined, { 'x-request-id': 'same' })
      return text
    }
    expect(await refusal('/v1/desk/records/absent/x')).toBe(await refusal('/v1/desk/records/person/p1'))
    expect(await refusal('/v1/desk/record-types/absent')).toBe(await refusal('/v1/desk/record-types/ticket'))
    expect(await refusal('/v1/desk/endpoints/absent/resolved')).toBe(
      await refusal('/v1/desk/endpoints/backline/resolved'),
    )
    expect((await refusal('/v1/absent/records/x')).replaceAll('absent', 'other')).toBe(
      await refusal('/v1/other/records/x'),
    )
    expectFailure(await held.call('GET', '/v1/other/endpoints/frontline/resolved'), 'FORBIDDEN')
  })

  test('the refusal names the address of the endpoint', async () => {
    const { details } = expectFailure(await held.call('GET', '/v1/desk/records/ticket'), 'FORBIDDEN')
    expect(details[0]).toMatchObject({ code: 'endpoint_only', allowed: [AT] })
  })

  test.each([
    '/mcp',
    '/mcp/desk',
    '/mcp/other',
    '/mcp/desk/e/backline',
    '/mcp/desk/e/absent',
    '/mcp/other/e/frontline',
  ])('the MCP address %s is refused in both eras', async (path) => {
    for (const method of ['initialize', 'tools/list', 'resources/list', 'ping', 'server/discover'])
      expectFailureOverMcp(await rpc(world, path, method, {}, { token: held.token }))
    const called = await rpc(world, path, 'tools/call', { name: 'list_bases' }, { token: held.token })
    expectFailureOverMcp(called)
    const modern = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' }
    expectFailureOverMcp(await rpc(world, path, 'tools/list', {}, { token: held.token, headers: modern }))
    expect((await held.call('GET', path, undefined, { accept: 'text/event-stream' })).status).toBe(403)
  })

  test('GraphQL subscriptions are refused', async () => {
    for (const query of [
      'subscription { changes(base: "desk") { seq } }',
      'subscription { recordTypeChanges(base: "desk") { recordType } }',
      'subscription { recordTypeChanges(base: "desk", endpoint: "frontline") { recordType } }',
    ]) {
      const answer = await held.call('POST', '/graphql', { query }, { accept: 'text/event-stream' })
      expect(answer.text).toContain('FORBIDDEN')
    }
  })

  test('the base itself is visible, without its content', { tags: 'full' }, async () => {
    const { data } = succeed(await held.call('GET', '/v1/bases?include=counts&include_total=true'))
    expect(data.map(({ id }: Body) => id)).toEqual(['desk'])
    expect(data[0].counts).toEqual({ record_types: 0, records: 0 })
    expect(succeed(await held.call('GET', '/v1/bases/desk')).description).toBe('Support.')
    expectFailure(await held.call('GET', '/v1/bases/other'), 'FORBIDDEN')
  })
})

const expectFailureOverMcp = ({ status, body, text }: { status: number; body: Body; text: string }) => {
  expect([status, body.error?.data?.error?.code]).toEqual([403, 'FORBIDDEN'])
  expect(text).not.toMatch(new RegExp(`${CANARY}|internal_note|person`))
}

describe('the resolved endpoint', () => {
  const resolved = (call: Call, id = 'frontline') => call('GET', `/v1/desk/endpoints/${id}/resolved`)

  test('is what a reader of the configuration sees, without filter, defaults and hidden fields', {
    tags: 'full',
  }, async () => {
    const own = await resolved(held.call)
    expect(succeed(own)).toEqual(succeed(await resolved(world.call)))
    expect(own.text).not.toMatch(new RegExp(`${CANARY}|internal_note|pending`))
    const reader = await world.newToken([grantOf({ permission: 'read' })])
    expect(succeed(await resolved(reader.call)).tools.map(({ name }: Body) => name)).toEqual([
      ...['list_ticket', 'get_ticket', 'get_article', 'list_article'],
    ])
  })

  test('is in GraphQL too', { tags: 'full' }, async () => {
    const query = '{ servedEndpoint(base: "desk", id: "frontline") { about { name } tools { name } } }'
    const { data } = succeed(await held.call('POST', '/graphql', { query }))
    expect(data.servedEndpoint.tools).toHaveLength(6)
    for (const refused of [
      '{ servedEndpoint(base: "desk", id: "backline") { stamp } }',
      '{ servedEndpoint(base: "desk", id: "absent") { stamp } }',
      '{ servedEndpoint(base: "desk", id: "frontline", whole: true) { stamp } }',
      '{ endpoint(base: "desk", id: "frontline") { tools } }',
    ]) {
      const { errors } = (await held.call('POST', '/graphql', { query: refused })).body
      expect([refused, errors[0].extensions.code]).toEqual([refused, 'FORBIDDEN'])
    }
  })
})

describe('POST /v1/tokens', () => {
  const mint = (call: Call, grants: unknown) => call('POST', '/v1/tokens', { name: 't', grants })
  const typed = (more: object = {}) => {
    const { endpoint: _, ...rest } = grantOf()
    return { ...rest, record_type: '*', ...more }
  }

  test('takes the grant as it is, and lists it', async () => {
    const made = succeed(await mint(world.call, [grantOf({ endpoint: ['frontline', 'later'] })]), 201)
    expect(made.grants).toEqual([grantOf({ endpoint: ['frontline', 'later'] })])
    const own = succeed(await world.as(made.token)('GET', '/v1/tokens/self'))
    const { token: _, ...rest } = made
    expect(own).toEqual({ ...rest, last_used_at: expect.toBeOneOf([null, expect.any(String)]) })
  })

  test.each<[object, string, string]>([
    [grantOf({ record_type: '*' }), '/grants/0/endpoint', 'exclusive'],
    [grantOf({ record_type: 'ticket', endpoint: ['frontline'] }), '/grants/0/endpoint', 'exclusive'],
    [grantOf({ endpoint: undefined }), '/grants/0/record_type', 'required'],
    [grantOf({ endpoint: '*' }), '/grants/0/endpoint', 'custom'],
    [grantOf({ endpoint: ['*'] }), '/grants/0/endpoint/0', 'custom'],
    [grantOf({ endpoint: [] }), '/grants/0/endpoint', 'too_small'],
    [grantOf({ endpoint: 'a/../b' }), '/grants/0/endpoint', 'custom'],
    [grantOf({ endpoint: null }), '/grants/0/endpoint', 'type'],
    [grantOf({ base: 'none' }), '/grants/0/base', 'base_not_found'],
  ])('refuses %j', async (wanted, path, code) => {
    expect(expectFault(await mint(world.call, [wanted]), path).code).toBe(code)
  })

  const admin = { permission: 'admin' }
  test.each<[string, object[], object[], object[]]>([
    [
      'admin on one endpoint',
      [grantOf(admin)],
      [grantOf(), grantOf(admin), grantOf({ endpoint: ['frontline'] })],
      [
        grantOf({ endpoint: 'backline' }),
        grantOf({ endpoint: ['frontline', 'backline'] }),
        grantOf({ base: 'other' }),
        grantOf({ base: '*' }),
        grantOf({ environment: '*' }),
        grantOf({ environment: 'preview' }),
        typed({ permission: 'read' }),
        typed({ record_type: 'ticket', permission: 'read' }),
        typed({ record_type: 'frontline', permission: 'read' }),
      ],
    ],
    [
      'admin on endpoints of two grants',
      [grantOf(admin), grantOf({ endpoint: 'backline', ...admin })],
      [grantOf({ endpoint: ['frontline', 'backline'] })],
      [grantOf({ endpoint: ['frontline', 'third'] })],
    ],
    [
      'admin on the whole base',
      [typed(admin)],
      [grantOf(), grantOf({ endpoint: 'later' })],
      [grantOf({ base: '*' })],
    ],
    [
      'admin on all types of the endpoint',
      [typed({ record_type: ['ticket', 'article', 'frontline'], ...admin })],
      [typed({ record_type: 'ticket' })],
      [grantOf(), grantOf({ permission: 'read' })],
    ],
    ['manage on the endpoint', [grantOf({ permission: 'manage' })], [], [grantOf({ permission: 'read' })]],
  ])('with %s makes tokens inside it only', async (_name, own, inside, outside) => {
    const { call } = await world.newToken(own as [])
    for (const wanted of inside) succeed(await mint(call, [wanted]), 201)
    for (const wanted of outside) expectFailure(await mint(call, [wanted]), 'FORBIDDEN')
  })

  test('an admin of the endpoint lists and revokes tokens of it, and no others', {
    tags: 'full',
  }, async () => {
    const { call } = await world.newToken([grantOf(admin)])
    const inside = await world.newToken([grantOf()])
    const beside = await world.newToken([grantOf({ endpoint: 'backline' })])
    const both = await world.newToken([grantOf({ endpoint: ['frontline', 'backline'] })])
    const whole = await world.newToken([{ base: 'desk', permission: 'read' }])
    const ids = succeed(await call('GET', '/v1/tokens?limit=1000')).data.map(({ id }: Body) => id)
    expect(ids).toContain(inside.id)
    for (const { id } of [beside, both, whole]) {
      expect(ids).not.toContain(id)
      expectFailure(await call('DELETE', `/v1/tokens/${id}`), 'FORBIDDEN')
    }
    succeed(await call('DELETE', `/v1/tokens/${inside.id}`))
    expectFailure(await inside.call('GET', '/v1/tokens/self'), 'UNAUTHORIZED')
    expect((await world.as(inside.token)('POST', AT, { jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(
      401,
    )
  })

  test('an admin of endpoints of all bases is no administrator of the server', { tags: 'full' }, async () => {
    const { call } = await world.newToken([grantOf({ base: '*', ...admin })])
    expectFailure(await call('DELETE', '/v1/tokens/absent'), 'FORBIDDEN')
    expectFailure(await call('PUT', '/v1/bases/fresh', {}), 'FORBIDDEN')
    expectFailure(await call('DELETE', '/v1/bases/desk?confirm=desk'), 'FORBIDDEN')
    const across = { bases: ['*'], record_type: 'ticket' }
    expect(succeed(await call('POST', '/v1/accounts/default/query', across)).data).toEqual([])
    expect(
      await namesAt('/mcp/other/e/frontline', (await world.newToken([grantOf({ base: '*' })])).token),
    ).toHaveLength(6)
  })
})

describe('a change of the endpoint', () => {
  test('counts from the next request on, also in an open session', { tags: 'full' }, async () => {
    const session = await openSession(world, { path: AT, token: held.token })
    const call = async (name: string, args: Body) =>
      (await session.request('tools/call', { name, arguments: args })).body
    expect((await call('get_ticket', { id: 't1' })).result.structuredContent.id).toBe('t1')
    succeed(await change({ ...FRONTLINE, tools: FRONTLINE.tools.slice(1) }))
    const { error, result } = await call('get_ticket', { id: 't1' })
    expect(error ?? result.isError).toBeTruthy()
    expect((await session.request('tools/list')).body.result.tools).toHaveLength(2)
    succeed(await change({ ...FRONTLINE, enabled: false }))
    expect((await session.request('tools/list')).status).toBe(404)
    expectFailure(await held.call('GET', '/v1/desk/endpoints/frontline/resolved'), 'NOT_FOUND')
    succeed(await world.call('DELETE', '/v1/desk/endpoints/frontline'))
    expect((await session.request('tools/list')).status).toBe(404)
    expect(await held.call('GET', AT, undefined, session.headers)).toMatchObject({ status: 404 })
    await put('/v1/desk/endpoints/frontline', FRONTLINE)
    expect((await session.request('tools/list')).body.result.tools).toHaveLength(6)
  })

  const ARTICLE = 'plinth://desk/records/article/a1'
  const touch = async () =>
    succeed(await world.call('PATCH', '/v1/desk/records/article/a1', { data: { at: performance.now() } }))

  test.each(DIALECTS)(
    'that disables it ends the subscriptions of a %s client',
    { tags: 'full' },
    async (dialect) => {
      const client = await followWith(world.url, held.token, dialect, AT, [ARTICLE])
      await touch()
      await client.until(ARTICLE)
      succeed(await change({ ...FRONTLINE, enabled: false }))
      await client.ended
      await client.close()
      succeed(await change(FRONTLINE))
    },
  )

  test('that takes a type or a field away ends the open streams of both eras', { tags: 'full' }, async () => {
    const [ticket, article] = FRONTLINE.tools
    for (const tools of [[ticket], [ticket, { ...article, fields: ['data.text'] }]]) {
      const legacy = await (await openSession(world, { path: AT, token: held.token })).listen()
      const modern = await followWith(world.url, held.token, 'modern', AT, [ARTICLE])
      succeed(await change({ ...FRONTLINE, description: 'Another.' }))
      await touch()
      await modern.until(ARTICLE)
      succeed(await change({ ...FRONTLINE, tools }))
      await legacy.ended
      await modern.ended
      await modern.close()
      succeed(await change(FRONTLINE))
    }
  })

  test('that happens while a call waits for the user refuses the write', { tags: 'full' }, async () => {
    const deleting = (operations: string[]) => ({
      ...{ tools: [{ record_type: 'article', operations }], batch: { enabled: true } },
    })
    succeed(await change(deleting(['get', 'delete'])))
    for (const id of ['d1', 'd2']) await put(`/v1/desk/records/article/${id}`, { data: {} })
    const client = new Client({ name: 'asked', version: '1.0.0' }, { capabilities: { elicitation: {} } })
    let asked = 0
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      asked++
      succeed(await change(deleting(['get', 'cancel'])))
      const { choice } = (params as Body).requestedSchema.properties
      return { action: 'accept', content: { choice: choice.enum[1] } }
    })
    const requestInit = { headers: { authorization: `Bearer ${held.token}` } }
    await client.connect(
      new StreamableHTTPClientTransport(new URL(AT, world.url), { requestInit }) as Transport,
    )
    const operations = ['d1', 'd2'].map((id) => ({ type: 'delete_record', record_type: 'article', id }))
    const { content, isError } = (await client.callTool({ name: 'batch', arguments: { operations } })) as Body
    expect([asked, isError]).toEqual([1, true])
    expect(JSON.parse(content[0].text).error).toMatchObject({
      code: 'FORBIDDEN',
      details: [{ code: 'endpoint_changed' }],
    })
    for (const id of ['d1', 'd2']) succeed(await world.call('GET', `/v1/desk/records/article/${id}`))
    await client.close()
    succeed(await change(FRONTLINE))
  })
})

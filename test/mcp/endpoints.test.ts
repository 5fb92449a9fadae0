import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, succeed } from '../support/answers.ts'
import { callTool, connect, DIALECTS, rpc } from '../support/mcp.ts'
import { openSession } from '../support/mcp-session.ts'
import type { Body } from '../support/server.ts'
import { lintTool } from '../support/tool-lint.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
const DEAL = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    stage: { type: 'string' },
    amount: { type: 'number' },
    secret: { type: 'string' },
  },
  required: ['title', 'stage'],
  // A tool would say of the whole object: one with a secret, or one with a title.
  anyOf: [{ required: ['secret'] }, { required: ['title'] }],
  additionalProperties: false,
}
const OPEN = { field: 'data.stage', op: 'eq', value: 'open' }

beforeAll(async () => {
  world = await openWorld()
  const type = (id: string, body: object) => world.call('PUT', `/v1/crm/record-types/${id}`, body)
  succeed(await type('deal', { json_schema: DEAL, description: 'A sale in the making.' }), 201)
  succeed(await type('note', {}), 201)
  succeed(await type('hidden', {}), 201)
  succeed(await world.call('PUT', '/v1/crm/relationship-types/about', {}), 201)
  const record = (at: string, data: object) => world.call('PUT', `/v1/crm/records/${at}`, { data })
  succeed(await record('deal/open', { title: 'A', stage: 'open', amount: 1, secret: 's1' }), 201)
  succeed(await record('deal/won', { title: 'B', stage: 'won', amount: 2, secret: 's2' }), 201)
  succeed(await record('note/n', { text: 'hello' }), 201)
  succeed(await record('hidden/h', { text: 'never' }), 201)
  const link = (id: string, to: [string, string]) =>
    world.call('PUT', `/v1/crm/relationships/${id}`, {
      rel_type: 'about',
      source_record_type: 'note',
      source_id: 'n',
      target_record_type: to[0],
      target_id: to[1],
    })
  succeed(await link('l1', ['deal', 'open']), 201)
  succeed(await link('l2', ['deal', 'won']), 201)
  succeed(await link('l3', ['hidden', 'h']), 201)
  const shared = { tools: [{ record_type: 'note', operations: ['get', 'list'] }] }
  succeed(await world.call('PUT', '/v1/crm/toolsets/notes', shared), 201)
  succeed(await put('desk', DESK), 201)
})
afterAll(() => world.close())

const put = (id: string, body: object) => world.call('PUT', `/v1/crm/endpoints/${id}`, body)
const AT = '/mcp/crm/e/desk'
const NOTES = [{ record_type: 'note', operations: ['get', 'list'] }]
const ALL = ['create', 'get', 'list', 'update', 'upsert', 'delete', 'cancel', 'aggregate']
const DESK = {
  instructions: 'Amounts are in euros.',
  toolsets: ['notes'],
  tools: [
    {
      record_type: 'deal',
      operations: ALL,
      fields: ['data.title', 'data.amount'],
      filter: OPEN,
      defaults: { stage: 'open' },
    },
  ],
  relationships: [{ rel_type: 'about', operations: ['link', 'unlink', 'related'] }],
  batch: { enabled: true },
  sql_query: true,
}
const names = async (path = AT, token?: string): Promise<string[]> => {
  const { body } = await rpc(world, path, 'tools/list', {}, token === undefined ? {} : { token })
  return body.result.tools.map((tool: Body) => tool.name)
}
const NAMES = [
  ...ALL.map((operation) => `${operation}_deal`),
  'get_note',
  'list_note',
  'link_about',
  'unlink_about',
  'related_about',
  'batch',
  'sql_query',
]

describe('the tools of an endpoint', () => {
  test.each(DIALECTS)('are its own and those of its toolsets, in order, for a %s client', async (dialect) => {
    const client = await connect(world.url, world.adminToken, dialect, AT)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(NAMES)
    expect(client.getInstructions()).toMatch(/^Amounts are in euros[.]\n\n/)
    expect(Buffer.byteLength(client.getInstructions() ?? '')).toBeLessThanOrEqual(2048)
    const got = await client.callTool({ name: 'get_deal', arguments: { id: 'open' } })
    expect((got['structuredContent'] as Body).data).toEqual({ title: 'A', amount: 1 })
    await client.close()
  })

  test('have portable schemas with visible fields only', async () => {
    const { body } = await rpc(world, AT, 'tools/list')
    const tools = new Map<string, Body>(body.result.tools.map((tool: Body) => [tool.name, tool]))
    for (const tool of tools.values()) expect(lintTool(tool), tool.name).toEqual([])
    const create = tools.get('create_deal').inputSchema
    expect(Object.keys(create.properties)).toEqual(expect.arrayContaining(['title', 'amount', 'dry_run']))
    expect(create.required).toEqual(['title'])
    expect(create.additionalProperties).toBe(false)
    expect(Object.keys(tools.get('list_deal').inputSchema.properties)).not.toContain('record_type')
    expect(tools.get('get_deal').annotations).toMatchObject({ title: 'Get deal', readOnlyHint: true })
    expect(tools.get('delete_deal').annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true })
    expect(JSON.stringify(body)).not.toContain('secret')
  })

  test('have the name and description overrides of the endpoint', async () => {
    const tools = [
      {
        record_type: 'deal',
        operations: ['create'],
        name_override: 'open_deal',
        description_override: 'Open one.',
      },
      {
        record_type: 'note',
        operations: ['get', 'list'],
        name_override: 'memo',
        description_override: 'A memo.',
      },
    ]
    succeed(await put('named', { tools }), 201)
    const { body } = await rpc(world, '/mcp/crm/e/named', 'tools/list')
    expect(body.result.tools.map((tool: Body) => tool.name)).toEqual(['open_deal', 'get_memo', 'list_memo'])
    expect(body.result.tools[0].description).toBe('Open one.')
    expect(body.result.tools[1].description).toBe('Read one record of type "note". A memo.')
  })

  test('name the record type of a link end in the description when it is not an argument', {
    tags: 'full',
  }, async () => {
    const only = { source_record_types: ['note'], target_record_types: ['deal', 'note'] }
    succeed(await world.call('PUT', '/v1/crm/relationship-types/quotes', only), 201)
    const tools = [
      { record_type: 'deal', operations: ['get'] },
      { record_type: 'note', operations: ['get'] },
    ]
    const relationships = [{ rel_type: 'quotes', operations: ['link', 'unlink', 'related'] }]
    succeed(await put('linking', { tools, relationships }), 201)
    const { body } = await rpc(world, '/mcp/crm/e/linking', 'tools/list')
    const [, , link, unlink] = body.result.tools
    expect(link.description).toBe(
      'Relate source to target by "quotes". source_id is of a record of type "note".',
    )
    expect(unlink.description).toMatch('source_id is of a record of type "note".')
    expect(link.inputSchema.properties.target_record_type.enum).toEqual(['deal', 'note'])
    expect(link.inputSchema.properties).not.toHaveProperty('source_record_type')
  })

  test('equal those of GET /resolved and of the tool preview', { tags: 'full' }, async () => {
    const listed = (await rpc(world, AT, 'tools/list')).body.result.tools
    const resolved = succeed(await world.call('GET', '/v1/crm/endpoints/desk/resolved'))
    expect(resolved).toMatchObject({ id: 'desk', version: 1, instructions: DESK.instructions })
    expect(resolved.tools.map((tool: Body) => [tool.name, tool.description, tool.input_schema])).toEqual(
      listed.map((tool: Body) => [tool.name, tool.description, tool.inputSchema]),
    )
    expect(resolved.tools[0]).toMatchObject({ record_type: 'deal', operation: 'create' })
    expect(resolved.tokens).toBe(resolved.tools.reduce((sum: number, { tokens }: Body) => sum + tokens, 0))
    const preview = succeed(await world.call('GET', '/v1/crm/mcp/tools?endpoint=desk&readonly=1'))
    expect(preview.data.map((tool: Body) => tool.name)).toEqual(await names(`${AT}?readonly=1`))
  })
})

describe('the URL of an endpoint', () => {
  test('is 404 when the endpoint is absent or disabled, but GET /resolved shows a disabled one', {
    tags: 'full',
  }, async () => {
    succeed(await put('off', { tools: DESK.tools, enabled: false }), 201)
    for (const id of ['off', 'absent']) {
      const answer = await rpc(world, `/mcp/crm/e/${id}`, 'tools/list')
      expect(answer.status).toBe(404)
      expect(answer.body.error.data.error.code).toBe('NOT_FOUND')
    }
    const seen = succeed(await world.call('GET', '/v1/crm/endpoints/off/resolved'))
    expect(seen.tools).toHaveLength(ALL.length)
    expectFailure(await world.call('GET', '/v1/crm/endpoints/absent/resolved'), 'NOT_FOUND')
    expectFailure(await world.call('GET', '/v1/crm/mcp/tools?endpoint=off'), 'NOT_FOUND')
  })

  test('is narrowed by ?types=, ?readonly= and ?tools=', { tags: 'full' }, async () => {
    expect(await names(`${AT}?types=note`)).toEqual([
      'get_note',
      'list_note',
      'link_about',
      'unlink_about',
      'related_about',
      'batch',
      'sql_query',
    ])
    expect(await names(`${AT}?readonly=1`)).toEqual([
      'get_deal',
      'list_deal',
      'aggregate_deal',
      'get_note',
      'list_note',
      'related_about',
      'sql_query',
    ])
    expect(await names(`${AT}?tools=get_deal`)).toEqual(['get_deal'])
    const hidden = await callTool(world, `${AT}?readonly=1`, 'create_deal', { title: 'x' })
    expect(hidden.rpcError).toMatchObject({ code: -32602 })
  })

  test('lists the current tools after a change of endpoint or toolset, and still accepts renamed tools', {
    tags: 'full',
  }, async () => {
    const own = (name_override?: string) => ({
      tools: [{ record_type: 'deal', operations: ['get'], ...(name_override && { name_override }) }],
      toolsets: ['changing'],
    })
    const toolset = (name: string) =>
      world.call('PUT', '/v1/crm/toolsets/changing', {
        tools: [{ record_type: 'note', operations: ['get'], name_override: name }],
      })
    succeed(await toolset('memo'), 201)
    succeed(await put('changing', own()), 201)
    const at = '/mcp/crm/e/changing'
    expect(await names(at)).toEqual(['get_deal', 'memo'])
    succeed(await put('changing', own('fetch_deal')))
    succeed(await put('changing', own('find_deal')))
    succeed(await toolset('jotting'))
    expect(await names(at)).toEqual(['find_deal', 'jotting'])
    for (const name of ['get_deal', 'fetch_deal', 'find_deal'])
      expect((await callTool(world, at, name, { id: 'open' })).body.id, name).toBe('open')
    expect((await callTool(world, at, 'memo', { id: 'n' })).body.id).toBe('n')
    expect(await names(`${at}?tools=get_deal,memo`)).toEqual(['find_deal', 'jotting'])
    expect((await callTool(world, `${at}?tools=get_deal`, 'find_deal', { id: 'open' })).body.id).toBe('open')
    succeed(await put('changing', { toolsets: ['changing'] }))
    expect((await callTool(world, at, 'get_deal', { id: 'open' })).rpcError).toMatchObject({ code: -32602 })
  })
})

describe('grants at an endpoint', () => {
  test('hide and forbid tools that the token has no permission for', { tags: 'full' }, async () => {
    const { token } = await world.newToken([{ record_type: 'note', permission: 'read' }])
    expect(await names(AT, token)).toEqual(['get_note', 'list_note', 'related_about', 'sql_query'])
    for (const name of ['create_deal', 'get_deal', 'create_nothing', 'link_about', 'batch']) {
      const { error } = await callTool(world, AT, name, {}, { token })
      expect(error?.code, name).toBe('FORBIDDEN')
    }
    const unknown = await callTool(world, AT, 'get_notes_of', {}, { token: world.adminToken })
    expect(unknown.rpcError).toMatchObject({ code: -32602 })
    expect(unknown.rpcError.message).toContain('get_note')
    const elsewhere = await world.newToken([{ base: 'crm', record_type: 'hidden', permission: 'write' }])
    expect(await names(AT, elsewhere.token)).toEqual([])
    succeed(await world.call('PUT', '/v1/bases/other', {}), 201)
    const stranger = await world.newToken([{ base: 'other', permission: 'admin' }])
    expect((await rpc(world, AT, 'tools/list', {}, { token: stranger.token })).status).toBe(403)
    expectFailure(await stranger.call('GET', '/v1/crm/endpoints/desk/resolved'), 'FORBIDDEN')
    expectFailure(await elsewhere.call('GET', '/v1/crm/endpoints/desk/resolved'), 'FORBIDDEN')
  })
})

describe('the row filter and the fields of an endpoint', () => {
  const call = (name: string, args: object) => callTool(world, AT, name, args as Record<string, unknown>)

  test('make a row outside the filter not found, not listed and not counted', { tags: 'full' }, async () => {
    expect((await call('get_deal', { id: 'won' })).error.code).toBe('NOT_FOUND')
    const { body } = await call('list_deal', { include_total: true })
    expect(body.data.map((row: Body) => row.id)).toContain('open')
    expect(body.data.map((row: Body) => row.id)).not.toContain('won')
    expect(JSON.stringify(body)).not.toMatch(/s1|s2|secret/)
    const counted = await call('aggregate_deal', { aggregations: [{ fn: 'count' }] })
    expect(counted.body.data[0].count).toBe(body.meta.total)
  })

  test('make a hidden field in a filter or sort a VALIDATION_ERROR', async () => {
    const secret = { field: 'data.secret', op: 'eq', value: 's1' }
    expect((await call('list_deal', { filter: secret })).error.code).toBe('VALIDATION_ERROR')
    expect((await call('list_deal', { sort: 'data.secret' })).error.code).toBe('VALIDATION_ERROR')
  })

  test('make the hint of an unknown operator the same for a hidden field and for an absent one', async () => {
    const hintOf = async (name: string): Promise<string> => {
      const filter = { field: `data.${name}`, op: 'contains', value: 's' }
      return (await call('list_deal', { filter })).error.details[0].hint.replaceAll(name, 'name')
    }
    expect(await hintOf('secret')).toBe(await hintOf('absent'))
    expect(await hintOf('title')).not.toBe((await hintOf('absent')).replaceAll('name', 'title'))
  })

  test('make an expand that is no text a VALIDATION_ERROR', async () => {
    for (const expand of [{ toString: null, valueOf: null }, [{ toString: null }], 1]) {
      const { error } = await call('get_deal', { id: 'open', expand })
      expect(error, JSON.stringify(expand)).toMatchObject({ code: 'VALIDATION_ERROR' })
      expect(error.details[0].path).toMatch(/^\/expand/)
    }
  })

  test('apply to sql_query, related records and batch', { tags: 'full' }, async () => {
    const rows = await call('sql_query', { query: 'SELECT * FROM note' })
    expect(rows.body.data).toHaveLength(1)
    for (const query of [
      'SELECT * FROM deal',
      'SELECT * FROM hidden',
      "SELECT * FROM records WHERE record_type = 'deal'",
    ]) {
      const { error, body } = await call('sql_query', { query })
      expect(error?.code ?? body.data, query).toEqual(error ? 'VALIDATION_ERROR' : [])
    }
    const related = await call('related_about', { record_type: 'note', id: 'n' })
    expect(JSON.stringify(related.body ?? related.error)).not.toMatch(/"won"|"h"|s1|s2|never/)
    const found = (args: object) => call('related_about', { record_type: 'note', id: 'n', ...args })
    expect((await found({})).body.data.map(({ record }: Body) => record.id)).toEqual(['open'])
    const isSecret = { field: 'data.secret', op: 'is_not_null' }
    for (const hidden of [
      { filter: isSecret },
      { sort: 'data.secret' },
      { related_type: 'deal', filter: isSecret },
    ])
      expect((await found(hidden)).error.code, JSON.stringify(hidden)).toBe('VALIDATION_ERROR')
    const isWon = { field: 'data.title', op: 'eq', value: 'B' }
    expect((await found({ filter: isWon })).body.data).toEqual([])
    expect((await found({ related_type: 'hidden' })).error.code).toBe('FORBIDDEN')
    const batch = (operation: object) => call('batch', { operations: [operation] })
    for (const operation of [
      { type: 'create_record', record_type: 'hidden', data: {} },
      { type: 'create_record', record_type: 'note', data: {} },
      { type: 'delete_record_type', id: 'hidden' },
      { type: 'delete_relationship', id: 'l3' },
      { type: 'upsert_record', record_type: 'deal', id: 'won', data: { title: 'Stolen', stage: 'won' } },
    ])
      expect((await batch(operation)).error, JSON.stringify(operation)).toBeDefined()
    const kept = succeed(await world.call('GET', '/v1/crm/records/deal/won'))
    expect(kept).toMatchObject({ version: 1, data: { title: 'B', secret: 's2' } })
  })
})

describe('writes through an endpoint', () => {
  const call = (name: string, args: object) => callTool(world, AT, name, args as Record<string, unknown>)
  const stored = async (id: string) => succeed(await world.call('GET', `/v1/crm/records/deal/${id}`)).data

  test('set defaults, keep hidden fields and cannot change a row outside the filter', {
    tags: 'full',
  }, async () => {
    const made = await call('create_deal', { title: 'New', amount: 5 })
    expect(made.body.data).toEqual({ title: 'New', amount: 5 })
    expect(await stored(made.body.id)).toEqual({ title: 'New', amount: 5, stage: 'open' })
    const upserted = await call('upsert_deal', { id: 'open', title: 'A2' })
    expect(upserted.body.data).toEqual({ title: 'A2' })
    expect(await stored('open')).toEqual({ title: 'A2', stage: 'open', secret: 's1' })
    const updated = await call('update_deal', { id: 'open', amount: 7 })
    expect(updated.body.data).toEqual({ title: 'A2', amount: 7 })
    expect((await stored('open')).secret).toBe('s1')
    for (const [name, args] of [
      ['update_deal', { id: 'won', title: 'x' }],
      ['upsert_deal', { id: 'won', title: 'x' }],
      ['delete_deal', { id: 'won' }],
      ['cancel_deal', { id: 'won' }],
    ] as const)
      expect((await call(name, args)).error.code, name).toBe('NOT_FOUND')
    expect((await call('create_deal', { title: 'x', secret: 'y' })).error.code).toBe('VALIDATION_ERROR')
    expect(await stored('won')).toEqual({ title: 'B', stage: 'won', amount: 2, secret: 's2' })
  })

  test('are FORBIDDEN when the row would leave the filter', { tags: 'full' }, async () => {
    succeed(
      await put('seeing', {
        tools: [
          {
            record_type: 'deal',
            operations: ['create', 'update'],
            filter: OPEN,
            fields: ['data.title', 'data.stage'],
          },
        ],
      }),
      201,
    )
    const at = '/mcp/crm/e/seeing'
    const out = await callTool(world, at, 'update_deal', { id: 'open', stage: 'won' })
    expect(out.error.code).toBe('FORBIDDEN')
    expect((await callTool(world, at, 'create_deal', { title: 'x', stage: 'won' })).error.code).toBe(
      'FORBIDDEN',
    )
    expect((await stored('open')).stage).toBe('open')
  })
})

test('a session at an endpoint is notified when the endpoint or the type of a tool changes', {
  tags: 'full',
}, async () => {
  const quiet = { tools: [{ record_type: 'deal', operations: ['get'], filter: OPEN }], resources: false }
  succeed(await put('quiet', quiet), 201)
  const stream = await (await openSession(world, { path: '/mcp/crm/e/quiet' })).listen()
  expect(stream.status).toBe(200)
  const toolEvents = async (n: number) => {
    await stream.until(n * 2)
    return stream.events.slice((n - 1) * 2, n * 2).map(({ data }) => (data as Body).method)
  }
  succeed(await put('quiet', { ...quiet, description: 'Another.' }))
  expect(await toolEvents(1)).toContain('notifications/tools/list_changed')
  succeed(
    await world.call('PATCH', '/v1/crm/record-types/deal', { description: 'A sale, still in the making.' }),
  )
  expect(await toolEvents(2)).toContain('notifications/tools/list_changed')
  stream.cut()
})

test('resources at an endpoint contain what its tools may read, and nothing when they are disabled', {
  tags: 'full',
}, async () => {
  const tools = [
    { record_type: 'deal', operations: ['get'], filter: OPEN, fields: ['data.title', 'data.stage'] },
  ]
  succeed(await put('shown', { tools, resources: true }), 201)
  succeed(await put('unshown', { tools, resources: false }), 201)
  const read = async (endpoint: string, uri: string) =>
    (await rpc(world, `/mcp/crm/e/${endpoint}`, 'resources/read', { uri })).body
  const shown = await read('shown', 'plinth://crm/records/deal/open')
  expect(Object.keys(JSON.parse(shown.result.contents[0].text).data).sort()).toEqual(['stage', 'title'])
  for (const uri of [
    'plinth://crm/records/deal/won',
    'plinth://crm/records/hidden/h',
    'plinth://crm/types/hidden',
  ])
    expect((await read('shown', uri)).error.code, uri).toBe(-32002)
  expect((await read('unshown', 'plinth://crm/records/deal/open')).error.code).toBe(-32002)
  const listed = async (endpoint: string, what: string) =>
    (await rpc(world, `/mcp/crm/e/${endpoint}`, what)).body.result
  expect(await listed('unshown', 'resources/list')).toEqual({ resources: [] })
  expect(await listed('unshown', 'resources/templates/list')).toEqual({ resourceTemplates: [] })
  expect(await listed('unshown', 'prompts/list')).toEqual({ prompts: [] })
  // Row filters and field lists hide the type definitions.
  expect(await listed('shown', 'resources/list')).toEqual({ resources: [] })
  expect((await listed('shown', 'resources/templates/list')).resourceTemplates).toHaveLength(3)
  const typesIn = async (endpoint: string, uri: string, value = '') => {
    const params = { ref: { type: 'ref/resource', uri }, argument: { name: 'type', value } }
    return (await rpc(world, `/mcp/crm/e/${endpoint}`, 'completion/complete', params)).body.result.completion
      .values
  }
  const record = 'plinth://crm/records/{type}/{id}'
  // A type with a row filter has record resources and no type resource.
  succeed(await put('both', { tools: [...tools, ...NOTES], resources: true }), 201)
  for (const uri of [record, 'plinth://{base}/records/{type}{?filter,condition,cursor}'])
    expect(await typesIn('both', uri)).toEqual(['deal', 'note'])
  expect(await typesIn('both', record, 'D')).toEqual(['deal'])
  expect(await typesIn('both', 'plinth://crm/types/{type}')).toEqual(['note'])
  expect(await typesIn('shown', record)).toEqual(['deal'])
  expect(await typesIn('unshown', record)).toEqual([])
  const { token } = await world.newToken([{ record_type: ['note', 'hidden'], permission: 'read' }])
  const params = { ref: { type: 'ref/resource', uri: record }, argument: { name: 'type', value: '' } }
  const limited = await rpc(world, '/mcp/crm/e/both', 'completion/complete', params, { token })
  expect(limited.body.result.completion.values).toEqual(['note'])
})

test('a cut value is linked only at an endpoint with resources', { tags: 'full' }, async () => {
  succeed(await world.call('PUT', '/v1/crm/records/note/long', { data: { text: 'x'.repeat(5000) } }), 201)
  const tools = [{ record_type: 'note', operations: ['get'] }]
  succeed(await put('linked', { tools, resources: true }), 201)
  succeed(await put('unlinked', { tools, resources: false }), 201)
  const get = (endpoint: string) =>
    callTool(world, `/mcp/crm/e/${endpoint}`, 'get_note', { id: 'long', max_tokens: 300 })
  const linked = await get('linked')
  expect(linked.body.hint).toMatch('read the linked resource')
  expect(linked.result.content[1]).toMatchObject({ uri: 'plinth://crm/records/note/long' })
  const unlinked = await get('unlinked')
  expect(unlinked.body.truncated).toEqual(['/data/text'])
  expect(unlinked.body.hint).toMatch(/send a larger one[.]$/)
  expect(unlinked.result.content).toHaveLength(1)
})

test('instructions of an endpoint are sent without invisible characters', async () => {
  const instructions = 'Amounts\u202e are\u{e0041} in euros.\nNever\u0007 guess.'
  succeed(await put('spoken', { instructions, tools: [] }), 201)
  const client = await connect(world.url, world.adminToken, 'v1', '/mcp/crm/e/spoken')
  expect(client.getInstructions()).toMatch(/^Amounts {2}are {2}in euros[.]\nNever {2}guess[.]\n\n/)
  await client.close()
})

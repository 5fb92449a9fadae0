import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectFault } from '../../support/answers.ts'
import { type Answer, type Body, openServer, type TestServer } from '../../support/server.ts'

let server: TestServer
let base: string
let bases = 0

beforeAll(async () => {
  server = await openServer()
})
afterAll(() => server.close())
beforeEach(async () => {
  base = `b${++bases}`
  await server.call('PUT', `/v1/bases/${base}`, {})
})

const PARAMETERS = {
  type: 'object',
  properties: { sku: { type: 'string', description: 'The article.' }, qty: { type: 'integer', minimum: 1 } },
  required: ['sku', 'qty'],
  additionalProperties: false,
}
const GOOGLE_PARAMETERS = {
  type: 'OBJECT',
  properties: { sku: { type: 'STRING', description: 'The article.' }, qty: { type: 'INTEGER', minimum: 1 } },
  required: ['sku', 'qty'],
}
type Arguments = Record<string, unknown>
type Form = {
  form: string
  provider: string
  source: string
  tool: object
  call: (id: string, args: Arguments, name?: string) => object
  argumentsAt: string
  resultOf: (toolResult: Body) => { id: unknown; text: unknown }
  shape?: string
}
const declaration = { name: 'place_order', description: 'Places an order.', parameters: GOOGLE_PARAMETERS }
const FORMS: Form[] = [
  {
    form: 'openai chat',
    provider: 'openai',
    source: 'openai',
    tool: {
      type: 'function',
      function: {
        name: 'place_order',
        description: 'Places an order.',
        strict: true,
        parameters: PARAMETERS,
      },
    },
    call: (id, args, name = 'place_order') => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    }),
    argumentsAt: '/function/arguments',
    resultOf: ({ role, tool_call_id, content }) => {
      expect(role).toBe('tool')
      return { id: tool_call_id, text: JSON.parse(content) }
    },
  },
  {
    form: 'openai responses',
    provider: 'openai',
    source: 'openai',
    tool: {
      type: 'function',
      name: 'place_order',
      description: 'Places an order.',
      strict: true,
      parameters: PARAMETERS,
    },
    call: (id, args, name = 'place_order') => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: JSON.stringify(args),
    }),
    argumentsAt: '/arguments',
    resultOf: ({ type, call_id, output }) => {
      expect(type).toBe('function_call_output')
      return { id: call_id, text: JSON.parse(output) }
    },
    shape: '&shape=responses',
  },
  {
    form: 'anthropic',
    provider: 'anthropic',
    source: 'anthropic',
    tool: {
      name: 'place_order',
      description: 'Places an order.',
      input_schema: PARAMETERS,
      cache_control: { type: 'ephemeral' },
    },
    call: (id, args, name = 'place_order') => ({ type: 'tool_use', id, name, input: args }),
    argumentsAt: '/input',
    resultOf: ({ type, tool_use_id, content }) => {
      expect(type).toBe('tool_result')
      return { id: tool_use_id, text: JSON.parse(content[0].text) }
    },
  },
  ...['google', 'gemini'].map((provider) => ({
    form: provider,
    provider,
    source: 'google',
    tool: { functionDeclarations: [declaration] },
    call: (id: string, args: Arguments, name = 'place_order') => ({ functionCall: { id, name, args } }),
    argumentsAt: '/functionCall/args',
    resultOf: ({ functionResponse }: Body) => {
      expect(functionResponse.name).toBe('place_order')
      return { id: functionResponse.id, text: functionResponse.response }
    },
  })),
]
const MCP_TOOL = {
  name: 'place_order',
  title: 'Place order',
  description: 'Places an order.',
  inputSchema: PARAMETERS,
  outputSchema: { type: 'object', properties: { ok: { type: 'boolean' } } },
  annotations: { readOnlyHint: false, idempotentHint: true },
}

const importTools = (provider: string, tools: unknown[], more: object = {}, query = ''): Promise<Answer> =>
  server.call('POST', `/v1/${base}/providers/${provider}/import${query}`, { tools, ...more })
const send = (provider: string, call: object, type = 'place_order', headers: Record<string, string> = {}) =>
  server.call('POST', `/v1/${base}/providers/${provider}/records/${type}`, call, headers)
const total = async (type = 'place_order') =>
  (await server.call('GET', `/v1/${base}/records/${type}?include_total=true`)).body.meta.total

test('an import that removes properties of an existing type warns with their names', {
  tags: 'full',
}, async () => {
  const tool = (properties: object) => ({
    type: 'function',
    function: { name: 'shrunk', description: 'x', parameters: { type: 'object', properties } },
  })
  await importTools('openai', [tool({ a: { type: 'string' }, b: { type: 'string' } })])
  const { body } = await importTools('openai', [tool({ a: { type: 'string' } })])
  expect(body.data).toEqual([
    {
      record_type: 'shrunk',
      operation: 'updated',
      warnings: [expect.stringContaining('"b"'), expect.stringContaining('Shrunk.b was removed')],
    },
  ])
})

describe.each(FORMS)('$form', ({ provider, source, tool, call, argumentsAt, resultOf, shape = '' }) => {
  beforeEach(async () => {
    const { status, body } = await importTools(provider, [tool])
    expect(status).toBe(200)
    expect(body).toEqual({
      data: [{ record_type: 'place_order', operation: 'created', warnings: [] }],
      meta: { count: 1 },
    })
  })

  test('an imported definition becomes a record type, and its export is the same definition', {
    tags: 'full',
  }, async () => {
    const type = (await server.call('GET', `/v1/${base}/record-types/place_order`)).body
    expect(type).toMatchObject({
      description: 'Places an order.',
      json_schema: {
        type: 'object',
        properties: { qty: { type: 'integer', minimum: 1 } },
        required: ['sku', 'qty'],
      },
      display: { source: { provider: source } },
    })
    const back = await server.call(
      'GET',
      `/v1/${base}/providers/${provider}/export?record_types=place_order${shape}`,
    )
    expect(back.body).toEqual({ provider: source, tools: [tool], warnings: [] })
    const again = await importTools(provider, back.body.tools)
    expect(again.body.data).toEqual([{ record_type: 'place_order', operation: 'unchanged', warnings: [] }])
    expect((await server.call('GET', `/v1/${base}/record-types/place_order`)).body.version).toBe(1)
  })

  test('a call becomes a record with the call id as external id; repeating the call returns the same record', async () => {
    const first = await send(provider, call('call_1', { sku: 'a', qty: 2 }))
    expect(first.status).toBe(201)
    expect(first.body).toMatchObject({
      record_type: 'place_order',
      data: { sku: 'a', qty: 2 },
      external_id: 'call_1',
      external_source: source,
      version: 1,
      operation: 'created',
    })
    expect(first.headers.get('location')).toBe(`/v1/${base}/records/place_order/${first.body.id}`)
    const { tool_result, operation: _operation, ...record } = first.body
    expect(record).toEqual((await server.call('GET', `/v1/${base}/records/place_order/${record.id}`)).body)
    expect(resultOf(tool_result)).toMatchObject({
      id: 'call_1',
      text: { id: record.id, operation: 'created' },
    })

    const second = await send(provider, call('call_1', { qty: 2, sku: 'a' }))
    expect(second.status).toBe(200)
    expect(second.body).toMatchObject({ id: record.id, version: 1, operation: 'unchanged' })
    expect(second.headers.get('location')).toBeNull()
    expect(resultOf(second.body.tool_result)).toMatchObject({
      id: 'call_1',
      text: { operation: 'unchanged' },
    })
    expect(await total()).toBe(1)
  })

  test('a call with a used id and other arguments is a conflict that changes nothing', async () => {
    const { body } = await send(provider, call('call_1', { sku: 'a', qty: 2 }))
    const other = await send(provider, call('call_1', { sku: 'a', qty: 3 }))
    expect(other.status).toBe(409)
    expect(other.body.error).toMatchObject({
      code: 'CONFLICT',
      details: [{ code: 'other_arguments', path: argumentsAt }],
    })
    const { version, data } = (await server.call('GET', `/v1/${base}/records/place_order/${body.id}`)).body
    expect([version, data]).toEqual([1, { sku: 'a', qty: 2 }])
    expect(await total()).toBe(1)
  })

  test('repeating a call after its record was changed returns the record unchanged', {
    tags: 'full',
  }, async () => {
    const { body } = await send(provider, call('call_1', { sku: 'a', qty: 2 }))
    await server.call('PATCH', `/v1/${base}/records/place_order/${body.id}`, { data: { qty: 9 } })
    const again = await send(provider, call('call_1', { sku: 'a', qty: 2 }))
    expect(again.status).toBe(200)
    expect(again.body).toMatchObject({ id: body.id, version: 2, data: { qty: 9 }, operation: 'unchanged' })
    expect((await send(provider, call('call_1', { sku: 'a', qty: 9 }))).status).toBe(409)
    await server.call('POST', `/v1/${base}/records/place_order/${body.id}/cancel`)
    expect((await send(provider, call('call_1', { sku: 'a', qty: 2 }))).body).toMatchObject({
      status: 'cancelled',
    })
  })

  test('thirty-two equal concurrent calls create one record', { tags: 'full' }, async () => {
    const answers = await Promise.all(
      Array.from({ length: 32 }, () => send(provider, call('call_1', { sku: 'a', qty: 2 }))),
    )
    expect(answers.map((answer) => answer.status).sort()).toEqual([...Array(31).fill(200), 201])
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1)
    expect(await total()).toBe(1)
  })

  test('validation errors point into the native call', async () => {
    const wrong = await send(provider, call('call_1', { sku: 5, qty: 0, colour: 'red' }))
    expect(wrong.status).toBe(400)
    const paths = wrong.body.error.details.map((detail: Body) => detail.path).sort()
    const closed = source === 'google' ? [] : [`${argumentsAt}/colour`]
    expect(paths).toEqual([...closed, `${argumentsAt}/qty`, `${argumentsAt}/sku`])
    const missing = await send(provider, call('call_1', { sku: 'a' }))
    expect(missing.body.error.details).toMatchObject([{ path: `${argumentsAt}/qty` }])
    const named = await send(provider, call('call_1', { sku: 'a', qty: 1 }, 'place_ordr'))
    expect(named.status).toBe(400)
    expect(named.body.error.details[0]).toMatchObject({
      path: expect.stringMatching(/name$/),
      received: 'place_ordr',
      hint: 'place_order',
    })
    const empty = await send(provider, call('', { sku: 'a', qty: 1 }))
    expect(empty.body.error.details[0].path).toMatch(/id$/)
    expect(await total()).toBe(0)
  })

  test('the aliases of the path lead to the same record', async () => {
    const spellings = [`${base}/providers/${provider}/records`, `${base}/providers/${provider}/documents`]
    const answers = []
    for (const path of spellings)
      answers.push(await server.call('POST', `/v1/${path}/place_order`, call('call_1', { sku: 'a', qty: 1 })))
    expect(answers.map((answer) => answer.status)).toEqual([201, 200])
    expect(answers[1]?.body.id).toBe(answers[0]?.body.id)
    const [one, two] = await Promise.all(
      spellings.map((path) =>
        server.call('POST', `/v1/${path}/place_order`, call('call_1', { sku: 'a', qty: 1 })),
      ),
    )
    expect(two?.text).toBe(one?.text)
  })

  test('a dry run answers as the call would and writes nothing', async () => {
    const dry = await server.call(
      'POST',
      `/v1/${base}/providers/${provider}/records/place_order?dry_run=true`,
      call('call_1', { sku: 'a', qty: 1 }),
    )
    expect(dry.status).toBe(201)
    expect(dry.body).toMatchObject({ operation: 'created', dry_run: true })
    expect(await total()).toBe(0)
  })
})

test('an MCP call has no id: each creates a record, unless an idempotency key repeats', {
  tags: 'full',
}, async () => {
  expect((await importTools('mcp', [MCP_TOOL])).status).toBe(200)
  const call = { name: 'place_order', arguments: { sku: 'a', qty: 1 } }
  const [one, two] = [await send('mcp', call), await send('mcp', call)]
  expect([one.status, two.status]).toEqual([201, 201])
  expect(one.body).toMatchObject({ external_id: null, external_source: null, operation: 'created' })
  expect(two.body.id).not.toBe(one.body.id)
  expect(one.body.tool_result).toMatchObject({ structuredContent: { id: one.body.id, operation: 'created' } })
  expect(JSON.parse(one.body.tool_result.content[0].text)).toEqual(one.body.tool_result.structuredContent)
  const keyed = () => send('mcp', call, 'place_order', { 'idempotency-key': 'k1' })
  const [three, four] = [await keyed(), await keyed()]
  expect(four.body).toEqual(three.body)
  expect(four.headers.get('idempotency-replayed')).toBe('true')
  expect(await total()).toBe(3)
  const back = await server.call('GET', `/v1/${base}/providers/mcp/export`)
  expect(back.body).toEqual({ provider: 'mcp', tools: [MCP_TOOL], warnings: [] })
  expect((await server.call('GET', `/v1/${base}/record-types/place_order`)).body.name).toBe('Place order')
})

test('a type id that a provider forbids is exported under an alias, which calls may use', {
  tags: 'full',
}, async () => {
  await server.call('PUT', `/v1/${base}/record-types/order.v2`, { json_schema: PARAMETERS })
  const { body } = await server.call('GET', `/v1/${base}/providers/openai/export?record_types=order.v2`)
  const alias = body.tools[0].function.name
  expect(alias).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
  expect(alias).not.toBe('order.v2')
  expect(body.warnings.join()).toContain(alias)
  const call = (id: string, name: string) => ({
    id,
    type: 'function',
    function: { name, arguments: '{"sku":"a","qty":1}' },
  })
  expect((await send('openai', call('c1', alias), 'order.v2')).status).toBe(201)
  expect((await send('openai', call('c1', 'order.v2'), 'order.v2')).status).toBe(200)
  for (const name of ['order_v2', 'place_order', '']) {
    const other = await send('openai', call('c2', name), 'order.v2')
    expect(other.status, name).toBe(400)
    expect(other.body.error.details[0]).toMatchObject({
      path: '/function/name',
      allowed: ['order.v2', alias],
    })
  }
  expect((await send('openai', call('c3', alias), alias)).status).toBe(404)
})

test('an import with invalid tools writes nothing and lists the faults of each tool', async () => {
  const tool = (name: unknown, input_schema: unknown = PARAMETERS) => ({ name, input_schema })
  const refused = await importTools('anthropic', [
    tool('good'),
    tool('bad name'),
    tool('other', { type: 'array' }),
    tool('good'),
    { type: 'function', function: { name: 'foreign' } },
    { name: 'misspelt', input_schema: {}, descripton: 'x' },
    5,
  ])
  expect(refused.status).toBe(400)
  const paths = refused.body.error.details.map((detail: Body) => detail.path)
  for (const place of ['/tools/1/name', '/tools/3/name', '/tools/4', '/tools/5/descripton', '/tools/6'])
    expect(paths).toContain(place)
  expect(paths.some((path: string) => path.startsWith('/tools/2/input_schema'))).toBe(true)
  expect(paths.some((path: string) => path.startsWith('/tools/0'))).toBe(false)
  expect((await server.call('GET', `/v1/${base}/record-types`)).body.data).toEqual([])
  for (const tools of [[], 'no', undefined, {}]) {
    const answer = await server.call('POST', `/v1/${base}/providers/anthropic/import`, { tools })
    expect(answer.status).toBe(400)
    expect(answer.body.error.details[0].path).toBe('/tools')
  }
})

test('an import that would make existing records invalid is a conflict and changes no type', {
  tags: 'full',
}, async () => {
  await importTools('anthropic', [{ name: 'a', input_schema: {} }])
  await server.call('POST', `/v1/${base}/records/a`, { data: { qty: 'many' } })
  const broken = await importTools('anthropic', [
    { name: 'b', input_schema: PARAMETERS },
    { name: 'a', input_schema: PARAMETERS },
  ])
  expect(broken.status).toBe(409)
  expect(broken.body.error.code).toBe('CONFLICT')
  expect(broken.body.error.details[0].path).toMatch(/^\/tools\/1\/input_schema/)
  expect((await server.call('GET', `/v1/${base}/record-types/b`)).status).toBe(404)
  expect((await server.call('GET', `/v1/${base}/record-types/a`)).body).toMatchObject({
    version: 1,
    json_schema: {},
  })
})

test('a dry run of an import is requested in the body or the query, and writes nothing', {
  tags: 'full',
}, async () => {
  const tools = [{ name: 'a', input_schema: PARAMETERS }]
  for (const dry of [
    await importTools('anthropic', tools, { dry_run: true }),
    await importTools('anthropic', tools, {}, '?dry_run=true'),
    await importTools('anthropic', tools, { dry_run: false }, '?dry_run=true'),
  ]) {
    expect(dry.status).toBe(200)
    expect(dry.body).toEqual({
      data: [{ record_type: 'a', operation: 'created', warnings: [] }],
      meta: { count: 1 },
      dry_run: true,
    })
    expect((await server.call('GET', `/v1/${base}/record-types`)).body.data).toEqual([])
  }
  const real = await importTools('anthropic', tools, { dry_run: false })
  expect(real.body).not.toHaveProperty('dry_run')
  expect((await server.call('GET', `/v1/${base}/record-types/a`)).status).toBe(200)
  expect(
    (await importTools('anthropic', [{ name: 'b c', input_schema: {} }], { dry_run: true })).status,
  ).toBe(400)
})

test('importing an existing type changes only what the definition contains', async () => {
  await server.call('PUT', `/v1/${base}/record-types/a`, {
    color: 'red',
    display: { mine: 1 },
    timezone: 'Europe/Zurich',
  })
  const { body } = await importTools('anthropic', [
    { name: 'a', description: 'New.', input_schema: PARAMETERS },
  ])
  expect(body.data[0].operation).toBe('updated')
  expect((await server.call('GET', `/v1/${base}/record-types/a`)).body).toMatchObject({
    color: 'red',
    timezone: 'Europe/Zurich',
    description: 'New.',
    display: { mine: 1, source: { provider: 'anthropic' } },
    version: 2,
  })
})

test('a default that its own schema refuses is imported as an annotation, and the type can be changed later', {
  tags: 'full',
}, async () => {
  const input_schema = {
    type: 'object',
    properties: {
      title: { type: 'string', default: null },
      filters: {
        type: 'object',
        default: {},
        properties: { tags: { type: 'array', default: null }, limit: { type: 'integer', default: 10 } },
      },
    },
    required: ['title'],
  }
  const tools = [{ name: 'find', description: 'Finds.', input_schema }]
  const type = `/v1/${base}/record-types/find`
  const warning = (answer: Body) => answer.warnings.find((each: string) => each.includes('annotation'))
  const { body } = await importTools('anthropic', tools)
  expect(warning(body.data[0])).toBe(
    'A default does not match its own schema: it is kept as an annotation and fills nothing (at /json_schema/properties/title/default, /json_schema/properties/filters/properties/tags/default).',
  )
  const { body: exported } = await server.call('GET', `/v1/${base}/providers/anthropic/export`)
  expect(exported.tools).toEqual(tools)
  const call = { type: 'tool_use', id: 'c1', name: 'find', input: { title: 'x' } }
  const record = await server.call('POST', `/v1/${base}/providers/anthropic/records/find`, call)
  expect(record.body.data).toEqual({ title: 'x', filters: { limit: 10 } })
  const without = { ...call, id: 'c2', input: {} }
  expect((await server.call('POST', `/v1/${base}/providers/anthropic/records/find`, without)).status).toBe(
    400,
  )

  const patched = await server.call('PATCH', type, { description: 'Finds more.' })
  expect(patched).toMatchObject({ status: 200, body: { json_schema: input_schema } })
  expect(warning(patched.body.meta)).toBeDefined()
  expect((await importTools('anthropic', tools)).body.data[0].operation).toBe('updated')
  const migration = [{ op: 'rename', field: 'title', to: 'name' }]
  expect((await server.call('PATCH', type, { migration })).status).toBe(200)
  const bad = { json_schema: { properties: { more: { type: 'string', default: 1 } } } }
  expectFault(await server.call('PATCH', type, bad), '/json_schema/properties/more/default')
  expectFault(
    await server.call('PUT', `/v1/${base}/record-types/own`, { json_schema: input_schema }),
    '/json_schema/properties/title/default',
  )
  expect((await server.call('POST', `/v1/${base}/preview`, { name: 'dev' })).status).toBe(201)
  const dev = `${base}--dev`
  await server.call('POST', `/v1/${dev}/providers/anthropic/import`, {
    tools: [{ ...tools[0], name: 'seek' }],
  })
  const promoted = await server.call('POST', `/v1/${base}/promote`, { from: dev })
  expect(promoted).toMatchObject({ status: 200, body: { changes: [{ id: 'seek', op: 'create' }] } })
  const listed = await server.call('GET', `/v1/${base}/mcp/tools?types=seek`)
  const create = listed.body.data.find(({ name }: Body) => name === 'create_seek')
  expect(create.input_schema.required).toEqual(['title'])
  expect(create.input_schema.properties.title).not.toHaveProperty('default')
})

test('a type imported from one provider is exported to the others', { tags: 'full' }, async () => {
  await importTools('anthropic', [{ name: 'place_order', description: 'Places.', input_schema: PARAMETERS }])
  const exported = async (provider: string, query = '') =>
    (await server.call('GET', `/v1/${base}/providers/${provider}/export${query}`)).body.tools[0]
  expect(await exported('openai')).toEqual({
    type: 'function',
    function: { name: 'place_order', description: 'Places.', parameters: PARAMETERS },
  })
  expect(await exported('openai', '?shape=responses')).toMatchObject({
    type: 'function',
    name: 'place_order',
    strict: false,
  })
  expect(await exported('google')).toMatchObject({
    functionDeclarations: [
      { name: 'place_order', parameters: { type: 'OBJECT', properties: { qty: { type: 'INTEGER' } } } },
    ],
  })
  expect(await exported('mcp')).toEqual({
    name: 'place_order',
    description: 'Places.',
    inputSchema: PARAMETERS,
  })
})

test('property names that Anthropic refuses are exported under others, and calls may use both', {
  tags: 'full',
}, async () => {
  const address = { type: 'object', properties: { 住所: { type: 'string' } }, required: ['住所'] }
  await server.call('PUT', `/v1/${base}/record-types/kyaku`, {
    json_schema: {
      type: 'object',
      properties: {
        名前: { type: 'string', description: 'Full name' },
        'a b': { $ref: '#/properties/宛先' },
        宛先: address,
      },
      required: ['名前'],
      additionalProperties: false,
    },
  })
  const { body } = await server.call('GET', `/v1/${base}/providers/anthropic/export?record_types=kyaku`)
  const { input_schema: schema } = body.tools[0]
  const names: string[] = []
  JSON.stringify(schema, (key, value) => {
    if (key === 'properties') names.push(...Object.keys(value))
    return value
  })
  expect(names).toHaveLength(5)
  for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_.-]{1,64}$/)
  const [name = '', , to = ''] = Object.keys(schema.properties)
  expect(schema.required).toEqual([name])
  expect(schema.properties[name]).toEqual({ type: 'string', description: '名前: Full name.' })
  expect(schema.properties[to].required).toEqual(Object.keys(schema.properties[to].properties))
  // The portable form has no references.
  expect(Object.values<Body>(schema.properties)[1].properties).toEqual(schema.properties[to].properties)
  expect(body.warnings.join('\n')).toContain('exported as')
  const { tools } = (await server.call('GET', `/v1/${base}/providers/openai/export?record_types=kyaku`)).body
  expect(Object.keys(tools[0].function.parameters.properties)).toEqual(['名前', 'a b', '宛先'])

  const [inner = ''] = schema.properties[to].required
  const call = (id: string, input: object) =>
    server.call('POST', `/v1/${base}/providers/anthropic/records/kyaku`, {
      type: 'tool_use',
      id,
      name: 'kyaku',
      input,
    })
  const exported = await call('t1', { [name]: 'Ai', [to]: { [inner]: 'Tokyo' } })
  expect(exported.body).toMatchObject({ data: { 名前: 'Ai', 宛先: { 住所: 'Tokyo' } } })
  expect(exported.body.data).not.toHaveProperty(name)
  const own = await call('t1', { 名前: 'Ai', 宛先: { 住所: 'Tokyo' } })
  expect([own.status, own.body.id]).toEqual([200, exported.body.id])
  const wrong = await call('t2', { [name]: 7 })
  expect(wrong.body.error.details[0].path).toBe(`/input/${name}`)
  expect((await call('t3', { 名前: 7 })).body.error.details[0].path).toBe('/input/名前')
  const lacking = await call('t5', { [to]: {} })
  expect(lacking.body.error.details.map(({ path }: Body) => path)).toEqual([
    `/input/${name}`,
    `/input/${to}/${inner}`,
  ])
  const twice = await call('t4', { [name]: 'Ai', 名前: 'Ai' })
  expect(twice.body.error.details[0].code).toBe('duplicate_argument')
})

test('an export contains the named types, or all; an unknown type is 404', { tags: 'full' }, async () => {
  for (const id of ['b', 'a', 'c']) await server.call('PUT', `/v1/${base}/record-types/${id}`, {})
  const names = async (query: string) => {
    const { body } = await server.call('GET', `/v1/${base}/providers/mcp/export${query}`)
    return body.tools.map((tool: Body) => tool.name)
  }
  expect(await names('')).toEqual(['a', 'b', 'c'])
  expect(await names('?record_types=c,a')).toEqual(['c', 'a'])
  const get = (query: string) => server.call('GET', `/v1/${base}/providers/mcp/export${query}`)
  expect((await get('?record_types=a,nope')).status).toBe(404)
  for (const query of [
    '?record_types=',
    '?record_types=a,,b',
    '?record_types=a,a',
    '?types=a',
    '?shape=chats',
  ])
    expect((await get(query)).status, query).toBe(400)
})

test('only openai has a shape to choose', { tags: 'full' }, async () => {
  const path = `/v1/${base}/providers`
  for (const shape of ['chat', 'responses']) {
    expect((await server.call('GET', `${path}/openai/export?shape=${shape}`)).status).toBe(200)
    for (const other of ['anthropic', 'google', 'gemini', 'mcp']) {
      const answer = await server.call('GET', `${path}/${other}/export?shape=${shape}`)
      expectFault(answer, 'query/shape')
    }
  }
})

test('an unknown provider is 400 with the closest known name as a hint', async () => {
  for (const [method, path, body] of [
    ['POST', 'import', { tools: [{}] }],
    ['GET', 'export', undefined],
    ['POST', 'records/a', {}],
  ] as const) {
    const answer = await server.call(method, `/v1/${base}/providers/opnai/${path}`, body)
    expect(answer.status, path).toBe(400)
    expect(answer.body.error.details[0]).toMatchObject({ path: 'path/provider', hint: 'openai' })
  }
})

test('a call in the format of another provider is refused with the name of that provider', {
  tags: 'full',
}, async () => {
  await server.call('PUT', `/v1/${base}/record-types/a`, {})
  const answer = await send('openai', { type: 'tool_use', id: 'x', name: 'a', input: {} }, 'a')
  expect(answer.status).toBe(400)
  expect(answer.body.error.details[0]).toMatchObject({ code: 'other_provider', received: 'anthropic' })
  expect(
    (await send('mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a' } }, 'a')).status,
  ).toBe(400)
  const args = { id: 'x', type: 'function', function: { name: 'a', arguments: '{"n":9007199254740993}' } }
  expect((await send('openai', args, 'a')).body.error.details).toMatchObject([
    { path: '/function/arguments/n', code: 'unsafe_number' },
  ])
  const broken = { id: 'x', type: 'function', function: { name: 'a', arguments: '{"n":' } }
  expect((await send('openai', broken, 'a')).body.error.details).toMatchObject([
    { path: '/function/arguments', code: 'malformed_json' },
  ])
})

test('an import needs the manage permission on each type, an export read, a call write', {
  tags: 'full',
}, async () => {
  const tokenWith = async (grant: object) =>
    (
      await server.call('POST', '/v1/tokens', {
        name: 'scoped',
        grants: [{ base, record_type: 'a', environment: 'production', ...grant }],
      })
    ).body.token
  for (const id of ['a', 'b']) await server.call('PUT', `/v1/${base}/record-types/${id}`, {})
  const [reader, writer, manager] = await Promise.all(
    ['read', 'write', 'manage'].map((permission) => tokenWith({ permission })),
  )
  const as = (token: string, method: string, path: string, body?: unknown) =>
    server.as(token)(method, `/v1/${base}/providers/anthropic/${path}`, body)
  const call = (name: string) => ({ type: 'tool_use', id: 'c1', name, input: {} })
  expect((await as(reader, 'GET', 'export')).body.tools).toHaveLength(1)
  expect((await as(reader, 'GET', 'export?record_types=a,b')).status).toBe(403)
  expect((await as(reader, 'GET', 'export?record_types=nowhere')).status).toBe(403)
  expect((await as(reader, 'POST', 'records/a', call('a'))).status).toBe(403)
  expect((await as(writer, 'POST', 'records/a', call('a'))).status).toBe(201)
  expect((await as(writer, 'POST', 'records/b', call('b'))).status).toBe(403)
  const tools = (...names: string[]) => ({
    tools: names.map((name) => ({ name, description: 'x', input_schema: {} })),
  })
  expect((await as(writer, 'POST', 'import', tools('a'))).status).toBe(403)
  expect((await as(manager, 'POST', 'import', tools('a', 'b'))).status).toBe(403)
  expect((await as(manager, 'POST', 'import', tools('a', 'c'))).status).toBe(403)
  expect((await server.call('GET', `/v1/${base}/record-types/a`)).body.version).toBe(1)
  expect((await as(manager, 'POST', 'import', tools('a'))).status).toBe(200)
  expect((await as(manager, 'POST', 'records/a', call('a'))).status).toBe(200)
  expect((await server.as(reader)('GET', '/v1/elsewhere/providers/mcp/export')).status).toBe(403)
  expect((await server.as(null)('GET', `/v1/${base}/providers/mcp/export`)).status).toBe(401)
})

test('a call to an absent type or base is a 404 that names it', async () => {
  const call = { type: 'tool_use', id: 'c1', name: 'nope', input: {} }
  const noType = await send('anthropic', call, 'nope')
  expect(noType.status).toBe(404)
  expect(noType.body.error.details).toMatchObject([{ path: 'path/record_type' }])
  const noBase = await server.call('POST', '/v1/nowhere/providers/anthropic/records/nope', call)
  expect(noBase.status).toBe(404)
  expect(noBase.body.error.details).toMatchObject([{ path: 'path/base_id' }])
})

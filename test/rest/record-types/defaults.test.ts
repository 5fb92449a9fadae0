/** Defaults of a schema: what a write of the whole content fills in. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed } from '../../support/answers.ts'
import { callTool } from '../../support/mcp.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/record-types/ticket', { json_schema: TICKET }), 201)
})
afterAll(() => world.close())

const TICKET = {
  properties: {
    subject: { type: 'string' },
    status: { enum: ['open', 'solved'], default: 'open' },
    tags: { type: 'array', default: [] },
    requester: {
      type: 'object',
      properties: { vip: { type: 'boolean', default: false }, name: { type: 'string' } },
    },
    lines: { type: 'array', items: { $ref: '#/$defs/line' } },
    parent: { $ref: '#/$defs/parent' },
  },
  required: ['subject', 'status'],
  additionalProperties: false,
  $defs: {
    line: { type: 'object', properties: { count: { type: 'integer', default: 1 } } },
    parent: { anyOf: [{ allOf: [{ properties: { kind: { default: 'x' } } }] }, { type: 'null' }] },
  },
}
const at = '/v1/crm/records/ticket'
const FILLED = { subject: 's', status: 'open', tags: [] }

const storedIn = async (id: string) => succeed(await world.call('GET', `${at}/${id}`)).data

describe('A write of the whole content fills absent properties with their defaults', () => {
  const data = { subject: 's' }
  const mutate = async (mutation: string) => {
    const { body } = await world.call('POST', '/graphql', { query: `mutation { ${mutation} }` })
    expect(body.errors, JSON.stringify(body.errors)).toBeUndefined()
    return Object.values<Body>(body.data)[0]
  }
  const operation = async (more: object) => {
    const body = { operations: [{ record_type: 'ticket', data, ...more }] }
    return succeed(await world.call('POST', '/v1/crm/batch', body)).data[0].record
  }

  test.each<[string, () => Promise<Body>]>([
    ['a PUT that creates', async () => succeed(await world.call('PUT', `${at}/a1`, { data }), 201)],
    [
      'a PUT that replaces',
      async () => succeed(await world.call('PUT', `${at}/a1`, { data: { ...data, tags: [] } })),
    ],
    ['a POST', async () => succeed(await world.call('POST', at, { data }), 201)],
    [
      'a POST with a pair',
      async () => succeed(await world.call('POST', at, { data, external_id: 'p' }), 201),
    ],
    ['an upsert by pair', async () => succeed(await world.call('PUT', at, { data, external_id: 'e' }), 201)],
    ['a batch upsert of new records', () => operation({ type: 'upsert_record', id: 'b1' })],
    ['a batch upsert by pair', () => operation({ type: 'upsert_record', external_id: 'b2' })],
    ['a batch creation', () => operation({ type: 'create_record' })],
    [
      'a GraphQL mutation',
      () =>
        mutate('putRecord(base: "crm", recordType: "ticket", id: "g1", data: { subject: "s" }) { id data }'),
    ],
    [
      'an MCP upsert',
      async () =>
        (await callTool(world, '/mcp/crm', 'upsert_record', { record_type: 'ticket', id: 'm1', data })).body,
    ],
    ['a typed MCP tool', async () => (await callTool(world, '/mcp/crm', 'create_ticket', data)).body],
    [
      'a provider call',
      async () => {
        const call = { type: 'tool_use', id: 'c1', name: 'ticket', input: data }
        return succeed(await world.call('POST', '/v1/crm/providers/anthropic/records/ticket', call), 201)
      },
    ],
  ])('%s, and answers what it stored', async (_name, write) => {
    const record = await write()
    expect(record['data']).toEqual(FILLED)
    expect(await storedIn(record['id'])).toEqual(FILLED)
  })

  test('in every object that is there: nested ones, items of arrays, targets of references', async () => {
    const sent = { ...FILLED, requester: { name: 'n' }, lines: [{}, { count: 2 }], parent: {} }
    const filled = {
      ...FILLED,
      requester: { name: 'n', vip: false },
      lines: [{ count: 1 }, { count: 2 }],
      parent: { kind: 'x' },
    }
    expect(succeed(await world.call('PUT', `${at}/n1`, { data: sent }), 201).data).toEqual(filled)
    expect(await storedIn('n1')).toEqual(filled)
    expect(
      succeed(await world.call('PUT', `${at}/n2`, { data: { ...FILLED, parent: null } }), 201).data,
    ).toEqual({
      ...FILLED,
      parent: null,
    })
  })

  test('a value that is there stays, null and an invalid one too', async () => {
    const solved = { subject: 's', status: 'solved', tags: ['a'] }
    expect(succeed(await world.call('PUT', `${at}/v1`, { data: solved }), 201).data).toEqual(solved)
    expectFault(await world.call('PUT', `${at}/v1`, { data: { subject: 's', status: null } }), '/data/status')
  })

  test('before it is validated: a required property with a default can be left out', async () => {
    expectFault(await world.call('PUT', `${at}/r1`, { data: {} }), '/data/subject')
    const { details } = expectFailure(await world.call('PUT', `${at}/r1`, { data: {} }), 'VALIDATION_ERROR')
    expect(details).toHaveLength(1)
  })

  test('the same content again changes nothing, also in a batch', async () => {
    succeed(await world.call('PUT', `${at}/u1`, { data }), 201)
    expect(succeed(await world.call('PUT', `${at}/u1`, { data }))).toMatchObject({
      operation: 'unchanged',
      version: 1,
    })
    const operations = [{ type: 'upsert_record', record_type: 'ticket', id: 'u1', data }]
    const [again] = succeed(await world.call('POST', '/v1/crm/batch', { operations })).data
    expect(again).toMatchObject({ operation: 'unchanged', version: 1, record: { data: FILLED } })
  })

  test('a dry run shows what it would store', async () => {
    const dry = succeed(await world.call('PUT', `${at}/d1?dry_run=true`, { data }), 201)
    expect(dry).toMatchObject({ dry_run: true, data: FILLED })
    expect((await world.call('GET', `${at}/d1`)).status).toBe(404)
  })

  test('a retry under an Idempotency-Key is the same request', async () => {
    const headers = { 'idempotency-key': 'defaults' }
    const first = succeed(await world.call('POST', at, { data }, headers), 201)
    const again = await world.call('POST', at, { data }, headers)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(again.body).toEqual(first)
  })

  test('the same provider call again is the same record; other arguments are a conflict', async () => {
    const send = (input: object) =>
      world.call('POST', '/v1/crm/providers/anthropic/records/ticket', {
        type: 'tool_use',
        id: 'c2',
        name: 'ticket',
        input,
      })
    const { id } = succeed(await send(data), 201)
    expect(succeed(await send(data))).toMatchObject({ id, data: FILLED })
    expectFailure(await send({ subject: 'another' }), 'CONFLICT')
  })

  test('a batch with a pair, a link or a patch beside it takes the slow path, and fills alike', async () => {
    const operations = [
      { type: 'upsert_record', record_type: 'ticket', id: 's1', data },
      { type: 'create_record', record_type: 'ticket', data, external_id: 's2' },
      { type: 'patch_record', record_type: 'ticket', id: 's1', data: { tags: null } },
    ]
    const done = succeed(await world.call('POST', '/v1/crm/batch', { operations })).data
    expect(done.map(({ record }: Body) => record.data)).toEqual([
      FILLED,
      FILLED,
      { subject: 's', status: 'open' },
    ])
  })

  test('a batch that changes the default fills each write by the schema of its moment', async () => {
    const schema = (status: string) => ({ properties: { status: { default: status } } })
    const type = await world.newType({ json_schema: schema('one') })
    const write = (id: string) => ({ type: 'upsert_record', record_type: type, id, data: {} })
    const change = { type: 'upsert_record_type', id: type, body: { json_schema: schema('two') } }
    const operations = [write('a'), change, write('b')]
    const done = succeed(await world.call('POST', '/v1/crm/batch', { operations })).data
    expect(done.map(({ record }: Body) => record?.data)).toEqual([
      { status: 'one' },
      undefined,
      { status: 'two' },
    ])
  })
})

describe('What is not filled', () => {
  test('a PATCH fills nothing, in any of its forms', async () => {
    succeed(await world.call('PUT', `${at}/p1`, { data: { subject: 's', requester: {} } }), 201)
    const patch = { data: { tags: null, requester: { vip: null } } }
    const bare = { subject: 's', status: 'open', requester: {} }
    expect(succeed(await world.call('PATCH', `${at}/p1`, patch)).data).toEqual(bare)
    const renamed = await callTool(world, '/mcp/crm', 'update_record', {
      record_type: 'ticket',
      id: 'p1',
      data: { subject: 't' },
    })
    expect(renamed.body['data']).toEqual({ ...bare, subject: 't' })
    const typed = await callTool(world, '/mcp/crm', 'update_ticket', { id: 'p1', subject: 'u' })
    expect(typed.body['data']).toEqual({ ...bare, subject: 'u' })
  })

  test('records that exist are not touched by a new default, and not by a revert', {
    tags: 'full',
  }, async () => {
    const type = await world.newType({ json_schema: {} })
    const path = `/v1/crm/records/${type}/old`
    succeed(await world.call('PUT', path, { data: { a: 1 } }), 201)
    const json_schema = { properties: { b: { default: 2 } } }
    succeed(await world.call('PUT', `/v1/crm/record-types/${type}`, { json_schema }))
    expect(succeed(await world.call('GET', path))).toMatchObject({ data: { a: 1 }, version: 1 })
    expect(succeed(await world.call('PUT', path, { data: { a: 1 } })).data).toEqual({ a: 1, b: 2 })
    const { data } = succeed(await world.call('GET', `/v1/crm/changes?record_type=${type}&limit=100`))
    const { seq } = data.at(-1)
    succeed(await world.call('POST', `/v1/crm/changes/${seq}/revert`))
    expect(succeed(await world.call('GET', path)).data).toEqual({ a: 1 })
  })

  test('an object that is absent, and the branches of a choice, get nothing', async () => {
    const branch = { properties: { x: { default: 1 } } }
    const json_schema = {
      properties: { o: branch, c: { anyOf: [branch, { type: 'string' }] } },
      if: branch,
      not: { properties: { y: { default: 1 } }, required: ['y'] },
    }
    const type = await world.newType({ json_schema })
    const put = async (data: object) =>
      succeed(await world.call('POST', `/v1/crm/records/${type}`, { data }), 201).data
    expect(await put({})).toEqual({})
    expect(await put({ c: {} })).toEqual({ c: {} })
    expect(await put({ o: {} })).toEqual({ o: { x: 1 } })
  })
})

describe('The defaults of an endpoint', () => {
  test('come first, and what it hides is filled and not shown', { tags: 'full' }, async () => {
    const tools = [
      {
        record_type: 'ticket',
        operations: ['create', 'upsert', 'update'],
        fields: ['data.subject', 'data.tags'],
        defaults: { tags: ['desk'] },
      },
    ]
    succeed(await world.call('PUT', '/v1/crm/endpoints/desk', { tools }), 201)
    const { body } = await callTool(world, '/mcp/crm/e/desk', 'create_ticket', { subject: 's' })
    expect(body['data']).toEqual({ subject: 's', tags: ['desk'] })
    expect(await storedIn(body['id'])).toEqual({ subject: 's', status: 'open', tags: ['desk'] })
    const again = await callTool(world, '/mcp/crm/e/desk', 'upsert_ticket', { id: body['id'], subject: 't' })
    expect(again.error, JSON.stringify(again.error)).toBeUndefined()
    expect(await storedIn(body['id'])).toEqual({ subject: 't', status: 'open', tags: [] })
  })
})

describe('A default of an endpoint that the schema of its property refuses', () => {
  const toolsWith = (defaults: object) => [{ record_type: 'strict', operations: ['create'], defaults }]
  const put = (defaults: object, kind = 'endpoints') =>
    world.call('PUT', `/v1/crm/${kind}/strict`, { tools: toolsWith(defaults) })
  const json_schema = {
    required: ['subject', 'at'],
    properties: {
      subject: { type: 'string' },
      stage: { enum: ['open', 'won'] },
      at: { $ref: '#/$defs/place' },
      any: true,
    },
    if: { required: ['stage'], properties: { stage: { const: 'won' } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ['any'], properties: { any: { type: 'string' } } },
    $defs: {
      place: {
        type: 'object',
        required: ['city', 'zip'],
        properties: { city: { type: 'string' }, zip: { type: 'string', default: '0000' } },
      },
    },
  }
  beforeAll(async () => {
    succeed(await world.call('PUT', '/v1/crm/record-types/strict', { json_schema }), 201)
  })

  test.each([
    ['outside an enum', { stage: 'lost' }, 'stage'],
    ['null', { subject: null }, 'subject'],
    ['of a nested type, by reference', { at: { city: 1 } }, 'at'],
    ['without a nested property', { at: {} }, 'at'],
  ])('is refused: %s', async (_what, defaults, name) => {
    for (const kind of ['endpoints', 'toolsets']) {
      const fault = expectFault(await put(defaults, kind), `/tools/0/defaults/${name}`)
      expect(fault.code).toBe('invalid_default')
      expectFailure(await world.call('GET', `/v1/crm/${kind}/strict`), 'NOT_FOUND')
    }
  })

  test('is refused in GraphQL and in a config file too', { tags: 'full' }, async () => {
    const tools = toolsWith({ stage: 'lost' })
    const query = `mutation($tools: JSON!) { putEndpoint(base: "crm", id: "strict", input: {tools: $tools}) { id } }`
    const refused = { path: '/tools/0/defaults/stage', code: 'invalid_default' }
    expect((await world.call('POST', '/graphql', { query, variables: { tools } })).body).toMatchObject({
      errors: [{ extensions: { code: 'VALIDATION_ERROR', details: [{ code: refused.code }] } }],
    })
    succeed(await world.call('POST', '/v1/crm/preview', { name: 'd' }), 201)
    const config = { plinth: 1, base: 'crm', endpoints: [{ id: 'strict', tools }] }
    const { details } = expectFailure(
      await world.call('PUT', '/v1/crm--d/config', config),
      'VALIDATION_ERROR',
    )
    expect(details).toMatchObject([{ code: refused.code }])
  })

  test('is judged alone: what a call must send, and rules between properties, stay to the call', {
    tags: 'full',
  }, async () => {
    succeed(await put({ stage: 'won', at: { city: 'Bern' } }), 201)
    const create = (values: Body) => callTool(world, '/mcp/crm/e/strict', 'create_strict', values)
    const { body } = await create({ subject: 's', any: 'x' })
    expect(body['data']).toMatchObject({ stage: 'won', at: { city: 'Bern', zip: '0000' } })
    expect((await create({ subject: 's' })).error).toMatchObject({ code: 'VALIDATION_ERROR' })
    // A later schema is not held up by it: calls that omit the property fail, until the endpoint follows.
    const later = structuredClone(json_schema)
    later.properties.stage.enum = ['open', 'lost']
    succeed(await world.call('PUT', '/v1/crm/record-types/strict?on_invalid=allow', { json_schema: later }))
    expect((await create({ subject: 's', any: 'x' })).error).toMatchObject({ code: 'VALIDATION_ERROR' })
    expect((await create({ subject: 's', any: 'x', stage: 'open' })).error).toBeUndefined()
    expectFault(await put({ stage: 'won' }), '/tools/0/defaults/stage')
  })
})

describe('A default that its own schema refuses', () => {
  const put = (json_schema: object, id = 'bad') =>
    world.call('PUT', `/v1/crm/record-types/${id}`, { json_schema })

  test.each<[string, object, string, RegExp]>([
    ['of another type', { a: { type: 'string', default: null } }, '/a/default', /type string/],
    ['outside an enum', { a: { enum: ['x'], default: 'y' } }, '/a/default', /must be "x"/],
    [
      'of a nested object',
      { a: { properties: { b: { minimum: 1 } }, default: { b: 0 } } },
      '/a/default',
      /At \/b: "b" must be at least 1/,
    ],
    [
      'of a list',
      { a: { items: { properties: { b: { maximum: 1, default: 2 } } } } },
      '/a/items/properties/b/default',
      /at most 1/,
    ],
    ['in a branch', { a: { anyOf: [{ type: 'string', default: 1 }] } }, '/a/anyOf/0/default', /type string/],
  ])('%s is 400 at the type, with path and reason', async (_name, properties, path, reason) => {
    const fault = expectFault(await put({ properties }), `/json_schema/properties${path}`)
    expect(fault['code']).toBe('invalid_default')
    expect(fault['message']).toMatch(reason)
    expect((await world.call('GET', '/v1/crm/record-types/bad')).status).toBe(404)
  })

  test('is judged by what a reference adds to it, too', async () => {
    const json_schema = {
      $defs: { n: { type: 'integer', default: 0 } },
      properties: { a: { $ref: '#/$defs/n', minimum: 1 } },
    }
    expectFault(await put(json_schema), '/json_schema/$defs/n/default')
  })

  test('is judged with the defaults inside it', async () => {
    const inner = { properties: { b: { type: 'integer', default: 3 } }, required: ['b'], default: {} }
    const type = await world.newType({ json_schema: { properties: { a: inner } } })
    const record = succeed(await world.call('POST', `/v1/crm/records/${type}`, { data: {} }), 201)
    expect(record.data).toEqual({ a: { b: 3 } })
  })

  test('is refused on a PATCH of the type, in a batch and in a dry run', async () => {
    const json_schema = { properties: { a: { type: 'string', default: 1 } } }
    const path = '/json_schema/properties/a/default'
    const type = await world.newType()
    expectFault(await world.call('PATCH', `/v1/crm/record-types/${type}`, { json_schema }), path)
    const merge = { 'content-type': 'application/merge-patch+json' }
    expectFault(await world.call('PATCH', `/v1/crm/record-types/${type}`, { json_schema }, merge), path)
    const operations = [{ type: 'upsert_record_type', id: type, body: { json_schema } }]
    expectFault(await world.call('POST', '/v1/crm/batch', { operations }), `/operations/0/body${path}`)
    expectFault(await world.call('PUT', '/v1/crm/record-types/bad?dry_run=true', { json_schema }), path)
  })
})

describe('Hostile defaults', () => {
  const put = (json_schema: object) => world.call('PUT', '/v1/crm/record-types/hostile', { json_schema })

  test('one that contains itself without end is refused', async () => {
    const json_schema = { properties: { child: { $ref: '#', default: {} } } }
    const { message } = expectFault(await put(json_schema), '/json_schema/properties/child/default')
    expect(message).toMatch(/itself/)
  })

  test('defaults that double at each level are refused, and not by running out of memory', {
    tags: 'full',
  }, async () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => [
        `d${i}`,
        i === 0
          ? { type: 'object', default: {} }
          : {
              default: {},
              properties: { a: { $ref: `#/$defs/d${i - 1}` }, b: { $ref: `#/$defs/d${i - 1}` } },
            },
      ]),
    )
    const answer = await put({ $defs, properties: { a: { $ref: '#/$defs/d59' } } })
    const { details } = expectFailure(answer, 'VALIDATION_ERROR')
    expect(['invalid_default', 'too_complex']).toContain(details[0].code)
  })

  test('many objects that a large default would fill are too large, in one write and in a batch', {
    tags: 'full',
  }, async () => {
    const item = { properties: { text: { default: 'x'.repeat(50_000) } } }
    const type = await world.newType({ json_schema: { properties: { list: { items: item } } } })
    const data = { list: Array(50).fill({}) }
    const fault = expectFault(await world.call('POST', `/v1/crm/records/${type}`, { data }), '/data')
    expect(fault['code']).toBe('too_large')
    const operations = Array.from({ length: 500 }, (_, i) => ({
      type: 'upsert_record',
      record_type: type,
      id: `r${i}`,
      data: { list: [{}] },
    }))
    const { details } = expectFailure(
      await world.call('POST', '/v1/crm/batch', { operations }),
      'VALIDATION_ERROR',
    )
    expect(details[0].code).toBe('batch_too_large')
    expect(succeed(await world.call('GET', `/v1/crm/records/${type}`)).data).toEqual([])
  })

  test('names of prototypes are properties like others', async () => {
    const json_schema = { properties: { constructor: { default: 1 }, toString: { default: 2 } } }
    const type = await world.newType({ json_schema })
    const record = succeed(await world.call('POST', `/v1/crm/records/${type}`, { data: {} }), 201)
    expect(record.data).toEqual({ constructor: 1, toString: 2 })
  })
})

test('a tool requires no property that has a default, and describe_type shows it at every level', {
  tags: 'full',
}, async () => {
  const { data } = succeed(await world.call('GET', '/v1/crm/mcp/tools?types=ticket'))
  const create = data.find(({ name }: Body) => name === 'create_ticket')
  expect(create.input_schema.required).toEqual(['subject'])
  expect(create.input_schema.properties.status).toMatchObject({ default: 'open' })
  const made = await callTool(world, '/mcp/crm', 'create_ticket', { subject: 'by tool' })
  expect(made.body.data).toMatchObject({ subject: 'by tool', status: 'open' })
  for (const detail of ['brief', 'standard', 'full']) {
    const { body } = await callTool(world, '/mcp/crm', 'describe_type', { record_type: 'ticket', detail })
    expect(body.json_schema.properties.status.default, detail).toBe('open')
    expect(body.json_schema.properties.tags.default, detail).toEqual([])
  }
})

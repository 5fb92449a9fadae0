import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { callTool, rpc } from '../support/mcp.ts'
import { type Body, openServer, type TestServer } from '../support/server.ts'

let server: TestServer
let bases = 0
let base: string

beforeAll(async () => {
  server = await openServer()
})
afterAll(() => server.close())
const newBase = async () => {
  base = `b${++bases}`
  succeed(await server.call('PUT', `/v1/bases/${base}`, {}), 201)
}

const define = (args: Body, token = server.adminToken, path = `/mcp/${base}`) =>
  callTool(server, path, 'define', args, { token })
const rest = async (path: string) => succeed(await server.call('GET', `/v1/${base}${path}`))
const PERSON = { type: 'object', properties: { name: { type: 'string' }, age: { type: 'integer' } } }

describe('define of a record type', () => {
  test('creates it with its indexes, and shows what was sent', { tags: 'full' }, async () => {
    await newBase()
    const indexes = [{ fields: ['data.name'], unique: true }]
    const { body } = await define({ record_type: 'person', name: 'People', json_schema: PERSON, indexes })
    expect(body).toEqual({
      ...{ id: 'person', operation: 'created', version: 1, name: 'People', properties: ['name', 'age'] },
      indexes: [{ ...indexes[0], type: 'btree', status: expect.any(String) }],
    })
    expect(await rest('/record-types/person')).toMatchObject({ name: 'People', indexes, version: 1 })
  })

  test('merges into what exists: what is not named stays, null removes, and dropped properties are named', {
    tags: 'full',
  }, async () => {
    await newBase()
    await define({ record_type: 'person', description: 'Anyone.', json_schema: PERSON })
    const { body } = await define({
      record_type: 'person',
      json_schema: { properties: { age: null, email: { type: 'string' } } },
    })
    const properties = { name: { type: 'string' }, email: { type: 'string' } }
    expect(body).toMatchObject({ operation: 'updated', version: 2 })
    expect(body).toMatchObject({ changed_properties: ['email'], removed: ['age'] })
    expect(body).not.toHaveProperty('properties')
    expect(body).not.toHaveProperty('json_schema')
    expect(body.meta.warnings).toEqual([
      expect.stringContaining('"age"'),
      expect.stringContaining('Person.age was removed.'),
    ])
    const cleared = await define({ record_type: 'person', description: null })
    expect(cleared.body).toEqual({ id: 'person', operation: 'updated', version: 3, description: null })
    expect(await rest('/record-types/person')).toMatchObject({ json_schema: { type: 'object', properties } })
    const same = await define({ record_type: 'person', description: null })
    expect(same.body).toMatchObject({ operation: 'unchanged', version: 3 })
  })

  test('with dry_run shows the result and writes nothing', { tags: 'full' }, async () => {
    await newBase()
    const made = await define({ record_type: 'person', json_schema: PERSON, dry_run: true })
    expect(made.body).toMatchObject({ dry_run: true, operation: 'created' })
    expect((await server.call('GET', `/v1/${base}/record-types/person`)).status).toBe(404)
    await define({ record_type: 'person', json_schema: PERSON })
    const changed = await define({ record_type: 'person', icon: 'x', dry_run: true })
    expect(changed.body).toMatchObject({ dry_run: true, icon: 'x' })
    expect(await rest('/record-types/person')).toMatchObject({ icon: null, version: 1 })
  })

  test('is refused with a count and samples of the records that violate it, which on_invalid keeps', {
    tags: 'full',
  }, async () => {
    await newBase()
    await define({ record_type: 'person', json_schema: PERSON })
    for (const id of ['a', 'b'])
      await server.call('PUT', `/v1/${base}/records/person/${id}`, { data: { name: id } })
    const strict = { record_type: 'person', json_schema: { required: ['age'] } }
    const { error } = await define(strict)
    expect(error.code).toBe('CONFLICT')
    expect(JSON.stringify(error.details)).toMatch(/"a"|\/a/)
    expect(await rest('/record-types/person')).toMatchObject({ version: 1 })
    const kept = await define({ ...strict, on_invalid: 'allow' })
    expect(kept.body).toMatchObject({ version: 2, required: ['age'] })
    expect(await rest('/records/person/a')).toMatchObject({ valid: false, data: { name: 'a' } })
  })

  test('migrates the records with the steps of migration', { tags: 'full' }, async () => {
    await newBase()
    await define({ record_type: 'person', json_schema: PERSON })
    await server.call('PUT', `/v1/${base}/records/person/a`, { data: { name: 'a' } })
    const { body, error } = await define({
      record_type: 'person',
      json_schema: { required: ['age'] },
      migration: [{ op: 'default', field: 'age', value: 18 }],
    })
    expect(error).toBeUndefined()
    expect(body).toMatchObject({ version: 2, meta: { records_rewritten: 1 } })
    expect(await rest('/records/person/a')).toMatchObject({ data: { name: 'a', age: 18 } })
  })

  test('a rename moves the data, the property and the indexes, and the old name leads to the new one', {
    tags: 'full',
  }, async () => {
    await newBase()
    const properties = { amount: { type: 'number' }, title: { type: 'string' } }
    const json_schema = { type: 'object', properties, required: ['title', 'amount'] }
    await define({ record_type: 'deal', json_schema, indexes: [{ fields: ['data.amount'] }] })
    for (const n of [1, 2, 3])
      await server.call('PUT', `/v1/${base}/records/deal/d${n}`, { data: { title: `${n}`, amount: n } })
    const readers = expect.stringMatching(/still use "amount".* now: endpoint "desk"\. /)
    const rename = { record_type: 'deal', migration: [{ op: 'rename', field: 'amount', to: 'value' }] }
    const clients = expect.stringContaining('Deal.amount was removed.')
    const warnings = [readers, clients]
    const shown = { renamed: { amount: 'value' }, meta: { records_rewritten: 3, warnings } }
    const tools = [{ record_type: 'deal', operations: ['list'], fields: ['data.title', 'data.amount'] }]
    succeed(await server.call('PUT', `/v1/${base}/endpoints/desk`, { tools }), 201)
    const plain = [{ record_type: 'deal', operations: ['list'], fields: ['data.title'] }]
    succeed(await server.call('PUT', `/v1/${base}/endpoints/other`, { tools: plain }), 201)
    const dry = await define({ ...rename, dry_run: true })
    expect(dry.body).toEqual({ id: 'deal', operation: 'updated', version: 2, dry_run: true, ...shown })
    expect(await rest('/record-types/deal')).toMatchObject({ json_schema, version: 1 })
    expect((await rest('/records/deal/d1')).data).toEqual({ title: '1', amount: 1 })

    const { body } = await define(rename)
    expect(body).toEqual({ id: 'deal', operation: 'updated', version: 2, ...shown })
    expect((await rest('/records/deal/d1')).data).toEqual({ title: '1', value: 1 })
    const type = await rest('/record-types/deal')
    expect(type).toMatchObject({ indexes: [{ fields: ['data.value'] }] })
    expect(type.json_schema).toEqual({
      type: 'object',
      properties: { value: { type: 'number', 'x-former-names': ['amount'] }, title: { type: 'string' } },
      required: ['title', 'value'],
    })

    const call = (name: string, args: Body) => callTool(server, `/mcp/${base}`, name, args)
    const now = expect.stringContaining('It is called value now.')
    for (const [name, args] of [
      ['sql_query', { query: 'SELECT sum(d.amount) FROM deal d' }],
      ['sql_query', { query: 'SELECT title FROM deal WHERE amount > 1' }],
      ['sql_write', { statements: 'UPDATE deal SET amount = 1' }],
    ] as const)
      expect((await call(name, args)).error.details).toMatchObject([{ message: now, hint: 'value' }])
    const filter = { field: 'data.amount', op: 'gt', value: 0 }
    const found = await call('query_records', { record_type: 'deal', filter })
    expect(found.body).toMatchObject({ data: [], meta: { hint: expect.stringContaining('data.value') } })
    const late = { record_type: 'deal', id: 'd1', data: { amount: 5 } }
    const warned = await call('update_record', { ...late, dry_run: true })
    expect(JSON.stringify(warned.body)).toContain('Did you mean \\"value\\"?')

    await define({ record_type: 'deal', json_schema: { additionalProperties: false } })
    expect((await call('query_records', { record_type: 'deal', filter })).error.details).toMatchObject([
      { code: 'unknown_field', message: now, hint: 'data.value' },
    ])
    expect((await call('update_record', late)).error.details).toMatchObject([
      { message: expect.stringContaining('It is called "value" now.'), hint: 'value' },
    ])
    await define({ record_type: 'deal', migration: [{ op: 'rename', field: 'value', to: 'total' }] })
    const twice = await call('sql_query', { query: 'SELECT amount FROM deal' })
    expect(twice.error.details).toMatchObject([{ hint: 'total' }])
  })

  test('a rename keeps what the call itself says of the new property', { tags: 'full' }, async () => {
    await newBase()
    const properties = { a: { type: 'string' }, at: { type: 'object', properties: { b: {} } } }
    await define({ record_type: 'note', json_schema: { properties } })
    await server.call('PUT', `/v1/${base}/records/note/n`, { data: { a: 'x', at: { b: 1 } } })
    await define({
      record_type: 'note',
      json_schema: { properties: { c: { type: 'string', maxLength: 5 } } },
      migration: [
        { op: 'rename', field: 'a', to: 'c' },
        { op: 'rename', field: 'at.b', to: 'at.d' },
      ],
    })
    expect((await rest('/record-types/note')).json_schema.properties).toEqual({
      at: { type: 'object', properties: { d: { 'x-former-names': ['b'] } } },
      c: { type: 'string', maxLength: 5, 'x-former-names': ['a'] },
    })
    expect((await rest('/records/note/n')).data).toEqual({ c: 'x', at: { d: 1 } })
  })

  test('a migration of a type that does not exist is refused by its name, and creates nothing', {
    tags: 'full',
  }, async () => {
    await newBase()
    await define({ record_type: 'deal', json_schema: { properties: { a: {} } } })
    const migration = [{ op: 'rename', field: 'a', to: 'b' }]
    const { error } = await define({ record_type: 'deals', migration })
    expect(error).toMatchObject({ code: 'NOT_FOUND', message: expect.stringContaining('"deals"') })
    expect(error.details).toMatchObject([{ path: '/record_type', code: 'record_type_not_found' }])
    expect((await rest('/record-types')).data.map(({ id }: Body) => id)).toEqual(['deal'])
  })

  test('warns of no property that a step of migration moves or drops', { tags: 'full' }, async () => {
    await newBase()
    const properties = { name: { type: 'string' }, old: { type: 'string' }, gone: {}, left: {} }
    await define({ record_type: 'person', json_schema: { properties } })
    const { body } = await define({
      record_type: 'person',
      json_schema: { properties: { old: null, gone: null, left: null, fresh: { type: 'string' } } },
      migration: [
        { op: 'rename', field: 'old', to: 'fresh' },
        { op: 'drop', field: 'data.gone' },
      ],
    })
    expect(body.meta.warnings).toEqual([
      'The property "left" is no longer in json_schema. Records keep what they hold of it.',
      expect.stringContaining('Person.old was removed. Person.gone was removed. Person.left was removed.'),
    ])
  })

  test.each([
    [
      { op: 'rename', from: 'a', to: 'b' },
      '/migration/0/from',
      '"rename" takes "field" and "to", not "from".',
    ],
    [{ op: 'drop' }, '/migration/0/field', '"drop" needs "field", such as "data.status".'],
  ])('names what a step of migration takes: %j', async (step, path, message) => {
    await newBase()
    await define({ record_type: 'person', json_schema: PERSON })
    const { error } = await define({ record_type: 'person', json_schema: PERSON, migration: [step] })
    expect(error.details).toMatchObject([{ path, message }])
  })

  test('writes once for calls with the same idempotency_key', { tags: 'full' }, async () => {
    await newBase()
    const args = { record_type: 'person', json_schema: PERSON, idempotency_key: `${base}-k` }
    const [first, second] = [await define(args), await define(args)]
    expect(second.body).toEqual(first.body)
    expect(await rest('/record-types/person')).toMatchObject({ version: 1 })
  })

  test('with expected_version changes only this version, and creates nothing', { tags: 'full' }, async () => {
    await newBase()
    const absent = await define({ record_type: 'person', expected_version: 1 })
    expect(absent.error).toMatchObject({ code: 'NOT_FOUND', details: [{ path: '/record_type' }] })
    await define({ record_type: 'person' })
    await define({ record_type: 'person', description: 'x' })
    const stale = await define({ record_type: 'person', description: 'y', expected_version: 1 })
    expect(stale.error.details[0]).toMatchObject({ code: 'version_mismatch' })
  })
})

describe('define with also', () => {
  const stored = {
    relationship_type: 'stored_in',
    source_record_types: ['item'],
    target_record_types: ['shed'],
  }
  const item = {
    record_type: 'item',
    json_schema: { type: 'object', properties: { sku: { type: 'string' } } },
    indexes: [{ fields: ['data.sku'], unique: true }],
  }

  test('makes all definitions in one request, whatever their order', { tags: 'full' }, async () => {
    await newBase()
    for (const path of [`/mcp/${base}`, `/mcp/${base}?profile=lean`]) {
      const args = { ...stored, also: [item, { record_type: 'shed' }] }
      const dry = await define({ ...args, dry_run: true }, server.adminToken, path)
      expect(dry.body, dry.text).toMatchObject({
        dry_run: true,
        data: [{ relationship_type: 'stored_in' }, {}, {}],
      })
    }
    expect((await rest('/record-types')).data).toEqual([])
    const { body, text } = await define({ ...stored, also: [item, { record_type: 'shed' }] })
    const created = { operation: 'created', version: 1 }
    expect(body, text).toEqual({
      data: [
        { relationship_type: 'stored_in', ...created },
        { record_type: 'item', ...created },
        { record_type: 'shed', ...created },
      ],
    })
    expect(await rest('/record-types/item')).toMatchObject({ indexes: item.indexes })
    const { data } = await rest('/changes')
    expect(new Set(data.map(({ request_id }: Body) => request_id)).size).toBe(2)
  })

  test('merges into what exists, and migrates records', { tags: 'full' }, async () => {
    await newBase()
    await define(item)
    succeed(await server.call('PUT', `/v1/${base}/records/item/i`, { data: { sku: 'a' } }), 201)
    const { body, text } = await define({
      record_type: 'shed',
      also: [
        {
          record_type: 'item',
          description: 'Things.',
          migration: [{ op: 'rename', field: 'sku', to: 'code' }],
        },
      ],
    })
    expect(body.data, text).toMatchObject([
      { record_type: 'shed', operation: 'created' },
      { record_type: 'item', operation: 'updated', version: 2 },
    ])
    const type = await rest('/record-types/item')
    expect(Object.keys(type.json_schema.properties)).toEqual(['code'])
    expect(type).toMatchObject({ description: 'Things.', indexes: [{ fields: ['data.code'], unique: true }] })
    expect((await rest('/records/item/i')).data).toEqual({ code: 'a' })
  })

  test.each([
    [
      [{ record_type: 'bb', json_schema: { properties: { x: { type: 'strin' } } } }],
      '/also/0/json_schema/properties/x/type',
    ],
    [[{ record_type: 'bb' }, { record_type: 'cc', schema: {} }], '/also/1/schema'],
    [[{ record_type: 'bb' }, { record_type: 'cc', cardinality: 'one_to_one' }], '/also/1/cardinality'],
    [[{ record_type: 'bb' }, { name: 'Nothing' }], '/also/1/record_type'],
    [[{ record_type: 'b b' }], '/also/0/record_type'],
    [[{ relationship_type: 'r', source_record_types: ['nobody'] }], '/also/0/source_record_types/0'],
    [[{ record_type: 'bb', also: [] }], '/also/0/also'],
    [[{ record_type: 'bb', expected_version: 3 }], '/also/0/expected_version'],
    [[{ record_type: 'bb', migration: [{ op: 'drop', field: 'x' }] }], '/also/0/record_type'],
    ['nothing', '/also'],
    [Array.from({ length: 21 }, (_, n) => ({ record_type: `t${n}` })), '/also'],
  ])('%j makes nothing, and the error names the place', async (also, path) => {
    await newBase()
    const { error, text } = await define({ record_type: 'aa', also })
    expect(error.details[0].path, text).toBe(path)
    expect(error.message).not.toMatch(/^Operation/)
    expect((await rest('/record-types')).data).toEqual([])
  })

  test('needs manage', async () => {
    await newBase()
    const grants = [{ base, record_type: '*', environment: 'production', permission: 'write' }]
    const { token } = succeed(await server.call('POST', '/v1/tokens', { name: 'writer', grants }), 201)
    const { error } = await define({ record_type: 'aa', also: [{ record_type: 'bb' }] }, token)
    expect(error.code).toBe('FORBIDDEN')
    expect((await rest('/record-types')).data).toEqual([])
  })
})

describe('define of a relationship type', () => {
  test('creates it, and merges changes into it', { tags: 'full' }, async () => {
    await newBase()
    await define({ record_type: 'person' })
    const ends = { source_record_types: ['person'], target_record_types: ['person'] }
    const made = await define({ relationship_type: 'knows', ...ends, cardinality: 'many_to_one' })
    expect(made.body).toMatchObject({
      id: 'knows',
      operation: 'created',
      ...ends,
      cardinality: 'many_to_one',
    })
    const { body } = await define({ relationship_type: 'knows', on_delete: 'cascade' })
    expect(body).toEqual({ id: 'knows', operation: 'updated', version: 2, on_delete: 'cascade' })
    const known = { cardinality: 'many_to_one', on_delete: 'cascade', ...ends }
    expect(await rest('/relationship-types/knows')).toMatchObject(known)
  })
})

test.each([
  [{}, [{ path: '/record_type', code: 'required' }]],
  [{ record_type: 'a', relationship_type: 'b' }, [{ path: '/relationship_type', code: 'exclusive' }]],
  [{ record_type: 'a', cardinality: 'one_to_one' }, [{ path: '/cardinality', code: 'unknown_key' }]],
  [{ relationship_type: 'a', indexes: [] }, [{ path: '/indexes', code: 'unknown_key' }]],
  [{ record_type: 'a', schema: {} }, [{ path: '/schema', code: 'unknown_key' }]],
  [{ record_type: 'a', name: 7 }, [{ path: '/name' }]],
  [{ record_type: 'a b' }, [{ path: '/record_type' }]],
  [{ record_type: 'a', json_schema: { type: 'array' } }, [{ path: '/json_schema/type' }]],
  [{ relationship_type: 'a', cardinality: 'many' }, [{ path: '/cardinality' }]],
  [{ relationship_type: 'a', source_record_types: ['nobody'] }, [{ path: '/source_record_types/0' }]],
  [{ record_type: 'a', on_invalid: 'allow', migration: [] }, [{ path: '/on_invalid', code: 'exclusive' }]],
])('%j is refused, and nothing is made', async (args, details) => {
  await newBase()
  const { error } = await define(args)
  expect(error, JSON.stringify(error)).toMatchObject({ code: 'VALIDATION_ERROR', details })
  for (const kind of ['record-types', 'relationship-types']) expect((await rest(`/${kind}`)).data).toEqual([])
})

test('define_type needs manage: of the type, and of the whole base for a relationship type', {
  tags: 'full',
}, async () => {
  await newBase()
  await define({ record_type: 'own' })
  const token = async (record_type: string, permission: string): Promise<string> => {
    const grants = [{ base, record_type, environment: 'production', permission }]
    return succeed(await server.call('POST', '/v1/tokens', { name: 't', grants }), 201).token
  }
  const writer = await token('*', 'write')
  expect((await define({ record_type: 'own', name: 'x' }, writer)).error.code).toBe('FORBIDDEN')
  const names = (await rpc(server, `/mcp/${base}`, 'tools/list', undefined, { token: writer })).body.result
    .tools
  expect(names.map(({ name }: Body) => name)).not.toContain('define')
  const manager = await token('own', 'manage')
  expect((await define({ record_type: 'own', name: 'x' }, manager)).body.name).toBe('x')
  expect((await define({ record_type: 'other' }, manager)).error.code).toBe('FORBIDDEN')
  expect((await define({ relationship_type: 'r' }, manager)).error.code).toBe('FORBIDDEN')
  expect((await rest('/record-types')).data).toHaveLength(1)
})

test('define_type takes base_id on /mcp', async () => {
  await newBase()
  const { body } = await define({ base_id: base, record_type: 'person' }, server.adminToken, '/mcp')
  expect(body).toMatchObject({ id: 'person', operation: 'created' })
})

test.each([
  'define_type',
  'put_record_type',
  'upsert_relationship_type',
  'create_table',
  'add_field',
  'alter_schema',
])('%s is unknown, and the error names define', async (name) => {
  await newBase()
  for (const path of [`/mcp/${base}`, '/mcp']) {
    const { rpcError } = await callTool(server, path, name, {})
    expect(rpcError).toMatchObject({ code: -32602, message: expect.stringContaining('"define"') })
  }
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Code, expectFailure, expectFault, succeed } from '../../support/answers.ts'
import type { Answer, Body } from '../../support/server.ts'
import { openWorld, patchJson, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const SCHEMA = {
  type: 'object',
  properties: {
    title: { type: 'string', maxLength: 80 },
    stage: { enum: ['open', 'won'] },
    address: { type: 'object', properties: { city: {}, street: {} } },
  },
  required: ['title'],
}

/** Creates a record type with that schema; returns its path. */
const newType = async (body: object = {}) =>
  `/v1/crm/record-types/${await world.newType({ name: 'Deal', description: 'd', json_schema: SCHEMA, ...body })}`
const merge = (path: string, patch: unknown, headers = {}) =>
  world.call('PATCH', path, JSON.stringify(patch), {
    'content-type': 'application/merge-patch+json',
    ...headers,
  })
const operate = (path: string, operations: unknown, headers = {}) =>
  patchJson(world.call, path, operations, headers)

/** Checks that a refused patch leaves the definition, its version and its history unchanged. */
async function refused(path: string, run: () => Promise<Answer>, code: Code): Promise<Body> {
  const state = async () => [
    succeed(await world.call('GET', path)),
    succeed(await world.call('GET', `${path}/history`)).data,
  ]
  const before = await state()
  const [detail] = expectFailure(await run(), code).details
  expect(await state()).toEqual(before)
  return detail
}

describe('A merge patch of a record type', () => {
  test('changes json_schema in place: null removes a property, and a warning names it', async () => {
    const path = await newType()
    const answer = await merge(path, {
      json_schema: { properties: { stage: null, title: { maxLength: null, minLength: 1 }, owner: {} } },
    })
    expect(answer.headers.get('etag')).toBe('"2"')
    expect(succeed(answer)).toMatchObject({
      name: 'Deal',
      description: 'd',
      json_schema: {
        ...SCHEMA,
        properties: {
          title: { type: 'string', minLength: 1 },
          address: SCHEMA.properties.address,
          owner: {},
        },
      },
      version: 2,
      meta: {
        warnings: [
          'The property "stage" is no longer in json_schema. Records keep what they hold of it.',
          expect.stringMatching(/\/graphql\/crm may break: Type\d+\.stage was removed\.$/),
        ],
      },
    })
    expect(answer.body.json_schema.properties).not.toHaveProperty('stage')
    const { data } = succeed(await world.call('GET', `${path}/history`))
    expect(data[0].diff).toContainEqual({ op: 'remove', path: '/json_schema/properties/stage' })
  })

  test('resets a field that is null to its default, and keeps the fields that it does not name', async () => {
    const path = await newType({ timezone: 'Europe/Zurich', display: { a: { b: 1, c: 2 } } })
    const patched = succeed(await merge(path, { name: null, timezone: null, display: { a: { b: null } } }))
    expect(patched).toMatchObject({ name: patched.id, timezone: 'UTC', display: { a: { c: 2 } }, version: 2 })
    expect(patched).toMatchObject({ description: 'd', json_schema: SCHEMA })
    expect(patched).not.toHaveProperty('meta')
    expect(succeed(await merge(path, { display: { a: {} } })).version).toBe(2)
  })

  test('that cannot be applied changes nothing, and the error names its path', { tags: 'full' }, async () => {
    const path = await newType()
    const type = (patch: unknown, code: Code = 'VALIDATION_ERROR', headers = {}) =>
      refused(path, () => merge(path, patch, headers), code)
    expect(await type({ nmae: 'x' })).toMatchObject({ path: '/nmae', code: 'unknown_key', hint: 'name' })
    expect(await type({ name: 7 })).toMatchObject({ path: '/name', code: 'type' })
    expect(await type({ json_schema: { properties: { title: { type: 'strin' } } } })).toMatchObject({
      path: '/json_schema/properties/title/type',
    })
    expect(
      await type({ json_schema: { type: null, properties: null, $ref: 'https://x.y/z' } }),
    ).toMatchObject({ path: '/json_schema/$ref' })
    expect(await type([{ op: 'remove', path: '/name' }])).toMatchObject({ path: '', code: 'type' })
    expect(await type({ name: 'x' }, 'CONFLICT', { 'if-match': '"9"' })).toMatchObject({
      code: 'version_mismatch',
    })
    expectFailure(await merge('/v1/crm/record-types/absent', { name: 'x' }), 'NOT_FOUND')
  })

  test('is validated against the existing records', { tags: 'full' }, async () => {
    const path = await newType()
    const id = path.split('/').at(-1)
    succeed(await world.call('PUT', `/v1/crm/records/${id}/r`, { data: { title: 'x' } }), 201)
    const patch = { json_schema: { required: ['title', 'stage'] } }
    expect(await refused(path, () => merge(path, patch), 'CONFLICT')).toMatchObject({
      path: '/json_schema',
      code: 'records_invalid',
      count: 1,
    })
    expect(succeed(await merge(`${path}?dry_run=true&on_invalid=allow`, patch))).toMatchObject({
      dry_run: true,
    })
    const repair = { ...patch, migration: [{ op: 'default', field: 'data.stage', value: 'open' }] }
    expect(succeed(await merge(`${path}?migrate=true`, repair)).version).toBe(2)
    expect(succeed(await world.call('GET', `/v1/crm/records/${id}/r`)).data.stage).toBe('open')
  })

  test('is refused with PUT', async () => {
    const type = { 'content-type': 'application/merge-patch+json' }
    expectFault(await world.call('PUT', await newType(), '{}', type), 'header/Content-Type')
  })

  test('is what application/json means too: a partial json_schema loses nothing', async () => {
    const path = await newType()
    const json_schema = { properties: { thread: { type: 'string' } } }
    const { meta, ...patched } = succeed(await world.call('PATCH', path, { json_schema }))
    expect(meta).toBeUndefined()
    expect(patched.json_schema).toEqual({
      ...SCHEMA,
      properties: { ...SCHEMA.properties, ...json_schema.properties },
    })
    const put = succeed(await world.call('PUT', path, { json_schema: { type: 'object' } }))
    expect(put.json_schema).toEqual({ type: 'object' })
    expect(put.meta.warnings.filter((each: string) => each.includes('json_schema'))).toHaveLength(4)
  })
})

describe('A JSON Patch of a record type', () => {
  test('can change parts of json_schema, and a warning names removed properties', async () => {
    const path = await newType()
    const patched = succeed(
      await operate(
        path,
        [
          { op: 'test', path: '/json_schema/properties/stage/enum/0', value: 'open' },
          { op: 'add', path: '/json_schema/properties/stage/enum/-', value: 'lost' },
          { op: 'add', path: '/json_schema/properties/x', value: { type: 'number' } },
          { op: 'remove', path: '/json_schema/properties/address/properties/street' },
          { op: 'replace', path: '/name', value: 'Offer' },
          { op: 'remove', path: '/description' },
        ],
        { 'if-match': '"1"' },
      ),
    )
    expect(patched).toMatchObject({ name: 'Offer', description: null, version: 2 })
    expect(patched.json_schema.properties).toEqual({
      ...SCHEMA.properties,
      stage: { enum: ['open', 'won', 'lost'] },
      address: { type: 'object', properties: { city: {} } },
      x: { type: 'number' },
    })
    expect(patched.meta.warnings[0]).toContain('"address.street"')
    expect(succeed(await operate(path, [{ op: 'test', path: '/name', value: 'Offer' }])).version).toBe(2)
    expect(succeed(await operate(path, [])).version).toBe(2)
  })

  test('that cannot be applied changes nothing, and the error names its path', { tags: 'full' }, async () => {
    const path = await newType()
    const first = { op: 'replace', path: '/name', value: 'Never' }
    const fault = (operation: unknown, code: Code = 'VALIDATION_ERROR') =>
      refused(path, () => operate(path, [first, operation]), code)
    expect(await fault({ op: 'remove', path: '/json_schema/properties/gone' })).toMatchObject({
      path: '/1/path',
      code: 'missing_path',
      received: '/json_schema/properties/gone',
    })
    expect(await fault({ op: 'move', from: '/display/gone', path: '/display/x' })).toMatchObject({
      path: '/1/from',
      code: 'missing_path',
      received: '/display/gone',
    })
    expect(await fault({ op: 'test', path: '/name', value: 'Other' }, 'CONFLICT')).toMatchObject({
      path: '/1/value',
      code: 'test_failed',
    })
    expect(await fault({ op: 'replace', path: '/version', value: 9 })).toMatchObject({
      path: '/1/path',
      code: 'invalid_pointer',
    })
    expect(await fault({ op: 'add', path: '/json_schema/__proto__/x', value: 9 })).toMatchObject({
      path: '/1/path',
    })
    expect(await fault({ op: 'replace', path: '/name', value: null })).toMatchObject({ path: '/name' })
    expect(await fault({ op: 'add', path: '/json_schema/properties/y', value: { type: 7 } })).toMatchObject({
      path: '/json_schema/properties/y/type',
    })
    expectFailure(await operate('/v1/crm/record-types/absent', [first]), 'NOT_FOUND')
  })

  test('is refused when the definition would exceed the size limit of a body', { tags: 'full' }, async () => {
    const path = await newType({ display: { text: 'x'.repeat(300_000) } })
    const copy = (at: string) => ({ op: 'copy', from: '/display/text', path: `/display/${at}` })
    expect(
      await refused(path, () => operate(path, ['a', 'b', 'c', 'd'].map(copy)), 'VALIDATION_ERROR'),
    ).toMatchObject({ path: '/3/from', code: 'too_large' })
    succeed(await operate(path, [copy('a')]))
    const more = { display: { b: 'x'.repeat(500_000) } }
    expect(await refused(path, () => merge(path, more), 'VALIDATION_ERROR')).toMatchObject({
      path: '',
      code: 'too_large',
    })
  })
})

test('a patch of a relationship type changes data_schema in place', { tags: 'full' }, async () => {
  const path = '/v1/crm/relationship-types/knows'
  const dataSchema = { type: 'object', properties: { since: {}, how: {} } }
  succeed(await world.call('PUT', path, { data_schema: dataSchema }), 201)
  const merged = succeed(await merge(path, { data_schema: { properties: { how: null } } }))
  expect(merged.data_schema).toEqual({ type: 'object', properties: { since: {} } })
  expect(merged.meta.warnings).toEqual([
    'The property "how" is no longer in data_schema. Relationships keep what they hold of it.',
  ])
  const operated = await operate(path, [{ op: 'replace', path: '/cardinality', value: 'one_to_one' }])
  expect(succeed(operated)).toMatchObject({ cardinality: 'one_to_one', version: 3 })
})

describe('A migration that drops a property', () => {
  const drop = (field: string) => [{ op: 'drop', field }]
  const indexed = [{ fields: ['data.stage'] }, { fields: ['data.title'] }]
  const schemaAfter = async (path: string) => succeed(await world.call('GET', path)).json_schema

  test('removes it from the schema, its required and the indexes, and from the records, without migrate=true', {
    tags: 'full',
  }, async () => {
    const path = await newType({ json_schema: { ...SCHEMA, required: ['title', 'stage'] }, indexes: indexed })
    const record = `/v1/crm/records/${path.split('/').at(-1)}/r`
    const data = { title: 'x', stage: 'open', address: { city: 'A', street: 'B' } }
    succeed(await world.call('PUT', record, { data }), 201)
    const dry = succeed(await world.call('PATCH', `${path}?dry_run=true`, { migration: drop('data.stage') }))
    expect(dry.meta).toMatchObject({ records_rewritten: 1 })
    expect(await schemaAfter(path)).toHaveProperty('properties.stage')
    const done = succeed(
      await world.call('PATCH', path, { migration: [...drop('data.stage'), ...drop('address.street')] }),
    )
    const { stage: _, ...kept } = SCHEMA.properties
    expect(done.json_schema).toEqual({
      ...SCHEMA,
      properties: { ...kept, address: { type: 'object', properties: { city: {} } } },
      required: ['title'],
    })
    expect(done.indexes).toMatchObject([{ fields: ['data.title'] }])
    expect(succeed(await world.call('GET', record)).data).toEqual({ title: 'x', address: { city: 'A' } })
    // Nothing is left to warn of.
    expect(succeed(await world.call('PATCH', path, { description: 'e' })).meta).toBeUndefined()
  })

  test('leaves a property that the patch states, or the PUT', { tags: 'full' }, async () => {
    const path = await newType()
    const properties = { stage: { type: 'integer', enum: null } }
    const patch = { json_schema: { properties }, migration: drop('stage') }
    expect(succeed(await world.call('PATCH', path, patch)).json_schema.properties.stage).toEqual({
      type: 'integer',
    })
    const operations = [{ op: 'replace', path: '/json_schema/properties/stage', value: {} }]
    expect(succeed(await operate(path, operations)).json_schema.properties.stage).toEqual({})
    const put = succeed(await world.call('PUT', path, { json_schema: SCHEMA, migration: drop('stage') }))
    expect(put.json_schema).toEqual(SCHEMA)
  })

  test('takes its steps in order, beside renames', async () => {
    const path = await newType()
    const migration = [...drop('stage'), { op: 'rename', field: 'title', to: 'stage' }, ...drop('address')]
    expect(succeed(await world.call('PATCH', path, { migration })).json_schema).toEqual({
      ...SCHEMA,
      properties: { stage: { ...SCHEMA.properties.title, 'x-former-names': ['title'] } },
      required: ['stage'],
    })
  })
})

test('a GraphQL patch merges its input, and takes exactly one of input, merge and operations', {
  tags: 'full',
}, async () => {
  const path = await newType()
  const id = path.split('/').at(-1)
  const patch = async (form: string) => {
    const query = `mutation { patchRecordType(base: "crm", id: "${id}", ${form}) { version warnings jsonSchema } }`
    return (await world.call('POST', '/graphql', { query })).body
  }
  const merged = await patch('merge: { json_schema: { properties: { stage: null } } }')
  expect(merged.data.patchRecordType).toMatchObject({
    version: 2,
    warnings: [expect.stringContaining('"stage"'), expect.stringContaining('.stage was removed.')],
  })
  const operated = await patch('operations: [{ op: "add", path: "/json_schema/properties/x", value: {} }]')
  expect(operated.data.patchRecordType).toMatchObject({ version: 3, jsonSchema: { properties: { x: {} } } })
  const input = await patch('input: { jsonSchema: { properties: { y: {} } }, description: null }')
  expect(input.data.patchRecordType.jsonSchema.properties).toMatchObject({ title: {}, x: {}, y: {} })
  const both = await patch('merge: { name: "x" }, operations: []')
  expect(both.errors[0].extensions).toMatchObject({
    code: 'VALIDATION_ERROR',
    details: [{ path: '/operations', code: 'exclusive' }],
  })
  const none = await patch('mustExist: true')
  expect(none.errors[0].extensions.details[0]).toMatchObject({ code: 'required' })
})

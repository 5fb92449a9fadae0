import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { wholeGrants } from '../../src/engine/storage/access/access.ts'
import { compileAccess } from '../../src/engine/storage/access/compile-access.ts'
import { accessToTypes, narrowAccess } from '../../src/engine/storage/access/narrow-access.ts'
import { succeed } from '../support/answers.ts'
import { openPolicyEngine, type Through } from '../support/row-policy.ts'
import { openWorld, type World } from '../support/world.ts'

const SCHEMA = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    stage: { type: 'string' },
    amount: { type: 'number' },
    secret: { type: 'string' },
    team: { type: 'string' },
  },
  additionalProperties: false,
}
const OURS = { field: 'data.team', op: 'eq', value: 'ours' }

let world: World
let policies: Awaited<ReturnType<typeof openPolicyEngine>>
let through: Through
const type = 'deal'

beforeAll(async () => {
  world = await openWorld()
  succeed(
    await world.call('PUT', `/v1/crm/record-types/${type}`, {
      json_schema: SCHEMA,
      indexes: [
        { fields: ['data.stage'] },
        { fields: ['data.team'] },
        { fields: ['data.secret'] },
        { fields: ['data.title'], type: 'text' },
      ],
    }),
    201,
  )
  const put = async (id: string, data: object) =>
    succeed(await world.call('PUT', `/v1/crm/records/${type}/${id}`, { data }), 201)
  await put('a', { title: 'Alpha plan', stage: 'open', amount: 10, secret: 'canary one', team: 'ours' })
  await put('b', { title: 'Beta plan', stage: 'won', amount: 20, secret: 'canary two', team: 'ours' })
  await put('x', { title: 'Gamma plan', stage: 'open', amount: 99, secret: 'canary three', team: 'theirs' })
  await put('y', { title: 'Delta plan', stage: 'lost', amount: 50, secret: 'canary four' })
  policies = await openPolicyEngine(world)
  through = await policies.through([
    { recordType: type, filter: OURS, fields: ['data.title', 'data.stage', 'data.amount'] },
  ])
})
afterAll(async () => {
  await policies.close()
  await world.close()
})

const ids = (body: { rows: { id: string }[] }) => body.rows.map(({ id }) => id).sort()

describe('Reading a record under a row-level policy', () => {
  test('returns only the fields that the policy shows', async () => {
    const { body } = await through('get', { type, id: 'a' })
    expect(body).toMatchObject({ id: 'a', version: 1, status: 'active' })
    expect(body.data).toEqual({ title: 'Alpha plan', stage: 'open', amount: 10 })
  })

  test('answers for a hidden record as for an absent one', async () => {
    const outside = await through('get', { type, id: 'x' })
    const absent = await through('get', { type, id: 'z' })
    expect(outside.error?.code).toBe('NOT_FOUND')
    expect(JSON.stringify(outside.error).replaceAll('"x"', '"z"')).toBe(JSON.stringify(absent.error))
    expect(outside.error?.message.replace('"x"', '"z"')).toBe(absent.error?.message)
  })

  test('refuses version and as_of', async () => {
    const version = await through('get', { type, id: 'a', version: 1 })
    expect(version.error).toMatchObject({ code: 'FORBIDDEN', details: [{ code: 'out_of_bounds' }] })
    const moment = await through('list', { type, asOf: new Date().toISOString() })
    expect(moment.error).toMatchObject({ code: 'FORBIDDEN', details: [{ code: 'out_of_bounds' }] })
  })
})

describe('A wait under a row-level policy', () => {
  test('returns visible records only, and refuses hidden fields', async () => {
    const { body } = await through('wait', { type, timeout: 0 })
    expect(ids(body)).toEqual(['a', 'b'])
    const title = (value: string) => ({ field: 'data.title', op: 'eq', value })
    expect((await through('wait', { type, filter: title('Gamma plan'), timeout: 0 })).body.rows).toEqual([])
    const hidden = { field: 'data.secret', op: 'is_not_null' }
    expect((await through('wait', { type, filter: hidden, timeout: 0 })).error?.details[0]?.code).toBe(
      'unknown_field',
    )
  })

  test('keeps the whole grants of its token, although it reads with a part of them', () => {
    const whole = compileAccess([{ base: '*', record_type: '*', environment: '*', permission: 'admin' }])
    const reading = narrowAccess(whole, { types: ['deal'], permission: 'read' })
    expect(reading.allows('write', 'crm', 'deal')).toBe(false)
    expect(wholeGrants(reading)).toBe(whole.grants)
    expect(wholeGrants(accessToTypes(reading, 'crm', ['deal']))).toBe(whole.grants)
  })
})

describe('A list under a row-level policy', () => {
  test('contains and counts visible records only, with visible fields only', async () => {
    const { body } = await through('list', { type })
    expect(ids(body)).toEqual(['a', 'b'])
    expect(body.total).toBe(2)
    expect(JSON.stringify(body)).not.toMatch(/canary|secret|team|ours/)
  })

  test('has the right total beyond the last page and with an index', async () => {
    expect((await through('list', { type, offset: 10 })).body).toMatchObject({ rows: [], total: 2 })
    const filter = { field: 'data.stage', op: 'eq', value: 'open' }
    expect((await through('list', { type, filter, limit: 1 })).body).toMatchObject({
      rows: [{ id: 'a' }],
      total: 1,
      hasMore: false,
    })
  })

  test('continues by cursor under the same policy only', async () => {
    const { body } = await through('list', { type, sort: 'data.amount', limit: 1 })
    expect(ids(body)).toEqual(['a'])
    const next = await through('list', { type, sort: 'data.amount', limit: 1, cursor: body.nextCursor })
    expect(ids(next.body)).toEqual(['b'])
    expect(next.body.hasMore).toBe(false)
    const wider = await policies.through([{ recordType: type, fields: ['data.amount'] }])
    const refused = await wider('list', { type, sort: 'data.amount', limit: 1, cursor: body.nextCursor })
    expect(refused.error).toMatchObject({ code: 'VALIDATION_ERROR' })
  })

  test.each([
    ['filter', { filter: { field: 'data.NAME', op: 'eq', value: 'canary one' } }],
    ['range', { filter: { field: 'data.NAME', op: 'gte', value: 'canary' } }],
    ['group of conditions', { filter: { and: [{ field: 'data.NAME', op: 'starts_with', value: 'c' }] } }],
    ['list of values', { filter: { field: 'data.NAME', op: 'in', value: ['canary one'] } }],
    ['negated filter', { filter: { not: { field: 'data.NAME', op: 'is_null' } } }],
    ['step below', { filter: { field: 'data.NAME.below', op: 'is_null' } }],
    ['quoted name', { filter: { field: 'data["NAME"]', op: 'is_null' } }],
    ['search', { filter: { field: 'data.NAME', op: 'search', value: 'canary' } }],
    ['sort', { sort: '-data.NAME' }],
    ['sort by a term', { sort: [{ field: 'data.NAME', direction: 'asc' }] }],
  ])('refuses a hidden field in a %s like an unknown one', async (_name, args) => {
    const asked = async (name: string) => {
      const named = JSON.parse(JSON.stringify(args).replaceAll('NAME', name))
      const { error } = await through('list', { type, ...named })
      expect(error?.code).toBe('VALIDATION_ERROR')
      expect(error?.details[0]?.code).toBe('unknown_field')
      return JSON.stringify([error?.message, error?.details]).replaceAll(name, 'NAME')
    }
    expect(await asked('secret')).toBe(await asked('zzzzzz'))
  })

  test('refuses a hidden field with an index, in waits, aggregations and lists', async () => {
    const filter = { field: 'data.secret', op: 'eq', value: 'canary one' }
    const aggregations = [{ fn: 'count' }]
    for (const { error } of [
      await through('wait', { type, filter, timeout: 0 }),
      await through('aggregate', { type, filter, aggregations }),
      await through('list', { type, filter: { field: 'data.team', op: 'is_null' } }),
    ])
      expect(error?.details[0]?.code).toBe('unknown_field')
  })

  test('refuses filters and sorts on data as a whole if a field is hidden', async () => {
    const filter = { field: 'data', op: 'neq', value: {} }
    expect((await through('list', { type, filter })).error?.details[0]?.code).toBe('unknown_field')
    expect((await through('list', { type, sort: 'data' })).error?.details[0]?.code).toBe('unknown_field')
  })

  test('searches the visible fields of data only', async () => {
    const search = (value: string) => ({ type, filter: { field: 'data', op: 'search', value } })
    expect(ids((await through('list', search('plan'))).body)).toEqual(['a', 'b'])
    expect(ids((await through('list', search('alpha open'))).body)).toEqual(['a'])
    expect(ids((await through('list', search('canary'))).body)).toEqual([])
    expect(ids((await through('list', search('ours'))).body)).toEqual([])
    const title = { field: 'data.title', op: 'search', value: 'plan' }
    expect(ids((await through('list', { type, filter: title })).body)).toEqual(['a', 'b'])
  })

  test('omits hidden fields that the fields parameter names', async () => {
    const { body } = await through('list', { type, fields: ['id', 'data.title', 'data.secret'], sort: 'id' })
    expect(body.rows).toEqual([
      { id: 'a', data: { title: 'Alpha plan' } },
      { id: 'b', data: { title: 'Beta plan' } },
    ])
  })

  test('has no search score from a search in the policy filter', async () => {
    const searching = await policies.through([
      {
        recordType: type,
        filter: { field: 'data.secret', op: 'search', value: 'canary' },
        fields: ['data.title'],
      },
    ])
    const { body } = await searching('list', { type })
    expect(ids(body)).toEqual(['a', 'b', 'x', 'y'])
    expect(JSON.stringify(body)).not.toMatch(/_search_score|canary/)
  })
})

describe('A row-level policy', () => {
  test('refuses other record types, and operations that do not support policies', {
    tags: 'full',
  }, async () => {
    succeed(await world.call('PUT', '/v1/crm/record-types/other', {}), 201)
    expect((await through('list', { type: 'other' })).error).toMatchObject({
      code: 'FORBIDDEN',
      details: [{ code: 'out_of_reach' }],
    })
    const refused = [
      '{ it: trash(base: "crm", recordType: "deal") { data { deletedAt } } }',
      '{ it: recordType(base: "crm", id: "deal") { id } }',
      '{ it: recordTypeProfile(base: "crm", id: "deal") { count } }',
      '{ it: sql(base: "crm", query: "SELECT 1") { data } }',
      'mutation { it: deleteRecordType(base: "crm", id: "deal") { id } }',
      'mutation { it: putRecordType(base: "crm", id: "new", input: {}) { id } }',
    ]
    for (const text of refused) expect((await through({ text })).error?.code, text).toBe('FORBIDDEN')
    // With a second, unrestricted type, the restricted types are not relations of SQL.
    const sql = '{ it: sql(base: "crm", query: "SELECT * FROM deal") { data } }'
    const beside = await policies.through([{ recordType: type, filter: OURS }, { recordType: 'other' }])
    expect((await beside({ text: sql })).error?.code).toBe('VALIDATION_ERROR')
    const empty = [
      '{ it: trash(base: "crm") { data { deletedAt } } }',
      '{ it: claims(base: "crm") { data { id } } }',
      '{ it: relationships(base: "crm") { data { id } } }',
    ]
    for (const text of empty) {
      expect((await through({ text })).error?.code, text).toBe('FORBIDDEN')
      expect((await beside({ text })).body, text).toEqual({ data: [] })
    }
    const changes = await beside({ text: '{ it: changes(base: "crm") { data { id } } }' })
    expect(changes.body.data).toEqual([{ id: 'crm' }, { id: 'other' }])
    const types = await beside({ text: '{ it: recordTypes(base: "crm") { data { id } } }' })
    expect(types.body.data).toEqual([{ id: 'other' }])
    const bases = await beside({ text: '{ it: bases { data { id } } }' })
    expect(bases.body.data).toEqual([{ id: 'crm' }])
  })

  test('does not extend the grants of the token', async () => {
    const { token } = await world.newToken([{ record_type: 'other', permission: 'read' }])
    const narrow = await policies.through([{ recordType: type, filter: OURS }], token)
    expect((await narrow('list', { type })).error).toMatchObject({
      code: 'FORBIDDEN',
      details: [{ code: 'missing_permission' }],
    })
  })
})

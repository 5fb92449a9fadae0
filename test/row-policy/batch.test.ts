import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { openPolicyEngine, type Through } from '../support/row-policy.ts'
import { openWorld, type World } from '../support/world.ts'

const POLICY = {
  recordType: 'deal',
  filter: { field: 'data.team', op: 'eq', value: 'ours' },
  fields: ['data.title', 'data.stage'],
  defaults: { team: 'ours', secret: 'default canary' },
}
const SCHEMA = {
  type: 'object',
  properties: { secret: { enum: ['canary', 'default canary'] }, stage: { type: 'string' } },
  required: ['secret'],
}
const path = '/v1/crm/records/deal'

let world: World
let policies: Awaited<ReturnType<typeof openPolicyEngine>>
let through: Through
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', { json_schema: SCHEMA }), 201)
  policies = await openPolicyEngine(world)
  through = await policies.through([POLICY])
})
afterAll(async () => {
  await policies.close()
  await world.close()
})

let a: string
let x: string
let serial = 0
const put = async (id: string, data: object, more = {}) =>
  succeed(await world.call('PUT', `${path}/${id}`, { data, ...more }), 201)
beforeEach(async () => {
  a = `a${++serial}`
  x = `x${serial}`
  await put(a, { title: 'inside', stage: 'open', secret: 'canary', team: 'ours' })
  await put(x, { title: 'outside', secret: 'canary', team: 'theirs' }, { external_id: x })
})
const stored = async (id: string) => (await world.call('GET', `${path}/${id}`)).body
const batch = (...operations: object[]) =>
  through('batch', { operations: operations.map((each) => ({ record_type: 'deal', ...each })) })

test('a batch under a row-level policy writes like its operations alone', { tags: 'full' }, async () => {
  const { body } = await batch(
    { type: 'create_record', id: `n${a}`, data: { title: 'new' } },
    { type: 'upsert_record', id: a, data: { title: 'put' } },
    { type: 'upsert_record', external_id: `e${a}`, data: { title: 'by pair' } },
    { type: 'patch_record', id: `n${a}`, data: { stage: 'won' } },
    { type: 'cancel_record', id: a },
  )
  expect(body.rows.map(({ operation }: { operation: string }) => operation)).toEqual([
    'created',
    'updated',
    'created',
    'updated',
    'updated',
  ])
  expect(JSON.stringify(body)).not.toMatch(/canary|secret|ours/)
  expect(body.rows[3].record.data).toEqual({ title: 'new', stage: 'won' })
  expect((await stored(a)).data).toEqual({ title: 'put', secret: 'canary', team: 'ours' })
  expect((await stored(`n${a}`)).data).toMatchObject({ secret: 'default canary', team: 'ours' })
})

test.each([
  ['patch_record', { data: { title: 'mine' } }],
  ['patch_record', { data: { title: 'mine' }, expected_version: 7 }],
  ['upsert_record', { data: { title: 'mine' }, expected_version: 7 }],
  ['cancel_record', {}],
  ['delete_record', {}],
])(
  'in a batch, %s %j of a record hidden by the policy is answered like that of an absent one',
  async (type, more) => {
    const outside = await batch({ type, id: x, ...more })
    const absent = await batch({ type, id: `z${x}`, ...more })
    expect(outside.error?.code).toBe('NOT_FOUND')
    expect(outside.error?.message.replaceAll(x, `z${x}`)).toBe(absent.error?.message)
    expect(JSON.stringify(outside.error?.details).replaceAll(x, `z${x}`)).toBe(
      JSON.stringify(absent.error?.details),
    )
    expect((await stored(x)).version).toBe(1)
  },
)

test('a batch with an upsert of a record hidden by the policy is 404 and writes nothing', async () => {
  for (const target of [{ id: x }, { external_id: x }]) {
    const { error } = await batch(
      { type: 'upsert_record', id: a, data: { title: 'undone' } },
      { type: 'upsert_record', data: { title: 'mine' }, ...target },
    )
    expect(error).toMatchObject({ code: 'NOT_FOUND', details: [{ code: 'record_not_found' }] })
  }
  expect((await stored(x)).version).toBe(1)
  expect((await stored(a)).version).toBe(1)
})

test('a batch that would move a record out of the policy is refused with the path of the operation', async () => {
  const open = await policies.through([
    { ...POLICY, filter: { field: 'data.stage', op: 'neq', value: 'won' }, defaults: { secret: 'canary' } },
  ])
  const { error } = await open('batch', {
    operations: [
      { type: 'create_record', record_type: 'deal', id: `n${a}`, data: {} },
      { type: 'patch_record', record_type: 'deal', id: a, data: { stage: 'won' } },
    ],
  })
  expect(error).toMatchObject({
    code: 'FORBIDDEN',
    message: expect.stringMatching(/endpoint\. Nothing was written\.$/),
    details: [{ path: '/operations/1/data', code: 'out_of_bounds' }],
  })
  expect((await stored(`n${a}`)).error.code).toBe('NOT_FOUND')
  expect((await stored(a)).version).toBe(1)
})

test('a batch with hidden fields is refused, and faults in hidden fields are reported without names', async () => {
  const named = await batch({ type: 'upsert_record', id: a, data: { secret: 'canary' } })
  expect(named.error?.details).toMatchObject([{ path: '/operations/0/data/secret', code: 'unknown_field' }])
  const cleared = await batch({ type: 'patch_record', id: a, data: { secret: null } })
  expect(cleared.error?.details).toMatchObject([{ path: '/operations/0/data/secret', code: 'unknown_field' }])
  const bare = await policies.through([{ ...POLICY, defaults: { team: 'ours' } }])
  const missing = await bare('batch', {
    operations: [{ type: 'create_record', record_type: 'deal', data: {} }],
  })
  expect(missing.error?.details).toMatchObject([{ path: '/operations/0/data', code: 'hidden_properties' }])
  expect(JSON.stringify([missing.error?.message, missing.error?.details])).not.toMatch(/secret|canary/)
})

test('a batch under a policy can delete visible records, but cannot write other types or configuration', async () => {
  expect((await batch({ type: 'delete_record', id: a })).body.rows[0].operation).toBe('deleted')
  succeed(await world.call('PUT', `/v1/crm/record-types/other${serial}`, {}), 201)
  const other = await batch({ type: 'create_record', record_type: `other${serial}`, data: {} })
  expect(other.error?.code).toBe('FORBIDDEN')
  const configuration = await through('batch', {
    operations: [{ type: 'delete_record_type', id: 'deal', confirm: 'deal' }],
  })
  expect(configuration.error?.code).toBe('FORBIDDEN')
})

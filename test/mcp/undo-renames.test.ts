// @module-tag full
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { callTool } from '../support/mcp.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const call = (name: string, args: Record<string, unknown>) => callTool(world, '/mcp/crm', name, args)
const at = (id: string, type: string) => `/v1/crm/records/${type}/${id}`
const dataOf = async (type: string, id: string) => (await world.call('GET', at(id, type))).body.data
const typeOf = async (type: string) => (await world.call('GET', `/v1/crm/record-types/${type}`)).body
const rename = { migration: [{ op: 'rename', field: 'sum', to: 'total' }] }

/** A type whose schema requires the property, closed and with a unique index on it, and three records. */
async function newType(type: string) {
  const json_schema = {
    type: 'object',
    properties: { sum: { type: 'number' }, note: { type: 'string' } },
    required: ['sum'],
    additionalProperties: false,
  }
  succeed(
    await world.call('PUT', `/v1/crm/record-types/${type}`, {
      json_schema,
      indexes: [{ fields: ['data.sum'], unique: true }],
    }),
    201,
  )
  for (const [n, id] of ['a', 'b', 'c'].entries())
    succeed(await world.call('PUT', at(id, type), { data: { sum: n } }), 201)
  return typeOf(type)
}
const define = async (record_type: string, args: object) => {
  const { text, body } = await call('define', { record_type, ...args })
  expect(body, text).toMatchObject({ operation: 'updated' })
}
const lastChange = async (type: string) => {
  const { body } = await call('changes', { kind: 'record_type', id: type, order: 'desc', limit: 1 })
  return body.data[0]
}
const undo = async (args: Record<string, unknown>) => {
  const { body: plan, text } = await call('undo', args)
  expect(plan.plan_token, text).toBeDefined()
  const { body: done } = await call('undo', { plan_token: plan.plan_token })
  return { plan: plan.plan, done }
}
const same = ({ json_schema, indexes }: Record<string, unknown>) => ({
  json_schema,
  indexes: (indexes as Record<string, unknown>[]).map(({ fields, unique }) => ({ fields, unique })),
})

test('a rename of a required property is undone in schema, indexes and records, with what was written since', {
  tags: 'full',
}, async () => {
  const before = await newType('bill')
  await define('bill', rename)
  const { request_id } = await lastChange('bill')
  succeed(await world.call('PATCH', at('b', 'bill'), { data: { total: 20, note: 'corrected' } }))
  succeed(await world.call('PUT', at('d', 'bill'), { data: { total: 3 } }), 201)

  const { plan, done } = await undo({ request_id })
  expect(plan).toMatchObject({
    what: 'Undoes 4 changes: updates 3 bill, updates 1 record type. Renames total to sum in bill.',
    count: 4,
  })
  expect(plan).not.toHaveProperty('skipped')
  expect(done).toMatchObject({ count: 4 })
  expect(await Promise.all(['a', 'b', 'c', 'd'].map((id) => dataOf('bill', id)))).toEqual([
    { sum: 0 },
    { sum: 20, note: 'corrected' },
    { sum: 2 },
    { sum: 3 },
  ])
  expect(same(await typeOf('bill'))).toEqual(same(before))
  const taken = await world.call('PUT', at('e', 'bill'), { data: { sum: 3 } })
  expect(taken.status).toBe(409)
  const { body: rows } = await call('sql_query', { query: 'SELECT id FROM bill WHERE sum = 20' })
  expect(rows.data).toEqual([{ id: 'b' }])

  const again = await call('undo', { request_id })
  expect(again.body, again.text).toMatchObject({ count: 0 })
})

test('an undone rename is undone again', { tags: 'full' }, async () => {
  await newType('fee')
  await define('fee', rename)
  const { request_id } = await lastChange('fee')
  await undo({ request_id })
  expect(await dataOf('fee', 'c')).toEqual({ sum: 2 })
  const back = (await lastChange('fee')).request_id
  const { body } = await call('changes', { group: 'request', request_id })
  expect(body.data[0]).toMatchObject({ undone_by: back })
  const { done } = await undo({ request_id: back })
  expect(done).toMatchObject({ count: 4 })
  expect(await dataOf('fee', 'c')).toEqual({ total: 2 })
  expect((await typeOf('fee')).json_schema.required).toEqual(['total'])
})

test('the change of a type is undone alone by its seq, records and all, also over REST', async () => {
  const before = await newType('toll')
  await define('toll', rename)
  const { seq } = await lastChange('toll')
  const dry = await world.call('POST', `/v1/crm/changes/${seq}/revert?dry_run=true`)
  expect(dry.status, dry.text).toBe(200)
  expect(await dataOf('toll', 'b')).toEqual({ total: 1 })
  const { plan } = await undo({ seq })
  expect(plan.what).toBe('Undoes 1 change: updates 1 record type. Renames total to sum in toll.')
  expect(await dataOf('toll', 'b')).toEqual({ sum: 1 })
  expect(same(await typeOf('toll'))).toEqual(same(before))

  await define('toll', rename)
  const second = await lastChange('toll')
  const reverted = await world.call('POST', `/v1/crm/changes/${second.seq}/revert`)
  expect(reverted.status, reverted.text).toBe(200)
  expect(await dataOf('toll', 'b')).toEqual({ sum: 1 })
})

test('the undo of a rename counts no record that was deleted since', async () => {
  await newType('gift')
  await define('gift', rename)
  const { request_id } = await lastChange('gift')
  succeed(await world.call('DELETE', at('b', 'gift')))
  const { plan, done } = await undo({ request_id })
  expect(plan.what).toContain('updates 2 gift, updates 1 record type')
  expect(done).toMatchObject({ count: 3 })
  expect(await dataOf('gift', 'c')).toEqual({ sum: 2 })
})

test('two renames of an actor are undone together', async () => {
  await newType('cost')
  await define('cost', rename)
  await define('cost', { migration: [{ op: 'rename', field: 'total', to: 'price' }] })
  expect(await dataOf('cost', 'b')).toEqual({ price: 1 })
  const { body } = await call('changes', { kind: 'record_type', id: 'cost' })
  const [, first] = body.data
  const { done } = await undo({ actor: first.actor.name, since: first.at })
  expect(done.skipped ?? []).toEqual([])
  expect(await dataOf('cost', 'b')).toEqual({ sum: 1 })
  expect((await typeOf('cost')).json_schema.required).toEqual(['sum'])
})

test('a rename that a later change of the type follows stays, with its records', async () => {
  await newType('rent')
  await define('rent', rename)
  const { request_id } = await lastChange('rent')
  await define('rent', { description: 'Money.' })
  const { body } = await call('undo', { request_id })
  expect(body).toMatchObject({ count: 0, skipped_count: 4 })
  expect(await dataOf('rent', 'a')).toEqual({ total: 0 })
})

test('a diff of a type and its versions say nothing of the migration of its records', async () => {
  await newType('duty')
  await define('duty', rename)
  const { diff } = await lastChange('duty')
  expect(diff.map(({ path }: { path: string }) => path).join()).not.toContain('migration')
  await define('duty', { description: 'Money.' })
  const { diff: next } = await lastChange('duty')
  expect(next.map(({ path }: { path: string }) => path)).toEqual(expect.not.arrayContaining(['/migration']))
})

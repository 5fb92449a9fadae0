import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { link, linkNames } from '../support/links.ts'
import { callTool } from '../support/mcp.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let type: string
beforeAll(async () => {
  world = await openWorld()
  type = await world.newType()
  succeed(await world.call('PUT', '/v1/crm/relationship-types/knows', {}), 201)
  for (const id of ['a', 'b', 'c'])
    succeed(await world.call('PUT', `/v1/crm/records/${type}/${id}`, { data: {} }), 201)
})
afterAll(() => world.close())

const ends = (source: string, target: string) => link('knows', [type, source], [type, target])
const call = (args: object, token?: string) =>
  callTool(world, '/mcp/crm', 'link_records', { ...args }, token === undefined ? {} : { token })

test('link_records creates, updates and removes a link', { tags: 'full' }, async () => {
  const made = await call({ ...ends('a', 'b'), data: { since: 1 } })
  expect(made.body).toMatchObject({ ...ends('a', 'b'), data: { since: 1 }, operation: 'created', version: 1 })
  const again = await call({ ...ends('a', 'b'), data: { since: 2 } })
  expect(again.body).toMatchObject({ id: made.body.id, operation: 'updated', version: 2 })
  const dry = await call({ ...ends('a', 'b'), remove: true, dry_run: true })
  expect(dry.body).toEqual({ id: made.body.id, deleted: true, dry_run: true })
  expect(await linkNames(world)).toEqual(['knows:a>b'])
  expect((await call({ ...ends('b', 'a'), remove: true })).error.code).toBe('NOT_FOUND')
  const once = { ...ends('a', 'b'), remove: true, idempotency_key: 'once' }
  for (const _ of [1, 2]) expect((await call(once)).body).toEqual({ id: made.body.id, deleted: true })
  expect(await linkNames(world)).toEqual([])
})

test('link_records reports faults with the argument name, and refuses data together with remove', async () => {
  const absent = await call(ends('a', 'nobody'))
  expect(absent.error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: '/target_id' }] })
  const wrong = await call({ ...ends('a', 'b'), rel_type: 'know' })
  expect(wrong.error.details).toMatchObject([{ path: '/rel_type', hint: 'knows' }])
  const both = await call({ ...ends('a', 'b'), remove: true, data: {} })
  expect(both.error.details).toMatchObject([{ path: '/data', code: 'exclusive' }])
})

test('link_records without write permission on both ends is FORBIDDEN whether or not the link exists', async () => {
  const { token } = await world.newToken([
    { record_type: 'other', permission: 'write' },
    { record_type: type, permission: 'read' },
  ])
  for (const remove of [false, true])
    expect((await call({ ...ends('a', 'b'), remove }, token)).error.code).toBe('FORBIDDEN')
})

test('upsert_record writes a record together with its links', async () => {
  const relationships = [
    { rel_type: 'knows', record_type: type, id: 'a' },
    { rel_type: 'knows', direction: 'incoming', record_type: type, id: 'b' },
  ]
  const put = (args: object) =>
    callTool(world, '/mcp/crm', 'upsert_record', { record_type: type, data: {}, ...args })
  expect((await put({ id: 'd', relationships })).body).toMatchObject({ id: 'd', operation: 'created' })
  expect((await put({ id: 'e', relationships: JSON.stringify(relationships) })).body.id).toBe('e')
  const made = (await put({ relationships })).body.id
  expect(await linkNames(world)).toEqual(
    ['d', 'e', made].flatMap((id) => [`knows:${id}>a`, `knows:b>${id}`]).sort(),
  )
  const faulty = await put({ id: 'f', relationships: [{ rel_type: 'knows', record_type: type, ids: 'a' }] })
  expect(faulty.error.details).toMatchObject([{ path: '/relationships/0/ids', hint: 'id' }])
})

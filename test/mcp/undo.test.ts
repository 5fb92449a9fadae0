import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { callTool } from '../support/mcp.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/record-types/note', {}), 201)
})
afterAll(() => world.close())

const call = (name: string, args: Record<string, unknown>, send = {}) =>
  callTool(world, '/mcp/crm', name, args, send)
const put = async (id: string, data: object, request: string) =>
  expect(
    (await world.call('PUT', `/v1/crm/records/note/${id}`, { data }, { 'x-request-id': request })).status,
  ).toBeLessThan(300)
const dataOf = async (id: string) => (await world.call('GET', `/v1/crm/records/note/${id}`)).body.data

test('changes lists what requests did, with old values when asked', async () => {
  await put('a', { n: 1 }, 'one')
  await put('a', { n: 2 }, 'two')
  const { body: groups } = await call('changes', { group: 'request', record_type: 'note' })
  expect(groups.data.map(({ request_id }: { request_id: string }) => request_id)).toEqual(['two', 'one'])
  const { body } = await call('changes', { request_id: 'two', include: 'before' })
  expect(body.data[0].diff).toEqual([{ op: 'replace', path: '/data/n', value: 2, before: 1 }])
  const { error } = await call('changes', { operation: 'updte' })
  expect(error).toMatchObject({ code: 'VALIDATION_ERROR' })
})

test('undo answers a plan, and its token alone carries it out', async () => {
  await put('b', { n: 1 }, 'first')
  await put('b', { n: 2 }, 'second')
  const { body: plan } = await call('undo', { request_id: 'second' })
  expect(plan.plan.what).toBe('Undoes 1 change: updates 1 note.')
  expect(plan.plan.count).toBe(1)
  expect(await dataOf('b')).toEqual({ n: 2 })
  const { body: done, text } = await call('undo', { plan_token: plan.plan_token })
  expect(done, text).toMatchObject({ count: 1 })
  expect(await dataOf('b')).toEqual({ n: 1 })
})

test('a plan that something has overtaken is refused', async () => {
  await put('c', { n: 1 }, 'c-1')
  await put('c', { n: 2 }, 'c-2')
  const { body: plan } = await call('undo', { request_id: 'c-2' })
  await put('c', { n: 3 }, 'c-3')
  const { error } = await call('undo', { plan_token: plan.plan_token })
  expect(error.code).toBe('CONFLICT')
  expect(await dataOf('c')).toEqual({ n: 3 })
})

test('undo takes back one change by its seq', async () => {
  await put('d', { n: 1 }, 'd-1')
  await put('d', { n: 2 }, 'd-2')
  const { body } = await call('changes', { request_id: 'd-2' })
  const { body: plan } = await call('undo', { seq: body.data[0].seq })
  await call('undo', { plan_token: plan.plan_token })
  expect(await dataOf('d')).toEqual({ n: 1 })
})

test('undo needs write, and is hidden at a read-only address', async () => {
  const reader = await world.newToken([{ permission: 'read' }])
  const { error } = await call('undo', { request_id: 'one' }, { token: reader.token })
  expect(error.code).toBe('FORBIDDEN')
  const { rpcError } = await callTool(world, '/mcp/crm?readonly=true', 'undo', { request_id: 'one' })
  expect(rpcError.code).toBe(-32602)
})

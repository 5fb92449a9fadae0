import { afterAll, beforeAll, expect, test } from 'vitest'
import { callTool } from '../support/mcp.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const put = (record_type: string, id: string, data: object) => ({
  type: 'upsert_record',
  record_type,
  id,
  data,
})

test('the batch tool applies all operations or none, and returns a result for each without the records', async () => {
  const type = await world.newType()
  const operations = [
    { type: 'create_record', name: 'x', record_type: type, data: { n: 1 } },
    { type: 'patch_record', record_type: type, id: { $ref: 'x' }, data: { n: 2 } },
  ]
  const { body: structured } = await callTool(world, '/mcp/crm', 'batch', { operations })
  expect(structured).toMatchObject({
    data: [
      { index: 0, type: 'create_record', operation: 'created', version: 1 },
      { index: 1, type: 'patch_record', operation: 'updated', version: 2 },
    ],
    meta: { count: 2 },
  })
  expect(JSON.stringify(structured)).not.toContain('"record"')
  const failed = await callTool(world, '/mcp/crm', 'batch', {
    operations: [put(type, 'a', {}), { type: 'delete_record', record_type: type, id: 'none' }],
  })
  expect(failed.error).toMatchObject({ code: 'NOT_FOUND', details: [{ path: '/operations/1/id' }] })
  expect(await world.logOf(type)).toHaveLength(2)
})

test('the batch tool accepts operations as a JSON string, an idempotency_key and dry_run', async () => {
  const type = await world.newType()
  const operations = JSON.stringify([{ type: 'create_record', record_type: type, data: {} }])
  const dry = await callTool(world, '/mcp/crm', 'batch', { operations, dry_run: true })
  expect(dry.body.dry_run).toBe(true)
  expect(await world.logOf(type)).toEqual([])
  for (const _ of [1, 2]) await callTool(world, '/mcp/crm', 'batch', { operations, idempotency_key: 'k' })
  expect(await world.logOf(type)).toHaveLength(1)
})

test('the answer of a batch names the request that undo takes, also when it is repeated', {
  tags: 'full',
}, async () => {
  const type = await world.newType()
  const batch = (args: Record<string, unknown>) => callTool(world, '/mcp/crm', 'batch', args)
  const sent = { operations: [put(type, 'a', {}), put(type, 'b', {})], idempotency_key: type }
  const { body } = await batch(sent)
  expect((await batch(sent)).body.meta).toEqual(body.meta)
  await batch({ operations: [put(type, 'c', {})] })
  expect((await batch({ operations: [put(type, 'd', {})], dry_run: true })).body.meta).toEqual({ count: 1 })
  const { request_id } = body.meta
  const plan = (await callTool(world, '/mcp/crm', 'undo', { request_id })).body
  expect(plan.plan).toMatchObject({ count: 2, samples: [`${type}/b`, `${type}/a`] })
  const { body: asked } = await callTool(world, '/mcp/crm', 'batch', {
    operations: [
      { type: 'delete_record', record_type: type, id: 'a' },
      { type: 'delete_record', record_type: type, id: 'b' },
    ],
  })
  expect(asked).not.toHaveProperty('meta')
  const done = (await batch({ plan_token: asked.plan_token })).body
  expect(done.meta).toEqual({ count: 2, request_id: expect.any(String) })
  await callTool(world, '/mcp/crm', 'undo', { request_id: done.meta.request_id }).then(
    ({ body: { plan_token } }) => callTool(world, '/mcp/crm', 'undo', { plan_token }),
  )
  expect((await world.call('GET', `/v1/crm/records/${type}/a`)).status).toBe(200)
})

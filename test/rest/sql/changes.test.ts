// @module-tag full
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../../support/answers.ts'
import type { Body, Call } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let type: string
beforeAll(async () => {
  world = await openWorld()
  type = await world.newType({
    json_schema: {
      type: 'object',
      properties: { n: { type: 'number' }, status: { type: 'string' }, tags: { type: 'array' } },
    },
  })
})
afterAll(() => world.close())

const at = (id: string) => `/v1/crm/records/${type}/${id}`
const rowsOf = async (query: string, call: Call = world.call): Promise<Body[]> =>
  succeed(await call('POST', '/v1/crm/sql', { query })).data
const changesOf = (id: string, call?: Call) =>
  rowsOf(`SELECT operation, changed, data_before FROM changes WHERE id = '${id}' ORDER BY seq`, call)

test('changed names the columns that differ from the entry before, data_before has what they were', async () => {
  succeed(await world.call('PUT', at('a'), { data: { n: 1, status: 'open' } }), 201)
  succeed(await world.call('PATCH', at('a'), { data: { n: 2, status: 'won', tags: ['x'] } }))
  succeed(await world.call('PUT', at('a'), { data: { n: 2, tags: ['y'] }, external_id: 'e1' }))
  succeed(await world.call('POST', `${at('a')}/cancel`))
  succeed(await world.call('DELETE', at('a')))
  succeed(await world.call('POST', `${at('a')}/restore`))
  succeed(await world.call('PATCH', at('a'), { data: { n: 3 } }))
  const last = { n: 2, tags: ['y'] }
  expect(await changesOf('a')).toEqual([
    { operation: 'create', changed: null, data_before: null },
    { operation: 'update', changed: ['data_status', 'n', 'tags'], data_before: { n: 1, status: 'open' } },
    {
      operation: 'update',
      changed: ['data_status', 'external_id', 'external_source', 'tags'],
      data_before: { n: 2, status: 'won', tags: ['x'] },
    },
    { operation: 'cancel', changed: ['status'], data_before: last },
    { operation: 'delete', changed: null, data_before: last },
    { operation: 'restore', changed: null, data_before: null },
    { operation: 'update', changed: ['n'], data_before: last },
  ])
})

test('links and configuration have them too', async () => {
  for (const id of ['b1', 'b2']) succeed(await world.call('PUT', at(id), { data: {} }), 201)
  const ends = { source_record_types: [type], target_record_types: [type] }
  succeed(await world.call('PUT', '/v1/crm/relationship-types/near', ends), 201)
  const link = {
    ...{ rel_type: 'near', source_record_type: type, source_id: 'b1' },
    ...{ target_record_type: type, target_id: 'b2' },
  }
  const { id } = succeed(await world.call('POST', '/v1/crm/relationships', link), 201)
  succeed(await world.call('PUT', '/v1/crm/relationships', { ...link, data: { km: 2 } }))
  const [, farther] = await changesOf(id)
  expect(farther).toMatchObject({ operation: 'update', changed: ['data'], data_before: { data: {} } })
  succeed(await world.call('PATCH', `/v1/crm/record-types/${type}`, { description: 'Things.' }))
  const [, described] = await rowsOf(
    `SELECT changed, data_before->>'description' AS before FROM changes WHERE kind = 'record_type' AND id = '${type}' ORDER BY seq`,
  )
  expect(described).toEqual({ changed: ['description'], before: null })
  succeed(await world.call('PATCH', `/v1/crm/record-types/${type}`, { json_schema: { title: 'T' } }))
  const rows = await rowsOf(
    `SELECT changed, data, data_before FROM changes WHERE kind = 'record_type' AND id = '${type}' ORDER BY seq DESC LIMIT 1`,
  )
  expect(rows[0]).toMatchObject({
    changed: ['json_schema'],
    data: { id: type, base_id: 'crm', json_schema: { title: 'T' }, created_at: expect.any(String) },
    data_before: { id: type, description: 'Things.', json_schema: expect.any(Object) },
  })
  expect(JSON.stringify(rows)).not.toMatch(/jsonSchema|baseId|createdAt/)
})

test('statements of sql/execute see them for what those before wrote', async () => {
  succeed(await world.call('PUT', at('c'), { data: { n: 1 } }), 201)
  const statements = `UPDATE ${type} SET n = 2 WHERE id = 'c';
    SELECT changed, data_before FROM changes WHERE id = 'c' AND operation = 'update'`
  const { data } = succeed(await world.call('POST', '/v1/crm/sql/execute', { statements }))
  expect(data[1].rows).toEqual([{ changed: ['n'], data_before: { n: 1 } }])
})

test('a reader of one type sees them for its records, and nothing of others', async () => {
  const other = await world.newType()
  succeed(await world.call('PUT', `/v1/crm/records/${other}/d`, { data: { secret: 1 } }), 201)
  succeed(await world.call('PUT', `/v1/crm/records/${other}/d`, { data: { secret: 2 } }))
  succeed(await world.call('PUT', at('d'), { data: { n: 1 } }), 201)
  succeed(await world.call('PUT', at('d'), { data: { n: 2 } }))
  const { call } = await world.newToken([{ record_type: type, permission: 'read' }])
  expect(await changesOf('d', call)).toEqual([
    { operation: 'create', changed: null, data_before: null },
    { operation: 'update', changed: ['n'], data_before: { n: 1 } },
  ])
  const all = await rowsOf('SELECT changed, data_before FROM changes', call)
  expect(JSON.stringify(all)).not.toContain('secret')
  expect(all.length).toBeGreaterThan(1)
})

test('what is purged has neither', async () => {
  succeed(await world.call('PUT', at('e'), { data: { n: 1 } }), 201)
  succeed(await world.call('PUT', at('e'), { data: { n: 2 } }))
  await world.database.query(`DELETE FROM plinth.change WHERE id = 'e' AND version = 1`)
  expect(await changesOf('e')).toEqual([{ operation: 'update', changed: null, data_before: null }])
})

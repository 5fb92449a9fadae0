import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { callTool } from '../support/mcp.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World

beforeAll(async () => {
  world = await openWorld()
  const due = { type: 'string', format: 'date-time' }
  succeed(await world.call('PUT', '/v1/crm/record-types/person', {}), 201)
  const json_schema = { type: 'object', properties: { due } }
  succeed(await world.call('PUT', '/v1/crm/record-types/task', { json_schema }), 201)
  succeed(await world.call('PUT', '/v1/crm/relationship-types/has', {}), 201)
  const put = async (at: string, data: object) =>
    succeed(await world.call('PUT', `/v1/crm/records/${at}`, { data }), 201)
  await put('person/ann', { name: 'Ann' })
  await put('person/bob', { name: 'Bob', n: 5 })
  // t1 is at 10:00Z, before t2 at 11:00Z, but its text sorts after that of t2.
  await put('task/t1', { n: 1, due: '2026-03-01T12:00:00+02:00' })
  await put('task/t2', { n: 2, due: '2026-03-01T11:00:00Z' })
  await put('task/t3', { n: 3, due: '2026-03-02T00:00:00Z' })
  for (const [record_type, id] of [
    ['task', 't1'],
    ['task', 't2'],
    ['task', 't3'],
    ['person', 'bob'],
  ])
    succeed(
      await world.call('POST', '/v1/crm/relationships', {
        rel_type: 'has',
        source_record_type: 'person',
        source_id: 'ann',
        target_record_type: record_type,
        target_id: id,
      }),
      201,
    )
})
afterAll(() => world.close())

const related = (args: object, path = '/mcp/crm') =>
  callTool(world, path, 'get_related', { record_type: 'person', id: 'ann', ...args })
const idsOf = (body: Body): string[] => body.data.map(({ record }: Body) => record.id)

test('get_related accepts filter, sort, fields, limit and offset, and returns what REST returns', async () => {
  const filter = { field: 'data.n', op: 'gte', value: 2 }
  const { body } = await related({ filter, sort: '-data.n', fields: ['id', 'data.n'], limit: 2 })
  expect(body.data.map(({ record }: Body) => record)).toEqual([
    { id: 'bob', data: { n: 5 } },
    { id: 't3', data: { n: 3 } },
  ])
  const query = new URLSearchParams({
    filter: JSON.stringify(filter),
    sort: '-data.n',
    fields: 'id,data.n',
    limit: '2',
  })
  expect(body).toEqual((await world.call('GET', `/v1/crm/records/person/ann/related?${query}`)).body)
  const rest = await related({ filter, sort: '-data.n', limit: 2, offset: 2 })
  expect(idsOf(rest.body)).toEqual(['t2'])
  expect(rest.body.meta.has_more).toBe(false)
  expect(idsOf((await related({ filter, base_id: 'crm', sort: 'data.n' }, '/mcp')).body)).toEqual([
    't2',
    't3',
    'bob',
  ])
})

test('related_type returns records of one type, and compares times by the schema of that type', async () => {
  const filter = { field: 'data.due', op: 'lt', value: '2026-03-01T10:30:00Z' }
  expect(idsOf((await related({ related_type: 'task', filter })).body)).toEqual(['t1'])
  expect(idsOf((await related({ related_type: 'person' })).body)).toEqual(['bob'])
  const unknown = (await related({ related_type: 'tusk' })).error
  expect(unknown).toMatchObject({
    code: 'VALIDATION_ERROR',
    details: [{ path: '/related_type', hint: 'task' }],
  })
})

test('a faulty argument of get_related is named with the most similar valid value', async () => {
  const fault = async (args: object) => (await related(args)).error.details[0]
  expect(await fault({ filtr: {} })).toMatchObject({ path: '/filtr', hint: 'filter' })
  expect(await fault({ filter: { field: 'data.n', op: 'eqq', value: 1 } })).toMatchObject({
    path: '/filter/op',
    hint: 'eq',
  })
  expect((await fault({ sort: 'data.a[]' })).path).toMatch(/^\/sort/)
  expect((await fault({ fields: ['dota.n'] })).path).toMatch(/^\/fields/)
  expect(await fault({ depth: 6 })).toMatchObject({ path: '/depth' })
  expect(await fault({ limit: 1001 })).toMatchObject({ path: '/limit' })
})

test('a filter of get_related does not match records outside the grants', async () => {
  const { token } = await world.newToken([{ record_type: 'person', permission: 'read' }])
  const as = (args: object) =>
    callTool(world, '/mcp/crm', 'get_related', { record_type: 'person', id: 'ann', ...args }, { token })
  expect(idsOf((await as({ filter: { field: 'data.n', op: 'gte', value: 1 } })).body)).toEqual(['bob'])
  expect((await as({ related_type: 'task' })).error.code).toBe('FORBIDDEN')
})

test('an empty result says which direction the links have, or that the type has none', {
  tags: 'full',
}, async () => {
  const type = (id: string, source: string, target: string) =>
    world.call('PUT', `/v1/crm/relationship-types/${id}`, {
      source_record_types: [source],
      target_record_types: [target],
    })
  for (const id of ['room', 'house', 'tree'])
    succeed(await world.call('PUT', `/v1/crm/record-types/${id}`, {}), 201)
  succeed(await type('in', 'room', 'house'), 201)
  // Only relationship types of named ends tell.
  succeed(await world.call('DELETE', '/v1/crm/relationship-types/has?confirm=has'))
  for (const at of ['room/r1', 'house/h1', 'tree/t1'])
    succeed(await world.call('PUT', `/v1/crm/records/${at}`, { data: {} }), 201)
  const hintOf = async (record_type: string, id: string, more: object = {}) =>
    (await callTool(world, '/mcp/crm', 'get_related', { record_type, id, ...more })).body.meta.hint
  expect(await hintOf('house', 'h1')).toContain('direction "incoming"')
  expect(await hintOf('room', 'r1', { direction: 'incoming' })).toContain('direction "outgoing"')
  expect(await hintOf('tree', 't1', { rel_type: 'in' })).toBe(
    '"in" links "room" to "house", and never a "tree".',
  )
  expect(await hintOf('room', 'r1')).toBeUndefined()
  expect(await hintOf('house', 'h1', { direction: 'both' })).toBeUndefined()
  const rest = succeed(await world.call('GET', '/v1/crm/records/house/h1/related'))
  expect(rest.meta.hint).toContain('"in"')
  // A type that the token may not read is not named.
  const part = await world.newToken([{ record_type: ['house', 'tree'], permission: 'read' }])
  expect(succeed(await part.call('GET', '/v1/crm/records/house/h1/related')).meta.hint).toBeUndefined()
})

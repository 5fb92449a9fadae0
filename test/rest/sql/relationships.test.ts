/** SQL over links: a link is visible if the token may read both of its ends. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../../support/answers.ts'
import { putGraph } from '../../support/graph.ts'
import type { Call } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  const put = async (path: string, body: object) =>
    void succeed(await world.call('PUT', `/v1/crm/${path}`, body), 201)
  for (const type of ['city', 'town', 'fort']) await put(`record-types/${type}`, {})
  const types = ['city', 'town', 'fort', 'city']
  await put('relationship-types/road', { source_record_types: ['*'], target_record_types: ['*'] })
  await put('relationship-types/rail', {
    source_record_types: ['city'],
    target_record_types: ['town', 'fort'],
  })
  await put('relationship-types/moat', { source_record_types: ['fort'], target_record_types: ['city'] })
  const links = [
    { rel: 'road', source: 0, target: 1 },
    { rel: 'road', source: 1, target: 2 },
    { rel: 'rail', source: 3, target: 1 },
    { rel: 'moat', source: 2, target: 0 },
  ]
  await putGraph(world.call, 'crm', { types, links })
  succeed(await world.call('PUT', '/v1/bases/other', {}), 201)
})
afterAll(() => world.close())

const rows = async (query: string, call: Call = world.call, base = 'crm') =>
  succeed(await call('POST', `/v1/${base}/sql`, { query })).data
const LINKS = 'SELECT id FROM relationships ORDER BY id'
const ENDS = 'SELECT id, source_record_types, target_record_types FROM relationship_types ORDER BY id'

test('SQL joins relationships with the records at both ends', { tags: 'full' }, async () => {
  const query = `SELECT l.id, s.data ->> 'n' AS source, t.data ->> 'n' AS target, l.data ->> 'between' AS between
    FROM relationships l JOIN city s ON s.id = l.source_id JOIN town t ON t.id = l.target_id
    WHERE l.source_record_type = 'city' AND l.target_record_type = 'town' ORDER BY l.id`
  expect(await rows(query)).toEqual([
    { id: 'rail-3-1', source: '3', target: '1', between: '3 1' },
    { id: 'road-0-1', source: '0', target: '1', between: '0 1' },
  ])
})

test('SQL shows a relationship and a relationship type with the columns of REST', {
  tags: 'full',
}, async () => {
  const [link] = await rows(`SELECT * FROM relationships WHERE id = 'moat-2-0'`)
  expect(link).toEqual(succeed(await world.call('GET', '/v1/crm/relationships/moat-2-0')))
  const [type] = await rows(`SELECT * FROM relationship_types WHERE id = 'rail'`)
  expect(type).toEqual(succeed(await world.call('GET', '/v1/crm/relationship-types/rail')))
})

test('SQL shows a link, and the types at its ends, only if the token may read both ends', {
  tags: 'full',
}, async () => {
  const { call } = await world.newToken([{ record_type: ['city', 'town'], permission: 'read' }])
  expect(await rows(LINKS, call)).toEqual([{ id: 'rail-3-1' }, { id: 'road-0-1' }])
  expect(await rows('SELECT count(*) AS n FROM relationships', call)).toEqual([{ n: 2 }])
  expect(await rows(ENDS, call)).toEqual([
    { id: 'rail', source_record_types: ['city'], target_record_types: ['town'] },
    { id: 'road', source_record_types: ['*'], target_record_types: ['*'] },
  ])
})

test('SQL shows no link to a type that the token may not read', async () => {
  const { call } = await world.newToken([{ record_type: 'fort', permission: 'read' }])
  expect(await rows(LINKS, call)).toEqual([])
  expect(await rows(ENDS, call)).toEqual([
    { id: 'road', source_record_types: ['*'], target_record_types: ['*'] },
  ])
})

test('SQL shows no links of another base', async () => {
  expect(await rows(LINKS, world.call, 'other')).toEqual([])
  expect(await rows(ENDS, world.call, 'other')).toEqual([])
})

test('SQL does not show a deleted link', async () => {
  succeed(await world.call('DELETE', '/v1/crm/relationships/moat-2-0'))
  expect((await rows(LINKS)).map(({ id }: { id: string }) => id)).not.toContain('moat-2-0')
})

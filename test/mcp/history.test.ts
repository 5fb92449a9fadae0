import { afterAll, beforeAll, expect, test } from 'vitest'
import { callTool } from '../support/mcp.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let type: string
beforeAll(async () => {
  world = await openWorld()
  type = await world.newType()
  for (const n of [1, 2, 3]) await world.call('PUT', `/v1/crm/records/${type}/a`, { data: { n } })
})
afterAll(() => world.close())

const history = (args: object, token = world.adminToken) =>
  callTool(world, '/mcp/crm', 'record_history', { record_type: type, id: 'a', ...args }, { token })

test('record_history returns the versions that REST returns, one version, or the record at a time', async () => {
  const rest = await world.call('GET', `/v1/crm/records/${type}/a/history?limit=2`)
  const asked = await history({ limit: 2 })
  expect(asked.body.data).toEqual(rest.body.data)
  const then = await history({ version: 1 })
  expect(then.body).toMatchObject({ id: 'a', version: 1, data: { n: 1 } })
  const now = await history({ as_of: new Date().toISOString() })
  expect(now.body).toMatchObject({ version: 3, data: { n: 3 } })
})

test('record_history refuses exclusive arguments, an unknown version and a type outside the grants', async () => {
  const codes = async (args: object) => (await history(args)).error.details[0]
  expect(await codes({ version: 1, limit: 2 })).toMatchObject({ path: '/limit', code: 'exclusive' })
  expect(await codes({ version: 1, as_of: '2026-01-01' })).toMatchObject({
    path: '/as_of',
    code: 'exclusive',
  })
  expect(await codes({ version: 0 })).toMatchObject({ path: '/version', code: 'out_of_range' })
  expect(await codes({ version: 9 })).toMatchObject({ path: '/version', code: 'version_not_found' })
  const other = await world.newType()
  const { token } = await world.newToken([{ record_type: other, permission: 'read' }])
  expect((await history({ version: 1 }, token)).error.code).toBe('FORBIDDEN')
})

test.each([
  [{ group: 'request', include: 'before,titles' }, '/include'],
  [{ group: 'request', order: 'asc' }, '/order'],
  [{ include: 'fields' }, '/include'],
  [{ trace: 1, limit: 3 }, '/limit'],
  [{ calls: 'usage', limit: 3 }, '/limit'],
])('changes refuses what a list of another form does not take: %j', async (args, path) => {
  const { error } = await callTool(world, '/mcp/crm', 'changes', args, { token: world.adminToken })
  expect(error.details).toMatchObject([{ path, code: 'exclusive' }])
})

test('query_records with as_of returns the records at that time, as REST does', {
  tags: 'full',
}, async () => {
  const kind = await world.newType()
  const put = (id: string, data: object) => world.call('PUT', `/v1/crm/records/${kind}/${id}`, { data })
  await put('a', { n: 1 })
  await put('gone', { n: 2 })
  const as_of = new Date().toISOString()
  await put('a', { n: 9 })
  await put('later', { n: 3 })
  await world.call('DELETE', `/v1/crm/records/${kind}/gone`)

  const list = (args: object, path = '/mcp/crm') =>
    callTool(world, path, 'query_records', { record_type: kind, sort: 'id', ...args })
  const { body } = await list({ as_of, limit: 50 })
  expect(body.data.map(({ id, data }: Body) => [id, data.n])).toEqual([
    ['a', 1],
    ['gone', 2],
  ])
  const query = new URLSearchParams({ as_of, sort: 'id' })
  expect(body).toEqual((await world.call('GET', `/v1/crm/records/${kind}?${query}`)).body)
  expect((await list({ base_id: 'crm', as_of }, '/mcp')).body.data).toEqual(body.data)
  const first = await list({ as_of, limit: 1 })
  const next = await list({ as_of, limit: 1, cursor: first.body.meta.next_cursor })
  expect(next.body.data.map(({ id }: Body) => id)).toEqual(['gone'])
  expect((await list({})).body.data.map(({ id }: Body) => id)).toEqual(['a', 'later'])

  const fault = async (args: object) => (await list(args)).error.details[0]
  expect(await fault({ as_of: 'yesterday' })).toMatchObject({ path: '/as_of', code: 'invalid_time' })
  expect(await fault({ as_of, expand: ['x'] })).toMatchObject({ path: '/expand', code: 'exclusive' })
  expect(await fault({ as_off: as_of })).toMatchObject({ path: '/as_off', hint: 'as_of' })
})

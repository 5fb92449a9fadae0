// @module-tag full
/** Files of a preview and of its production base, by the tools, resources and subscriptions of both. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { callTool, rpc } from '../support/mcp.ts'
import { followWith } from '../support/mcp-following.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

const LIVE = 'crm'
let world: World
let preview: string

beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/file-types/docs', {}), 201)
  preview = succeed(await world.call('POST', '/v1/crm/preview', { name: 'try' }), 201).id
})
afterAll(() => world.close())

const addressOf = (base: string) => `/mcp/${base}`
const uriOf = (base: string, path: string) => `plinth://${base}/files/docs/${path}`
const write = async (base: string, path: string, text: string) =>
  succeed(
    await world.call('PUT', `/v1/${base}/files/docs/${path}`, text, { 'content-type': 'text/plain' }),
    201,
  )
const namesAt = async (path: string, token = world.adminToken): Promise<string[]> =>
  (await rpc(world, path, 'tools/list', {}, { token })).body.result.tools.map(({ name }: Body) => name)

test('neither address shows a file of the other base', async () => {
  await write(LIVE, 'live.txt', 'kakapo of production')
  await write(preview, 'mine.txt', 'kakapo of the preview')
  for (const [base, own, other] of [
    [LIVE, 'live.txt', 'mine.txt'],
    [preview, 'mine.txt', 'live.txt'],
  ] as const) {
    const call = (name: string, args: Record<string, unknown>) => callTool(world, addressOf(base), name, args)
    const found = (name: string, args: Record<string, unknown>) =>
      callTool(world, `${addressOf(base)}?tools=search,fetch`, name, args)
    const listed = [
      (await call('list_files', { file_type: 'docs' })).body,
      (await call('list_files', { search: 'kakapo' })).body,
      (await found('search', { query: 'kakapo' })).body,
    ]
    for (const body of listed) {
      expect(JSON.stringify(body)).toContain(own)
      expect(JSON.stringify(body)).not.toContain(other)
    }
    expect(listed[2].results).toMatchObject([{ url: uriOf(base, own) }])
    for (const [name, args] of [
      ['get_file', { file_type: 'docs', path: other }],
      ['edit_file', { file_type: 'docs', path: other, edits: [{ find: 'kakapo', replace: 'kea' }] }],
      ['delete_file', { file_type: 'docs', path: other }],
    ] as const)
      expect((await call(name, args)).error, name).toMatchObject({ code: 'NOT_FOUND' })
    const fetched = await found('fetch', { id: `files/docs/${other}` })
    expect(fetched.error).toMatchObject({ code: 'NOT_FOUND' })
  }
})

test('a token of one environment reads no file of the other, by any address', async () => {
  await write(LIVE, 'secret.txt', 'takahe')
  await write(preview, 'secret.txt', 'takahe')
  for (const [environment, base, other] of [
    ['preview', preview, LIVE],
    ['production', LIVE, preview],
  ] as const) {
    const { token, call } = await world.newToken([{ base: LIVE, environment, permission: 'write' }])
    const uri = uriOf(other, 'secret.txt')
    const own = await rpc(
      world,
      addressOf(base),
      'resources/read',
      { uri: uriOf(base, 'secret.txt') },
      { token },
    )
    expect(own.body.result.contents).toMatchObject([{ text: 'takahe' }])
    for (const path of [addressOf(base), '/mcp'])
      expect(
        JSON.stringify((await rpc(world, path, 'resources/read', { uri }, { token })).body),
      ).not.toContain('takahe')
    const args = { base_id: other, file_type: 'docs', path: 'secret.txt' }
    for (const [name, more] of [
      ['get_file', {}],
      ['put_file', { text: 'mine' }],
      ['delete_file', {}],
    ] as const)
      expect(
        (await callTool(world, '/mcp', name, { ...args, ...more }, { token })).error,
        name,
      ).toMatchObject({
        code: 'FORBIDDEN',
      })
    expect((await call('GET', `/v1/${other}/files?search=takahe`)).status).toBe(403)
  }
})

test('a change of a file in a preview does not notify who follows the file in production', async () => {
  await write(LIVE, 'followed.txt', 'one')
  await write(preview, 'followed.txt', 'one')
  const [live, other] = [uriOf(LIVE, 'followed.txt'), uriOf(preview, 'followed.txt')]
  const client = await followWith(world.url, world.adminToken, 'v1', '/mcp', [live, other])
  succeed(await world.call('PUT', `/v1/${preview}/files/docs/followed.txt`, 'two'))
  await client.until(other)
  expect(client.resourceEvents()).toEqual([other])
  succeed(await world.call('PUT', `/v1/${LIVE}/files/docs/followed.txt`, 'two'))
  await client.until(live)
  expect(client.resourceEvents()).toEqual([other, live])
  await client.close()
})

// More previews than bases are read at a time.
const PREVIEWS = 51

test('many previews do not hide the file tools of their production base', { tags: 'full' }, async () => {
  for (const base of ['many', 'zoo']) succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
  succeed(await world.call('PUT', '/v1/many/file-types/docs', {}), 201)
  const names = Array.from({ length: PREVIEWS }, (_, i) => `p${i}`)
  await Promise.all(
    names.map(async (name) => succeed(await world.call('POST', '/v1/many/preview', { name }), 201)),
  )
  // A changed row is the last of its table.
  succeed(await world.call('PUT', '/v1/bases/many', { name: 'Many' }))
  expect(await namesAt('/mcp/many')).toContain('get_file')
  const namesFor = async (environment: string, base: string[] = ['many', 'zoo']) =>
    namesAt('/mcp', (await world.newToken([{ base, environment, permission: 'read' }])).token)
  expect(await namesFor('production')).toContain('get_file')
  expect(await namesFor('preview')).toContain('get_file')
  succeed(await world.call('DELETE', '/v1/many/file-types/docs'))
  expect(await namesFor('production', ['many'])).not.toContain('get_file')
  succeed(await world.call('PUT', '/v1/zoo/file-types/docs', {}), 201)
  succeed(await world.call('PUT', '/v1/bases/zoo', { name: 'Zoo' }))
  expect(await namesFor('production')).toContain('get_file')
})

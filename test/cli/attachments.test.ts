// @module-tag full
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { openWorld, type World } from '../support/world.ts'
import { plinth, type Settings } from './plinth.ts'

let world: World
let settings: Settings
beforeAll(async () => {
  world = await openWorld()
  settings = { PLINTH_URL: world.url, PLINTH_TOKEN: world.adminToken, PLINTH_BASE: 'crm' }
})
afterAll(() => world.close())

const run = (...args: string[]) => plinth(['attachment', ...args], settings)

test('the CLI attaches a file, shows it with a URL, lists and deletes it', async () => {
  const type = await world.newType()
  succeed(await world.call('PUT', `/v1/crm/records/${type}/a`, { data: {} }), 201)
  const file = join(world.dataDir, 'note.bin')
  await writeFile(file, Buffer.from([0, 1, 255]))
  const put = await run('put', type, 'a', 'note.bin', '--file', file, '--content-type', 'image/png', '--json')
  expect([put.err, put.code]).toEqual(['', 0])
  const { id, size } = JSON.parse(put.out)
  expect(size).toBe(3)
  const got = JSON.parse((await run('get', type, 'a', 'note.bin', '--json')).out)
  expect(new Uint8Array(await (await fetch(got.url)).arrayBuffer())).toEqual(new Uint8Array([0, 1, 255]))
  expect((await run('list', type, 'a')).out).toContain(`${id}\tnote.bin\timage/png\t3\tready`)
  expect((await run('put', type, 'a', 'x', '--file', join(world.dataDir, 'none'))).code).toBe(2)
  expect((await run('delete', type, 'a', id)).code).toBe(0)
  expect((await run('delete', type, 'a', id)).code).toBe(1)
})

test('the CLI takes the type of an attachment from its filename, if it has a content', async () => {
  const type = await world.newType()
  succeed(await world.call('PUT', `/v1/crm/records/${type}/a`, { data: {} }), 201)
  const typeOf = async (...args: string[]) =>
    JSON.parse((await run('put', type, 'a', ...args, '--json')).out).content_type
  expect(await typeOf('note.md', '--content', '# one')).toBe('text/markdown')
  expect(await typeOf('note', '--content', 'one')).toBe('text/plain')
  expect(await typeOf('note.pdf', '--content', 'one', '--content-type', 'text/x-mine')).toBe('text/x-mine')
  expect(await typeOf('later.pdf')).toBe('application/octet-stream')
})

import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { lstat, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GetObjectCommand } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sleep, succeed } from '../support/answers.ts'
import { sha256 } from '../support/files.ts'
import { clientOf } from '../support/s3.ts'
import { openWorld, type World } from '../support/world.ts'
import { plinth, type Settings, start } from './plinth.ts'

let world: World
let settings: Settings
let folder: string
beforeAll(async () => {
  world = await openWorld()
  settings = { PLINTH_URL: world.url, PLINTH_TOKEN: world.adminToken, PLINTH_BASE: 'crm' }
  folder = await mkdtemp(join(tmpdir(), 'plinth-cli-'))
  succeed(await world.call('PUT', '/v1/crm/file-types/docs', {}), 201)
})
afterAll(async () => {
  await world.close()
  await rm(folder, { recursive: true, force: true })
})

const run = (...args: string[]) => plinth(['file', ...args], settings)

test('the CLI sends, lists, compares, moves and deletes files', { tags: 'full' }, async () => {
  const name = join(folder, 'a.txt')
  await writeFile(name, 'one\n')
  const more = ['--content-type', 'text/plain', '--label', 'erste Fassung: é', '--metadata', '{"k":"é"}']
  const sent = await run('put', 'docs', 'a b/é.txt', name, ...more, '--json')
  expect(JSON.parse(sent.out)).toMatchObject({
    path: 'a b/é.txt',
    content_type: 'text/plain',
    label: 'erste Fassung: é',
    metadata: { k: 'é' },
    content_sha256: sha256('one\n'),
  })
  const match = ['--if-match', sha256('one\n')]
  expect((await plinth(['file', 'put', 'docs', 'a b/é.txt', '-', ...match], settings, 'two\n')).code).toBe(0)
  const late = await plinth(['file', 'put', 'docs', 'a b/é.txt', '-', ...match], settings, 'three\n')
  expect([late.code, late.out]).toEqual([1, ''])
  expect(late.err).toContain('CONFLICT')

  expect(await run('get', 'docs', 'a b/é.txt')).toEqual({ code: 0, out: 'two\n', err: '' })
  const target = join(folder, 'b.txt')
  expect((await run('get', 'docs', 'a b/é.txt', '--version', '1', '--output', target)).code).toBe(0)
  expect(await readFile(target, 'utf8')).toBe('one\n')
  expect((await run('get', 'docs', 'none')).err).toContain('NOT_FOUND')

  expect((await run('ls', 'docs', '--depth', '1')).out).toMatch(/^kind\tpath\t.*\nfolder\ta b\/\t/)
  expect((await run('history', 'docs', 'a b/é.txt')).out).toMatch(
    /\n2\t4\t.*\n1\t4\ttext\/plain\terste Fassung: é\t/,
  )
  expect((await run('diff', 'docs', 'a b/é.txt', '--from', '1', '--to', '2')).out).toContain('-one\n+two\n')
  expect((await run('mv', 'docs', 'a b/é.txt', 'c.txt')).code).toBe(0)
  expect((await run('show', 'docs', 'c.txt')).out).toContain(sha256('two\n'))
  expect((await run('tag', 'docs', 'c.txt', '--label', 'last')).out).toContain('last')
  expect((await run('rm', 'docs', 'c.txt')).code).toBe(0)
  expect((await run('ls', 'docs')).out).not.toContain('c.txt')
})

test.each([
  ['the suffix of its path', 'a.md', 'x', '# one\n', 'text/markdown'],
  ['the suffix of the local file', 'b', 'x.json', '{}', 'application/json'],
  ['a suffix of source code', 'c.ts', 'x', 'const a = 1\n', 'text/x-typescript'],
  ['a suffix that has two meanings, by its content', 'd.ts', 'x', 'G\0', 'video/mp2t'],
  ['a beginning that is text', 'Makefile', 'x', 'all: é\n', 'text/plain'],
  ['a beginning that is no text', 'e', 'x', 'a\0b', 'application/octet-stream'],
])('the CLI takes the type of a file from %s', async (_, path, local, content, type) => {
  const name = join(folder, local)
  await writeFile(name, content)
  const sent = JSON.parse((await run('put', 'docs', `types/${path}`, name, '--json')).out)
  expect(sent).toMatchObject({ content_type: type, content_sha256: sha256(content) })
})

test('the CLI takes the type of standard input from the path, and an option before that', {
  tags: 'full',
}, async () => {
  const put = async (...args: string[]) =>
    JSON.parse((await plinth(['file', 'put', 'docs', ...args, '--json'], settings, 'a,b\n')).out).content_type
  expect(await put('in.csv', '-')).toBe('text/csv')
  expect(await put('in', '-')).toBe('text/plain')
  expect(await put('in.csv', '-', '--content-type', 'text/x-mine')).toBe('text/x-mine')
})

/** A server that begins to answer, and a file of before to write it to. */
async function openSlowDownload(name: string) {
  const file = join(folder, name)
  await writeFile(file, 'before')
  const begun = Promise.withResolvers<ServerResponse>()
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-length': '1000000' })
    response.write('a'.repeat(1000), () => begun.resolve(response))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const child = start(['file', 'get', 'docs', 'a', '--output', file], { ...settings, PLINTH_URL: url })
  const ended = once(child, 'close')
  const response = await begun.promise
  while (!(await stat(`${file}.part`).catch(() => undefined))?.size) await sleep(20)
  return {
    ...{ child, response },
    left: async () => {
      const [code] = await ended
      server.closeAllConnections()
      server.close()
      const part = await readFile(`${file}.part`).catch((error: NodeJS.ErrnoException) => error.code)
      return { code, file: await readFile(file, 'utf8'), part }
    },
  }
}

test('a download that SIGINT or the server ends leaves the file of before', { tags: 'full' }, async () => {
  const stopped = await openSlowDownload('stopped.txt')
  stopped.child.kill('SIGINT')
  expect(await stopped.left()).toEqual({ code: 130, file: 'before', part: 'ENOENT' })
  const broken = await openSlowDownload('broken.txt')
  broken.response.destroy()
  expect(await broken.left()).toEqual({ code: 1, file: 'before', part: 'ENOENT' })
})

test('a download to what is no regular file, such as a pipe, is written into it', {
  tags: 'full',
}, async () => {
  succeed(await world.call('PUT', '/v1/crm/files/docs/pipe.txt', 'through'), 201)
  const [pipe, link] = [join(folder, 'pipe'), join(folder, 'link')]
  execFileSync('mkfifo', [pipe])
  const read = readFile(pipe, 'utf8')
  expect((await run('get', 'docs', 'pipe.txt', '--output', pipe)).code).toBe(0)
  expect(await read).toBe('through')
  expect((await lstat(pipe)).isFIFO()).toBe(true)
  await writeFile(join(folder, 'linked.txt'), 'before')
  await symlink(join(folder, 'linked.txt'), link)
  expect((await run('get', 'docs', 'pipe.txt', '--output', link)).code).toBe(0)
  expect(await readFile(join(folder, 'linked.txt'), 'utf8')).toBe('through')
  expect((await run('get', 'docs', 'pipe.txt', '--output', folder)).err).toContain(
    'cannot be written (EISDIR)',
  )
})

test('the CLI says which local file it cannot read, and sends nothing', async () => {
  const missing = await run('put', 'docs', 'unread', join(folder, 'missing'))
  expect(missing.code).toBe(2)
  expect(missing.err).toContain('cannot be read (ENOENT)')
  expect((await run('ls', 'docs')).out).not.toContain('unread')
})

test('the CLI creates an S3 credential, lists it without its secrets, and revokes it', {
  tags: 'full',
}, async () => {
  const credential = (...args: string[]) => plinth(['s3-credential', ...args], settings)
  const wanted = ['--file-type', 'docs', '--permission', 'read', '--expires-in', '600']
  const created = JSON.parse((await credential('create', ...wanted, '--json')).out)
  expect(created).toMatchObject({ bucket: 'crm', prefix: 'docs/', permission: 'read' })
  expect(created.mount.rclone).toContain(created.secret_access_key)
  succeed(await world.call('PUT', '/v1/crm/files/docs/s3.txt', 'by S3'), 201)
  const read = async () => {
    try {
      const { Body } = await clientOf(created).send(
        new GetObjectCommand({ Bucket: 'crm', Key: 'docs/s3.txt' }),
      )
      return await Body?.transformToString()
    } catch (thrown) {
      return (thrown as Error).name
    }
  }
  expect(await read()).toBe('by S3')
  const listed = await credential('list')
  expect(listed.out).toContain(created.id)
  expect(listed.out).not.toContain(created.secret_access_key)
  expect(await credential('revoke', created.id)).toMatchObject({ code: 0 })
  expect((await credential('list')).out).not.toContain(created.id)
  expect(await read()).toBe('InvalidAccessKeyId')
  const missing = await credential('create', '--file-type', 'docs')
  expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('--permission')])
})

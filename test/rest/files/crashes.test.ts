// @module-tag full
import { randomBytes } from 'node:crypto'
import { mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure, succeed, times } from '../../support/answers.ts'
import { type ChildServer, startChild } from '../../support/child-server.ts'
import { sha256 } from '../../support/files.ts'
import type { Body } from '../../support/server.ts'
import { until } from '../../support/until.ts'
import { openWorld, type World } from '../../support/world.ts'

const MIB = 1024 * 1024
let world: World
let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plinth-crash-'))
  world = await openWorld({ PLINTH_BLOB_URL: pathToFileURL(directory).href })
  succeed(await world.call('PUT', '/v1/crm/file-types/docs', {}), 201)
})
afterAll(async () => {
  await world.close()
  await rm(directory, { recursive: true, force: true })
})

const at = (path: string) => `/v1/crm/files/docs/${path}`

test('kill -9 in the middle of 50 uploads leaves each acknowledged file whole, and no file without its content', {
  timeout: 600_000,
}, async () => {
  // Every other one is small: a row of the database, and no file.
  const sizeOf = (i: number) => (i % 2 === 0 ? 2 * MIB : 4096)
  const contents = times(50, (i) => randomBytes(sizeOf(i)))
  const acknowledged = new Set<number>()
  const start = (): Promise<ChildServer> =>
    startChild(world, { PLINTH_BLOB_URL: pathToFileURL(directory).href })
  const first = await start()
  const uploads = contents.map(async (content, i) => {
    const answer = await first.call('PUT', at(`crash/${i}`), content).catch(() => undefined)
    if (answer?.status === 201) acknowledged.add(i)
  })
  await until(() => acknowledged.size >= 10)
  await first.kill()
  await Promise.all(uploads)
  expect(acknowledged.size).toBeLessThan(50)
  const second = await start()
  const { data } = succeed(await second.call('GET', '/v1/crm/files/docs?prefix=crash/&limit=100'))
  const digests = new Map<string, string>(data.map((file: Body) => [file.path, file.content_sha256]))
  for (const i of acknowledged) expect(digests.get(`crash/${i}`)).toBe(sha256(contents[i] ?? ''))
  for (const [path, digest] of digests) {
    const answer = await second.call('GET', at(path))
    expect(answer.status, path).toBe(200)
    const size = sizeOf(Number(path.slice('crash/'.length)))
    expect(answer.headers.get('content-length')).toBe(String(size))
    const row = await world.database.query<{ bytes: Buffer }>(
      'SELECT bytes FROM plinth.content WHERE sha256 = $1',
      [digest],
    )
    const stored = join(directory, digest.slice(0, 2), digest.slice(2, 4), digest)
    const bytes = size > 4096 ? await readFile(stored) : row[0]?.bytes
    expect(sha256(bytes ?? ''), path).toBe(digest)
  }
  // Contents without a file are whole too: a sweep removes them.
  for (const name of await readdir(directory, { recursive: true }))
    if (/[0-9a-f]{64}$/.test(name) && !name.startsWith('tmp'))
      expect(sha256(await readFile(join(directory, name)))).toBe(name.slice(-64))
  await second.kill()
})

test('when the disk is full in the middle of a PUT, reads go on, nothing shows, and the space comes back', async () => {
  succeed(await world.call('PUT', at('before'), 'before'), 201)
  // Parts of the uploads that the kill interrupted stay for a time, because another server may use the directory.
  const leftovers = await readdir(join(directory, 'tmp'))
  const probe = await open(join(directory, 'probe'), 'w')
  const handle = Object.getPrototypeOf(probe) as { appendFile: (...args: unknown[]) => Promise<void> }
  const { appendFile } = handle
  await probe.close()
  let written = 0
  // The second part of the content meets a full disk, as the system reports it.
  handle.appendFile = function (this: unknown, ...args: unknown[]) {
    if (++written < 2) return appendFile.apply(this, args)
    return Promise.reject(
      Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }),
    )
  }
  try {
    const [full, read] = await Promise.all([
      world.call('PUT', at('full'), randomBytes(4 * MIB)),
      world.call('GET', at('before')),
    ])
    expect(expectFailure(full, 'INTERNAL_ERROR').details[0].code).toBe('disk_full')
    expect(read.text).toBe('before')
  } finally {
    handle.appendFile = appendFile
  }
  expect(written).toBeGreaterThan(1)
  expect((await world.call('GET', at('full'))).status).toBe(404)
  expect((await world.call('GET', '/v1/crm/files/docs?prefix=full')).body.data).toEqual([])
  expect(await readdir(join(directory, 'tmp'))).toEqual(leftovers)
  succeed(await world.call('PUT', at('full'), randomBytes(4 * MIB)), 201)
})

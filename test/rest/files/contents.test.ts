import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { expectFailure, succeed } from '../../support/answers.ts'
import { CASES_TIMEOUT, cases } from '../../support/cases.ts'
import { startChild } from '../../support/child-server.ts'
import { large, putFile, sha256 } from '../../support/files.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plinth-blobs-'))
  world = await openWorld({
    PLINTH_BLOB_URL: pathToFileURL(directory).href,
    PLINTH_REQUEST_TIMEOUT_MS: '1000',
  })
  succeed(await world.call('PUT', '/v1/crm/file-types/docs', {}), 201)
})
afterAll(async () => {
  await world.close()
  await rm(directory, { recursive: true, force: true })
})

const put = (path: string, content: string) => putFile(world.call, 'docs', path, content)
const placeOf = (content: string) => {
  const digest = sha256(content)
  return join(directory, digest.slice(0, 2), digest.slice(2, 4), digest)
}
const contents = async (): Promise<string[]> =>
  (await readdir(directory, { recursive: true })).flatMap((name) => /[0-9a-f]{64}$/.exec(name) ?? []).sort()
const leftovers = () => readdir(join(directory, 'tmp'))
const age = (content: string) => {
  const then = new Date(Date.now() - 25 * 60 * 60_000)
  return utimes(placeOf(content), then, then)
}

/** Starts an upload of which it sends a part. */
const begin = (path: string, part: string) => {
  const { hostname, port } = new URL(world.url)
  const sent = request({
    hostname,
    port,
    method: 'PUT',
    path: `/v1/crm/files/docs/${path}`,
    headers: { authorization: `Bearer ${world.adminToken}`, 'content-type': 'text/plain' },
  })
  const answer = new Promise<number>((resolve, reject) => {
    sent.on('response', (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sent.on('error', reject)
  })
  sent.write(part)
  return { sent, answer }
}

test('equal contents are stored once, under their digest', async () => {
  const same = large('same')
  succeed(await put('a', same), 201)
  succeed(await put('b', same), 201)
  expect((await contents()).filter((name) => name === sha256(same))).toHaveLength(1)
  expect(await leftovers()).toEqual([])
})

test('an upload may take longer than other requests, and shows only when it is complete', {
  tags: 'full',
}, async () => {
  const { sent, answer } = begin('slow', 'one ')
  await new Promise((resolve) => setTimeout(resolve, 2500))
  expectFailure(await world.call('GET', '/v1/crm/files/docs/slow'), 'NOT_FOUND')
  sent.end('two')
  expect(await answer).toBe(201)
  expect((await world.call('GET', '/v1/crm/files/docs/slow')).text).toBe('one two')
})

test('an upload whose client goes away leaves nothing', async () => {
  const before = await contents()
  const { sent, answer } = begin('broken', large('half'))
  await vi.waitFor(async () => expect(await leftovers()).toHaveLength(1))
  sent.destroy()
  await expect(answer).rejects.toThrow()
  await vi.waitFor(async () => expect(await leftovers()).toEqual([]))
  expect(await contents()).toEqual(before)
  expectFailure(await world.call('GET', '/v1/crm/files/docs/broken'), 'NOT_FOUND')
})

test('a sweep removes old contents that nothing refers to, and keeps all others', {
  tags: 'full',
}, async () => {
  const sweep = async () => {
    await world.database.query(`SELECT graphile_worker.add_job('sweep_contents', '{}', job_key => 'sweep')`)
    await vi.waitFor(
      async () => expect(await world.database.query('SELECT FROM graphile_worker.jobs')).toEqual([]),
      { timeout: 20_000 },
    )
  }
  const [kept, former, current, later, rehearsed, recent, trashed] = [
    ...['kept', 'former', 'current', 'later', 'rehearsed', 'recent', 'trashed'].map(large),
  ] as [string, string, string, string, string, string, string]
  succeed(await put('kept', kept), 201)
  succeed(await put('former', former), 201)
  succeed(await put('current', current), 201)
  succeed(await put('former', later))
  const text = { 'content-type': 'text/plain' }
  succeed(await world.call('PUT', '/v1/crm/files/docs/none?dry_run=true', rehearsed, text), 201)
  succeed(await world.call('PUT', '/v1/crm/files/docs/none?dry_run=true', recent, text), 201)
  succeed(await put('trashed', trashed), 201)
  succeed(await world.call('DELETE', '/v1/crm/files/docs/trashed'))
  for (const content of [kept, former, current, later, rehearsed, trashed]) await age(content)
  await sweep()
  const left = await contents()
  for (const content of [kept, former, current, later, recent, trashed])
    expect(left, content.slice(0, 10)).toContain(sha256(content))
  expect(left).not.toContain(sha256(rehearsed))
  await world.database.query(
    `UPDATE plinth.file SET deleted_at = now() - interval '31 days' WHERE path = 'trashed'`,
  )
  await sweep()
  expect(await contents()).not.toContain(sha256(trashed))
  expect((await world.call('GET', '/v1/crm/files/docs/former?version=1')).text).toBe(former)
})

// 1 GiB in `npm run test:long`. The memory of another process is read from /proc, which only Linux has.
test.runIf(process.platform === 'linux')(
  'a large file goes up and down in little memory',
  {
    tags: ['full', 'sampled'],
    timeout: CASES_TIMEOUT,
  },
  async () => {
    const server = await startChild(world, { PLINTH_BLOB_URL: pathToFileURL(directory).href })
    try {
      const part = Buffer.alloc(1024 * 1024, 'x')
      const size = Math.min(cases(400), 1024) * part.length
      const send = (method: string, path: string) =>
        request(`${server.url}/v1/crm/files/docs/${path}`, {
          method,
          headers: {
            authorization: `Bearer ${world.adminToken}`,
            'content-type': 'application/octet-stream',
          },
        })
      const upload = async (path: string, bytes: number) => {
        const put = send('PUT', path)
        const answered = new Promise<number>((resolve, reject) => {
          put.on('response', (response) => resolve(response.resume().statusCode ?? 0)).on('error', reject)
        })
        const parts = Array.from({ length: bytes / part.length }, () => part)
        await pipeline(Readable.from(parts), put)
        expect(await answered).toBe(201)
      }
      const download = async (path: string) => {
        let received = 0
        await new Promise<void>((resolve, reject) => {
          send('GET', path)
            .on('response', (response) => {
              response.on('data', (chunk: Buffer) => {
                received += chunk.length
              })
              response.on('end', () => resolve())
            })
            .on('error', reject)
            .end()
        })
        return received
      }
      // Code that runs for the first time takes memory once.
      await upload('small', part.length)
      expect(await download('small')).toBe(part.length)
      const before = memoryOf(server.pid, 'VmRSS')
      await writeFile(`/proc/${server.pid}/clear_refs`, RESET_PEAK)
      await upload('large', size)
      expect(await download('large')).toBe(size)
      expect(memoryOf(server.pid, 'VmHWM') - before).toBeLessThan(100 * 1024 * 1024)
    } finally {
      await server.kill()
    }
  },
)

/** Sets `VmHWM`, the peak, to the current memory of a process (proc(5)). */
const RESET_PEAK = '5'

/** Resident memory of a process, in bytes. */
function memoryOf(pid: number, kind: 'VmRSS' | 'VmHWM'): number {
  const kib = new RegExp(`^${kind}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kib) * 1024
}

import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { expectFailure, succeed } from '../support/answers.ts'
import { CASES_TIMEOUT, cases } from '../support/cases.ts'
import { large, putFile, sha256 } from '../support/files.ts'
import { openWorld, type World } from '../support/world.ts'

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

test('a sweep removes old contents that nothing refers to, and keeps all others', async () => {
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

// 1 GiB in `npm run test:long`.
test('a large file goes up and down in little memory', {
  tags: 'sampled',
  timeout: CASES_TIMEOUT,
}, async () => {
  const part = Buffer.alloc(1024 * 1024, 'x')
  const size = Math.min(cases(400), 1024) * part.length
  const { hostname, port } = new URL(world.url)
  const send = (method: string) =>
    request({
      hostname,
      port,
      method,
      path: '/v1/crm/files/docs/large',
      headers: { authorization: `Bearer ${world.adminToken}`, 'content-type': 'application/octet-stream' },
    })
  const before = process.memoryUsage().rss
  let most = 0
  const watch = () => {
    most = Math.max(most, process.memoryUsage().rss - before)
  }
  const parts = function* () {
    for (let sent = 0; sent < size; sent += part.length) {
      watch()
      yield part
    }
  }
  const upload = send('PUT')
  const uploaded = new Promise<number>((resolve, reject) => {
    upload.on('response', (response) => resolve(response.resume().statusCode ?? 0)).on('error', reject)
  })
  await pipeline(Readable.from(parts()), upload)
  expect(await uploaded).toBe(201)
  let received = 0
  await new Promise<void>((resolve, reject) => {
    send('GET')
      .on('response', (response) => {
        response.on('data', (chunk: Buffer) => {
          received += chunk.length
          watch()
        })
        response.on('end', () => resolve())
      })
      .on('error', reject)
      .end()
  })
  expect(received).toBe(size)
  // The client of the test is in this process too, and the collector takes its time: 120 MiB of either is no fault.
  expect(most).toBeLessThan(Math.max(size / 2, 200 * part.length))
})

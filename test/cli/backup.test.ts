// @module-tag full
/** Backups of the embedded PostgreSQL while it runs, and copies that are restored from them. */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import {
  ask,
  type BackedUp,
  directory,
  endSegment,
  query,
  run,
  settingsOf,
  smallDisk,
  startBackedUp,
} from '../support/backed-up.ts'
import { openBucket } from '../support/bucket.ts'
import { sha256 } from '../support/files.ts'
import { openReceiver } from '../support/receiver.ts'
import { scratch } from '../support/scratch.ts'
import { json, openUpstream } from '../support/upstream.ts'
import { start } from './plinth.ts'

let folder: string
const running: BackedUp[] = []
beforeAll(async () => {
  folder = await scratch('plinth-backup-')
})
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop()
})
afterAll(() => rm(folder, { recursive: true, force: true }))

let serial = 0
const place = async () => {
  const name = `case${++serial}`
  return {
    data: join(folder, name, 'data'),
    backups: await directory(folder, `${name}/backups`),
    copy: join(folder, name, 'copy'),
  }
}
async function serve(data: string, backups?: string, env: Record<string, string> = {}): Promise<BackedUp> {
  const server = await startBackedUp(data, backups, env)
  running.push(server)
  return server
}
async function end(server: BackedUp, signal?: 'SIGKILL'): Promise<void> {
  running.splice(running.indexOf(server), 1)
  await server.stop(signal)
}

async function withBase(server: BackedUp): Promise<void> {
  succeed(await server.call('PUT', '/v1/bases/crm', {}), 201)
  succeed(await server.call('PUT', '/v1/crm/record-types/note', {}), 201)
  succeed(await server.call('PUT', '/v1/crm/file-types/doc', {}), 201)
}
type Write = { id: string; sentAt: number; doneAt: number }

/** Writes until it is stopped. Returns what was acknowledged. */
function writers(server: BackedUp, count: number) {
  const written: Write[] = []
  let isDone = false
  const work = Array.from({ length: count }, async (_, writer) => {
    for (let n = 0; !isDone; n++) {
      const id = `w${writer}-${n}`
      const sentAt = Date.now()
      const answer = await server
        .call('PUT', `/v1/crm/records/note/${id}`, { data: { text: id } })
        .catch(() => undefined)
      if (answer && answer.status < 300) written.push({ id, sentAt, doneAt: Date.now() })
      else await sleep(20)
    }
  })
  return {
    written,
    stop: async () => {
      isDone = true
      await Promise.all(work)
      return written
    },
  }
}
async function idsOf(server: BackedUp): Promise<Set<string>> {
  const found = new Set<string>()
  for (let cursor = ''; ; ) {
    const more = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const { body } = await server.call('GET', `/v1/crm/records/note?limit=500${more}`)
    for (const { id } of body.data as { id: string }[]) found.add(id)
    cursor = body.meta.next_cursor ?? ''
    if (cursor === '') return found
  }
}
const putFile = (server: BackedUp, key: string, bytes: Buffer) =>
  fetch(`${server.url}/v1/crm/files/doc/${key}`, {
    method: 'PUT',
    headers: {
      authorization: 'Bearer plt_test-administrator-of-backups',
      'content-type': 'application/octet-stream',
    },
    body: new Uint8Array(bytes),
  })
const getFile = async (server: BackedUp, key: string) => {
  const answer = await fetch(`${server.url}/v1/crm/files/doc/${key}`, {
    headers: { authorization: 'Bearer plt_test-administrator-of-backups' },
  })
  return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) }
}

/** Where a store has a content. */
const fileOf = (store: string, name: string) => join(store, name.slice(0, 2), name.slice(2, 4), name)
/** Puts a content that nothing refers to into the store of a server, so many hours old. */
async function orphan({ dataDir }: BackedUp, hours: number): Promise<string> {
  const content = randomBytes(50_000)
  const path = fileOf(join(dataDir, 'blobs'), sha256(content))
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content)
  const at = Date.now() / 1000 - hours * 3600
  await utimes(path, at, at)
  return path
}
async function sweep(server: BackedUp): Promise<void> {
  await query(server, `SELECT graphile_worker.add_job('sweep_contents', '{}', job_key => 'sweep')`)
  await expect
    .poll(() => query(server, `SELECT FROM graphile_worker.jobs WHERE key = 'sweep'`), { timeout: 60_000 })
    .toEqual([])
}

test('a moment amid writers is restored: all that was acknowledged before it, nothing sent after it', async () => {
  const { data, backups, copy } = await place()
  const server = await serve(data, backups)
  await withBase(server)
  await server.until(({ backup }) => backup.last_at !== null)
  const writing = writers(server, 3)
  const made = await ask(['backup', '--with-keys'], data)
  const content = randomBytes(50_000)
  expect((await putFile(server, 'large', content)).status).toBe(201)
  await sleep(1500)
  const moment = Date.now()
  await sleep(1500)
  expect((await putFile(server, 'later', randomBytes(50_000))).status).toBe(201)
  const written = await writing.stop()
  await end(server)

  const listed = await ask(['backup', 'list'], data, backups)
  expect(listed.data.map(({ id }: { id: string }) => id)).toContain(made.id)
  const verified = await ask(['backup', 'verify', made.id], data, backups)
  expect(verified).toMatchObject({ id: made.id, faults: [] })
  const at = new Date(moment).toISOString()
  const restored = await ask(['restore', backups, '--to', copy, '--at', at], data)
  expect(restored).toMatchObject({ backup: made.id, bases: 1, contents: 1, missing_contents: [], keys: true })
  expect(Date.parse(restored.restored_to)).toBeLessThanOrEqual(moment)
  expect(await readFile(join(copy, 'master-key'))).toEqual(await readFile(join(data, 'master-key')))

  const second = await serve(copy)
  const there = await idsOf(second)
  const before = written.filter(({ doneAt }) => doneAt < moment)
  const after = written.filter(({ sentAt }) => sentAt > moment)
  expect(before.length).toBeGreaterThan(10)
  expect(after.length).toBeGreaterThan(10)
  expect(before.filter(({ id }) => !there.has(id))).toEqual([])
  expect(after.filter(({ id }) => there.has(id))).toEqual([])
  expect((await getFile(second, 'large')).bytes.equals(content)).toBe(true)
  expect((await getFile(second, 'later')).status).toBe(404)

  const refused = await run(['restore', backups, '--to', copy], data)
  expect(refused).toMatchObject({ code: 1 })
  expect(refused.err).toContain('is not empty')
  const early = await run(['restore', backups, '--to', `${copy}2`, '--at', '2020-01-01T00:00:00Z'], data)
  expect(early.err).toContain('The first moment that can be restored is')
  const late = await run(['restore', backups, '--to', `${copy}3`, '--at', '2999-01-01T00:00:00Z'], data)
  expect(late.err).toContain('The archive ends at')
})

test('a moment after the last write is restored, once the archive has it', async () => {
  const { data, backups, copy } = await place()
  const server = await serve(data, backups)
  await withBase(server)
  await server.call('PUT', '/v1/crm/records/note/last', { data: { text: 'x' } })
  await server.until(({ backup }) => backup.last_at !== null)
  const moment = new Date().toISOString()
  await endSegment(server)
  const { backup } = await server.until(({ backup }) => backup.wal_to > moment)
  expect(backup.state).toBe('ok')
  await end(server, 'SIGKILL')
  const restored = await ask(['restore', backups, '--to', copy, '--at', moment], data)
  expect(restored).toMatchObject({ bases: 1, records: 1 })
})

test('a restored copy sends nothing until it is resumed', { timeout: 300_000 }, async () => {
  const { data, backups, copy } = await place()
  const receiver = await openReceiver()
  const server = await serve(data, backups, { PLINTH_WEBHOOK_SCHEDULE: '4' })
  await withBase(server)
  receiver.on('/hook', (_, response) => void response.writeHead(500).end())
  // It must not run out of attempts before a slow machine has made the backup, or nothing is left to send.
  const trigger = { record_types: ['note'], url: `${receiver.url}/hook`, max_attempts: 100 }
  expect((await server.call('PUT', '/v1/crm/triggers/tell', trigger)).status).toBe(201)
  const action = {
    steps: [{ name: 'ask', type: 'http', url: `${receiver.url}/step`, method: 'POST', body: {} }],
  }
  expect((await server.call('PUT', '/v1/crm/actions/ask', action)).status).toBe(201)
  const upstream = await openUpstream()
  upstream.on('/people', json([{ id: 'p1' }]))
  const source = {
    name: 'hub',
    list: { url: `${upstream.url}/people` },
    field_mapping: { to_plinth: { external_id: '$.id' } },
  }
  expect((await server.call('PUT', '/v1/crm/record-types/person', { sources: [source] })).status).toBe(201)
  const people = '/v1/crm/records/person?external_source=hub'
  expect(succeed(await server.call('GET', people)).data).toMatchObject([{ id: 'p1' }])
  await server.call('PUT', '/v1/crm/records/note/due', { data: { text: 'x' } })
  await expect.poll(() => receiver.at('/hook').length).toBeGreaterThan(0)
  await server.until(({ backup }) => backup.last_at !== null)
  // The key, for the secret that signs deliveries.
  await ask(['backup', '--with-keys'], data)
  await end(server)
  receiver.received.splice(0)
  upstream.asked.splice(0)

  await ask(['restore', backups, '--to', copy], data)
  const second = await serve(copy, backups)
  expect(await second.ready()).toMatchObject({ deliveries: 'held', backup: { state: 'held' } })
  await expect
    .poll(() => second.log.join('\n'))
    .toContain('nothing is sent until \\"plinth deliveries resume\\"')
  expect((await run(['backup'], copy)).err).toContain('Run "plinth deliveries resume" first.')
  await second.call('PUT', '/v1/crm/records/note/more', { data: { text: 'y' } })
  const asked = await second.call('POST', '/v1/crm/actions/ask/run', {})
  expect(asked.text).toContain('plinth deliveries resume')
  expect((await second.call('GET', people)).text).toContain('plinth deliveries resume')
  const old = await orphan(second, 24 * 365)
  await sweep(second)
  expect(existsSync(old)).toBe(true)
  await sleep(4000)
  expect(receiver.received).toEqual([])
  expect(upstream.asked).toEqual([])

  receiver.on('/hook', (_, response) => void response.writeHead(204).end())
  await ask(['deliveries', 'resume'], copy)
  const told = () => new Set(receiver.at('/hook').map(({ body }) => body.data.record.id))
  await expect.poll(told, { timeout: 60_000 }).toEqual(new Set(['due', 'more']))
  expect(succeed(await second.call('GET', people)).data).toMatchObject([{ id: 'p1' }])
  expect(upstream.asked).toHaveLength(1)
  await sweep(second)
  expect(existsSync(old)).toBe(false)
  expect((await second.ready()).deliveries).toBe('on')
  expect((await run(['deliveries', 'resume'], copy)).err).toContain('no restored copy')
  // It archives to a line of its own from now on.
  await second.until(({ backup }) => backup.state === 'ok' && backup.last_at !== null)
  expect(await readdir(join(backups, 'wal'))).toHaveLength(2)
  await receiver.close()
  await upstream.close()
})

test('a content that nothing refers to stays until the next backup would have it', async () => {
  const { data, backups } = await place()
  const left = async (server: BackedUp) => {
    const paths = [await orphan(server, 1), await orphan(server, 30), await orphan(server, 49)]
    await sweep(server)
    return paths.map((path) => existsSync(path))
  }
  const server = await serve(data, backups, { PLINTH_BACKUP_HOURS: '24' })
  expect(await left(server)).toEqual([true, true, false])
  await end(server)
  expect(await left(await serve(data))).toEqual([true, false, false])
})

test('"backup contents" copies what the place lacks, says what it cannot read, and makes a store', async () => {
  const { data, backups } = await place()
  const server = await serve(data)
  await withBase(server)
  const contents = Array.from({ length: 3 }, () => randomBytes(50_000))
  const names = contents.map(sha256)
  const [kept = '', lost = '', later = ''] = names
  for (const n of [0, 1]) expect((await putFile(server, `f${n}`, contents[n] as Buffer)).status).toBe(201)
  expect((await putFile(server, 'small', randomBytes(100))).status).toBe(201)
  const store = join(backups, 'contents')
  expect(await ask(['backup', 'contents'], data, backups)).toMatchObject({ contents: 2 })
  const { mtimeMs } = await stat(fileOf(store, kept))

  // One was lost at the place, and a new one is damaged in the store.
  await rm(fileOf(store, lost))
  expect((await putFile(server, 'f2', contents[2] as Buffer)).status).toBe(201)
  await writeFile(fileOf(join(data, 'blobs'), later), 'damaged')
  const again = await run(['backup', 'contents'], data, backups)
  expect(again.code).toBe(0)
  expect(again.err).toContain('a content is missing or damaged, and was not copied')
  expect(again.err).toContain(later)
  expect(existsSync(fileOf(store, later))).toBe(false)
  expect((await stat(fileOf(store, kept))).mtimeMs).toBe(mtimeMs)
  expect(await readFile(fileOf(store, lost))).toEqual(contents[1])
  await writeFile(fileOf(join(data, 'blobs'), later), contents[2] as Buffer)
  expect((await run(['backup', 'contents'], data, backups)).err).not.toContain('was not copied')
  await end(server)

  await rm(join(data, 'blobs'), { recursive: true })
  const moved = await serve(data, undefined, { PLINTH_BLOB_URL: pathToFileURL(store).href })
  for (const n of [0, 1, 2]) expect((await getFile(moved, `f${n}`)).bytes).toEqual(contents[n])
})

/** The steps of a backup, in their order, by what each leaves at the place: how many of these files there are. */
const STEPS: Readonly<Record<string, (files: readonly string[], id: string) => number>> = {
  'the copy of the data': (files, id) => files.filter((name) => name.startsWith(`${id}/data/`)).length,
  'the copy of contents': (files) => files.filter((name) => /^contents\/..\//.test(name)).length,
  'the list of contents': (files, id) => Number(files.includes(`${id}/contents.zst`)),
  'the wait for WAL': (files, id) => Number(files.includes(`${id}/keys/master-key`)),
  // The start of a backup ends a segment too, so only those count that come after the keys.
  'the manifest': (files, id) =>
    files.includes(`${id}/keys/master-key`)
      ? files.filter((name) => name.startsWith('wal/') || name === `${id}/manifest.json`).length
      : Number.NaN,
  'the end': (files, id) => Number(files.includes(`${id}/manifest.json`)),
}

test('kill -9 in each step leaves nothing that is taken for a backup, and the next one is whole', {
  timeout: 900_000,
}, async () => {
  const { data, backups, copy } = await place()
  const filesThere = async () => {
    const found = await readdir(backups, { recursive: true, withFileTypes: true }).catch(() => [])
    return found
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => relative(backups, join(parentPath, name)))
  }
  const idsThere = async () => (await readdir(backups)).filter((name) => /^\d{4}-/.test(name))
  let server = await serve(data, backups)
  await withBase(server)
  await server.until(({ backup }) => backup.last_at !== null)
  const acknowledged: string[] = []
  const cut: string[] = []
  for (const [step, reached] of Object.entries(STEPS)) {
    const record = `k${acknowledged.length}`
    succeed(await server.call('PUT', `/v1/crm/records/note/${record}`, { data: { text: 'x' } }), 201)
    acknowledged.push(record)
    // A content that no backup has yet.
    expect((await putFile(server, record, randomBytes(50_000))).status).toBe(201)
    const earlier = await idsThere()
    let before = reached(await filesThere(), '')
    const command = start(['backup', '--with-keys'], settingsOf(data))
    let id = ''
    for (const deadline = Date.now() + 60_000; ; await sleep(2)) {
      id = (await idsThere()).find((name) => !earlier.includes(name)) ?? ''
      const now = id === '' ? before : reached(await filesThere(), id)
      if (now > before) break
      if (Number.isNaN(before)) before = now
      expect([step, command.exitCode, Date.now() < deadline]).toEqual([step, null, true])
    }
    command.kill('SIGKILL')
    await end(server, 'SIGKILL')
    // On a busy machine the command may have come to its end before the signal did.
    const isComplete = (await filesThere()).includes(`${id}/manifest.json`)
    if (!isComplete) cut.push(step)

    server = await serve(data, backups)
    expect([...(await idsOf(server))].sort()).toEqual(acknowledged)
    const listed = (await ask(['backup', 'list'], data)).data as { id: string; is_complete: boolean }[]
    expect(listed.filter((each) => each.id === id && each.is_complete)).toHaveLength(isComplete ? 1 : 0)
    if (isComplete) expect(await ask(['backup', 'verify', id], data)).toMatchObject({ faults: [] })
    else
      expect((await run(['backup', 'verify', id], data)).err).toContain(
        `${id} has no manifest, so it is not complete`,
      )
  }
  expect(cut.length, cut.join()).toBeGreaterThan(2)
  const made = await ask(['backup', '--with-keys'], data)
  expect(await ask(['backup', 'verify', made.id], data)).toMatchObject({ faults: [] })
  await end(server)

  const restoring = start(['restore', backups, '--to', copy], settingsOf(data))
  await expect.poll(() => readdir(copy).catch(() => [])).toContain('restoring')
  restoring.kill('SIGKILL')
  await expect(serve(copy)).rejects.toThrow('did not end')
  const count = acknowledged.length
  expect(await ask(['restore', backups, '--to', copy], data)).toMatchObject({
    ...{ backup: made.id, records: count, contents: count, missing_contents: [] },
  })
})

test('a missing or damaged segment, file or content is named', async () => {
  const { data, backups, copy } = await place()
  const server = await serve(data, backups)
  await withBase(server)
  await putFile(server, 'kept', randomBytes(50_000))
  await server.until(({ backup }) => backup.last_at !== null)
  const made = await ask(['backup'], data)
  await end(server)
  const verify = async () =>
    JSON.parse((await run(['backup', 'verify', made.id, '--json'], data, backups)).out)
  expect((await verify()).faults).toEqual([])

  const [line = ''] = await readdir(join(backups, 'wal'))
  const wal = join(backups, 'wal', line)
  const manifest = JSON.parse(await readFile(join(backups, made.id, 'manifest.json'), 'utf8'))
  const segment = `${manifest.stop_segment}.zst`
  const bytes = await readFile(join(wal, segment))
  await rm(join(wal, segment))
  expect((await verify()).faults).toEqual([`wal/${line}/${segment} is missing in the backup.`])
  const gap = await run(['restore', backups, '--to', copy], data)
  expect(gap).toMatchObject({ code: 1 })
  expect(gap.err).toContain(`wal/${line}/${segment} is missing`)
  await writeFile(join(wal, segment), bytes)

  const table = manifest.files.find(
    ({ path, size }: { path: string; size: number }) => path.startsWith('base/') && size > 8192,
  )
  const file = join(backups, made.id, 'data', `${table.path}.zst`)
  const good = await readFile(file)
  await writeFile(file, good.with(good.length - 9, (good.at(-9) ?? 0) ^ 1))
  expect((await verify()).faults).toEqual([expect.stringMatching(`${table.path}.zst is damaged`)])
  expect((await run(['restore', backups, '--to', `${copy}2`], data)).err).toContain(
    `${table.path}.zst is damaged`,
  )
  await writeFile(file, good)

  const store = join(backups, 'contents')
  const [first = ''] = (await readdir(store)).filter((name) => name.length === 2)
  await rm(join(store, first), { recursive: true })
  const [fault] = (await verify()).faults
  expect(fault).toMatch(/^contents\/[0-9a-f]{64} is missing in the backup\.$/)
  const lost = await run(['restore', backups, '--to', `${copy}3`], data)
  expect(lost).toMatchObject({ code: 1 })
  expect(lost.err).toContain(fault.slice('contents/'.length, 'contents/'.length + 64))
})

test('a bucket is a place of backups too', { timeout: 300_000 }, async () => {
  const { data, copy } = await place()
  const bucket = await openBucket()
  const keys = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' }
  const server = await serve(data, bucket.url, keys)
  await withBase(server)
  await putFile(server, 'kept', randomBytes(50_000))
  await server.call('PUT', '/v1/crm/records/note/one', { data: { text: 'x' } })
  await server.until(({ backup }) => backup.last_at !== null)
  await end(server)
  const [made] = (await ask(['backup', 'list'], data, bucket.url, keys)).data
  expect(await ask(['backup', 'verify', made.id], data, bucket.url, keys)).toMatchObject({
    faults: [],
    contents: 1,
  })
  const restored = await ask(['restore', bucket.url, '--to', copy], data, undefined, keys)
  expect(restored).toMatchObject({ bases: 1, records: 1, contents: 1, missing_contents: [] })
  await bucket.close()
})

test('a full place of backups is said, and archiving goes on when it has room', async ({ skip }) => {
  const { data } = await place()
  const disk = join(folder, 'small')
  const unmount = await smallDisk(disk, 24 * 2 ** 20)
  if (!unmount) return skip('This process may not mount a disk.')
  const server = await serve(data, disk)
  try {
    await withBase(server)
    await server.until(({ backup }) => backup.last_at !== null)
    await writeFile(join(disk, 'filler'), Buffer.alloc(24 * 2 ** 20)).catch(() => {})
    await server.call('PUT', '/v1/crm/records/note/one', { data: { text: 'x' } })
    await endSegment(server)
    await server.until(({ backup }) => backup.state === 'failing')
    const { checks } = succeed(await server.call('GET', '/v1/diagnostics'))
    expect(checks).toContainEqual({
      ...{ name: 'backup', status: 'warning' },
      message: expect.stringMatching(/^PLINTH_BACKUP_URL cannot be written.* is full/),
    })
    expect((await server.call('PUT', '/v1/crm/records/note/two', { data: { text: 'x' } })).status).toBe(201)
    const failed = await run(['backup'], data)
    expect(failed).toMatchObject({ code: 1 })
    const { data: listed } = await ask(['backup', 'list'], data)
    expect(listed.filter(({ is_complete }: { is_complete: boolean }) => !is_complete)).toEqual([])
    await rm(join(disk, 'filler'))
    await server.until(({ backup }) => backup.state === 'ok')
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    expect(Number(/^plinth_wal_archive_failures_total (\d+)/m.exec(metrics)?.[1])).toBeGreaterThan(0)
    expect(Number(/^plinth_backup_last_seconds (\S+)/m.exec(metrics)?.[1])).toBeGreaterThan(0)
  } finally {
    await end(server)
    await unmount()
  }
})

test('a failing archive stops before it fills the disk of the data, and begins again with a backup', async ({
  skip,
}) => {
  const { backups, copy } = await place()
  const disk = join(folder, 'data-disk')
  const unmount = await smallDisk(disk, 600 * 2 ** 20)
  if (!unmount) return skip('This process may not mount a disk.')
  const data = join(disk, 'data')
  const server = await serve(data, backups)
  try {
    await withBase(server)
    const { backup: first } = await server.until(({ backup }) => backup.last_at !== null)
    // The place is gone: a file is where its directory was.
    await rm(join(backups, 'wal'), { recursive: true })
    await writeFile(join(backups, 'wal'), '')
    await writeFile(join(disk, 'filler'), Buffer.alloc(460 * 2 ** 20)).catch(() => {})
    await server.call('PUT', '/v1/crm/records/note/one', { data: { text: 'x' } })
    await endSegment(server)
    await server.until(({ backup }) => backup.state === 'stopped')
    expect((await readdir(join(data, 'wal-archive'))).length).toBeLessThanOrEqual(1)
    expect((await server.call('PUT', '/v1/crm/records/note/two', { data: { text: 'x' } })).status).toBe(201)
    await rm(join(backups, 'wal'))
    await rm(join(disk, 'filler'))
    await server.until(({ backup }) => backup.state === 'ok' && backup.last_at > first.last_at)
    await end(server)
    expect(await ask(['restore', backups, '--to', copy], data)).toMatchObject({ records: 2 })
  } finally {
    if (running.includes(server)) await end(server)
    await unmount()
  }
})

test('a database of your own is left to its tools', async () => {
  const { data, backups } = await place()
  const refused = await run(['backup'], data, backups, { DATABASE_URL: 'postgres://localhost/none' })
  expect(refused).toMatchObject({ code: 1 })
  expect(refused.err).toContain('pg_basebackup')
  const idle = await run(['backup'], data, backups)
  expect(idle.err).toContain('archives nothing')
})

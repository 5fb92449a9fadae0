/** Places of backups without a server: names of WAL, what is kept, and what is refused. */
import { access, mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Query } from '../../src/backup/connection.ts'
import { type Manifest, writeManifest } from '../../src/backup/manifest.ts'
import { packed } from '../../src/backup/packed.ts'
import { openPlace, type Place } from '../../src/backup/place.ts'
import { restore } from '../../src/backup/restore.ts'
import { retain } from '../../src/backup/retention.ts'
import { verifyBackup } from '../../src/backup/verify.ts'
import { chainOf, nextSegment, readUntil, storedName, writeUntil } from '../../src/backup/wal.ts'
import { WalArchive } from '../../src/backup/wal-archive.ts'
import type { BlobStore } from '../../src/engine/storage/blobs/blob-store.ts'
import { openBlobStore } from '../../src/engine/storage/blobs/open.ts'
import { run } from '../support/backed-up.ts'
import { scratch } from '../support/scratch.ts'

let folder: string
beforeAll(async () => {
  folder = await scratch('plinth-place-')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const LINE = '0123456789abcdef'
const segment = (n: number) => `00000001000000000000000${n}`
const DAY = 24 * 3_600_000
const quiet = { info() {}, warn() {} }

/** A backup of so many days ago, which names these contents and begins at this segment. */
async function backup(place: Place, daysAgo: number, first: number, contents: string[]): Promise<Manifest> {
  const at = new Date(Date.now() - daysAgo * DAY).toISOString()
  const manifest: Manifest = {
    ...{ format: 1, id: `${at.slice(0, 19).replaceAll(':', '-')}Z`, plinth: '0.1.0', postgres: '18.4' },
    ...{
      platform: 'linux-x64',
      line: LINE,
      started_at: at,
      finished_at: at,
      start_lsn: '0/1',
      stop_lsn: '0/2',
    },
    ...{
      start_segment: segment(first),
      stop_segment: segment(first),
      segment_bytes: 2 ** 24,
      backup_label: '',
    },
    ...{ bytes: 0, stored_bytes: 0, directories: [], files: [], contents: contents.length, keys: false },
  }
  await place.write(
    `${manifest.id}/contents.zst`,
    packed(Readable.from([contents.map((each) => `${each}\n`).join('')])),
  )
  await writeManifest(place, manifest)
  return manifest
}
const archive = (place: Place, n: number) =>
  place.write(storedName(LINE, segment(n)), packed(Readable.from(['wal'])))
async function store(name: string, texts: string[]): Promise<{ blobs: BlobStore; names: string[] }> {
  const blobs = await openBlobStore({ driver: 'file', directory: join(folder, name), isShared: true })
  const names: string[] = []
  for (const text of texts)
    names.push((await blobs.put(Readable.from([Buffer.from(text)]), { maxBytes: 1e6 })).sha256)
  return { blobs, names }
}

test('segments are counted across the files of a log', () => {
  expect(nextSegment('0000000100000000000000FE', 2 ** 24)).toBe('0000000100000000000000FF')
  expect(nextSegment('0000000100000000000000FF', 2 ** 24)).toBe('000000010000000100000000')
  expect(nextSegment('00000002000000010000000F', 2 ** 28)).toBe('000000020000000200000000')
})

test('a chain of WAL ends at the first segment that is missing, also the last one', async () => {
  const place = await openPlace(join(folder, 'chain'), folder)
  const made = await backup(place, 1, 2, [])
  for (const n of [2, 3, 5]) await archive(place, n)
  expect(await chainOf(place, made)).toMatchObject({
    segments: [segment(2), segment(3)],
    missing: segment(4),
  })
  await archive(place, 4)
  expect(await chainOf(place, made)).toMatchObject({ missing: undefined })
  await writeUntil(place, LINE, { at: made.finished_at, segment: segment(6) })
  expect(await chainOf(place, made)).toMatchObject({ missing: segment(6) })
})

test('what only moments before the kept days need is removed, and nothing else', async () => {
  const place = await openPlace(join(folder, 'retained'), folder)
  const { blobs, names } = await store('live', ['live'])
  const [live = ''] = names
  const contents = await place.contents()
  const put = async (text: string) =>
    (await contents.put(Readable.from([Buffer.from(text)]), { maxBytes: 1e6 })).sha256
  await put('live')
  const [old, kept, fresh] = [await put('old'), await put('kept'), await put('fresh')]
  // A content of long ago that no backup names any more.
  const forgotten = await put('forgotten')
  const pathOf = (sha256: string) =>
    join(folder, 'retained', 'contents', sha256.slice(0, 2), sha256.slice(2, 4), sha256)
  const longAgo = new Date(Date.now() - 30 * DAY)
  for (const each of [old, kept, forgotten]) await utimes(pathOf(each), longAgo, longAgo)
  for (const n of [1, 2, 3, 4]) await archive(place, n)
  const gone = await backup(place, 20, 1, [old].sort())
  const basis = await backup(place, 9, 2, [kept, live].sort())
  const newest = await backup(place, 1, 3, [live])
  await mkdir(join(folder, 'retained', '2020-01-01T00-00-00Z'))

  await retain(place, { blobs, days: 7 }, quiet)
  const left = await readdir(join(folder, 'retained'))
  expect(left).toEqual(expect.arrayContaining([basis.id, newest.id, 'contents', 'wal']))
  expect(left).not.toContain(gone.id)
  expect(left).not.toContain('2020-01-01T00-00-00Z')
  expect((await readdir(join(folder, 'retained', 'wal', LINE))).sort()).toEqual(
    [2, 3, 4].map((n) => `${segment(n)}.zst`),
  )
  const has = (sha256: string) => contents.has(sha256)
  // Named by a backup that ends now: it goes with the next removal.
  expect([await has(live), await has(kept), await has(fresh), await has(old), await has(forgotten)]).toEqual([
    ...[true, true, true, true, false],
  ])
  await retain(place, { blobs, days: 7 }, quiet)
  expect([await has(live), await has(kept), await has(fresh), await has(old)]).toEqual([
    true,
    true,
    true,
    false,
  ])
})

test('a backup that could not be read is not taken for one that is not complete', async () => {
  const path = join(folder, 'unread')
  const place = await openPlace(path, folder)
  const { blobs } = await store('of-unread', [])
  await archive(place, 1)
  const made = await backup(place, 5, 1, [])
  const segmentPath = join(path, storedName(LINE, segment(1)))
  const longAgo = new Date(Date.now() - 5 * DAY)
  await utimes(segmentPath, longAgo, longAgo)
  const failing: Place = {
    ...place,
    read: async (name) => {
      if (!name.endsWith('manifest.json')) return place.read(name)
      throw new Error('The bucket does not answer.')
    },
  }
  await expect(retain(failing, { blobs, days: 1 }, quiet)).rejects.toThrow('does not answer')
  await expect(verifyBackup(failing, made.id)).rejects.toThrow(/^The bucket does not answer.$/)
  const restored = restore(failing, {
    ...{ dataDir: join(folder, 'of-unread-to'), at: undefined, log: quiet },
    openBlobs: async () => blobs,
  })
  await expect(restored).rejects.toThrow('does not answer')
  // One of another version may be read again after an upgrade.
  const manifest = join(path, made.id, 'manifest.json')
  const whole = await readFile(manifest)
  await writeFile(manifest, '{"format":2}')
  const warned: object[] = []
  await retain(place, { blobs, days: 1 }, { warn: (fields) => void warned.push(fields) })
  expect(warned).toEqual([{ backups: [made.id] }])
  await writeFile(manifest, whole)
  await access(segmentPath)
  expect(await verifyBackup(place, made.id)).toMatchObject({ segments: 1, faults: [] })
})

test('the check of a backup that is not complete says so once', { tags: 'full' }, async () => {
  const path = join(folder, 'begun')
  const id = '2030-01-31T12-00-00Z'
  await mkdir(join(path, id, 'data'), { recursive: true })
  const { code, err } = await run(['backup', 'verify', id], join(folder, 'of-begun'), path)
  expect({ code, err }).toEqual({
    code: 1,
    err: `FAILED: ${id} has no manifest, so it is not complete. "plinth backup list" shows which are.\n`,
  })
})

test('a place that could not be opened is opened again', async () => {
  const path = join(folder, 'away')
  const place = await openPlace(path, folder)
  await writeFile(path, '')
  await expect(archive(place, 1)).rejects.toThrow('ENOTDIR')
  await rm(path)
  await archive(place, 1)
  expect(await place.has(storedName(LINE, segment(1)))).toBe(true)
})

test('restores are refused by name', async () => {
  const place = await openPlace(join(folder, 'refused'), folder)
  const openBlobs = async () => (await store('none', [])).blobs
  const to = (dataDir: string, at?: string) => restore(place, { dataDir, at, openBlobs, log: quiet })
  await expect(to(join(folder, 'to'))).rejects.toThrow('There is no complete backup')
  const made = await backup(place, 1, 2, [])
  await expect(to(join(folder, 'to'))).rejects.toThrow(`wal/${LINE}/${segment(2)}.zst is missing`)
  await archive(place, 2)
  await mkdir(join(folder, 'full'))
  await writeFile(join(folder, 'full', 'mine'), '')
  await expect(to(join(folder, 'full'))).rejects.toThrow('is not empty')
  await expect(to(join(folder, 'to'), '2020-01-01T00:00:00Z')).rejects.toThrow(made.finished_at)
  await expect(verifyBackup(place, 'x/../y')).rejects.toThrow('is no id of a backup')
  await writeFile(join(folder, 'refused', made.id, 'manifest.json'), '{"format":2}')
  await expect(verifyBackup(place, made.id)).rejects.toThrow('of another version')
})

test('WAL is archived on while the clock is set back, and its end follows the clock', async () => {
  const spool = join(folder, 'spool')
  await mkdir(spool)
  const place = await openPlace(`file://${join(folder, 'clock')}`, folder)
  let at = Date.parse('2030-01-01T12:00:00Z')
  let current = 1
  /** A server that writes something before each moment. */
  const query = async (text: string) => {
    if (!text.includes('pg_switch_wal'))
      return [{ at: new Date(at), segment: segment(current), xmax: String(at), isQuiet: true, failed: 0 }]
    await writeFile(join(spool, segment(current++)), 'wal')
    return []
  }
  const archive = new WalArchive(LINE, { query: query as Query, place, spool, log: quiet })
  const minute = async () => {
    for (let n = 0; n < 13; n++, at += 5000) await archive.tick(async () => {})
  }
  await writeFile(join(spool, segment(current++)), 'wal')
  await minute()
  await minute()
  expect(archive.until?.toISOString()).toMatch(/^2030-01-01T12:01/)
  at -= 3_600_000
  await minute()
  expect(archive.until?.toISOString()).toMatch(/^2030-01-01T11:0/)
  expect((await readUntil(place, LINE))?.at).toBe(archive.until?.toISOString())
})

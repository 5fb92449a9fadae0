/** Makes a backup of the running embedded PostgreSQL: a copy of its files between the start and the stop of a backup. */
import { lstat, readdir } from 'node:fs/promises'
import { arch, platform } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { type BlobStore, freePartOf } from '../engine/storage/blobs/blob-store.ts'
import { LIMITS } from '../foundation/limits.ts'
import { type Log, wordsOf } from '../foundation/log.ts'
import { packageVersion } from '../foundation/version.ts'
import { connect, type Query } from './connection.ts'
import { copyContents } from './contents.ts'
import { type Manifest, newId, writeManifest } from './manifest.ts'
import { packed, packFile } from './packed.ts'
import { each, type Place } from './place.ts'
import { retain } from './retention.ts'
import { storedName } from './wal.ts'

export type Source = {
  /** The address of the embedded PostgreSQL, and the directory of its files. */
  url: string
  pgdata: string
  blobs: BlobStore
  line: string
  days: number
  /** Texts of keys to put into the backup, by the names of their files. */
  keys?: Readonly<Record<string, string>>
}

/** One backup, or removal of backups, at a time: "backup" in ASCII. */
const LOCK = String(0x6261636b7570)

/** Makes a backup, then removes those whose time is over. */
export async function makeBackup(
  place: Place,
  source: Source,
  log: Log,
  signal: AbortSignal,
): Promise<Manifest> {
  // The backup belongs to this session, and so does the lock.
  const { query, close } = connect(source.url)
  try {
    const [{ got } = { got: false }] = await query<{ got: boolean }>(
      'SELECT pg_try_advisory_lock($1) AS got',
      [LOCK],
    )
    if (!got) throw new Error('Another backup is being made. Wait for its end.')
    const manifest = await make(query, place, source, log, signal)
    await retain(place, source, log).catch((err: unknown) =>
      log.warn({ cause: wordsOf(err) }, 'old backups were not removed; the next backup removes them'),
    )
    return manifest
  } finally {
    await close()
  }
}

type Start = { at: Date; lsn: string; segment_bytes: number; postgres: string }
type Stop = { at: Date; lsn: string; segment: string; label: string }

async function make(
  query: Query,
  place: Place,
  source: Source,
  log: Log,
  signal: AbortSignal,
): Promise<Manifest> {
  const [start] = await query<Start>(
    `SELECT clock_timestamp() AS at, lsn::text,
       pg_size_bytes(current_setting('wal_segment_size'))::int AS segment_bytes, current_setting('server_version') AS postgres
     FROM pg_backup_start('plinth', fast => true) AS lsn`,
  )
  if (!start) throw new Error('PostgreSQL began no backup.')
  const id = newId(start.at)
  try {
    const data = await copyData(place, id, source.pgdata, signal)
    const [stop] = await query<Stop>(
      `SELECT clock_timestamp() AS at, lsn::text, pg_walfile_name(lsn) AS segment, labelfile AS label
       FROM pg_backup_stop(wait_for_archive => false)`,
    )
    if (!stop) throw new Error('PostgreSQL ended no backup.')
    const names = await copyContents(source.blobs, place, log, signal)
    await place.write(`${id}/contents.zst`, packed(Readable.from(names.map((sha256) => `${sha256}\n`))))
    for (const [name, text] of Object.entries(source.keys ?? {}))
      await place.write(`${id}/keys/${name}`, Readable.from([text]))
    await waitForWal(place, source.line, stop, signal)
    const manifest: Manifest = {
      ...{ format: 1, id, plinth: packageVersion(), postgres: start.postgres, platform: THIS_PLATFORM },
      ...{ line: source.line, started_at: start.at.toISOString(), finished_at: stop.at.toISOString() },
      ...{
        start_lsn: start.lsn,
        stop_lsn: stop.lsn,
        start_segment: startSegment(stop.label),
        stop_segment: stop.segment,
      },
      ...{ segment_bytes: start.segment_bytes, backup_label: stop.label },
      ...data,
      ...{ contents: names.length, keys: source.keys !== undefined },
    }
    await writeManifest(place, manifest)
    return manifest
  } catch (error) {
    await place.remove(`${id}/`).catch(() => {})
    throw error
  }
}

/** Where a recovery begins to read. */
const startSegment = (label: string): string => /\(file ([0-9A-F]{24})\)/.exec(label)?.[1] ?? ''

export const THIS_PLATFORM = `${platform()}-${arch()}`

/** Folders whose content a recovery makes anew; they themselves must be there. */
const EMPTIED = [
  'pg_wal',
  'pg_dynshmem',
  'pg_notify',
  'pg_replslot',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
]
const LEFT_OUT =
  /^(postmaster\.(pid|opts)|backup_label(\.old)?|tablespace_map(\.old)?|recovery\.signal|standby\.signal|current_logfiles(\.tmp)?|pgsql_tmp.*|pg_internal\.init.*)$/

type Data = Pick<Manifest, 'bytes' | 'stored_bytes' | 'directories' | 'files'>

async function copyData(place: Place, id: string, pgdata: string, signal: AbortSignal): Promise<Data> {
  const directories: string[] = []
  const paths: string[] = []
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await readdir(join(pgdata, folder), { withFileTypes: true }).catch(unlessGone([]))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (LEFT_OUT.test(entry.name)) continue
      if (entry.isSymbolicLink())
        throw new Error(`${path} is a link. A tablespace elsewhere is not backed up.`)
      if (!entry.isDirectory()) paths.push(path)
      else {
        directories.push(path)
        if (!EMPTIED.includes(path)) await walk(path)
      }
    }
  }
  await walk('')
  const files: Manifest['files'] = []
  await each(place, paths.values(), async (path) => {
    signal.throwIfAborted()
    await requireRoom(pgdata)
    const file = await copyFile(place, `${id}/data/${path}.zst`, join(pgdata, path))
    if (file) files.push({ path, ...file })
  })
  const sum = (key: 'size' | 'stored') => files.reduce((all, file) => all + file[key], 0)
  return {
    ...{ bytes: sum('size'), stored_bytes: sum('stored'), directories: directories.sort() },
    files: files.sort((one, other) => (one.path < other.path ? -1 : 1)),
  }
}

/** Copies a file; undefined if its table was dropped meanwhile. */
async function copyFile(place: Place, name: string, path: string) {
  const found = await lstat(path).catch(unlessGone(undefined))
  if (!found) return undefined
  try {
    return await packFile(place, name, path, found.size)
  } catch (error) {
    return unlessGone(undefined)((error as Error).cause ?? error)
  }
}

const unlessGone =
  <T>(nothing: T) =>
  (error: unknown): T => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return nothing
    throw error
  }

/** A backup on the disk of the data must not fill it. */
async function requireRoom(pgdata: string): Promise<void> {
  if ((await freePartOf(pgdata)) >= LIMITS.archiveFree.stop) return
  throw new Error(
    'Less than a tenth of the disk of the data is free, so no backup is made. Free space there.',
  )
}

/** Waits for the server to move the WAL that the copy needs. */
async function waitForWal(place: Place, line: string, stop: Stop, signal: AbortSignal): Promise<void> {
  for (const deadline = Date.now() + LIMITS.backupWaitMs; Date.now() < deadline; ) {
    if (await place.has(storedName(line, stop.segment))) return
    await sleep(LIMITS.backupTickMs / 10, undefined, { signal })
  }
  throw new Error(`The WAL of the backup was not archived: ${stop.segment}. /readyz and the log say why.`)
}

/** What the commands of backups do. They work on files and on the embedded PostgreSQL, beside the server. */
import { statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Config, readConfig } from '../config/read-config.ts'
import { runningCluster } from '../postgres/cluster.ts'
import { makeBackup } from './base-backup.ts'
import { openBesideServer } from './blob-location.ts'
import { copyContents } from './contents.ts'
import { isHeld } from './hold.ts'
import { findBackups } from './manifest.ts'
import { openPlace, type Place } from './place.ts'
import { KEYS, type Restored, restore } from './restore.ts'
import { archivingOf } from './service.ts'
import { type Verified, verifyBackup } from './verify.ts'
import { readUntil } from './wal.ts'

const NO_PLACE =
  'Set PLINTH_BACKUP_URL to where backups are: file:///path of a directory, or s3://bucket/prefix.'
const NOT_OURS =
  'The database of DATABASE_URL is backed up by its own tools: pg_basebackup with archived WAL, pg_dump, or what its operator offers. "plinth backup contents" copies the contents of files.'

/** The lines of the log of a command are notes for its user. */
type Note = (text: string) => void
const logOf = (note: Note) => ({
  info: () => {},
  warn: (fields: object, message: string) => note(`${message}: ${JSON.stringify(fields)}\n`),
})

/** A file of root in the data of another user could not be changed by its server. */
function becomeOwner(directory: string): void {
  const { uid, gid } = statSync(directory, { throwIfNoEntry: false }) ?? { uid: 0, gid: 0 }
  if (process.geteuid?.() !== 0 || uid === 0) return
  process.setgroups?.([gid])
  process.setgid?.(gid)
  process.setuid?.(uid)
}

export async function backupNow({ withKeys, note }: { withKeys: boolean; note: Note }) {
  const { dataDir, databaseUrl } = readConfig(process.env)
  if (databaseUrl !== undefined) throw new Error(NOT_OURS)
  const archiving = archivingOf(dataDir)
  if (!archiving)
    throw new Error(`The server of ${dataDir} archives nothing. ${NO_PLACE} Then start it again.`)
  if (isHeld(dataDir))
    throw new Error(
      `${dataDir} is a restored copy that is held, so no WAL of it is archived. Run "plinth deliveries resume" first.`,
    )
  becomeOwner(dataDir)
  const url = await runningCluster(dataDir)
  if (url === undefined)
    throw new Error(`No server runs on ${dataDir}. Start it; or, while none runs, copy the whole directory.`)
  const begun = performance.now()
  const place = await openPlace(archiving.url, dataDir)
  const blobs = await openBesideServer({ dataDir, blobUrl: archiving.blobUrl, databaseUrl })
  const keys = withKeys ? await readKeys(dataDir) : undefined
  const { line, days } = archiving
  const source = { url, pgdata: join(dataDir, 'postgres'), blobs, line, days, ...(keys && { keys }) }
  const manifest = await makeBackup(place, source, logOf(note), new AbortController().signal)
  const { id, bytes, stored_bytes, contents, finished_at } = manifest
  const seconds = Number(((performance.now() - begun) / 1000).toFixed(1))
  return {
    ...{ id, place: place.url, seconds, bytes, stored_bytes, contents, keys: Object.keys(keys ?? {}) },
    restorable_from: finished_at,
  }
}

/** Keys that are set in the environment are not in the data directory, and not in a backup. */
async function readKeys(dataDir: string): Promise<Record<string, string>> {
  const read = KEYS.map(async (name) => [name, await readFile(join(dataDir, name), 'utf8').catch(() => '')])
  return Object.fromEntries((await Promise.all(read)).filter(([, text]) => text !== ''))
}

/** Where backups are, by the settings or by the server of the data directory. */
async function placeOf({ backup, dataDir }: Config): Promise<Place> {
  const url = backup?.url ?? archivingOf(dataDir)?.url
  if (url === undefined) throw new Error(NO_PLACE)
  return openPlace(url, dataDir)
}

export async function listBackups() {
  const place = await placeOf(readConfig(process.env))
  const { complete, incomplete, unreadable } = await findBackups(place)
  const rows = complete.map(async ({ id, line, finished_at, bytes, stored_bytes, contents, keys }) => ({
    ...{ id, is_complete: true, bytes, stored_bytes, contents, keys, restorable_from: finished_at },
    // A backup that is newer than the archive is restored to its own end.
    restorable_to: [finished_at, (await readUntil(place, line))?.at ?? ''].sort().at(-1),
  }))
  return {
    place: place.url,
    data: [
      ...(await Promise.all(rows)),
      ...[...incomplete.map(({ id }) => id), ...unreadable].map((id) => ({ id, is_complete: false })),
    ],
  }
}

export const verifyOne = async (id: string): Promise<Verified> =>
  verifyBackup(await placeOf(readConfig(process.env)), id)

export async function backupContents({ note }: { note: Note }) {
  const config = readConfig(process.env)
  const place = await placeOf(config)
  becomeOwner(config.dataDir)
  const blobs = await openBesideServer(config)
  const names = await copyContents(blobs, place, logOf(note))
  return { place: place.url, contents: names.length }
}

export async function restoreTo(
  from: string,
  { to, at, note }: { to: string; at: string | undefined; note: Note },
): Promise<Restored> {
  const dataDir = resolve(to)
  becomeOwner(dataDir)
  const place = await openPlace(/^(file|s3):/.test(from) ? from : resolve(from), dataDir)
  const config = readConfig({ ...process.env, PLINTH_DATA_DIR: dataDir, DATABASE_URL: undefined })
  const openBlobs = () => openBesideServer(config)
  return restore(place, { dataDir, at, openBlobs, log: logOf(note) })
}

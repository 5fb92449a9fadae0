/** Makes a data directory of a backup: files, WAL up to a moment, contents. What it holds sends nothing until it may. */
import { createWriteStream } from 'node:fs'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import type { BlobStore } from '../engine/storage/blobs/blob-store.ts'
import { LIMITS } from '../foundation/limits.ts'
import type { InfoLog } from '../foundation/log.ts'
import { openCluster } from '../postgres/cluster.ts'
import { THIS_PLATFORM } from './base-backup.ts'
import { connect, type Query } from './connection.ts'
import { copyContent, neededContents } from './contents.ts'
import { markRestored } from './hold.ts'
import { findBackups, type Manifest } from './manifest.ts'
import { damaged, openPacked } from './packed.ts'
import { each, missing, type Place } from './place.ts'
import { chainOf, storedName } from './wal.ts'

export type Restored = {
  backup: string
  /** The last write that the copy has. */
  restored_to: string | null
  bases: number
  records: number
  contents: number
  missing_contents: string[]
  keys: boolean
}

/** A data directory whose restore has not ended has this file. */
export const UNFINISHED = 'restoring'

/**
 * Restores into an empty data directory.
 * @param options.at a moment in RFC 3339; undefined for the last one that the archive has
 * @param options.openBlobs opens the store of contents of the copy
 */
export async function restore(
  place: Place,
  options: { dataDir: string; at: string | undefined; openBlobs: () => Promise<BlobStore>; log: InfoLog },
): Promise<Restored> {
  const { dataDir, at, log } = options
  const backup = await backupFor(place, at)
  const chain = await chainOf(place, backup)
  const gap = chain.missing
  const lacks = gap === undefined ? undefined : missing(storedName(backup.line, gap))
  // Without the end of the archive, a moment before that may still be there.
  if (gap !== undefined && (at === undefined || gap <= backup.stop_segment)) throw lacks
  await emptyOrUnfinished(dataDir)
  const pgdata = join(dataDir, 'postgres')
  const draft = join(dataDir, 'postgres.restoring')
  await writeFile(join(dataDir, UNFINISHED), `${backup.id}\n`, { mode: 0o600 })
  await copyFiles(place, backup, draft)
  await each(place, [...chain.histories, ...chain.segments].values(), (file) =>
    unpack(place, storedName(backup.line, file), join(draft, 'pg_wal', file)),
  )
  await writeFile(join(draft, 'backup_label'), backup.backup_label, { mode: 0o600 })
  await writeFile(join(draft, 'recovery.signal'), '', { mode: 0o600 })
  await rename(draft, pgdata)
  const found = await recover(dataDir, { at, until: chain.until?.at, lacks, log }, async (query) => ({
    ...(await counts(query)),
    ...(await restoreContents(query, place, await options.openBlobs(), log)),
  }))
  if (backup.keys) await restoreKeys(place, backup.id, dataDir)
  await markRestored(dataDir, { backup: backup.id, restored_to: found.restored_to })
  await rm(join(dataDir, UNFINISHED))
  return { backup: backup.id, ...found, keys: backup.keys }
}

/** The newest backup from which a moment can be reached. */
async function backupFor(place: Place, at: string | undefined): Promise<Manifest> {
  const { complete } = await findBackups(place)
  const first = complete[0]
  if (!first) throw new Error(`There is no complete backup in ${place.url}.`)
  const moment = at === undefined ? Number.POSITIVE_INFINITY : Date.parse(at)
  const found = complete.findLast(({ finished_at }) => Date.parse(finished_at) <= moment)
  if (found) return found
  throw new Error(
    `The first moment that can be restored is ${first.finished_at}, the end of the first backup.`,
  )
}

async function emptyOrUnfinished(dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const found = await readdir(dataDir)
  if (found.includes(UNFINISHED)) for (const name of found) await rm(join(dataDir, name), { recursive: true })
  else if (found.length > 0)
    throw new Error(`${dataDir} is not empty. Name a new directory, so that nothing is overwritten.`)
}

async function copyFiles(place: Place, backup: Manifest, pgdata: string): Promise<void> {
  const { postgres, platform, directories, files } = backup
  if (platform !== THIS_PLATFORM)
    throw new Error(
      `The backup is of ${platform}; PostgreSQL can read its files there only, and this is ${THIS_PLATFORM}.`,
    )
  await mkdir(pgdata, { mode: 0o700 })
  for (const path of directories) await mkdir(join(pgdata, inside(path)), { recursive: true, mode: 0o700 })
  await mkdir(join(pgdata, 'pg_wal'), { recursive: true, mode: 0o700 })
  if (!files.some(({ path }) => path === 'PG_VERSION'))
    throw new Error(`The backup of ${postgres} has no data.`)
  await each(place, files.values(), ({ path, sha256 }) =>
    unpack(place, `${backup.id}/data/${path}.zst`, join(pgdata, inside(path)), sha256),
  )
}

/** A manifest that somebody changed must not write elsewhere. */
function inside(path: string): string {
  if (path.startsWith('/') || path.split('/').includes('..') || path.includes('\\'))
    throw new Error(`"${path}" is not a path of a backup.`)
  return path
}

async function unpack(place: Place, name: string, path: string, sha256?: string): Promise<void> {
  const source = await openPacked(place, name, sha256)
  await pipeline(source, createWriteStream(path, { mode: 0o600 })).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOSPC' ? error : damaged(name)(error)
  })
}

type Target = {
  at: string | undefined
  until: string | undefined
  lacks: Error | undefined
  log: InfoLog
}

const TOO_EARLY = 'recovery ended before configured recovery target was reached'

/** Runs PostgreSQL through the WAL, works on what is there then, and stops it. */
async function recover<T>(
  dataDir: string,
  { at, until, lacks, log }: Target,
  use: (query: Query) => Promise<T>,
): Promise<T & { restored_to: string | null }> {
  const open = (target: Record<string, string>) =>
    openCluster({
      ...{ dataDir, log, startMs: LIMITS.clusterRecoveryMs },
      settings: {
        ...{ hot_standby: 'off', recovery_target_timeline: 'current', recovery_target_action: 'promote' },
        // All WAL is in place already. A command that fails says that there is no more.
        restore_command: 'exit 1',
        ...target,
      },
    })
  const moment = at && { recovery_target_time: at.replace(/[Tt]/, ' ').replace(/[Zz]$/, '+00') }
  const cluster = await open(moment || {}).catch((error: Error) => {
    if (at === undefined || !error.message.includes(TOO_EARLY)) throw error
    if (lacks) throw new Error(`${lacks.message} The moment is after it.`, { cause: error })
    // Nothing was written between the end of the WAL and the moment.
    if (until !== undefined && Date.parse(at) <= Date.parse(until)) return open({})
    throw new Error(
      `The archive ends at ${until ?? 'the end of the backup'}, before the moment. Leave out --at, or give an earlier one.`,
    )
  })
  try {
    const { query, close } = connect(cluster.url)
    try {
      const [last] = await query<{ at: Date | null }>('SELECT pg_last_xact_replay_timestamp() AS at')
      return { ...(await use(query)), restored_to: last?.at?.toISOString() ?? null }
    } finally {
      await close()
    }
  } finally {
    await cluster.stop()
  }
}

const COUNTS = `SELECT (SELECT count(*)::int FROM plinth.base) AS bases,
  (SELECT count(*)::int FROM plinth.record) AS records`

async function counts(query: Query): Promise<Pick<Restored, 'bases' | 'records'>> {
  const [found] = await query<Pick<Restored, 'bases' | 'records'>>(COUNTS)
  return found ?? { bases: 0, records: 0 }
}

async function restoreContents(
  query: Query,
  place: Place,
  blobs: BlobStore,
  log: InfoLog,
): Promise<Pick<Restored, 'contents' | 'missing_contents'>> {
  const from = await place.contents()
  const lost: string[] = []
  let contents = 0
  await each(place, neededContents(query), async (sha256) => {
    if (await copyContent(from, blobs, sha256, log)) contents++
    else lost.push(sha256)
  })
  const [secret] = await query<{ value: Buffer }>(
    `SELECT value FROM plinth.server_secret WHERE purpose = 'store'`,
  )
  if (secret && (await blobs.id()) === undefined) await blobs.setId(secret.value.toString('hex'))
  return { contents, missing_contents: lost.sort() }
}

export const KEYS = ['master-key', 'admin-token'] as const

async function restoreKeys(place: Place, id: string, dataDir: string): Promise<void> {
  for (const name of KEYS) {
    if (!(await place.has(`${id}/keys/${name}`))) continue
    await writeFile(join(dataDir, name), await text(await place.read(`${id}/keys/${name}`)), { mode: 0o600 })
  }
}

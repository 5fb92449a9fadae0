/** Backups of a running server: archives WAL all the time, and makes a backup every few hours. */
import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config/read-config.ts'
import type { BackupHealth } from '../engine/core/scope.ts'
import { type BlobStore, diskOf } from '../engine/storage/blobs/blob-store.ts'
import { LIMITS } from '../foundation/limits.ts'
import { type InfoLog, wordsOf } from '../foundation/log.ts'
import { makeBackup } from './base-backup.ts'
import { openBesideServer } from './blob-location.ts'
import { type Connection, connect } from './connection.ts'
import { copyContent, copyContents } from './contents.ts'
import type { Hold } from './hold.ts'
import { backupIds, findBackups } from './manifest.ts'
import { openPlace, type Place } from './place.ts'
import { dropArchived, isOnDiskOf, WalArchive } from './wal-archive.ts'

type WithBackup = Pick<Config, 'dataDir' | 'blobUrl' | 'databaseUrl'> & {
  backup: NonNullable<Config['backup']>
}

const HOUR_MS = 3_600_000

/** What the server of a data directory archives to, for the commands. A line is an unbroken run of WAL. */
type Archiving = { line: string; url: string; days: number; blobUrl: string | undefined }
const archivingFile = (dataDir: string) => join(dataDir, 'backup.json')

/** Undefined if the server does not archive. Fails for a user who may not read the data directory. */
export function archivingOf(dataDir: string): Archiving | undefined {
  try {
    return JSON.parse(readFileSync(archivingFile(dataDir), 'utf8')) as Archiving
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') throw error
    return undefined
  }
}

/** Without archiving, the WAL has a gap: what comes later is another line. */
export const endArchiving = (dataDir: string): void => rmSync(archivingFile(dataDir), { force: true })

const newLine = () => randomBytes(8).toString('hex')

function noteArchiving({ dataDir, backup, blobUrl }: WithBackup, line: string): void {
  const { url, days } = backup
  const noted: Archiving = { line, url, days, blobUrl }
  writeFileSync(archivingFile(dataDir), `${JSON.stringify(noted)}\n`, { mode: 0o600, flush: true })
}

const spoolOf = (dataDir: string) => join(dataDir, 'wal-archive')

/** The settings of a PostgreSQL that archives. Prepares its spool. */
export async function archiveSettings({ dataDir }: Pick<Config, 'dataDir'>): Promise<Record<string, string>> {
  await mkdir(spoolOf(dataDir), { recursive: true, mode: 0o700 })
  return {
    wal_level: 'replica',
    archive_mode: 'on',
    archive_library: 'basic_archive',
    'basic_archive.archive_directory': spoolOf(dataDir),
  }
}

/** Opens backups of the data directory, by its settings. */
export async function openBackups(config: WithBackup, hold: Hold, log: InfoLog): Promise<Backups> {
  const { dataDir, backup } = config
  const place = await openPlace(backup.url, dataDir)
  const blobs = await openBesideServer(config)
  const known = archivingOf(dataDir)
  const line = known?.url === backup.url ? known.line : newLine()
  noteArchiving(config, line)
  return new Backups({ config, place, blobs, line, hold, log })
}

type Parts = {
  config: WithBackup
  place: Place
  blobs: BlobStore
  line: string
  hold: Hold
  log: InfoLog
}

export class Backups {
  readonly #parts: Parts
  #line: string
  #archive: WalArchive | undefined
  #lastAt: Date | undefined
  #newest: string | undefined
  #readAt = Number.NEGATIVE_INFINITY
  #retryAt = 0
  #failures = 0
  /** Why the last backup failed. */
  #cause: string | undefined
  readonly #stored = new Set<string>()
  readonly #stop = new AbortController()
  #turning: Promise<void> | undefined
  #making: Promise<void> | undefined
  #copying: Promise<unknown> | undefined
  #timer: NodeJS.Timeout | undefined
  #connection: Connection | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    this.#line = parts.line
  }

  status(): Pick<BackupHealth, 'state' | 'last_at' | 'wal_to'> {
    return {
      state: this.#parts.hold.isHeld() ? 'held' : (this.#archive?.state ?? 'ok'),
      last_at: this.#lastAt?.toISOString() ?? null,
      // WAL without a backup restores nothing.
      wal_to: (this.#lastAt && this.#archive?.until?.toISOString()) ?? null,
    }
  }

  /** For the diagnostics. */
  async health(): Promise<BackupHealth> {
    const { place, config } = this.#parts
    const { directory } = place
    return {
      ...this.status(),
      cause: this.#archive?.cause ?? this.#cause,
      everyHours: config.backup.hours,
      // A place that is not there yet, or no more, is a failure of the archive, which has the words.
      room: directory === undefined ? undefined : await diskOf(directory).catch(() => undefined),
      isOnDiskOfData: await isOnDiskOf(place, config.dataDir).catch(() => false),
    }
  }

  failures(): number {
    return this.#failures + (this.#archive?.failures ?? 0)
  }

  /** A content was stored: it is copied soon, as the WAL that refers to it is. */
  stored(sha256: string): void {
    this.#stored.add(sha256)
  }

  /** Begins to archive what a database writes. */
  start(url: string): void {
    const { config, place, log } = this.#parts
    this.#connection = connect(url)
    const { query } = this.#connection
    const archive = new WalArchive(this.#line, { query, place, spool: spoolOf(config.dataDir), log })
    this.#archive = archive
    const turn = () => {
      this.#turning ??= this.#turn(archive, url)
        .catch((err: unknown) =>
          log.warn({ cause: wordsOf(err) }, 'backups did not go on; they are tried again'),
        )
        .finally(() => {
          this.#turning = undefined
        })
    }
    this.#timer = setInterval(turn, LIMITS.backupTickMs).unref()
    turn()
  }

  async #turn(archive: WalArchive, url: string): Promise<void> {
    const { hold, config } = this.#parts
    // The copy has a line of its own, which begins when it is released.
    if (hold.isHeld()) return dropArchived(spoolOf(config.dataDir))
    await archive.tick(async () => {
      await this.#copyStored()
      if (performance.now() - this.#readAt >= LIMITS.archiveMs) await this.#readLast()
    })
    if (archive.state === 'stopped' && (await archive.hasRoom())) {
      this.#line = newLine()
      noteArchiving(config, this.#line)
      await archive.begin(this.#line)
      await this.#readLast()
    }
    if (archive.state !== 'ok' || this.#making || !this.#isDue()) return
    this.#making = this.#make(url).finally(() => {
      this.#making = undefined
    })
  }

  #isDue(): boolean {
    const age = this.#lastAt ? Date.now() - this.#lastAt.getTime() : Number.POSITIVE_INFINITY
    // Far ahead: the clock was wrong when it was made.
    return Math.abs(age) >= this.#parts.config.backup.hours * HOUR_MS && performance.now() >= this.#retryAt
  }

  /** Reads which backup of the line is the newest. The command makes some too. */
  async #readLast(): Promise<void> {
    const { place } = this.#parts
    const ids = await backupIds(place)
    const newest = `${this.#line} ${ids.at(-1)}`
    if (newest !== this.#newest) {
      const { complete } = await findBackups(place)
      const ofLine = complete.filter(({ line }) => line === this.#line)
      const last = ofLine.toSorted((a, b) => (a.start_segment < b.start_segment ? -1 : 1)).at(-1)
      this.#lastAt = last && new Date(last.finished_at)
      if (last?.id === ids.at(-1)) this.#newest = newest
    }
    this.#readAt = performance.now()
  }

  async #make(url: string): Promise<void> {
    const { place, blobs, config, log } = this.#parts
    const pgdata = join(config.dataDir, 'postgres')
    const begun = performance.now()
    try {
      const source = { url, pgdata, blobs, line: this.#line, days: config.backup.days }
      const { id, bytes } = await makeBackup(place, source, log, this.#stop.signal)
      await this.#readLast()
      this.#cause = undefined
      log.info({ id, bytes, ms: Math.round(performance.now() - begun) }, 'a backup was made')
    } catch (err) {
      if (this.#stop.signal.aborted) return
      this.#failures++
      this.#retryAt = performance.now() + LIMITS.backupRetryMs
      this.#cause = wordsOf(err)
      log.warn({ cause: this.#cause }, 'a backup failed; it is tried again')
    }
  }

  /** Copies the contents that were stored since, and at first those of a former process. */
  async #copyStored(): Promise<void> {
    const { place, blobs, log } = this.#parts
    const to = await place.contents()
    if (!this.#stop.signal.aborted)
      this.#copying ??= copyContents(blobs, place, log, this.#stop.signal).catch((err: unknown) => {
        if (!this.#stop.signal.aborted)
          log.warn({ cause: wordsOf(err) }, 'contents were not copied; the next backup copies them')
      })
    for (const sha256 of this.#stored) {
      // A content that is gone by now was referred to by nothing.
      if (await blobs.has(sha256)) await copyContent(blobs, to, sha256, log)
      this.#stored.delete(sha256)
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#stop.abort()
    await this.#making
    await this.#copying
    await this.#turning
    await this.#connection?.close()
  }

  /** Moves what PostgreSQL has archived as it stopped. */
  async finish(): Promise<void> {
    if (this.#parts.hold.isHeld()) return
    await this.#archive
      ?.finish(() => this.#copyStored())
      .catch((err: unknown) => {
        this.#parts.log.warn({ cause: wordsOf(err) }, 'the last WAL was not moved; the next start does it')
      })
  }
}

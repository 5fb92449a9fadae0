/**
 * Moves archived WAL to the place of backups. PostgreSQL copies each full segment into a spool (`basic_archive`, which needs no
 * shell); from there it is compressed and moved. A segment that is not full is ended once a minute, if something was written.
 */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { freePartOf } from '../engine/storage/blobs/blob-store.ts'
import { LIMITS } from '../foundation/limits.ts'
import { type InfoLog, wordsOf } from '../foundation/log.ts'
import type { Query } from './connection.ts'
import { packFile } from './packed.ts'
import type { Place } from './place.ts'
import { ARCHIVED, lastSegment, storedName, writeUntil } from './wal.ts'

/** `stopped`: the disk was filling up, so archived WAL is dropped; the next backup begins a new line. */
export type ArchiveState = 'ok' | 'failing' | 'stopped'

/** What was true at a moment. All that was acknowledged before `at` is in WAL up to `segment`. */
type Sample = { at: Date; segment: string; xmax: string; isQuiet: boolean; failed: number }

// The clock before the place in the WAL: what is committed before the moment is before the place.
const SAMPLE = `SELECT clock_timestamp() AS at, pg_walfile_name(pg_current_wal_insert_lsn()) AS segment,
    pg_snapshot_xmax(s)::text AS xmax, pg_snapshot_xmin(s) = pg_snapshot_xmax(s) AS "isQuiet",
    (SELECT failed_count::int FROM pg_stat_archiver) AS failed
  FROM pg_current_snapshot() AS s`

type From = { query: Query; place: Place; spool: string; log: InfoLog }

export class WalArchive {
  #state: ArchiveState = 'ok'
  /** All that was acknowledged before this moment is in the place. */
  #until: Date | undefined
  /** Failures to move, and of PostgreSQL to archive. */
  #failures = 0
  #failed = 0
  /** Why the last try failed. */
  #cause: string | undefined
  #isOpen = false
  #moved: string | undefined
  /** The newest moment in each segment that is not in the place. */
  readonly #samples = new Map<string, Sample>()
  /** The newest moment in the place, while no transaction has begun since. */
  #covered: Sample | undefined
  #switchedAt = 0
  readonly #from: From
  #line: string

  constructor(line: string, from: From) {
    this.#line = line
    this.#from = from
  }

  get state(): ArchiveState {
    return this.#state
  }
  get until(): Date | undefined {
    return this.#until
  }
  get cause(): string | undefined {
    return this.#cause
  }
  get failures(): number {
    return this.#failures + this.#failed
  }

  /** Begins a line: what is in the spool does not continue the one before. */
  async begin(line: string): Promise<void> {
    await dropArchived(this.#from.spool)
    this.#line = line
    this.#moved = undefined
    this.#until = undefined
    this.#samples.clear()
    this.#covered = undefined
    this.#state = 'ok'
  }

  /**
   * Moves what is archived. Never fails: it is tried again.
   * @param before what the place must have before the WAL of this moment
   */
  async tick(before: () => Promise<void>): Promise<void> {
    const { query, log } = this.#from
    try {
      const [sample] = await query<Sample>(SAMPLE)
      if (!sample) return
      this.#failed = sample.failed
      this.#samples.set(sample.segment, sample)
      await this.#open()
      await before()
      await this.#move()
      if (this.#state === 'stopped') return
      await this.#advance(sample)
      await this.#endSegment(sample)
      if (this.#state === 'failing') log.info({}, 'WAL is archived again')
      this.#state = 'ok'
      this.#cause = undefined
    } catch (err) {
      this.#failures++
      this.#cause = wordsOf(err)
      if (this.#state === 'ok') {
        log.warn({ cause: this.#cause }, 'WAL could not be archived; it is kept and tried again')
        this.#state = 'failing'
      }
    }
    await this.#watchDisk()
  }

  /** Moves what a server that has stopped has left. */
  async finish(before: () => Promise<void>): Promise<void> {
    if (this.#state !== 'ok' || !this.#isOpen) return
    await before()
    await this.#move()
  }

  /** Reads what the place has, once. */
  async #open(): Promise<void> {
    if (this.#isOpen) return
    this.#moved = await lastSegment(this.#from.place, this.#line)
    this.#isOpen = true
  }

  async #move(): Promise<void> {
    const { spool, place } = this.#from
    for (const file of (await readdir(spool)).filter((name) => ARCHIVED.test(name)).sort()) {
      const isHistory = file.endsWith('.history')
      // PostgreSQL archives a segment again after a crash between its copy and its note of that.
      const isNew = this.#moved === undefined || file > this.#moved
      if (isNew || isHistory) await packFile(place, storedName(this.#line, file), join(spool, file))
      if (isNew && !isHistory) this.#moved = file
      await rm(join(spool, file))
    }
    for (const file of await readdir(spool)) if (file.endsWith('.backup')) await rm(join(spool, file))
  }

  /** Notes up to which moment the place has everything. */
  async #advance(now: Sample): Promise<void> {
    for (const [segment, sample] of this.#samples)
      if (this.#moved !== undefined && segment <= this.#moved) {
        this.#samples.delete(segment)
        // By their place and not by their time: a clock can be set back.
        if (!this.#covered || segment >= this.#covered.segment) this.#covered = sample
      }
    if (!this.#covered) return
    // Without a new transaction there is nothing to miss.
    const isIdle = this.#covered.isQuiet && now.isQuiet && now.xmax === this.#covered.xmax
    if (isIdle) this.#covered = now
    const { at } = this.#covered
    const passed = at.getTime() - (this.#until?.getTime() ?? 0)
    if (passed === 0 || (isIdle && Math.abs(passed) < LIMITS.archiveMs)) return
    await writeUntil(this.#from.place, this.#line, { at: at.toISOString(), segment: this.#moved ?? '' })
    this.#until = at
  }

  async #endSegment(now: Sample): Promise<void> {
    const passed = now.at.getTime() - Math.max(this.#switchedAt, this.#until?.getTime() ?? 0)
    const isEarly = passed >= 0 && passed < LIMITS.archiveMs - LIMITS.backupTickMs
    if (this.#moved === undefined || isEarly) return
    this.#switchedAt = now.at.getTime()
    await this.#from.query('SELECT pg_switch_wal()')
  }

  /** A failing archive must not fill the disk of the data, and neither must one that is on it. */
  async #watchDisk(): Promise<void> {
    const { spool, place, log } = this.#from
    if (this.#state === 'stopped') return dropArchived(spool)
    const free = await freePartOf(spool)
    if (free >= LIMITS.archiveFree.stop) return
    if (this.#state === 'ok' && !(await isOnDiskOf(place, spool))) return
    this.#state = 'stopped'
    log.warn(
      { free: Number(free.toFixed(3)) },
      'the disk of the data is nearly full, so WAL is archived no more: moments from now on cannot be restored until the next backup',
    )
    await dropArchived(spool)
  }

  /** Whether a stopped archive may begin again. */
  async hasRoom(): Promise<boolean> {
    return (await freePartOf(this.#from.spool)) >= LIMITS.archiveFree.start
  }
}

/** Removes what PostgreSQL has archived, but for what it writes now. */
export async function dropArchived(spool: string): Promise<void> {
  for (const name of await readdir(spool)) if (!name.startsWith('archtemp')) await rm(join(spool, name))
}

export async function isOnDiskOf({ directory }: Place, spool: string): Promise<boolean> {
  if (directory === undefined) return false
  return (await stat(directory)).dev === (await stat(spool)).dev
}

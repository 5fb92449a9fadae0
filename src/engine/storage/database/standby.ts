/** Reads on a standby: those that may lag, of tokens whose own writes are there, and never at the cost of a request. */
import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { DomainError } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { InfoLog } from '../../../foundation/log.ts'
import type { CappedRows, RowCap } from './capped-query.ts'
import type { Closed, Db, Statement } from './client.ts'
import { DEADLOCK, isAway, isCancelled, SERIALIZATION_FAILURE, sqlState } from './errors.ts'
import { type FenceState, openFence } from './fence.ts'
import type { Database } from './pool.ts'
import { WrappedDb } from './wrapped-db.ts'

/** How recent the reads of a token must be. */
export class Freshness {
  /** The end of its last write, or when it was last told of a change. What is older may be read elsewhere. */
  since = performance.now()
  #writes = 0

  /** The token knows the present state. */
  note(): void {
    this.since = performance.now()
  }
  get isWriting(): boolean {
    return this.#writes > 0
  }
  /** Its reads meanwhile, which may be for the write, see the present state; those afterwards see the write. */
  async whileWriting<T>(work: () => Promise<T>): Promise<T> {
    this.#writes++
    try {
      return await work()
    } finally {
      this.#writes--
      this.note()
    }
  }
}

/** A read failed for a reason of the standby alone. */
export class NotThere extends Error {}

type Fallback = 'fresh' | 'behind' | 'conflict' | 'failed'

/** What is shown of a standby. */
export type StandbyHealth = {
  readonly state: FenceState
  readonly lagSeconds: number | undefined
  readonly reads: number
  /** Reads on the primary that the standby could have had, by the reason. */
  readonly fallbacks: Readonly<Record<Fallback, number>>
}

export type Standby = {
  readonly replica: Database
  /** Reads there, or here if it is not recent enough, or fails. */
  read<T>(freshness: Freshness, there: () => Promise<T>, here: () => Promise<T>): Promise<T>
  /** Calls `cut` if the standby does not answer any more. Returns a function to unlisten. */
  onLost(cut: () => void): () => void
  health(): StandbyHealth
  close(): Promise<void>
}

/** @param schemaAt when the newest configuration that caches hold was read: its indexes and types must be there, too */
export function openStandby(
  primary: Database,
  replica: Database,
  log: InfoLog,
  schemaAt: () => number,
): Standby {
  const cuts = new Set<() => void>()
  const urls = { primary: primary.connectionString, standby: replica.connectionString }
  const fence = openFence(urls, log, () => {
    for (const cut of [...cuts]) cut()
  })
  let reads = 0
  const fallbacks = { fresh: 0, behind: 0, conflict: 0, failed: 0 }
  const onLost = (cut: () => void) => {
    cuts.add(cut)
    return () => void cuts.delete(cut)
  }
  /** Why the read cannot be there. */
  const obstacle = ({ since, isWriting }: Freshness): Fallback | undefined => {
    fence.wanted()
    const passed = fence.passed()
    if (passed === undefined) return 'behind'
    return isWriting || since >= passed || schemaAt() >= passed ? 'fresh' : undefined
  }
  return {
    replica,
    onLost,
    async read(freshness, there, here) {
      let why = obstacle(freshness)
      if (why === undefined) {
        const { promise: lost, reject } = Promise.withResolvers<never>()
        const unlisten = onLost(() => reject(new NotThere('The standby does not answer')))
        try {
          const found = await Promise.race([there(), lost])
          reads++
          return found
        } catch (thrown) {
          why = faultOf(thrown)
          if (why === undefined) throw thrown
          if (isAway(thrown)) fence.suspend()
        } finally {
          unlisten()
        }
      }
      fallbacks[why]++
      return here()
    },
    health: () => ({ state: fence.state(), lagSeconds: fence.lagSeconds(), reads, fallbacks }),
    close: async () => {
      await fence.close()
      // One that hangs does not hold up the end of the process.
      await Promise.race([replica.close(), sleep(LIMITS.silenceMs, undefined, { ref: false })])
    },
  }
}

/** PostgreSQL gives the end of a statement that replay has to wait for several codes. */
const CONFLICTS = new Set<string | undefined>([SERIALIZATION_FAILURE, DEADLOCK])
const CONFLICT_WORDS = /conflict with recovery/
/** A right or a relation that is not there, or not there yet. The primary knows. */
const MISSING = new Set<string | undefined>(['42501', '42P01', '3F000'])

/** The fault of the standby that an error is; undefined for one that the primary would give, too. */
function faultOf(thrown: unknown): Fallback | undefined {
  const cause = thrown instanceof DomainError ? thrown.cause : thrown
  if (CONFLICTS.has(sqlState(cause)) || (cause instanceof Error && CONFLICT_WORDS.test(cause.message)))
    return 'conflict'
  // What the primary would say, too, it says again.
  const isOwn =
    thrown instanceof DomainError ? thrown.isUpstream || thrown.code === 'RATE_LIMITED' : !isCancelled(thrown)
  return isOwn || MISSING.has(sqlState(cause)) ? 'failed' : undefined
}

/** The database for one token, and how recent its reads must be. */
type TokenDb = { readonly db: Db; readonly freshness?: Freshness }

/** The database for tokens, whose reads may be on the standby if there is one. */
export function openTokenDbs(database: Database, standby: Standby | undefined): (tokenId: string) => TokenDb {
  if (!standby) return (tokenId) => ({ db: database.of(tokenId) })
  const known = new LRUCache<string, TokenDb>({ max: LIMITS.tokenClients })
  return (tokenId) => {
    const found = known.get(tokenId)
    if (found) return found
    const freshness = new Freshness()
    const there = standby.replica.of(tokenId)
    const db = new LaggingReads(database.of(tokenId), there, standby, freshness)
    const made = { db, freshness }
    known.set(tokenId, made)
    return made
  }
}

/** Sends the statements that may lag to the standby. */
class LaggingReads extends WrappedDb {
  readonly #there: Db
  readonly #standby: Standby
  readonly #freshness: Freshness

  constructor(here: Db, there: Db, standby: Standby, freshness: Freshness) {
    super(here)
    this.#there = there
    this.#standby = standby
    this.#freshness = freshness
  }
  override query<Row>(statement: Statement, values: readonly unknown[], closed?: Closed): Promise<Row[]> {
    const here = () => this.inner.query<Row>(statement, values, closed)
    if (!statement.mayLag) return here()
    return this.#standby.read(this.#freshness, () => this.#there.query<Row>(statement, values, closed), here)
  }
  override queryCapped<Row>(
    statement: Statement,
    values: readonly unknown[],
    cap: RowCap,
    closed?: Closed,
  ): Promise<CappedRows<Row>> {
    if (!statement.mayLag) return this.inner.queryCapped<Row>(statement, values, cap, closed)
    const tries = new RetriedCap(cap)
    const read = (db: Db) => db.queryCapped<Row>(statement, values, tries.next(), closed)
    return this.#standby.read(
      this.#freshness,
      () => read(this.#there),
      () => read(this.inner),
    )
  }
}

/** The cap of a read that is tried again: what the first try took of it is not taken twice. */
class RetriedCap {
  readonly #cap: RowCap
  #taken = 0
  #tries = 0

  constructor(cap: RowCap) {
    this.#cap = cap
  }
  next(): RowCap {
    const own = ++this.#tries
    let credit = this.#taken
    return {
      take: (bytes) => {
        // A try that was given up ends.
        if (own < this.#tries) return false
        const owed = Math.max(0, bytes - credit)
        credit -= bytes - owed
        if (owed > 0 && !this.#cap.take(owed)) return false
        this.#taken += owed
        return true
      },
    }
  }
}

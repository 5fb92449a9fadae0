import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { LIMITS } from '../../foundation/limits.ts'
import type { Log } from '../../foundation/log.ts'
import type { TokenSession } from '../storage/access/token-session.ts'
import type { Db } from '../storage/database/client.ts'
import { announce, openCacheNotices, type Topic } from './cache-notices.ts'

/** In-process caches with invalidation by LISTEN/NOTIFY. Every entry may be dropped at any time. */
export type Caches = {
  /** Existing bases. A new base needs no invalidation: a miss reads the database. */
  readonly bases: LRUCache<string, true>
  readonly sessions: LRUCache<string, TokenSession>
  /** Lets a cache of compiled configuration (`compiled-cache.ts`) take part in invalidation. */
  join(cache: Invalidated): void
  /** Invalidates a topic in this process. */
  forget(topic: Topic): void
  /**
   * Calls `listener` with each topic that any process invalidates, or with null when notifications may have
   * been missed.
   */
  onAnnounced(listener: (topic: string | null) => void): () => void
  /** Invalidation counter: a read that started before an increment may be stale. */
  readonly forgotten: () => number
  /** When the newest entry was read, or one was dropped last (`performance.now`): a standby must be as recent. */
  readonly newest: { at: number }
  /** True while notifications of other processes arrive. Otherwise, reads bypass the caches. */
  readonly live: () => boolean
  close(): Promise<void>
}

/** The caches for a transaction that changes configuration: they do not have what it has changed. */
export const bypassed = (caches: Caches): Caches => ({ ...caches, live: () => false })

/** A cache that this module invalidates. */
type Invalidated = {
  /** @param kind of the resource that changed, or `base` for all of a base */
  forget(kind: string, key: string): void
  clear(): void
}

/** Opens the caches and listens for invalidations of other processes. */
export async function openCaches(connectionString: string, log: Log): Promise<Caches> {
  const bases = new LRUCache<string, true>({ max: 10_000 })
  const compiled: Invalidated[] = []
  const sessions = new LRUCache<string, TokenSession>({ max: 10_000, ttl: LIMITS.tokenCacheMs })
  const listeners = new Set<(topic: string | null) => void>()
  let live = false
  let forgotten = 0
  const newest = { at: performance.now() }

  const forget = (topic: string) => {
    forgotten++
    newest.at = performance.now()
    const [kind = '', key = ''] = topic.split(/:(.*)/s)
    if (kind === 'token') sessions.delete(key)
    if (kind === 'base') {
      bases.delete(key)
      sessions.clear()
    }
    for (const cache of compiled) cache.forget(kind, key)
  }
  const invalidate = (topic: string | null) => {
    for (const listener of [...listeners]) listener(topic)
  }
  const notices = await openCacheNotices(connectionString, log, {
    connected() {
      live = true
      invalidate(null)
    },
    lost() {
      live = false
      forgotten++
      bases.clear()
      sessions.clear()
      for (const cache of compiled) cache.clear()
    },
    received(topic) {
      forget(topic)
      invalidate(topic)
    },
  })
  return {
    bases,
    sessions,
    join: (cache) => void compiled.push(cache),
    forget,
    onAnnounced: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    forgotten: () => forgotten,
    newest,
    live: () => live,
    close: notices.close,
  }
}

/**
 * Checks at the start that a notification of one connection reaches another one. Without, caches would be stale, and
 * streams and triggers late.
 * @throws an Error that ends the start
 */
export async function requireNotices(db: Db, caches: Caches): Promise<void> {
  const topic = `token:${randomUUID()}` as const
  let stop = () => {}
  const heard = new Promise<boolean>((resolve) => {
    const unlisten = caches.onAnnounced((each) => each === topic && resolve(true))
    const late = setTimeout(resolve, LIMITS.noticesProbeMs, false)
    stop = () => {
      unlisten()
      clearTimeout(late)
    }
  })
  try {
    await announce(db, topic)
    if (!(await heard)) throw new Error(NO_NOTICES)
  } finally {
    stop()
  }
}

const NO_NOTICES =
  'DATABASE_URL: notifications do not arrive. Connect to PostgreSQL directly, or to a pool in session mode.'

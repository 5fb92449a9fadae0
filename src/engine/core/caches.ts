import { LRUCache } from 'lru-cache'
import { LIMITS } from '../../foundation/limits.ts'
import type { TokenSession } from '../access/session.ts'
import type { CompiledEndpoint } from '../compiled-types/compiled-endpoint.ts'
import type { CompiledRelationshipType } from '../compiled-types/compiled-relationship-type.ts'
import type { CompiledType } from '../compiled-types/compiled-type.ts'
import { type Log, openCacheNotices, type Topic } from './cache-notices.ts'

/** In-process caches with invalidation by LISTEN/NOTIFY. Every entry may be dropped at any time. */
export type Caches = {
  /** Existing bases. A new base needs no invalidation: a miss reads the database. */
  readonly bases: LRUCache<string, true>
  readonly types: LRUCache<string, CompiledType>
  /** All relationship types of a base, by id. */
  readonly relationshipTypes: LRUCache<string, ReadonlyMap<string, CompiledRelationshipType>>
  /** All endpoints of a base, by id. */
  readonly endpoints: LRUCache<string, ReadonlyMap<string, CompiledEndpoint>>
  readonly sessions: LRUCache<string, TokenSession>
  /** Invalidates a topic in this process. */
  forget(topic: Topic): void
  /**
   * Calls `listener` with each topic that any process invalidates, or with null when notifications may have
   * been missed.
   */
  onAnnounced(listener: (topic: string | null) => void): () => void
  /** Invalidation counter: a read that started before an increment may be stale. */
  readonly forgotten: () => number
  /** True while notifications of other processes arrive. Otherwise, reads bypass the caches. */
  readonly live: () => boolean
  close(): Promise<void>
}

/** Opens the caches and listens for invalidations of other processes. */
export async function openCaches(connectionString: string, log: Log): Promise<Caches> {
  const bases = new LRUCache<string, true>({ max: 10_000 })
  const types = new LRUCache<string, CompiledType>({ max: 2000 })
  const relationshipTypes: Caches['relationshipTypes'] = new LRUCache({ max: 1000 })
  const endpoints: Caches['endpoints'] = new LRUCache({ max: 1000 })
  const sessions = new LRUCache<string, TokenSession>({ max: 10_000, ttl: LIMITS.tokenCacheMs })
  const listeners = new Set<(topic: string | null) => void>()
  let live = false
  let forgotten = 0

  const forget = (topic: string) => {
    forgotten++
    const [kind, key = ''] = topic.split(/:(.*)/s)
    if (kind === 'token') sessions.delete(key)
    if (kind === 'type') types.delete(key)
    if (kind === 'base') bases.delete(key)
    if (kind === 'relationships' || kind === 'base') relationshipTypes.delete(key)
    if (kind === 'endpoints' || kind === 'base') endpoints.delete(key)
    // Endpoints name their tools after the types of the base.
    if (kind === 'type') endpoints.delete(key.split('/', 1)[0] ?? key)
    if (kind === 'base')
      for (const known of types.keys()) if (known.startsWith(`${key}/`)) types.delete(known)
    if (kind === 'base') sessions.clear()
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
      types.clear()
      relationshipTypes.clear()
      endpoints.clear()
      sessions.clear()
    },
    received(topic) {
      forget(topic)
      invalidate(topic)
    },
  })
  return {
    bases,
    types,
    relationshipTypes,
    endpoints,
    sessions,
    forget,
    onAnnounced: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    forgotten: () => forgotten,
    live: () => live,
    close: notices.close,
  }
}

import { LRUCache } from 'lru-cache'
import pg from 'pg'
import { LIMITS } from '../../foundation/limits.ts'
import type { TokenSession } from '../access/session.ts'
import type { CompiledEndpoint } from '../compiled-types/compiled-endpoint.ts'
import type { CompiledRelationshipType } from '../compiled-types/compiled-relationship-type.ts'
import type { CompiledType } from '../compiled-types/compiled-type.ts'
import type { Db } from '../database/client.ts'
import { statement } from '../database/client.ts'
import { answered, beat } from '../database/deadline.ts'

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

/** `type:<base>/<id>`, `relationships:<base>`, `endpoints:<base>`, `base:<id>` or `token:<hash>`. */
export type Topic = `${'type' | 'relationships' | 'endpoints' | 'base' | 'token'}:${string}`

const CHANNEL = 'plinth_caches'
const ANNOUNCE = statement('announce', `SELECT pg_notify('${CHANNEL}', $1)::text`)
const RECONNECT_MS = 250

/** Invalidates a topic in all processes at commit (NOTIFY). */
export async function announce(db: Db, topic: Topic): Promise<void> {
  await db.query(ANNOUNCE, [topic])
}

type Log = { warn(fields: object, message: string): void }

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
  let closing = false
  let client: pg.Client | undefined

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
  const listen = async (): Promise<void> => {
    const next = new pg.Client({
      connectionString,
      application_name: 'plinth-notices',
      connectionTimeoutMillis: LIMITS.connectionWaitMs,
      keepAlive: true,
    })
    let ended = false
    let beating: NodeJS.Timeout | undefined
    const lost = () => {
      if (ended) return
      ended = true
      clearInterval(beating)
      live = false
      forgotten++
      bases.clear()
      types.clear()
      relationshipTypes.clear()
      endpoints.clear()
      sessions.clear()
      next.end().catch(() => {})
      if (!closing) setTimeout(() => listen().catch(() => {}), RECONNECT_MS).unref()
    }
    next.on('error', (error) => {
      if (!closing)
        log.warn({ err: error }, 'the notice connection was lost; caches are bypassed until it is back')
      lost()
    })
    next.on('end', lost)
    next.on('notification', ({ payload }) => {
      if (!payload) return
      forget(payload)
      invalidate(payload)
    })
    try {
      await next.connect()
      await answered(next, LIMITS.heartbeatMs, next.query(`LISTEN ${CHANNEL}`))
    } catch (error) {
      lost()
      throw error
    }
    client = next
    beating = setInterval(() => beat(next, LIMITS.heartbeatMs - 1), LIMITS.heartbeatMs).unref()
    live = true
    invalidate(null)
  }
  await listen()
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
    close: async () => {
      closing = true
      if (client) await answered(client, LIMITS.silenceMs, client.end())
    },
  }
}

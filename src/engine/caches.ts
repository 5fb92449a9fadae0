import { LRUCache } from 'lru-cache'
import pg from 'pg'
import { LIMITS } from '../limits.ts'
import type { CompiledType } from './compiled-type.ts'
import type { Db } from './db.ts'
import { statement } from './db.ts'
import type { Session } from './session.ts'

/** What a process remembers between requests. Nothing here is truth: all of it may be dropped at any moment. */
export type Caches = {
  readonly types: LRUCache<string, CompiledType>
  readonly sessions: LRUCache<string, Session>
  /** Forgets a topic here at once. */
  forget(topic: Topic): void
  /** Counts what was forgotten: what was read before it rose may be old already. */
  readonly forgotten: () => number
  /** True while notices of other processes reach this one; reads bypass the caches when they do not. */
  readonly live: () => boolean
  close(): Promise<void>
}

/** `type:<base>/<id>`, `base:<id>` or `token:<hash>`. */
export type Topic = `type:${string}` | `base:${string}` | `token:${string}`

const CHANNEL = 'plinth_caches'
const ANNOUNCE = statement('announce', `SELECT pg_notify('${CHANNEL}', $1)::text`)
const RECONNECT_MS = 250

/** Tells every process, at commit, to forget a topic. */
export async function announce(db: Db, topic: Topic): Promise<void> {
  await db.query(ANNOUNCE, [topic])
}

type Log = { warn(fields: object, message: string): void }

/** Opens the caches and listens for what other processes changed. */
export async function openCaches(connectionString: string, log: Log): Promise<Caches> {
  const types = new LRUCache<string, CompiledType>({ max: 2000 })
  const sessions = new LRUCache<string, Session>({ max: 10_000, ttl: LIMITS.tokenCacheMs })
  let live = false
  let forgotten = 0
  let closing = false
  let client: pg.Client | undefined

  const forget = (topic: string) => {
    forgotten++
    const [kind, key = ''] = topic.split(/:(.*)/s)
    if (kind === 'token') sessions.delete(key)
    if (kind === 'type') types.delete(key)
    if (kind === 'base')
      for (const known of types.keys()) if (known.startsWith(`${key}/`)) types.delete(known)
    if (kind === 'base') sessions.clear()
  }
  const listen = async (): Promise<void> => {
    const next = new pg.Client({ connectionString, application_name: 'plinth-notices' })
    let ended = false
    const lost = () => {
      if (ended) return
      ended = true
      live = false
      forgotten++
      types.clear()
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
    next.on('notification', ({ payload }) => payload && forget(payload))
    try {
      await next.connect()
      await next.query(`LISTEN ${CHANNEL}`)
    } catch (error) {
      lost()
      throw error
    }
    client = next
    live = true
  }
  await listen()
  return {
    types,
    sessions,
    forget,
    forgotten: () => forgotten,
    live: () => live,
    close: async () => {
      closing = true
      await client?.end()
    },
  }
}

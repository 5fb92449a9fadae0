/** Invalidations between processes: NOTIFY at commit, and a LISTEN connection that reconnects. */
import pg from 'pg'
import { LIMITS } from '../../foundation/limits.ts'
import type { Log } from '../../foundation/log.ts'
import type { Kind } from '../log/entry.ts'
import { type Db, statement } from '../storage/database/client.ts'
import { answered, beat } from '../storage/database/deadline.ts'

/** What changed: `<kind>:<base>/<id>` for configuration, `base:<id>` or `token:<hash>`. */
export type Topic = `${Exclude<Kind, 'record' | 'relationship'> | 'base'}:${string}` | `token:${string}`

/** The topic of a token, by its stored hash. */
export const tokenTopic = (hash: Uint8Array) => `token:${Buffer.from(hash).toString('hex')}` as const

const CHANNEL = 'plinth_caches'
const ANNOUNCE = statement(
  'announce',
  `SELECT count(pg_notify('${CHANNEL}', t.topic)::text)::int AS count FROM unnest($1::text[]) AS t (topic)`,
)

/** Invalidates topics in all processes at commit (NOTIFY). */
export async function announce(db: Db, ...topics: readonly Topic[]): Promise<void> {
  await db.query(ANNOUNCE, [topics])
}

type Handlers = {
  /** Notifications arrive from now on. Earlier ones may have been missed. */
  connected(): void
  /** Notifications may be missed from now on. */
  lost(): void
  received(topic: string): void
}

/** Listens for topics that any process invalidates. Reconnects until it is closed. */
export async function openCacheNotices(
  connectionString: string,
  log: Log,
  on: Handlers,
): Promise<{ close(): Promise<void> }> {
  let closing = false
  let client: pg.Client | undefined
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
      on.lost()
      next.end().catch(() => {})
      if (!closing) setTimeout(() => listen().catch(() => {}), LIMITS.noticesReconnectMs).unref()
    }
    next.on('error', (error) => {
      if (!closing)
        log.warn({ err: error }, 'the notice connection was lost; caches are bypassed until it is back')
      lost()
    })
    next.on('end', lost)
    next.on('notification', ({ payload }) => {
      if (payload) on.received(payload)
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
    on.connected()
  }
  await listen()
  return {
    close: async () => {
      closing = true
      if (client) await answered(client, LIMITS.silenceMs, client.end())
    },
  }
}

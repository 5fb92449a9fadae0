import { LIMITS } from '../../foundation/limits.ts'
import { type Db, statement } from '../database/client.ts'
import { openWatermark } from './watermark.ts'

/** The change log as it grows, for whoever waits for it in this process. */
export type Feed = {
  /**
   * Calls `listener` each time the base's log has grown, told from a moment after the call on: look again. It may be
   * called once too often, never once too few. Answers how to end it.
   */
  watch(baseId: string, listener: () => void): () => void
  /** Up to where the log is settled now; where an open transaction holds that back too long, up to where it last was. */
  settled(): Promise<number>
  /** Up to where the log is known to be settled, without asking. */
  known(): number
  close(): void
}

type Log = { warn(fields: object, message: string): void }

// One probe of the log's key a base; nothing is read of the entries.
const GROWN = statement(
  'feed_grown',
  `SELECT b.id FROM unnest($1::text[]) AS b (id)
   WHERE EXISTS (SELECT FROM plinth.change c WHERE c.base_id = b.id AND c.seq > $2 AND c.seq <= $3)`,
)

/** Looks at the database only while somebody listens. */
export function openFeed(db: Db, log: Log): Feed {
  const watermark = openWatermark(db)
  const watched = new Map<string, Set<() => void>>()
  /** What lies beyond has not been told to the listeners. */
  let told = 0
  let closed = false
  let ticking = false
  let failing = false

  const look = async (): Promise<void> => {
    const mark = await watermark.next()
    if (mark === told) return
    const grown = await db.query<{ id: string }>(GROWN, [[...watched.keys()], told, mark])
    told = mark
    for (const { id } of grown) for (const listener of [...(watched.get(id) ?? [])]) listener()
  }
  const tick = async (): Promise<void> => {
    try {
      await look()
      failing = false
    } catch (err) {
      if (!failing && !closed) log.warn({ err }, 'the change feed could not be read; it is tried again')
      failing = true
    }
    if (closed || watched.size === 0) ticking = false
    else setTimeout(() => void tick(), failing ? LIMITS.feedRetryMs : LIMITS.feedTickMs).unref()
  }
  return {
    watch(baseId, listener) {
      const listeners = watched.get(baseId) ?? new Set()
      watched.set(baseId, listeners.add(listener))
      if (!ticking) {
        ticking = true
        void tick()
      }
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0 && watched.get(baseId) === listeners) watched.delete(baseId)
      }
    },
    known: () => watermark.current(),
    settled: () => within(watermark.next(), LIMITS.feedWaitMs, () => watermark.current()),
    close: () => {
      closed = true
      watermark.close()
    },
  }
}

/** What the promise brings, or, after `ms`, what is there without it. */
function within<T>(promise: Promise<T>, ms: number, otherwise: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => resolve(otherwise()), ms)
    promise.then(resolve, reject).finally(() => clearTimeout(late))
  })
}

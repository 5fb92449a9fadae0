import { LIMITS } from '../../foundation/limits.ts'
import type { Log } from '../../foundation/log.ts'
import { type Db, statement } from '../storage/database/client.ts'
import { openWatermark } from './watermark.ts'

/** Notifies listeners of this process when the change log grows. */
export type Feed = {
  /**
   * Calls `listener` after the base's log has grown. At-least-once: spurious calls are possible, missed ones
   * are not. Returns a function to unsubscribe.
   */
  watch(baseId: string, listener: () => void): () => void
  /**
   * Returns the current low watermark. Returns the previous one if an open transaction delays it too long.
   */
  settledSeq(): Promise<number>
  /** Returns the last known watermark without a query. */
  known(): number
  close(): void
}

// One index probe per base, without reading entries.
const GROWN = statement(
  'feed_grown',
  `SELECT b.id FROM unnest($1::text[]) AS b (id)
   WHERE EXISTS (SELECT FROM plinth.change c WHERE c.base_id = b.id AND c.seq > $2 AND c.seq <= $3)`,
)

/** Opens the feed. It polls the database only while there are listeners. */
export function openFeed(db: Db, log: Log): Feed {
  const watermark = openWatermark(db)
  const watched = new Map<string, Set<() => void>>()
  /** Sequence number up to which listeners were notified. */
  let notified = 0
  let closed = false
  let ticking = false
  let failing = false

  const poll = async (): Promise<void> => {
    const mark = await watermark.next()
    if (mark === notified) return
    const grown = await db.query<{ id: string }>(GROWN, [[...watched.keys()], notified, mark])
    notified = mark
    for (const { id } of grown) for (const listener of [...(watched.get(id) ?? [])]) listener()
  }
  const tick = async (): Promise<void> => {
    try {
      await poll()
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
    settledSeq: () => within(watermark.next(), LIMITS.feedWaitMs, () => watermark.current()),
    close: () => {
      closed = true
      watermark.close()
    },
  }
}

/** Resolves with the promise, or with a fallback after `ms`. */
function within<T>(promise: Promise<T>, ms: number, otherwise: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => resolve(otherwise()), ms)
    promise.then(resolve, reject).finally(() => clearTimeout(late))
  })
}

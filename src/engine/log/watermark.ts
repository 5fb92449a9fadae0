/** Low watermark of the change log: up to which entry all transactions have ended. */

import { setTimeout as sleep } from 'node:timers/promises'
import { LIMITS } from '../../foundation/limits.ts'
import { type Db, statement } from '../storage/database/client.ts'

/**
 * Low watermark: every entry up to it is committed, or never will be. A reader that reads up to it in order
 * misses nothing. Needed because sequence numbers are drawn before commit, and transactions commit in any
 * order.
 */
export type Watermark = {
  /** The latest watermark of this process; 0 before the first. */
  current(): number
  /**
   * Computes a watermark after the call, so that it covers everything committed before. Concurrent callers
   * share one.
   */
  next(): Promise<number>
  close(): void
}

// A plain SELECT of the sequence can return a value that is logged but not drawn yet.
const LAST_DRAWN = statement(
  'feed_last_drawn',
  `SELECT coalesce(pg_sequence_last_value('plinth.change_seq_seq'), 0)::float8 AS seq`,
)
// The transactional message makes the commit flush the WAL, so that a number that was read is not drawn again
// after a crash.
const DRAW_LINE = statement(
  'feed_draw_line',
  `SELECT pg_current_xact_id()::text AS xid, pg_logical_emit_message(true, 'plinth', '')::text`,
)
const IS_PASSED = statement(
  'feed_is_passed',
  'SELECT pg_snapshot_xmin(pg_current_snapshot()) > $1::xid8 AS passed',
)

/** Marks a transaction as an import: it writes to the log of a base that nobody sees until it commits, and may take long. */
const IMPORT = '1886547817, 1'
export const MARK_IMPORT = statement('mark_import', `SELECT pg_advisory_xact_lock_shared(${IMPORT})::text`)
/** Takes the mark alone, if no import runs. */
export const NO_IMPORT = statement('no_import', `SELECT pg_try_advisory_xact_lock(${IMPORT}) AS is_free`)

// Transactions that have written to the log and are still open. Each takes the advisory lock before it draws
// a number and releases it after the commit is visible. The lock includes the database, because transactions
// of other databases hold back the snapshot but do not write here.
const OPEN_WRITERS = statement(
  'feed_open_writers',
  `SELECT array_agg(DISTINCT virtualtransaction) AS writers FROM pg_locks
   WHERE locktype = 'relation' AND relation = 'plinth.change'::regclass AND mode = 'RowExclusiveLock'
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
     -- No reader of another base misses entries of an import, and its own base has no reader yet.
     AND virtualtransaction NOT IN (
       SELECT i.virtualtransaction FROM pg_locks i
       WHERE i.locktype = 'advisory' AND i.mode = 'ShareLock' AND i.granted AND (i.classid, i.objid, i.objsubid) = (${IMPORT}, 2)
         AND i.database = pg_locks.database)`,
)

/** Delays between checks for open transactions, in milliseconds; the last one repeats. */
const PAUSES = [0, 1, 2, 4, 8, 16, 32, 50]

export function openWatermark(db: Db): Watermark {
  let mark = 0
  let closed = false
  let running: Promise<number> | undefined
  let following: Promise<number> | undefined

  // Each step is a separate statement, so that its snapshot includes all earlier commits.
  const take = async (): Promise<number> => {
    const [last] = await db.query<{ seq: number }>(LAST_DRAWN, [])
    const drawn = last?.seq ?? 0
    // Any transaction with a number up to here has a transaction id below the next one.
    if (drawn > mark) await passed(drawn)
    return mark
  }
  const passed = async (drawn: number): Promise<void> => {
    const [line] = await db.query<{ xid: string }>(DRAW_LINE, [])
    let writers: readonly string[] | undefined
    for (let attempt = 0; !closed; attempt++) {
      const [seen] = await db.query<{ passed: boolean }>(IS_PASSED, [line?.xid])
      let isPassed = seen?.passed === true
      if (!isPassed && attempt >= LIMITS.snapshotAttempts) {
        const open = await openWriters()
        // Only writers of the first check can hold a number up to here. Later ones draw higher numbers.
        writers = writers ? writers.filter((writer) => open.has(writer)) : [...open]
        isPassed = writers.length === 0
      }
      if (isPassed) {
        mark = drawn
        return
      }
      await sleep(PAUSES[Math.min(attempt, PAUSES.length - 1)], undefined, { ref: false })
    }
  }
  const openWriters = async (): Promise<Set<string>> => {
    const [found] = await db.query<{ writers: string[] | null }>(OPEN_WRITERS, [])
    return new Set(found?.writers)
  }
  const start = (): Promise<number> => {
    const fresh = take().finally(() => {
      if (running === fresh) running = undefined
    })
    running = fresh
    return fresh
  }
  return {
    current: () => mark,
    next: () => {
      if (following) return following
      if (!running) return start()
      // The computation in progress may predate the caller's own write, so start another. The failure of the
      // first goes to its own callers.
      following = running
        .catch(() => {})
        .then(() => {
          following = undefined
          return start()
        })
      return following
    },
    close: () => {
      closed = true
    },
  }
}

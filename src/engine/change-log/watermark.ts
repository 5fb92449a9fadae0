/** Low watermark of the change log: up to which entry all transactions have ended. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Db, statement } from '../database/client.ts'

/**
 * How far the change log is settled: every entry up to the mark is committed or never will be, so whoever reads up to
 * it, in order, misses nothing. Numbers are drawn before their transactions commit, in whatever order these end.
 */
export type Watermark = {
  /** The newest mark known to this process; 0 before the first. */
  current(): number
  /** A mark that was taken after the call, and so is not below what is committed now. Those who wait share one. */
  next(): Promise<number>
  close(): void
}

// Not a plain SELECT of the sequence: that may see the number which is in it only while it is logged, one not yet drawn.
const LAST_DRAWN = statement(
  'feed_last_drawn',
  `SELECT coalesce(pg_sequence_last_value('plinth.change_seq_seq'), 0)::float8 AS seq`,
)
// The message makes its commit wait for the disk: a number that was read is then not given again after a crash.
const DRAW_LINE = statement(
  'feed_draw_line',
  `SELECT pg_current_xact_id()::text AS xid, pg_logical_emit_message(true, 'plinth', '')::text`,
)
const IS_PASSED = statement(
  'feed_is_passed',
  'SELECT pg_snapshot_xmin(pg_current_snapshot()) > $1::xid8 AS passed',
)

// Who wrote to the log and has not ended. The lock is taken before a number is drawn and released after the commit is
// visible. It names the database: another database's transaction ids hold back the snapshot, but not these.
const OPEN_WRITERS = statement(
  'feed_open_writers',
  `SELECT array_agg(DISTINCT virtualtransaction) AS writers FROM pg_locks
   WHERE locktype = 'relation' AND relation = 'plinth.change'::regclass AND mode = 'RowExclusiveLock'
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
)

/** Pauses between looks at transactions that are still open, in milliseconds; the last one repeats. */
const PAUSES = [0, 1, 2, 4, 8, 16, 32, 50]
/** How often only the snapshot is looked at: it is cheaper than the table of locks, and almost always enough. */
const SNAPSHOT_LOOKS = 3

export function openWatermark(db: Db): Watermark {
  let mark = 0
  let closed = false
  let running: Promise<number> | undefined
  let following: Promise<number> | undefined

  // Each step is a statement of its own, so that each sees what was committed before it.
  const take = async (): Promise<number> => {
    const [last] = await db.query<{ seq: number }>(LAST_DRAWN, [])
    const drawn = last?.seq ?? 0
    // Whatever got its number up to here also got its transaction id, which is below the one drawn next.
    if (drawn > mark) await passed(drawn)
    return mark
  }
  const passed = async (drawn: number): Promise<void> => {
    const [line] = await db.query<{ xid: string }>(DRAW_LINE, [])
    let writers: readonly string[] | undefined
    for (let look = 0; !closed; look++) {
      const [seen] = await db.query<{ passed: boolean }>(IS_PASSED, [line?.xid])
      let isPassed = seen?.passed === true
      if (!isPassed && look >= SNAPSHOT_LOOKS) {
        const open = await openWriters()
        // Those of the first look are all that can hold a number up to here; later ones drew theirs later.
        writers = writers ? writers.filter((writer) => open.has(writer)) : [...open]
        isPassed = writers.length === 0
      }
      if (isPassed) {
        mark = drawn
        return
      }
      await sleep(PAUSES[Math.min(look, PAUSES.length - 1)], undefined, { ref: false })
    }
  }
  const openWriters = async (): Promise<Set<string>> => {
    const [found] = await db.query<{ writers: string[] | null }>(OPEN_WRITERS, [])
    return new Set(found?.writers)
  }
  const start = (): Promise<number> => {
    const taken = take().finally(() => {
      if (running === taken) running = undefined
    })
    running = taken
    return taken
  }
  return {
    current: () => mark,
    next: () => {
      if (following) return following
      if (!running) return start()
      // The one under way may have looked before the caller's own write was there. Its failure is told to its own callers.
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

import { LIMITS } from '../../foundation/limits.ts'
import type { Log } from '../../foundation/log.ts'
import type { Db } from '../storage/database/client.ts'
import type { Change } from './entry.ts'
import type { Feed } from './feed.ts'
import { feedCap, readStretch } from './read.ts'

/** Shared tail of a base's log: each entry is read and diffed once, however many streams there are. */
export type Tail = {
  /**
   * The next entry after that number; null when there is none yet; undefined when it may have left the
   * buffer.
   */
  after(seq: number): Change | null | undefined
  /** Sequence number up to which the tail has read. */
  end(): number
  /** Resolves when there are new entries, or when the signal aborts. */
  more(signal: AbortSignal): Promise<void>
  leave(): void
}

type SharedTail = Tail & { streams: number }

/** Opens tails by reference count: a tail exists while it has subscribers. */
export function openTails(db: Db, feed: Feed, log: Log): (baseId: string) => Tail {
  const tails = new Map<string, SharedTail>()
  return (baseId) => {
    const tail = tails.get(baseId) ?? openTail(db, feed, log, baseId, () => tails.delete(baseId))
    tails.set(baseId, tail)
    tail.streams++
    return tail
  }
}

function openTail(db: Db, feed: Feed, log: Log, baseId: string, onEmpty: () => void): SharedTail {
  const waiting = new Set<() => void>()
  let kept: { change: Change; bytes: number }[] = []
  let bytes = 0
  let start = feed.known()
  let end = start
  let reading = false

  const keep = (changes: readonly Change[]) => {
    for (const change of changes) {
      const size = weigh(change)
      kept.push({ change, bytes: size })
      bytes += size
    }
    let gone = 0
    while (
      gone < kept.length &&
      (kept.length - gone > LIMITS.feedTailEntries || bytes > LIMITS.feedTailBytes)
    ) {
      bytes -= kept[gone]?.bytes ?? 0
      start = kept[gone]?.change.seq ?? start
      gone++
    }
    if (gone > 0) kept = kept.slice(gone)
  }
  const wake = () => {
    const woken = [...waiting]
    waiting.clear()
    for (const resolve of woken) resolve()
  }
  const read = async (): Promise<void> => {
    while (tail.streams > 0 && end < feed.known()) {
      const upTo = feed.known()
      const stretch = { baseId, after: end, upTo, limit: LIMITS.feedStretch }
      const { changes, isCut } = await readStretch(db, stretch, feedCap())
      const isFull = isCut || changes.length === LIMITS.feedStretch
      end = (isFull && changes.at(-1)?.seq) || upTo
      keep(changes)
      wake()
    }
  }
  const advance = async (): Promise<void> => {
    if (reading) return
    reading = true
    try {
      await read()
    } catch (err) {
      log.warn({ err, base: baseId }, 'the change log could not be read for streams; it is tried again')
      setTimeout(() => void advance(), LIMITS.feedRetryMs).unref()
    } finally {
      reading = false
    }
  }
  const unwatch = feed.watch(baseId, () => void advance())
  const tail: SharedTail = {
    streams: 0,
    after: (seq) => (seq < start ? undefined : (kept[firstAfter(kept, seq)]?.change ?? null)),
    end: () => end,
    more: (signal) =>
      new Promise((resolve) => {
        const done = () => {
          waiting.delete(done)
          signal.removeEventListener('abort', done)
          resolve()
        }
        if (signal.aborted) return resolve()
        waiting.add(done)
        signal.addEventListener('abort', done)
      }),
    leave: () => {
      if (--tail.streams > 0) return
      unwatch()
      onEmpty()
    },
  }
  return tail
}

/** Binary search for the first entry after the number. */
function firstAfter(kept: readonly { change: Change }[], seq: number): number {
  let low = 0
  let high = kept.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((kept[middle]?.change.seq ?? 0) > seq) high = middle
    else low = middle + 1
  }
  return low
}

/** Estimated memory of an entry in bytes. */
const weigh = (change: Change): number => JSON.stringify(change.diff).length + 500

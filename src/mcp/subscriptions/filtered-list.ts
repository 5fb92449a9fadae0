import { LIMITS } from '../../foundation/limits.ts'

/** Subscribers of one filtered list. Log entries about its type are matched against the filter. */
export type FilteredList = {
  /** Adds a subscriber and returns its unsubscribe function. */
  add(notify: () => void): () => void
  /** Queues a log entry about a record of the list's type. */
  note(seq: number): void
}

/**
 * Debounces log entries and matches them against the filter in one query, with a pause between queries, so
 * that a burst of writes costs few queries. If the match fails or there are too many entries, assumes a
 * change: subscribers read the list again and see the true state.
 */
export function filteredList(
  matches: (seqs: readonly number[]) => Promise<boolean>,
  onEmpty: () => void,
): FilteredList {
  const followers = new Set<() => void>()
  let noted: number[] = []
  let isLooking = false

  const check = async (): Promise<void> => {
    const seqs = noted
    noted = []
    const isFlood = seqs.length > LIMITS.matchedEntries
    const changed = isFlood || (await matches(seqs).catch(() => true))
    if (changed) for (const notify of [...followers]) notify()
    setTimeout(() => {
      isLooking = false
      if (noted.length > 0) begin()
    }, LIMITS.matchPauseMs).unref()
  }
  const begin = () => {
    if (isLooking || followers.size === 0) return
    isLooking = true
    // Entries of the same read are noted in the same turn, so they are matched together.
    setImmediate(() => void check())
  }
  return {
    add(notify) {
      followers.add(notify)
      return () => {
        if (followers.delete(notify) && followers.size === 0) onEmpty()
      }
    },
    note(seq) {
      if (noted.length <= LIMITS.matchedEntries) noted.push(seq)
      begin()
    },
  }
}

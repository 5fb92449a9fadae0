import { LIMITS } from '../../foundation/limits.ts'

/** Those who follow one filtered list, held against the entries of the log that may be about it. */
export type WatchedList = {
  /** Tells of the list from now on; answers how to end it. */
  add(tell: () => void): () => void
  /** An entry about a record of the list's type. */
  note(seq: number): void
}

/**
 * Entries are held against the filter together, one look at a time with a pause between, so that a flood of writes costs
 * few queries. What `matches` cannot say, since it fails or there are too many entries, counts as a change: whoever reads
 * the list again sees what is true.
 */
export function watchedList(
  matches: (seqs: readonly number[]) => Promise<boolean>,
  onEmpty: () => void,
): WatchedList {
  const followers = new Set<() => void>()
  let noted: number[] = []
  let isLooking = false

  const look = async (): Promise<void> => {
    const seqs = noted
    noted = []
    const isFlood = seqs.length > LIMITS.matchedEntries
    const changed = isFlood || (await matches(seqs).catch(() => true))
    if (changed) for (const tell of [...followers]) tell()
    setTimeout(() => {
      isLooking = false
      if (noted.length > 0) begin()
    }, LIMITS.matchPauseMs).unref()
  }
  const begin = () => {
    if (isLooking || followers.size === 0) return
    isLooking = true
    // Entries that were read together are noted in one go: they are looked at together too.
    setImmediate(() => void look())
  }
  return {
    add(tell) {
      followers.add(tell)
      return () => {
        if (followers.delete(tell) && followers.size === 0) onEmpty()
      }
    },
    note(seq) {
      if (noted.length <= LIMITS.matchedEntries) noted.push(seq)
      begin()
    },
  }
}

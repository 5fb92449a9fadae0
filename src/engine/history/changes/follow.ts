/** Change stream of a base. The surfaces deliver it as server-sent events. */
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { requireBase } from '../../core/existing-base.ts'
import type { Scope } from '../../core/scope.ts'
import { type Change, callFor } from '../../log/entry.ts'
import { feedCap, isFor, type Reader, readFor } from '../../log/read.ts'
import { type Slot, subscriberOf } from '../../log/stream-limits.ts'
import { type Titled, withTitles } from '../../records/titles.ts'
import { type ConditionFilter, readCondition } from './changes-match.ts'
import { type ChangeArgs, itself, openReader, readAfter } from './list.ts'

export type FollowArgs = ChangeArgs & {
  /** A filter of the record after the change, with `previous.` for the record before it. */
  condition?: unknown
}

/**
 * Endless stream of the entries after `after` that are for the token, each once and in order; without
 * `after`, from now on. Pull-based (backpressure): a slow reader does not use memory here.
 * @throws FORBIDDEN, NOT_FOUND, VALIDATION_ERROR, RATE_LIMITED before the first
 */
export const followChanges = async (
  scope: Scope,
  baseId: string,
  args: FollowArgs,
): Promise<AsyncIterableIterator<Titled<Change>>> => (await openFollow(scope, baseId, args)).changes

/** An open stream. All entries up to `progress.after` were passed on, or are not for the reader. */
type Follow = { changes: AsyncIterableIterator<Titled<Change>>; progress: { readonly after: number } }

/** Opens a stream like `followChanges`. */
export async function openFollow(scope: Scope, baseId: string, args: FollowArgs): Promise<Follow> {
  const reader = openReader(scope, baseId, args)
  const given = readAfter(args.after)
  await requireBase(scope, baseId)
  const filter = await readCondition(scope, baseId, args)
  const slot = scope.feed.openStream(subscriberOf(scope), baseId, scope.closed?.())
  try {
    const progress = { after: given ?? (await scope.feed.settledSeq()) }
    const runs = follow(scope, baseId, reader, progress, slot.signal)
    const titled = (run: readonly Change[]) => withTitles(scope, baseId, run, itself)
    return { changes: ending(flattened(scope, runs, filter, titled, slot.signal), slot), progress }
  } catch (thrown) {
    slot.end()
    throw thrown
  }
}

/** Yields runs of entries: those that are known, without waiting for more. */
async function* follow(
  scope: Scope,
  baseId: string,
  reader: Reader,
  progress: { after: number },
  signal: AbortSignal,
) {
  const tail = scope.feed.tailOf(baseId)
  try {
    for (let after = progress.after; !signal.aborted; progress.after = after) {
      const run: Change[] = []
      let next = tail.after(after)
      for (; next && run.length < LIMITS.matchedEntries; next = tail.after(after)) {
        after = next.seq
        if (isFor(reader, baseId, next)) run.push(callFor(reader, baseId, next))
      }
      if (run.length > 0) yield run
      else if (next === null) await tail.more(signal)
      else if (next === undefined) {
        const stretch = { baseId, after, upTo: tail.end(), limit: LIMITS.feedCatchUp }
        const missed = await readFor(scope.db, stretch, reader, feedCap())
        if (missed.changes.length > 0) yield missed.changes
        after = missed.rest?.after ?? stretch.upTo
      }
    }
  } finally {
    tail.leave()
  }
}

/** The entries of the runs that pass the filter. None is passed on after the signal. */
async function* flattened(
  { freshness }: Scope,
  runs: AsyncGenerator<readonly Change[]>,
  filter: ConditionFilter | null,
  titled: (run: readonly Change[]) => Titled<Change>[],
  signal: AbortSignal,
) {
  for await (const run of runs)
    for (const change of titled(filter ? await filter(run) : run)) {
      // Each change wakes all streams of its base at once.
      if (turnIsOver()) await nextTurn()
      if (signal.aborted) return
      // Who is told of a change finds it in lists.
      freshness?.note()
      yield change
    }
}

/** Iterator that releases its slot on return. A pending generator can only be ended from outside. */
function ending<T>(changes: AsyncGenerator<T>, slot: Slot): AsyncIterableIterator<T> {
  const end = () => {
    slot.end()
    return changes.return(undefined)
  }
  return {
    next: async () => {
      const next = await changes.next()
      if (next.done) slot.end()
      return next
    },
    return: end,
    throw: end,
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

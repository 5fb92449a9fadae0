/** Change stream of a base. The surfaces deliver it as server-sent events. */
import { LIMITS } from '../../foundation/limits.ts'
import { type Change, callFor } from '../change-log/entry.ts'
import { feedCap, isFor, type Reader, readFor } from '../change-log/read.ts'
import { type Slot, subscriberOf } from '../change-log/streams.ts'
import { requireBase } from '../core/existing-base.ts'
import type { Scope } from '../core/scope.ts'
import { type ChangeArgs, openReader, readAfter } from './list.ts'

/**
 * Endless stream of the entries after `after` that are for the token, each once and in order; without
 * `after`, from now on. Pull-based (backpressure): a slow reader does not use memory here.
 * @throws FORBIDDEN, NOT_FOUND, VALIDATION_ERROR, RATE_LIMITED before the first
 */
export async function followChanges(
  scope: Scope,
  baseId: string,
  args: ChangeArgs,
): Promise<AsyncIterableIterator<Change>> {
  const reader = openReader(scope, baseId, args)
  const given = readAfter(args.after)
  await requireBase(scope, baseId)
  const slot = scope.feed.openStream(subscriberOf(scope), baseId, scope.closed?.())
  try {
    const from = given ?? (await scope.feed.settledSeq())
    return ending(follow(scope, baseId, reader, from, slot.signal), slot)
  } catch (thrown) {
    slot.end()
    throw thrown
  }
}

async function* follow(scope: Scope, baseId: string, reader: Reader, from: number, signal: AbortSignal) {
  const tail = scope.feed.tailOf(baseId)
  try {
    for (let after = from; !signal.aborted; ) {
      const next = tail.after(after)
      if (next === null) await tail.more(signal)
      else if (next) {
        after = next.seq
        if (isFor(reader, baseId, next)) yield callFor(reader, baseId, next)
      } else {
        const stretch = { baseId, after, upTo: tail.end(), limit: LIMITS.feedCatchUp }
        const missed = await readFor(scope.db, stretch, reader, feedCap())
        for (const change of missed.changes) {
          if (signal.aborted) return
          yield change
        }
        after = missed.rest?.after ?? stretch.upTo
      }
    }
  } finally {
    tail.leave()
  }
}

/** Iterator that releases its slot on return. A pending generator can only be ended from outside. */
function ending(changes: AsyncGenerator<Change>, slot: Slot): AsyncIterableIterator<Change> {
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

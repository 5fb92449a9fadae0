import { invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { ChangeFeed } from '../log/open-feed.ts'
import { tooMuchAtOnce } from '../storage/database/connection-shares.ts'
import { FairGate, type Share } from '../storage/database/fair-gate.ts'

/** Long polling: requests of this process that wait for a non-empty result. */
export type LongPolls = {
  /**
   * Returns the first non-empty result, or the current one once `over` aborts.
   * @throws the errors of the query
   */
  first<T extends Answer>(question: Question<T>, over: AbortSignal): Promise<T>
  /**
   * Runs a query with limited concurrency, per owner and in total, so that one write does not start the
   * queries of all waiters at once.
   */
  inTurn<T>(owner: string, ask: () => Promise<T>): Promise<T>
}
type Answer = { readonly isEmpty: boolean }
/**
 * `name` identifies the query within the base. Equal queries run once, under the concurrency limit of their
 * first owner.
 */
type Question<T> = { baseId: string; name: string; owner: string; ask: () => Promise<T> }
type Waiter = {
  answer: (found: Answer) => void
  fail: (thrown: unknown) => void
  over: AbortSignal
  /** The empty result that the waiter has seen last. */
  seen?: Answer
}
type SharedQuery = { waiters: Set<Waiter>; poll: () => void }

/**
 * Opens long polling. Waiters with equal queries share one execution. The query runs when a waiter joins and
 * when the base changes, never twice concurrently. A waiter that joins during an execution gets the result of
 * the next one, which is at least as recent.
 */
export function openLongPolls(feed: Pick<ChangeFeed, 'watch'>): LongPolls {
  const queries = new Map<string, SharedQuery>()
  const inTurn = openTurns()

  const begin = ({ baseId, name, owner, ask }: Question<Answer>): SharedQuery => {
    let isPolling = false
    let isDue = false
    const question: SharedQuery = { waiters: new Set(), poll: () => void poll() }
    const poll = async (): Promise<void> => {
      isDue = true
      if (isPolling) return
      isPolling = true
      while (isDue && question.waiters.size > 0) {
        isDue = false
        const waiting = question.waiters
        question.waiters = new Set()
        for (const waiter of await answerWaiters(waiting, () => inTurn(owner, ask)))
          question.waiters.add(waiter)
      }
      isPolling = false
      if (question.waiters.size > 0) return
      unwatch()
      if (queries.get(name) === question) queries.delete(name)
    }
    const unwatch = feed.watch(baseId, question.poll)
    queries.set(name, question)
    return question
  }
  return {
    inTurn,
    first: (question, over) =>
      new Promise((answer, fail) => {
        const joined = queries.get(question.name) ?? begin(question)
        // Run the query once more at the end, and return its result in any case.
        const end = () => {
          joined.poll()
          late = setTimeout(() => {
            if (waiter.seen) waiter.answer(waiter.seen)
            else waiter.fail(tooMuchAtOnce())
          }, LIMITS.pollGraceMs)
        }
        let late: NodeJS.Timeout | undefined
        const leave = () => {
          clearTimeout(late)
          over.removeEventListener('abort', end)
        }
        over.addEventListener('abort', end)
        const waiter: Waiter = {
          over,
          answer: (found) => {
            leave()
            // Waiters with the same name expect the same result type.
            answer(found as never)
          },
          fail: (thrown) => {
            leave()
            fail(thrown)
          },
        }
        joined.waiters.add(waiter)
        if (over.aborted) end()
        else joined.poll()
      }),
  }
}

/** Limits concurrent queries per owner and in total. */
function openTurns(): LongPolls['inTurn'] {
  const caps = [{ inAll: LIMITS.pollsInAll, ofShare: LIMITS.pollsOfToken }]
  const gate = new FairGate({ caps, full: tooMuchAtOnce, late: tooMuchAtOnce })
  const owners = new Map<string, { share: Share; count: number }>()
  return async (owner, ask) => {
    const own = owners.get(owner) ?? { share: gate.open(), count: 0 }
    owners.set(owner, own)
    own.count++
    await gate.enter(own.share, 0)
    try {
      return await ask()
    } finally {
      gate.leave(own.share, 0)
      if (--own.count === 0) owners.delete(owner)
    }
  }
}

/** Runs the query once and resolves the waiters whose wait is over. Returns the others. */
async function answerWaiters(waiting: ReadonlySet<Waiter>, ask: () => Promise<Answer>): Promise<Waiter[]> {
  try {
    const page = await ask()
    const stay = (waiter: Waiter) => page.isEmpty && !waiter.over.aborted
    for (const waiter of waiting) {
      waiter.seen = page
      if (!stay(waiter)) waiter.answer(page)
    }
    return [...waiting].filter(stay)
  } catch (thrown) {
    for (const waiter of waiting) waiter.fail(thrown)
    return []
  }
}

/**
 * Validates the seconds that a long poll may take.
 * @throws VALIDATION_ERROR
 */
export function readTimeout(seconds: number | null | undefined): number {
  const timeout = seconds ?? LIMITS.waitSeconds
  if (Number.isInteger(timeout) && timeout >= 0 && timeout <= LIMITS.waitSecondsMax) return timeout
  throw invalid({
    path: '/timeout',
    code: 'out_of_range',
    message: `timeout must be a whole number of seconds from 0 to ${LIMITS.waitSecondsMax}.`,
    received: timeout,
  })
}

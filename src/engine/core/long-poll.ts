import { LIMITS } from '../../foundation/limits.ts'
import type { ChangeFeed } from '../change-log/open-feed.ts'
import { tooMuchAtOnce } from '../database/connection-shares.ts'
import { FairGate, type Share } from '../database/fair-gate.ts'

/** Those who wait for an answer that holds something, in one process. */
export type Waits = {
  /** The first answer that is not empty; whatever it is then, once `over` aborts. @throws what the question throws */
  first<T extends Answer>(question: Question<T>, over: AbortSignal): Promise<T>
  /** Asks in turn: of one owner few at a time, and of all together too, so that one write never sets off all that wait. */
  inTurn<T>(owner: string, ask: () => Promise<T>): Promise<T>
}
type Answer = { readonly isEmpty: boolean }
/** `name` says who asks what of the base: equal ones are asked once, in the turn of the owner who came first. */
type Question<T> = { baseId: string; name: string; owner: string; ask: () => Promise<T> }
type Waiter = {
  answer: (found: Answer) => void
  fail: (thrown: unknown) => void
  over: AbortSignal
  /** The empty page that was found for it last. */
  seen?: Answer
}
type Asked = { waiters: Set<Waiter>; look: () => void }

/**
 * All who ask the same share one query: it is asked when somebody joins and when the base has changed, and never twice
 * at a time. Whoever joins while it is asked is answered by the next one, which sees all that they have seen.
 */
export function openWaits(feed: Pick<ChangeFeed, 'watch'>): Waits {
  const asked = new Map<string, Asked>()
  const inTurn = openTurns()

  const begin = ({ baseId, name, owner, ask }: Question<Answer>): Asked => {
    let isLooking = false
    let isDue = false
    const question: Asked = { waiters: new Set(), look: () => void look() }
    const look = async (): Promise<void> => {
      isDue = true
      if (isLooking) return
      isLooking = true
      while (isDue && question.waiters.size > 0) {
        isDue = false
        const waiting = question.waiters
        question.waiters = new Set()
        for (const waiter of await settle(waiting, () => inTurn(owner, ask))) question.waiters.add(waiter)
      }
      isLooking = false
      if (question.waiters.size > 0) return
      unwatch()
      if (asked.get(name) === question) asked.delete(name)
    }
    const unwatch = feed.watch(baseId, question.look)
    asked.set(name, question)
    return question
  }
  return {
    inTurn,
    first: (question, over) =>
      new Promise((answer, fail) => {
        const joined = asked.get(question.name) ?? begin(question)
        // Its end is one more look: what that finds is the answer, whatever it is.
        const end = () => {
          joined.look()
          late = setTimeout(() => {
            if (waiter.seen) waiter.answer(waiter.seen)
            else waiter.fail(tooMuchAtOnce())
          }, LIMITS.lookGraceMs)
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
            // Whoever asks by this name is answered alike.
            answer(found as never)
          },
          fail: (thrown) => {
            leave()
            fail(thrown)
          },
        }
        joined.waiters.add(waiter)
        if (over.aborted) end()
        else joined.look()
      }),
  }
}

/** Each owner's questions one after another, and few of all owners at a time. */
function openTurns(): Waits['inTurn'] {
  const caps = [{ inAll: LIMITS.looksInAll, ofShare: LIMITS.looksOfToken }]
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

/** Asks once, and answers those for whom that decides; gives back the others. */
async function settle(waiting: ReadonlySet<Waiter>, ask: () => Promise<Answer>): Promise<Waiter[]> {
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

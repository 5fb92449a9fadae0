import type { ChangeFeed } from './changes/open.ts'

/** Those who wait for an answer that holds something, in one process. */
export type Waits = {
  /** The first answer that is not empty; whatever it is then, once `over` aborts. @throws what the question throws */
  first<T extends Answer>(question: Question<T>, over: AbortSignal): Promise<T>
}
type Answer = { readonly isEmpty: boolean }
/** `name` says who asks what of the base: equal ones are asked once. */
type Question<T> = { baseId: string; name: string; ask: () => Promise<T> }
type Waiter = { answer: (found: Answer) => void; fail: (thrown: unknown) => void; over: AbortSignal }
type Asked = { waiters: Set<Waiter>; look: () => void }

/**
 * All who ask the same share one query: it is asked when somebody joins and when the base has changed, and never twice
 * at a time. Whoever joins while it is asked is answered by the next one, which sees all that they have seen.
 */
export function openWaits(feed: Pick<ChangeFeed, 'watch'>): Waits {
  const asked = new Map<string, Asked>()

  const begin = ({ baseId, name, ask }: Question<Answer>): Asked => {
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
        for (const waiter of await settle(waiting, ask)) question.waiters.add(waiter)
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
    first: (question, over) =>
      new Promise((answer, fail) => {
        const joined = asked.get(question.name) ?? begin(question)
        // Its end is one more look: what that finds is the answer, whatever it is.
        over.addEventListener('abort', joined.look)
        const leave = () => over.removeEventListener('abort', joined.look)
        joined.waiters.add({
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
        })
        joined.look()
      }),
  }
}

/** Asks once, and answers those for whom that decides; gives back the others. */
async function settle(waiting: ReadonlySet<Waiter>, ask: () => Promise<Answer>): Promise<Waiter[]> {
  try {
    const page = await ask()
    const stay = (waiter: Waiter) => page.isEmpty && !waiter.over.aborted
    for (const waiter of waiting) if (!stay(waiter)) waiter.answer(page)
    return [...waiting].filter(stay)
  } catch (thrown) {
    for (const waiter of waiting) waiter.fail(thrown)
    return []
  }
}

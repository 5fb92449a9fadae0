import { setTimeout as sleep } from 'node:timers/promises'

/** Polls until the condition holds, for changes in other processes that send no event. */
export async function until(held: () => boolean): Promise<void> {
  while (!held()) await sleep(5)
}

/** Polls until the question has an answer, and returns it. */
export async function eventually<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    await sleep(20)
  }
}

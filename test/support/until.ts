import { setTimeout as sleep } from 'node:timers/promises'

/** Polls until the condition holds, for changes in other processes that send no event. */
export async function until(held: () => boolean): Promise<void> {
  while (!held()) await sleep(5)
}

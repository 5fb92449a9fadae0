import { setTimeout as sleep } from 'node:timers/promises'

/** Resolves when it holds: for what another process does, and tells nobody of. */
export async function until(held: () => boolean): Promise<void> {
  while (!held()) await sleep(5)
}

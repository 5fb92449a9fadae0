/** Matches the log of each base that has triggers, as it grows. */
import { LIMITS } from '../../../foundation/limits.ts'
import type { Log } from '../../../foundation/log.ts'
import type { Scope } from '../../core/scope.ts'
import { basesWithTriggers } from './enabled-triggers.ts'
import { relay } from './relay.ts'

/** Entries that are matched at a time after a failure, which one heavy condition may have made. */
const FEW = 10

/**
 * Follows the logs until the signal aborts. `changed` is called when a base has new deliveries, or its triggers have
 * changed.
 */
export async function followBases(
  scope: Scope,
  log: Log,
  until: AbortSignal,
  changed: (base: string) => Promise<void>,
): Promise<void> {
  const followed = new Map<string, () => void>()
  const running = new Map<string, Promise<void>>()
  const again = new Set<string>()

  const step = async (base: string): Promise<void> => {
    for (let size: number | undefined; !until.aborted; size = FEW)
      try {
        if (await relay(scope, base, scope.feed.known(), size)) await changed(base)
        return
      } catch (err) {
        if (until.aborted) return
        log.warn({ err, base }, 'changes were not matched with triggers; it is tried again')
        await new Promise((resolve) => setTimeout(resolve, LIMITS.feedRetryMs).unref())
      }
  }
  /** One at a time for each base. A call meanwhile makes one more. */
  const match = (base: string): void => {
    if (until.aborted) return
    if (running.has(base)) return void again.add(base)
    const done = step(base).finally(() => {
      running.delete(base)
      if (again.delete(base)) match(base)
    })
    running.set(base, done)
  }
  const update = async (base: string | null): Promise<void> => {
    const found = await basesWithTriggers(scope.db, base)
    for (const [id, unwatch] of followed)
      if ((base === null || base === id) && !found.includes(id)) {
        unwatch()
        followed.delete(id)
        await changed(id)
      }
    for (const id of found) {
      await changed(id)
      if (followed.has(id)) continue
      followed.set(
        id,
        scope.feed.watch(id, () => match(id)),
      )
      match(id)
    }
  }
  const retried = (base: string | null): void => {
    if (until.aborted) return
    update(base).catch((err) => {
      if (until.aborted) return
      log.warn({ err, base }, 'the triggers were not read; it is tried again')
      setTimeout(() => retried(base), LIMITS.feedRetryMs).unref()
    })
  }
  const unlisten = scope.caches.onAnnounced((topic) => {
    const [kind, key = ''] = topic?.split(/:(.*)/s) ?? []
    if (topic === null) retried(null)
    else if (kind === 'trigger' || kind === 'base') retried(key.split('/')[0] ?? key)
  })
  retried(null)
  await new Promise<void>((resolve) => {
    if (until.aborted) resolve()
    until.addEventListener('abort', () => resolve(), { once: true })
  })
  unlisten()
  for (const unwatch of followed.values()) unwatch()
  await Promise.all(running.values())
}

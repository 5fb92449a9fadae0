import { LIMITS } from '../../../foundation/limits.ts'
import { readTimeout } from '../../core/long-poll.ts'
import type { Scope } from '../../core/scope.ts'
import type { Change } from '../../log/entry.ts'
import type { Titled } from '../../records/titles.ts'
import { type FollowArgs, openFollow } from './follow.ts'

/** Arguments of a long poll for a change. `timeout` is in seconds. */
export type WaitForChangeArgs = FollowArgs & { timeout?: number | null | undefined }
/** The change, or null after the timeout. The next wait goes on at `nextAfter`. */
export type AwaitedChange = { change: Titled<Change> | null; nextAfter: number }

/**
 * Long polling: returns the first change after `after` that meets the filter and the condition, or none after the
 * timeout, at server shutdown and when the rights are revoked. Without `after`, waits for changes from now on.
 * @throws FORBIDDEN, NOT_FOUND, VALIDATION_ERROR, RATE_LIMITED
 */
export async function waitForChange(
  scope: Scope,
  baseId: string,
  { timeout, ...args }: WaitForChangeArgs,
): Promise<AwaitedChange> {
  const seconds = readTimeout(timeout)
  const { changes, progress } = await openFollow(scope, baseId, args)
  const late = setTimeout(() => void changes.return?.(), Math.max(seconds * 1000, LIMITS.changesWaitMinMs))
  try {
    const found = await changes.next()
    return found.done
      ? { change: null, nextAfter: progress.after }
      : { change: found.value, nextAfter: found.value.seq }
  } finally {
    clearTimeout(late)
    await changes.return?.()
  }
}

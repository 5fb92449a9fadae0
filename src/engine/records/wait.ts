import { digest } from '../../contract/canonical-hash.ts'
import { readTimeout } from '../core/long-poll.ts'
import { authorize } from '../core/row-policy/apply.ts'
import type { Scope } from '../core/scope.ts'
import { subscriberOf } from '../log/stream-limits.ts'
import { type ListArgs, listRecords, type RecordPage } from './list.ts'

/** Arguments of a long poll for a non-empty page. `timeout` is in seconds. */
export type WaitArgs = Pick<ListArgs, 'filter' | 'sort' | 'fields' | 'limit'> & {
  timeout?: number | null | undefined
}

/**
 * Long polling: returns the first non-empty page of matches, or an empty page after the timeout or at server
 * shutdown. Ends early when the rights are revoked.
 * @throws VALIDATION_ERROR with the argument at fault; FORBIDDEN outside the grants; NOT_FOUND without base
 * or type; RATE_LIMITED when the token has too many open waits
 */
export async function waitForRecords(
  scope: Scope,
  baseId: string,
  recordType: string,
  { timeout, ...args }: WaitArgs,
): Promise<RecordPage> {
  const { grants } = scope.access
  authorize(scope, 'read', baseId, recordType)
  const seconds = readTimeout(timeout)
  const slot = scope.feed.openStream(subscriberOf(scope), baseId, scope.closed?.())
  const late = setTimeout(slot.end, seconds * 1000)
  try {
    const name = digest([baseId, recordType, args, grants, scope.policy?.name ?? null])
    // Other waiters may share this query, so it must not be cancelled when this client disconnects.
    const lasting = { ...scope, closed: undefined }
    const ask = () => {
      // It asks because something changed.
      scope.freshness?.note()
      return listRecords(lasting, baseId, recordType, args)
    }
    return await scope.longPolls.first({ baseId, name, owner: scope.actor.tokenId ?? '', ask }, slot.signal)
  } finally {
    // The page may be the answer to another token: its lists must be as recent.
    scope.freshness?.note()
    clearTimeout(late)
    slot.end()
  }
}

import { busy, invalid } from '../../foundation/errors.ts'
import type { StoredBlob } from '../blobs/blob-store.ts'
import { statement } from '../database/client.ts'
import type { Scope } from './scope.ts'

/**
 * The content of a digest that this request has stored.
 * @throws VALIDATION_ERROR for any other digest: to know a digest is no right to its content
 */
export function receivedContent({ received }: Scope, sha256: string, path: string): StoredBlob {
  const stored = received.get(sha256)
  if (stored) return stored
  throw invalid({
    path,
    code: 'content_not_received',
    message: 'This request has stored no content of that digest. Send the content over REST.',
  })
}

/** Key of the lock of the content `$1`. */
const LOCK_KEY = `hashtextextended('content:' || $1, 0)`
// A sweep removes a content under the same lock, and only if nothing refers to it.
const LOCK_CONTENT_SHARED = statement(
  'lock_content_shared',
  `SELECT pg_advisory_xact_lock_shared(${LOCK_KEY})::text`,
)
/** Locks a content against writes that refer to it. */
export const LOCK_CONTENT = statement('lock_content', `SELECT pg_advisory_xact_lock(${LOCK_KEY})::text`)

/**
 * Keeps a stored content from being swept until the transaction ends.
 * @throws RATE_LIMITED if it was just swept
 */
export async function lockContent({ db, blobs }: Scope, sha256: string): Promise<void> {
  await db.query(LOCK_CONTENT_SHARED, [sha256])
  if (await blobs.has(sha256)) return
  throw busy('The content was removed before anything referred to it.', 'Send it again.')
}

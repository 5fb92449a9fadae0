import { invalid } from '../../foundation/errors.ts'
import type { StoredBlob } from '../blobs/blob-store.ts'
import type { Scope } from './scope.ts'

/**
 * The content of a digest that this request has stored.
 * @throws VALIDATION_ERROR for any other digest: to know a digest is no right to its content
 */
export function receivedContent({ received }: Scope, sha256: string, path: string): StoredBlob {
  const size = received.get(sha256)
  if (size !== undefined) return { sha256, size }
  throw invalid({
    path,
    code: 'content_not_received',
    message: 'This request has stored no content of that digest. Send the content over REST.',
  })
}

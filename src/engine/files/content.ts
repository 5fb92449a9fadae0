/** The content that a write of a file names or brings along. */
import { readBase64 } from '../../contract/attachment-rules.ts'
import { invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { receiveBytes, receivedContent } from '../core/contents/receive.ts'
import type { Scope } from '../core/scope.ts'
import type { StoredBlob } from '../storage/blobs/blob-store.ts'
import type { FilePolicy } from './policy.ts'

/** A content with its properties, and the text that a search reads of it. */
export type Content = StoredBlob & {
  text: string
  contentType: string
  metadata: Readonly<Record<string, unknown>>
  label: string | null
}

/** One of: a content that the request has stored, a text, or bytes in base64. */
export type ContentInput = {
  sha256?: string | null | undefined
  text?: string | null | undefined
  base64?: string | null | undefined
}

/**
 * The stored content. A content in the request itself is stored now.
 * @throws VALIDATION_ERROR
 */
export async function contentOf(
  scope: Scope,
  { storage }: FilePolicy,
  { sha256, text, base64 }: ContentInput,
): Promise<StoredBlob> {
  const sent = [sha256, text, base64].filter((each) => each != null)
  if (sent.length !== 1)
    throw invalid({
      path: '/content',
      code: sent.length === 0 ? 'required' : 'exclusive',
      message: 'Send the content once: as text or as base64.',
    })
  if (sha256 != null) return receivedContent(scope, sha256, '/content_sha256')
  const bytes = text != null ? Buffer.from(text) : readBase64(base64 ?? '', '/base64')
  if (bytes.length > LIMITS.inlineContentBytes)
    throw invalid({
      path: text != null ? '/text' : '/base64',
      code: 'too_large',
      message: `A content in a request has at most ${LIMITS.inlineContentBytes} bytes. Send it with a PUT over REST.`,
      expected: LIMITS.inlineContentBytes,
      received: bytes.length,
    })
  return receiveBytes(scope, bytes, storage.max_bytes)
}

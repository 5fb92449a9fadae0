/** Reads contents that arrive, from a stream or from memory. A write of the same request may then refer to them. */
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { type PutLimits, putAndClose, type StoredBlob, tooLarge } from '../../storage/blobs/blob-store.ts'
import type { Scope } from '../scope.ts'

type Limits = Omit<PutLimits, 'keepBytes' | 'inMemoryBytes'>

const SMALL: Pick<PutLimits, 'keepBytes' | 'inMemoryBytes'> = {
  keepBytes: LIMITS.keptContentBytes,
  inMemoryBytes: LIMITS.rowContentBytes,
}

/**
 * Reads a content. A small one stays in memory until `referenceContent` stores it, in the transaction that refers to it;
 * others are stored now.
 * @throws VALIDATION_ERROR if it is too large, aborted, or has another digest
 */
export const receiveContent = (
  { blobs }: Pick<Scope, 'blobs'>,
  source: Readable,
  limits: Limits,
): Promise<StoredBlob> => blobs.put(source, { ...limits, ...SMALL })

/** The same for a content that the server itself reads. Closes the source. */
export const receiveAndClose = (
  { blobs }: Pick<Scope, 'blobs'>,
  source: Readable,
  limits: Limits,
): Promise<StoredBlob> => putAndClose(blobs, source, { ...limits, ...SMALL })

/**
 * The same for a content in memory.
 * @throws VALIDATION_ERROR for more than `maxBytes`
 */
export async function receiveBytes(
  scope: Pick<Scope, 'blobs'>,
  bytes: Buffer,
  maxBytes: number,
): Promise<StoredBlob> {
  if (bytes.length > maxBytes) throw tooLarge(maxBytes)
  if (bytes.length <= LIMITS.rowContentBytes)
    return { sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length, bytes }
  const source = Readable.from([bytes], { objectMode: false })
  return { ...(await scope.blobs.put(source, { maxBytes })), bytes }
}

/**
 * The content of a digest that this request has received.
 * @throws VALIDATION_ERROR for any other digest: knowing a digest gives no right to its content
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

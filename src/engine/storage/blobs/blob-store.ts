/** Content-addressed storage of file contents. A content is immutable: its name is its sha256 in lowercase hex. */
import { statfs } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { DomainError, invalid } from '../../../foundation/errors.ts'

export type PutLimits = {
  maxBytes: number
  /** Ends the upload, for example when its client disconnects. */
  signal?: AbortSignal
  /** The digest that the content must have, in hex. */
  sha256?: string
  /** The bytes of a content of at most this size are returned too. */
  keepBytes?: number
  /** A content of at most this size is read into memory and not stored: the caller stores it as a row of the database. */
  inMemoryBytes?: number
}
/** A content. `bytes` if the request has them in memory: they need not be read. */
export type StoredBlob = { sha256: string; size: number; bytes?: Buffer | undefined }
export type ListedBlob = { sha256: string; size: number; modifiedAt: Date }
/** A range of bytes; `end` is inclusive. */
export type ByteRange = { start: number; end: number }

export type BlobStore = {
  /**
   * Stores a content that streams in. It is visible only when it is complete and durable. Storing a content
   * again renews its `modifiedAt`, so that a sweep does not take it for an old one.
   * @throws VALIDATION_ERROR if it is too large, aborted, or has another digest; INTERNAL_ERROR if the storage
   *   is full
   */
  put(source: Readable, limits: PutLimits): Promise<StoredBlob>
  /** @throws INTERNAL_ERROR if the content is missing */
  open(sha256: string, range?: ByteRange): Promise<Readable>
  has(sha256: string): Promise<boolean>
  /** Removes a content. Does nothing if it is absent. */
  remove(sha256: string): Promise<void>
  /** Lists contents in the order of their digests, those after `after` only. */
  list(after?: string): AsyncIterable<ListedBlob>
  /** The id of the database whose store this is; undefined before one has marked it. */
  id(): Promise<string | undefined>
  /** Marks the store. */
  setId(id: string): Promise<void>
  /** The disk that contents are written to, also on their way to a bucket. */
  disk(): Promise<Disk>
}

/** Bytes of a file system: those that this process may still use, and all. */
export type Disk = { free: number; total: number }

export async function diskOf(directory: string): Promise<Disk> {
  const { bavail, blocks, bsize } = await statfs(directory)
  return { free: bavail * bsize, total: blocks * bsize }
}

/** The part of the disk of a directory that is free, from 0 to 1. */
export async function freePartOf(directory: string): Promise<number> {
  const { free, total } = await diskOf(directory)
  return free / total
}

/** Stores a content that the server itself reads. Closes the source, which a failed `put` leaves open. */
export async function putAndClose(
  blobs: BlobStore,
  source: Readable,
  limits: PutLimits,
): Promise<StoredBlob> {
  try {
    return await blobs.put(source, limits)
  } finally {
    source.destroy()
  }
}

/** The name of the file or object with the id of a store. */
export const STORE_ID = 'store-id'

const SHA256 = /^[0-9a-f]{64}$/

export const isDigest = (name: string): boolean => SHA256.test(name)

/**
 * Checks a digest before it becomes part of a path or a key.
 * @throws RangeError
 */
export function requireDigest(sha256: string): string {
  if (!isDigest(sha256)) throw new RangeError('A content is named by its sha256 in lowercase hex.')
  return sha256
}

export const tooLarge = (maxBytes: number): DomainError =>
  invalid({
    path: '',
    code: 'too_large',
    message: `The content is larger than ${maxBytes} bytes. Send a smaller one.`,
    expected: maxBytes,
  })

export const digestMismatch = (expected: string, received: string): DomainError =>
  invalid({
    path: '',
    code: 'digest_mismatch',
    message: 'The content has another sha256 than the declared one. Send it again.',
    expected,
    received,
  })

export const uploadAborted = (cause: unknown): DomainError =>
  new DomainError('VALIDATION_ERROR', 'The upload ended before its content was complete. Send it again.', {
    cause,
    details: [{ path: '', code: 'upload_aborted', message: 'Send the whole content.' }],
  })

const FULL_SECONDS = 30

export const storageFull = (cause: unknown): DomainError =>
  new DomainError('INTERNAL_ERROR', 'The storage of contents is full. Nothing was stored.', {
    cause,
    retryAfterSeconds: FULL_SECONDS,
    details: [
      { path: '', code: 'disk_full', message: 'Free space on the server, then send the content again.' },
    ],
  })

export const missingBlob = (sha256: string, cause?: unknown): DomainError =>
  new DomainError('INTERNAL_ERROR', 'The content is missing in the storage of the server.', {
    cause: cause ?? new Error(`The content ${sha256} is missing.`),
  })

/** Contents that a request stores for itself, and nothing refers to: it reads them, and removes them when it ends. */
import { Readable } from 'node:stream'
import { removedMeanwhile } from '../core/contents/reference.ts'
import type { Scope } from '../core/scope.ts'
import type { StoredBlob } from '../storage/blobs/blob-store.ts'
import { removeUnused } from './sweep.ts'

/** How many requests of this process use each. Another server may still remove one too early. */
const users = new Map<string, number>()

/** Does work that reads the content. The last request that uses it removes it, unless something refers to it. */
export async function usingOwnContent<T>(
  { db, blobs }: Pick<Scope, 'db' | 'blobs'>,
  { sha256, bytes }: StoredBlob,
  work: () => Promise<T>,
): Promise<T> {
  if (bytes) return work()
  users.set(sha256, (users.get(sha256) ?? 0) + 1)
  try {
    return await work()
  } finally {
    const left = (users.get(sha256) ?? 1) - 1
    if (left > 0) users.set(sha256, left)
    else users.delete(sha256)
    if (left === 0) await removeUnused(db, blobs, [sha256])
  }
}

/**
 * Opens the content.
 * @throws RATE_LIMITED if another request has just removed it
 */
export async function openOwnContent(
  { blobs }: Pick<Scope, 'blobs'>,
  { sha256, bytes }: StoredBlob,
): Promise<Readable> {
  if (bytes) return Readable.from([bytes])
  return blobs.open(sha256).catch(async (thrown: unknown) => {
    throw (await blobs.has(sha256)) ? thrown : removedMeanwhile()
  })
}

/** Reads contents, wherever they are stored. */
import { Readable } from 'node:stream'
import type { ByteRange } from '../../storage/blobs/blob-store.ts'
import { statement } from '../../storage/database/client.ts'
import type { Scope } from '../scope.ts'
import { isRow } from './reference.ts'

const READ = statement('read_content', 'SELECT bytes FROM plinth.content WHERE sha256 = $1')

/** What names a content. */
export type ContentName = { readonly sha256: string; readonly size: number }

/**
 * Opens a content, or a range of its bytes.
 * @throws INTERNAL_ERROR if it is missing
 */
export async function openContent(
  scope: Pick<Scope, 'db' | 'blobs'>,
  { sha256, size }: ContentName,
  range?: ByteRange,
): Promise<Readable> {
  if (!isRow({ size })) return scope.blobs.open(sha256, range)
  const row = await readRow(scope, sha256)
  // A content of an earlier version is in the store, until a sweep finds that it is a row too.
  const found =
    row ??
    (await scope.blobs.open(sha256, range).catch(async (thrown: unknown) => {
      const moved = await readRow(scope, sha256)
      if (moved) return moved
      throw thrown
    }))
  if (!Buffer.isBuffer(found)) return found
  return Readable.from([range ? found.subarray(range.start, range.end + 1) : found], { objectMode: false })
}

async function readRow({ db }: Pick<Scope, 'db'>, sha256: string): Promise<Buffer | undefined> {
  return (await db.query<{ bytes: Buffer }>(READ, [sha256]))[0]?.bytes
}

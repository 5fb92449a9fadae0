/**
 * Contents as objects of an S3 bucket, `<prefix><sha256>`. An upload is written to a local file first: then its digest, which
 * is its name, is known, and the object shows only when it is complete.
 */
import { text } from 'node:stream/consumers'
import { type BlobStore, diskOf, isDigest, missingBlob, requireDigest, STORE_ID } from './blob-store.ts'
import { openSpool } from './file-driver.ts'
import { type Bucket, openBucket, type S3Place } from './s3-objects.ts'

export type S3Location = S3Place & {
  driver: 's3'
  /** Where uploads are written first. */
  directory: string
  /** Whether another process may use the directory. */
  isShared: boolean
}

/** Opens the store. Contacts the bucket with the first content. */
export async function openS3Driver(location: S3Location): Promise<BlobStore> {
  const spool = await openSpool(location.directory, { isShared: location.isShared })
  const bucket = openBucket(location)
  return {
    put: (source, limits) =>
      spool(source, limits, (file, { sha256, size }) => bucket.put(requireDigest(sha256), file, size)),
    open: async (sha256, range) => {
      const found = await bucket.get(requireDigest(sha256), range)
      if (found) return found
      throw missingBlob(sha256)
    },
    has: async (sha256) => bucket.has(requireDigest(sha256)),
    remove: async (sha256) => bucket.remove(requireDigest(sha256)),
    list: (after) => list(bucket, after),
    id: async () => {
      const found = await bucket.get(STORE_ID)
      return found && (await text(found)).trim()
    },
    setId: (id) => bucket.putText(STORE_ID, id),
    disk: () => diskOf(location.directory),
  }
}

async function* list(bucket: Bucket, after: string | undefined): ReturnType<BlobStore['list']> {
  for await (const { name: sha256, size, modifiedAt } of bucket.list('', after))
    if (isDigest(sha256)) yield { sha256, size, modifiedAt }
}

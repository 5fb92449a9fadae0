import type { BlobStore } from './blob-store.ts'
import { openFileDriver } from './file-driver.ts'
import { openS3Driver, type S3Location } from './s3-driver.ts'

/** Where contents are stored. */
export type BlobLocation = { driver: 'file'; directory: string; isShared: boolean } | S3Location

/**
 * Opens the store of contents. Contacts nothing but the file system of the server.
 * @param onContent called with each content that the store has got
 */
export async function openBlobStore(
  location: BlobLocation,
  onContent?: (sha256: string) => void,
): Promise<BlobStore> {
  const store =
    location.driver === 's3'
      ? await openS3Driver(location)
      : await openFileDriver(location.directory, location.isShared)
  if (!onContent) return store
  return {
    ...store,
    put: async (source, limits) => {
      const stored = await store.put(source, limits)
      if (stored.size > (limits.inMemoryBytes ?? -1)) onContent(stored.sha256)
      return stored
    },
  }
}

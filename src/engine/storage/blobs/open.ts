import type { BlobStore } from './blob-store.ts'
import { openFileDriver } from './file-driver.ts'
import { openS3Driver, type S3Location } from './s3-driver.ts'

/** Where contents are stored. */
export type BlobLocation = { driver: 'file'; directory: string; isShared: boolean } | S3Location

/** Opens the store of contents. Contacts nothing but the file system of the server. */
export const openBlobStore = (location: BlobLocation): Promise<BlobStore> =>
  location.driver === 's3' ? openS3Driver(location) : openFileDriver(location.directory, location.isShared)

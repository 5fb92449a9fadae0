import type { BlobStore } from './blob-store.ts'
import { openFileDriver } from './file-driver.ts'

/** Where contents are stored. */
export type BlobLocation = { driver: 'file'; directory: string; isShared: boolean }

/** Opens the store of contents. Contacts nothing but the file system of the server. */
export const openBlobStore = ({ directory, isShared }: BlobLocation): Promise<BlobStore> =>
  openFileDriver(directory, isShared)

/** Where the settings say that contents are. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Config, readS3Url } from '../config/read-config.ts'
import type { BlobStore } from '../engine/storage/blobs/blob-store.ts'
import { type BlobLocation, openBlobStore } from '../engine/storage/blobs/open.ts'

type Settings = Pick<Config, 'blobUrl' | 'dataDir' | 'databaseUrl'>

/** The embedded database lets one server use the data directory; with another one, several may share it. */
export function blobLocation({ blobUrl, dataDir, databaseUrl }: Settings): BlobLocation {
  const bucket = blobUrl?.startsWith('s3:') ? readS3Url(blobUrl) : undefined
  if (bucket)
    return {
      driver: 's3',
      ...bucket,
      directory: join(dataDir, 'uploads'),
      isShared: databaseUrl !== undefined,
    }
  return {
    driver: 'file',
    directory: blobUrl === undefined ? join(dataDir, 'blobs') : fileURLToPath(blobUrl),
    isShared: databaseUrl !== undefined || blobUrl !== undefined,
  }
}

/** Opens the store beside a server that uses it. */
export const openBesideServer = (settings: Settings): Promise<BlobStore> =>
  openBlobStore({ ...blobLocation(settings), isShared: true })

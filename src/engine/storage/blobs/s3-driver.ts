/**
 * Contents as objects of an S3 bucket, `<prefix><sha256>`. An upload is written to a local file first: then its digest, which
 * is its name, is known, and the object shows only when it is complete.
 */
import { createReadStream, type ReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import { LIMITS } from '../../../foundation/limits.ts'
import {
  type BlobStore,
  type ByteRange,
  diskOf,
  isDigest,
  type ListedBlob,
  missingBlob,
  requireDigest,
  STORE_ID,
  type StoredBlob,
} from './blob-store.ts'
import { openSpool } from './file-driver.ts'

export type S3Location = {
  driver: 's3'
  bucket: string
  /** What all keys begin with. */
  prefix: string
  endpoint: string | undefined
  region: string | undefined
  /** Whether the bucket is in the path of URLs, and not in the host. */
  isPathStyle: boolean
  /** Where uploads are written first. */
  directory: string
  /** Whether another process may use the directory. */
  isShared: boolean
}

type Sdk = typeof import('@aws-sdk/client-s3')
type Opened = { sdk: Sdk; client: S3Client }

/** Opens the store. The SDK is loaded with the first content. Credentials are those of the environment. */
export async function openS3Driver(location: S3Location): Promise<BlobStore> {
  const { bucket: Bucket, prefix } = location
  const spool = await openSpool(location.directory, { isShared: location.isShared })
  let opened: Promise<Opened> | undefined
  const open = (): Promise<Opened> => {
    opened ??= connect(location)
    return opened
  }
  const at = (sha256: string) => ({ Bucket, Key: prefix + requireDigest(sha256) })
  const isStored = async (sha256: string): Promise<boolean> => {
    const place = at(sha256)
    const { sdk, client } = await open()
    return client.send(new sdk.HeadObjectCommand(place)).then(
      () => true,
      (thrown: unknown) => {
        if (isAbsent(thrown)) return false
        throw thrown
      },
    )
  }
  return {
    put: (source, limits) =>
      spool(source, limits, async (file, stored) => {
        await upload(await open(), at(stored.sha256), file, stored)
      }),
    open: async (sha256, range) => {
      const place = at(sha256)
      const { sdk, client } = await open()
      const command = new sdk.GetObjectCommand({ ...place, ...rangeOf(range) })
      const { Body } = await client.send(command).catch((thrown: unknown) => {
        // A range of an empty content.
        if (isEmptyRange(thrown)) return { Body: Readable.from([]) }
        throw isAbsent(thrown) ? missingBlob(sha256, thrown) : thrown
      })
      if (Body instanceof Readable) return Body
      throw missingBlob(sha256)
    },
    has: async (sha256) => isStored(sha256),
    remove: async (sha256) => {
      const place = at(sha256)
      const { sdk, client } = await open()
      await client.send(new sdk.DeleteObjectCommand(place))
    },
    list: (after = '') => list(open, location, after),
    id: async () => {
      const { sdk, client } = await open()
      const found = await client
        .send(new sdk.GetObjectCommand({ Bucket, Key: prefix + STORE_ID }))
        .catch((thrown: unknown) => {
          if (isAbsent(thrown)) return undefined
          throw thrown
        })
      return (await found?.Body?.transformToString())?.trim()
    },
    setId: async (Body) => {
      const { sdk, client } = await open()
      await client.send(new sdk.PutObjectCommand({ Bucket, Key: prefix + STORE_ID, Body }))
    },
    disk: () => diskOf(location.directory),
  }
}

async function connect({ endpoint, region, isPathStyle }: S3Location): Promise<Opened> {
  const sdk = await import('@aws-sdk/client-s3')
  const client = new sdk.S3Client({
    ...(endpoint !== undefined && { endpoint }),
    ...(region !== undefined && { region }),
    forcePathStyle: isPathStyle,
    // Not all servers know the newer checksums. Contents are checked by their own digest.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
  return { sdk, client }
}

type Place = { Bucket: string; Key: string }

/** Stores a file as an object, a large one in parts. */
async function upload(
  { sdk, client }: Opened,
  place: Place,
  file: string,
  { size }: StoredBlob,
): Promise<void> {
  if (size <= LIMITS.s3PieceBytes) {
    await attempted(
      () => createReadStream(file),
      (Body) => client.send(new sdk.PutObjectCommand({ ...place, Body, ContentLength: size })),
    )
    return
  }
  const partBytes = Math.max(LIMITS.s3PartBytes, Math.ceil(size / LIMITS.uploadParts))
  const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand(place))
  try {
    const Parts: { PartNumber: number; ETag: string | undefined }[] = []
    for (let start = 0; start < size; start += partBytes) {
      const end = Math.min(start + partBytes, size) - 1
      const PartNumber = Parts.length + 1
      const part = { ...place, UploadId, PartNumber, ContentLength: end - start + 1 }
      const { ETag } = await attempted(
        () => createReadStream(file, { start, end }),
        (Body) => client.send(new sdk.UploadPartCommand({ ...part, Body })),
      )
      Parts.push({ PartNumber, ETag })
    }
    const MultipartUpload = { Parts }
    await client.send(new sdk.CompleteMultipartUploadCommand({ ...place, UploadId, MultipartUpload }))
  } catch (thrown) {
    // The cause matters more than a failure to clean up.
    await client.send(new sdk.AbortMultipartUploadCommand({ ...place, UploadId })).catch(() => {})
    throw thrown
  }
}

/** Repeats a request whose body is a stream, which the SDK cannot repeat, after a failure that may pass. */
async function attempted<T>(open: () => ReadStream, send: (body: ReadStream) => Promise<T>): Promise<T> {
  for (let left = LIMITS.s3Attempts; ; left--) {
    const body = open()
    try {
      return await send(body)
    } catch (thrown) {
      const status = statusOf(thrown)
      if (left <= 1 || (status !== undefined && status >= 400 && status < 500)) throw thrown
    } finally {
      // After a failure the SDK leaves it open, and an open file keeps its space on the disk.
      body.destroy()
    }
  }
}

const rangeOf = (range: ByteRange | undefined) => range && { Range: `bytes=${range.start}-${range.end}` }

const statusOf = (thrown: unknown): number | undefined =>
  (thrown as { $metadata?: { httpStatusCode?: number } } | null)?.$metadata?.httpStatusCode
const nameOf = (thrown: unknown): string | undefined => (thrown as Error | null)?.name
/** A bucket that is not there is a fault of the settings, and not an absent content. */
const isAbsent = (thrown: unknown): boolean => statusOf(thrown) === 404 && nameOf(thrown) !== 'NoSuchBucket'
const isEmptyRange = (thrown: unknown): boolean => statusOf(thrown) === 416

async function* list(
  open: () => Promise<Opened>,
  { bucket: Bucket, prefix: Prefix }: S3Location,
  after: string,
): AsyncIterable<ListedBlob> {
  const { sdk, client } = await open()
  let StartAfter = Prefix + after
  for (;;) {
    const page = await client.send(new sdk.ListObjectsV2Command({ Bucket, Prefix, StartAfter }))
    for (const { Key = '', Size = 0, LastModified = new Date() } of page.Contents ?? []) {
      const sha256 = Key.slice(Prefix.length)
      if (isDigest(sha256)) yield { sha256, size: Size, modifiedAt: LastModified }
      StartAfter = Key
    }
    if (!page.IsTruncated) return
  }
}

/** Objects of an S3 bucket. The SDK is loaded with the first request. Credentials are those of the environment. */
import { createReadStream, type ReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import { LIMITS } from '../../../foundation/limits.ts'
import type { ByteRange } from './blob-store.ts'

export type S3Place = {
  bucket: string
  /** What all keys begin with. */
  prefix: string
  endpoint: string | undefined
  region: string | undefined
  /** Whether the bucket is in the path of URLs, and not in the host. */
  isPathStyle: boolean
}
type ListedObject = { name: string; size: number; modifiedAt: Date }

/** Objects by their names, which are their keys without the prefix. */
export type Bucket = {
  /** Stores a file as an object, a large one in parts. */
  put(name: string, file: string, size: number): Promise<void>
  putText(name: string, text: string): Promise<void>
  /** Opens an object; undefined if it is absent. */
  get(name: string, range?: ByteRange): Promise<Readable | undefined>
  has(name: string): Promise<boolean>
  /** Removes an object. Does nothing if it is absent. */
  remove(name: string): Promise<void>
  /** The objects whose names begin so, in the order of their names, those after `after` only. */
  list(start?: string, after?: string): AsyncIterable<ListedObject>
  /** What names begin with, up to their first slash. */
  folders(): Promise<string[]>
}

type Sdk = typeof import('@aws-sdk/client-s3')
type Opened = { sdk: Sdk; client: S3Client }

export function openBucket(place: S3Place): Bucket {
  const { bucket: Bucket, prefix } = place
  let opened: Promise<Opened> | undefined
  const open = (): Promise<Opened> => {
    opened ??= connect(place)
    return opened
  }
  const at = (name: string) => ({ Bucket, Key: prefix + name })
  return {
    put: async (name, file, size) => upload(await open(), at(name), file, size),
    putText: async (name, Body) => {
      const { sdk, client } = await open()
      await client.send(new sdk.PutObjectCommand({ ...at(name), Body }))
    },
    get: async (name, range) => {
      const { sdk, client } = await open()
      const command = new sdk.GetObjectCommand({ ...at(name), ...rangeOf(range) })
      const found = await client.send(command).catch((thrown: unknown) => {
        // A range of an empty object.
        if (isEmptyRange(thrown)) return { Body: Readable.from([]) }
        if (isAbsent(thrown)) return undefined
        throw thrown
      })
      return found?.Body instanceof Readable ? found.Body : undefined
    },
    has: async (name) => {
      const { sdk, client } = await open()
      return client.send(new sdk.HeadObjectCommand(at(name))).then(
        () => true,
        (thrown: unknown) => {
          if (isAbsent(thrown)) return false
          throw thrown
        },
      )
    },
    remove: async (name) => {
      const { sdk, client } = await open()
      await client.send(new sdk.DeleteObjectCommand(at(name)))
    },
    list: (start = '', after = '') => list(open, place, start, after),
    folders: async () => {
      const { sdk, client } = await open()
      const found: string[] = []
      for (let ContinuationToken: string | undefined; ; ) {
        const page = await client.send(
          new sdk.ListObjectsV2Command({ Bucket, Prefix: prefix, Delimiter: '/', ContinuationToken }),
        )
        for (const { Prefix = '' } of page.CommonPrefixes ?? []) found.push(Prefix.slice(prefix.length, -1))
        ContinuationToken = page.NextContinuationToken
        if (!page.IsTruncated) return found
      }
    },
  }
}

async function connect({ endpoint, region, isPathStyle }: S3Place): Promise<Opened> {
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

type Key = { Bucket: string; Key: string }

async function upload({ sdk, client }: Opened, place: Key, file: string, size: number): Promise<void> {
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
      // The answer may come before the end of the stream, which ends the request: until then its connection is not free.
      return await send(body)
    } catch (thrown) {
      // The SDK leaves it open, and an open file keeps its space on the disk.
      body.destroy()
      const status = statusOf(thrown)
      if (left <= 1 || (status !== undefined && status >= 400 && status < 500)) throw thrown
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
  { bucket: Bucket, prefix }: S3Place,
  start: string,
  after: string,
): AsyncIterable<ListedObject> {
  const { sdk, client } = await open()
  const Prefix = prefix + start
  let StartAfter = after === '' ? Prefix : prefix + after
  for (;;) {
    const page = await client.send(new sdk.ListObjectsV2Command({ Bucket, Prefix, StartAfter }))
    for (const { Key = '', Size = 0, LastModified = new Date() } of page.Contents ?? []) {
      yield { name: Key.slice(prefix.length), size: Size, modifiedAt: LastModified }
      StartAfter = Key
    }
    if (!page.IsTruncated) return
  }
}

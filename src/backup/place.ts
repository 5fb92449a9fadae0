/** Where backups are: a directory or a bucket, with files by name. */
import { createReadStream } from 'node:fs'
import { readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { readS3Url } from '../config/read-config.ts'
import type { BlobStore, StoredBlob } from '../engine/storage/blobs/blob-store.ts'
import { makeFolder, openSpool, syncFolder } from '../engine/storage/blobs/file-driver.ts'
import { openBlobStore } from '../engine/storage/blobs/open.ts'
import { openBucket } from '../engine/storage/blobs/s3-objects.ts'
import { LIMITS } from '../foundation/limits.ts'

type PlacedFile = { name: string; modifiedAt: Date }

export type Place = {
  readonly url: string
  /** The directory; undefined of a bucket. */
  readonly directory: string | undefined
  /** How many files are copied at once. */
  readonly atOnce: number
  /** Stores a file, whole or not at all, durably. Replaces one of that name. */
  write(name: string, source: Readable): Promise<Stored>
  /** Opens a file. @throws Missing */
  read(name: string): Promise<Readable>
  has(name: string): Promise<boolean>
  /** The files in a folder and below, in any order. */
  list(folder: string): AsyncIterable<PlacedFile>
  /** The names of folders at its root. */
  folders(): Promise<string[]>
  /** Removes a file, or a folder, whose name ends in "/", with all in it. */
  remove(name: string): Promise<void>
  /** Contents of all backups. */
  contents(): Promise<BlobStore>
}
/** A stored file: its bytes as stored, which are compressed. */
type Stored = Pick<StoredBlob, 'sha256' | 'size'>

const CONTENTS = 'contents'
const TEMPORARY = 'tmp'
const WHOLE = { maxBytes: Number.POSITIVE_INFINITY }

/**
 * Opens a place of backups.
 * @param url `file:///…`, `s3://…` or the path of a directory
 * @param work a directory for what is on its way to a bucket
 */
export async function openPlace(url: string, work: string): Promise<Place> {
  const bucket = url.startsWith('s3:') ? readS3Url(url) : undefined
  if (url.startsWith('s3:') && !bucket)
    throw new Error(`${url} is no address of a bucket: s3://bucket/prefix?endpoint=…&region=…`)
  if (bucket) return bucketPlace(url, bucket, work)
  return directoryPlace(url.startsWith('file:') ? fileURLToPath(url) : url)
}

/** The place has no such file. All else that prevents a read may pass. */
export class Missing extends Error {}
export const missing = (name: string, cause?: unknown): Missing =>
  new Missing(`${name} is missing in the backup.`, { cause })

async function directoryPlace(directory: string): Promise<Place> {
  const at = (name: string) => join(directory, name)
  // A place that is only read stays as it is, and may be read-only.
  const spool = lasting(() => openSpool(at(TEMPORARY), { isShared: true, settle: (file) => file.sync() }))
  return {
    url: pathToFileURL(directory).href,
    directory,
    atOnce: LIMITS.backupAtOnce.directory,
    write: async (name, source) =>
      (await spool())(source, WHOLE, async (file) => {
        const path = at(name)
        await makeFolder(dirname(path))
        await rename(file, path)
        await syncFolder(dirname(path))
      }),
    read: async (name) => {
      await stat(at(name)).catch((cause: NodeJS.ErrnoException) => {
        throw cause.code === 'ENOENT' ? missing(name, cause) : cause
      })
      return createReadStream(at(name))
    },
    has: (name) =>
      stat(at(name)).then(
        () => true,
        () => false,
      ),
    list: (folder) => filesIn(directory, at(folder)),
    folders: async () =>
      (await readdir(directory, { withFileTypes: true }).catch(() => [])).flatMap((each) =>
        each.isDirectory() ? [each.name] : [],
      ),
    remove: (name) => rm(at(name), { recursive: true, force: true }),
    contents: () => openBlobStore({ driver: 'file', directory: at(CONTENTS), isShared: true }),
  }
}

async function* filesIn(root: string, folder: string): AsyncIterable<PlacedFile> {
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => [])) {
    if (entry.isDirectory()) continue
    const path = join(entry.parentPath, entry.name)
    const { mtime } = await stat(path)
    yield { name: relative(root, path).replaceAll('\\', '/'), modifiedAt: mtime }
  }
}

async function bucketPlace(
  url: string,
  place: NonNullable<ReturnType<typeof readS3Url>>,
  work: string,
): Promise<Place> {
  const bucket = openBucket(place)
  const directory = join(work, 'backup-uploads')
  const spool = lasting(() => openSpool(directory, { isShared: true }))
  return {
    url,
    directory: undefined,
    atOnce: LIMITS.backupAtOnce.bucket,
    write: async (name, source) =>
      (await spool())(source, WHOLE, (file, { size }) => bucket.put(name, file, size)),
    read: async (name) => {
      const found = await bucket.get(name)
      if (!found) throw missing(name)
      return found
    },
    has: (name) => bucket.has(name),
    list: (folder) => bucket.list(folder),
    folders: () => bucket.folders(),
    remove: async (name) => {
      for await (const each of bucket.list(name)) await bucket.remove(each.name)
    },
    // Each store has connections of its own.
    contents: lasting(() =>
      openBlobStore({
        driver: 's3',
        ...place,
        prefix: `${place.prefix}${CONTENTS}/`,
        directory,
        isShared: true,
      }),
    ),
  }
}

/** Opens something when it is first needed; after a failure, again. */
function lasting<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined
  return () => {
    opened ??= open().catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }
}

/** Works on several items at a time. A failure of one ends the work of all. */
export async function each<T>(
  { atOnce }: Pick<Place, 'atOnce'>,
  items: Iterator<T> | AsyncIterator<T>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let failure: unknown
  const one = async (): Promise<void> => {
    try {
      for (let next = await items.next(); !next.done && !failure; next = await items.next())
        await work(next.value)
    } catch (error) {
      failure ??= error
    }
  }
  await Promise.all(Array.from({ length: atOnce }, one))
  if (failure) throw failure
}

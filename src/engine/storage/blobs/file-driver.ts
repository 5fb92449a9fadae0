/** Contents as files in a directory: `ab/cd/<sha256>`. Uploads are in `tmp/` until they are complete. */
import { randomUUID } from 'node:crypto'
import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { LIMITS } from '../../../foundation/limits.ts'
import {
  type BlobStore,
  type ByteRange,
  diskOf,
  isDigest,
  type ListedBlob,
  missingBlob,
  type PutLimits,
  requireDigest,
  STORE_ID,
  type StoredBlob,
  storageFull,
} from './blob-store.ts'
import { Measure } from './measure.ts'
import { readSmall } from './read-small.ts'

const FOLDER_MODE = 0o700
const FILE_MODE = 0o600
const TEMPORARY = 'tmp'
const FAN_OUT = /^[0-9a-f]{2}$/

const codeOf = (thrown: unknown): string | undefined => (thrown as NodeJS.ErrnoException | null)?.code
const isAbsent = (thrown: unknown): boolean => codeOf(thrown) === 'ENOENT'
const isFull = (thrown: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes(codeOf(thrown) ?? '')

/**
 * Opens the store and removes what interrupted uploads have left. `isShared`: another process may use the
 * directory too, so recent temporary files stay.
 */
export async function openFileDriver(directory: string, isShared: boolean): Promise<BlobStore> {
  const spool = await openSpool(join(directory, TEMPORARY), {
    isShared,
    // The file and its folder reach the disk at the same time.
    settle: async (file, { sha256 }) =>
      void (await Promise.all([file.sync(), makeFolder(dirname(pathOf(sha256)))])),
  })
  const pathOf = (sha256: string) =>
    join(directory, requireDigest(sha256).slice(0, 2), sha256.slice(2, 4), sha256)
  return {
    put: (source, limits) =>
      spool(source, limits, async (file, { sha256 }) => {
        const path = pathOf(sha256)
        await rename(file, path)
        await syncFolder(dirname(path))
      }),
    open: (sha256, range) => openFile(sha256, pathOf(sha256), range),
    has: async (sha256) => (await statOf(pathOf(sha256))) !== undefined,
    remove: (sha256) => rm(pathOf(sha256), { force: true }),
    list: (after = '') => list(directory, after),
    id: async () => (await optional(readFile(join(directory, STORE_ID), 'utf8')))?.trim(),
    setId: (id) => writeFile(join(directory, STORE_ID), `${id}\n`, { mode: FILE_MODE, flush: true }),
    disk: () => diskOf(directory),
  }
}

/** Writes a content to a local file, passes it on, and removes the file unless it was moved. A small content has no file. */
export type Spool = (
  source: Readable,
  limits: PutLimits,
  use: (file: string, stored: StoredBlob) => Promise<void>,
) => Promise<StoredBlob>

type Settle = (file: FileHandle, stored: StoredBlob) => Promise<void>

/** Opens a directory for contents on their way to their place. `settle` prepares a written file before it is passed on. */
export async function openSpool(
  directory: string,
  { isShared, settle }: { isShared: boolean; settle?: Settle },
): Promise<Spool> {
  await mkdir(directory, { recursive: true, mode: FOLDER_MODE })
  await removeLeftovers(directory, isShared ? LIMITS.uploadLeftoverMs : 0)
  return async (source, limits, use) => {
    // The source may fail before it is read.
    source.once('error', () => {})
    const small = await readSmall(source, limits)
    if (small) return small
    const file = join(directory, randomUUID())
    try {
      const stored = await write(source, limits, file, settle)
      await use(file, stored)
      return stored
    } catch (thrown) {
      throw isFull(thrown) ? storageFull(thrown) : thrown
    } finally {
      await rm(file, { force: true })
    }
  }
}

async function write(
  source: Readable,
  limits: PutLimits,
  temporary: string,
  settle: Settle | undefined,
): Promise<StoredBlob> {
  const measure = new Measure(limits)
  const file = await open(temporary, 'wx', FILE_MODE)
  try {
    for await (const chunk of measure.chunks(source)) await file.appendFile(chunk)
    const stored = measure.result()
    await settle?.(file, stored)
    return stored
  } finally {
    await file.close()
  }
}

/** Creates a folder and those above it, durably. */
export async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: FOLDER_MODE })
  if (first === undefined) return
  for (let each = folder; each.length >= first.length; each = dirname(each)) await syncFolder(dirname(each))
}

/** Makes the names in a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open a folder, and its file systems keep names in a journal.
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function openFile(sha256: string, path: string, range: ByteRange | undefined): Promise<Readable> {
  const file = await open(path, 'r').catch((thrown: unknown): FileHandle => {
    throw isAbsent(thrown) ? missingBlob(sha256, thrown) : thrown
  })
  return file.createReadStream({ highWaterMark: LIMITS.blobChunkBytes, ...range })
}

async function* list(directory: string, after: string): AsyncIterable<ListedBlob> {
  for (const first of await folders(directory, after.slice(0, 2)))
    for (const second of await folders(
      join(directory, first),
      after.startsWith(first) ? after.slice(2, 4) : '',
    ))
      for (const sha256 of (await names(join(directory, first, second))).filter(isDigest)) {
        const found = sha256 > after ? await statOf(join(directory, first, second, sha256)) : undefined
        if (found) yield { sha256, ...found }
      }
}

const folders = async (directory: string, from: string): Promise<string[]> =>
  (await names(directory)).filter((name) => FAN_OUT.test(name) && name >= from)

/** The sorted names in a folder; none if it is absent. */
const names = (folder: string): Promise<string[]> =>
  readdir(folder).then(
    (found) => found.sort(),
    (thrown: unknown) => {
      if (isAbsent(thrown)) return []
      throw thrown
    },
  )

async function statOf(path: string): Promise<{ size: number; modifiedAt: Date } | undefined> {
  const found = await optional(stat(path))
  return found && { size: found.size, modifiedAt: found.mtime }
}

/** What a file gives; undefined if it is absent. */
const optional = <T>(read: Promise<T>): Promise<T | undefined> =>
  read.catch((thrown: unknown) => {
    if (isAbsent(thrown)) return undefined
    throw thrown
  })

/** Removes temporary files that no upload has written to for a time. */
async function removeLeftovers(temporary: string, olderThanMs: number): Promise<void> {
  for (const name of await names(temporary)) {
    const path = join(temporary, name)
    const found = await statOf(path)
    if (found && Date.now() - found.modifiedAt.getTime() >= olderThanMs) await rm(path, { force: true })
  }
}

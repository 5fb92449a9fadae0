/** Files as they are in a backup: compressed by zstd, which checks them as they are read. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { Readable, type Transform, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'
import { LIMITS } from '../foundation/limits.ts'
import type { Place } from './place.ts'

const PARAMETERS = {
  [constants.ZSTD_c_compressionLevel]: LIMITS.backupCompression,
  [constants.ZSTD_c_checksumFlag]: 1,
}
const CHUNK_BYTES = { least: 4 * 1024, most: 256 * 1024 }

/** A failure of the source ends what reads the result. */
function through(source: Readable, transform: Transform): Readable {
  pipeline(source, transform).catch(() => {})
  return transform
}

export const packed = (source: Readable, chunkSize: number = CHUNK_BYTES.most): Readable =>
  through(source, createZstdCompress({ params: PARAMETERS, chunkSize }))
const unpacked = (source: Readable): Readable => through(source, createZstdDecompress())

/**
 * Stores a file. `size` is what was read of it.
 * @param about its size, so that the buffers of the many small files of a database are small
 */
export async function packFile(
  place: Place,
  name: string,
  path: string,
  about: number = CHUNK_BYTES.most,
): Promise<{ sha256: string; size: number; stored: number }> {
  const chunk = Math.min(CHUNK_BYTES.most, Math.max(CHUNK_BYTES.least, about))
  const source = createReadStream(path, { highWaterMark: chunk })
  const small = packed(source, chunk)
  try {
    const { sha256, size } = await place.write(name, small)
    return { sha256, size: source.bytesRead, stored: size }
  } finally {
    // A failed write leaves them open.
    small.destroy()
    source.destroy()
  }
}

/** Reads a stored file, as it was, and checks the digest of its stored form at the end. */
export async function openPacked(place: Place, name: string, sha256?: string): Promise<Readable> {
  const source = await place.read(name)
  if (sha256 === undefined) return unpacked(source)
  return unpacked(Readable.from(checked(name, source, sha256), { objectMode: false }))
}

async function* checked(name: string, source: Readable, sha256: string): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  for await (const chunk of source) {
    hash.update(chunk)
    yield chunk
  }
  if (hash.digest('hex') !== sha256) throw new Error(`${name} is damaged: it has another digest.`)
}

/** Reads a stored file to its end, and says which it is if it cannot be read. */
export async function checkPacked(place: Place, name: string, sha256?: string): Promise<void> {
  await pipeline(
    await openPacked(place, name, sha256),
    new Writable({ write: (_chunk, _encoding, done) => done() }),
  ).catch(damaged(name))
}

export const damaged =
  (name: string) =>
  (cause: unknown): never => {
    throw cause instanceof Error && cause.message.startsWith(name)
      ? cause
      : new Error(`${name} is damaged.`, { cause })
  }

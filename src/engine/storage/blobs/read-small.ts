/** Reads small contents into memory. They are not stored here. Listeners cost a fraction of the processor time of an iterator. */
import { hash } from 'node:crypto'
import { addAbortSignal, type Readable } from 'node:stream'
import { type PutLimits, type StoredBlob, tooLarge, uploadAborted } from './blob-store.ts'
import { requireDeclared } from './measure.ts'

/**
 * Reads a content of at most `inMemoryBytes`. Undefined for a larger one, which can then be read from its beginning. Leaves the
 * source open on failure.
 * @throws VALIDATION_ERROR if there are too many bytes, the source breaks off, or the digest is not the declared one
 */
export async function readSmall(source: Readable, limits: PutLimits): Promise<StoredBlob | undefined> {
  const { inMemoryBytes, signal } = limits
  if (inMemoryBytes === undefined) return undefined
  if (signal) addAbortSignal(signal, source)
  const bytes = await gather(source, inMemoryBytes, limits.maxBytes)
  if (!bytes) return undefined
  const sha256 = hash('sha256', bytes, 'hex')
  requireDeclared(limits, sha256)
  return { sha256, size: bytes.length, bytes }
}

/** All bytes of the source; undefined if there are more than `most`, which are put back. */
function gather(source: Readable, most: number, maxBytes: number): Promise<Buffer | undefined> {
  if (source.readableEnded) return Promise.resolve(Buffer.alloc(0))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const leave = () => source.off('data', take).off('end', end).off('error', abort).off('close', abort)
    const take = (value: Buffer | string) => {
      const chunk = typeof value === 'string' ? Buffer.from(value) : value
      chunks.push(chunk)
      size += chunk.length
      if (size <= most && size <= maxBytes) return
      leave()
      source.pause()
      if (size > maxBytes) return reject(tooLarge(maxBytes))
      source.unshift(Buffer.concat(chunks))
      resolve(undefined)
    }
    const end = () => {
      leave()
      const [only] = chunks
      resolve(only && chunks.length === 1 ? only : Buffer.concat(chunks))
    }
    const abort = (cause: unknown = new Error('The source was closed before its end.')) => {
      leave()
      reject(uploadAborted(cause))
    }
    if (source.destroyed) return abort(source.errored ?? undefined)
    source.on('end', end).on('error', abort).on('close', abort).on('data', take)
  })
}

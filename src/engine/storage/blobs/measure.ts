import { createHash } from 'node:crypto'
import { addAbortSignal, type Readable } from 'node:stream'
import { digestMismatch, type PutLimits, type StoredBlob, tooLarge, uploadAborted } from './blob-store.ts'

/** Counts and hashes a content while it is read. */
export class Measure {
  readonly #hash = createHash('sha256')
  readonly #limits: PutLimits
  #size = 0
  /** The chunks so far, while the content may be kept. */
  #kept: Buffer[] | null = null
  readonly #keepBytes: number

  constructor(limits: PutLimits) {
    this.#limits = limits
    const { keepBytes } = limits
    this.#keepBytes = keepBytes ?? 0
    if (keepBytes !== undefined) this.#kept = []
  }

  /**
   * The chunks of the source. Leaves the source open on failure, because the response to an upload needs its connection.
   * @throws VALIDATION_ERROR if there are too many bytes, or the source breaks off
   */
  async *chunks(source: Readable): AsyncGenerator<Buffer, void, undefined> {
    const { maxBytes, signal } = this.#limits
    if (signal) addAbortSignal(signal, source)
    const chunks: AsyncIterator<Buffer | string> = source.iterator({ destroyOnReturn: false })
    for (;;) {
      const { done, value } = await chunks.next().catch((thrown: unknown) => {
        throw uploadAborted(thrown)
      })
      if (done) return
      const chunk = typeof value === 'string' ? Buffer.from(value) : value
      this.#size += chunk.length
      if (this.#size > maxBytes) throw tooLarge(maxBytes)
      this.#hash.update(chunk)
      this.#kept?.push(chunk)
      yield chunk
      if (this.#size > this.#keepBytes) this.#kept = null
    }
  }

  /**
   * Size and digest of what was read, and the bytes of a small content. Call it once, at the end.
   * @throws VALIDATION_ERROR if the digest is not the declared one
   */
  result(): StoredBlob {
    const sha256 = this.#hash.digest('hex')
    requireDeclared(this.#limits, sha256)
    return { sha256, size: this.#size, ...(this.#kept && { bytes: Buffer.concat(this.#kept) }) }
  }
}

/** @throws VALIDATION_ERROR if the digest is not the declared one */
export function requireDeclared({ sha256: declared }: PutLimits, sha256: string): void {
  if (declared !== undefined && declared !== sha256) throw digestMismatch(declared, sha256)
}

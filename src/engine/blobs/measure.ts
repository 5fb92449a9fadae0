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
  /** Whether the content is still so small that it is held. */
  #isHeld: boolean

  constructor(limits: PutLimits) {
    this.#limits = limits
    const { keepBytes, heldBytes } = limits
    this.#isHeld = heldBytes !== undefined
    this.#keepBytes = Math.max(keepBytes ?? 0, heldBytes ?? 0)
    if (keepBytes !== undefined || heldBytes !== undefined) this.#kept = []
  }

  /** Whether the content, at its end, is one that is not stored: `chunks` has given nothing. */
  get isHeld(): boolean {
    return this.#isHeld
  }

  /**
   * The chunks of the source; none of a content that is held. Leaves the source open on failure, because the response to an upload needs its
   * connection.
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
      if (this.#isHeld) {
        if (this.#size <= (this.#limits.heldBytes ?? 0)) continue
        this.#isHeld = false
        yield Buffer.concat(this.#kept ?? [])
      } else yield chunk
      if (this.#size > this.#keepBytes) this.#kept = null
    }
  }

  /**
   * Size and digest of what was read, and the bytes of a small content. Call it once, at the end.
   * @throws VALIDATION_ERROR if the digest is not the declared one
   */
  result(): StoredBlob {
    const sha256 = this.#hash.digest('hex')
    const declared = this.#limits.sha256
    if (declared !== undefined && declared !== sha256) throw digestMismatch(declared, sha256)
    return { sha256, size: this.#size, ...(this.#kept && { bytes: Buffer.concat(this.#kept) }) }
  }
}

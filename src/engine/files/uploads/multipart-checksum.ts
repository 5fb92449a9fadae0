import { CHECKSUMS, type ChecksumName, type Running } from '../../../foundation/checksums.ts'
import { invalid } from '../../../foundation/errors.ts'

/** A checksum of a content in parts, in base64. `ofParts`: it is one of the checksums of the parts. */
export type DeclaredChecksum = { algorithm: ChecksumName; value: string; ofParts: boolean }

/** The checksum of a content in parts, while they are joined. */
export class MultipartChecksum {
  readonly #declared: DeclaredChecksum
  readonly #whole: Running
  #part: Running | null = null

  private constructor(declared: DeclaredChecksum, whole: Running, part: Running | null) {
    this.#declared = declared
    this.#whole = whole
    this.#part = part
  }

  static async of(declared: DeclaredChecksum): Promise<MultipartChecksum> {
    const { open } = CHECKSUMS[declared.algorithm]
    return new MultipartChecksum(declared, await open(), declared.ofParts ? await open() : null)
  }

  update(bytes: Buffer): void {
    const running = this.#part ?? this.#whole
    running.update(bytes)
  }

  async endPart(): Promise<void> {
    if (!this.#part) return
    this.#whole.update(Buffer.from(await this.#part.digest()))
    this.#part = await CHECKSUMS[this.#declared.algorithm].open()
  }

  /** @throws VALIDATION_ERROR if it is not the declared one */
  async check(): Promise<void> {
    const { algorithm, value } = this.#declared
    const computed = Buffer.from(await this.#whole.digest()).toString('base64')
    if (computed === value) return
    throw invalid({
      path: '/checksum',
      code: 'checksum_mismatch',
      message: `The parts have another ${algorithm} than the declared one. Compare them, and send those that differ again.`,
      expected: value,
      received: computed,
    })
  }
}

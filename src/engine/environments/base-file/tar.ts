/**
 * Members of a tar file: the plain ustar headers that an export needs. A reader for any tar would accept links, long names and
 * gaps, which an import has to refuse; so none is used (docs/adr/0075-a-base-in-one-file.md).
 */
import { invalid } from '../../../foundation/errors.ts'

const BLOCK = 512
const NAME_BYTES = 100
const SIZE_AT = 124
const SIZE_BYTES = 12
const CHECKSUM_AT = 148
const CHECKSUM_BYTES = 8
/** Sizes of 8 GiB and more do not fit into octal digits: they are a number of 88 bits after this mark. */
const BINARY = 0x80
const OCTAL_MOST = 8 ** 11 - 1

/** The end of a file: two empty blocks. */
export const TAR_END = Buffer.alloc(2 * BLOCK)

/** The header of a file of `size` bytes. Equal members have equal headers: there is no time in it. */
export function header(name: string, size: number): Buffer {
  const block = Buffer.alloc(BLOCK)
  if (block.write(name) !== Buffer.byteLength(name) || Buffer.byteLength(name) > NAME_BYTES)
    throw new Error(`A member cannot be named ${name}`)
  block.write('0000644\0' + '0000000\0' + '0000000\0', NAME_BYTES, 'latin1')
  if (size <= OCTAL_MOST) block.write(`${octal(size, SIZE_BYTES - 1)}\0`, SIZE_AT, 'latin1')
  else {
    block[SIZE_AT] = BINARY
    block.writeBigUInt64BE(BigInt(size), SIZE_AT + 4)
  }
  block.write(`${octal(0, 11)}\0`, 136, 'latin1')
  block.write('0', 156, 'latin1')
  block.write('ustar\0' + '00', 257, 'latin1')
  block.write(`${octal(sumOf(block), 6)}\0 `, CHECKSUM_AT, 'latin1')
  return block
}

/** What fills the last block of a member. */
export const padding = (size: number): Buffer => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK)

const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, '0')

/** The sum of a header in which the sum itself is blank. */
function sumOf(block: Buffer): number {
  let sum = CHECKSUM_BYTES * 0x20
  for (const [at, byte] of block.entries())
    if (at < CHECKSUM_AT || at >= CHECKSUM_AT + CHECKSUM_BYTES) sum += byte
  return sum
}

export type Member = {
  readonly name: string
  readonly size: number
  /** Its bytes. What is not taken of them is skipped. */
  readonly bytes: AsyncIterable<Buffer>
}

/**
 * Reads the members of a file as they arrive. Only headers that `header` makes are taken.
 * @throws VALIDATION_ERROR for a file that is cut, or is another kind of tar
 */
export async function* readMembers(source: AsyncIterable<Buffer>): AsyncGenerator<Member> {
  const input = new Input(source)
  for (;;) {
    const block = await input.exactly(BLOCK)
    if (block.every((byte) => byte === 0)) return input.requireEnd()
    const name = block.toString('latin1', 0, Math.max(0, block.indexOf(0)))
    const size = block[SIZE_AT] === BINARY ? Number(block.readBigUInt64BE(SIZE_AT + 4)) : octalSize(block)
    if (name === '' || !Number.isSafeInteger(size) || !block.equals(header(name, size)))
      throw notAnExport('/', 'invalid_member', 'The file has a member that no export writes.')
    let left = size
    const bytes = (async function* () {
      while (left > 0) {
        const part = await input.some(left)
        left -= part.length
        yield part
      }
    })()
    yield { name, size, bytes }
    while (left > 0) left -= (await input.some(left)).length
    const rest = await input.exactly(padding(size).length)
    if (rest.some((byte) => byte !== 0))
      throw notAnExport(name, 'invalid_member', 'There are bytes after the member that belong to none.')
  }
}

const octalSize = (block: Buffer): number =>
  Number.parseInt(block.toString('latin1', SIZE_AT, SIZE_AT + SIZE_BYTES - 1), 8)

/** The bytes of a source, a chunk at a time. */
class Input {
  readonly #chunks: AsyncIterator<Buffer>
  #chunk: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Buffer>) {
    this.#chunks = source[Symbol.asyncIterator]()
  }
  /** The next bytes, at least one and at most `most`. */
  async some(most: number): Promise<Buffer> {
    while (this.#chunk.length === 0) {
      const next = await this.#chunks.next()
      if (next.done) throw notAnExport('/', 'cut', 'The file ends before it is complete.')
      this.#chunk = next.value
    }
    const part = this.#chunk.subarray(0, most)
    this.#chunk = this.#chunk.subarray(part.length)
    return part
  }
  async exactly(size: number): Promise<Buffer> {
    const parts: Buffer[] = []
    for (let left = size; left > 0; left -= parts.at(-1)?.length ?? 0) parts.push(await this.some(left))
    return Buffer.concat(parts)
  }
  /** The second empty block, and nothing after it but empty blocks, with which some tools fill a file up. */
  async requireEnd(): Promise<void> {
    if ((await this.exactly(BLOCK)).some((byte) => byte !== 0)) throw afterEnd()
    for (let chunk = this.#chunk; ; ) {
      if (chunk.some((byte) => byte !== 0)) throw afterEnd()
      const next = await this.#chunks.next()
      if (next.done) return
      chunk = next.value
    }
  }
}

const afterEnd = () => notAnExport('/', 'invalid_member', 'There are bytes after the end of the file.')

/** The refusal of a file. `place` is a member, or a line of one. */
export const notAnExport = (place: string, code: string, message: string, more: object = {}) =>
  invalid({ path: place, code, message: `${message} Export the base again.`, ...more })

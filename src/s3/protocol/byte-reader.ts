import { S3Fault } from './fault.ts'

/** Reads lines and counted bytes from a body that arrives in chunks. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>
  #left: Buffer = Buffer.alloc(0)

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /**
   * The next line without its CR LF.
   * @throws S3Fault if the body ends before, or the line is too long
   */
  async line(mostBytes: number): Promise<string> {
    for (;;) {
      const end = this.#left.indexOf('\r\n')
      if (end >= 0 && end <= mostBytes) {
        const line = this.#left.toString('latin1', 0, end)
        this.#left = this.#left.subarray(end + 2)
        return line
      }
      if (this.#left.length > mostBytes + 1) throw malformed(`a line has more than ${mostBytes} bytes`)
      const more = await this.#next()
      if (!more) throw incomplete()
      this.#left = Buffer.concat([this.#left, more])
    }
  }

  /**
   * The next bytes, as they arrive.
   * @throws S3Fault if the body ends before
   */
  async *bytes(count: number): AsyncGenerator<Buffer> {
    for (let missing = count; missing > 0; ) {
      if (this.#left.length === 0) {
        const more = await this.#next()
        if (!more) throw incomplete()
        this.#left = more
      }
      const part = this.#left.subarray(0, missing)
      this.#left = this.#left.subarray(part.length)
      missing -= part.length
      yield part
    }
  }

  /** @throws S3Fault if there is anything left */
  async end(): Promise<void> {
    const isOver = this.#left.length === 0 && (await this.#next()) === undefined
    if (!isOver) throw malformed('there are bytes after the last chunk')
  }

  async #next(): Promise<Buffer | undefined> {
    for (;;) {
      const { done, value } = await this.#chunks.next()
      if (done) return undefined
      if (value.length > 0) return value
    }
  }
}

export const incomplete = () =>
  new S3Fault('IncompleteBody', 'The body has fewer bytes than the request declares.')
export const malformed = (why: string) =>
  new S3Fault('InvalidRequest', `The body is not a valid aws-chunked body: ${why}.`)

/** Reads a range of the lines of a text file. */

import type { Readable } from 'node:stream'
import { NEWLINE } from '../../foundation/ascii.ts'
import { invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { decodeText } from '../../foundation/text-encoding.ts'
import { openContent } from '../core/contents/read.ts'
import type { Scope } from '../core/scope.ts'
import type { File } from './file.ts'
import type { FileAddress } from './find.ts'
import { getFile } from './read.ts'

/** Lines of a file. */
export type FileText = {
  readonly file: File
  /** Whether the content is no UTF-8 text. There are no lines then. */
  readonly binary: boolean
  readonly text: string | null
  /** The first and the last line in `text`, from 1; 0 if there is none. */
  readonly from: number
  readonly to: number
  /** The number of lines of the file; null if it was not read to its end. */
  readonly lines: number | null
  /** Whether the requested lines go on after `text`. */
  readonly hasMore: boolean
}
export type LineArgs = {
  version: number | null
  from?: number | null | undefined
  to?: number | null | undefined
  maxBytes?: number | null | undefined
}

/**
 * Reads the lines `from` to `to` of a version, by default all, as long as they fit into `maxBytes`. A line that is
 * longer than that by itself is cut.
 * @throws FORBIDDEN; NOT_FOUND; VALIDATION_ERROR for lines that the file does not have
 */
export async function readLines(scope: Scope, address: FileAddress, args: LineArgs): Promise<FileText> {
  const file = await getFile(scope, address, args.version)
  const [from, to] = [args.from ?? 1, args.to ?? Number.POSITIVE_INFINITY]
  if (from < 1 || to < from) throw badRange()
  const maxBytes = Math.max(
    1,
    Math.min(args.maxBytes ?? LIMITS.inlineContentBytes, LIMITS.inlineContentBytes),
  )
  const content =
    file.size === 0 ? [] : await openContent(scope, { sha256: file.contentSha256, size: file.size })
  // The end of a small file is read for the number of its lines.
  const found = await scan(content, { from, to, maxBytes }, file.size <= LIMITS.inlineContentBytes)
  const bytes = Buffer.concat(found.kept)
  const text = found.isBinary ? null : decodeText(bytes, found.isCut)
  if (text === null) return { file, binary: true, text: null, from: 0, to: 0, lines: null, hasMore: false }
  if (bytes.length === 0 && from > 1) throw beyond(file, from, found.lines)
  const last = bytes.length === 0 ? 0 : from + Math.max(0, found.count - 1)
  const hasMore = found.isCut || (found.hasNext && last < to)
  return { file, binary: false, text, from: last === 0 ? 0 : from, to: last, lines: found.lines, hasMore }
}

type Range = { from: number; to: number; maxBytes: number }

/** Finds the lines in the stream. Ends it as soon as it has them, unless `toEnd`. */
async function scan(content: Readable | Buffer[], range: Range, toEnd: boolean): Promise<LineScan> {
  const found = new LineScan(range)
  for await (const chunk of content as AsyncIterable<Buffer>) {
    found.add(chunk)
    if (found.isBinary || (found.hasNext && !toEnd)) return found
    if (found.scanned > LIMITS.scannedBytes && found.kept.length === 0) throw tooFar()
  }
  found.end()
  return found
}

/** Collects the lines of a range from the chunks of a content. */
class LineScan {
  readonly kept: Buffer[] = []
  /** Lines in `kept`. */
  count = 0
  /** Whether the last of them is cut, and whether there is content after them. */
  isCut = false
  hasNext = false
  isBinary = false
  /** Lines of the content; null if it was not read to its end. */
  lines: number | null = null
  scanned = 0
  readonly #range: Range
  #line = 1
  #left: number
  #endsInNewline = true

  constructor(range: Range) {
    this.#range = range
    this.#left = range.maxBytes
  }

  add(chunk: Buffer): void {
    if (this.scanned === 0 && chunk.includes(0)) this.isBinary = true
    this.scanned += chunk.length
    const { from, to } = this.#range
    let start = chunk.length
    let end = 0
    for (let at = 0; at < chunk.length && !this.isBinary; ) {
      const newline = chunk.indexOf(NEWLINE, at)
      const next = newline < 0 ? chunk.length : newline + 1
      if (this.#line > to) this.hasNext = true
      else if (this.#line >= from && !this.hasNext) {
        start = Math.min(start, at)
        end = this.#keep(at, next)
      }
      this.#endsInNewline = newline >= 0
      if (newline >= 0) this.#line++
      at = next
    }
    if (end > start) this.kept.push(chunk.subarray(start, end))
    if (this.hasNext && !this.isCut) this.#dropPart()
  }

  end(): void {
    this.lines = this.#endsInNewline ? this.#line - 1 : this.#line
  }

  /** Keeps a part of the current line, as far as it fits. Returns where the kept part ends. */
  #keep(at: number, next: number): number {
    const done = this.#line - this.#range.from
    if (next - at > this.#left) {
      this.hasNext = true
      this.isCut = done === 0
      this.count = Math.max(1, done)
      return at + (this.isCut ? this.#left : 0)
    }
    this.#left -= next - at
    this.count = done + 1
    return next
  }

  /** Drops the part of a line that began in an earlier chunk and does not fit. */
  #dropPart(): void {
    const last = this.kept.at(-1)
    if (!last || last.at(-1) === NEWLINE) return
    const bytes = Buffer.concat(this.kept)
    this.kept.splice(0, this.kept.length, bytes.subarray(0, bytes.lastIndexOf(NEWLINE) + 1))
  }
}

const badRange = () =>
  invalid({ path: '/lines', code: 'out_of_range', message: 'Lines count from 1: send them as 10-20 or 10-.' })

const beyond = ({ path }: File, from: number, lines: number | null) =>
  invalid({
    path: '/lines',
    code: 'range_not_satisfiable',
    message: `"${path}" has ${lines ?? 0} lines. Send a range within them.`,
    received: from,
    expected: lines ?? 0,
  })

const tooFar = () =>
  invalid({
    path: '/lines',
    code: 'too_large',
    message: `Lines are found in the first ${LIMITS.scannedBytes} bytes of a content. Send a Range of bytes over REST.`,
    expected: LIMITS.scannedBytes,
  })

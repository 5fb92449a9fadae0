import { type Detail, type DomainError, invalid } from '../../../../foundation/errors.ts'
import { LIMITS } from '../../../../foundation/limits.ts'

/**
 * Source map entry: bytes `start` to `end` of the parsed text correspond to bytes `from` to `to` of the
 * original.
 */
export type Edit = { start: number; end: number; from: number; to: number }

/** The original statement and the parsed text, with a source map for error positions. */
export class Source {
  /** The original text. */
  readonly text: string
  /** The parsed text, in which `$n` replaces named parameters. */
  readonly parsed: string
  private readonly edits: readonly Edit[]

  constructor(text: string, parsed: string = text, edits: readonly Edit[] = []) {
    this.text = text
    this.parsed = parsed
    this.edits = edits
  }

  /**
   * Creates a 400 at `/query`; with `location`, a byte offset of the parsed text, the message includes the
   * position.
   */
  fault(code: string, message: string, location?: number, extra: Partial<Detail> = {}): DomainError {
    const place = location === undefined ? '' : ` ${this.describe(location)}`
    return invalid({ path: '/query', code, message: message + place, ...extra })
  }

  /** The original text from this byte offset of the parsed text. */
  from(location: number): string {
    return this.text.slice(this.characterAt(location))
  }

  /** The place of a byte offset of the parsed text, in words. */
  describe(location: number): string {
    const at = this.characterAt(location)
    const near = this.text.slice(at, at + LIMITS.sqlNearChars).split(/[\r\n]/, 1)[0]
    const count = [...this.text.slice(0, at)].length + 1
    return near ? `(character ${count}, near ${JSON.stringify(near)})` : `(at the end, character ${count})`
  }

  private characterAt(location: number): number {
    const edit = this.edits.findLast(({ start }) => start <= location)
    const byte = edit ? (location < edit.end ? edit.from : location - edit.end + edit.to) : location
    return Buffer.from(this.text).subarray(0, byte).toString().length
  }
}

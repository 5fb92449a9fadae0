import { type Detail, type DomainError, invalid } from '../../../../foundation/errors.ts'

const NEAR_CHARS = 24

/** Where bytes `start` to `end` of the parsed text stand for bytes `from` to `to` of the caller's. */
export type Edit = { start: number; end: number; from: number; to: number }

/** The caller's statement: what is parsed, and how to say where in the caller's own words a fault is. */
export class Source {
  /** What the caller wrote. */
  readonly text: string
  /** What is parsed: named parameters stand in it as `$n`. */
  readonly parsed: string
  private readonly edits: readonly Edit[]

  constructor(text: string, parsed: string = text, edits: readonly Edit[] = []) {
    this.text = text
    this.parsed = parsed
    this.edits = edits
  }

  /** A 400 at `/query`; `location` is a byte of the parsed text, and the message then names the place. */
  fault(code: string, message: string, location?: number, extra: Partial<Detail> = {}): DomainError {
    const place = location === undefined ? '' : ` ${this.describe(location)}`
    return invalid({ path: '/query', code, message: message + place, ...extra })
  }

  /** What the caller wrote from this byte of the parsed text on. */
  from(location: number): string {
    return this.text.slice(this.characterAt(location))
  }

  private describe(location: number): string {
    const at = this.characterAt(location)
    const near = this.text.slice(at, at + NEAR_CHARS).split(/[\r\n]/, 1)[0]
    const count = [...this.text.slice(0, at)].length + 1
    return near ? `(character ${count}, near ${JSON.stringify(near)})` : `(at the end, character ${count})`
  }

  private characterAt(location: number): number {
    const edit = this.edits.findLast(({ start }) => start <= location)
    const byte = edit ? (location < edit.end ? edit.from : location - edit.end + edit.to) : location
    return Buffer.from(this.text).subarray(0, byte).toString().length
  }
}

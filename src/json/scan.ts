import { BACKSLASH, QUOTE } from '../foundation/ascii.ts'
import type { Detail } from '../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../foundation/event-loop-turns.ts'
import { LIMITS } from '../foundation/limits.ts'
import { survivesDouble } from './decimal.ts'
import {
  checkKey,
  checkString,
  MOST_FAULTS,
  malformed,
  type Path,
  pointer,
  tooDeep,
  type Use,
  unsafeNumber,
} from './faults.ts'

/**
 * Validates JSON text token by token and lists its faults in order. A fault that ends the scan (malformed
 * text, too many levels) is alone or last. The scan is iterative, so deep nesting cannot overflow the stack.
 */
export function scan(text: string, at: string, use: Use): Detail[] {
  const scanner = new Scanner(text, at, use)
  try {
    while (scanner.run());
  } catch {
    return [malformed(text, scanner.i, at)]
  }
  return scanner.faults
}

/** `scan` that yields to the event loop. */
export async function scanInTurns(text: string, at: string, use: Use): Promise<Detail[]> {
  const scanner = new Scanner(text, at, use)
  try {
    while (scanner.run()) if (turnIsOver()) await nextTurn()
  } catch {
    return [malformed(text, scanner.i, at)]
  }
  return scanner.faults
}

/** A number that a double would change: where it is in the text, and in the document. */
export type UnsafeNumber = { readonly start: number; readonly end: number; readonly path: string }

/** Finds the numbers that a double would change in text that is well-formed, with the paths of the first ones. */
export async function unsafeNumbersIn(text: string, paths: number): Promise<UnsafeNumber[]> {
  const found: UnsafeNumber[] = []
  const scanner = new Scanner(text, '', 'stored', (start, end, path) =>
    found.push({ start, end, path: found.length < paths ? pointer(...path) : '' }),
  )
  while (scanner.run()) if (turnIsOver()) await nextTurn()
  return found
}

/** Offset of the first character from `i` on that is not white space. */
export function skipSpace(text: string, i: number): number {
  for (let at = i; ; at++) {
    const c = text.charCodeAt(at)
    if (c !== 32 && c !== 10 && c !== 13 && c !== 9) return at
  }
}

/** Offset after the string that opens at `start`; the length of the text when it is not closed. */
export function stringEnd(text: string, start: number): number {
  const end = text.indexOf('"', start + 1)
  if (end < 0) return text.length
  if (text.charCodeAt(end - 1) !== BACKSLASH) return end + 1
  for (let i = start + 1; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === QUOTE) return i + 1
    if (c === BACKSLASH) i++
  }
  return text.length
}

const STOPS = new Set([...' \n\r\t,]}:"[{'].map((c) => c.charCodeAt(0)))

class Scanner {
  readonly faults: Detail[] = []
  /** One segment for each open container: its current member. */
  readonly path: Path = []
  i = 0
  /** True between an opening bracket and its first member, where no comma is expected. */
  private fresh = false
  readonly text: string
  readonly at: string
  readonly use: Use
  /** Takes numbers that a double would change, which are faults otherwise. */
  readonly take: ((start: number, end: number, path: Path) => void) | undefined

  constructor(text: string, at: string, use: Use, take?: Scanner['take']) {
    this.text = text
    this.at = at
    this.use = use
    this.take = take
  }

  /** Reads a few values. Returns false at the end of the text. */
  run(): boolean {
    for (let values = 0; values < LIMITS.jsonValuesAtOnce; values++) {
      const c = this.peek()
      if (c !== '{' && c !== '[') this.scalar()
      else if (this.path.length < LIMITS.jsonDepth) this.enter(c)
      else {
        this.faults.push(tooDeep(this.at, this.path))
        return false
      }
      if (!this.advance() || this.faults.length >= MOST_FAULTS) return false
    }
    return true
  }

  /** Returns the next character that is not white space. */
  private peek(): string | undefined {
    let c = this.text.charCodeAt(this.i)
    while (c === 32 || c === 10 || c === 13 || c === 9) c = this.text.charCodeAt(++this.i)
    return this.text[this.i]
  }

  private enter(bracket: '{' | '['): void {
    this.i++
    this.path.push(bracket === '{' ? '' : -1)
    this.fresh = true
  }

  /** Advances to the next value after a value or an opening bracket. Returns false at the end of the text. */
  private advance(): boolean {
    for (;;) {
      const c = this.peek()
      const member = this.path.at(-1)
      if (member === undefined) return c === undefined ? false : this.fail()
      const fresh = this.fresh
      this.fresh = false
      const isArray = typeof member === 'number'
      if (c === (isArray ? ']' : '}')) {
        this.i++
        this.path.pop()
        continue
      }
      if (!fresh && this.text[this.i++] !== ',') this.fail(this.i - 1)
      if (isArray) this.path[this.path.length - 1] = member + 1
      else this.key()
      return true
    }
  }

  private key(): void {
    if (this.peek() !== '"') this.fail()
    const key = this.string()
    this.path[this.path.length - 1] = key
    checkKey(key, this.at, this.path, this.faults)
    if (this.peek() !== ':') this.fail()
    this.i++
  }

  private scalar(): void {
    if (this.text[this.i] === '"') {
      checkString(this.string(), this.at, this.path, this.faults, this.use)
      return
    }
    const start = this.i
    while (this.i < this.text.length && !STOPS.has(this.text.charCodeAt(this.i))) this.i++
    const token = this.text.slice(start, this.i)
    if (token === 'true' || token === 'false' || token === 'null') return
    this.i = start
    JSON.parse(token)
    this.i += token.length
    if (survivesDouble(token)) return
    if (this.take) this.take(start, this.i, this.path)
    else this.faults.push(unsafeNumber(token, this.at, this.path))
  }

  /** Decodes the string at `i`. If it is malformed, throws and leaves `i` at its start. */
  private string(): string {
    const end = stringEnd(this.text, this.i)
    const decoded = JSON.parse(this.text.slice(this.i, end)) as string
    this.i = end
    return decoded
  }

  private fail(where = this.i): never {
    this.i = where
    throw new SyntaxError()
  }
}

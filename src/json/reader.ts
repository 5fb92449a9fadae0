/**
 * JSON of megabytes, read in turns of the event loop: one walk finds where the text may be cut, and the slices between the
 * cuts are parsed natively and put together. It takes what `JSON.parse` takes; why a text is refused is for the scanner.
 */
import { LIMITS } from '../foundation/limits.ts'
import { nextTurn, turnIsOver } from '../foundation/turns.ts'
import { survivesDouble } from './decimal.ts'
import type { Path } from './faults.ts'

/** Characters that are parsed at once, and walked between two looks at the clock. */
const SLICE = 64 * 1024

/** The text breaks a rule, or may break one: the scanner says which. */
class Refused extends Error {}
/** There is too much of something in it. */
export class TooMany extends Error {
  readonly what: 'members' | 'containers'
  readonly path: Path
  constructor(what: TooMany['what'], path: Path = []) {
    super(what)
    this.what = what
    this.path = path
  }
}

type Value = unknown[] | Record<string, unknown>

/** A container that is open where the walk stands. Most are parsed with what is around them and never have a value here. */
class Frame {
  isArray = false
  /** Its bracket. */
  open = 0
  /** Where what is not parsed yet begins. */
  from = 0
  /** Where the member that is being read begins, its key included. */
  member = 0
  members = 0
  /** Does `from` follow a comma? Then there is a member after it. */
  isDue = false
  /** Does `from` follow a member that is in the value already? Then a comma or the end is next. */
  isSettled = false
  value: Value | undefined
  /** The key of the member that is being read, once that has a value of its own. */
  key: string | undefined
}

export class Reader {
  readonly #slice: number
  readonly #text: string
  /** Is a parsed slice free of what the rules refuse? */
  readonly #isSound: (text: string, value: unknown) => boolean
  readonly #frames = Array.from({ length: LIMITS.jsonDepth }, () => new Frame())
  #depth = 0
  #containers = 0
  #parsedTo = 0
  #root: unknown

  constructor(text: string, isSound: (text: string, value: unknown) => boolean, slice = SLICE) {
    this.#slice = slice
    this.#text = text
    this.#isSound = isSound
  }

  /** @throws Refused, TooMany, or what `JSON.parse` throws */
  async read(): Promise<unknown> {
    const start = skipSpace(this.#text, 0)
    const opens = this.#text.charCodeAt(start)
    // A string or a number, however long, is parsed at once.
    if (opens !== BRACE && opens !== BRACKET) throw new Refused()
    this.#enter(start, opens)
    let pause = start + this.#slice
    for (let i = start + 1; this.#depth > 0; i++) {
      i = this.#step(i)
      if (i < pause) continue
      pause = i + this.#slice
      if (turnIsOver()) await nextTurn()
    }
    return this.#root
  }

  /** Looks at one token; answers where it ends. */
  #step(i: number): number {
    const c = this.#text.charCodeAt(i)
    if (c === QUOTE) return endOfString(this.#text, i)
    if (c === COMMA) this.#comma(i)
    else if (c === BRACE || c === BRACKET) this.#enter(i, c)
    else if (c === BRACE + 2 || c === BRACKET + 2) this.#leave(i, c)
    else if (isDigit(c)) return endOfNumber(this.#text, i)
    // The text ends before all is closed.
    else if (Number.isNaN(c)) throw new Refused()
    return i
  }

  #enter(i: number, bracket: number): void {
    if (this.#depth >= LIMITS.jsonDepth) throw new Refused()
    if (++this.#containers > LIMITS.jsonContainers) throw new TooMany('containers')
    const frame = this.#frames[this.#depth++] as Frame
    frame.isArray = bracket === BRACKET
    frame.open = i
    frame.from = i + 1
    frame.member = i + 1
    frame.members = 1
    frame.isDue = false
    frame.isSettled = false
    frame.value = undefined
    frame.key = undefined
  }

  #comma(i: number): void {
    const frame = this.#frames[this.#depth - 1] as Frame
    if (frame.isSettled) this.#skip(frame, i)
    else if (i - this.#parsedTo >= this.#slice) {
      // All that is open has a value from here on, so no slice is longer than this, however deep it lies.
      this.#beginAll()
      this.#take(frame, i)
    }
    frame.member = i + 1
    if (++frame.members <= LIMITS.jsonMembers || frame.isArray) return
    this.#beginAll()
    throw new TooMany('members', this.#path())
  }

  #leave(i: number, bracket: number): void {
    const frame = this.#frames[--this.#depth] as Frame
    if (frame.isArray !== (bracket === BRACKET + 2)) throw new Refused()
    const parent = this.#frames[this.#depth - 1]
    if (!frame.value && this.#depth > 0) return
    if (frame.isSettled) this.#skip(frame, i)
    else if (frame.isDue || skipSpace(this.#text, frame.from) < i) this.#take(frame, i)
    frame.value ??= frame.isArray ? [] : {}
    if (this.#depth > 0 && parent) {
      this.#add(parent, frame.value, i)
      return
    }
    if (skipSpace(this.#text, i + 1) < this.#text.length) throw new Refused()
    this.#root = frame.value
  }

  /** Gives a value to each container that holds the one being read. */
  #beginAll(): void {
    for (let level = 0; level < this.#depth - 1; level++)
      this.#begin(this.#frames[level] as Frame, (this.#frames[level + 1] as Frame).open)
  }

  /** Parses what stands before the member that opens at `open`, and that member's key. */
  #begin(frame: Frame, open: number): void {
    if (frame.key !== undefined) return
    if (frame.isSettled) throw new Refused()
    if (frame.member > frame.from) this.#take(frame, frame.member - 1)
    frame.value ??= frame.isArray ? [] : {}
    if (frame.isArray) {
      if (skipSpace(this.#text, frame.member) !== open) throw new Refused()
      frame.key = ''
      return
    }
    const [key, ...more] = Object.keys(this.#parse(`{${this.#text.slice(frame.member, open)}0}`))
    if (key === undefined || more.length > 0) throw new Refused()
    frame.key = key
  }

  /** Parses the members up to `to`, where a comma or the end of the container is. */
  #take(frame: Frame, to: number): void {
    const slice = this.#text.slice(frame.from, to)
    const { length } = frame.isArray
      ? this.#takeItems(frame, this.#parse(`[${slice}]`) as unknown[])
      : this.#takeMembers(frame, this.#parse(`{${slice}}`) as Record<string, unknown>)
    // Nothing stands between two commas, or behind the last one.
    if (length === 0) throw new Refused()
    frame.from = to + 1
    frame.isDue = true
    this.#parsedTo = to
  }

  #takeItems(frame: Frame, items: unknown[]): { length: number } {
    if (!frame.value) frame.value = items
    else for (const item of items) (frame.value as unknown[]).push(item)
    return items
  }

  #takeMembers(frame: Frame, members: Record<string, unknown>): { length: number } {
    const keys = Object.keys(members)
    if (!frame.value) frame.value = members
    else for (const key of keys) (frame.value as Record<string, unknown>)[key] = members[key]
    return keys
  }

  /** Puts a member that was read by itself, up to `i`, into the value of its container. */
  #add(frame: Frame, value: Value, i: number): void {
    if (Array.isArray(frame.value)) frame.value.push(value)
    else if (frame.value && frame.key !== undefined) frame.value[frame.key] = value
    frame.key = undefined
    frame.isSettled = true
    frame.from = i + 1
    this.#parsedTo = i + 1
  }

  /** Only space may stand between a member that was added and `to`. */
  #skip(frame: Frame, to: number): void {
    if (skipSpace(this.#text, frame.from) !== to) throw new Refused()
    frame.isSettled = false
    frame.isDue = true
    frame.from = to + 1
  }

  #parse(text: string): object {
    const value = JSON.parse(text) as object
    if (!this.#isSound(text, value)) throw new Refused()
    return value
  }

  /** The place of the container that is being read. */
  #path(): Path {
    return this.#frames
      .slice(0, this.#depth - 1)
      .map(({ value, key = '' }) => (Array.isArray(value) ? value.length : key))
  }
}

/** The first place from `i` on that holds no white space. */
export function skipSpace(text: string, i: number): number {
  for (let at = i; ; at++) {
    const c = text.charCodeAt(at)
    if (c !== 32 && c !== 10 && c !== 13 && c !== 9) return at
  }
}

/** The closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === QUOTE) return i
    if (c === BACKSLASH) i++
  }
  throw new Refused()
}

/** The last character of the number that begins at `start`. */
function endOfNumber(text: string, start: number): number {
  let i = start
  let isLong = false
  for (let c = text.charCodeAt(i + 1); ; c = text.charCodeAt(i + 1)) {
    if (c === 69 || c === 101 || c === 43 || c === 45) isLong = true
    else if (!isDigit(c) && c !== 46) break
    i++
  }
  // Fifteen digits always survive a double; longer numbers and exponents may not.
  if ((isLong || i - start >= 15) && !survivesDouble(text.slice(start, i + 1))) throw new Refused()
  return i
}

const isDigit = (c: number): boolean => c >= 48 && c <= 57

const QUOTE = 34
const COMMA = 44
const BACKSLASH = 92
const BRACE = 123
const BRACKET = 91

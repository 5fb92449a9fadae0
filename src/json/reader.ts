/**
 * Incremental JSON parser for large bodies; yields to the event loop. One pass finds where the text can be cut,
 * `JSON.parse` parses the slices, and the reader assembles the values. `scan.ts` explains refusals.
 */

import { BACKSLASH, BRACE, BRACKET, COMMA, QUOTE } from '../foundation/ascii.ts'
import { nextTurn, turnIsOver } from '../foundation/event-loop-turns.ts'
import { LIMITS } from '../foundation/limits.ts'
import { survivesDouble } from './decimal.ts'
import type { Path } from './faults.ts'
import { skipSpace } from './scan.ts'

/** The text breaks a rule, or may break one. The scanner finds out which. */
class Refused extends Error {}
/** A limit on the number of members, containers or values is exceeded. */
export class TooMany extends Error {
  readonly what: 'members' | 'containers' | 'values'
  readonly path: Path
  constructor(what: TooMany['what'], path: Path = []) {
    super(what)
    this.what = what
    this.path = path
  }
}

type Value = unknown[] | Record<string, unknown>

/** An open container. Most containers are parsed together with their surroundings and never get a `value`. */
class Frame {
  isArray = false
  /** Offset of the opening bracket. */
  open = 0
  /** Offset of the first character that is not parsed yet. */
  from = 0
  /** Offset of the current member, including its key. */
  member = 0
  members = 0
  /** True if `from` follows a comma, so a member must follow. */
  isDue = false
  /** True if `from` follows a member that is in `value` already, so a comma or the end must follow. */
  isSettled = false
  value: Value | undefined
  /** Key of the current member, once that member has a `value` of its own. */
  key: string | undefined
}

export class Reader {
  readonly #slice: number
  readonly #text: string
  /** Whether a parsed slice meets the rules of the pre-pass. */
  readonly #isSound: (text: string) => boolean
  readonly #frames = Array.from({ length: LIMITS.jsonDepth }, () => new Frame())
  #depth = 0
  #containers = 0
  /** Members after the first of their container. */
  #values = 0
  #parsedTo = 0
  #root: unknown

  constructor(text: string, isSound: (text: string) => boolean, slice = LIMITS.jsonSliceChars) {
    this.#slice = slice
    this.#text = text
    this.#isSound = isSound
  }

  /** @throws Refused, TooMany, or what `JSON.parse` throws */
  async read(): Promise<unknown> {
    const start = skipSpace(this.#text, 0)
    const opens = this.#text.charCodeAt(start)
    // Strings and numbers are parsed in one step, of any length.
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

  /** Processes one token and returns the offset of its end. */
  #step(i: number): number {
    const c = this.#text.charCodeAt(i)
    if (c === QUOTE) return endOfString(this.#text, i)
    if (c === COMMA) this.#comma(i)
    else if (c === BRACE || c === BRACKET) this.#enter(i, c)
    else if (c === BRACE + 2 || c === BRACKET + 2) this.#leave(i, c)
    else if (isDigit(c)) return endOfNumber(this.#text, i)
    // The text ends before all containers are closed.
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
      // From here on every open container has a value, so no slice exceeds `LIMITS.jsonSliceChars` at any depth.
      this.#beginAll()
      this.#take(frame, i)
    }
    frame.member = i + 1
    if (++this.#values > LIMITS.jsonValues) throw new TooMany('values')
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

  /** Creates the values of all containers that enclose the current one. */
  #beginAll(): void {
    for (let level = 0; level < this.#depth - 1; level++)
      this.#begin(this.#frames[level] as Frame, (this.#frames[level + 1] as Frame).open)
  }

  /** Parses the text before the member that opens at `open`, and the key of that member. */
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

  /** Parses the members up to `to`, which is a comma or the end of the container. */
  #take(frame: Frame, to: number): void {
    const slice = this.#text.slice(frame.from, to)
    const { length } = frame.isArray
      ? this.#takeItems(frame, this.#parse(`[${slice}]`) as unknown[])
      : this.#takeMembers(frame, this.#parse(`{${slice}}`) as Record<string, unknown>)
    // Two adjacent commas, or a trailing comma.
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

  /** Adds a separately read member, which ends at `i`, to the value of its container. */
  #add(frame: Frame, value: Value, i: number): void {
    if (Array.isArray(frame.value)) frame.value.push(value)
    else if (frame.value && frame.key !== undefined) frame.value[frame.key] = value
    frame.key = undefined
    frame.isSettled = true
    frame.from = i + 1
    this.#parsedTo = i + 1
  }

  /** Checks that only white space is between an added member and `to`. */
  #skip(frame: Frame, to: number): void {
    if (skipSpace(this.#text, frame.from) !== to) throw new Refused()
    frame.isSettled = false
    frame.isDue = true
    frame.from = to + 1
  }

  #parse(text: string): object {
    const value = JSON.parse(text) as object
    if (!this.#isSound(text)) throw new Refused()
    return value
  }

  /** Path of the current container. */
  #path(): Path {
    return this.#frames
      .slice(0, this.#depth - 1)
      .map(({ value, key = '' }) => (Array.isArray(value) ? value.length : key))
  }
}

/** Offset of the closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === QUOTE) return i
    if (c === BACKSLASH) i++
  }
  throw new Refused()
}

/** Offset of the last character of the number that begins at `start`. */
function endOfNumber(text: string, start: number): number {
  let i = start
  let isLong = false
  for (let c = text.charCodeAt(i + 1); ; c = text.charCodeAt(i + 1)) {
    if (c === 69 || c === 101 || c === 43 || c === 45) isLong = true
    else if (!isDigit(c) && c !== 46) break
    i++
  }
  // Up to 15 digits always survive a round trip through a double; longer numbers and exponents may not.
  if ((isLong || i - start >= 15) && !survivesDouble(text.slice(start, i + 1))) throw new Refused()
  return i
}

const isDigit = (c: number): boolean => c >= 48 && c <= 57

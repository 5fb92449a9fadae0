/** Text without the escapes of JSON and URLs, with the place of each character in the text as it was. */
import { LIMITS } from '../../../foundation/limits.ts'

/** A text without escapes. `at`: where UTF-16 units of it stood in the text. */
export type Decoded = {
  readonly text: string
  at(from: number, to: number): { readonly start: number; readonly end: number }
}

/** Escapes within escapes that are decoded. */
const LEVELS = 3

/** UTF-16 units, and where each stood in the text. In arrays of numbers, since a text can be long. */
type Units = {
  size: number
  readonly codes: Uint16Array
  readonly starts: Uint32Array
  readonly ends: Uint32Array
}

/**
 * Decodes `\uXXXX`, `\n` and the like, drops other backslashes, decodes `%XX` as UTF-8 and takes `+` for a space. Two
 * texts are equal here if one is the other with such escapes. It decodes more than a parser would: a match hides too
 * much rather than too little.
 */
export function* decodeEscapes(text: string): Generator<void, Decoded> {
  let units = yield* unitsOf(text)
  for (let level = 0; level < LEVELS && hasEscapes(units); level++) units = yield* decodeOnce(units)
  const { size, codes, starts, ends } = units
  return {
    text: Buffer.from(codes.buffer, 0, 2 * size).toString('utf16le'),
    at: (from, to) => ({ start: starts[from] as number, end: ends[to - 1] as number }),
  }
}

/** The text of `decodeEscapes`, for a short one. */
export function decodedText(text: string): string {
  const steps = decodeEscapes(text)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value.text
  }
}

const room = (size: number): Units => ({
  ...{ size: 0, codes: new Uint16Array(size) },
  ...{ starts: new Uint32Array(size), ends: new Uint32Array(size) },
})

function* unitsOf(text: string): Generator<void, Units> {
  const units = room(text.length)
  for (let at = 0; at < text.length; at++) {
    if (at % LIMITS.maskedStepChars === 0) yield
    add(units, text.charCodeAt(at), at, at + 1)
  }
  return units
}

function add(units: Units, code: number, start: number, end: number): void {
  const at = units.size++
  units.codes[at] = code
  units.starts[at] = start
  units.ends[at] = end
}

const codeOf = (char: string): number => char.charCodeAt(0)
const BACKSLASH = codeOf('\\')
const PERCENT = codeOf('%')
const PLUS = codeOf('+')
const SPACE = codeOf(' ')
const U = codeOf('u')
const CONTROLS = new Map(
  ['n\n', 'r\r', 't\t', 'b\b', 'f\f'].map((pair) => [pair.charCodeAt(0), pair.charCodeAt(1)]),
)

const hasEscapes = ({ size, codes }: Units): boolean =>
  [BACKSLASH, PERCENT, PLUS].some((code) => codes.subarray(0, size).includes(code))

function* decodeOnce(units: Units): Generator<void, Units> {
  const { size, codes, starts, ends } = units
  const decoded = room(size)
  let pause = LIMITS.maskedStepChars
  for (let at = 0; at < size; ) {
    if (at >= pause) {
      pause = at + LIMITS.maskedStepChars
      yield
    }
    const code = codes[at] as number
    if (code === BACKSLASH) at = takeBackslashes(units, at, decoded)
    else if (code === PERCENT && byteAt(units, at) >= 0) at = takeBytes(units, at, decoded)
    else {
      add(decoded, plain(code), starts[at] as number, ends[at] as number)
      at++
    }
  }
  return decoded
}

/** Forms write a space as `+`. */
const plain = (code: number): number => (code === PLUS ? SPACE : code)

/** Reads a run of backslashes and the character that they escape. */
function takeBackslashes(units: Units, from: number, decoded: Units): number {
  const { size, codes, starts, ends } = units
  let at = from
  while (at < size && codes[at] === BACKSLASH) at++
  const start = starts[from] as number
  const next = at < size ? (codes[at] as number) : undefined
  const hex = next === U ? hexAt(units, at + 1, 4) : -1
  if (hex >= 0) {
    add(decoded, hex, start, ends[at + 4] as number)
    return at + 5
  }
  if (next === undefined || next === PERCENT) return at
  add(decoded, CONTROLS.get(next) ?? plain(next), start, ends[at] as number)
  return at + 1
}

/** Reads consecutive `%XX` as UTF-8. */
function takeBytes(units: Units, from: number, decoded: Units): number {
  const { starts, ends } = units
  const bytes: number[] = []
  let at = from
  for (let byte = byteAt(units, at); byte >= 0; byte = byteAt(units, at)) {
    bytes.push(byte)
    at += 3
    if (bytes.length >= LIMITS.maskedStepChars && byte < 0x80) break
  }
  const chars = Buffer.from(bytes).toString('utf8')
  // Of ASCII, each character has its own place.
  const isAscii = chars.length === bytes.length
  for (let n = 0; n < chars.length; n++) {
    const [first, last] = isAscii ? [from + 3 * n, from + 3 * n + 2] : [from, at - 1]
    add(decoded, chars.charCodeAt(n), starts[first] as number, ends[last] as number)
  }
  return at
}

/** The byte of a `%XX`; -1 if there is none. */
const byteAt = (units: Units, at: number): number =>
  at < units.size && units.codes[at] === PERCENT ? hexAt(units, at + 1, 2) : -1

/** The number in so many hexadecimal digits; -1 if there are fewer. */
function hexAt({ size, codes }: Units, from: number, digits: number): number {
  if (from + digits > size) return -1
  let value = 0
  for (let at = from; at < from + digits; at++) {
    const digit = digitOf(codes[at] as number)
    if (digit < 0) return -1
    value = value * 16 + digit
  }
  return value
}

function digitOf(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  const lower = code | 32
  return lower >= 97 && lower <= 102 ? lower - 87 : -1
}

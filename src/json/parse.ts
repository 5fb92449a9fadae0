/** The JSON of every surface: parsed strictly, so that nothing is lost or unsafe. */

import { isUtf8 } from 'node:buffer'
import { BRACE, BRACKET, LETTER_E, POINT, QUOTE } from '../foundation/ascii.ts'
import { type Detail, DomainError, invalid } from '../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../foundation/event-loop-turns.ts'
import { LIMITS } from '../foundation/limits.ts'
import {
  checkKey,
  checkString,
  fault,
  MOST_FAULTS,
  type Path,
  pointer,
  tooDeep,
  tooMany,
  type Use,
} from './faults.ts'
import { Reader, TooMany } from './reader.ts'
import { scan, scanInTurns, skipSpace, stringEnd, unsafeNumbersIn } from './scan.ts'

export { pointer, type Use }

/**
 * Parses JSON and rejects values that cannot be stored and returned unchanged. Every surface uses it. `at` is
 * the pointer of the text within the request, for the paths of details. One leading BOM is skipped.
 */
export function parseJson(text: string | Buffer, at = '', use: Use = 'stored'): unknown {
  const decoded = typeof text === 'string' ? text : decode(text, at)
  const source = decoded.charCodeAt(0) === 0xfeff ? decoded.slice(1) : decoded
  let value: unknown
  try {
    value = JSON.parse(source)
  } catch {
    throw refusal(scan(source, at, use)) ?? invalid(fault(at, [], 'malformed_json', 'Send well-formed JSON.'))
  }
  const refused = isPlain(source) ? undefined : refusal(scan(source, at, use))
  if (refused) throw refused
  if (source.length > WORTH_REMEMBERING) for (const _ of remember(value, LEVELS_OF_SHORT));
  return value
}

/**
 * `parseJson` for text of any length; yields to the event loop. Limits the members of an object, and the
 * objects and arrays in total, because later steps walk all of them.
 */
export async function parseLargeJson(bytes: Buffer, use: Use = 'stored'): Promise<unknown> {
  const decoded = decode(bytes, '')
  const source = decoded.charCodeAt(0) === 0xfeff ? decoded.slice(1) : decoded
  try {
    const value = isContainer(source) ? await readContainer(source, use) : parseJson(source, '', use)
    for (const _ of remember(value, LEVELS_OF_LONG)) if (turnIsOver()) await nextTurn()
    return value
  } catch (thrown) {
    if (thrown instanceof DomainError) throw thrown
    if (thrown instanceof TooMany) throw invalid(tooMany(thrown))
    const faults = await scanInTurns(source, '', use)
    throw refusal(faults) ?? invalid(fault('', [], 'malformed_json', 'Send well-formed JSON.'))
  }
}

/**
 * `parseLargeJson` for a sender that cannot be asked to change: numbers that a double would change become strings of their
 * digits. `kept` has the paths of the first ones.
 */
export async function parseKeepingDigits(
  bytes: Buffer,
  paths: number,
): Promise<{ value: unknown; kept: readonly string[] }> {
  const parse = async (body: Buffer) =>
    body.length > LIMITS.jsonAtOnceBytes ? parseLargeJson(body) : parseJson(body)
  try {
    return { value: await parse(bytes), kept: [] }
  } catch (thrown) {
    if (!(thrown instanceof DomainError && thrown.details.some(({ code }) => code === 'unsafe_number')))
      throw thrown
    const decoded = decode(bytes, '')
    const text = decoded.charCodeAt(0) === 0xfeff ? decoded.slice(1) : decoded
    const numbers = await unsafeNumbersIn(text, paths)
    const parts = numbers.map(
      ({ start, end }, n) => `${text.slice(numbers[n - 1]?.end ?? 0, start)}"${text.slice(start, end)}"`,
    )
    const quoted = parts.join('') + text.slice(numbers.at(-1)?.end ?? 0)
    return {
      value: await parse(Buffer.from(quoted)),
      kept: numbers.slice(0, paths).map(({ path }) => path),
    }
  }
}

/** Parses trusted JSON of any length, from this process or the database, yielding to the event loop. */
export async function parseSound(text: string): Promise<unknown> {
  if (text.length < LIMITS.jsonAtOnceBytes || !isContainer(text)) return JSON.parse(text)
  try {
    return await new Reader(
      text,
      (slice) => !(slice.includes('__proto__') || SUSPECT_ESCAPE.test(slice)),
    ).read()
  } catch {
    // The text is valid, but may exceed the reader's limits for requests.
    return JSON.parse(text)
  }
}

const isContainer = (source: string) => /[[{]/.test(source[skipSpace(source, 0)] ?? '')

const readContainer = (source: string, use: Use): Promise<unknown> =>
  new Reader(
    source,
    // The text, since the value has only the last of members with one name.
    (slice) =>
      !(slice.includes('__proto__') || SUSPECT_ESCAPE.test(slice)) || scan(slice, '', use).length === 0,
  ).read()

/**
 * Values from shorter texts are not remembered: a second check costs less than the garbage collection of a
 * WeakSet entry.
 */
const WORTH_REMEMBERING = 4096
const MOST_REMEMBERED = 400
/** Nesting levels of remembered members: list of messages, message, params, arguments, one argument. */
const LEVELS_OF_LONG = 5
/** The document and its members: each entry costs garbage collection, and a second check of a short text is cheap. */
const LEVELS_OF_SHORT = 2

/** Values that passed the pre-pass: documents, and the first members of each level down to the given one. */
const sound = new WeakSet<object>()

/** Remembers a value in steps: one for each object whose members it lists. */
function* remember(value: unknown, levels: number): Generator<void> {
  let left = MOST_REMEMBERED
  let level = [value]
  for (let n = 0; n < levels && level.length > 0; n++) {
    const below: unknown[] = []
    for (const each of level) {
      if (!isObject(each)) continue
      sound.add(each)
      if (n === levels - 1) continue
      const before = below.length
      if (Array.isArray(each)) below.push(...each.slice(0, left))
      else
        for (const key in each) {
          if (below.length - before >= left) break
          below.push((each as Record<string, unknown>)[key])
        }
      left -= below.length - before
      yield
    }
    level = below
  }
}

/** Whether the value passed `parseJson` already and needs no second check. */
export const wasParsed = (value: unknown): boolean => isObject(value) && sound.has(value)

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Applies the rules of `parseJson` to a value that was not parsed from text, such as a GraphQL literal. */
export function checkJson(value: unknown, at = '', use: Use = 'stored'): void {
  if (isSound(value, 0)) return
  const faults: Detail[] = []
  const open: { value: unknown; path: Path }[] = [{ value, path: [] }]
  for (let next = open.pop(); next && faults.length < MOST_FAULTS; next = open.pop()) {
    const { value, path } = next
    if (typeof value === 'string') checkString(value, at, path, faults, use)
    else if (isObject(value)) {
      // Throw at once: a cyclic value never ends.
      if (path.length >= LIMITS.jsonDepth) throw invalid(tooDeep(at, path))
      const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
      for (const [key, member] of entries.reverse()) {
        const inner = [...path, key]
        if (typeof key === 'string') checkKey(key, at, inner, faults)
        open.push({ value: member, path: inner })
      }
    } else if (value !== null && typeof value !== 'boolean' && !Number.isFinite(value)) {
      faults.push(
        fault(
          at,
          path,
          'not_json',
          'JSON cannot represent this value. Send a finite number, a string or null.',
        ),
      )
    }
  }
  const refused = refusal(faults)
  if (refused) throw refused
}

/**
 * Levels at which remembered members are looked up. Deeper, a million look-ups would cost more than a check.
 */
const KNOWN_DEPTH = 2

/** Fast check that rules out every fault. Most values need no more. */
function isSound(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return isSoundText(value)
  if (!isObject(value)) return value === null || typeof value === 'boolean' || Number.isFinite(value)
  if (depth >= LIMITS.jsonDepth) return false
  // Tools copy or rebuild the arguments of a request, so check for remembered members.
  if (depth > 0 && depth <= KNOWN_DEPTH && sound.has(value)) return true
  if (Array.isArray(value)) return value.every((item) => isSound(item, depth + 1))
  return Object.entries(value).every(
    ([key, member]) => key !== '__proto__' && isSoundText(key) && isSound(member, depth + 1),
  )
}

/** Whether the database can keep the text. */
export const isSoundText = (text: string): boolean => text.isWellFormed() && !text.includes('\u0000')

function decode(bytes: Buffer, at: string): string {
  if (isUtf8(bytes)) return bytes.toString()
  throw invalid(fault(at, [], 'invalid_utf8', 'The text is not valid UTF-8. Encode it as UTF-8.'))
}

function refusal([first, ...more]: Detail[]) {
  return first && invalid(first, ...more)
}

/**
 * Fast check of well-formed text that rules out every fault. Most bodies need no more; the rest are scanned.
 */
function isPlain(text: string): boolean {
  const escapes = text.includes('\\')
  if (escapes && SUSPECT_ESCAPE.test(text)) return false
  if (text.includes('__proto__') || !text.isWellFormed()) return false
  let level = 0
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === QUOTE) {
      i = escapes ? stringEnd(text, i) - 1 : text.indexOf('"', i + 1)
    } else if (isDigit(c)) {
      const start = i
      while (isDigit(text.charCodeAt(i + 1)) || text.charCodeAt(i + 1) === POINT) i++
      // Up to 15 digits always survive a round trip through a double; longer numbers and exponents may not.
      if (i - start >= 15 || (text.charCodeAt(i + 1) | 32) === LETTER_E) return false
    } else if (c === BRACE || c === BRACKET) {
      if (++level > LIMITS.jsonDepth) return false
    } else if (c === BRACE + 2 || c === BRACKET + 2) level--
  }
  return true
}

function isDigit(c: number): boolean {
  return c >= 48 && c <= 57
}

// Escaped ASCII can encode __proto__ or \u0000; D800 to DFFF are surrogates.
const SUSPECT_ESCAPE = /\\u(?:00[0-7]|[dD][89a-fA-F])/

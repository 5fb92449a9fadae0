/** Hides known secrets in text that others wrote, such as the answer of a receiver. */
import { inTurns } from '../../../foundation/event-loop-turns.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { REDACTED } from '../../../foundation/redacted.ts'
import { decodedText, decodeEscapes } from './decode-escapes.ts'

type Range = { readonly start: number; readonly end: number }

/** Characters of the longest form of a byte, an escape such as `\u0041`. */
const LONGEST_FORM = 6

/**
 * Hides the secrets in a text. `isCut`: the text was cut at its end, where it may have the start of a secret. So much of
 * the end is hidden, whatever it is: to hide only starts of secrets would tell whether a guess is one. It works in steps: a
 * text can be long.
 */
type Mask = (text: string, isCut?: boolean) => Generator<void, string>

/** See `openMask`. */
export const maskSecrets = (text: string, secrets: readonly string[], isCut = false): Promise<string> =>
  inTurns(openMask(secrets)(text, isCut))

/**
 * Finds secrets as they are, with the escapes of JSON and URLs, also one in another, in hexadecimal, and in base64 and
 * base64url, also where they are a part of what is encoded. A secret that is changed in another way, such as reversed,
 * compressed or hashed, is not found.
 */
function openMask(secrets: readonly string[]): Mask {
  const known = [...new Set(secrets)].filter((secret) => secret !== '')
  const decodedOnes = known.map((secret) => decodedText(secret)).filter((secret) => secret !== '')
  const encoded = encodedForms(known)
  const atCut = LONGEST_FORM * Math.max(...known.map((secret) => Buffer.byteLength(secret)))
  return function* (text, isCut = false) {
    if (known.length === 0) return text
    // Not `push(…)`: a short secret may be there a million times.
    const asTheyAre = known.flatMap((secret) =>
      placesOf(text, secret).map(({ from, to }) => ({ start: from, end: to })),
    )
    const plain = ESCAPE.test(text) ? yield* decodeEscapes(text) : undefined
    const shown = plain?.text ?? text
    const places = (yield* encodedPlaces(encoded, shown)).concat(
      plain ? decodedOnes.flatMap((secret) => placesOf(shown, secret)) : [],
    )
    yield
    const ranges = asTheyAre.concat(
      places.map(({ from, to }) => plain?.at(from, to) ?? { start: from, end: to }),
    )
    if (isCut) ranges.push({ start: Math.max(0, text.length - atCut), end: text.length })
    return redacted(text, ranges)
  }
}

function placesOf(text: string, wanted: string): Place[] {
  const places: Place[] = []
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length))
    places.push({ from: at, to: at + wanted.length })
  return places
}

/** Without one of these, a text has no escape. */
const ESCAPE = /[\\%+]/

function redacted(text: string, ranges: Range[]): string {
  let shown = ''
  let at = 0
  for (const { start, end } of ranges.sort((one, other) => one.start - other.start)) {
    if (start >= at) shown += `${text.slice(at, start)}${REDACTED}`
    at = Math.max(at, end)
  }
  return shown + text.slice(at)
}

// Hides known secrets in JSON that others wrote.

/** The value without the secrets, in texts and in names of properties. */
export function maskIn<T>(value: T, secrets: readonly string[]): Promise<T> {
  return inTurns(masked(value, openMask(secrets))) as Promise<T>
}

function* masked(value: unknown, mask: Mask): Generator<void, unknown> {
  yield
  if (typeof value === 'string') return yield* mask(value)
  if (typeof value === 'number') {
    // A secret can be a number.
    const text = String(value)
    const shown = yield* mask(text)
    return shown === text ? value : shown
  }
  if (!isObject(value) && !Array.isArray(value)) return value
  const members: [string, unknown][] = []
  for (const [name, member] of Object.entries(value))
    members.push([yield* mask(name), yield* masked(member, mask)])
  return Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members)
}

// Finds a text within encoded text: in hexadecimal, and in base64 and base64url of any longer text that has it.

/** A place in the text that is searched. */
type Place = { readonly from: number; readonly to: number }

/** The characters that only the wanted text decides, and whether the ones beside them also have bits of it. */
type Form = { readonly wanted: string; readonly before: 0 | 1; readonly after: 0 | 1 }

/** The forms of shorter texts are found everywhere. */
const LEAST_BYTES = 4

/** Base64 takes 3 bytes at a time, so that a text has three forms, by the bytes before it. */
const base64Forms = (bytes: Buffer): Form[] =>
  ([0, 1, 2] as const).map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
    const [first, last] = [Math.ceil((8 * offset) / 6), Math.floor((8 * (offset + bytes.length)) / 6)]
    const isShared = (8 * (offset + bytes.length)) % 6 !== 0
    return { wanted: encoded.slice(first, last), before: offset === 0 ? 0 : 1, after: isShared ? 1 : 0 }
  })

type EncodedForms = { readonly base64: readonly Form[]; readonly hex: readonly Form[] }

function encodedForms(texts: readonly string[]): EncodedForms {
  const encoded = texts.map((text) => Buffer.from(text)).filter(({ length }) => length >= LEAST_BYTES)
  return {
    base64: encoded.flatMap(base64Forms),
    hex: encoded.map((bytes) => ({ wanted: bytes.toString('hex'), before: 0, after: 0 })),
  }
}

/** In text whose escapes are decoded, a plus can be a space. */
const plainBase64 = (text: string): string => text.replace(/[ -]/g, '+').replaceAll('_', '/')
const BASE64 = /[A-Za-z0-9+/]/

/** The places of the forms. */
function* encodedPlaces({ base64, hex }: EncodedForms, text: string): Generator<void, Place[]> {
  if (base64.length === 0) return []
  yield
  const places = yield* placesOfForms(base64, plainBase64(text))
  return places.concat(yield* placesOfForms(hex, text.toLowerCase()))
}

function* placesOfForms(forms: readonly Form[], text: string): Generator<void, Place[]> {
  const places: Place[] = []
  for (const { wanted, before, after } of forms) {
    yield
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
      let to = at + wanted.length
      if (after === 1 && BASE64.test(text[to] ?? '')) to++
      while (text[to] === '=') to++
      places.push({ from: Math.max(0, at - before), to })
    }
  }
  return places
}

/** Hides known secrets in text that others wrote, such as the answer of a receiver. */
import { REDACTED } from '../../foundation/redacted.ts'
import { decodeEscapes } from './decode-escapes.ts'
import { encodedForms, encodedPlaces, type Place, startAtEnd } from './encoded-forms.ts'

type Range = { readonly start: number; readonly end: number }

/** Hides the secrets in a text. `isCut`: the text was cut at its end, where it may have the start of a secret. */
export type Mask = (text: string, isCut?: boolean) => string

/** See `openMask`. */
export const maskSecrets = (text: string, secrets: readonly string[], isCut = false): string =>
  openMask(secrets)(text, isCut)

/**
 * Finds secrets as they are, with the escapes of JSON and URLs, also one in another, in hexadecimal, and in base64 and
 * base64url, also where they are a part of what is encoded. A secret that is changed in another way, such as reversed,
 * compressed or hashed, is not found.
 */
export function openMask(secrets: readonly string[]): Mask {
  const known = [...new Set(secrets)].filter((secret) => secret !== '')
  if (known.length === 0) return (text) => text
  const decodedOnes = known.map((secret) => decodeEscapes(secret).text).filter((secret) => secret !== '')
  const encoded = encodedForms(known)
  return (text, isCut = false) => {
    const ranges: Range[] = known.flatMap((secret) =>
      placesOf(text, secret, isCut).map(({ from, to }) => ({ start: from, end: to })),
    )
    const plain = ESCAPE.test(text) ? decodeEscapes(text) : undefined
    const shown = plain?.text ?? text
    const places = [...encodedPlaces(encoded, shown, isCut)]
    if (plain) places.push(...decodedOnes.flatMap((secret) => placesOf(shown, secret, isCut)))
    for (const { from, to } of places) {
      const range = plain?.at(from, to) ?? { start: from, end: to }
      // What was cut may be a part of an escape.
      ranges.push(isCut && to === shown.length ? { ...range, end: text.length } : range)
    }
    return redacted(text, ranges)
  }
}

function placesOf(text: string, wanted: string, isCut: boolean): Place[] {
  const places: Place[] = []
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length))
    places.push({ from: at, to: at + wanted.length })
  const cut = isCut ? startAtEnd(text, wanted) : 0
  if (cut > 0) places.push({ from: text.length - cut, to: text.length })
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

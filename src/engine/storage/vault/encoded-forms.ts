/** Finds a text within encoded text: in hexadecimal, and in base64 and base64url of any longer text that has it. */

/** A place in the text that is searched. */
export type Place = { readonly from: number; readonly to: number }

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

export type EncodedForms = { readonly base64: readonly Form[]; readonly hex: readonly Form[] }

export function encodedForms(texts: readonly string[]): EncodedForms {
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
export function* encodedPlaces({ base64, hex }: EncodedForms, text: string): Generator<void, Place[]> {
  if (base64.length === 0) return []
  yield
  const places = yield* placesOf(base64, plainBase64(text))
  return places.concat(yield* placesOf(hex, text.toLowerCase()))
}

function* placesOf(forms: readonly Form[], text: string): Generator<void, Place[]> {
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

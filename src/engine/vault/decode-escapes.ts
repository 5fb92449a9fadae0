/** Text without the escapes of JSON and URLs, with the place of each character in the text as it was. */

/** A UTF-16 unit, and where it stood in the text. */
export type Unit = { readonly char: string; readonly start: number; readonly end: number }

/** Escapes within escapes that are decoded. */
const LEVELS = 3
const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }

const unitsOf = (text: string): Unit[] => text.split('').map((char, at) => ({ char, start: at, end: at + 1 }))

/**
 * Decodes `\uXXXX`, `\n` and the like, drops other backslashes, decodes `%XX` as UTF-8 and takes `+` for a space. Two
 * texts are equal here if one is the other with such escapes. It decodes more than a parser would: a match hides too
 * much rather than too little.
 */
export function decodeUnits(text: string): Unit[] {
  let units = unitsOf(text)
  for (let level = 0; level < LEVELS; level++) units = decodeOnce(units)
  return units
}

function decodeOnce(units: readonly Unit[]): Unit[] {
  const decoded: Unit[] = []
  for (let at = 0; at < units.length; ) {
    const unit = units[at] as Unit
    if (unit.char === '\\') at = takeBackslashes(units, at, decoded)
    else if (unit.char === '%' && byteAt(units, at) !== undefined) at = takeBytes(units, at, decoded)
    else {
      decoded.push({ ...unit, char: plain(unit.char) })
      at++
    }
  }
  return decoded
}

/** Forms write a space as `+`. */
const plain = (char: string): string => (char === '+' ? ' ' : char)

/** Reads a run of backslashes and the character that they escape. */
function takeBackslashes(units: readonly Unit[], from: number, decoded: Unit[]): number {
  let at = from
  while (units[at]?.char === '\\') at++
  const { start } = units[from] as Unit
  const next = units[at]
  const hex = next?.char === 'u' ? hexAt(units, at + 1, 4) : undefined
  if (hex !== undefined) {
    decoded.push({ char: String.fromCharCode(hex), start, end: (units[at + 4] as Unit).end })
    return at + 5
  }
  if (!next || next.char === '%') return at
  decoded.push({ char: CONTROLS[next.char] ?? plain(next.char), start, end: next.end })
  return at + 1
}

/** Reads consecutive `%XX` as UTF-8. */
function takeBytes(units: readonly Unit[], from: number, decoded: Unit[]): number {
  const bytes: number[] = []
  let at = from
  for (let byte = byteAt(units, at); byte !== undefined; byte = byteAt(units, at)) {
    bytes.push(byte)
    at += 3
  }
  const [start, end] = [(units[from] as Unit).start, (units[at - 1] as Unit).end]
  const chars = Buffer.from(bytes).toString('utf8').split('')
  // Of ASCII, each character has its own place.
  const isAscii = chars.length === bytes.length
  for (const [n, char] of chars.entries())
    decoded.push(
      isAscii
        ? { char, start: (units[from + 3 * n] as Unit).start, end: (units[from + 3 * n + 2] as Unit).end }
        : { char, start, end },
    )
  return at
}

const byteAt = (units: readonly Unit[], at: number): number | undefined =>
  units[at]?.char === '%' ? hexAt(units, at + 1, 2) : undefined

function hexAt(units: readonly Unit[], from: number, digits: number): number | undefined {
  let value = 0
  for (let at = from; at < from + digits; at++) {
    const digit = '0123456789abcdef'.indexOf(units[at]?.char.toLowerCase() || 'x')
    if (digit < 0) return undefined
    value = value * 16 + digit
  }
  return value
}

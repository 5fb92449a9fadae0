import type { Scalar } from './tally.ts'

const rankOf = (value: Scalar): number => (typeof value === 'string' ? 0 : typeof value === 'number' ? 1 : 2)

/** The order of a sort, ascending: strings by code point, numbers, false, true. */
export function compareScalars(a: Scalar, b: Scalar): number {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  return rankOf(a) - rankOf(b) || Number(a) - Number(b)
}

/** The order of code points, which is not quite that of UTF-16. */
export function compareText(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length)
  for (let i = 0; i < shorter; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x !== y) return placeOf(x) - placeOf(y)
  }
  return a.length - b.length
}

/** Surrogates stand for what comes after all other characters. */
const placeOf = (unit: number): number =>
  unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit

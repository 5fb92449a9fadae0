import { distance } from 'fastest-levenshtein'

/**
 * Whether two words differ by one edit: a deletion, insertion, substitution or transposition
 * (Damerau-Levenshtein distance 1).
 */
export function isClose(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 1) return false
  const away = distance(one, other)
  return away <= 1 || (away === 2 && letters(one) === letters(other))
}

const letters = (word: string): string => [...word].sort().join('')

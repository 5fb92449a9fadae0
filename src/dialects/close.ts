import { distance } from 'fastest-levenshtein'

/** Is one of the words the other with a single slip: a letter left out, added, wrong, or two swapped? */
export function isClose(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 1) return false
  const away = distance(one, other)
  return away <= 1 || (away === 2 && letters(one) === letters(other))
}

const letters = (word: string): string => [...word].sort().join('')

import { distance } from 'fastest-levenshtein'

/**
 * Returns the candidate with the smallest edit distance to a misspelled name, or undefined if none is close.
 */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  const wanted = name.slice(0, 100).toLowerCase()
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(wanted.length / 2)) + 1
  for (const candidate of candidates) {
    const away = distance(wanted, candidate.toLowerCase())
    if (away < bestDistance) [best, bestDistance] = [candidate, away]
  }
  return best
}

/** What other systems call a value, by what it is called here. */
const SYNONYMS: Readonly<Record<string, string>> = {
  average: 'avg',
  mean: 'avg',
  total: 'sum',
  minimum: 'min',
  maximum: 'max',
  distinct: 'count_distinct',
  unique: 'count_distinct',
  update_record: 'patch_record',
  put_record: 'upsert_record',
  insert_record: 'create_record',
  create_relationship: 'upsert_relationship',
  link_records: 'upsert_relationship',
  unlink_records: 'delete_relationship',
  done: 'complete',
  finish: 'complete',
  ack: 'complete',
  extend: 'heartbeat',
  renew: 'heartbeat',
  unlock: 'release',
}

/**
 * The value of a short list that is meant by another: a synonym, or one with few other letters. Stricter than
 * `nearest`, since "min" for "median" would mislead.
 */
export function meantValue(value: string, allowed: readonly string[]): string | undefined {
  const word = value.slice(0, 100).toLowerCase()
  const synonym = Object.hasOwn(SYNONYMS, word) ? SYNONYMS[word] : undefined
  if (synonym !== undefined && allowed.includes(synonym)) return synonym
  const close = nearest(word, allowed)
  if (close === undefined) return undefined
  const isPart = word.startsWith(close.toLowerCase()) || close.toLowerCase().startsWith(word)
  const away = distance(word, close.toLowerCase())
  return isPart || isClose(word, close.toLowerCase()) || away <= word.length / 3 ? close : undefined
}

/** The detail fields for an unknown name: received value, allowed values, and the nearest match as a hint. */
export function unknownName(name: string, known: readonly string[]) {
  const hint = nearest(name, known)
  return { received: name.slice(0, 64), allowed: known.slice(0, 50), ...(hint && { hint }) }
}

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

/** Whether a name has the words of another but some in the middle: `source_type` for `source_record_type`. */
export function isShortFor(name: string, other: string): boolean {
  const [words, all] = [name.split('_'), other.split('_')]
  const hasEnds = words[0] === all[0] && words.at(-1) === all.at(-1)
  return words.length > 1 && words.length < all.length && hasEnds && words.every((word) => all.includes(word))
}

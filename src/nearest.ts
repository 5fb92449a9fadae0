import { distance } from 'fastest-levenshtein'

/** The candidate a misspelt name most likely means, or undefined when none is close. */
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

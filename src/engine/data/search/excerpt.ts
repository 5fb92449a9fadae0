/** Cuts the part of a text that shows the matches of a search. */
import { LIMITS } from '../../../foundation/limits.ts'

/** A match in a text: its position, and how well it matches words of the search. */
export type Place = { start: number; end: number; words: readonly { sought: string; score: number }[] }

export type Excerpt = {
  text: string
  matches: string[]
  isWhole: boolean
  words: ReadonlySet<string>
  score: number
}

/** The part of the text that matches the words of `sought` best; null if it has none of them. */
export function excerptOf(
  text: string,
  places: readonly Place[],
  sought: ReadonlySet<string>,
): Excerpt | null {
  let best: { first: Place; score: number } | undefined
  for (const [i, first] of places.entries()) {
    const score = scoreOf(wordsIn(within(places, i, first.start + REACH), sought))
    if (score > (best?.score ?? 0)) best = { first, score }
  }
  if (!best) return null
  const from = beginOf(text, best.first.start)
  const to = endOf(text, from + LIMITS.snippetChars, best.first.end)
  const shown = places.filter(({ start }) => start >= from && start < to)
  const words = wordsIn(shown, sought)
  const matches = new Set(shown.map(({ start, end }) => text.slice(start, Math.min(end, to))))
  return {
    text: text.slice(from, to),
    matches: [...matches],
    isWhole: from === 0 && to === text.length,
    words: new Set(words.keys()),
    score: scoreOf(words),
  }
}

/** Characters of an excerpt from its first match on. */
const REACH = LIMITS.snippetChars - LIMITS.snippetLeadChars

function within(places: readonly Place[], from: number, to: number): Place[] {
  const end = places.findIndex((place, i) => i > from && place.end > to)
  return places.slice(from, end < 0 ? undefined : end)
}

/** The words of `sought` in the places, each with its best score. */
function wordsIn(places: readonly Place[], sought: ReadonlySet<string>): Map<string, number> {
  const best = new Map<string, number>()
  for (const { words } of places)
    for (const { sought: word, score } of words)
      if (sought.has(word)) best.set(word, Math.max(score, best.get(word) ?? 0))
  return best
}

const scoreOf = (words: ReadonlyMap<string, number>): number =>
  [...words.values()].reduce((sum, score) => sum + score, 0)

/** Where the excerpt begins: some words before the match, or at it. */
function beginOf(text: string, match: number): number {
  const from = match - LIMITS.snippetLeadChars
  if (from <= 0) return 0
  const space = text.slice(from - 1, match).search(/\s\S/)
  return space < 0 ? atCharacter(text, from) : from + space
}

/** Where it ends: between words, after the first match, unless that is too long. */
function endOf(text: string, most: number, match: number): number {
  if (most >= text.length) return text.length
  const space = text.slice(match, most + 1).search(/\s\S*$/)
  return match < most && space >= 0 ? match + space : atCharacter(text, most)
}

/** Not within a surrogate pair. */
const atCharacter = (text: string, at: number): number =>
  /[\udc00-\udfff]/.test(text.charAt(at)) ? at - 1 : at

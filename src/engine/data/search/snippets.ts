/** Snippets: the parts of texts that show what a search has found. */
import { invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Hit, Match } from './matches.ts'

/**
 * A part of a text that a search found, as it is stored. `matches` lists the words that match, apart from the
 * text, so that no text can look like a match.
 */
export type Snippet = {
  field: string
  text: string
  matches: string[]
  /** The text is a part of the value. */
  truncated?: true
}

/** A text with the words that may match. */
export type Text = { field: string; text: string; hits: Hit[] }

/** @throws VALIDATION_ERROR for a page of more rows than can have snippets */
export function requireSnippetLimit(limit: number): void {
  if (limit <= LIMITS.snippetRecords) return
  throw invalid({
    path: '/limit',
    code: 'out_of_range',
    message: `With snippets, limit must be a whole number from 1 to ${LIMITS.snippetRecords}.`,
    received: limit,
  })
}

/** The matches of each word of a text. */
export function matchesOf(rows: readonly Match[]): Map<string, Match[]> {
  const matches = new Map<string, Match[]>()
  for (const match of rows) matches.set(match.word, [...(matches.get(match.word) ?? []), match])
  return matches
}

/** Chooses the texts that match best, until all words are shown. */
export function snippetsIn(
  texts: readonly Text[],
  matches: ReadonlyMap<string, readonly Match[]>,
  words: readonly string[],
  most: number,
): Snippet[] {
  const places = texts.map(({ hits }) => hits.flatMap((hit) => placeOf(hit, matches)))
  const sought = new Set(words)
  const shown: Snippet[] = []
  while (shown.length < most && sought.size > 0) {
    let best: { field: string; excerpt: Excerpt } | undefined
    for (const [i, { field, text }] of texts.entries()) {
      const excerpt = excerptOf(text, places[i] ?? [], sought)
      if (excerpt && excerpt.score > (best?.excerpt.score ?? 0)) best = { field, excerpt }
    }
    if (!best) break
    const { field, excerpt } = best
    shown.push({
      field,
      text: excerpt.text,
      matches: excerpt.matches,
      ...(!excerpt.isWhole && { truncated: true }),
    })
    for (const word of excerpt.words) sought.delete(word)
  }
  return shown
}

function placeOf({ start, end, folded }: Hit, matches: ReadonlyMap<string, readonly Match[]>): Place[] {
  const words = folded.flatMap((word) => matches.get(word) ?? [])
  return words.length > 0 ? [{ start, end, words }] : []
}

// Cuts the part of a text that shows the matches of a search.

/** A match in a text: its position, and how well it matches words of the search. */
type Place = { start: number; end: number; words: readonly { sought: string; score: number }[] }

type Excerpt = {
  text: string
  matches: string[]
  isWhole: boolean
  words: ReadonlySet<string>
  score: number
}

/** The part of the text that matches the words of `sought` best; null if it has none of them. */
function excerptOf(text: string, places: readonly Place[], sought: ReadonlySet<string>): Excerpt | null {
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

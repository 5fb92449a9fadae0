/** Snippets: the parts of texts that show what a search has found. */
import { invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { type Excerpt, excerptOf, type Place } from './excerpt.ts'
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

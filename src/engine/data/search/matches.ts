/** Finds the words of texts that a search matches. The database decides, with the function that searches. */
import { LIMITS } from '../../../foundation/limits.ts'
import { type Statement, statement } from '../../storage/database/client.ts'
import { foldWords, searchWords, wordPatterns } from './words.ts'

/** A word of a text, by its position, that may match the word `folded` of a search. */
export type Hit = { start: number; end: number; folded: readonly string[] }

// A letter of Chinese or Japanese, or a run of letters, digits and the marks that folding removes.
const WORD =
  /[\u3005-\u3007\u3040-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[[\p{L}\p{N}\p{M}\u00ad\u200b-\u200f\u2060\ufeff]--[\u3005-\u3007\u3040-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]]+/gv

export const MATCHES: Statement = statement(
  'snippet_matches',
  `SELECT word, sought, score FROM unnest($1::text[], $2::text[]) AS c (word, sought),
     plinth.search_score(' ' || word || ' ', ARRAY[sought]) AS score
   WHERE score IS NOT NULL`,
)

type Pair = { word: string; sought: string }
/** A match of a word of a text with a word of the search, and how good it is. */
export type Match = Pair & { score: number }

/** Collects the words of the texts of a page that may match a search, each compared once. */
export class Candidates {
  readonly words: readonly string[]
  readonly #patterns: readonly RegExp[]
  readonly #pairs: Pair[] = []
  readonly #known = new Map<string, readonly string[]>()

  constructor(search: string) {
    this.words = [...new Set(searchWords(search))]
    this.#patterns = this.words.map(
      (word) => new RegExp(`^(?:${[word, ...wordPatterns(word)].map(sourceOf).join('|')})$`, 's'),
    )
  }

  /** The words of a text that may match, at most `most`. */
  hitsIn(text: string, most: number): Hit[] {
    const hits: Hit[] = []
    WORD.lastIndex = 0
    for (let found = WORD.exec(text); found && hits.length < most; found = WORD.exec(text)) {
      const [token] = found
      const folded = this.#candidatesOf(token)
      if (folded.length > 0) hits.push({ start: found.index, end: found.index + token.length, folded })
    }
    return hits
  }

  /** Values of `MATCHES`. */
  get values(): [string[], string[]] {
    return [this.#pairs.map(({ word }) => word), this.#pairs.map(({ sought }) => sought)]
  }

  #candidatesOf(token: string): readonly string[] {
    const known = this.#known.get(token)
    if (known) return known
    const folded = foldWords(token).filter((word) => this.#isCandidate(word))
    // A long token does not repeat.
    if (token.length <= LIMITS.searchWordChars) this.#known.set(token, folded)
    return folded
  }

  #isCandidate(word: string): boolean {
    let isOne = false
    for (const [i, sought] of this.words.entries()) {
      if (!this.#patterns[i]?.test(word) || this.#pairs.length >= LIMITS.snippetCandidates) continue
      this.#pairs.push({ word, sought })
      isOne = true
    }
    return isOne
  }
}

/** A LIKE pattern as a regular expression. Folded words have no character with a meaning in one. */
const sourceOf = (pattern: string): string => pattern.replaceAll('%', '.*').replaceAll('_', '.')

/** Full-text search as SQL: matches words and ranks records. */
import { LIMITS } from '../../../foundation/limits.ts'
import { roughPatterns, textPatterns, wordPatterns } from './words.ts'

type Search = {
  /** Tokens from `searchWords`; at least one. */
  words: readonly string[]
  /**
   * SQL of the jsonb value to search over `plinth.record AS r`, including all nested strings. Called only
   * when used, since PostgreSQL rejects a statement with an unreferenced parameter.
   */
  text: () => string
  /** SQL of the value whose size counts, if that is another one than its words. */
  sized: (() => string) | null
  parameters: { add(value: unknown): string }
  /**
   * A ready text index on exactly this field, at position `field` (from 0); `baseParam` is the base
   * parameter.
   */
  index: TextIndex | null
}
type TextIndex = { id: string; field: number; baseParam: string }
/** A text index whose `fields` (positions) have all strings of `data` together. */
type WholeIndex = { id: string; fields: readonly number[]; baseParam: string }

/**
 * Compiles a search over `plinth.record AS r` to a match test, never null, and a score from 0 to 1 with six
 * decimals, null without a match. An index changes the access path, not the result.
 */
export function compileSearch({ words, text, sized, parameters, index }: Search): {
  matches: string
  score: string
} {
  if (!index) return scanned(words, text(), sized, parameters)
  const { entries, entryOf, scoreOf } = compileEntries(words, index, parameters)
  return {
    // IS TRUE prevents a join: the planner keeps a hashed subplan, which is built once.
    matches: `(r.id IN (SELECT e.id FROM ${entries} e)) IS TRUE`,
    score: `(SELECT ${scoreOf('e.words', sized?.())} FROM plinth.record_text e WHERE ${entryOf('e')} AND e.id = r.id)`,
  }
}

/**
 * The matching entries of a text index: `entries` is a subquery with the columns `id` and `words`, `scoreOf`
 * the score of `words`. An entry has all words of the search, or any of them; its score is then their sum.
 *
 * The condition uses the word keys only (OFFSET 0), since they are unique per index. With the primary-key
 * columns added, a planner with stale statistics scans the whole index and computes the keys of each entry.
 */
export function compileEntries(
  words: readonly string[],
  index: TextIndex,
  parameters: Search['parameters'],
  match: 'all' | 'any' = 'all',
) {
  const all = wordsParameter(words, parameters)
  const id = `${parameters.add(index.id)}::bigint`
  const field = `${parameters.add(index.field)}::integer`
  const entryOf = (alias: string) =>
    `${alias}.base_id = ${index.baseParam} AND ${alias}.index_id = ${id} AND ${alias}.field = ${field}`
  // Each search word expands to the index words that match it; an entry must have one for every search word.
  const keyOf = (word: string) => `${id} || '.' || ${field} || ':' || ${word}`
  const keys = words.map((word, i) => {
    const patterns = wordPatterns(word)
    // A word of one or two letters has no fuzzy matches.
    if (patterns.length === 1) return `ARRAY[${keyOf(`(${all})[${i + 1}]`)}]`
    return `ARRAY(
      SELECT ${keyOf('v.word')} FROM plinth.record_word v
      WHERE ${entryOf('v')} AND v.word LIKE ANY (${parameters.add(patterns)}::text[])
        AND plinth.search_score(' ' || v.word || ' ', (${all})[${i + 1}:${i + 1}]) IS NOT NULL)`
  })
  const has = keys.map((each) => `plinth.search_keys(e.index_id, e.field, e.words) && ${each}`)
  return {
    entries: `(SELECT e.id, e.words FROM (SELECT * FROM plinth.record_text e WHERE ${has.join(match === 'all' ? ' AND ' : ' OR ')} OFFSET 0) e
      WHERE ${entryOf('e')})`,
    entryOf,
    scoreOf: (text: string, sized?: string) =>
      match === 'all'
        ? `plinth.search_score(${text}, ${all}${andSize(sized)})`
        : words
            .map((_, i) => `coalesce(plinth.search_score(${text}, (${all})[${i + 1}:${i + 1}]), 0)`)
            .join(' + '),
  }
}

/**
 * The records in which a text index that has all strings of `data` finds every word, in any field: a subquery of the columns of
 * `plinth.record` and `score`. `scoped` restricts `plinth.record AS r` to the type.
 *
 * A single word is scored by the entries that have it, which is exact where no text is cut, and where the beginning of a word is
 * found in one field only: the first in the record counts. Else the entries lead to candidates, and the whole text decides.
 */
export function compileWhole(
  words: readonly string[],
  { id, fields, baseParam }: WholeIndex,
  scoped: string,
  parameters: Search['parameters'],
): string {
  const all = wordsParameter(words, parameters)
  const index = `${parameters.add(id)}::bigint`
  const positions = `${parameters.add(fields)}::integer[]`
  const of = (alias: string) =>
    `${alias}.base_id = ${baseParam} AND ${alias}.index_id = ${index} AND ${alias}.field = ANY (${positions})`
  const having = words.map((word, i) => {
    const patterns = wordPatterns(word)
    const keys =
      patterns.length === 1
        ? `SELECT ${index} || '.' || f || ':' || (${all})[${i + 1}] FROM unnest(${positions}) AS f`
        : `SELECT ${index} || '.' || v.field || ':' || v.word FROM plinth.record_word v
           WHERE ${of('v')} AND v.word LIKE ANY (${parameters.add(patterns)}::text[])
             AND plinth.search_found(' ' || v.word || ' ', (${all})[${i + 1}]) IS NOT NULL`
    return `(SELECT * FROM plinth.record_text e
      WHERE plinth.search_keys(e.index_id, e.field, e.words) && ARRAY(${keys}) OFFSET 0) e WHERE ${of('e')}`
  })
  const record = `LATERAL (SELECT * FROM plinth.record r WHERE ${scoped} AND r.id = e.id LIMIT 1) r`
  const size = 'LATERAL (SELECT octet_length(r.data::text) AS octets OFFSET 0) z'
  const byText = `plinth.search_score(plinth.search_fold(plinth.search_text(r.data)), ${all}, z.octets)`
  const ofOne = (entries: string) => `(
      SELECT id, CASE WHEN max(found) = 1 OR count(*) = 1 THEN max(found) END AS found
      FROM (SELECT e.id, plinth.search_found(e.words, (${all})[1]) AS found FROM ${entries}) e GROUP BY id) e`
  const byEntries = `CASE WHEN e.found IS NOT NULL AND z.octets <= ${LIMITS.searchedChars}
      THEN plinth.search_rank(e.found, (${all})[1], z.octets, e.found > 0.5) ELSE ${byText} END`
  const [only = '', ...others] = having
  const candidates =
    others.length === 0
      ? ofOne(only)
      : `(SELECT DISTINCT id FROM (${having.map((entries) => `SELECT e.id FROM ${entries}`).join(' INTERSECT ')}) e) e`
  return `(SELECT r.*, s.score FROM ${candidates}, ${record}, ${size},
      LATERAL (SELECT ${others.length === 0 ? byEntries : byText} AS score OFFSET 0) s WHERE s.score IS NOT NULL)`
}

const wordsParameter = (words: readonly string[], parameters: Search['parameters']): string =>
  `${parameters.add(words)}::text[]`

const andSize = (sized: string | undefined): string => (sized ? `, octet_length((${sized})::text)` : '')

/**
 * Sequential match without an index: searches the text of each record. The longest word filters most records
 * at low cost.
 */
function scanned(
  words: readonly string[],
  text: string,
  sized: Search['sized'],
  parameters: Search['parameters'],
): { matches: string; score: string } {
  const all = wordsParameter(words, parameters)
  const longest = words.reduce((found, word) => (word.length > found.length ? word : found))
  const patterns = [roughPatterns(longest), textPatterns(longest)].map(
    (each) => `${parameters.add(each)}::text[]`,
  )
  const scoreBy = (size: string) =>
    `plinth.search_score(plinth.search_text(${text}), ${all}, ${patterns.join(', ')}${size})`
  return { matches: `${scoreBy('')} IS NOT NULL`, score: scoreBy(andSize(sized?.())) }
}

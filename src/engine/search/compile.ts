/** Full-text search as SQL: matches words and ranks records. */
import { roughPatterns, textPatterns, wordPatterns } from './words.ts'

type Search = {
  /** As `searchWords` gives them; one at least. */
  words: readonly string[]
  /**
   * What is searched, as SQL of type jsonb over `plinth.record AS r`: all strings within it count. Asked for only where
   * it is used, since PostgreSQL refuses a statement with a parameter that stands nowhere in it.
   */
  text: () => string
  parameters: { add(value: unknown): string }
  /** A ready text index that has exactly this field, at position `field` (from 0); `baseParam` holds the base. */
  index: TextIndex | null
}
type TextIndex = { id: string; field: number; baseParam: string }

/**
 * A search as SQL over `plinth.record AS r`: whether the record matches, never null, and how well, from 0 to 1 with six
 * decimals; null where it does not match. An index changes the way there, never the answer.
 */
export function compileSearch({ words, text, parameters, index }: Search): {
  matches: string
  score: string
} {
  if (!index) return scanned(words, text(), parameters)
  const { entries, entryOf, scoreOf } = compileEntries(words, index, parameters)
  return {
    // IS TRUE keeps the planner from making it a join: it stays a hash table that is filled once.
    matches: `(r.id IN (SELECT e.id FROM ${entries} e)) IS TRUE`,
    score: `(SELECT ${scoreOf('e.words')} FROM plinth.record_text e WHERE ${entryOf('e')} AND e.id = r.id)`,
  }
}

/**
 * The entries of a text index that match: `entries` is a subquery with the columns `id` and `words`, `scoreOf` the score of
 * such `words`.
 *
 * The words alone find the entries (OFFSET 0), since no two indexes share a key. With the columns of the primary key beside
 * them, a planner whose statistics are older than the entries reads all of the index and computes the keys of each.
 */
export function compileEntries(words: readonly string[], index: TextIndex, parameters: Search['parameters']) {
  const all = wordsParameter(words, parameters)
  const id = `${parameters.add(index.id)}::bigint`
  const field = `${parameters.add(index.field)}::integer`
  const entryOf = (alias: string) =>
    `${alias}.base_id = ${index.baseParam} AND ${alias}.index_id = ${id} AND ${alias}.field = ${field}`
  // Each word stands for the words of the index that answer to it; an entry has one of them for every word.
  const keyOf = (word: string) => `${id} || '.' || ${field} || ':' || ${word}`
  const keys = words.map((word, i) => {
    const patterns = wordPatterns(word)
    // To a word of one or two letters only itself answers.
    if (patterns.length === 1) return `ARRAY[${keyOf(`(${all})[${i + 1}]`)}]`
    return `ARRAY(
      SELECT ${keyOf('v.word')} FROM plinth.record_word v
      WHERE ${entryOf('v')} AND v.word LIKE ANY (${parameters.add(patterns)}::text[])
        AND plinth.search_score(' ' || v.word || ' ', (${all})[${i + 1}:${i + 1}]) IS NOT NULL)`
  })
  const has = keys.map((each) => `plinth.search_keys(e.index_id, e.field, e.words) && ${each}`)
  return {
    entries: `(SELECT e.id, e.words FROM (SELECT * FROM plinth.record_text e WHERE ${has.join(' AND ')} OFFSET 0) e
      WHERE ${entryOf('e')})`,
    entryOf,
    scoreOf: (text: string) => `plinth.search_score(${text}, ${all})`,
  }
}

const wordsParameter = (words: readonly string[], parameters: Search['parameters']): string =>
  `${parameters.add(words)}::text[]`

/** Without an index: the text of each record. The longest word tells most of them from the rest at little cost. */
function scanned(
  words: readonly string[],
  text: string,
  parameters: Search['parameters'],
): { matches: string; score: string } {
  const all = wordsParameter(words, parameters)
  const longest = words.reduce((found, word) => (word.length > found.length ? word : found))
  const patterns = [roughPatterns(longest), textPatterns(longest)].map(
    (each) => `${parameters.add(each)}::text[]`,
  )
  const score = `plinth.search_score(plinth.search_text(${text}), ${all}, ${patterns.join(', ')})`
  return { matches: `${score} IS NOT NULL`, score }
}

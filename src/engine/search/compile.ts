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
  index: { id: string; field: number; baseParam: string } | null
}

/**
 * A search as SQL over `plinth.record AS r`: whether the record matches, never null, and how well, from 0 to 1 with six
 * decimals; null where it does not match. An index changes the way there, never the answer.
 */
export function compileSearch({ words, text, parameters, index }: Search): {
  matches: string
  score: string
} {
  const all = `${parameters.add(words)}::text[]`
  if (!index) return scanned(words, text(), all, parameters)
  const of = (alias: string) =>
    `${alias}.base_id = ${index.baseParam} AND ${alias}.index_id = ${id} AND ${alias}.field = ${field}`
  const id = `${parameters.add(index.id)}::bigint`
  const field = `${parameters.add(index.field)}::integer`
  // Each word stands for the words of the index that answer to it; an entry has one of them for every word.
  const keyOf = (word: string) => `${id} || '.' || ${field} || ':' || ${word}`
  const keys = words.map((word, i) => {
    const patterns = wordPatterns(word)
    // To a word of one or two letters only itself answers.
    if (patterns.length === 1) return `ARRAY[${keyOf(`(${all})[${i + 1}]`)}]`
    return `ARRAY(
      SELECT ${keyOf('v.word')} FROM plinth.record_word v
      WHERE ${of('v')} AND v.word LIKE ANY (${parameters.add(patterns)}::text[])
        AND plinth.search_score(' ' || v.word || ' ', (${all})[${i + 1}:${i + 1}]) IS NOT NULL)`
  })
  const has = keys.map((each) => `plinth.search_keys(e.index_id, e.field, e.words) && ${each}`)
  return {
    matches: `r.id IN (SELECT e.id FROM plinth.record_text e WHERE ${of('e')} AND ${has.join(' AND ')})`,
    score: `(SELECT plinth.search_score(e.words, ${all}) FROM plinth.record_text e WHERE ${of('e')} AND e.id = r.id)`,
  }
}

/** Without an index: the text of each record. The longest word tells most of them from the rest at little cost. */
function scanned(
  words: readonly string[],
  text: string,
  all: string,
  parameters: Search['parameters'],
): { matches: string; score: string } {
  const longest = words.reduce((found, word) => (word.length > found.length ? word : found))
  const patterns = [roughPatterns(longest), textPatterns(longest)].map(
    (each) => `${parameters.add(each)}::text[]`,
  )
  const score = `plinth.search_score(plinth.search_text(${text}), ${all}, ${patterns.join(', ')})`
  return { matches: `${score} IS NOT NULL`, score }
}

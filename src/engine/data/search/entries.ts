const ALL_WORDS = `string_to_array(btrim(e.words), ' ')`
/**
 * The CTE that adds the words of the entries of `text_entered` that are new in their index. `words` are those of the entry `e`
 * of `entries` that may be.
 */
export const textWords = (words = ALL_WORDS, entries = 'text_entered'): string => `text_words AS (
     INSERT INTO plinth.record_word (base_id, index_id, field, word)
     SELECT base_id, index_id, field, word FROM (
       SELECT DISTINCT e.base_id, e.index_id, e.field, each.word COLLATE "C" AS word
       FROM ${entries} e CROSS JOIN LATERAL unnest(${words}) AS each (word)) AS used
     -- As a scalar: as a join the plan would read every word there is.
     WHERE (SELECT true FROM plinth.record_word v
            WHERE v.base_id = used.base_id AND v.index_id = used.index_id AND v.field = used.field AND v.word = used.word
            LIMIT 1) IS NULL)`

/**
 * CTEs that maintain text-index entries of the rows of `from` (all columns of plinth.record), and add new
 * words to the indexes. Single writes, grouped writes and index builds share this text; a build locks the
 * rows. Unchanged entries are not written. An upsert is used because it sees rows that a concurrent writer of
 * the same record committed after the statement began. `$1` is the base, `$2` the type.
 */
export const textEntries = (from: string, which = "d.status <> 'failed'"): string => `text_entered AS (
     INSERT INTO plinth.record_text AS x (base_id, index_id, field, id, words)
     SELECT $1, d.id, f.position - 1, w.id,
       coalesce(plinth.search_fold(plinth.search_text(CASE WHEN f.field ? 'without'
         THEN w.data - ARRAY(SELECT jsonb_array_elements_text(f.field -> 'without'))
         ELSE plinth.search_value(w.data, f.field -> 'path', 0) END)), '')
     FROM ${from} w JOIN plinth.record_type_index d
       ON d.base_id = $1 AND d.record_type = $2 AND d.kind = 'text' AND ${which}
     CROSS JOIN LATERAL jsonb_array_elements(d.fields) WITH ORDINALITY AS f (field, position)
     ORDER BY d.id, f.position, w.id
     ON CONFLICT (base_id, index_id, field, id) DO UPDATE SET words = excluded.words WHERE x.words <> excluded.words
     RETURNING x.base_id, x.index_id, x.field, x.words),
   ${textWords()}`

const OF_TEXT = `plinth.record_type_index d WHERE d.base_id = $1 AND d.record_type = $2 AND d.kind = 'text'`

/**
 * The CTE that deletes the entries of the deleted rows of `from`. It compares with values, since a join may
 * scan all entries. `$1` is the base, `$2` the type.
 */
export const textEntriesGone = (from: string): string => `text_gone AS (
     DELETE FROM plinth.record_text x
     WHERE x.base_id = $1 AND x.id = ANY (ARRAY(SELECT id FROM ${from}))
       AND x.index_id = ANY (ARRAY(SELECT d.id FROM ${OF_TEXT}))
       AND x.field = ANY (ARRAY(
         SELECT generate_series(0, max(jsonb_array_length(d.fields)) - 1) FROM ${OF_TEXT})))`

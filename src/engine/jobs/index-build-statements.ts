import { statement } from '../database/client.ts'
import { ENTER, entriesWanted } from '../indexes/entries.ts'
import { textEntries } from '../search/entries.ts'

/** How many records a batch of a build reads; each batch is one short transaction. */
export const BATCH = 1000
/** The same for an index of words, whose batches hold off the writers of their records. */
export const TEXT_BATCH = 200
/** How many groups of duplicates are shown, and how many records of each. */
export const MOST_DUPLICATES = 10

const THIS_INDEX = 'd.id = $3::bigint'

/** The index while it is being built. Two builds of it take turns. */
export const LOCK_BUILDING = statement(
  'lock_building_index',
  `SELECT kind, built_to, duplicates FROM plinth.record_type_index
   WHERE base_id = $1 AND record_type = $2 AND id = $3::bigint AND status = 'building' FOR UPDATE`,
)

/**
 * Enters the next records after `$4`, and remembers how far it came. The records are held against deletion only; where a
 * writer has entered one already, its entry is as new as ours or newer. `entered` counts those entered here.
 */
export const ENTER_BATCH = statement(
  'build_index_batch',
  `WITH w AS MATERIALIZED (
     SELECT * FROM plinth.record WHERE base_id = $1 AND record_type = $2 AND id > $4 ORDER BY id LIMIT ${BATCH} FOR KEY SHARE),
   wanted AS MATERIALIZED (${entriesWanted('w', THIS_INDEX)} ORDER BY w.id),
   entered AS (${ENTER} ON CONFLICT DO NOTHING RETURNING 1),
   progress AS (
     UPDATE plinth.record_type_index d
     SET built_to = coalesce((SELECT max(id) FROM w), d.built_to), has_cut = d.has_cut OR EXISTS (SELECT FROM wanted WHERE is_first_cut)
     WHERE d.base_id = $1 AND d.record_type = $2 AND d.id = $3::bigint)
   SELECT (SELECT count(*) FROM w)::int AS seen, (SELECT count(*) FROM entered)::int AS entered, max(id) AS last FROM w`,
)

/** The same for an index of words. The records are held against writers: the entries made here replace what there is. */
export const ENTER_TEXT_BATCH = statement(
  'build_text_index_batch',
  `WITH w AS MATERIALIZED (
     SELECT * FROM plinth.record
     WHERE base_id = $1 AND record_type = $2 AND id > $4 ORDER BY id LIMIT ${TEXT_BATCH} FOR NO KEY UPDATE),
   ${textEntries('w', THIS_INDEX)},
   progress AS (
     UPDATE plinth.record_type_index d SET built_to = coalesce((SELECT max(id) FROM w), d.built_to)
     WHERE d.base_id = $1 AND d.record_type = $2 AND d.id = $3::bigint)
   SELECT count(*)::int AS seen, count(*)::int AS entered, max(id) AS last FROM w`,
)

/** Enters those of the records `$4` that have no entry, now that what kept them out is gone. */
export const ENTER_AGAIN = statement(
  'enter_again',
  `WITH w AS MATERIALIZED (
     SELECT * FROM plinth.record WHERE base_id = $1 AND record_type = $2 AND id = ANY ($4::text[]) ORDER BY id FOR KEY SHARE),
   wanted AS MATERIALIZED (${entriesWanted('w', THIS_INDEX)} ORDER BY w.id)
   ${ENTER} ON CONFLICT DO NOTHING`,
)

/**
 * The records after `$4` up to `$5`, or those of `$6`, that have no entry, each with the one that has its values; null when
 * that one has others by now. Entries are looked up by subqueries: as joins the plan may read all of the index for each.
 */
export const FIND_WITHOUT = statement(
  'find_without_entry',
  `WITH wanted AS MATERIALIZED (
     SELECT w.id, w.k1, w.k2, w.k3 FROM (${entriesWanted(
       'plinth.record',
       `${THIS_INDEX}
       AND w.base_id = $1 AND w.record_type = $2 AND ((w.id > $4 AND w.id <= $5) OR w.id = ANY ($6::text[]))`,
     )}) w
     WHERE (SELECT true FROM plinth.record_index x WHERE x.base_id = $1 AND x.index_id = $3::bigint AND x.id = w.id LIMIT 1) IS NULL)
   SELECT wanted.id, held.id AS holder FROM wanted LEFT JOIN LATERAL (
     SELECT x.id FROM plinth.record_index x
     WHERE x.base_id = $1 AND x.index_id = $3::bigint AND x.is_unique
       AND x.k1 = wanted.k1 AND x.k2 = wanted.k2 AND x.k3 = wanted.k3 LIMIT 1) AS held ON true
   ORDER BY wanted.id LIMIT ${MOST_DUPLICATES * MOST_DUPLICATES}`,
)

/** What the record holds in the fields of the index, in their order. */
export const VALUES_OF = statement(
  'index_values_of',
  `SELECT r.id, (
     SELECT jsonb_agg(CASE
       WHEN f.field ->> 'column' IS NOT NULL THEN
         (to_jsonb(r) || jsonb_build_object('status', CASE WHEN r.cancelled_at IS NULL THEN 'active' ELSE 'cancelled' END))
           -> (f.field ->> 'column')
       ELSE plinth.at(r.data, f.field -> 'path') END ORDER BY f.n)
     FROM jsonb_array_elements(d.fields) WITH ORDINALITY AS f (field, n)) AS values
   FROM plinth.record r JOIN plinth.record_type_index d ON d.base_id = $1 AND d.record_type = $2 AND d.id = $3::bigint
   WHERE r.base_id = $1 AND r.record_type = $2 AND r.id = ANY ($4::text[])`,
)

export const KEEP_DUPLICATES = statement(
  'keep_duplicates',
  `UPDATE plinth.record_type_index SET duplicates = $4::jsonb WHERE base_id = $1 AND record_type = $2 AND id = $3::bigint`,
)

/** Begins the build again. */
export const RESTART_BUILD = statement(
  'restart_build',
  `UPDATE plinth.record_type_index SET built_to = NULL, duplicates = NULL
   WHERE base_id = $1 AND record_type = $2 AND id = $3::bigint`,
)

export const MARK_READY = statement(
  'mark_index_ready',
  `UPDATE plinth.record_type_index SET status = 'ready', built_to = NULL, duplicates = NULL
   WHERE base_id = $1 AND record_type = $2 AND id = $3::bigint`,
)

// The revision rises, so that no writer goes on to write its entries.
export const MARK_FAILED = statement(
  'mark_index_failed',
  `WITH t AS (UPDATE plinth.record_type SET revision = revision + 1 WHERE base_id = $1 AND id = $2)
   UPDATE plinth.record_type_index SET status = 'failed', built_to = NULL, duplicates = $4::jsonb
   WHERE base_id = $1 AND record_type = $2 AND id = $3::bigint`,
)

/** The indexes whose build is not at its end, but for those that somebody is just at. */
export const LIST_BUILDING = statement(
  'list_building_indexes',
  `SELECT base_id AS base, record_type AS type, id::text AS index FROM plinth.record_type_index WHERE status = 'building' FOR UPDATE SKIP LOCKED`,
)

const takeOut = (name: string, table: string, most: number) =>
  statement(
    name,
    `WITH gone AS (
       DELETE FROM plinth.${table} WHERE ctid = ANY (ARRAY(
         SELECT ctid FROM plinth.${table} WHERE base_id = $1 AND index_id = $2::bigint LIMIT ${most})) RETURNING 1)
     SELECT count(*)::int AS gone FROM gone`,
  )

/** Each takes out some of what an index that is gone has left: its entries, those of words, and the words it has seen. */
export const TAKE_OUT = [
  takeOut('drop_index_entries', 'record_index', 5000),
  takeOut('drop_text_entries', 'record_text', 1000),
  takeOut('drop_words', 'record_word', 5000),
]

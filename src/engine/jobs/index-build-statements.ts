import { ENTER, entriesWanted } from '../data/indexes/entries.ts'
import { textEntries } from '../data/search/entries.ts'
import { statement } from '../storage/database/client.ts'

/** Records per build batch. Each batch is one short transaction. */
export const BATCH = 1000
/** Batch size for full-text indexes, whose batches block writers of their records. */
export const TEXT_BATCH = 200
/** Maximum number of duplicate groups to report, and of records in each. */
export const MOST_DUPLICATES = 10

const THIS_INDEX = 'd.id = $3::bigint'

/** Locks the index that is being built, so that concurrent builds take turns. */
export const LOCK_BUILDING = statement(
  'lock_building_index',
  `SELECT kind, built_to, duplicates FROM plinth.record_type_index
   WHERE base_id = $1 AND record_type = $2 AND id = $3::bigint AND status = 'building' FOR UPDATE`,
)

/**
 * Indexes the next records after `$4` and stores the progress. Locks the records against deletion only: an
 * existing entry was made by a writer and is at least as recent. `entered` counts the new entries.
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

/** Variant for a full-text index. Locks the records against writers, because it replaces existing entries. */
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

/** Indexes those of the records `$4` that have no entry, after their conflicting entry is gone. */
export const ENTER_AGAIN = statement(
  'enter_again',
  `WITH w AS MATERIALIZED (
     SELECT * FROM plinth.record WHERE base_id = $1 AND record_type = $2 AND id = ANY ($4::text[]) ORDER BY id FOR KEY SHARE),
   wanted AS MATERIALIZED (${entriesWanted('w', THIS_INDEX)} ORDER BY w.id)
   ${ENTER} ON CONFLICT DO NOTHING`,
)

/**
 * Finds the records after `$4` up to `$5`, or those of `$6`, without an entry, each with the record that has
 * the same values; null when there is none any more. Uses subqueries, because with joins the planner may scan
 * the complete index for each row.
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

/** The record's values of the index fields, in order. */
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

/** Restarts the build. */
export const RESTART_BUILD = statement(
  'restart_build',
  `UPDATE plinth.record_type_index SET built_to = NULL, duplicates = NULL
   WHERE base_id = $1 AND record_type = $2 AND id = $3::bigint`,
)

/**
 * Those of change-sets get their entries at once: they are few. Duplicates among them are conflicts of their merge. They are
 * locked before, so that what is written or dropped meanwhile keeps no entries of what it was.
 */
export const MARK_READY = statement(
  'mark_index_ready',
  `WITH held AS MATERIALIZED (
     SELECT d AS draft FROM plinth.draft_record d
     WHERE d.branch = ANY (ARRAY(SELECT b.id FROM plinth.base b WHERE b.production_base = $1)) AND d.record_type = $2
     ORDER BY d.branch, d.id FOR SHARE),
   drafts AS MATERIALIZED (SELECT count(plinth_draft.enter(held.draft, false)::text) FROM held)
   UPDATE plinth.record_type_index SET status = 'ready', built_to = NULL, duplicates = NULL
   WHERE base_id = $1 AND record_type = $2 AND id = $3::bigint AND (SELECT count(*) FROM drafts) = 1`,
)

// Raises the revision, so that writers stop writing entries.
export const MARK_FAILED = statement(
  'mark_index_failed',
  `WITH t AS (UPDATE plinth.record_type SET revision = revision + 1 WHERE base_id = $1 AND id = $2)
   UPDATE plinth.record_type_index SET status = 'failed', built_to = NULL, duplicates = $4::jsonb
   WHERE base_id = $1 AND record_type = $2 AND id = $3::bigint`,
)

/** Indexes with an unfinished build, except those that another process is building. */
export const LIST_BUILDING = statement(
  'list_building_indexes',
  `SELECT base_id AS base, record_type AS type, id::text AS index FROM plinth.record_type_index WHERE status = 'building' FOR UPDATE SKIP LOCKED`,
)

const deleteEntries = (name: string, table: string, most: number) =>
  statement(
    name,
    `WITH gone AS (
       DELETE FROM plinth.${table} WHERE ctid = ANY (ARRAY(
         SELECT ctid FROM plinth.${table} WHERE base_id = $1 AND index_id = $2::bigint LIMIT ${most})) RETURNING 1)
     SELECT count(*)::int AS gone FROM gone`,
  )

/**
 * Statements that each delete a batch of a dropped index: its entries, its full-text entries, and its
 * collected words.
 */
export const TAKE_OUT = [
  deleteEntries('drop_index_entries', 'record_index', 5000),
  deleteEntries('drop_text_entries', 'record_text', 1000),
  deleteEntries('drop_words', 'record_word', 5000),
]

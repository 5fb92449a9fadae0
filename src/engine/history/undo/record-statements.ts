/** The statements that revert changes of many records of one type. Their rows are locked already. */
import { CAUSE, RECORD_LOG_COLUMNS } from '../../change-log/entry.ts'
import { statement } from '../../database/client.ts'
import { LEAVING, writeStatement } from '../../indexes/index.ts'
import { logLinks } from '../../record-store/relationship-statements.ts'

/** Records `$3`, each with the version to go back to and the change to name as the cause. */
const INPUT = `i AS MATERIALIZED (
     SELECT * FROM unnest($3::text[], $4::int[], $5::text[], $6::boolean[]) AS i (id, version, cause, valid))`

const logged = (operation: string, version = 'w.version', rows = 'w') => `logged AS (
     INSERT INTO plinth.change (${RECORD_LOG_COLUMNS}, cause)
     SELECT $1, 'record', $2, w.id, ${operation}, ${version}, w.data, w.external_source, w.external_id, w.cancelled_at,
       w.created_at, $7, $8, $9, $10, $11::jsonb, coalesce(w.cause, ${CAUSE}) FROM ${rows} w)`

/** The states of `$3` in the versions `$4`, and whether each has the data of the one that it replaces. */
export const STATES = statement(
  'undo_states',
  `SELECT i.n::int AS n, c.data, coalesce(c.data = coalesce(lag(c.data) OVER (PARTITION BY i.id ORDER BY i.n), (
       SELECT r.data FROM plinth.record r
       WHERE r.base_id = $1 AND r.record_type = $2 AND r.id = i.id COLLATE "C")), false) AS is_same
   FROM unnest($3::text[], $4::int[]) WITH ORDINALITY AS i (id, version, n)
   CROSS JOIN LATERAL (
     SELECT data FROM plinth.change c
     WHERE c.kind = 'record' AND c.base_id = $1 AND c.record_type = $2 AND c.id = i.id COLLATE "C" AND c.version = i.version LIMIT 1) c
   ORDER BY i.n`,
)

/**
 * Sets records to the data, pair and status of a version. Logs records that have this state already too. Of
 * several versions of one record, each is logged in this order, and the record gets the last.
 */
export const SET_BACK_RECORDS = writeStatement(
  'set_back_records',
  (entries) => `WITH i AS MATERIALIZED (
     SELECT *, row_number() OVER o AS place, count(*) OVER (PARTITION BY id) AS places
     FROM unnest($3::text[], $4::int[], $5::text[], $6::boolean[]) WITH ORDINALITY AS i (id, version, cause, valid, n)
     WINDOW o AS (PARTITION BY id ORDER BY n)),
   held AS MATERIALIZED (
     SELECT DISTINCT r.id, r.version, r.created_at, r.cancelled_at IS NULL AS was_active FROM i JOIN plinth.record r
       ON r.base_id = $1 AND r.record_type = $2 AND r.id = i.id COLLATE "C"),
   state AS MATERIALIZED (
     SELECT i.id, i.cause, i.valid, i.place, i.places, c.data, c.external_source, c.external_id, c.cancelled_at,
       lag(c.cancelled_at IS NULL) OVER (PARTITION BY i.id ORDER BY i.place) AS was_active
     FROM i CROSS JOIN LATERAL (
       SELECT * FROM plinth.change c
       WHERE c.kind = 'record' AND c.base_id = $1 AND c.record_type = $2 AND c.id = i.id COLLATE "C" AND c.version = i.version LIMIT 1) c),
   w AS (
     UPDATE plinth.record r SET data = state.data, external_source = state.external_source, external_id = state.external_id,
       cancelled_at = state.cancelled_at, version = r.version + state.places, updated_at = now(), valid = state.valid
     FROM state JOIN held ON held.id = state.id COLLATE "C"
     WHERE r.base_id = $1 AND r.record_type = $2 AND r.id = ANY ($3::text[]) AND r.id = state.id COLLATE "C" AND state.place = state.places
     RETURNING r.*),
   passed AS (
     SELECT held.id, held.version + s.place AS version, s.data, s.external_source, s.external_id, s.cancelled_at, held.created_at, s.cause,
       coalesce(s.was_active, held.was_active) AS was_active
     FROM state s JOIN held ON held.id = s.id COLLATE "C" JOIN w ON w.id = held.id
     ORDER BY s.place),
   ${logged(
     `CASE WHEN (w.cancelled_at IS NULL) = w.was_active THEN 'update'
       WHEN w.cancelled_at IS NULL THEN 'restore' ELSE 'cancel' END`,
     'w.version',
     'passed',
   )}${entries}
   SELECT id FROM w`,
)

/** Deletes records, but not those with links. */
export const DELETE_RECORDS = writeStatement(
  'undo_delete_records',
  (entries) => `WITH ${INPUT},
   w AS (
     DELETE FROM plinth.record r USING i
     WHERE r.base_id = $1 AND r.record_type = $2 AND r.id = ANY ($3::text[]) AND r.id = i.id COLLATE "C"
       AND (SELECT true FROM plinth.relationship l WHERE l.source_row = r.row_no LIMIT 1) IS NULL
       AND (SELECT true FROM plinth.relationship l WHERE l.target_row = r.row_no LIMIT 1) IS NULL
     RETURNING r.*, i.cause),
   ${logged("'delete'", 'w.version + 1')}${entries}
   SELECT id FROM w`,
  LEAVING,
)

/** Brings back deleted records in the state that their deletion has. */
export const BRING_BACK_RECORDS = writeStatement(
  'bring_back_records',
  (entries) => `WITH ${INPUT},
   made AS (
     INSERT INTO plinth.record
       (base_id, record_type, id, external_source, external_id, data, version, cancelled_at, valid, created_at)
     SELECT $1, $2, c.id, c.external_source, c.external_id, c.data, 1 + last.version, c.cancelled_at, i.valid, coalesce(c.created_at, c.at)
     FROM i CROSS JOIN LATERAL (
       SELECT * FROM plinth.change c
       WHERE c.kind = 'record' AND c.base_id = $1 AND c.record_type = $2 AND c.id = i.id COLLATE "C" AND c.version = i.version LIMIT 1) c
     CROSS JOIN LATERAL (
       SELECT version FROM plinth.change l
       WHERE l.kind = 'record' AND l.base_id = $1 AND l.record_type = $2 AND l.id = i.id COLLATE "C" ORDER BY l.version DESC LIMIT 1) last
     ORDER BY c.id
     RETURNING *),
   w AS (SELECT made.*, i.cause FROM made JOIN i ON i.id COLLATE "C" = made.id),
   ${logged("'restore'")}${entries}
   SELECT id FROM w`,
)

/** Deletes links, each with the change to name as the cause. */
export const DELETE_LINKS = statement(
  'undo_delete_links',
  `WITH i AS MATERIALIZED (SELECT * FROM unnest($2::text[], $3::text[]) AS i (id, cause)),
   w AS (
     DELETE FROM plinth.relationship r USING i
     WHERE r.base_id = $1 AND r.id = ANY ($2::text[]) AND r.id = i.id COLLATE "C" RETURNING r.*, i.cause),
   logged AS (${logLinks('w', 'delete', '$4, $5, $6, $7, $8::jsonb', 'w.cause')})
   SELECT id FROM w`,
)

/** The states of links `$2` in the versions `$3`. */
export const LINK_STATES = statement(
  'undo_link_states',
  `SELECT i.n::int AS n, c.data, r.external_id IS NOT NULL AS has_pair
   FROM unnest($2::text[], $3::int[]) WITH ORDINALITY AS i (id, version, n)
   CROSS JOIN LATERAL (
     SELECT data FROM plinth.change c
     WHERE c.kind = 'relationship' AND c.base_id = $1 AND c.id = i.id COLLATE "C" AND c.version = i.version LIMIT 1) c
   LEFT JOIN plinth.relationship r ON r.base_id = $1 AND r.id = i.id COLLATE "C"
   ORDER BY i.n`,
)

/** Locks the types and then the records, in the lock order of all writers. */
export const LOCK_RECORDS = statement(
  'undo_lock_records',
  `WITH ty AS MATERIALIZED (
     SELECT id FROM plinth.record_type WHERE base_id = $1 AND id = ANY ($2::text[]) ORDER BY id FOR KEY SHARE)
   SELECT 1 AS one FROM plinth.record r
   JOIN (SELECT DISTINCT * FROM unnest($2::text[], $3::text[]) AS i (record_type, id)) i
     ON r.record_type = i.record_type COLLATE "C" AND r.id = i.id COLLATE "C"
   WHERE (SELECT count(*) FROM ty) >= 0 AND r.base_id = $1 ORDER BY r.record_type, r.id FOR UPDATE OF r`,
)
export const LOCK_LINKS = statement(
  'undo_lock_links',
  `SELECT 1 AS one FROM plinth.relationship WHERE base_id = $1 AND id = ANY ($2::text[])
   ORDER BY source_row, rel_type, target_row FOR UPDATE`,
)

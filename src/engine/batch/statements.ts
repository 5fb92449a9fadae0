import { RECORD_LOG_COLUMNS } from '../author-columns.ts'
import { writeStatement } from '../indexes/index.ts'

const WRITTEN = 'id, external_source, external_id, version, cancelled_at, valid, created_at, updated_at'

/** The entries of what `w` wrote, in the same statement; the author's values are bound from `$first` on. */
const logged = (operation: string, first: number): string => `logged AS (
     INSERT INTO plinth.change (${RECORD_LOG_COLUMNS})
     SELECT $1, 'record', $2, id, '${operation}', version, data, external_source, external_id, cancelled_at, created_at,
       $${first}, $${first + 1}, $${first + 2}, $${first + 3} FROM w)`

// The type and the records are locked already. The arrays stand in subqueries: seeing how long they are, the database
// would plan each of these statements anew.

/** Creates many records of one type. One that has come meanwhile is a unique violation: the whole is run again. */
export const CREATE_RECORDS = writeStatement(
  'batch_create_records',
  (entries) => `WITH w AS (
     INSERT INTO plinth.record (base_id, record_type, id, data, external_source, external_id, version)
     SELECT $1, $2, i.id, i.data, i.external_source, i.external_id, 1 + CASE WHEN i.is_new_id THEN 0 ELSE coalesce((
       SELECT max(version) FROM plinth.change c
       WHERE c.kind = 'record' AND c.base_id = $1 AND c.record_type = $2 AND c.id = i.id COLLATE "C"), 0) END
     FROM unnest((SELECT $3::text[]), (SELECT $4::jsonb[]), (SELECT $5::text[]), (SELECT $6::text[]), (SELECT $7::boolean[]))
       AS i (id, data, external_source, external_id, is_new_id)
     RETURNING *),
   ${logged('create', 8)}${entries}
   SELECT ${WRITTEN} FROM w`,
)

/**
 * Replaces the data of many records, and the pairs that are given. Those that have all of it already are left out. Each is
 * looked up by its key and written where it lies, which its lock keeps as it is: as a join on the key the plan might read
 * every record of the type.
 */
export const UPDATE_RECORDS = writeStatement(
  'batch_update_records',
  (entries) => `WITH i AS MATERIALIZED (
     SELECT i.*, r.ctid AS place
     FROM unnest((SELECT $3::text[]), (SELECT $4::jsonb[]), (SELECT $5::text[]), (SELECT $6::text[]))
       AS i (id, data, external_source, external_id),
     LATERAL (
       SELECT ctid FROM plinth.record WHERE base_id = $1 AND record_type = $2 AND id = i.id COLLATE "C" LIMIT 1) r),
   w AS (
     UPDATE plinth.record r SET data = i.data, version = r.version + 1, updated_at = now(), valid = true,
       external_source = coalesce(i.external_source, r.external_source), external_id = coalesce(i.external_id, r.external_id)
     FROM i
     WHERE r.ctid = i.place AND (r.data IS DISTINCT FROM i.data OR (i.external_id IS NOT NULL
         AND (r.external_source, r.external_id) IS DISTINCT FROM (i.external_source, i.external_id)))
     RETURNING r.*),
   ${logged('update', 7)}${entries}
   SELECT ${WRITTEN} FROM w`,
)

/** Cancels many records. */
export const CANCEL_RECORDS = writeStatement(
  'batch_cancel_records',
  (entries) => `WITH w AS (
     UPDATE plinth.record r SET cancelled_at = now(), version = r.version + 1, updated_at = now()
     WHERE r.base_id = $1 AND r.record_type = $2 AND r.id = ANY ((SELECT $3::text[])::text[]) RETURNING r.*),
   ${logged('cancel', 4)}${entries}
   SELECT ${WRITTEN} FROM w`,
)

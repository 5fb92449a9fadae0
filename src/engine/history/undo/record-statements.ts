/** The statements that lock what an undo reverts, read its former states, and delete links. */

import { logLinks } from '../../data/ledger/relationship-statements.ts'
import { authorAt } from '../../log/log-rows.ts'
import { statement } from '../../storage/database/client.ts'

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

/** Deletes links, each with the change to name as the cause. */
export const DELETE_LINKS = statement(
  'undo_delete_links',
  `WITH i AS MATERIALIZED (SELECT * FROM unnest($2::text[], $3::text[]) AS i (id, cause)),
   w AS (
     DELETE FROM plinth.relationship r USING i
     WHERE r.base_id = $1 AND r.id = ANY ($2::text[]) AND r.id = i.id COLLATE "C" RETURNING r.*, i.cause),
   logged AS (${logLinks('w', 'delete', authorAt(4), 'w.cause')})
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

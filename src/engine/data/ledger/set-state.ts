/** Sets the state of records: their status, a former version of them, and whether their schema accepts them. */

import { authorAt, logRecords } from '../../log/log-rows.ts'
import { statement } from '../../storage/database/client.ts'
import { FEW_RECORDS } from '../../storage/database/few-records.ts'
import { type WriteStatement, writeStatement } from '../indexes/index.ts'
import { lockedType } from './locked-type.ts'
import { WRITTEN_PLACE } from './put.ts'
import { RECORD_COLUMNS } from './record.ts'

const status = (cancelledAt: string, where: string): string => `UPDATE plinth.record r
     SET cancelled_at = ${cancelledAt}, version = r.version + 1, updated_at = now() ${where}`

/** Changes the status of one record: locks the type at the revision `$5` and the record, writes and logs it if it is due. */
const transition = (name: string, operation: string, cancelledAt: string, due: string): WriteStatement =>
  writeStatement(
    name,
    (entries) => `WITH ${lockedType('revision = $5')},
     s AS MATERIALIZED (
       SELECT * FROM ${FEW_RECORDS}
       WHERE EXISTS (SELECT FROM ty) AND base_id = $1 AND record_type = $2 AND id = $3 FOR NO KEY UPDATE),
     w AS (
       ${status(
         cancelledAt,
         `FROM s WHERE r.base_id = $1 AND r.record_type = $2 AND r.id = $3 AND ${due}
         AND ($4::int[] IS NULL OR s.version = ANY ($4))`,
       )} RETURNING r.*),
     logged AS (${logRecords({ operation: `'${operation}'`, author: authorAt(6) })})${entries}
     SELECT 'updated' AS kind, ${RECORD_COLUMNS} FROM w
     UNION ALL
     SELECT CASE WHEN $4::int[] IS NULL OR version = ANY ($4) THEN 'unchanged' ELSE 'version_mismatch' END, ${RECORD_COLUMNS}
     FROM s WHERE NOT EXISTS (SELECT FROM w)
     UNION ALL
     SELECT 'stale_type', NULL, NULL, NULL, NULL, 0, NULL, true, now(), now() WHERE NOT EXISTS (SELECT FROM ty)`,
  )

export const CANCEL = transition('cancel_record', 'cancel', 'now()', 's.cancelled_at IS NULL')
export const RESTORE = transition('restore_record', 'restore', 'NULL', 's.cancelled_at IS NOT NULL')

/** Cancels records of a batch, which are locked. */
export const CANCEL_BATCH = writeStatement(
  'batch_cancel_records',
  (entries) => `WITH w AS (
     ${status('now()', 'WHERE r.base_id = $1 AND r.record_type = $2 AND r.id = ANY ((SELECT $3::text[])::text[])')} RETURNING r.*, r.ctid AS place),
   logged AS (${logRecords({ operation: "'cancel'", author: authorAt(4) })})${entries}
   SELECT ${WRITTEN_PLACE} FROM w`,
)

/**
 * Sets locked records `$3` to the data, pair and status of their versions `$4`, with the causes `$5`; `$6`: whether the
 * schema accepts them. Logs records that have this state already too. Of several versions of one record, each is logged in
 * this order, and the record gets the last.
 */
export const SET_BACK = writeStatement(
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
     SELECT w.base_id, w.record_type, w.id, held.version + s.place AS version, s.data, s.external_source, s.external_id, s.cancelled_at,
       w.created_at, s.cause, coalesce(s.was_active, held.was_active) AS was_active
     FROM state s JOIN held ON held.id = s.id COLLATE "C" JOIN w ON w.id = held.id
     ORDER BY s.place),
   logged AS (${logRecords({
     operation: `CASE WHEN (w.cancelled_at IS NULL) = w.was_active THEN 'update'
       WHEN w.cancelled_at IS NULL THEN 'restore' ELSE 'cancel' END`,
     author: authorAt(7),
     cause: 'w.cause',
     from: 'passed w',
   })})${entries}
   SELECT id FROM w`,
)

/** Sets whether the schemas of their types accept records. It is no change of them. */
export const FLAG = statement(
  'flag_records',
  `UPDATE plinth.record r SET valid = f.valid
   FROM unnest((SELECT $2::text[]), (SELECT $3::text[]), (SELECT $4::boolean[])) AS f (record_type, id, valid)
   WHERE r.base_id = $1 AND r.record_type = f.record_type COLLATE "C" AND r.id = f.id COLLATE "C"`,
)

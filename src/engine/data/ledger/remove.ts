/** Removes records, with their log rows and index entries. */

import { authorAt, logRecords } from '../../log/log-rows.ts'
import { statement } from '../../storage/database/client.ts'
import { FEW_RECORDS } from '../../storage/database/few-records.ts'
import { entriesGone, LEAVING, writeStatement } from '../indexes/index.ts'
import { lockedType } from './locked-type.ts'

const removed = (where = '', using = ''): string =>
  `DELETE FROM plinth.record r ${using}WHERE r.base_id = $1 AND r.record_type = $2${where}`

/** The entry of a deletion has the last state, as the next version. */
const DELETION = { operation: "'delete'", version: 'w.version + 1' }

/**
 * Deletes the records `$3` without links. Locks the type, at the revision `$5` if it is not null, and the records. Tells of
 * each what became of it. `$4`: the versions that it may have, or null. `$11`: the causes.
 */
export const REMOVE_UNLINKED = writeStatement(
  'delete_unlinked_records',
  (entries) => `WITH ${lockedType('($5::int IS NULL OR revision = $5)')},
   i AS MATERIALIZED (SELECT i.id COLLATE "C" AS id, i.cause FROM unnest($3::text[], $11::text[]) AS i (id, cause)),
   s AS MATERIALIZED (
     SELECT id, version, row_no FROM ${FEW_RECORDS}
     WHERE EXISTS (SELECT FROM ty) AND base_id = $1 AND record_type = $2 AND id = ANY ($3::text[]) ORDER BY id FOR UPDATE),
   w AS (
     ${removed(
       ` AND r.id = ANY ($3::text[]) AND r.id = s.id
       AND ($4::int[] IS NULL OR s.version = ANY ($4))
       AND (SELECT true FROM plinth.relationship l WHERE l.source_row = s.row_no LIMIT 1) IS NULL
       AND (SELECT true FROM plinth.relationship l WHERE l.target_row = s.row_no LIMIT 1) IS NULL`,
       'USING s JOIN i ON i.id = s.id ',
     )} RETURNING r.*, i.cause),
   logged AS (${logRecords({ ...DELETION, author: authorAt(6), cause: 'w.cause' })})${entries}
   SELECT 'deleted' AS kind, id, version FROM w
   UNION ALL
   SELECT CASE WHEN $4::int[] IS NULL OR version = ANY ($4) THEN 'linked' ELSE 'version_mismatch' END, id, version
   FROM s WHERE id NOT IN (SELECT id FROM w)
   UNION ALL SELECT 'stale_type', '', 0 WHERE NOT EXISTS (SELECT FROM ty)`,
  LEAVING,
)
export type RemovedRow = {
  readonly kind: 'deleted' | 'linked' | 'version_mismatch' | 'stale_type'
  readonly id: string
  readonly version: number
}

/** Logs the deletion of locked records of any types, by row number `$1`, with the causes `$2`. Returns the seqs. */
export const LOG_REMOVED = statement(
  'log_records_going',
  `${logRecords({
    ...DELETION,
    author: authorAt(3),
    cause: 'i.cause',
    from: `unnest((SELECT $1::bigint[]), (SELECT $2::text[])) WITH ORDINALITY AS i (row_no, cause, n)
   CROSS JOIN LATERAL (SELECT * FROM plinth.record r WHERE r.row_no = i.row_no LIMIT 1) w
   ORDER BY i.n`,
  })}
   RETURNING seq::text, record_type, id`,
)

/** Takes out locked records of a type by row number, whose deletion is logged and whose links are gone. */
export const TAKE_OUT = statement(
  'take_out_records',
  `WITH w AS (${removed(' AND r.row_no = ANY ((SELECT $3::bigint[])::bigint[])')} RETURNING r.*),
   ${entriesGone('w')}
   SELECT count(*)::int AS gone FROM w`,
)

/** Deletes all records of a type, whose links and indexes are gone. */
export const REMOVE_ALL = statement(
  'delete_type_records',
  `WITH w AS (${removed()} RETURNING *)
   ${logRecords({ ...DELETION, author: authorAt(3) })}`,
)

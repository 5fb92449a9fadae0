import { statement, timed } from '../../storage/database/client.ts'
import { RECORD_COLUMNS } from './record.ts'

/** Reads one record by key. */
export const GET = timed(
  statement(
    'get_record',
    `SELECT ${RECORD_COLUMNS} FROM plinth.record WHERE base_id = $1 AND record_type = $2 AND id = $3`,
  ),
)

/**
 * Reads many records by key; `n` numbers the keys from 1. The lateral join forces index look-ups in any plan.
 */
export const GET_MANY = timed(
  statement(
    'get_records',
    `SELECT k.n::int AS n, r.* FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS k (base_id, record_type, id, n),
   LATERAL (
     SELECT ${RECORD_COLUMNS} FROM plinth.record
     WHERE base_id = k.base_id COLLATE "C" AND record_type = k.record_type COLLATE "C" AND id = k.id COLLATE "C" LIMIT 1) r`,
  ),
)

/** Reads one record by key and locks it until the transaction ends. */
// Lock the type before the record, in the lock order of all writers, against deadlocks.
export const LOCK = statement(
  'lock_record',
  `WITH ty AS MATERIALIZED (SELECT 1 FROM plinth.record_type WHERE base_id = $1 AND id = $2 FOR KEY SHARE)
   SELECT ${RECORD_COLUMNS} FROM plinth.record
   WHERE EXISTS (SELECT FROM ty) AND base_id = $1 AND record_type = $2 AND id = $3 FOR NO KEY UPDATE`,
)

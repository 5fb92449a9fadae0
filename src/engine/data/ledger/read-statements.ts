import { statement, timed } from '../../storage/database/client.ts'
import { FEW_RECORDS } from '../../storage/database/few-records.ts'
import { lockedType } from './locked-type.ts'
import { RECORD_COLUMNS } from './record.ts'

/** Reads one record by key. */
export const GET = timed(
  statement(
    'get_record',
    `SELECT ${RECORD_COLUMNS} FROM ${FEW_RECORDS} WHERE base_id = $1 AND record_type = $2 AND id = $3`,
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
     SELECT ${RECORD_COLUMNS} FROM ${FEW_RECORDS}
     WHERE base_id = k.base_id COLLATE "C" AND record_type = k.record_type COLLATE "C" AND id = k.id COLLATE "C" LIMIT 1) r`,
  ),
)

/** Reads one record by key and locks it until the transaction ends. */
export const LOCK = statement(
  'lock_record',
  `WITH ${lockedType()}
   SELECT ${RECORD_COLUMNS} FROM ${FEW_RECORDS}
   WHERE EXISTS (SELECT FROM ty) AND base_id = $1 AND record_type = $2 AND id = $3 FOR NO KEY UPDATE`,
)

/** Locks one record by key, for its deletion too: no link to it can be made meanwhile. Returns a row if it exists. */
export const LOCK_WHOLE = statement(
  'lock_whole_record',
  `WITH ${lockedType()}
   SELECT 1 AS one FROM ${FEW_RECORDS}
   WHERE EXISTS (SELECT FROM ty) AND base_id = $1 AND record_type = $2 AND id = $3 FOR UPDATE`,
)

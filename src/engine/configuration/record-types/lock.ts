import { type Db, statement } from '../../database/client.ts'

// Waits for the writes in flight on the type, which hold KEY SHARE on its row, and holds off new ones.
const LOCK_TYPE = statement(
  'lock_type',
  'SELECT 1 AS one FROM plinth.record_type WHERE base_id = $1 AND id = $2 FOR UPDATE',
)

/** Holds off the writes of records of the type until the transaction ends. */
export const lockType = (db: Db, baseId: string, id: string) => db.query(LOCK_TYPE, [baseId, id])

import { type Db, statement } from '../../database/client.ts'

// FOR UPDATE conflicts with the FOR KEY SHARE of record writes: waits for those in progress and blocks new
// ones.
const LOCK_TYPE = statement(
  'lock_type',
  'SELECT 1 AS one FROM plinth.record_type WHERE base_id = $1 AND id = $2 FOR UPDATE',
)

/** Blocks writes of the type's records until the transaction ends. */
export const lockType = (db: Db, baseId: string, id: string) => db.query(LOCK_TYPE, [baseId, id])

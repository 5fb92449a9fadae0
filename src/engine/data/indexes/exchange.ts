/** Lets records that are written together exchange values of unique indexes. */
import { type Db, statement } from '../../storage/database/client.ts'

/** An entry that does not refuse equal ones for the time being. */
export type ReleasedEntry = { readonly index_id: string; readonly id: string }

const RELEASE = statement(
  'release_unique_entries',
  `UPDATE plinth.record_index x SET is_unique = false
   FROM plinth.record_type_index d
   WHERE d.base_id = $1 AND d.record_type = $2 AND d.kind = 'unique' AND d.status <> 'failed'
     AND x.base_id = $1 AND x.index_id = d.id AND x.id = ANY ((SELECT $3::text[])::text[]) AND x.is_unique
   RETURNING x.index_id::text AS index_id, x.id`,
)
const CLAIM = statement(
  'claim_unique_entries',
  `UPDATE plinth.record_index x SET is_unique = true
   FROM unnest((SELECT $2::bigint[]), (SELECT $3::text[])) AS k (index_id, id)
   WHERE x.base_id = $1 AND x.index_id = k.index_id AND x.id = k.id COLLATE "C" AND NOT x.is_unique`,
)

/**
 * Releases the values of locked records, which the transaction writes now. A statement that writes a record claims its new
 * values; those of records that stay as they are have to be claimed back.
 */
export const releaseUnique = (
  db: Db,
  baseId: string,
  recordType: string,
  ids: readonly string[],
): Promise<ReleasedEntry[]> => db.query<ReleasedEntry>(RELEASE, [baseId, recordType, ids])

/** Claims values back. A value that another record has by now is a unique violation. */
export async function claimUnique(db: Db, baseId: string, entries: readonly ReleasedEntry[]): Promise<void> {
  if (entries.length === 0) return
  await db.query(CLAIM, [baseId, entries.map(({ index_id }) => index_id), entries.map(({ id }) => id)])
}

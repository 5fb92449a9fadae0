import { type Db, statement } from '../database/client.ts'
import { type Pair, RECORD_COLUMNS, type RecordRow } from '../record-store/record.ts'

type MeantRow = RecordRow & { by_pair: boolean }

// Lock order of all writers: the type first, then the records by id.
const LOCK_MEANT = statement(
  'lock_meant_records',
  `WITH ty AS MATERIALIZED (SELECT 1 FROM plinth.record_type WHERE base_id = $1 AND id = $2 FOR KEY SHARE)
   SELECT ${RECORD_COLUMNS}, (external_source = $4 AND external_id = $5) IS TRUE AS by_pair FROM plinth.record
   WHERE EXISTS (SELECT FROM ty) AND base_id = $1 AND record_type = $2 AND id = ANY (ARRAY(
     SELECT $3::text COLLATE "C" UNION
     SELECT id FROM plinth.record
     WHERE base_id = $1 AND record_type = $2 AND external_source = $4 AND external_id = $5))
   ORDER BY id FOR NO KEY UPDATE`,
)

/**
 * Locks the target of a PUT: the record with the pair, else the record with the id. If these are two records,
 * the second is the one with the id.
 */
export async function lockTarget(
  db: Db,
  [baseId, recordType]: readonly [string, string],
  { id, pair }: { id: string; pair: Pair | null },
): Promise<MeantRow[]> {
  const values = [baseId, recordType, id, pair?.externalSource ?? null, pair?.externalId ?? null]
  const rows = await db.query<MeantRow>(LOCK_MEANT, values)
  return rows.sort((a, b) => Number(b.by_pair) - Number(a.by_pair))
}

/** The rows that a seed owns: those with its external_source. */
import { oneFault } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { type Db, statement } from '../../storage/database/client.ts'

export type OwnedRecord = {
  recordType: string
  id: string
  externalId: string
  rowNo: string
  isCancelled: boolean
}
/** A link, with the pairs of its ends. */
export type OwnedLink = {
  id: string
  relType: string
  externalId: string
  source: End
  target: End
}
type End = { record_type: string; external_source: string | null; external_id: string | null }

const MOST = LIMITS.seedOwnedRows + 1

// The order is that of the index, so that any plan reads by it, for each type.
const FIND_RECORDS = statement(
  'find_records_of_seed',
  `SELECT r.record_type AS "recordType", r.id, r.external_id AS "externalId", r.row_no::text AS "rowNo",
     r.cancelled_at IS NOT NULL AS "isCancelled"
   FROM plinth.record_type t CROSS JOIN LATERAL (
     SELECT * FROM plinth.record r
     WHERE r.base_id = $1 AND r.record_type = t.id AND r.external_source = $2 AND r.external_id IS NOT NULL
     ORDER BY r.base_id, r.record_type, r.external_source, r.external_id LIMIT ${MOST}) r
   WHERE t.base_id = $1 LIMIT ${MOST}`,
)
const end = (row: string) => `(
     SELECT jsonb_build_object('record_type', e.record_type, 'external_source', e.external_source, 'external_id', e.external_id)
     FROM plinth.record e WHERE e.row_no = l.${row})`
const FIND_LINKS = statement(
  'find_links_of_seed',
  `SELECT l.id, l.rel_type AS "relType", l.external_id AS "externalId", ${end('source_row')} AS source, ${end('target_row')} AS target
   FROM plinth.relationship_type t CROSS JOIN LATERAL (
     SELECT * FROM plinth.relationship l
     WHERE l.base_id = $1 AND l.rel_type = t.id AND l.external_source = $2 AND l.external_id IS NOT NULL
     ORDER BY l.base_id, l.rel_type, l.external_source, l.external_id LIMIT ${MOST}) l
   WHERE t.base_id = $1 LIMIT ${MOST}`,
)

/** The external_source of the rows of a seed. */
export const sourceOf = (seedId: string): string => `seed:${seedId}`

/**
 * Reads the rows that a seed owns.
 * @throws CONFLICT when there are too many for one transaction
 */
export async function findOwned(
  tx: Db,
  baseId: string,
  seedId: string,
): Promise<{ records: readonly OwnedRecord[]; links: readonly OwnedLink[] }> {
  const values = [baseId, sourceOf(seedId)]
  const records = await tx.query<OwnedRecord>(FIND_RECORDS, values)
  const links = await tx.query<OwnedLink>(FIND_LINKS, values)
  if (Math.max(records.length, links.length) > LIMITS.seedOwnedRows) throw tooMany(seedId)
  return { records, links }
}

const tooMany = (seedId: string) =>
  oneFault('CONFLICT', `More than ${LIMITS.seedOwnedRows} rows have the source of the seed.`, {
    path: '/id',
    code: 'too_many_rows',
    message: `Delete some of the records or relationships with the external_source "${sourceOf(seedId)}" first.`,
    expected: LIMITS.seedOwnedRows,
  })

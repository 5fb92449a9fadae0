import { isDeepStrictEqual } from 'node:util'
import { isStatus, STATUSES } from '../../contract/record-columns.ts'
import { advised } from '../../foundation/advised-requests.ts'
import { type Detail, invalid } from '../../foundation/errors.ts'
import { lockedType } from '../data/ledger/locked-type.ts'
import { type Pair, RECORD_COLUMNS, type RecordRow, toView } from '../data/ledger/record.ts'
import { type Db, statement } from '../storage/database/client.ts'

/**
 * Read-only fields in a write request, by their REST names. Clients often send a record back as they read it.
 */
type ReadOnlyFields = Readonly<Record<string, unknown>>

/**
 * Rejects read-only fields that differ from the record, or that are sent for an absent record.
 * @throws VALIDATION_ERROR with every fault
 */
export function compareReadOnly(
  recordType: string,
  row: RecordRow | undefined,
  stated: ReadOnlyFields,
): void {
  const stored: Record<string, unknown> = row ? { ...toView(recordType, row), valid: row.valid } : {}
  const [first, ...rest] = Object.entries(stated)
    .filter(([name, value]) => !row || !isDeepStrictEqual(stored[name], value))
    .map(([name, value]) => notWritable(name, value, row && { expected: stored[name] }))
  if (first) throw invalid(first, ...rest)
}

const notWritable = (name: string, received: unknown, stored: { expected: unknown } | undefined): Detail => ({
  path: `/${name}`,
  code: 'not_writable',
  ...(name === 'status' && !isStatus(received) && { hint: JSON.stringify({ data: { status: received } }) }),
  message: stored
    ? name === 'status'
      ? `"status" is the state of the record, ${STATUSES.join(' or ')}. ${advised('cancel_record')} cancels the record, ${advised('restore_record')} reverses that. A property of that name goes in "data".`
      : `"${name}" is read-only, and its current value differs. Leave it out, or read the record again.`
    : `"${name}" is read-only, and the record does not exist yet. Leave it out.`,
  ...stored,
  received,
})

type TargetRow = RecordRow & { by_pair: boolean }

// Lock order of all writers: the type first, then the records by id.
const LOCK_MEANT = statement(
  'lock_meant_records',
  `WITH ${lockedType()}
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
export async function lockReplaced(
  db: Db,
  [baseId, recordType]: readonly [string, string],
  { id, pair }: { id: string; pair: Pair | null },
): Promise<TargetRow[]> {
  const values = [baseId, recordType, id, pair?.externalSource ?? null, pair?.externalId ?? null]
  const rows = await db.query<TargetRow>(LOCK_MEANT, values)
  return rows.sort((a, b) => Number(b.by_pair) - Number(a.by_pair))
}

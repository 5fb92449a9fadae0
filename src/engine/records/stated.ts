import { isDeepStrictEqual } from 'node:util'
import { type Detail, invalid } from '../../errors.ts'
import { statement } from '../db.ts'
import type { WriteScope } from '../write.ts'
import { type Pair, RECORD_COLUMNS, type RecordRow, toView } from './record.ts'

/** What a writer says of fields that no write sets, by their names in REST: a record is often sent back as it was read. */
export type Stated = Readonly<Record<string, unknown>>

// Which record a PUT means: the one the pair belongs to, else the one with the id. The type before it, as writers lock.
const LOCK_MEANT = statement(
  'lock_meant_record',
  `WITH ty AS MATERIALIZED (SELECT 1 FROM plinth.record_type WHERE base_id = $1 AND id = $2 FOR KEY SHARE)
   SELECT ${RECORD_COLUMNS} FROM plinth.record
   WHERE EXISTS (SELECT FROM ty) AND base_id = $1 AND record_type = $2
     AND (id = $3 OR (external_source = $4 AND external_id = $5))
   ORDER BY (external_source = $4 AND external_id = $5) IS TRUE DESC LIMIT 1 FOR NO KEY UPDATE`,
)

/** Locks the record that a PUT means and holds what is stated to it. @returns its version @throws VALIDATION_ERROR */
export async function lockAsStated(
  scope: WriteScope,
  [baseId, recordType]: readonly [string, string],
  { id, pair }: { id: string; pair: Pair | null },
  stated: Stated,
): Promise<number> {
  const values = [baseId, recordType, id, pair?.externalSource ?? null, pair?.externalId ?? null]
  const [row] = await scope.db.query<RecordRow>(LOCK_MEANT, values)
  demandStated(recordType, row, stated)
  return row?.version ?? 0
}

/** Refuses what is stated of a record and is not so, or of one that is not there. @throws VALIDATION_ERROR with every fault */
export function demandStated(recordType: string, row: RecordRow | undefined, stated: Stated): void {
  const stored: Record<string, unknown> = row ? { ...toView(recordType, row), valid: row.valid } : {}
  const [first, ...rest] = Object.entries(stated)
    .filter(([name, value]) => !row || !isDeepStrictEqual(stored[name], value))
    .map(([name, value]) => notWritable(name, value, row && { expected: stored[name] }))
  if (first) throw invalid(first, ...rest)
}

const notWritable = (name: string, received: unknown, stored: { expected: unknown } | undefined): Detail => ({
  path: `/${name}`,
  code: 'not_writable',
  message: stored
    ? `"${name}" is not for writers to set, and is another one now. Leave it out, or read the record again.`
    : `"${name}" is not for writers to set, and there is no record yet that has it. Leave it out.`,
  ...stored,
  received,
})

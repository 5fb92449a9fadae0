import { LIMITS } from '../../foundation/limits.ts'
import { RECORD_LOG_COLUMNS } from '../change-log/entry.ts'
import { underClaim } from '../claims/claim-guard.ts'
import type { CompiledType } from '../compiled-types/compiled-type.ts'
import { refreshType, requireType } from '../configuration/record-types/index.ts'
import { authorship } from '../core/scope.ts'
import type { Db } from '../database/client.ts'
import { tooManyWriters } from '../database/retry-races.ts'
import { guardUnique, variantFor, type WriteStatement, writeStatement } from '../indexes/index.ts'
import {
  RECORD_COLUMNS,
  type RecordItem,
  type RecordRow,
  recordNotFound,
  toRecord,
} from '../record-store/record.ts'
import { authorize } from '../row-policy/apply.ts'
import { type Expectation, versionMismatch } from '../write/preconditions.ts'
import type { WriteScope } from '../write/write.ts'
import { onBounded } from './policy-write.ts'

/** CTE that locks the type at revision `$5`. */
export const LOCK_TYPE = `ty AS MATERIALIZED (
       SELECT 1 FROM plinth.record_type WHERE base_id = $1 AND id = $2 AND revision = $5 FOR KEY SHARE)`
/** Row that reports a stale revision of the type. */
export const STALE = `SELECT 'stale_type', NULL, NULL, NULL, NULL, 0, NULL, true, now(), now() WHERE NOT EXISTS (SELECT FROM ty)`

/**
 * Status change in one statement: locks the type and the record, updates it if needed, and logs the change.
 */
const transition = (name: string, operation: 'cancel' | 'restore', cancelledAt: string, due: string) =>
  writeStatement(
    name,
    (entries) => `WITH ${LOCK_TYPE},
     s AS MATERIALIZED (
       SELECT * FROM plinth.record
       WHERE EXISTS (SELECT FROM ty) AND base_id = $1 AND record_type = $2 AND id = $3 FOR NO KEY UPDATE),
     w AS (
       UPDATE plinth.record r SET cancelled_at = ${cancelledAt}, version = r.version + 1, updated_at = now()
       FROM s WHERE r.base_id = $1 AND r.record_type = $2 AND r.id = $3 AND ${due}
         AND ($4::int[] IS NULL OR s.version = ANY ($4)) RETURNING r.*),
     logged AS (
       INSERT INTO plinth.change (${RECORD_LOG_COLUMNS})
       SELECT $1, 'record', $2, id, '${operation}', version, data, external_source, external_id, cancelled_at, created_at, $6, $7, $8, $9, $10::jsonb FROM w)${entries}
     SELECT 'updated' AS kind, ${RECORD_COLUMNS} FROM w
     UNION ALL
     SELECT CASE WHEN $4::int[] IS NULL OR version = ANY ($4) THEN 'unchanged' ELSE 'version_mismatch' END, ${RECORD_COLUMNS}
     FROM s WHERE NOT EXISTS (SELECT FROM w)
     UNION ALL ${STALE}`,
  )

const CANCEL = transition('cancel_record', 'cancel', 'now()', 's.cancelled_at IS NULL')
const RESTORE = transition('restore_record', 'restore', 'NULL', 's.cancelled_at IS NOT NULL')

export type Row = RecordRow & { kind: 'updated' | 'unchanged' | 'version_mismatch' | 'stale_type' | 'linked' }
export type RecordKey = readonly [baseId: string, recordType: string, id: string]

/** Sets `status: "cancelled"`. No effect on a cancelled record. */
export async function cancelRecord(
  scope: WriteScope,
  target: RecordKey,
  expected: Expectation,
): Promise<RecordItem> {
  const [baseId, recordType, id] = target
  return underClaim(scope, baseId, expected.claim, (within) =>
    onBounded(within, target, async (guarded) => {
      const row = await run(guarded, CANCEL, target, expected)
      if (!row) throw recordNotFound(recordType, id)
      return toRecord(recordType, row)
    }),
  )
}

/** Reverts a cancel. No effect on an active record. Undefined when the record is absent. */
export const uncancel = (
  scope: WriteScope,
  target: RecordKey,
  expected: Expectation,
): Promise<RecordRow | undefined> => run(scope, RESTORE, target, expected)

/**
 * Runs a statement on one record. Retries when its type changed concurrently. Undefined when the record is
 * absent.
 * @throws FORBIDDEN; NOT_FOUND without base or type; CONFLICT when the version precondition fails
 */
export async function run(
  scope: WriteScope,
  how: WriteStatement,
  target: RecordKey,
  { versions }: Expectation,
  execute = once,
): Promise<Row | undefined> {
  const [baseId, recordType] = target
  authorize(scope, 'write', baseId, recordType)
  let type = await requireType(scope, baseId, recordType)
  const row = await scope.db.retry(async () => {
    for (let tries = 0; tries < LIMITS.raceTries; tries++) {
      const values = [...target, versions && [...versions], type.revision, ...authorship(scope)]
      const done = await guardUnique(type, () => execute(scope.db, type, how, values))
      if (done?.kind !== 'stale_type') return done
      type = await refreshType(scope, baseId, recordType)
    }
    throw tooManyWriters()
  })
  if (row?.kind === 'version_mismatch') throw versionMismatch(row.version, versions ?? [])
  return row
}

/** Runs the statement variant for the type, without a retry. */
export const once = async (db: Db, type: CompiledType, how: WriteStatement, values: readonly unknown[]) =>
  (await db.query<Row>(variantFor(how, type), values))[0]

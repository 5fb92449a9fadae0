import { demand } from '../access.ts'
import { RECORD_LOG_COLUMNS } from '../author-columns.ts'
import { type Statement, statement } from '../db.ts'
import { type Expectation, versionMismatch } from '../expectation.ts'
import { demandType } from '../record-types/index.ts'
import { authorship } from '../scope.ts'
import type { WriteScope } from '../write.ts'
import { RECORD_COLUMNS, type RecordItem, type RecordRow, recordNotFound, toRecord } from './record.ts'

/** A change of status: one statement locks the record, changes it where it has to, and logs what it did. */
const transition = (name: string, operation: 'cancel' | 'restore', cancelledAt: string, due: string) =>
  statement(
    name,
    `WITH s AS MATERIALIZED (
       SELECT * FROM plinth.record WHERE base_id = $1 AND record_type = $2 AND id = $3 FOR UPDATE),
     w AS (
       UPDATE plinth.record r SET cancelled_at = ${cancelledAt}, version = r.version + 1, updated_at = now()
       FROM s WHERE r.base_id = $1 AND r.record_type = $2 AND r.id = $3 AND ${due}
         AND ($4::int[] IS NULL OR s.version = ANY ($4)) RETURNING r.*),
     logged AS (
       INSERT INTO plinth.change (${RECORD_LOG_COLUMNS})
       SELECT $1, 'record', $2, id, '${operation}', version, data, external_source, external_id, cancelled_at, $5, $6, $7, $8 FROM w)
     SELECT 'updated' AS kind, ${RECORD_COLUMNS} FROM w
     UNION ALL
     SELECT CASE WHEN $4::int[] IS NULL OR version = ANY ($4) THEN 'unchanged' ELSE 'version_mismatch' END, ${RECORD_COLUMNS}
     FROM s WHERE NOT EXISTS (SELECT FROM w)`,
  )

const CANCEL = transition('cancel_record', 'cancel', 'now()', 's.cancelled_at IS NULL')
const RESTORE = transition('restore_record', 'restore', 'NULL', 's.cancelled_at IS NOT NULL')

const DELETE = statement(
  'delete_record',
  `WITH s AS MATERIALIZED (
     SELECT * FROM plinth.record WHERE base_id = $1 AND record_type = $2 AND id = $3 FOR UPDATE),
   w AS (
     DELETE FROM plinth.record r USING s WHERE r.base_id = $1 AND r.record_type = $2 AND r.id = $3
       AND ($4::int[] IS NULL OR s.version = ANY ($4)) RETURNING r.*),
   logged AS (
     INSERT INTO plinth.change (${RECORD_LOG_COLUMNS})
     SELECT $1, 'record', $2, id, 'delete', version + 1, data, external_source, external_id, cancelled_at, $5, $6, $7, $8 FROM w)
   SELECT 'updated' AS kind, ${RECORD_COLUMNS} FROM w
   UNION ALL SELECT 'version_mismatch', ${RECORD_COLUMNS} FROM s WHERE NOT EXISTS (SELECT FROM w)`,
)

type Row = RecordRow & { kind: 'updated' | 'unchanged' | 'version_mismatch' }
type Target = readonly [baseId: string, recordType: string, id: string]

/** Sets `status: "cancelled"`; on a cancelled record it changes nothing. */
export const cancelRecord = (scope: WriteScope, target: Target, expected: Expectation) =>
  move(scope, CANCEL, target, expected)

/** Undoes a cancel; on an active record it changes nothing. */
export const restoreRecord = (scope: WriteScope, target: Target, expected: Expectation) =>
  move(scope, RESTORE, target, expected)

/** Takes the record out of every present read; its id and pair are free at once. */
export async function deleteRecord(
  scope: WriteScope,
  target: Target,
  expected: Expectation,
): Promise<{ id: string; deleted: boolean }> {
  await run(scope, DELETE, target, expected)
  return { id: target[2], deleted: true }
}

async function move(
  scope: WriteScope,
  how: Statement,
  target: Target,
  expected: Expectation,
): Promise<RecordItem> {
  return toRecord(target[1], await run(scope, how, target, expected))
}

async function run(
  scope: WriteScope,
  how: Statement,
  target: Target,
  { versions }: Expectation,
): Promise<Row> {
  const [baseId, recordType, id] = target
  demand(scope.access, 'write', baseId, recordType)
  const [row] = await scope.db.retry(() =>
    scope.db.query<Row>(how, [...target, versions && [...versions], ...authorship(scope)]),
  )
  if (!row) {
    await demandType(scope, baseId, recordType)
    throw recordNotFound(recordType, id)
  }
  if (row.kind === 'version_mismatch') throw versionMismatch(row.version, versions ?? [])
  return row
}

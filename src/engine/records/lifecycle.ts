import { demand } from '../access.ts'
import { RECORD_LOG_COLUMNS } from '../author-columns.ts'
import type { CompiledType } from '../compiled-type.ts'
import { statement } from '../db.ts'
import { type Expectation, versionMismatch } from '../expectation.ts'
import { guardUnique, LEAVING, variantFor, type WriteStatement, writeStatement } from '../indexes/index.ts'
import { demandType, refreshType } from '../record-types/index.ts'
import { authorship } from '../scope.ts'
import { tooManyWriters } from '../sql-errors.ts'
import type { WriteScope } from '../write.ts'
import { RECORD_COLUMNS, type RecordItem, type RecordRow, recordNotFound, toRecord } from './record.ts'

const HOLD_TYPE = `ty AS MATERIALIZED (
       SELECT 1 FROM plinth.record_type WHERE base_id = $1 AND id = $2 AND revision = $5 FOR KEY SHARE)`
const STALE = `SELECT 'stale_type', NULL, NULL, NULL, NULL, 0, NULL, true, now(), now() WHERE NOT EXISTS (SELECT FROM ty)`

/** A change of status: one statement holds the type, locks the record, changes it where it has to, and logs what it did. */
const transition = (name: string, operation: 'cancel' | 'restore', cancelledAt: string, due: string) =>
  writeStatement(
    name,
    (entries) => `WITH ${HOLD_TYPE},
     s AS MATERIALIZED (
       SELECT * FROM plinth.record
       WHERE EXISTS (SELECT FROM ty) AND base_id = $1 AND record_type = $2 AND id = $3 FOR NO KEY UPDATE),
     w AS (
       UPDATE plinth.record r SET cancelled_at = ${cancelledAt}, version = r.version + 1, updated_at = now()
       FROM s WHERE r.base_id = $1 AND r.record_type = $2 AND r.id = $3 AND ${due}
         AND ($4::int[] IS NULL OR s.version = ANY ($4)) RETURNING r.*),
     logged AS (
       INSERT INTO plinth.change (${RECORD_LOG_COLUMNS})
       SELECT $1, 'record', $2, id, '${operation}', version, data, external_source, external_id, cancelled_at, $6, $7, $8, $9 FROM w)${entries}
     SELECT 'updated' AS kind, ${RECORD_COLUMNS} FROM w
     UNION ALL
     SELECT CASE WHEN $4::int[] IS NULL OR version = ANY ($4) THEN 'unchanged' ELSE 'version_mismatch' END, ${RECORD_COLUMNS}
     FROM s WHERE NOT EXISTS (SELECT FROM w)
     UNION ALL ${STALE}`,
  )

const CANCEL = transition('cancel_record', 'cancel', 'now()', 's.cancelled_at IS NULL')
const RESTORE = transition('restore_record', 'restore', 'NULL', 's.cancelled_at IS NOT NULL')

const DELETE = writeStatement(
  'delete_record',
  (entries) => `WITH ${HOLD_TYPE},
   s AS MATERIALIZED (
     SELECT * FROM plinth.record
     WHERE EXISTS (SELECT FROM ty) AND base_id = $1 AND record_type = $2 AND id = $3 FOR UPDATE),
   w AS (
     DELETE FROM plinth.record r USING s WHERE r.base_id = $1 AND r.record_type = $2 AND r.id = $3
       AND ($4::int[] IS NULL OR s.version = ANY ($4)) RETURNING r.*),
   logged AS (
     INSERT INTO plinth.change (${RECORD_LOG_COLUMNS})
     SELECT $1, 'record', $2, id, 'delete', version + 1, data, external_source, external_id, cancelled_at, $6, $7, $8, $9 FROM w)${entries}
   SELECT 'updated' AS kind, ${RECORD_COLUMNS} FROM w
   UNION ALL SELECT 'version_mismatch', ${RECORD_COLUMNS} FROM s WHERE NOT EXISTS (SELECT FROM w)
   UNION ALL ${STALE}`,
  LEAVING,
)

const LOCK = statement(
  'lock_record_to_delete',
  `WITH ty AS MATERIALIZED (SELECT 1 FROM plinth.record_type WHERE base_id = $1 AND id = $2 FOR KEY SHARE)
   SELECT 1 AS one FROM plinth.record
   WHERE EXISTS (SELECT FROM ty) AND base_id = $1 AND record_type = $2 AND id = $3 FOR UPDATE`,
)

type Row = RecordRow & { kind: 'updated' | 'unchanged' | 'version_mismatch' | 'stale_type' }
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
  how: WriteStatement,
  target: Target,
  expected: Expectation,
): Promise<RecordItem> {
  return toRecord(target[1], await run(scope, how, target, expected))
}

/** How often a write meets a type that changes under it. */
const MAX_TRIES = 50

async function run(
  scope: WriteScope,
  how: WriteStatement,
  target: Target,
  { versions }: Expectation,
): Promise<Row> {
  const [baseId, recordType, id] = target
  demand(scope.access, 'write', baseId, recordType)
  let type = await demandType(scope, baseId, recordType)
  const row = await scope.db.retry(async () => {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const values = [...target, versions && [...versions], type.revision, ...authorship(scope)]
      const done = await guardUnique(type, () => once(scope, type, how, values))
      if (done?.kind !== 'stale_type') return done
      type = await refreshType(scope, baseId, recordType)
    }
    throw tooManyWriters()
  })
  if (!row) throw recordNotFound(recordType, id)
  if (row.kind === 'version_mismatch') throw versionMismatch(row.version, versions ?? [])
  return row
}

async function once(
  scope: WriteScope,
  type: CompiledType,
  how: WriteStatement,
  values: readonly unknown[],
): Promise<Row | undefined> {
  const run = async (db: WriteScope['db']) => (await db.query<Row>(variantFor(how, type), values))[0]
  // A build may have just entered the record: a statement that begins after it sees that entry, and takes it out.
  if (how !== DELETE || !type.indexes.some(({ status }) => status === 'building')) return run(scope.db)
  return scope.db.transaction(async (tx) => {
    await tx.query(LOCK, values.slice(0, 3))
    return run(tx)
  })
}

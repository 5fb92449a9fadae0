import { DomainError, withPaths } from '../../foundation/errors.ts'
import { RECORD_LOG_COLUMNS } from '../change-log/entry.ts'
import { underClaimToEnd } from '../claims/claim-guard.ts'
import type { CompiledType } from '../compiled-types/compiled-type.ts'
import { type Db, statement } from '../database/client.ts'
import { LEAVING, type WriteStatement, writeStatement } from '../indexes/index.ts'
import { RECORD_COLUMNS, recordNotFound } from '../record-store/record.ts'
import { authorize } from '../row-policy/apply.ts'
import type { Expectation } from '../write/preconditions.ts'
import { runPlanned } from '../write/run-planned.ts'
import type { WriteScope } from '../write/write.ts'
import { LOCK_TYPE, once, type RecordKey, run, STALE } from './cancel.ts'
import { deleteRecords } from './cascade-delete.ts'
import { whereBounded } from './policy-write.ts'

/** Deletes a record without links in one statement. Reports a record that has links, without deleting it. */
const DELETE = writeStatement(
  'delete_record',
  (entries) => `WITH ${LOCK_TYPE},
   s AS MATERIALIZED (
     SELECT * FROM plinth.record
     WHERE EXISTS (SELECT FROM ty) AND base_id = $1 AND record_type = $2 AND id = $3 FOR UPDATE),
   w AS (
     DELETE FROM plinth.record r USING s WHERE r.base_id = $1 AND r.record_type = $2 AND r.id = $3
       AND ($4::int[] IS NULL OR s.version = ANY ($4))
       AND (SELECT true FROM plinth.relationship l WHERE l.source_row = s.row_no LIMIT 1) IS NULL
       AND (SELECT true FROM plinth.relationship l WHERE l.target_row = s.row_no LIMIT 1) IS NULL RETURNING r.*),
   logged AS (
     INSERT INTO plinth.change (${RECORD_LOG_COLUMNS})
     SELECT $1, 'record', $2, id, 'delete', version + 1, data, external_source, external_id, cancelled_at, created_at, $6, $7, $8, $9, $10::jsonb FROM w)${entries}
   SELECT 'updated' AS kind, ${RECORD_COLUMNS} FROM w
   UNION ALL
   SELECT CASE WHEN $4::int[] IS NULL OR version = ANY ($4) THEN 'linked' ELSE 'version_mismatch' END, ${RECORD_COLUMNS}
   FROM s WHERE NOT EXISTS (SELECT FROM w)
   UNION ALL ${STALE}`,
  LEAVING,
)

const LOCK = statement(
  'lock_record_to_delete',
  `WITH ty AS MATERIALIZED (SELECT 1 FROM plinth.record_type WHERE base_id = $1 AND id = $2 FOR KEY SHARE)
   SELECT 1 AS one FROM plinth.record
   WHERE EXISTS (SELECT FROM ty) AND base_id = $1 AND record_type = $2 AND id = $3 FOR UPDATE`,
)

/**
 * Deletes the record and cascades over its links. Its id and pair are free at once.
 * @throws NOT_FOUND; CONFLICT when the version precondition fails, the claim is lost, or a link restricts the
 * deletion
 */
export async function deleteRecord(
  scope: WriteScope,
  target: RecordKey,
  expected: Expectation,
): Promise<{ id: string; deleted: boolean }> {
  authorize(scope, 'write', target[0], target[1])
  await whereBounded(scope, target, (bounded) =>
    underClaimToEnd(bounded, target, expected.claim, async (guarded) => {
      // An approved plan is always checked by the full path, with or without links.
      if (guarded.planning?.isApproved) return deleteLinked(guarded, target, expected)
      const row = await run(guarded, DELETE, target, expected, afterBuilds)
      if (!row) throw recordNotFound(target[1], target[2])
      if (row.kind === 'linked') await deleteLinked(guarded, target, expected)
    }),
  )
  return { id: target[2], deleted: true }
}

async function deleteLinked(scope: WriteScope, [baseId, recordType, id]: RecordKey, expected: Expectation) {
  try {
    await runPlanned(scope, (within) => deleteRecords(within, baseId, [{ recordType, id, expected }]))
  } catch (thrown) {
    throw thrown instanceof DomainError ? withPaths(thrown, (path) => path.replace(/^\/0/, '')) : thrown
  }
}

/**
 * An index build may have just added the record. A new statement has a snapshot that includes that entry, and
 * deletes it.
 */
async function afterBuilds(db: Db, type: CompiledType, how: WriteStatement, values: readonly unknown[]) {
  if (!type.indexes.some(({ status }) => status === 'building')) return once(db, type, how, values)
  return db.transaction(async (tx) => {
    await tx.query(LOCK, values.slice(0, 3))
    return once(tx, type, how, values)
  })
}

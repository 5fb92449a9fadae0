import { demand } from '../../access/access.ts'
import { clearLinksOfType } from '../../cascade/clear-links-of-type.ts'
import { RECORD_LOG_COLUMNS } from '../../change-log/columns.ts'
import { authorship } from '../../core/scope.ts'
import { statement } from '../../database/client.ts'
import { dropIndexes } from '../../indexes/index.ts'
import { takeNamed } from '../../write/deletion-summary.ts'
import { checkVersion, confirmFirst, type Expectation } from '../../write/preconditions.ts'
import { planned } from '../../write/run-planned.ts'
import type { WriteScope } from '../../write/write.ts'
import { lockConfiguration } from '../lifecycle/lock.ts'
import { lockType } from './lock.ts'
import { finishChange } from './log-change.ts'
import { typeNotFound, WITH_INDEXES } from './record-type.ts'

const HOLDS_RECORDS = statement(
  'type_holds_records',
  'SELECT 1 AS one FROM plinth.record WHERE base_id = $1 AND record_type = $2 LIMIT 1',
)
// Each record's deletion is told before the type's.
const DELETE_RECORDS = statement(
  'delete_type_records',
  `WITH gone AS (DELETE FROM plinth.record WHERE base_id = $1 AND record_type = $2 RETURNING *)
   INSERT INTO plinth.change (${RECORD_LOG_COLUMNS})
   SELECT base_id, 'record', record_type, id, 'delete', version + 1, data, external_source, external_id,
     cancelled_at, created_at, $3, $4, $5, $6 FROM gone`,
)

/**
 * Deletes the type. One with records wants `confirm` equal to its id; they are deleted first, each with its entry, and
 * with them what the types of their links say. @throws CONFLICT when a link from a record of another type restricts it
 */
export async function deleteRecordType(
  scope: WriteScope,
  baseId: string,
  id: string,
  confirm: string | null,
  expected: Expectation,
) {
  demand(scope.access, 'manage', baseId, id)
  return planned(scope, async (within, told) => {
    const { db: tx, taken } = within
    await lockConfiguration(within, baseId)
    const held = await tx.orm.recordType.findUnique({
      where: { baseId_id: { baseId, id } },
      include: WITH_INDEXES,
    })
    if (!held) throw typeNotFound(id)
    checkVersion(expected, held.version, `record type "${id}"`)
    await lockType(tx, baseId, id)
    if (!scope.planning && confirm !== id && (await tx.query(HOLDS_RECORDS, [baseId, id])).length > 0)
      throw confirmFirst(id, `Record type "${id}" has records`, "the type's")
    if (taken) takeNamed(taken, 'recordTypes', held)
    await clearLinksOfType(within, baseId, id, told)
    await dropIndexes(tx, baseId, id)
    await tx.query(DELETE_RECORDS, [baseId, id, ...authorship(scope)])
    await tx.orm.recordType.delete({ where: { baseId_id: { baseId, id } } })
    await finishChange(within, { ...held, version: held.version + 1 }, 'delete')
    return { id, deleted: true }
  })
}

import { demand } from '../access.ts'
import { statement } from '../db.ts'
import { demandType } from '../record-types/index.ts'
import type { Scope } from '../scope.ts'
import { RECORD_COLUMNS, type RecordItem, type RecordRow, recordNotFound, toRecord } from './record.ts'

const GET = statement(
  'get_record',
  `SELECT ${RECORD_COLUMNS} FROM plinth.record WHERE base_id = $1 AND record_type = $2 AND id = $3`,
)

/** @throws FORBIDDEN outside the grants; NOT_FOUND when base, type or record is absent. */
export async function getRecord(
  scope: Scope,
  baseId: string,
  recordType: string,
  id: string,
): Promise<RecordItem> {
  demand(scope.access, 'read', baseId, recordType)
  const [row] = await scope.db.query<RecordRow>(GET, [baseId, recordType, id])
  if (row) return toRecord(recordType, row)
  await demandType(scope, baseId, recordType)
  throw recordNotFound(recordType, id)
}

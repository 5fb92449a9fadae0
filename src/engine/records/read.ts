import { demand } from '../access.ts'
import { demandType } from '../record-types/index.ts'
import type { Scope } from '../scope.ts'
import { GET } from './read-statements.ts'
import { type RecordItem, type RecordRow, recordNotFound, toRecord } from './record.ts'

/** @throws FORBIDDEN outside the grants; NOT_FOUND when base, type or record is absent. */
export async function getRecord(
  scope: Scope,
  baseId: string,
  recordType: string,
  id: string,
): Promise<RecordItem> {
  demand(scope.access, 'read', baseId, recordType)
  const { db, together } = scope
  const row =
    together.db === db
      ? await together.readRecord({ baseId, recordType, id })
      : (await db.query<RecordRow>(GET, [baseId, recordType, id]))[0]
  if (row) return toRecord(recordType, row)
  await demandType(scope, baseId, recordType)
  throw recordNotFound(recordType, id)
}

import { appendChange } from '../../core/append-change.ts'
import { announce } from '../../core/caches.ts'
import { statement } from '../../database/client.ts'
import { declaredIndex } from '../../indexes/index.ts'
import type { WriteScope } from '../../write/write.ts'
import { type TypeRow, toRecordType } from './record-type.ts'

const BUMP_TYPES = statement(
  'bump_types',
  'UPDATE plinth.base SET types_version = types_version + 1 WHERE id = $1',
)

/** Logs the change of a type and lets every process know of it. */
export async function finishChange(
  scope: WriteScope,
  row: TypeRow,
  operation: 'create' | 'update' | 'delete',
): Promise<void> {
  const { baseId, id, version } = row
  await scope.db.query(BUMP_TYPES, [baseId])
  // How far an index is built is no part of what was declared.
  const state = { ...toRecordType(row), indexes: row.indexes.map(declaredIndex) }
  await appendChange(scope, { baseId, kind: 'record_type', id, operation, version, state })
  await announce(scope.db, `type:${baseId}/${id}`)
  scope.onCommit(() => scope.caches.forget(`type:${baseId}/${id}`))
}

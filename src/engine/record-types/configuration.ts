import { DomainError } from '../../errors.ts'
import { baseNotFound } from '../bases.ts'
import { announce } from '../caches.ts'
import { appendChange } from '../changes.ts'
import { statement } from '../db.ts'
import { declaredIndex } from '../indexes/index.ts'
import type { WriteScope } from '../write.ts'
import { type TypeRow, toRecordType } from './record-type.ts'

const LOCK_BASE = statement(
  'lock_base',
  'SELECT environment, settings FROM plinth.base WHERE id = $1 FOR NO KEY UPDATE',
)
const BUMP_TYPES = statement(
  'bump_types',
  'UPDATE plinth.base SET types_version = types_version + 1 WHERE id = $1',
)

/** Configuration changes of one base queue up behind each other. @throws NOT_FOUND, or FORBIDDEN on a guarded base. */
export async function lockConfiguration(scope: WriteScope, baseId: string): Promise<void> {
  const [base] = await scope.db.query<{ environment: string; settings: { schema_changes: string } }>(
    LOCK_BASE,
    [baseId],
  )
  if (!base) throw baseNotFound(baseId)
  if (base.environment === 'production' && base.settings.schema_changes === 'preview_only')
    throw new DomainError(
      'FORBIDDEN',
      `Base "${baseId}" takes configuration only by promotion from a preview.`,
      {
        details: [
          { path: '', code: 'preview_only', message: 'Make the change in a preview and promote it.' },
        ],
      },
    )
}

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

import { DomainError } from '../../../foundation/errors.ts'
import { statement } from '../../database/client.ts'
import type { WriteScope } from '../../write/write.ts'
import { baseNotFound } from '../bases/base.ts'

const LOCK_BASE = statement(
  'lock_base',
  'SELECT environment, settings FROM plinth.base WHERE id = $1 FOR NO KEY UPDATE',
)

/**
 * Locks the configuration of a base, so that changes to it are serialized.
 * @throws NOT_FOUND; FORBIDDEN on a guarded base
 */
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

import { act } from '../../../foundation/acts.ts'
import { DomainError } from '../../../foundation/errors.ts'
import { appendChange } from '../../core/append-change.ts'
import type { Scope } from '../../core/scope.ts'
import { statement } from '../../database/client.ts'
import type { Base as BaseRow } from '../../prisma/client.ts'

export type BaseSettings = {
  schema_changes: 'direct' | 'preview_only'
  /** Retention of history in days; null for unlimited. */
  history_days: number | null
  trash_days: number
}
export type Base = {
  id: string
  name: string
  description: string | null
  environment: 'production' | 'preview'
  productionBase: string | null
  settings: BaseSettings
  version: number
  createdAt: string
  updatedAt: string
  operation?: 'created' | 'updated' | 'unchanged'
}

export const toBase = (row: BaseRow): Base => ({
  id: row.id,
  name: row.name,
  description: row.description,
  environment: row.environment as Base['environment'],
  productionBase: row.productionBase,
  settings: row.settings as BaseSettings,
  version: row.version,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
})

/** Appends a change of the base to its log. */
export const logBase = (scope: Scope, row: BaseRow, operation: 'create' | 'update') =>
  appendChange(scope, {
    baseId: row.id,
    kind: 'base',
    id: row.id,
    operation,
    version: row.version,
    state: toBase(row),
  })

// Advisory lock on a base id, against concurrent creation, change and deletion.
export const LOCK_BASE_ID = statement(
  'lock_base_id',
  `SELECT pg_advisory_xact_lock(hashtextextended('base:' || $1, 0))::text`,
)

const FIND_BASE = statement('find_base', 'SELECT 1 AS one FROM plinth.base WHERE id = $1')

/** @throws NOT_FOUND when the base is absent */
export async function requireBase(scope: Scope, id: string): Promise<void> {
  if ((await scope.db.query(FIND_BASE, [id])).length === 0) throw baseNotFound(id)
}

export const baseNotFound = (id: string) =>
  new DomainError('NOT_FOUND', `There is no base "${id}".`, {
    details: [
      {
        path: '/base_id',
        code: 'base_not_found',
        message: `${act('list_bases')} lists the bases this token sees.`,
      },
    ],
  })

/** A secret of the vault: what is shown of it, and who manages it. Its value is never shown. */

import { productionOf } from '../../../contract/ids.ts'
import { ALL_BASES } from '../../../contract/secret-shapes.ts'
import { type DomainError, oneFault } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { administers, administersAll, outside } from '../../core/authentication/may-manage.ts'
import type { Secret as Row } from '../../prisma/client.ts'
import type { Access } from '../../storage/access/access.ts'

export type Secret = {
  /** Its name. */
  readonly id: string
  readonly description: string | null
  readonly bases: readonly string[]
  readonly createdBy: string | null
  readonly version: number
  readonly createdAt: string
  readonly updatedAt: string
  readonly operation?: 'created' | 'updated' | 'unchanged'
}

/** Columns that no answer shows. */
export const OMITTED = { value: true } as const

export const toSecret = (row: Omit<Row, 'value'>): Secret => ({
  id: row.id,
  description: row.description,
  bases: row.bases,
  createdBy: row.createdBy,
  version: row.version,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
})

/** The place that a value is bound to in storage. */
export const placeOf = (name: string): readonly string[] => ['secret', name]

/** Whether the caller administers what a secret is opened to. */
export const administersReach = (access: Access, reach: string): boolean =>
  administers(access, {
    base: reach,
    record_type: '*',
    environment: reach !== ALL_BASES && productionOf(reach) !== reach ? 'preview' : 'production',
    permission: 'admin',
  })

/** Whether the caller may see, change and delete a secret. One without bases is for administrators of everything. */
export async function managesSecret(access: Access, bases: readonly string[]): Promise<boolean> {
  if (bases.length === 0) return administersAll(access)
  for (const reach of bases) {
    if (turnIsOver()) await nextTurn()
    if (!administersReach(access, reach)) return false
  }
  return true
}

/** The failure for a secret that the caller cannot manage, or that is absent: the same, unless it manages all. */
export const noSecret = (access: Access, name: string): DomainError =>
  administersAll(access)
    ? oneFault('NOT_FOUND', `There is no secret "${name.slice(0, 64)}".`, {
        path: '/name',
        code: 'secret_not_found',
        message: 'List the secrets of the vault, or create this one.',
      })
    : outside('/name', 'This secret is outside the bases you administer.')

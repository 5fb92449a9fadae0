import { isDeepStrictEqual } from 'node:util'
import { ID_RULES, isBaseId, isProductionBaseId } from '../../../contract/ids.ts'
import { BaseBody } from '../../../contract/shapes.ts'
import { check, inBody } from '../../../contract/validate.ts'
import { invalid } from '../../../foundation/errors.ts'
import { requirePermission } from '../../access/access.ts'
import { enqueue } from '../../database/enqueue-job.ts'
import { checkVersion, type Expectation } from '../../write/preconditions.ts'
import type { WriteScope } from '../../write/write.ts'
import { type Base, type BaseSettings, LOCK_BASE_ID, logBase, toBase } from './base.ts'

export type BaseInput = {
  name?: string | null | undefined
  description?: string | null | undefined
  settings?: unknown
}

const DEFAULT_SETTINGS: BaseSettings = { schema_changes: 'direct', history_days: null, trash_days: 30 }

/** Creates the base or replaces its name, description and settings. Omitted fields get their defaults. */
export async function putBase(
  scope: WriteScope,
  id: string,
  input: BaseInput,
  expected: Expectation,
): Promise<Base> {
  requirePermission(scope.access, 'manage', id, '*')
  const { name = id, description = null, settings } = check(BaseBody, dropNulls(input), inBody())
  const next = { name, description, settings: { ...DEFAULT_SETTINGS, ...settings } as BaseSettings }
  if (!isBaseId(id))
    throw invalid({
      path: '/id',
      code: 'invalid_id',
      message: `A base id must be ${ID_RULES.base}.`,
      received: id,
    })
  return scope.db.transaction(async (tx) => {
    const within: WriteScope = { ...scope, db: tx }
    await tx.query(LOCK_BASE_ID, [id])
    const current = await tx.orm.base.findUnique({ where: { id } })
    checkVersion(expected, current?.version, `base "${id}"`)
    if (!current) return createBase(within, id, next)
    const same = isDeepStrictEqual(next, {
      name: current.name,
      description: current.description,
      settings: current.settings,
    })
    if (same) return { ...toBase(current), operation: 'unchanged' }
    const row = await tx.orm.base.update({
      where: { id },
      data: { ...next, version: { increment: 1 }, updatedAt: new Date() },
    })
    await logBase(within, row, 'update')
    if (next.settings.history_days !== null) await enqueue(tx, 'purge_history', { base: id }, `purge:${id}`)
    return { ...toBase(row), operation: 'updated' }
  })
}

async function createBase(
  scope: WriteScope,
  id: string,
  next: { name: string; description: string | null; settings: BaseSettings },
): Promise<Base> {
  if (!isProductionBaseId(id))
    throw invalid({
      path: '/id',
      code: 'invalid_id',
      message: 'A preview cannot be created by PUT. Create it from its base.',
      received: id,
    })
  const row = await scope.db.orm.base.create({
    data: { id, ...next, environment: 'production' },
  })
  await logBase(scope, row, 'create')
  return { ...toBase(row), operation: 'created' }
}

/** GraphQL sends null for omitted fields. */
const dropNulls = ({ name, description, settings }: BaseInput) => ({
  ...(name != null && { name }),
  ...(description !== undefined && { description }),
  ...(settings != null && { settings }),
})

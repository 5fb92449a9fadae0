/** Creates a preview: a base of its own that starts with the configuration of its production base. */
import { anyPreviewOf, productionOf } from '../../contract/ids.ts'
import { PreviewBody } from '../../contract/shapes.ts'
import { check, inBody } from '../../contract/validate.ts'
import { advised } from '../../foundation/advised-requests.ts'
import { DomainError, invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { BASE, type Base, baseTable, LOCK_BASE_ID } from '../configuration/bases/index.ts'
import { KINDS } from '../configuration/kinds.ts'
import { finish } from '../configuration/lifecycle/change.ts'
import { viewOf } from '../configuration/lifecycle/fields.ts'
import { lastVersions } from '../configuration/lifecycle/version-history.ts'
import { baseNotFound } from '../core/existing-base.ts'
import type { WriteScope } from '../core/write/write.ts'
import { requirePermission } from '../storage/access/access.ts'
import { type Db, statement } from '../storage/database/client.ts'
import { copyRowsOf, keepFork } from './copy-configuration.ts'
import { copySample } from './copy-sample.ts'

// Shared with other previews; waits for writers of configuration, so that no half-made change is copied.
const READ_PRODUCTION = statement(
  'read_production',
  'SELECT environment, settings FROM plinth.base WHERE id = $1 FOR SHARE',
)

/**
 * Creates the preview `<base>--<name>`.
 * @throws FORBIDDEN; VALIDATION_ERROR; NOT_FOUND; CONFLICT when it exists
 */
export async function createPreview(scope: WriteScope, baseId: string, input: object): Promise<Base> {
  requirePermission(scope.access, 'read', baseId, '*')
  requirePermission(scope.access, 'manage', anyPreviewOf(productionOf(baseId)), '*')
  if (productionOf(baseId) !== baseId) throw previewOfPreview(baseId)
  const { name, description = null, copy = 'config' } = check(PreviewBody, input, inBody())
  const id = `${anyPreviewOf(baseId)}${name}`
  return scope.db.transaction(async (tx) => {
    const within: WriteScope = { ...scope, db: tx }
    const settings = await settingsOf(tx, baseId, id)
    const version = ((await lastVersions(tx, BASE, id, [id])).get(id) ?? 0) + 1
    const row = await baseTable(tx).createOne({
      data: {
        id,
        name,
        description,
        environment: 'preview',
        productionBase: baseId,
        version,
        settings: { ...settings, schema_changes: 'direct' },
        typesVersion: 1,
      } as never,
    })
    await finish(BASE, within, id, [{ row, operation: 'create' }])
    await copyRowsOf(within, baseId, id, version)
    if (copy === 'config_and_sample') await copySample(within, baseId, id, version)
    for (const kind of KINDS) await kind.copyParts?.(tx, baseId, id)
    await keepFork(within, id, version)
    return viewOf(BASE, row) as Base
  })
}

/**
 * Locks both ids, and reads the settings of the production base.
 * @throws NOT_FOUND; CONFLICT
 */
async function settingsOf(tx: Db, baseId: string, id: string): Promise<object> {
  await tx.query(LOCK_BASE_ID, [baseId])
  await tx.query(LOCK_BASE_ID, [id])
  const [production] = await tx.query<{ settings: object }>(READ_PRODUCTION, [baseId])
  if (!production) throw baseNotFound(baseId)
  if ((await tx.orm.base.count({ where: { id } })) > 0) throw exists(id)
  if ((await tx.orm.base.count({ where: { productionBase: baseId } })) >= LIMITS.previews)
    throw tooMany(baseId)
  return production.settings
}

const previewOfPreview = (received: string) =>
  invalid({
    path: '/base_id',
    code: 'is_preview',
    message: `"${received}" is a preview, and a preview cannot have previews. Create one of its production base.`,
    received,
    hint: productionOf(received),
  })

function tooMany(baseId: string): DomainError {
  const message = `Base "${baseId}" has ${LIMITS.previews} previews, which is the limit. Delete one first: ${advised('delete_preview')}.`
  return new DomainError('CONFLICT', message, {
    details: [{ path: '/base_id', code: 'too_many_previews', message, expected: LIMITS.previews }],
  })
}

const exists = (id: string) =>
  new DomainError('CONFLICT', `The preview "${id}" already exists.`, {
    details: [
      {
        path: '/name',
        code: 'exists',
        message: `Choose another name, or delete it first: ${advised('delete_preview')}.`,
      },
    ],
  })

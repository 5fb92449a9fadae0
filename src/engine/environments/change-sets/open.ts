/** Opens change-sets: previews that copy nothing. */
import { randomInt } from 'node:crypto'
import { anyPreviewOf, productionOf } from '../../../contract/ids.ts'
import { BASE, type Base, baseTable } from '../../configuration/bases/index.ts'
import { finish } from '../../configuration/lifecycle/change.ts'
import { viewOf } from '../../configuration/lifecycle/fields.ts'
import { lastVersions } from '../../configuration/lifecycle/version-history.ts'
import { takeStep } from '../../core/change-set/lifecycle.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { requireBaseAccess, requirePermission } from '../../storage/access/access.ts'
import { statement } from '../../storage/database/client.ts'
import { previewOfPreview, settingsOf } from '../preview-place.ts'

const INSERT = statement(
  'insert_change_set',
  'INSERT INTO plinth.change_set (base_id, title, token_id, actor_name) VALUES ($1, $2, $3, $4)',
)

type Opening = { name: string | undefined; description: string | null; title: string | undefined }

/**
 * Opens the change-set `<base>--<name>`.
 * @throws FORBIDDEN without `write` on records in previews, and `read` in production; VALIDATION_ERROR; NOT_FOUND; CONFLICT
 */
export async function openChangeSet(
  scope: WriteScope,
  baseId: string,
  { name = newName(), description, title }: Opening,
): Promise<Base> {
  const { access, actor } = scope
  requireBaseAccess(access, baseId)
  if (productionOf(baseId) !== baseId) throw previewOfPreview(baseId)
  const id = `${anyPreviewOf(baseId)}${name}`
  const writable = access.types('write', id)
  if (writable !== '*' && writable.size === 0) requirePermission(access, 'write', id, '*')
  return scope.db.transaction(async (tx) => {
    const settings = await settingsOf(tx, baseId, id, true)
    const version = ((await lastVersions(tx, BASE, id, [id])).get(id) ?? 0) + 1
    const row = await baseTable(tx).createOne({
      data: {
        ...{ id, name, description, environment: 'preview', productionBase: baseId, version, settings },
        ...{ typesVersion: 1 },
      } as never,
    })
    await tx.query(INSERT, [id, title ?? null, actor.tokenId, actor.name])
    const within = { ...scope, db: tx }
    await finish(BASE, within, id, [{ row, operation: 'create' }])
    await takeStep(within, id, { event: 'opened' })
    return viewOf(BASE, row) as Base
  })
}

const LETTERS = 'abcdefghijkmnpqrstuvwxyz23456789'
const newName = () => `p-${Array.from({ length: 6 }, () => LETTERS[randomInt(LETTERS.length)]).join('')}`

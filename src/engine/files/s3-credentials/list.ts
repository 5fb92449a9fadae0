import { oneFault } from '../../../foundation/errors.ts'
import { readNewest } from '../../core/created-at-page.ts'
import { requireBase } from '../../core/existing-base.ts'
import type { Page, PageArgs } from '../../core/page.ts'
import type { Scope } from '../../core/scope.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { requirePermission } from '../../storage/access/access.ts'
import { type S3Credential, toCredential } from './credential.ts'

/** The valid credentials that the caller may see: its own, and with `manage` on the base all of them. */
const visible = ({ access, actor }: Scope, baseId: string) => ({
  baseId,
  expiresAt: { gt: new Date() },
  ...(!access.allows('manage', baseId, '*') && { tokenId: actor.tokenId ?? '' }),
})

/**
 * Lists the valid credentials of a base, newest first.
 * @throws FORBIDDEN; NOT_FOUND when the base is absent
 */
export async function listS3Credentials(
  scope: Scope,
  baseId: string,
  args: PageArgs,
): Promise<Page<S3Credential>> {
  requirePermission(scope.access, 'read', baseId, '*')
  const page = readNewest(scope, `S3 credentials of ${baseId}`, args)
  const [rows, total] = await page.find(scope.db.orm.s3Credential, visible(scope, baseId))
  if (rows.length === 0) await requireBase(scope, baseId)
  return page.of(
    rows.map((row) => toCredential(row, scope.s3Endpoint())),
    total,
  )
}

/**
 * Revokes a credential. The next request with it is refused.
 * @throws FORBIDDEN; NOT_FOUND
 */
export async function deleteS3Credential(
  scope: WriteScope,
  baseId: string,
  id: string,
): Promise<{ id: string; deleted: boolean }> {
  requirePermission(scope.access, 'read', baseId, '*')
  const { count } = await scope.db.orm.s3Credential.deleteMany({ where: { ...visible(scope, baseId), id } })
  if (count > 0) return { id, deleted: true }
  await requireBase(scope, baseId)
  throw oneFault('NOT_FOUND', `There is no S3 credential "${id.slice(0, 64)}".`, {
    path: '/id',
    code: 's3_credential_not_found',
    message: 'List the S3 credentials of the base. Expired ones are gone.',
  })
}

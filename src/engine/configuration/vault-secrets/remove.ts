import { previewsOf } from '../../../contract/secret-shapes.ts'
import { requireAnyAdmin } from '../../core/authentication/may-manage.ts'
import { lockCreator } from '../../core/authentication/recheck-rights.ts'
import { checkVersion, type Expectation } from '../../core/write/preconditions.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { statement } from '../../storage/database/client.ts'
import { LOCK_NAME, log } from './put.ts'
import { managesSecret, noSecret, OMITTED } from './secret.ts'

/**
 * Deletes a secret, also while it is in use: what refers to it sends nothing until there is one of its name again.
 * @throws FORBIDDEN; NOT_FOUND; CONFLICT
 */
export async function deleteSecret(
  scope: WriteScope,
  name: string,
  expected: Expectation,
): Promise<{ id: string; deleted: boolean }> {
  requireAnyAdmin(scope, 'secrets')
  return scope.db.transaction(async (tx) => {
    await lockCreator(tx, scope)
    await tx.query(LOCK_NAME, [name])
    const row = await tx.orm.secret.findUnique({ where: { id: name }, omit: OMITTED })
    if (!row || !(await managesSecret(scope.access, row.bases))) throw noSecret(scope.access, name)
    checkVersion(expected, row.version, `secret "${name}"`)
    await tx.orm.secret.delete({ where: { id: name } })
    await log({ ...scope, db: tx }, 'delete', row, row.version + 1)
    return { id: name, deleted: true }
  })
}

const CLOSE = statement(
  'close_secrets_to_base',
  `UPDATE plinth.secret SET bases = array_remove(array_remove(bases, $1), $2), version = version + 1, updated_at = now()
   WHERE bases && ARRAY[$1, $2]`,
)

/** Closes all secrets to a deleted base, so that a new base with the same id starts without them. */
export async function closeSecretsTo({ db }: WriteScope, baseId: string): Promise<void> {
  await db.query(CLOSE, [baseId, previewsOf(baseId)])
}

import { advised } from '../../../foundation/advised-requests.ts'
import { DomainError } from '../../../foundation/errors.ts'
import { toToken } from '../../authentication/authenticate.ts'
import { administersAll, manages, outside, requireAnyAdmin } from '../../authentication/may-manage.ts'
import { ACCOUNT, appendChange } from '../../core/append-change.ts'
import { announce } from '../../core/cache-notices.ts'
import type { WriteScope } from '../../write/write.ts'

/** Revokes a token. All processes reject it within a second. */
export async function deleteToken(scope: WriteScope, id: string): Promise<{ id: string; deleted: boolean }> {
  requireAnyAdmin(scope)
  return scope.db.transaction(async (tx) => {
    const row = await tx.orm.token.findUnique({ where: { id } })
    if (!row || !(await manages(scope.access, toToken(row))))
      throw administersAll(scope.access) ? tokenNotFound(id) : outsideToken()
    await tx.orm.token.delete({ where: { id } })
    await appendChange(
      { ...scope, db: tx },
      { baseId: ACCOUNT, kind: 'token', id, operation: 'delete', version: 2, state: toToken(row) },
    )
    const topic = `token:${Buffer.from(row.hash).toString('hex')}` as const
    await announce(tx, topic)
    scope.onCommit(() => scope.caches.forget(topic))
    return { id, deleted: true }
  })
}

const outsideToken = () => outside('/id', 'This token is outside the bases you administer.')
export const tokenNotFound = (id: string) =>
  new DomainError('NOT_FOUND', `There is no token "${id.slice(0, 64)}".`, {
    details: [
      {
        path: '/id',
        code: 'token_not_found',
        message: `${advised('list_tokens')} lists the tokens you manage.`,
      },
    ],
  })

import type { Scope } from '../scope.ts'
import { uuidv7 } from '../uuid.ts'
import { ADMIN_OF_ALL } from './may-manage.ts'
import { hashOf } from './token.ts'

/** The first administrator's token, and whether it has to be there whatever became of it since. */
export type AdminToken = { token: string; isDemanded: boolean }

/**
 * Makes sure that there is an administrator. A token kept from an earlier start is put back only into an empty
 * database, so that one which was revoked stays so.
 */
export async function ensureAdminToken(scope: Scope, { token, isDemanded }: AdminToken): Promise<void> {
  const hash = hashOf(token)
  if (!isDemanded && (await scope.db.orm.token.count()) > 0) return
  await scope.db.orm.token.upsert({
    where: { hash },
    create: { id: uuidv7(), name: 'admin', hash, tail: token.slice(-4), grants: [ADMIN_OF_ALL] },
    update: {},
  })
}

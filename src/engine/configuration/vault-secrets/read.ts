import { administersAll, requireAnyAdmin } from '../../core/authentication/may-manage.ts'
import { listFiltered } from '../../core/filtered-page.ts'
import type { Page, PageArgs } from '../../core/page.ts'
import type { Scope } from '../../core/scope.ts'
import { managesSecret, noSecret, OMITTED, type Secret, toSecret } from './secret.ts'

/**
 * Lists the secrets that the caller manages, newest first, without their values.
 * @throws FORBIDDEN; VALIDATION_ERROR
 */
export async function listSecrets(scope: Scope, args: PageArgs): Promise<Page<Secret>> {
  requireAnyAdmin(scope, 'secrets')
  const { secret } = scope.db.orm
  return listFiltered(scope, 'secrets', args, {
    find: (query) => secret.findMany({ ...query, omit: OMITTED }),
    shows: ({ bases }) => managesSecret(scope.access, bases),
    view: toSecret,
    ...(administersAll(scope.access) && { count: () => secret.count() }),
  })
}

/**
 * Reads a secret, without its value.
 * @throws FORBIDDEN; NOT_FOUND
 */
export async function getSecret(scope: Scope, name: string): Promise<Secret> {
  requireAnyAdmin(scope, 'secrets')
  const row = await scope.db.orm.secret.findUnique({ where: { id: name }, omit: OMITTED })
  if (!row || !(await managesSecret(scope.access, row.bases))) throw noSecret(scope.access, name)
  return toSecret(row)
}

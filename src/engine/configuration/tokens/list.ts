import { type Token, toToken } from '../../core/authentication/authenticate.ts'
import { administersAll, manages, requireAnyAdmin } from '../../core/authentication/may-manage.ts'
import { listFiltered } from '../../core/filtered-page.ts'
import type { Page, PageArgs } from '../../core/page.ts'
import type { Scope } from '../../core/scope.ts'
import { isOwnName, notManaged, tokenNotFound } from './remove.ts'

/** Lists the tokens that the caller may manage: those whose grants it could all give. */
export async function listTokens(scope: Scope, args: PageArgs): Promise<Page<Token>> {
  requireAnyAdmin(scope)
  const { token } = scope.db.orm
  return listFiltered(scope, 'tokens', args, {
    find: (query) => token.findMany({ ...query, omit: { hash: true } }),
    shows: (row) => manages(scope.access, toToken(row)),
    view: toToken,
    ...(administersAll(scope.access) && { count: () => token.count() }),
  })
}

/**
 * A token that the caller may manage, or its own.
 * @throws NOT_FOUND, and FORBIDDEN outside what the caller administers
 */
export async function getToken(scope: Scope, id: string): Promise<Token> {
  if (id === scope.actor.tokenId) return ownToken(scope)
  if (isOwnName(id)) throw tokenNotFound(id)
  requireAnyAdmin(scope)
  const row = await scope.db.orm.token.findUnique({ where: { id }, omit: { hash: true } })
  const token = row && toToken(row)
  if (!token || !(await manages(scope.access, token))) throw notManaged(scope, id)
  return token
}

/**
 * The token of the caller. Every token may read itself.
 * @throws NOT_FOUND if it was revoked during the request
 */
export async function ownToken({ db, actor }: Scope): Promise<Token> {
  const id = actor.tokenId ?? ''
  const row = await db.orm.token.findUnique({ where: { id }, omit: { hash: true } })
  if (!row) throw tokenNotFound(id)
  return toToken(row)
}

import { type Token, toToken } from '../../core/authentication/authenticate.ts'
import type { Scope } from '../../core/scope.ts'
import { tokenNotFound } from './remove.ts'

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

import { isDeepStrictEqual } from 'node:util'
import { oneFault } from '../../../foundation/errors.ts'
import type { Grant } from '../../storage/access/grants.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import type { Scope } from '../scope.ts'
import { findValidSession, isOver } from './authenticate.ts'

/** Whether cached state proves that the caller's rights are unchanged since the start of the request. */
export function areRightsCurrent({
  caches,
  session,
  standing,
}: Pick<Scope, 'caches' | 'session' | 'standing'>): boolean {
  if (standing && !standing.isCurrent()) return false
  if (!session) return true
  if (isOver(session)) return false
  if (session.key === null) return true
  return caches.live() && caches.sessions.get(session.key)?.access.grants === session.access.grants
}

/**
 * Checks the current rights of the token again, for a request that waited.
 * @throws UNAUTHORIZED when the token was revoked or has expired; FORBIDDEN when its grants or its endpoint
 * changed
 */
export async function recheckRights(scope: Scope): Promise<void> {
  const { session, standing } = scope
  if (areRightsCurrent(scope)) return
  if (session) {
    const now = session.key === null ? undefined : await findValidSession(scope, session.key)
    if (!now) throw ended()
    const rightsOf = ({ access: { grants, paused } }: typeof now) => [grants, paused]
    if (!isDeepStrictEqual(rightsOf(now), rightsOf(session))) throw changed()
  }
  await standing?.recheck(scope)
}

// FOR KEY SHARE blocks deletion but allows the update of last_used_at.
const LOCK_CREATOR = statement(
  'lock_maker',
  'SELECT grants, expires_at FROM plinth.token WHERE id = $1 AND (expires_at IS NULL OR expires_at > now()) FOR KEY SHARE',
)

/**
 * Returns when the rights of the caller expire, null for never. Locks a Plinth token against revocation until
 * the transaction ends, so that a revoked token creates nothing.
 * @throws UNAUTHORIZED when the token is gone; FORBIDDEN when its grants changed since the start of the
 * request
 */
export async function lockCreator(
  tx: Db,
  { actor, session }: Pick<Scope, 'actor' | 'session'>,
): Promise<Date | null> {
  if (!session) return null
  if (session.key === null) {
    if (isOver(session)) throw ended()
    return session.expiresAt
  }
  const [row] = await tx.query<{ grants: Grant[]; expires_at: Date | null }>(LOCK_CREATOR, [actor.tokenId])
  if (!row) throw ended()
  if (!isDeepStrictEqual(row.grants, session.access.grants)) throw changed()
  return row.expires_at
}

const ended = () =>
  oneFault('UNAUTHORIZED', 'The token was revoked or has expired.', {
    path: 'header/Authorization',
    code: 'invalid_token',
    message:
      'The token was revoked or expired during the request. Nothing was written. Send it with another token.',
  })

const changed = () =>
  oneFault('FORBIDDEN', 'The grants of the token changed during the request.', {
    path: '',
    code: 'missing_permission',
    message: 'Nothing was written. Send the request again.',
  })

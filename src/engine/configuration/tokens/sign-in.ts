/** Signs a browser tab in with a one-time code, which is valid for a minute, and signs it out. */
import type { ActorKind } from '../../../contract/shapes.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { hashOf, newSecret, newToken } from '../../core/authentication/authenticate.ts'
import { tokenRequired } from '../../core/authentication/may-manage.ts'
import { lockCreator } from '../../core/authentication/recheck-rights.ts'
import type { Scope } from '../../core/scope.ts'
import type { WriteScope } from '../../core/write/write.ts'
import type { Grant } from '../../storage/access/grants.ts'
import { batchDeletion } from '../../storage/database/batched-statements.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { endTokens } from './remove.ts'
import { storeToken } from './store.ts'

export type SignInCode = {
  /** 32 random bytes in base64url. */
  code: string
  expiresAt: string
}
/** What a code is exchanged for: a token of the tab, with the grants of the token that asked. */
export type SignedIn = { token: string; expiresAt: string }

const CODE = /^[\w-]{43}$/

/** Stores a code by its hash. Older codes of the token go when they are too many. */
const KEEP = statement(
  'keep_sign_in_code',
  `WITH gone AS (
     DELETE FROM plinth.sign_in_code WHERE hash IN (
       SELECT hash FROM plinth.sign_in_code WHERE token_id = $2
       ORDER BY created_at DESC OFFSET ${LIMITS.signInCodesOfToken - 1}))
   INSERT INTO plinth.sign_in_code (hash, token_id, expires_at) VALUES ($1, $2, $3)`,
)
/** Locks the token of a valid code. It is locked before the code is taken, in the order of a revocation. */
const LOCK_ASKER = statement(
  'lock_sign_in_asker',
  `SELECT t.id, t.name, t.kind, t.grants, t.expires_at FROM plinth.sign_in_code c JOIN plinth.token t ON t.id = c.token_id
   WHERE c.hash = $1 AND c.expires_at > now() AND (t.expires_at IS NULL OR t.expires_at > now())
   FOR NO KEY UPDATE OF t`,
)
/** Of two requests with a code, one gets the row. */
const TAKE = statement(
  'take_sign_in_code',
  'DELETE FROM plinth.sign_in_code WHERE hash = $1 RETURNING 1 AS taken',
)
const OLDEST_TABS = statement(
  'oldest_tabs',
  `SELECT id FROM plinth.token WHERE signed_in_by = $1 ORDER BY created_at DESC, id DESC OFFSET ${LIMITS.tabsOfToken - 1}`,
)
/** Codes and tabs that have ended. */
export const OLD_SIGN_INS = [
  batchDeletion('sweep_sign_in_codes', 'sign_in_code', 'expires_at < now()'),
  batchDeletion('sweep_tabs', 'token', 'signed_in_by IS NOT NULL AND expires_at < now()'),
]

/**
 * Makes a code for the calling token.
 * @throws FORBIDDEN for the token of a tab, which would otherwise outlive its own revocation, and for that of a client,
 * whose tab would be nobody's
 */
export async function createSignInCode(scope: WriteScope): Promise<SignInCode> {
  const { tokenId } = scope.actor
  if (tokenId === null || scope.session?.key == null)
    throw refused('Send the request with a token of Plinth.')
  return scope.db.transaction(async (tx) => {
    await lockCreator(tx, scope)
    const own = await tx.orm.token.findUnique({
      where: { id: tokenId },
      select: { signedInBy: true, authorization: { select: { id: true } } },
    })
    if (own?.signedInBy != null) throw refused('The token of a tab makes none. Use the token that opened it.')
    if (own?.authorization) throw refused('The token of a client makes none. Use the one that allowed it.')
    return keepSignInCode(tx, tokenId)
  })
}

/** Stores a new code of the token, and returns it. */
export async function keepSignInCode(tx: Db, tokenId: string): Promise<SignInCode> {
  const code = newSecret()
  const expiresAt = new Date(Date.now() + LIMITS.signInCodeSeconds * 1000)
  await tx.query(KEEP, [hashOf(code), tokenId, expiresAt])
  return { code, expiresAt: expiresAt.toISOString() }
}

type Asker = { id: string; name: string; kind: ActorKind; grants: Grant[]; expires_at: Date | null }

/**
 * Exchanges a code for a new token with the same grants. It ends after some hours, and with the token that asked.
 * Undefined for a code that is unknown, used or expired; all three do the same work.
 */
export async function signIn(scope: Scope, code: string): Promise<SignedIn | undefined> {
  if (!CODE.test(code)) return undefined
  const token = newToken()
  return scope.db.transaction(async (tx) => {
    const [asker] = await tx.query<Asker>(LOCK_ASKER, [hashOf(code)])
    if (!asker || (await tx.query(TAKE, [hashOf(code)])).length === 0) return undefined
    const { id: tokenId, name, kind } = asker
    const within: Scope = { ...scope, db: tx, actor: { tokenId, name, kind } }
    await endTokens(within, await tx.query<{ id: string }>(OLDEST_TABS, [tokenId]))
    const hours = new Date(Date.now() + LIMITS.tabHours * 3_600_000)
    const expiresAt = asker.expires_at && asker.expires_at < hours ? asker.expires_at : hours
    await storeToken(within, token, {
      ...{ kind, grants: asker.grants as object[], createdBy: tokenId, signedInBy: tokenId, expiresAt },
      name: `${name.slice(0, LIMITS.nameChars - SUFFIX.length).toWellFormed()}${SUFFIX}`,
    })
    return { token, expiresAt: expiresAt.toISOString() }
  })
}

/** Revokes the calling token if it is that of a tab. Returns whether it was. */
export async function signOut(scope: Scope): Promise<boolean> {
  const { tokenId } = scope.actor
  if (tokenId === null) return false
  const ended = await scope.db.transaction(async (tx) => {
    const where = { id: tokenId, signedInBy: { not: null } }
    return endTokens({ ...scope, db: tx }, await tx.orm.token.findMany({ where }))
  })
  for (const topic of ended) scope.caches.forget(topic)
  return ended.length > 0
}

const SUFFIX = ' (browser)'

const refused = (message: string) => tokenRequired('This token makes no sign-in codes.', message)

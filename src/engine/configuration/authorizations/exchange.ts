/**
 * Codes and refresh tokens become the token of a client: an ordinary token, whose secret each refresh replaces. A code or a
 * refresh token that comes twice was stolen, by whoever sent it first or second: the token ends.
 */
import { createHash } from 'node:crypto'
import { LIMITS } from '../../../foundation/limits.ts'
import { uuidv7 } from '../../../foundation/uuid.ts'
import { hashOf, newSecret, newToken, storedSecret } from '../../core/authentication/authenticate.ts'
import { announce, tokenTopic } from '../../core/cache-notices.ts'
import type { Scope } from '../../core/scope.ts'
import type { Authorization, Token } from '../../prisma/client.ts'
import { compileAccess } from '../../storage/access/compile-access.ts'
import type { Grant } from '../../storage/access/grants.ts'
import { batchDeletion } from '../../storage/database/batched-statements.ts'
import { statement } from '../../storage/database/client.ts'
import { endTokens } from '../tokens/remove.ts'
import { storeToken } from '../tokens/store.ts'

/** What a client gets, as RFC 6749 names it. */
type IssuedTokens = { accessToken: string; refreshToken: string; expiresInSeconds: number }
/** What a client sends; `resource` only if it names one. */
type Sent = { clientId: string; resource?: string | undefined }
type Code = Sent & { code: string; redirectUri: string; verifier: string }

/** The token of the person is locked before the authorization, in the order of a revocation. */
const LOCK = (name: string, column: 'code_hash' | 'family_hash') =>
  statement(
    name,
    `SELECT t.id FROM plinth.oauth_authorization a JOIN plinth.token t ON t.id = a.granted_by
     WHERE a.${column} = $1 AND (t.expires_at IS NULL OR t.expires_at > now()) FOR NO KEY UPDATE OF t`,
  )
const LOCK_BY_CODE = LOCK('lock_grantor_of_code', 'code_hash')
const LOCK_BY_FAMILY = LOCK('lock_grantor_of_family', 'family_hash')
const OLDEST = statement(
  'oldest_authorized',
  `SELECT token_id AS id FROM plinth.oauth_authorization WHERE granted_by = $1 AND token_id IS NOT NULL
   ORDER BY id DESC OFFSET ${LIMITS.oauthClientsOfToken - 1}`,
)
/** A person who was long away signs in as a new one. */
const IS_GONE = `id IN (SELECT token_id FROM plinth.person) AND expires_at < now() - make_interval(days => ${LIMITS.personDays})`
/** Codes that nobody exchanged, tokens of clients whose end has come, and people who are long gone. */
export const OLD_AUTHORIZATIONS = [
  batchDeletion(
    'sweep_authorization_codes',
    'oauth_authorization',
    'token_id IS NULL AND code_expires_at < now()',
  ),
  batchDeletion(
    'sweep_authorized',
    'token',
    `id IN (SELECT token_id FROM plinth.oauth_authorization
       WHERE ends_at < now() OR granted_by IN (SELECT id FROM plinth.token WHERE ${IS_GONE}))`,
  ),
  batchDeletion(
    'sweep_people',
    'token',
    `${IS_GONE} AND NOT EXISTS (SELECT FROM plinth.oauth_authorization a WHERE a.granted_by = token.id AND a.token_id IS NOT NULL)`,
  ),
]

const PREFIX = 'plr_'
const PART = 43
const REFRESH = new RegExp(`^${PREFIX}[\\w-]{${2 * PART}}$`)
/** The half of a refresh token that stays. */
export const familyOf = (refreshToken: string): string => refreshToken.slice(PREFIX.length, -PART)

/** Exchanges a code. Undefined if it is unknown, used or expired, or not for this client, address or verifier. */
export const exchangeCode = (scope: Scope, sent: Code): Promise<IssuedTokens | undefined> =>
  underLock(scope, LOCK_BY_CODE, sent.code, async (within, grantor) => {
    const found = await within.db.orm.authorization.findUnique({ where: { codeHash: hashOf(sent.code) } })
    if (!found) return undefined
    const isRight =
      found.codeExpiresAt > new Date() &&
      isOf(found, sent) &&
      found.redirectUri === sent.redirectUri &&
      found.challenge === createHash('sha256').update(sent.verifier).digest('base64url')
    if (found.tokenId !== null || !isRight) return end(within, found)
    await endTokens(within, await within.db.query<{ id: string }>(OLDEST, [grantor.id]))
    return issue(within, grantor, found)
  })

/** Replaces the secrets of a token. Undefined if the refresh token is unknown, or was used before: then the token ends. */
export async function refresh(
  scope: Scope,
  { refreshToken, ...sent }: Sent & { refreshToken: string },
): Promise<IssuedTokens | undefined> {
  if (!REFRESH.test(refreshToken)) return undefined
  const family = familyOf(refreshToken)
  return underLock(scope, LOCK_BY_FAMILY, family, async (within, grantor) => {
    const found = await within.db.orm.authorization.findUnique({ where: { familyHash: hashOf(family) } })
    if (!found || !isOf(found, sent)) return undefined
    const isCurrent = hashOf(refreshToken.slice(-PART)).equals(found.refreshHash ?? Buffer.alloc(0))
    return isCurrent ? issue(within, grantor, found, family) : end(within, found)
  })
}

/** Ends the token of a client that sends it, or its refresh token. Nobody learns whether there was one. */
export function revoke(
  scope: Scope,
  { token, clientId }: { token: string; clientId: string },
): Promise<void> {
  const where = REFRESH.test(token)
    ? { familyHash: hashOf(familyOf(token)), clientId }
    : { token: { hash: hashOf(token) }, clientId }
  return scope.db.transaction(async (tx) => {
    const found = await tx.orm.authorization.findFirst({ where })
    if (found) await end({ ...scope, db: tx }, found)
  })
}

const isOf = ({ clientId, resource }: Authorization, sent: Sent): boolean =>
  clientId === sent.clientId && (sent.resource === undefined || resource === sent.resource)

/** Runs under the lock of the person's token, which is the author. Undefined if that has ended. */
async function underLock(
  scope: Scope,
  lock: ReturnType<typeof LOCK>,
  secretText: string,
  run: (within: Scope, grantor: Token) => Promise<IssuedTokens | undefined>,
): Promise<IssuedTokens | undefined> {
  return scope.db.transaction(async (tx) => {
    const [locked] = await tx.query<{ id: string }>(lock, [hashOf(secretText)])
    const grantor = locked && (await tx.orm.token.findUnique({ where: { id: locked.id } }))
    if (!grantor) return undefined
    const { id: tokenId, name, kind } = grantor
    return run({ ...scope, db: tx, actor: { tokenId, name, kind: kind as 'person' } }, grantor)
  })
}

/** Makes the token of an authorization, or gives it new secrets. It has no right that the person has lost meanwhile. */
async function issue(
  within: Scope,
  grantor: Token,
  { id, clientName, tokenId, grants, endsAt }: Authorization,
  family = newSecret(),
): Promise<IssuedTokens | undefined> {
  const before = tokenId === null ? null : await within.db.orm.token.findUnique({ where: { id: tokenId } })
  const own = compileAccess(grantor.grants as unknown as Grant[])
  const left = ((before?.grants ?? grants) as unknown as Grant[]).filter((grant) => own.covers(grant))
  const now = Date.now()
  const ends = [endsAt, grantor.expiresAt].map((each) => each?.getTime() ?? Number.POSITIVE_INFINITY)
  const expiresAt = new Date(Math.min(now + LIMITS.oauthAccessSeconds * 1000, ...ends))
  if (left.length === 0 || expiresAt.getTime() <= now) return end(within, { id, tokenId })
  const [accessToken, refreshing] = [newToken(), newSecret()]
  const fresh = { grants: left as object[], expiresAt }
  const kept = before?.id ?? uuidv7()
  if (before) {
    const data = { ...storedSecret(accessToken), ...fresh }
    await within.db.orm.token.update({ where: { id: kept }, data })
    await announce(within.db, tokenTopic(before.hash))
  } else {
    const made = { id: kept, name: clientName, kind: 'agent', createdBy: grantor.id, ...fresh }
    await storeToken(within, accessToken, made)
  }
  await within.db.orm.authorization.update({
    where: { id },
    data: { tokenId: kept, familyHash: hashOf(family), refreshHash: hashOf(refreshing) },
  })
  return {
    accessToken,
    refreshToken: `${PREFIX}${family}${refreshing}`,
    expiresInSeconds: Math.floor((expiresAt.getTime() - now) / 1000),
  }
}

/** Ends an authorization with its token. */
async function end(
  within: Scope,
  { id, tokenId }: Pick<Authorization, 'id' | 'tokenId'>,
): Promise<undefined> {
  if (tokenId === null) await within.db.orm.authorization.deleteMany({ where: { id } })
  else await endTokens(within, [{ id: tokenId }])
}

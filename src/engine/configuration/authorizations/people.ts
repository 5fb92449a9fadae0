/**
 * People who sign in at an identity provider. Each has one token, which nobody knows, for ten minutes: those of tabs and
 * clients end with it. The provider is asked again before it ends, and says what the person may do now.
 */
import { LIMITS } from '../../../foundation/limits.ts'
import { uuidv7 } from '../../../foundation/uuid.ts'
import { hashOf, newToken } from '../../core/authentication/authenticate.ts'
import { announce, tokenTopic } from '../../core/cache-notices.ts'
import type { Scope } from '../../core/scope.ts'
import type { Token } from '../../prisma/client.ts'
import type { Grant } from '../../storage/access/grants.ts'
import { statement } from '../../storage/database/client.ts'
import { endTokens } from '../tokens/remove.ts'
import { keepSignInCode } from '../tokens/sign-in.ts'
import { storeToken } from '../tokens/store.ts'
import { familyOf } from './exchange.ts'

/** What the provider says of a person. */
export type Identity = {
  issuer: string
  subject: string
  name: string
  grants: readonly Grant[]
  /** What asks the provider again; null if it gave nothing. */
  refreshToken: string | null
}
/** A tab, or a client by its refresh token. */
type Renewed = { tokenId?: string; refreshToken?: string }
type Due = { tokenId: string; subject: string; refreshToken: string | null }

const LOCK = statement(
  'lock_person',
  `SELECT pg_advisory_xact_lock(hashtextextended('person ' || $1 || ' ' || $2, 0))::text`,
)
/** A tab of a person ends with the person, and after some hours in any case. */
const RENEW_TABS = statement(
  'renew_tabs',
  `UPDATE plinth.token SET grants = $2::jsonb, expires_at = least($3::timestamptz, created_at + interval '${LIMITS.tabHours} hours')
   WHERE signed_in_by = $1 AND expires_at > now() RETURNING hash`,
)
/** Of several requests, one asks the provider. */
const TAKE_DUE = statement(
  'take_due_person',
  `UPDATE plinth.person p SET checked_at = now() FROM plinth.token t
   WHERE p.token_id = t.id AND p.checked_at < now() - make_interval(secs => ${LIMITS.personCheckSeconds}) AND (
     t.id = $1 OR t.id = (SELECT signed_in_by FROM plinth.token WHERE id = $1)
     OR t.id = (SELECT granted_by FROM plinth.oauth_authorization WHERE family_hash = $2))
   RETURNING p.token_id AS "tokenId", p.subject, p.refresh_token AS "refreshToken"`,
)
const RETRY = statement(
  'retry_person',
  `UPDATE plinth.person SET checked_at = now() - make_interval(secs => ${LIMITS.personCheckSeconds}) WHERE token_id = $1`,
)

const placeOf = (tokenId: string) => ['person', tokenId]

/** Stores what the provider says, and lets live tabs go on. */
function store(scope: Scope, { issuer, subject, name, grants, refreshToken }: Identity): Promise<string> {
  return scope.db.transaction(async (tx) => {
    await tx.query(LOCK, [issuer, subject])
    const known = await tx.orm.person.findUnique({ where: { issuer_subject: { issuer, subject } } })
    const expiresAt = new Date(Date.now() + LIMITS.personSeconds * 1000)
    const data = { name, grants: grants as object[], expiresAt }
    const id = known?.tokenId ?? uuidv7()
    const sealed = refreshToken === null ? null : scope.vault.seal(placeOf(id), refreshToken)
    const within = { ...scope, db: tx, actor: { tokenId: id, name, kind: 'person' as const } }
    const token = known
      ? await tx.orm.token.update({ where: { id }, data })
      : await storeToken(within, newToken(), { id, kind: 'person', ...data })
    const said = { refreshToken: sealed, checkedAt: new Date() }
    await tx.orm.person.upsert({
      where: { tokenId: id },
      create: { tokenId: id, issuer, subject, ...said },
      update: said,
    })
    const tabs = await tx.query<Pick<Token, 'hash'>>(RENEW_TABS, [id, JSON.stringify(grants), expiresAt])
    await announce(tx, ...[token, ...tabs].map(({ hash }) => tokenTopic(hash)))
    return id
  })
}

/** Lets a person in. Returns a one-time code, as a browser gets from `plinth open`. */
export async function enter(scope: Scope, identity: Identity): Promise<string> {
  const id = await store(scope, identity)
  const { code } = await scope.db.transaction((tx) => keepSignInCode(tx, id))
  return code
}

/**
 * The person of a tab or of a client's refresh token, if the provider has to be asked again. Undefined for others, and while
 * somebody asks.
 */
export async function takeDue(scope: Scope, { tokenId = '', refreshToken = '' }: Renewed) {
  const family = hashOf(familyOf(refreshToken))
  const [due] = await scope.db.query<Due>(TAKE_DUE, [tokenId, family])
  if (due?.refreshToken == null) return due
  return { ...due, refreshToken: scope.vault.open(placeOf(due.tokenId), due.refreshToken) ?? null }
}

/** What came of it: the identity now, that the provider knows the person no more, or that it could not be asked. */
export async function settleDue(
  scope: Scope,
  { tokenId }: Due,
  outcome: Identity | 'ended' | 'unreachable',
): Promise<void> {
  if (outcome === 'unreachable') await scope.db.query(RETRY, [tokenId])
  else if (outcome === 'ended')
    await scope.db.transaction((tx) => endTokens({ ...scope, db: tx }, [{ id: tokenId }]))
  else await store(scope, outcome)
}

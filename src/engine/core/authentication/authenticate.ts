/** Authentication: finds the session of a token by its hash. */

import { createHash, randomBytes } from 'node:crypto'
import type { ActorKind } from '../../../contract/shapes.ts'
import type { Token as TokenRow } from '../../prisma/client.ts'
import type { PausedBy } from '../../storage/access/access.ts'
import { compileAccess } from '../../storage/access/compile-access.ts'
import type { Grant } from '../../storage/access/grants.ts'
import type { TokenSession } from '../../storage/access/token-session.ts'
import { statement } from '../../storage/database/client.ts'
import type { Scope } from '../scope.ts'

export type Token = {
  id: string
  name: string
  kind: ActorKind
  /** `plt_…` and the last four characters. */
  masked: string
  grants: readonly Grant[]
  createdAt: string
  createdBy: string | null
  expiresAt: string | null
  lastUsedAt: string | null
  /** The raw token; only in the response that creates it. */
  token?: string
}

const PREFIX = 'plt_'

/** Generates what nobody guesses: 32 random bytes in base64url. */
export const newSecret = (): string => randomBytes(32).toString('base64url')

/** Generates a raw token. */
export const newToken = (): string => `${PREFIX}${newSecret()}`

/** The stored form of a token: its SHA-256 hash. */
export const hashOf = (token: string) => createHash('sha256').update(token).digest()

/** What a row keeps of a token. */
export const storedSecret = (token: string) => ({ hash: hashOf(token), tail: token.slice(-4) })

/** A token as a client sent it, with the key of its session: the hash in hexadecimal. */
export type SentToken = { readonly text: string; readonly key: string }
export const sentToken = (text: string): SentToken => ({ text, key: hashOf(text).toString('hex') })

/** The row of a token without its hash. */
export type TokenState = Omit<TokenRow, 'hash'>

export const toToken = (row: TokenState): Token => ({
  id: row.id,
  name: row.name,
  kind: row.kind as ActorKind,
  masked: `${PREFIX}…${row.tail}`,
  grants: row.grants as unknown as readonly Grant[],
  createdAt: row.createdAt.toISOString(),
  createdBy: row.createdBy,
  expiresAt: row.expiresAt?.toISOString() ?? null,
  lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
})

/**
 * Returns the token's session, or undefined if it is unknown or expired. Both cases do the same work, against
 * timing attacks.
 */
export const authenticate = (
  scope: Pick<Scope, 'db' | 'caches'>,
  token: string | SentToken,
): Promise<TokenSession | undefined> =>
  findValidSession(scope, (typeof token === 'string' ? sentToken(token) : token).key)

/** Finds a session by its key. Returns undefined for an unknown or expired token. */
export async function findValidSession(
  scope: Pick<Scope, 'db' | 'caches'>,
  key: string,
): Promise<TokenSession | undefined> {
  const session = await findSession(scope, key)
  return session && !isOver(session) ? session : undefined
}

/**
 * Whether the token has expired, by the clock of the server or of the database. `endsAt` is the latter as `performance.now()`,
 * so that no jump of the server's clock revives a token.
 */
export const isOver = ({ expiresAt, endsAt = Infinity }: TokenSession): boolean =>
  (expiresAt !== null && expiresAt <= new Date()) || endsAt <= performance.now()

/** Finds a session by its key, expired or not. Returns undefined for an unknown token. */
async function findSession(
  { db, caches }: Pick<Scope, 'db' | 'caches'>,
  key: string,
): Promise<TokenSession | undefined> {
  const known = caches.live() ? caches.sessions.get(key) : undefined
  if (known) return known
  const before = caches.forgotten()
  const session = await loadSession(db, key)
  // Do not cache a session that may have been revoked during the read.
  if (session && caches.forgotten() === before) caches.sessions.set(key, session)
  return session
}

type SessionRow = {
  id: string
  name: string
  kind: ActorKind
  is_tab: boolean
  grants: Grant[]
  expires_at: Date | null
  left_ms: number | null
  is_due: boolean
  paused: Record<string, PausedBy> | null
}
// Updating last_used_at once a minute is precise enough.
const DUE = `(t.last_used_at IS NULL OR t.last_used_at < now() - interval '1 minute')`
// The token of a tab writes under the name of the one that opened it. With that one, and who let a client in, it is paused.
const LOAD_SESSION = statement(
  'load_session',
  `SELECT t.id, coalesce(o.name, t.name) AS name, t.kind, t.signed_in_by IS NOT NULL AS is_tab, t.grants, t.expires_at,
     extract(epoch FROM t.expires_at - now())::float8 * 1000 AS left_ms, ${DUE} AS is_due,
     (SELECT jsonb_object_agg(r.base_id, jsonb_build_object('request', r.id, 'by', r.asked #>> '{paused_by,name}', 'note', r.note))
      FROM plinth.review_request r WHERE r.state = 'open' AND r.kind = 'pause' AND r.asked -> 'paused_by' <> 'null' AND r.token_id IN (
        t.id, t.signed_in_by, (SELECT granted_by FROM plinth.oauth_authorization WHERE token_id = t.id))) AS paused
   FROM plinth.token t LEFT JOIN plinth.token o ON o.id = t.signed_in_by WHERE t.hash = $1`,
)
const TOUCH = statement('touch', `UPDATE plinth.token t SET last_used_at = now() WHERE id = $1 AND ${DUE}`)

async function loadSession(db: Scope['db'], key: string): Promise<TokenSession | undefined> {
  const [row] = await db.query<SessionRow>(LOAD_SESSION, [Buffer.from(key, 'hex')])
  if (!row) return undefined
  // Ignore the failure: authentication must work on a read-only database.
  if (row.is_due) await db.query(TOUCH, [row.id]).catch(() => {})
  const { id: tokenId, name, kind, is_tab: isTab, grants, expires_at: expiresAt, left_ms: left, paused } = row
  const ends = left !== null && { endsAt: performance.now() + left }
  return {
    tokenId,
    key,
    name,
    kind,
    isTab,
    access: compileAccess(grants, new Map(Object.entries(paused ?? {}))),
    expiresAt,
    ...ends,
  }
}

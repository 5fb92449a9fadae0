import { createHash, randomBytes } from 'node:crypto'
import { check, inBody } from '../check.ts'
import { type Detail, DomainError, invalid } from '../errors.ts'
import { TokenBody } from '../shapes.ts'
import { type Access, compileAccess, type Grant, PERMISSIONS } from './access.ts'
import { announce } from './caches.ts'
import { ACCOUNT, appendChange } from './changes.ts'
import { statement } from './db.ts'
import { readNewest } from './newest.ts'
import type { Page, PageArgs } from './page.ts'
import type { Token as TokenRow } from './prisma/client.ts'
import type { Scope } from './scope.ts'
import type { Session } from './session.ts'
import { uuidv7 } from './uuid.ts'
import type { WriteScope } from './write.ts'

export type Token = {
  id: string
  name: string
  /** `plt_…` and the last four characters. */
  masked: string
  grants: readonly Grant[]
  createdAt: string
  createdBy: string | null
  expiresAt: string | null
  lastUsedAt: string | null
  /** The raw token; only in the answer that makes it. */
  token?: string
}
export type TokenInput = { name: string; grants: unknown; expiresAt?: string | null }

const PREFIX = 'plt_'
const sha256 = (text: string) => createHash('sha256').update(text).digest()
const listed = (value: string | readonly string[]) => (typeof value === 'string' ? [value] : value)

const toToken = (row: TokenRow): Token => ({
  id: row.id,
  name: row.name,
  masked: `${PREFIX}…${row.tail}`,
  grants: row.grants as unknown as readonly Grant[],
  createdAt: row.createdAt.toISOString(),
  createdBy: row.createdBy,
  expiresAt: row.expiresAt?.toISOString() ?? null,
  lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
})

/** Makes a token whose every grant lies inside one of the maker's own and that does not outlive it. */
export async function createToken(scope: WriteScope, input: TokenInput): Promise<Token> {
  demandAnyAdmin(scope)
  const { name, grants } = check(TokenBody, { name: input.name, grants: input.grants }, inBody())
  const expiresAt = input.expiresAt ? new Date(input.expiresAt) : null
  for (const [index, grant] of grants.entries()) if (!mayGrant(scope.access, grant)) throw outside(index)
  const own = await scope.db.orm.token.findUnique({ where: { id: scope.actor.tokenId ?? '' } })
  const end = scope.actor.vouchedUntil ?? own?.expiresAt
  if (end && (!expiresAt || expiresAt > end)) throw outlives(end)
  const faults = [...checkExpiry(expiresAt), ...(await missingBases(scope, grants))]
  const [first, ...rest] = faults
  if (first) throw invalid(first, ...rest)

  const token = newToken()
  return scope.db.transaction(async (tx) => {
    const row = await tx.orm.token.create({
      data: {
        id: uuidv7(),
        name,
        hash: sha256(token),
        tail: token.slice(-4),
        grants: grants as object[],
        createdBy: scope.actor.tokenId,
        expiresAt,
      },
    })
    await appendChange(
      { ...scope, db: tx },
      { baseId: ACCOUNT, kind: 'token', id: row.id, operation: 'create', version: 1, state: toToken(row) },
    )
    return { ...toToken(row), token }
  })
}

/** Tokens that the asking one may manage: those whose every grant it could have given. */
export async function listTokens(scope: Scope, args: PageArgs): Promise<Page<Token>> {
  demandAnyAdmin(scope)
  const page = readNewest(scope, 'tokens', args)
  const manageable = async (where: object) => {
    const rows = await scope.db.orm.token.findMany({
      where,
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    })
    return rows.map(toToken).filter((token) => manages(scope.access, token))
  }
  const found = await manageable(page.before)
  const total = page.includeTotal ? (args.cursor ? await manageable({}) : found).length : null
  return page.of(found.slice(page.offset, page.offset + page.limit + 1), total)
}

/** Ends a token; every process refuses it within a second. */
export async function deleteToken(scope: WriteScope, id: string): Promise<{ id: string; deleted: boolean }> {
  demandAnyAdmin(scope)
  return scope.db.transaction(async (tx) => {
    const row = await tx.orm.token.findUnique({ where: { id } })
    if (!row || !manages(scope.access, toToken(row)))
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

const NAMING_BASE = statement(
  'tokens_naming_base',
  `SELECT id, grants FROM plinth.token WHERE jsonb_path_exists(grants, '$[*].base ? (@ == $id)', jsonb_build_object('id', $1::text)) FOR UPDATE`,
)

/** Takes a base that is gone out of every grant, so that a new base of the same id starts without holders. */
export async function withdrawBase(scope: WriteScope, baseId: string): Promise<void> {
  const rows = await scope.db.query<{ id: string; grants: Grant[] }>(NAMING_BASE, [baseId])
  for (const { id, grants } of rows) {
    const kept = grants
      .map((grant) => ({
        ...grant,
        base: typeof grant.base === 'string' ? grant.base : grant.base.filter((named) => named !== baseId),
      }))
      .filter((grant) => grant.base !== baseId && grant.base.length > 0)
    await scope.db.orm.token.update({ where: { id }, data: { grants: kept as object[] } })
  }
}

/** The token's rights, or undefined for one that is unknown or expired. The work is the same for both. */
export async function authenticate(
  scope: Pick<Scope, 'db' | 'caches'>,
  token: string,
): Promise<Session | undefined> {
  const hash = sha256(token)
  const key = hash.toString('hex')
  const known = scope.caches.live() ? scope.caches.sessions.get(key) : undefined
  const session = known ?? (await loadSession(scope, hash))
  if (!session || (session.expiresAt && session.expiresAt <= new Date())) return undefined
  if (!known) scope.caches.sessions.set(key, session)
  return session
}

type SessionRow = { id: string; name: string; grants: Grant[]; expires_at: Date | null }
const LOAD_SESSION = statement(
  'load_session',
  'SELECT id, name, grants, expires_at FROM plinth.token WHERE hash = $1',
)
// Once a minute is often enough to tell a token that is used from one that is not.
const TOUCH = statement(
  'touch_token',
  `UPDATE plinth.token SET last_used_at = now() WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
)

async function loadSession({ db }: Pick<Scope, 'db'>, hash: Buffer): Promise<Session | undefined> {
  const [row] = await db.query<SessionRow>(LOAD_SESSION, [hash])
  if (!row) return undefined
  await db.query(TOUCH, [row.id])
  return { tokenId: row.id, name: row.name, access: compileAccess(row.grants), expiresAt: row.expires_at }
}

/** The first administrator's token, and whether it has to be there whatever became of it since. */
export type AdminToken = { token: string; isDemanded: boolean }

/**
 * Makes sure that there is an administrator. A token kept from an earlier start is put back only into an empty
 * database, so that one which was revoked stays so.
 */
export async function ensureAdminToken(scope: Scope, { token, isDemanded }: AdminToken): Promise<void> {
  const hash = sha256(token)
  if (!isDemanded && (await scope.db.orm.token.count()) > 0) return
  await scope.db.orm.token.upsert({
    where: { hash },
    create: { id: uuidv7(), name: 'admin', hash, tail: token.slice(-4), grants: [ADMIN_OF_ALL] },
    update: {},
  })
}

/** A new raw token. */
export const newToken = (): string => `${PREFIX}${randomBytes(32).toString('base64url')}`

const ADMIN_OF_ALL: Grant = { base: '*', record_type: '*', environment: '*', permission: 'admin' }
const administersAll = (access: Access) => access.covers(ADMIN_OF_ALL)
/** Could the holder have given this grant? Only an admin of its bases gives. */
const mayGrant = (access: Access, grant: Grant) => access.covers(grant) && administers(access, grant)
const administers = (access: Access, grant: Grant) => {
  const bases = access.bases('admin')
  return (
    access.covers({ ...grant, permission: 'admin' }) &&
    (bases === '*' || listed(grant.base).every((id) => id !== '*'))
  )
}
/** A token that lost all its grants with its base is nobody's but the administrator's of everything. */
const manages = (access: Access, { grants }: Token) =>
  grants.length > 0 ? grants.every((grant) => administers(access, grant)) : administersAll(access)

function demandAnyAdmin(scope: Scope): void {
  const bases = scope.access.bases('admin')
  if (bases === '*' || bases.size > 0) return
  throw new DomainError('FORBIDDEN', 'Tokens are managed with "admin" within the bases concerned.', {
    details: [
      {
        path: '',
        code: 'missing_permission',
        message: 'Use a token with an admin grant.',
        expected: { permission: PERMISSIONS.at(-1) },
      },
    ],
  })
}

const EXISTING_BASES = statement('existing_bases', 'SELECT id FROM plinth.base WHERE id = ANY ($1)')

async function missingBases(scope: Scope, grants: readonly Grant[]): Promise<Detail[]> {
  const named = [...new Set(grants.flatMap((grant) => listed(grant.base)))].filter((id) => id !== '*')
  const rows = named.length > 0 ? await scope.db.query<{ id: string }>(EXISTING_BASES, [named]) : []
  const existing = new Set(rows.map((row) => row.id))
  return grants.flatMap((grant, index) =>
    listed(grant.base).some((id) => id !== '*' && !existing.has(id))
      ? [
          {
            path: `/grants/${index}/base`,
            code: 'base_not_found',
            message: 'There is no such base. PUT it first, or name one that exists.',
          },
        ]
      : [],
  )
}

function checkExpiry(expiresAt: Date | null): Detail[] {
  if (!expiresAt || expiresAt.getTime() > Date.now()) return []
  return [{ path: '/expires_at', code: 'in_the_past', message: 'expires_at lies in the future.' }]
}

const forbidden = (path: string, message: string) =>
  new DomainError('FORBIDDEN', message, { details: [{ path, code: 'outside_own_grants', message }] })
const outside = (index: number) =>
  forbidden(`/grants/${index}`, 'A token makes only tokens whose every grant lies inside one of its own.')
const outlives = (end: Date) =>
  forbidden('/expires_at', `A token makes only tokens that end with it or before: ${end.toISOString()}.`)
const outsideToken = () => forbidden('/id', 'This token is outside the bases you administer.')
const tokenNotFound = (id: string) =>
  new DomainError('NOT_FOUND', `There is no token "${id.slice(0, 64)}".`, {
    details: [
      { path: '/id', code: 'token_not_found', message: 'GET /v1/tokens lists the tokens you manage.' },
    ],
  })

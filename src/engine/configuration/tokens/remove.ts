import { advised } from '../../../foundation/advised-requests.ts'
import { oneFault } from '../../../foundation/errors.ts'
import { ACCOUNT, appendChanges } from '../../core/append-change.ts'
import { toToken } from '../../core/authentication/authenticate.ts'
import { administersAll, manages, outside, requireAnyAdmin } from '../../core/authentication/may-manage.ts'
import { announce, tokenTopic } from '../../core/cache-notices.ts'
import { endPausesOf } from '../../core/review-request-log.ts'
import type { Scope } from '../../core/scope.ts'
import type { WriteScope } from '../../core/write/write.ts'
import type { Grant } from '../../storage/access/grants.ts'
import { statement } from '../../storage/database/client.ts'

/** Revokes a token. All processes reject it within a second. */
export async function deleteToken(scope: WriteScope, id: string): Promise<{ id: string; deleted: boolean }> {
  requireAnyAdmin(scope)
  return scope.db.transaction(async (tx) => {
    const row = await tx.orm.token.findUnique({ where: { id } })
    if (!row || !(await manages(scope.access, toToken(row)))) throw notManaged(scope, id)
    const topics = await endTokens({ ...scope, db: tx }, [row])
    scope.onCommit(() => {
      for (const topic of topics) scope.caches.forget(topic)
    })
    return { id, deleted: true }
  })
}

/**
 * Deletes tokens with those of the tabs that they signed in and of the clients that they authorized, in the transaction
 * of the scope. Returns the topics of all.
 */
export async function endTokens(
  scope: Scope,
  tokens: readonly { id: string }[],
): Promise<`token:${string}`[]> {
  if (tokens.length === 0) return []
  const where = withTheirs(tokens.map(({ id }) => id))
  const rows = await scope.db.orm.token.findMany({ where })
  await scope.db.orm.token.deleteMany({ where })
  await appendChanges(
    scope,
    rows.map((row) => ({
      ...({ baseId: ACCOUNT, kind: 'token', id: row.id, operation: 'delete', version: 2 } as const),
      state: toToken(row),
    })),
  )
  await endPausesOf(
    scope,
    rows.map(({ id }) => id),
  )
  return announceTokens(scope, rows)
}

/** Tokens with those of the tabs that they signed in and of the clients that they authorized. */
function withTheirs(ids: string[]) {
  const among = { in: ids }
  return { OR: [{ id: among }, { signedInBy: among }, { authorization: { grantedBy: among } }] }
}

async function announceTokens(scope: Scope, rows: readonly { hash: Uint8Array }[]) {
  const topics = rows.map(({ hash }) => tokenTopic(hash))
  await announce(scope.db, ...topics)
  return topics
}

/** Lets all processes read the rights of a token again, once the transaction of the scope commits. */
export async function renewSessions(scope: WriteScope, id: string): Promise<void> {
  const rows = await scope.db.orm.token.findMany({ where: withTheirs([id]) })
  const topics = await announceTokens(scope, rows)
  scope.onCommit(() => {
    for (const topic of topics) scope.caches.forget(topic)
  })
}

/** The failure for a token that the caller does not manage, whether or not it exists. */
export const notManaged = ({ access }: Scope, id: string) =>
  administersAll(access)
    ? tokenNotFound(id)
    : outside('/id', 'This token is outside the bases you administer.')

/** What other systems call the token of the caller. No id is such a word. */
export const isOwnName = (id: string): boolean => ['me', 'current', 'whoami'].includes(id)

export const tokenNotFound = (id: string) =>
  oneFault('NOT_FOUND', `There is no token "${id.slice(0, 64)}".`, {
    path: '/id',
    code: 'token_not_found',
    ...(isOwnName(id)
      ? { message: `${advised('own_token')} shows the calling token.`, hint: advised('own_token') }
      : { message: `${advised('list_tokens')} lists the tokens you manage.` }),
  })

const NAMING_BASE = statement(
  'tokens_naming_base',
  `SELECT id, grants FROM plinth.token WHERE jsonb_path_exists(grants, '$[*].base ? (@ == $id)', jsonb_build_object('id', $1::text)) FOR UPDATE`,
)

/** Removes a deleted base from all grants, so that a new base with the same id starts without grants. */
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

import type { Log } from '../../../foundation/log.ts'
import { uuidv7 } from '../../../foundation/uuid.ts'
import { hashOf } from '../../authentication/authenticate.ts'
import { ADMIN_OF_ALL } from '../../authentication/may-manage.ts'
import type { Scope } from '../../core/scope.ts'
import { type Db, statement } from '../../database/client.ts'
import { endTokens } from './remove.ts'

/** The bootstrap administrator token and its source. */
export type AdminToken = {
  token: string
  /** From the settings, created by this start, or read from the data directory. */
  from: 'settings' | 'new' | 'kept'
  /** The token in the data directory, when the settings define one. */
  kept?: string | undefined
}

/**
 * Ensures that an administrator token exists. The token of the settings is always restored, and replaces the
 * one configured before. A token from the data directory is restored only into an empty database, so that a
 * revoked one stays revoked.
 */
export async function ensureAdminToken(scope: Scope, admin: AdminToken, log: Log): Promise<void> {
  const hash = hashOf(admin.token)
  if (admin.from === 'settings') {
    for (const { id, name } of await configure(scope, admin))
      log.warn(
        { token_id: id, name },
        'PLINTH_ADMIN_TOKEN is not what it was at an earlier start: the former token was revoked',
      )
    return warnOfOthers(scope, hash, log)
  }
  if (admin.from === 'new' || (await scope.db.orm.token.count()) === 0) {
    await storeAdmin(scope.db, admin.token)
    return warnOfOthers(scope, hash, log)
  }
  if ((await scope.db.orm.token.count({ where: { hash } })) === 0)
    log.warn(
      {},
      'the file admin-token of the data directory holds a token that is not valid: it was revoked or replaced, and the command line that reads it is refused. Delete the file to have a new token made at the next start, or set PLINTH_ADMIN_TOKEN',
    )
}

const storeAdmin = (db: Db, token: string) =>
  db.orm.token.upsert({
    where: { hash: hashOf(token) },
    create: {
      id: uuidv7(),
      name: 'admin',
      hash: hashOf(token),
      tail: token.slice(-4),
      grants: [ADMIN_OF_ALL],
    },
    update: {},
  })

// Stores the hash of the last configured token next to the server keys that all processes share.
const FIRST_CONFIGURED = statement(
  'first_configured',
  `INSERT INTO plinth.server_secret (purpose, value) VALUES ('admin-token', $1) ON CONFLICT DO NOTHING`,
)
// Locks the row, so that concurrent starts see each other's token.
const LAST_CONFIGURED = statement(
  'last_configured',
  `SELECT value FROM plinth.server_secret WHERE purpose = 'admin-token' FOR UPDATE`,
)
const NOTE_CONFIGURED = statement(
  'note_configured',
  `UPDATE plinth.server_secret SET value = $1 WHERE purpose = 'admin-token' AND value <> $1`,
)

/**
 * Stores the token of the settings, and revokes those that it replaces: the one configured before, and the
 * one in the data directory.
 */
function configure(scope: Scope, { token, kept }: AdminToken): Promise<{ id: string; name: string }[]> {
  const hash = hashOf(token)
  return scope.db.transaction(async (tx) => {
    await tx.query(FIRST_CONFIGURED, [hash])
    const [last] = await tx.query<{ value: Uint8Array }>(LAST_CONFIGURED, [])
    await storeAdmin(tx, token)
    await tx.query(NOTE_CONFIGURED, [hash])
    const replaced: { id: string; name: string }[] = []
    const former = last && Buffer.from(last.value)
    if (former && !former.equals(hash)) replaced.push(...(await revoke(scope, tx, { hash: former })))
    // Revoke only a token that the server itself created.
    if (kept !== undefined && kept !== token)
      replaced.push(...(await revoke(scope, tx, { hash: hashOf(kept), createdBy: null })))
    return replaced
  })
}

async function revoke(scope: Scope, tx: Db, { hash, ...more }: { hash: Buffer; createdBy?: null }) {
  const rows = await tx.orm.token.findMany({ where: { ...more, hash: Uint8Array.from(hash) } })
  await endTokens(
    { ...scope, db: tx },
    rows.map(({ id }) => id),
  )
  return rows
}

/**
 * Warns about bootstrap tokens of other starts. They may belong to other servers on the database, so they are
 * not revoked.
 */
async function warnOfOthers(scope: Scope, hash: Buffer, log: Log): Promise<void> {
  const others = await scope.db.orm.token.findMany({
    where: { createdBy: null, hash: { not: Uint8Array.from(hash) } },
    select: { id: true },
    take: 100,
  })
  if (others.length > 0)
    log.warn(
      { token_ids: others.map(({ id }) => id) },
      'tokens of an administrator that other starts made are valid too: revoke those that no server uses with DELETE /v1/tokens/{id}',
    )
}

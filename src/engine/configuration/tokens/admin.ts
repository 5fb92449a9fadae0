import { oneFault } from '../../../foundation/errors.ts'
import type { Log } from '../../../foundation/log.ts'
import { uuidv7 } from '../../../foundation/uuid.ts'
import { ACCOUNT, appendChange } from '../../core/append-change.ts'
import {
  hashOf,
  newToken,
  storedSecret,
  type Token,
  toToken,
} from '../../core/authentication/authenticate.ts'
import { ADMIN_OF_ALL, administersAll, outside } from '../../core/authentication/may-manage.ts'
import { lockCreator } from '../../core/authentication/recheck-rights.ts'
import type { Scope } from '../../core/scope.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { endTokens } from './remove.ts'

/** The bootstrap administrator token and its source. */
export type AdminToken = {
  token: string
  /** From the settings, created by this start, or read from the data directory. */
  from: 'settings' | 'new' | 'kept'
  /** The token in the data directory, when the settings define one. */
  kept?: string | undefined
  /** Hash of the token that the last start on the data directory used. */
  former: Buffer | undefined
  /** Notes the hash of the token in use in the data directory. */
  remember: (hash: Buffer) => void
  /** Writes a token to the data directory, with its hash. */
  replace: (token: string) => void
}

type Replaced = { id: string; name: string }

/**
 * Ensures that an administrator token exists, and revokes the one that it replaces: that of the last start on the
 * data directory and, for a token of the settings, also the one configured before. The token of the settings is
 * always restored. A token from the data directory is restored only into an empty database, so that a revoked one
 * stays revoked.
 */
export async function ensureAdminToken(scope: Scope, admin: AdminToken, log: Log): Promise<void> {
  const { serverToken, db } = scope
  const hash = hashOf(admin.token)
  const isStored =
    admin.from !== 'kept' ||
    (await db.orm.token.count({ where: { hash } })) > 0 ||
    (await db.orm.token.count()) === 0
  if (!isStored)
    return log.warn(
      {},
      'the file admin-token of the data directory holds a token that is not valid: it was revoked or replaced, and the command line that reads it is refused. Delete the file to have a new token made at the next start, or set PLINTH_ADMIN_TOKEN',
    )
  const { id, replaced } = await db.transaction((tx) => store(scope, tx, admin, hash))
  serverToken.id = id
  admin.remember(hash)
  for (const { id: token_id, name } of replaced)
    log.warn(
      { token_id, name },
      'the token of PLINTH_ADMIN_TOKEN, or else of the file admin-token, is not that of an earlier start: the former token was revoked',
    )
  if (admin.from !== 'kept') await warnOfOthers(scope, hash, log)
}

const storeAdmin = (db: Db, token: string) =>
  db.orm.token.upsert({
    where: { hash: hashOf(token) },
    create: {
      id: uuidv7(),
      name: 'admin',
      ...storedSecret(token),
      grants: [ADMIN_OF_ALL as object],
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

/** Stores the token, and revokes those that it replaces. */
async function store(
  scope: Scope,
  tx: Db,
  { token, from, kept, former }: AdminToken,
  hash: Buffer,
): Promise<{ id: string; replaced: Replaced[] }> {
  let configured: Buffer | undefined
  if (from === 'settings') {
    await tx.query(FIRST_CONFIGURED, [hash])
    const [last] = await tx.query<{ value: Uint8Array }>(LAST_CONFIGURED, [])
    configured = last && Buffer.from(last.value)
    await tx.query(NOTE_CONFIGURED, [hash])
  }
  const { id } = await storeAdmin(tx, token)
  const replaced: Replaced[] = []
  for (const each of [configured, former])
    if (each && !each.equals(hash)) replaced.push(...(await revoke(scope, tx, { hash: each })))
  // Of the file, revoke only a token that the server itself created.
  if (kept !== undefined && kept !== token)
    replaced.push(...(await revoke(scope, tx, { hash: hashOf(kept), createdBy: null })))
  return { id, replaced }
}

async function revoke(scope: Scope, tx: Db, { hash, ...more }: { hash: Buffer; createdBy?: null }) {
  const rows = await tx.orm.token.findMany({ where: { ...more, hash: Uint8Array.from(hash) } })
  await endTokens({ ...scope, db: tx }, rows)
  return rows
}

// One rotation at a time, of all servers on the database.
const LOCK = statement(
  'lock_server_token',
  `SELECT pg_advisory_xact_lock(hashtextextended('server_token', 0))::text`,
)

/**
 * Replaces the administrator token of this server, in the database and in the data directory, and revokes the
 * former one.
 * @throws FORBIDDEN without `admin` on all bases; CONFLICT for a token of the settings, which the next start would
 * restore
 */
export async function rotateAdminToken(scope: WriteScope): Promise<Token> {
  const { access, serverToken, log } = scope
  if (!administersAll(access))
    throw outside('', 'The administrator token of the server is replaced with "admin" on all bases.')
  if (serverToken.isSetting)
    throw refused(
      'token_of_settings',
      'Start the server with another PLINTH_ADMIN_TOKEN. That revokes the former token.',
    )
  const former = serverToken.id
  const token = newToken()
  return scope.db.transaction(async (tx) => {
    const within = { ...scope, db: tx }
    await tx.query(LOCK, [])
    // The rotation before may have committed without its hook below having run: its row decides.
    const { next } = serverToken
    if (next !== undefined && next !== former && (await tx.orm.token.count({ where: { id: next } })) > 0)
      throw refused('rotated_meanwhile', 'Another request replaced it. Send the request again.')
    await lockCreator(tx, scope)
    const row = await storeAdmin(tx, token)
    serverToken.next = row.id
    const topics = await endTokens(within, former === undefined ? [] : [{ id: former }])
    await appendChange(within, {
      baseId: ACCOUNT,
      kind: 'token',
      id: row.id,
      operation: 'create',
      version: 1,
      state: toToken(row),
    })
    scope.onCommit(() => {
      for (const topic of topics) scope.caches.forget(topic)
      serverToken.id = row.id
      serverToken.replace(token)
      log.warn(
        { token_id: row.id, former },
        'the administrator token was replaced: the former one was revoked',
      )
    })
    return { ...toToken(row), token }
  })
}

const refused = (code: string, message: string) =>
  oneFault('CONFLICT', 'The administrator token of the server cannot be replaced by this request.', {
    path: '',
    code,
    message,
  })

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
      'tokens of an administrator that other starts made are valid too: `plinth token list` shows them, `plinth token revoke <id>` revokes one that no server uses',
    )
}

import { LIMITS } from '../limits.ts'
import { compileAccess } from './access.ts'
import { type Caches, openCaches } from './caches.ts'
import { type Database, openDatabase } from './db.ts'
import { expireKeys } from './idempotency.ts'
import { migrate } from './migrate.ts'
import { openTogether, type Together } from './records/together.ts'
import type { Scope, Via } from './scope.ts'
import type { Session } from './session.ts'
import { type AdminToken, authenticate, ensureAdminToken } from './tokens.ts'

export type { Scope, Via } from './scope.ts'
export type { Session } from './session.ts'

type Log = { info(fields: object, message: string): void; warn(fields: object, message: string): void }
export type EngineOptions = {
  connectionString: string
  adminToken: AdminToken
  recordBytes?: number
  log: Log
}

/** The domain, opened on one database. */
export type Engine = {
  /** The rights of a raw token; undefined when it is unknown or expired. */
  authenticate(token: string): Promise<Session | undefined>
  scope(session: Session, via: Via, requestId: string): Scope
  /** Throws when the database is not reachable. */
  ping(): Promise<void>
  close(): Promise<void>
}

const SWEEP_MS = 10 * 60_000

/** Migrates the database, opens connections and caches, and makes sure of the admin token. */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { connectionString, log } = options
  const applied = await migrate(connectionString)
  if (applied.length > 0) log.info({ migrations: applied }, 'the database was migrated')
  const database = openDatabase(connectionString, (err) =>
    log.warn({ err }, 'an idle database connection was lost'),
  )
  const caches = await openCaches(connectionString, log)
  const together = openTogether(database)
  const limits = { recordBytes: options.recordBytes ?? LIMITS.recordBytes }
  await ensureAdminToken(systemScope(database, caches, together, limits), options.adminToken)
  const sweep = setInterval(() => {
    expireKeys(database).catch((err) => log.warn({ err }, 'old idempotency keys were not swept'))
  }, SWEEP_MS).unref()
  return {
    authenticate: (token) => authenticate({ db: database, caches }, token),
    scope: (session, via, requestId) => ({
      db: database,
      caches,
      together,
      access: session.access,
      actor: { tokenId: session.tokenId, name: session.name },
      via,
      requestId,
      limits,
    }),
    ping: () => database.ping(),
    close: async () => {
      clearInterval(sweep)
      await caches.close()
      await database.close()
    },
  }
}

const systemScope = (db: Database, caches: Caches, together: Together, limits: Scope['limits']): Scope => ({
  db,
  caches,
  together,
  access: compileAccess([{ base: '*', record_type: '*', environment: '*', permission: 'admin' }]),
  actor: { tokenId: null, name: 'system' },
  via: 'system',
  requestId: 'boot',
  limits,
})

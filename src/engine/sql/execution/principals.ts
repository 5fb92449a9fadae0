/** Login roles that statements run under: one per base or change-set and set of record types, and per token for its tool calls, created on first use. */
import pg from 'pg'
import { DomainError } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { answered } from '../../storage/database/deadline.ts'
import { EVERYWHERE, type Isolation, type PrincipalRights, roleOf } from './isolation.ts'
import { dropUnusedRoles, makeRole, type Principal, prepareRoles } from './roles.ts'

export type Principals = {
  /** The role name of a scope, whether or not the role exists. */
  roleOf(reach: PrincipalRights): Promise<string>
  /** The login role of a scope. `afresh` recreates it after a failed login. */
  principal(reach: PrincipalRights, afresh?: boolean): Promise<Principal>
  /** Grants the views to the server's own login, used without login roles. */
  openToLogin(): Promise<void>
  /** Drops roles unused for a day, and roles of deleted databases. */
  sweep(): Promise<void>
}

type Options = { connectionString: string; db: Db; isolation: Isolation; timeoutMs: number }

const FIND = statement(
  'sql_principal',
  `SELECT g.password, g.used_at < now() - interval '1 hour' AS "isStale" FROM plinth.sql_grant g
   WHERE g.role = $1 AND g.base_id = $2 AND g.record_types = $3::jsonb
     AND g.token_id IS NOT DISTINCT FROM $4 AND g.change_set IS NOT DISTINCT FROM $5 AND g.password IS NOT NULL
     AND EXISTS (SELECT FROM pg_roles r WHERE r.rolname = g.role)`,
)
type Found = { password: string; isStale: boolean }

const NOTE_USE = statement(
  'sql_note_use',
  'UPDATE plinth.sql_grant SET used_at = now() WHERE role = $1 RETURNING role',
)

const IS_OPEN_TO_LOGIN = statement(
  'sql_is_open_to_login',
  'SELECT FROM plinth.sql_grant WHERE role = session_user AND base_id = $1 AND record_types = $2::jsonb',
)
const OPEN_TO_LOGIN = statement(
  'sql_open_to_login',
  `INSERT INTO plinth.sql_grant (role, base_id, record_types) VALUES (session_user, $1, $2::jsonb)
   ON CONFLICT DO NOTHING`,
)

export function openPrincipals({ connectionString, db, isolation, timeoutMs }: Options): Principals {
  const alone = <T>(work: (client: pg.Client) => Promise<T>) => whileAlone(connectionString, work)
  let ready: Promise<number> | undefined
  /** Keeps a role from being dropped as unused. A database without writes drops none. False: it was dropped. */
  const noteUse = async (role: string) => {
    try {
      return (await db.query(NOTE_USE, [role])).length > 0
    } catch (thrown) {
      if (takesWrites(thrown)) throw thrown
      return true
    }
  }
  /**
   * The OID of the database, after privileges are revoked and the group role exists. Retried after a failure.
   */
  const prepared = () => {
    ready ??= alone((client) => prepareRoles(client, isolation)).catch((thrown) => {
      ready = undefined
      throw thrown
    })
    return ready
  }
  return {
    roleOf: async (reach) => roleOf(await prepared(), reach),
    async principal(reach, afresh = false) {
      // The database may have lost what the group was granted.
      if (afresh) ready = undefined
      const database = await prepared()
      const role = roleOf(database, reach)
      const values = [role, reach.baseId, JSON.stringify(reach.recordTypes), reach.tokenId, reach.changeSet]
      const [found] = afresh ? [] : await db.query<Found>(FIND, values)
      if (found && (!found.isStale || (await noteUse(role)))) return { role, password: found.password }
      return alone((client) => makeRole(client, database, role, reach, { isolation, timeoutMs }))
    },
    openToLogin: async () => {
      const values = [EVERYWHERE.baseId, JSON.stringify(EVERYWHERE.recordTypes)]
      if ((await db.query(IS_OPEN_TO_LOGIN, values)).length === 0) await db.query(OPEN_TO_LOGIN, values)
    },
    sweep: () => alone(dropUnusedRoles),
  }
}

const takesWrites = (thrown: unknown) =>
  !(thrown instanceof DomainError) || !['disk_full', 'read_only'].includes(thrown.details[0]?.code ?? '')

/**
 * Runs work in a transaction under an advisory lock: concurrent changes to the same privilege or role fail in
 * PostgreSQL.
 */
async function whileAlone<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString,
    application_name: 'plinth-sql-roles',
    connectionTimeoutMillis: LIMITS.connectionWaitMs,
  })
  // The pending query rejects with the same error.
  client.on('error', () => {})
  await client.connect()
  const inTransaction = async () => {
    try {
      await client.query(
        `BEGIN; SET LOCAL search_path = ''; SET LOCAL lock_timeout = '10s'; SELECT pg_advisory_xact_lock(${LOCK_KEY})`,
      )
      const result = await work(client)
      await client.query('COMMIT')
      return result
    } finally {
      await client.end()
    }
  }
  return answered(client, LIMITS.sqlRoleChangeMs, inTransaction())
}

const LOCK_KEY = 7_309_453_122

/** Per-process SQL service: login roles, connections, concurrency slots and the audit log. */
import { LRUCache } from 'lru-cache'
import { DomainError } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { sqlState } from '../../database/errors.ts'
import type { Database } from '../../database/pool.ts'
import type { Prepared } from '../guard/prepare.ts'
import type { Catalog } from '../guard/relations/catalog.ts'
import { openSlots } from './concurrency-limit.ts'
import { toFailure } from './failures.ts'
import { findIsolation, type Isolation, type PrincipalScope, warningOf } from './isolation.ts'
import { openPrincipals, type Principals } from './principals.ts'
import { readOnce, type SqlRows } from './read-rows.ts'
import { openSqlSessions, type SqlSession, type SqlSessions } from './sessions.ts'
import { Stopped, withTimeout } from './timeout.ts'

/** Limits of a statement: rows, bytes of the JSON response, and time. */
export type SqlLimits = { readonly rows: number; readonly timeoutMs: number; readonly bytes: number }

type RunOptions = {
  principal: PrincipalScope
  tokenId: string
  requestId: string
  limit: number
  signal: AbortSignal | undefined
}

export type SqlRunner = {
  readonly limits: SqlLimits
  /** Cache of catalogs by base and grants, with the version of the base's types. */
  readonly catalogs: LRUCache<string, { version: string; catalog: Catalog }>
  /** The isolation level; `off` when the endpoint is disabled. */
  isolation(): Isolation | 'off'
  /**
   * Prepares and runs a statement, and writes an audit log line.
   * @throws VALIDATION_ERROR for a rejected or failed statement, RATE_LIMITED without a free slot
   */
  run(prepare: () => Promise<Prepared>, request: RunOptions): Promise<SqlRows>
  /** Drops unused roles. */
  sweep(): Promise<void>
  close(): Promise<void>
}

type Log = { info(fields: object, message: string): void; warn(fields: object, message: string): void }
type Options = { connectionString: string; db: Database; isEnabled: boolean; limits: SqlLimits; log: Log }

/** Detects the isolation level. Roles and connections are created on first use. */
export async function openSqlRunner({
  connectionString,
  db,
  isEnabled,
  limits,
  log,
}: Options): Promise<SqlRunner> {
  let isolation = await findIsolation(db)
  const warn = () => {
    const warning = isEnabled ? warningOf(isolation) : undefined
    if (warning) log.warn({ sql_isolation: isolation }, warning)
  }
  warn()
  const principals = openPrincipals({ connectionString, db, isolation, timeoutMs: limits.timeoutMs })
  const sessions = openSqlSessions(connectionString)
  const acquireSlot = openSlots(LIMITS.sqlStatements, LIMITS.sqlStatementsOfToken)
  const take = async (principal: PrincipalScope): Promise<SqlSession> => {
    if (isolation === 'parser_only') {
      const waiting = sessions.waiting(null)
      if (waiting) return waiting
      await principals.openToLogin()
      return sessions.open(null)
    }
    try {
      return await logIn(sessions, principals, principal)
    } catch (thrown) {
      if (!isRefusedLogin(thrown)) throw thrown
      // Role creation works, but login fails: a connection pooler or pg_hba.conf prevents it.
      isolation = 'parser_only'
      log.warn({ err: thrown }, 'the roles of SQL statements cannot log in')
      warn()
      return take(principal)
    }
  }
  const perform = async (statement: Prepared, request: RunOptions): Promise<SqlRows> => {
    const free = acquireSlot(request.tokenId)
    const session = await take(request.principal).catch((thrown) => {
      free()
      throw thrown
    })
    const work = readOnce(session, { ...statement, limit: request.limit, ...limits })
    const options = {
      canceller: db.canceller,
      deadlineMs: limits.timeoutMs + GRACE_MS,
      signal: request.signal,
    }
    return withTimeout(session, work, options, (isSound) => {
      sessions.give(session, isSound)
      free()
    })
  }
  return {
    limits,
    catalogs: new LRUCache({ max: MOST_CATALOGS }),
    isolation: () => (isEnabled ? isolation : 'off'),
    async run(prepare, request) {
      const begun = performance.now()
      let statement: Prepared | undefined
      const audit = (outcome: string, rows: number) => {
        const { tokenId: token, requestId, principal } = request
        const { fingerprint, relations } = statement ?? {}
        const ms = Math.round((performance.now() - begun) * 10) / 10
        log.info(
          { reqId: requestId, token, base: principal.baseId, fingerprint, relations, ms, rows, outcome },
          'sql',
        )
      }
      try {
        statement = await prepare()
        const result = await perform(statement, request)
        audit('answered', result.rows.length)
        return result
      } catch (thrown) {
        const failure = toFailure(thrown, limits.timeoutMs)
        audit(outcomeOf(thrown, failure), 0)
        throw failure
      }
    },
    sweep: () => (isEnabled && isolation !== 'parser_only' ? principals.sweep() : Promise.resolve()),
    close: () => sessions.close(),
  }
}

const MOST_CATALOGS = 100
/** Grace period after a statement timeout before the caller gets an error. */
const GRACE_MS = 1000

/** Logs in to a role; recreates it if it was dropped or its password changed since the look-up. */
async function logIn(
  sessions: SqlSessions,
  principals: Principals,
  principal: PrincipalScope,
): Promise<SqlSession> {
  const waiting = sessions.waiting(await principals.roleOf(principal))
  if (waiting) return waiting
  const login = await principals.principal(principal)
  try {
    return await sessions.open(login)
  } catch (thrown) {
    if (!isRefusedLogin(thrown)) throw thrown
    return sessions.open(await principals.principal(principal, true))
  }
}

const isRefusedLogin = (thrown: unknown) => sqlState(thrown)?.startsWith('28') ?? false

function outcomeOf(thrown: unknown, failure: unknown): string {
  if (thrown instanceof Stopped) return thrown.why
  return failure instanceof DomainError ? (failure.details[0]?.code ?? failure.code) : 'failed'
}

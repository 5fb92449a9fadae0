/** Per-process SQL service: login roles, connections, concurrency slots and the audit log. */

import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { DomainError } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { InfoLog } from '../../../foundation/log.ts'
import type { Scope } from '../../core/scope.ts'
import { openSlots } from '../../storage/database/concurrency-limit.ts'
import { SILENT } from '../../storage/database/deadline.ts'
import { sqlState } from '../../storage/database/errors.ts'
import type { Database } from '../../storage/database/pool.ts'
import type { QueryCanceller } from '../../storage/database/query-cancellation.ts'
import { type Freshness, NotThere, type Standby } from '../../storage/database/standby.ts'
import type { Prepared } from '../guard/prepare.ts'
import type { Catalog } from '../guard/relations/catalog.ts'
import { openSqlConnections, type SqlConnection, type SqlConnections } from './connection-pool.ts'
import { GRACE_MS, openReader, type SqlReader } from './connection-reader.ts'
import { toFailure, toUnavailable } from './failures.ts'
import { findIsolation, type Isolation, type PrincipalRights, warningOf } from './isolation.ts'
import { openPrincipals, type Principals } from './principals.ts'
import { readOnce, type SqlChunk, type SqlRows, streamAll } from './read-rows.ts'
import { Stopped, withTimeout } from './timeout.ts'

/** Limits of a statement: rows, bytes of the JSON response, and time. */
export type SqlLimits = {
  readonly rows: number
  readonly timeoutMs: number
  readonly bytes: number
  /** Rows that one statement may write. */
  readonly writeRows: number
}

type RunOptions = {
  principal: PrincipalRights
  /** How recent what it reads on a standby must be. */
  freshness: Freshness | undefined
  tokenId: string
  requestId: string
  limit: number
  signal: AbortSignal | undefined
}

/** A server that statements run on. */
type Place = {
  readonly pool: SqlConnections
  readonly canceller: QueryCanceller
  take(principal: PrincipalRights): Promise<SqlConnection>
  /** Calls `cut` if the server is found not to answer. Returns a function to unlisten. */
  onLost?(cut: () => void): () => void
}

type ReserveOptions = Pick<RunOptions, 'principal' | 'tokenId' | 'requestId'>

/** What the audit log line of a request says. */
type Noted = Pick<Prepared, 'fingerprint' | 'relations'> & { readonly rows: number }

/** A place among the running SQL statements, with a connection to read on. */
export type SqlPlace = { readonly reader: SqlReader; readonly note: (what: Noted) => void }

export type SqlRunner = {
  readonly limits: SqlLimits
  /** Cache of catalogs by base and grants, with the version of the base's types and the bytes of their schemas. */
  readonly catalogs: LRUCache<string, { version: string; catalog: Catalog; bytes: number }>
  /** The isolation level; `off` when the endpoint is disabled. */
  isolation(): Isolation | 'off'
  /**
   * Prepares and runs a statement, and writes an audit log line.
   * @throws VALIDATION_ERROR for a rejected or failed statement, RATE_LIMITED without a free slot
   */
  run(prepare: () => Promise<Prepared>, request: RunOptions): Promise<SqlRows>
  /**
   * Prepares a statement and streams all of its rows, with a slot of those for whole results. Writes an audit log line.
   * @throws like `run`, before the first rows
   */
  stream(
    prepare: () => Promise<Prepared>,
    request: RunOptions & { signal: AbortSignal },
  ): AsyncGenerator<SqlChunk>
  /**
   * Waits for a slot, and keeps it and a connection for the statements of one request. Writes one audit log
   * line. Call it without a connection of the pool.
   * @throws RATE_LIMITED without a slot in time
   */
  reserve<T>(request: ReserveOptions, work: (place: SqlPlace) => Promise<T>): Promise<T>
  /** Drops unused roles. */
  sweep(): Promise<void>
  close(): Promise<void>
}

/** The services of SQL of a scope, which only knows that it has them. */
export const runnerOf = ({ sql }: Pick<Scope, 'sql'>): SqlRunner => sql as SqlRunner
export const placeOf = ({ sqlPlace }: Pick<Scope, 'sqlPlace'>): SqlPlace | undefined =>
  sqlPlace as SqlPlace | undefined

type Options = {
  connectionString: string
  db: Database
  standby: Standby | undefined
  isEnabled: boolean
  limits: SqlLimits
  log: InfoLog
}

/** Detects the isolation level. Roles and connections are created on first use. */
export async function openSqlRunner({
  connectionString,
  db,
  standby,
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
  const pool = openSqlConnections(connectionString)
  const slots = openSlots(LIMITS.sqlStatements, LIMITS.sqlStatementsOfToken)
  /** Tells the views the change-set, each time: nothing that ran before on the connection counts. */
  const showing = async (connection: SqlConnection, { changeSet }: PrincipalRights, of = pool) => {
    try {
      await connection.client.query(SET_CHANGE_SET, [changeSet ?? ''])
      return connection
    } catch (thrown) {
      of.give(connection, false)
      throw thrown
    }
  }
  const take = async (principal: PrincipalRights): Promise<SqlConnection> => {
    if (isolation === 'parser_only') {
      const waiting = pool.waiting(null)
      if (!waiting) await principals.openToLogin()
      return showing(waiting ?? (await pool.open(null)), principal)
    }
    try {
      return await logIn(pool, principals, principal)
    } catch (thrown) {
      if (!isRefusedLogin(thrown)) throw thrown
      // Role creation works, but login fails: a connection pooler or pg_hba.conf prevents it.
      isolation = 'parser_only'
      log.warn({ err: thrown }, 'the roles of SQL statements cannot log in')
      warn()
      return take(principal)
    }
  }
  const here: Place = { pool, canceller: db.canceller, take }
  const there =
    standby &&
    placeOn(standby, async (of, principal) => {
      if (isolation === 'parser_only') {
        const waiting = of.waiting(null)
        if (!waiting) await principals.openToLogin()
        return showing(waiting ?? (await of.open(null)), principal, of)
      }
      // Roles are made on the primary. The standby has one a moment later, and until then does not know it.
      return of.waiting(await principals.roleOf(principal)) ?? of.open(await principals.principal(principal))
    })
  const deadlineMs = limits.timeoutMs + GRACE_MS
  /** Takes a connection within the time of a statement. One that comes later is for the next, and only then frees the slot. */
  const takeInTime = async (
    principal: PrincipalRights,
    free: () => void,
    { take, pool }: Place = here,
  ): Promise<SqlConnection> => {
    const taking = take(principal)
    const late = new AbortController()
    const tooLate = sleep(deadlineMs, undefined, { signal: late.signal }).then(() => {
      throw new Error(SILENT)
    })
    try {
      return await Promise.race([taking, tooLate])
    } catch (thrown) {
      void taking
        .then(
          (connection) => pool.give(connection, true),
          () => {},
        )
        .finally(free)
      throw thrown instanceof NotThere ? thrown : toUnavailable(thrown)
    } finally {
      late.abort()
    }
  }
  const performOn = async (
    place: Place,
    statement: Prepared,
    request: RunOptions,
    free: () => void,
  ): Promise<SqlRows> => {
    const { pool, canceller, onLost } = place
    const connection = await takeInTime(request.principal, free, place)
    const work = readOnce(connection, { ...statement, limit: request.limit, ...limits })
    // Its slot gets free at once, for the primary.
    const unlisten = onLost?.(() => connection.socket.destroy())
    const options = { canceller, deadlineMs, signal: request.signal }
    return withTimeout(connection, work, options, (isSound) => {
      unlisten?.()
      pool.give(connection, isSound)
      free()
    })
  }
  const perform = async (statement: Prepared, request: RunOptions): Promise<SqlRows> => {
    const free = slots.take(request.tokenId)
    const { freshness } = request
    if (!standby || !there || !freshness) return performOn(here, statement, request, free)
    let slot: (() => void) | undefined = free
    return standby.read(
      freshness,
      () => {
        slot = undefined
        return performOn(there, statement, request, free)
      },
      async () => performOn(here, statement, request, slot ?? (await slots.wait(request.tokenId))),
    )
  }
  const auditor = ({ tokenId: token, requestId, principal }: ReserveOptions) => {
    const begun = performance.now()
    return (outcome: string, rows: number, statement: Partial<Prepared> | undefined) => {
      const { fingerprint, relations } = statement ?? {}
      const ms = Math.round((performance.now() - begun) * 10) / 10
      log.info(
        { reqId: requestId, token, base: principal.baseId, fingerprint, relations, ms, rows, outcome },
        'sql',
      )
    }
  }
  return {
    limits,
    catalogs: new LRUCache({
      max: LIMITS.sqlCatalogs,
      maxSize: LIMITS.sqlCatalogBytes,
      // The catalog of a very large base displaces all others.
      sizeCalculation: ({ bytes }) => Math.min(Math.max(1, bytes), LIMITS.sqlCatalogBytes),
    }),
    isolation: () => (isEnabled ? isolation : 'off'),
    async run(prepare, request) {
      const audit = auditor(request)
      let statement: Prepared | undefined
      try {
        statement = await prepare()
        const result = await perform(statement, request)
        audit('answered', result.rows.length, statement)
        return result
      } catch (thrown) {
        const failure = toFailure(thrown, limits.timeoutMs, statement?.slots)
        audit(outcomeOf(thrown, failure), 0, statement)
        throw failure
      }
    },
    async *stream(prepare, request) {
      const audit = auditor(request)
      let statement: Prepared | undefined
      let connection: SqlConnection | undefined
      let free = () => {}
      let isComplete = false
      let rows = 0
      try {
        free = await db.snapshots.slots.wait(request.tokenId)
        statement = await prepare()
        connection = await takeInTime(request.principal, () => {})
        for await (const chunk of streamAll(connection, { ...statement, ...limits }, request.signal)) {
          yield chunk
          rows += chunk.rows.length
        }
        isComplete = true
      } catch (thrown) {
        throw toFailure(thrown, limits.timeoutMs, statement?.slots)
      } finally {
        audit(isComplete ? 'answered' : 'ended', rows, statement)
        if (connection && !isComplete) void db.canceller.terminate(connection.client)
        // Its transaction is still open.
        if (connection) pool.give(connection, false)
        free()
      }
    },
    async reserve(request, work) {
      const audit = auditor(request)
      let noted: Noted | undefined
      const free = await slots.wait(request.tokenId)
      const connection = await takeInTime(request.principal, free)
      const reader = openReader(connection, { limits, canceller: db.canceller }, (isSound) => {
        pool.give(connection, isSound)
        free()
      })
      const note = (what: Noted) => {
        noted = what
      }
      try {
        const done = await work({ reader, note })
        audit('answered', noted?.rows ?? 0, noted)
        return done
      } catch (thrown) {
        audit(outcomeOf(thrown, thrown), 0, noted)
        throw thrown
      } finally {
        reader.end()
      }
    },
    sweep: () => (isEnabled && isolation !== 'parser_only' ? principals.sweep() : Promise.resolve()),
    close: async () => {
      await pool.close()
      await there?.pool.close()
    },
  }
}

/** The standby as a place. Whatever prevents a connection there, the primary is asked. */
function placeOn(
  { replica, onLost }: Standby,
  take: (pool: SqlConnections, principal: PrincipalRights) => Promise<SqlConnection>,
): Place {
  const pool = openSqlConnections(replica.connectionString)
  return {
    ...{ pool, canceller: replica.canceller, onLost },
    take: (principal) =>
      take(pool, principal).catch((cause) => {
        throw new NotThere('No connection for SQL on the standby', { cause })
      }),
  }
}

/** What the views read where there are no roles. */
const SET_CHANGE_SET = `SELECT set_config('plinth.change_set', $1, false)`

/** Logs in to a role; recreates it if it was dropped or its password changed since the look-up. */
async function logIn(
  pool: SqlConnections,
  principals: Principals,
  principal: PrincipalRights,
): Promise<SqlConnection> {
  const waiting = pool.waiting(await principals.roleOf(principal))
  if (waiting) return waiting
  const login = await principals.principal(principal)
  try {
    return await pool.open(login)
  } catch (thrown) {
    if (!isRefusedLogin(thrown) && sqlState(thrown) !== MAY_NOT_CONNECT) throw thrown
    return pool.open(await principals.principal(principal, true))
  }
}

/** The right to connect to the database was taken away. */
const MAY_NOT_CONNECT = '42501'
/** pgbouncer refuses a login that it does not know by the code of a protocol error. */
const isRefusedLogin = (thrown: unknown) =>
  sqlState(thrown)?.startsWith('28') ||
  (sqlState(thrown) === '08P01' && /authentication failed|no such user/.test(String(thrown)))

function outcomeOf(thrown: unknown, failure: unknown): string {
  if (thrown instanceof Stopped) return thrown.why
  return failure instanceof DomainError ? (failure.details[0]?.code ?? failure.code) : 'failed'
}

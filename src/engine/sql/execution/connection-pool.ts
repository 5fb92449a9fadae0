/** Connection pool of the SQL endpoint, keyed by login role. */
import type { Socket } from 'node:net'
import pg from 'pg'
import { LIMITS } from '../../../foundation/limits.ts'
import { answered } from '../../storage/database/deadline.ts'

/** A pooled connection, which runs one statement at a time. */
export type SqlConnection = {
  readonly client: pg.Client
  /** The socket; the TLS socket if TLS is used. */
  readonly socket: Socket
  readonly role: string | null
  /** Resolves when either side has closed the connection. */
  readonly ended: Promise<void>
}

type Login = { readonly role: string; readonly password: string } | null

export type SqlConnections = {
  /** Takes an idle connection of a role; null selects the server's own login. */
  waiting(role: string | null): SqlConnection | undefined
  /**
   * Opens a connection.
   * @throws the driver's error
   */
  open(login: Login): Promise<SqlConnection>
  /** Returns a connection to the pool if it is healthy; closes it otherwise. */
  give(connection: SqlConnection, isSound: boolean): void
  close(): Promise<void>
}

// Results are parsed from text, so timezone and output formats are fixed to UTC and ISO. Nested loops are
// disabled: each relation is a security-barrier view whose rows a join cannot look up by key, so a nested
// loop reads a whole relation for each row of another. The planner would choose one where it expects a single
// row, as for a type without current statistics. A plan without an alternative, as for a LATERAL subquery,
// still uses one.
const FORMS = `SET timezone = 'UTC'; SET datestyle = 'ISO'; SET intervalstyle = 'iso_8601'; SET extra_float_digits = 1;
  SET bytea_output = 'hex'; SET standard_conforming_strings = on; SET search_path = ''; SET work_mem = '16MB';
  SET lock_timeout = '500ms'; SET max_parallel_workers_per_gather = 0; SET enable_nestloop = off; SET default_transaction_read_only = on;
  SELECT session_user AS login`

export function openSqlConnections(connectionString: string): SqlConnections {
  const idle: { connection: SqlConnection; timer: NodeJS.Timeout }[] = []
  const open = new Set<SqlConnection>()
  const drop = (connection: SqlConnection) => {
    open.delete(connection)
    connection.client.end().catch(() => {})
  }
  const forget = (connection: SqlConnection) => {
    const at = idle.findIndex((each) => each.connection === connection)
    const [found] = at < 0 ? [] : idle.splice(at, 1)
    clearTimeout(found?.timer)
    return found?.connection
  }
  return {
    waiting(role) {
      const known = idle.findLast(({ connection }) => connection.role === role)
      return known && forget(known.connection)
    },
    async open(login) {
      const connection = await connect(connectionString, login)
      open.add(connection)
      void connection.ended.then(() => {
        open.delete(connection)
        forget(connection)
      })
      // The server reports the end of a connection before the socket closes. No statement can run in between.
      connection.client.on('error', () => drop(forget(connection) ?? connection))
      return connection
    },
    give(connection, isSound) {
      if (!isSound || !open.has(connection)) return drop(connection)
      const expire = () => forget(connection) && drop(connection)
      idle.push({ connection, timer: setTimeout(expire, LIMITS.sqlIdleMs).unref() })
      // The connection that has been idle longest.
      const [oldest] = idle.length > LIMITS.sqlIdleConnections ? idle : []
      if (oldest) drop(forget(oldest.connection) ?? oldest.connection)
    },
    close: async () => {
      const waiting = idle.splice(0)
      for (const { timer } of waiting) clearTimeout(timer)
      const ending = [...open].map((connection) => {
        // A connection with a running statement would process the termination message only afterwards.
        if (waiting.some((each) => each.connection === connection)) connection.client.end().catch(() => {})
        else connection.socket.destroy()
        return connection.ended
      })
      await Promise.all(ending)
    },
  }
}

async function connect(connectionString: string, login: Login): Promise<SqlConnection> {
  const url = new URL(connectionString)
  if (login) {
    url.username = login.role
    url.password = login.password
  }
  const client = new pg.Client({
    connectionString: url.href,
    application_name: APPLICATION,
    connectionTimeoutMillis: LIMITS.connectionWaitMs,
    keepAlive: true,
  })
  const ended = new Promise<void>((resolve) => client.on('end', resolve))
  // A pending query rejects with the same error; a broken idle connection is dropped.
  client.on('error', () => {})
  await client.connect()
  const set = await answered(client, LIMITS.connectionWaitMs, client.query<{ login: string }>(FORMS))
  // A connection pool may log in all of its clients as one user, whose views show nothing.
  const found = [set].flat().at(-1)?.rows[0]?.login
  if (login && found !== login.role) {
    client.end().catch(() => {})
    throw Object.assign(new Error(`The login of ${login.role} became ${found}`), { code: REFUSED_LOGIN })
  }
  const { connection } = client as unknown as { connection: { stream: Socket } }
  return { client, socket: connection.stream, role: login?.role ?? null, ended }
}

/** The SQLSTATE of a login that PostgreSQL refuses. */
const REFUSED_LOGIN = '28000'
/** `application_name` of the connections. */
const APPLICATION = 'plinth-sql'

/** Connections that statements run on, kept by the role they are logged in as. */
import type { Socket } from 'node:net'
import pg from 'pg'
import { LIMITS } from '../../../foundation/limits.ts'
import { answered } from '../../database/deadline.ts'

/** One connection. It is used by one statement at a time. */
export type SqlSession = {
  readonly client: pg.Client
  /** The socket, after TLS where there is TLS. */
  readonly socket: Socket
  readonly role: string | null
  /** Resolves once the server has closed the connection or we have. */
  readonly ended: Promise<void>
}

type Login = { readonly role: string; readonly password: string } | null

export type Sessions = {
  /** A connection that waits, under a role, or under the server's own login for null. */
  waiting(role: string | null): SqlSession | undefined
  /** A new connection. @throws the driver's error */
  open(login: Login): Promise<SqlSession>
  /** A sound connection waits for the next statement of its role; another one is closed. */
  give(session: SqlSession, isSound: boolean): void
  close(): Promise<void>
}

const MOST_IDLE = 20
const IDLE_MS = 60_000

// In UTC and ISO forms, whatever the server's defaults are: values are read from text.
// No nested loops: each relation is a view with a security barrier, whose rows no join looks up one by one, so a nested loop
// reads a whole relation for each row of another. The planner takes it where it expects one row, as it does of a type that
// was just written. Where there is no other plan, as for a LATERAL subquery, it is still taken.
const FORMS = `SET timezone = 'UTC'; SET datestyle = 'ISO'; SET intervalstyle = 'iso_8601'; SET extra_float_digits = 1;
  SET bytea_output = 'hex'; SET standard_conforming_strings = on; SET search_path = ''; SET work_mem = '16MB';
  SET lock_timeout = '500ms'; SET max_parallel_workers_per_gather = 0; SET enable_nestloop = off; SET default_transaction_read_only = on`

export function openSessions(connectionString: string): Sessions {
  const idle: { session: SqlSession; timer: NodeJS.Timeout }[] = []
  const open = new Set<SqlSession>()
  const drop = (session: SqlSession) => {
    open.delete(session)
    session.client.end().catch(() => {})
  }
  const forget = (session: SqlSession) => {
    const at = idle.findIndex((each) => each.session === session)
    const [found] = at < 0 ? [] : idle.splice(at, 1)
    clearTimeout(found?.timer)
    return found?.session
  }
  return {
    waiting(role) {
      const known = idle.findLast(({ session }) => session.role === role)
      return known && forget(known.session)
    },
    async open(login) {
      const session = await connect(connectionString, login)
      open.add(session)
      void session.ended.then(() => {
        open.delete(session)
        forget(session)
      })
      return session
    },
    give(session, isSound) {
      if (!isSound || !open.has(session)) return drop(session)
      const expire = () => forget(session) && drop(session)
      idle.push({ session, timer: setTimeout(expire, IDLE_MS).unref() })
      // The one that waits longest.
      const [oldest] = idle.length > MOST_IDLE ? idle : []
      if (oldest) drop(forget(oldest.session) ?? oldest.session)
    },
    close: async () => {
      const waiting = idle.splice(0)
      for (const { timer } of waiting) clearTimeout(timer)
      const ending = [...open].map((session) => {
        // One that still runs a statement would answer the goodbye only after it.
        if (waiting.some((each) => each.session === session)) session.client.end().catch(() => {})
        else session.socket.destroy()
        return session.ended
      })
      await Promise.all(ending)
    },
  }
}

async function connect(connectionString: string, login: Login): Promise<SqlSession> {
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
  // Whoever waits for an answer is told by the same error; an idle connection that breaks is just gone.
  client.on('error', () => {})
  await client.connect()
  await answered(client, LIMITS.connectionWaitMs, client.query(FORMS))
  const { connection } = client as unknown as { connection: { stream: Socket } }
  return { client, socket: connection.stream, role: login?.role ?? null, ended }
}

/** How the connections name themselves to the server. */
const APPLICATION = 'plinth-sql'

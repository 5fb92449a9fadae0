/** A connection of its own to the embedded PostgreSQL, for archiving and for a backup. */
import pg from 'pg'
import { LIMITS } from '../foundation/limits.ts'

export type Query = <Row>(sql: string, values?: readonly unknown[]) => Promise<Row[]>
export type Connection = { query: Query; close(): Promise<void> }

/** Opens a connection at the first statement, and again after it broke: what belongs to a session, such as a backup, ends with it. */
export function connect(url: string): Connection {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'plinth backup',
    connectionTimeoutMillis: LIMITS.clusterConnectMs,
    max: 1,
    idleTimeoutMillis: 0,
  })
  // A broken connection fails the statement that it runs; an idle one is replaced.
  pool.on('error', () => {})
  return {
    query: async <Row>(sql: string, values: readonly unknown[] = []) =>
      (await pool.query(sql, [...values])).rows as Row[],
    close: () => pool.end(),
  }
}

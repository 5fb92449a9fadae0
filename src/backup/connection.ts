/** A connection of its own to the embedded PostgreSQL, for archiving and for a backup. */
import pg from 'pg'
import { LIMITS } from '../foundation/limits.ts'

export type Query = <Row>(sql: string, values?: readonly unknown[]) => Promise<Row[]>
export type Connection = { query: Query; close(): Promise<void> }

/** Opens a connection that lasts. */
export async function connect(url: string): Promise<Connection> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'plinth backup',
    connectionTimeoutMillis: LIMITS.clusterConnectMs,
  })
  // A broken connection fails the next statement.
  client.on('error', () => {})
  await client.connect()
  return {
    query: async <Row>(sql: string, values: readonly unknown[] = []) =>
      (await client.query(sql, [...values])).rows as Row[],
    close: () => client.end().catch(() => {}),
  }
}

/** A connection that is opened when it is needed, and again after it broke. */
export function reconnecting(url: string): Connection {
  let open: Promise<Connection> | undefined
  return {
    query: async (sql, values) => {
      open ??= connect(url)
      const current = open
      try {
        return await (await current).query(sql, values)
      } catch (error) {
        open = undefined
        void current.then((each) => each.close()).catch(() => {})
        throw error
      }
    },
    close: async () => (await open?.catch(() => undefined))?.close(),
  }
}

/** What PostgreSQL counts of the statements that it runs. Free of noise: these show a regression as a small integer. */
import pg from 'pg'

export type Counts = { statements: number; rows: number; walRecords: number; walBytes: number }
export type Counter = {
  /** Brings the database to the same state for each target, and counts from nought. */
  begin(): Promise<void>
  read(): Promise<Counts>
  end(): Promise<void>
}

const REST_MS = 200
const COUNTS = `SELECT coalesce(sum(calls), 0)::float8 AS statements, coalesce(sum(rows), 0)::float8 AS rows,
    coalesce(sum(wal_records), 0)::float8 AS "walRecords", coalesce(sum(wal_bytes), 0)::float8 AS "walBytes"
  FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%'`

/** Lets PostgreSQL load the extension at its next start. */
export async function preloadCounter(databaseUrl: string): Promise<void> {
  const client = await connected(databaseUrl)
  await client.query(`ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'`)
  await client.end()
}

export async function openCounter(databaseUrl: string): Promise<Counter> {
  const client = await connected(databaseUrl)
  await client.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements')
  return {
    async begin() {
      await client.query('CHECKPOINT')
      await new Promise((resolve) => setTimeout(resolve, REST_MS))
      await client.query('SELECT pg_stat_statements_reset()')
    },
    async read() {
      const { rows } = await client.query<Counts>(COUNTS)
      return rows[0] ?? { statements: 0, rows: 0, walRecords: 0, walBytes: 0 }
    },
    end: () => client.end(),
  }
}

async function connected(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  return client
}

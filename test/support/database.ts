import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { databaseUrl, onServer } from './global-setup.ts'

export type TestDatabase = {
  url: string
  /** Queries the database directly, bypassing the product. */
  query<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>
  drop(): Promise<void>
}

/** Clones the migrated template database. */
export async function cloneDatabase(): Promise<TestDatabase> {
  const server = inject('server')
  const template = inject('template')
  const name = `${template}_${randomBytes(4).toString('hex')}`
  await onServer(server, async (admin) => {
    // PostgreSQL allows only one concurrent clone of a template.
    await admin.query('SELECT pg_advisory_lock(77)')
    // A copy of the files takes a seventh of the time of one through the log.
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`)
  })
  const pool = new pg.Pool({ connectionString: databaseUrl(server, name), max: 2 })
  pool.on('error', () => {})
  return {
    url: databaseUrl(server, name),
    query: async <Row extends object>(text: string, values: unknown[] = []) =>
      (await pool.query<Row>(text, values)).rows,
    drop: async () => {
      await pool.end()
      // Autovacuum visits each database every 15 s.
      await onServer(server, (admin) => admin.query(`DROP DATABASE ${name} WITH (FORCE)`))
    },
  }
}

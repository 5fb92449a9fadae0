import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { databaseUrl } from './global-setup.ts'

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
  const admin = new pg.Client({ connectionString: server })
  await admin.connect()
  // PostgreSQL allows only one concurrent clone of a template.
  await admin.query('SELECT pg_advisory_lock(77)')
  await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template}`)
  await admin.end()
  const pool = new pg.Pool({ connectionString: databaseUrl(server, name), max: 2 })
  pool.on('error', () => {})
  return {
    url: databaseUrl(server, name),
    query: async <Row extends object>(text: string, values: unknown[] = []) =>
      (await pool.query<Row>(text, values)).rows,
    drop: () => pool.end(),
  }
}

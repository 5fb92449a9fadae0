import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'

type Migration = { name: string; sql: string; checksum: string }

const FOLDER = new URL('../../../../prisma/migrations/', import.meta.url)
/** Advisory lock key: only one process migrates at a time. The others wait and then find nothing to apply. */
const LOCK_KEY = 7_309_453_121
// The role may limit both times.
const NO_LIMIT = 'SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0'
// A lock of the transaction: a pool in transaction mode would keep that of a session, and the next start would wait for it.
const LOCK = `BEGIN; ${NO_LIMIT}; SELECT pg_advisory_xact_lock(${LOCK_KEY})`

/** Reads the migrations of this version, in order. */
async function readMigrations(folder: URL): Promise<Migration[]> {
  const folders = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isDirectory())
  const names = folders.map((entry) => entry.name).sort()
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(`${name}/migration.sql`, folder), 'utf8')
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

// Prisma's own migration table, so that its tools read the same history.
const PREPARE = `
  CREATE SCHEMA IF NOT EXISTS plinth;
  CREATE TABLE IF NOT EXISTS plinth._prisma_migrations (
    id varchar(36) PRIMARY KEY, checksum varchar(64) NOT NULL, finished_at timestamptz, migration_name varchar(255) NOT NULL,
    logs text, rolled_back_at timestamptz, started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count integer NOT NULL DEFAULT 0)`

/**
 * Migrates the database schema to this version. Each file commits together with its row, so a killed process
 * leaves no partial migration.
 * @returns the names of the applied migrations
 * @throws when the database has an unknown migration, or one with a different text
 */
export async function migrate(connectionString: string, folder = FOLDER): Promise<string[]> {
  const connection = () => new pg.Client({ connectionString, application_name: 'plinth-migrate' })
  const [lock, client] = [connection(), connection()]
  await lock.connect()
  try {
    await lock.query(LOCK)
    await client.connect()
    await client.query(PREPARE)
    const pending = await findPending(client, folder)
    for (const migration of pending) await apply(client, migration)
    await migrateJobs(client, connectionString)
    return pending.map(({ name }) => name)
  } finally {
    await client.end()
    await lock.end()
  }
}

async function findPending(client: pg.Client, folder: URL): Promise<Migration[]> {
  const known = await readMigrations(folder)
  const { rows } = await client.query<{ migration_name: string; checksum: string }>(
    'SELECT migration_name, checksum FROM plinth._prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
  )
  for (const { migration_name, checksum } of rows) {
    const mine = known.find(({ name }) => name === migration_name)
    if (!mine)
      throw new Error(
        `The database has migration ${migration_name}, which this version does not know. Start a newer version.`,
      )
    if (mine.checksum !== checksum)
      throw new Error(
        `Migration ${migration_name} differs from the one that was applied to this database: a build between releases wrote it. Start that build again, export each base to a file, and import the files into a new data directory or database.`,
      )
  }
  return known.filter(({ name }) => !rows.some((row) => row.migration_name === name))
}

async function apply(client: pg.Client, { name, sql, checksum }: Migration): Promise<void> {
  await client.query(`BEGIN; ${NO_LIMIT}`)
  try {
    await client.query(sql)
    await client.query(
      `INSERT INTO plinth._prisma_migrations (id, checksum, finished_at, migration_name, applied_steps_count)
       VALUES (gen_random_uuid()::text, $1, now(), $2, 1)`,
      [checksum, name],
    )
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK')
    throw new Error(`Migration ${name} failed`, { cause: error })
  }
}

/**
 * Creates the tables of the job queue in the schema `graphile_worker`, unless they exist. The job runner
 * upgrades them. The caller holds the migration lock.
 */
async function migrateJobs(client: pg.Client, connectionString: string): Promise<void> {
  const { rows } = await client.query("SELECT to_regclass('graphile_worker.migrations') IS NOT NULL AS done")
  if ((rows as { done: boolean }[])[0]?.done) return
  const { runMigrations } = await import('graphile-worker')
  await runMigrations({ connectionString, maxPoolSize: 1 })
}

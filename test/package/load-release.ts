/** Makes a database as an earlier release left it: with its migrations, and rows that it had written. */
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import pg from 'pg'
import { migrate } from '../../src/engine/storage/database/migrate.ts'

/** Rows that a server with the migrations up to 0033 wrote, without its tokens. Entries of the log have an old xid. */
const RELEASE = new URL('release-0033.json', import.meta.url)
const LAST_MIGRATION = '0033'
const MIGRATIONS = fileURLToPath(new URL('../../prisma/migrations', import.meta.url))

type Release = { tables: Record<string, object[]>; sequences: Record<string, number> }

export async function loadRelease(url: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'plinth-release-'))
  for (const name of await readdir(MIGRATIONS))
    if (name.slice(0, 4) <= LAST_MIGRATION)
      await cp(join(MIGRATIONS, name), join(folder, name), { recursive: true })
  await migrate(url, pathToFileURL(`${folder}/`))
  await rm(folder, { recursive: true })

  const { tables, sequences } = JSON.parse(await readFile(RELEASE, 'utf8')) as Release
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    // Without triggers and foreign keys, so that the order of tables does not matter.
    await client.query('SET session_replication_role = replica')
    for (const [table, rows] of Object.entries(tables)) await insert(client, table, rows)
    for (const [sequence, last] of Object.entries(sequences))
      await client.query('SELECT setval($1::regclass, $2)', [`plinth.${sequence}`, last])
  } finally {
    await client.end()
  }
}

async function insert(client: pg.Client, table: string, rows: object[]): Promise<void> {
  const { rows: columns } = await client.query<{ name: string }>(
    `SELECT quote_ident(column_name) AS name FROM information_schema.columns
      WHERE table_schema = 'plinth' AND table_name = $1 AND is_generated = 'NEVER'`,
    [table],
  )
  const names = columns.map(({ name }) => name).join(', ')
  await client.query(
    `INSERT INTO plinth.${table} (${names}) OVERRIDING SYSTEM VALUE
     SELECT ${names} FROM json_populate_recordset(NULL::plinth.${table}, $1)`,
    [JSON.stringify(rows)],
  )
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { migrate } from '../../src/engine/storage/database/migrate.ts'
import { databaseUrl } from '../support/global-setup.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plinth-migrations-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function emptyDatabase(name: string): Promise<{ url: string; client: pg.Client }> {
  const admin = new pg.Client({ connectionString: inject('server') })
  await admin.connect()
  const database = `${inject('template')}_${name}`
  await admin.query(`CREATE DATABASE ${database}`)
  await admin.end()
  const url = databaseUrl(inject('server'), database)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return { url, client }
}

/** A directory with the given migrations. */
async function migrations(name: string, files: Record<string, string>): Promise<URL> {
  for (const [file, sql] of Object.entries(files)) {
    await mkdir(join(folder, name, file), { recursive: true })
    await writeFile(join(folder, name, file, 'migration.sql'), sql)
  }
  return pathToFileURL(`${join(folder, name)}/`)
}

const applied = async (client: pg.Client) =>
  (
    await client.query<{ name: string }>(
      'SELECT migration_name AS name FROM plinth._prisma_migrations ORDER BY 1',
    )
  ).rows.map(({ name }) => name)

test('three parallel migrators apply each migration once', { tags: 'full' }, async () => {
  const { url, client } = await emptyDatabase('three')
  const done = await Promise.all([migrate(url), migrate(url), migrate(url)])
  expect(done.map((names) => names.length).sort()).toEqual([0, 0, done.flat().length])
  expect(await applied(client)).toEqual(done.flat())
  await client.end()
})

test('a killed migrator leaves complete migrations only, and the next migrator continues', {
  tags: 'full',
}, async () => {
  const { url, client } = await emptyDatabase('killed')
  const files = await migrations('killed', {
    '0001_a': 'CREATE TABLE plinth.a (id int)',
    '0002_b': 'CREATE TABLE plinth.b (id int); SELECT pg_sleep(30)',
    '0003_c': 'CREATE TABLE plinth.c (id int)',
  })
  const script = `import('${pathToFileURL('src/engine/storage/database/migrate.ts').href}').then((m) => m.migrate(process.env.URL, new URL('${files.href}')))`
  const child = spawn(process.execPath, ['-e', script], {
    env: { ...process.env, URL: url },
    stdio: 'ignore',
  })
  const exists = async (table: string) =>
    (
      await client.query<{ found: boolean }>('SELECT to_regclass($1) IS NOT NULL AS found', [
        `plinth.${table}`,
      ])
    ).rows[0]?.found
  for (let tries = 0; tries < 200 && !(await exists('a')); tries++) await sleep(50)
  await sleep(200)
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(await exists('b')).toBe(false)
  expect(await applied(client)).toEqual(['0001_a'])
  // The backend of the killed migrator still sleeps and has the lock; an operator would terminate it.
  await client.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'plinth-migrate' AND datname = current_database()`,
  )
  await migrations('killed', { '0002_b': 'CREATE TABLE plinth.b (id int)' })
  expect(await migrate(url, files)).toEqual(['0002_b', '0003_c'])
  for (const table of ['a', 'b', 'c']) expect(await exists(table)).toBe(true)
  await client.end()
})

test('a failing migration is rolled back and named in the error', async () => {
  const { url, client } = await emptyDatabase('failing')
  const files = await migrations('failing', { '0001_bad': 'CREATE TABLE plinth.a (id int); SELECT 1/0' })
  await expect(migrate(url, files)).rejects.toThrow('0001_bad')
  expect(await applied(client)).toEqual([])
  expect((await client.query(`SELECT to_regclass('plinth.a') AS found`)).rows[0]?.found).toBeNull()
  await client.end()
})

test('a database with a changed or unknown migration is refused', { tags: 'full' }, async () => {
  const { url, client } = await emptyDatabase('newer')
  const files = await migrations('newer', { '0001_a': 'CREATE TABLE plinth.a (id int)' })
  await migrate(url, files)
  await migrations('newer', { '0001_a': 'CREATE TABLE plinth.a (id bigint)' })
  await expect(migrate(url, files)).rejects.toThrow('differs')
  await rm(join(folder, 'newer', '0001_a'), { recursive: true })
  await expect(migrate(url, files)).rejects.toThrow('newer version')
  await client.end()
})

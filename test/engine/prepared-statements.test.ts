/** What clients ask again is prepared, however much was asked before; a connection keeps a bounded part. */
import { globSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Db, shaped, statement } from '../../src/engine/storage/database/client.ts'
import { type Database, openDatabase } from '../../src/engine/storage/database/pool.ts'
import { LIMITS } from '../../src/foundation/limits.ts'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'

let clone: TestDatabase
let database: Database
beforeAll(async () => {
  clone = await cloneDatabase()
  database = openDatabase(clone.url, () => {}, { connections: 1, timeoutMs: 10_000 })
})
afterAll(async () => {
  await database.close()
  await clone.drop()
})

const PREPARED = statement(
  'prepared',
  `SELECT pg_backend_pid() AS pid, count(*)::int AS count, array_agg(statement) AS texts
   FROM pg_prepared_statements WHERE name LIKE 'shape\\_%'`,
)
type Prepared = { pid: number; count: number; texts: string[] | null }
const prepared = async () => (await database.query<Prepared>(PREPARED, []))[0] as Prepared

test.each([
  ['lists', (text: string) => database.queryCapped(shaped(text), [1], { take: () => true })],
  ['reads', (text: string) => database.query(shaped(text), [1])],
  ['transactions', (text: string) => database.statements((tx: Db) => tx.query(shaped(text), [1]))],
])('of %s', async (name, ask) => {
  const pids = new Set<number>()
  let most = 0
  for (let n = 0; n < 2 * LIMITS.statementNames + 10; n++) {
    const text = `SELECT $1::int + ${n} AS ${name}`
    await ask(text)
    await ask(text)
    if (n % 50 > 0) continue
    const { pid, count, texts } = await prepared()
    expect(texts ?? []).toContain(text)
    pids.add(pid)
    most = Math.max(most, count)
  }
  expect(pids.size).toBeGreaterThan(1)
  expect(most).toBeLessThanOrEqual(LIMITS.statementNames)
})

test('no two statements have one name, which a connection would take for one statement', () => {
  const names = globSync('src/**/*.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\b(?:statement|writeStatement)\(\s*'(\w+)'/g)].map(
      ([, name]) => name,
    ),
  )
  expect(names.filter((name, n) => names.indexOf(name) !== n)).toEqual([])
})

/** Equal reads that wait for a connection at the same time are one statement. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RowCap } from '../../src/engine/storage/database/capped-query.ts'
import { type Db, shaped, statement } from '../../src/engine/storage/database/client.ts'
import { type Database, openDatabase } from '../../src/engine/storage/database/pool.ts'
import { times } from '../support/answers.ts'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'

let clone: TestDatabase
let database: Database
let token: Db
beforeAll(async () => {
  clone = await cloneDatabase()
  // Of three connections a token has one for long statements.
  database = openDatabase(clone.url, () => {}, { connections: 3, timeoutMs: 10_000 })
  token = database.of('one')
  await database.query(statement('make', 'CREATE SEQUENCE plinth.asked'), [])
})
afterAll(async () => {
  await database.close()
  await clone.drop()
})

type Row = { n: string; k: number }
const anyRows: RowCap = { take: () => true }
/** Each run of it takes another number; its rows are 1, 2 and 3. */
const asking = shaped(`SELECT a.n, k FROM (SELECT nextval('plinth.asked') AS n) a, generate_series(1, 3) k
  WHERE $1::text IS NOT NULL ORDER BY k`)
const ask = (db: Db, value = 'a', cap = anyRows, client?: AbortController) =>
  db.queryCapped<Row>(asking, [value], cap, client && (() => client.signal))
const hold = (db: Db, seconds: number, client?: AbortController) =>
  db.queryCapped(shaped('SELECT pg_sleep($1)'), [seconds], anyRows, client && (() => client.signal))
const runOf = ({ rows }: { rows: Row[] }) => rows[0]?.n

test('reads that wait and are equal share a statement, and others have their own', async () => {
  const held = hold(token, 0.1)
  const equal = times(5, () => ask(token))
  const other = ask(token, 'b')
  const found = await Promise.all(equal)
  expect(new Set(found.map(runOf)).size).toBe(1)
  for (const { rows, isCut } of found) expect([rows.map(({ k }) => k), isCut]).toEqual([[1, 2, 3], false])
  expect(runOf(await other)).not.toBe(runOf(found[0] as never))
  expect(runOf(await ask(token))).not.toBe(runOf(found[0] as never))
  await held
})

test('a read of another token has a statement of its own', async () => {
  const other = database.of('two')
  const held = [hold(token, 0.1), hold(other, 0.1)]
  const [one, two] = await Promise.all([ask(token), ask(other)])
  expect(runOf(one)).not.toBe(runOf(two))
  await Promise.all(held)
})

test('each has as many rows as it has room for', async () => {
  const most = (rows: number): RowCap => ({ take: () => rows-- > 0 })
  const held = hold(token, 0.1)
  const found = await Promise.all([ask(token), ask(token, 'a', most(1)), ask(token, 'a', most(3))])
  expect(new Set(found.map(runOf)).size).toBe(1)
  expect(found.map(({ rows, isCut }) => [rows.length, isCut])).toEqual([
    [3, false],
    [1, true],
    [3, false],
  ])
  await held
})

test('when the client of the first disconnects while it waits, the others read by themselves', {
  tags: 'full',
}, async () => {
  const held = hold(token, 0.5)
  const client = new AbortController()
  const first = ask(token, 'gone', anyRows, client)
  const others = times(3, () => ask(token, 'gone'))
  client.abort()
  await expect(first).rejects.toThrow('closed the connection')
  const found = await Promise.all(others)
  expect(new Set(found.map(runOf)).size).toBe(1)
  await held
})

test('those that wait for a failing statement have its error, and the next read has its own', async () => {
  const fails = shaped('SELECT 1 / (5 - $1::int) AS n')
  const held = hold(token, 0.1)
  const all = await Promise.allSettled(times(3, () => token.queryCapped(fails, [5], anyRows)))
  expect(all.map(({ status }) => status)).toEqual(times(3, () => 'rejected'))
  await held
  expect((await token.queryCapped(fails, [4], anyRows)).rows).toEqual([{ n: 1 }])
})

test('a read sees each write that was acknowledged before it was asked', { tags: 'full' }, async () => {
  const [write, read] = [
    statement('set_seen', 'UPDATE plinth.seen SET n = $1'),
    shaped('SELECT n FROM plinth.seen WHERE $1::text IS NOT NULL'),
  ]
  await database.query(statement('make_seen', 'CREATE TABLE plinth.seen AS SELECT 0 AS n'), [])
  let acknowledged = 0
  let isOver = false
  const readers = times(12, async () => {
    while (!isOver) {
      const before = acknowledged
      const { rows } = await token.queryCapped<{ n: number }>(read, ['a'], anyRows)
      expect(rows[0]?.n).toBeGreaterThanOrEqual(before)
    }
  })
  for (let n = 1; n <= 300; n++) {
    await database.query(write, [n])
    acknowledged = n
  }
  isOver = true
  await Promise.all(readers)
})

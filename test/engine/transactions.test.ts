/** Transactions of the ORM and the statements that run on their connections. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { statement } from '../../src/engine/storage/database/client.ts'
import { type Database, openDatabase } from '../../src/engine/storage/database/pool.ts'
import { times } from '../support/answers.ts'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'

let clone: TestDatabase
let database: Database
beforeAll(async () => {
  clone = await cloneDatabase()
  database = openDatabase(clone.url, () => {}, { connections: 4, timeoutMs: 10_000 })
})
afterAll(async () => {
  await database.close()
  await clone.drop()
})

const INSERT = statement(
  'insert_base',
  `INSERT INTO plinth.base (id, name, environment, settings, version, types_version) VALUES ($1, $1, 'production', '{}', 1, 1)`,
)
const COUNT = statement('count_base', 'SELECT count(*)::int AS n FROM plinth.base WHERE id = $1')
const count = async (id: string, db: Pick<Database, 'query'> = database) =>
  (await db.query<{ n: number }>(COUNT, [id]))[0]?.n

test('statements and the ORM see the same transaction, and are rolled back together', async () => {
  const failed = database.transaction(async (tx) => {
    await tx.query(INSERT, ['one'])
    expect(await tx.orm.base.count({ where: { id: 'one' } })).toBe(1)
    expect(await count('one')).toBe(0)
    throw new Error('rolled back')
  })
  await expect(failed).rejects.toThrow('rolled back')
  expect(await count('one')).toBe(0)
  await database.transaction((tx) => tx.query(INSERT, ['one']))
  expect(await count('one')).toBe(1)
})

test('transactions at once have a connection each', { tags: 'full' }, async () => {
  const ids = times(20, (n) => `many${n}`)
  const work = ids.map((id, n) =>
    database.transaction(async (tx) => {
      await tx.query(INSERT, [id])
      await tx.orm.base.update({ where: { id }, data: { name: `name of ${id}` } })
      if (n % 2) throw new Error('odd')
      return count(id, tx)
    }),
  )
  const done = await Promise.allSettled(work)
  expect(done.map(({ status }) => status)).toEqual(ids.map((_, n) => (n % 2 ? 'rejected' : 'fulfilled')))
  expect(await Promise.all(ids.map((id) => count(id)))).toEqual(ids.map((_, n) => (n % 2 ? 0 : 1)))
})

test('a statement after the end of a transaction that took too long is refused, and writes nothing', {
  tags: 'full',
}, async () => {
  const late = Promise.withResolvers<unknown>()
  const hasty = openDatabase(clone.url, () => {}, { connections: 4, timeoutMs: 500 })
  onTestFinished(() => hasty.close())
  const over = hasty.transaction(async (tx) => {
    await tx.query(INSERT, ['late1'])
    await new Promise((resolve) => setTimeout(resolve, 1500))
    await tx.query(INSERT, ['late2']).then(late.resolve, late.resolve)
  })
  await expect(over).rejects.toMatchObject({ code: 'INTERNAL_ERROR' })
  expect(await late.promise).toBeInstanceOf(Error)
  expect([await count('late1'), await count('late2')]).toEqual([0, 0])
})

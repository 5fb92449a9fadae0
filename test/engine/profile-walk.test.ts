import { afterAll, beforeAll, expect, test } from 'vitest'
import { walkType } from '../../src/engine/analytics/profile/sample.ts'
import { type Database, openDatabase } from '../../src/engine/storage/database/pool.ts'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'

const MANY = 50_000

let database: TestDatabase
let db: Database
beforeAll(async () => {
  database = await cloneDatabase()
  db = openDatabase(database.url, () => {})
  await database.query(
    `INSERT INTO plinth.base (id, name, environment, settings) VALUES ('b', 'b', 'production', '{}')`,
  )
  for (const [type, count] of [
    ['none', 0],
    ['few', 2000],
    ['some', 2001],
    ['many', MANY],
  ] as const) {
    await database.query(
      `INSERT INTO plinth.record_type (base_id, id, portable_id, graphql_name, name, json_schema, timezone, display)
       VALUES ('b', $1, $1, $1, $1, '{}', 'UTC', '{}')`,
      [type],
    )
    await database.query(
      `INSERT INTO plinth.record (base_id, record_type, id, data, version)
       SELECT 'b', $1, lpad(n::text, 6, '0'), '{}', 1 FROM generate_series(0, $2::int - 1) n`,
      [type, count],
    )
  }
  await database.query('ANALYZE plinth.record')
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

const walk = async (type: string, ms: number) => {
  const { count, ids } = await walkType(db, ['b', type], ms)
  expect(new Set(ids).size).toBe(ids.length)
  return { count, ids: ids.toSorted().map(Number) }
}

test('a type of up to 2,000 records is sampled completely', async () => {
  expect(await walk('none', 0)).toEqual({ count: 0, ids: [] })
  const { count, ids } = await walk('few', 0)
  expect([count, ids.length]).toEqual([2000, 2000])
  expect((await walk('some', 0)).count).toBe(2001)
})

test('a larger type is counted exactly within the time limit, with a sample at even distances', async () => {
  const { count, ids } = await walk('many', 60_000)
  expect([count, ids.length]).toEqual([MANY, 2000])
  const gaps = ids.slice(1).map((id, i) => id - (ids[i] ?? 0))
  expect(Math.max(...gaps, ids[0] ?? 0, MANY - (ids.at(-1) ?? 0))).toBeLessThan(300)
})

test('a type that exceeds the time limit is estimated, with a sample from both ends', async () => {
  const { count, ids } = await walk('many', 0)
  // The estimate of the planner, current after ANALYZE.
  expect(Math.abs(count - MANY)).toBeLessThan(MANY / 10)
  expect(ids).toHaveLength(2000)
  expect(ids[0]).toBeLessThan(500)
  expect(ids.at(-1)).toBeGreaterThan(MANY - 1000)
})

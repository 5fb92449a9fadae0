/** The connections of the job runner: a second release by its library has no effect. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openJobPool } from '../../src/engine/jobs/runner.ts'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await cloneDatabase()
})
afterAll(() => database.drop())

test('a connection that is released twice is free once, and lent to one', async () => {
  const pool = openJobPool(database.url, 1, { warn: () => {} } as never)
  const releases = await new Promise<(() => void)[]>((resolve, reject) => {
    pool.connect((error, client, release) => (client ? resolve([release, release]) : reject(error)))
  })
  for (const release of releases) expect(release).not.toThrow()
  const client = await pool.connect()
  expect(pool).toMatchObject({ totalCount: 1, idleCount: 0, waitingCount: 0 })
  for (const release of releases) release()
  expect(pool.idleCount, 'a late release frees nothing').toBe(0)
  client.release()
  await pool.end()
})

test('a connection asked of a closed pool is an error without a release function', async () => {
  const pool = openJobPool(database.url, 1, { warn: () => {} } as never)
  await pool.end()
  const given = await new Promise<unknown[]>((resolve) => pool.connect((...all) => resolve(all)))
  expect(given[0]).toBeInstanceOf(Error)
  expect(given.slice(1).filter(Boolean), 'no connection, and nothing to release').toEqual([])
})

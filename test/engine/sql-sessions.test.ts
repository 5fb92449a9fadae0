/** The connection pool of SQL statements: a connection that the server ends is not used again. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSqlConnections } from '../../src/engine/sql/execution/connection-pool.ts'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await cloneDatabase()
})
afterAll(() => database.drop())

test('an idle connection that the server ends is not taken again, also before its socket closes', async () => {
  const sessions = openSqlConnections(database.url)
  const session = await sessions.open(null)
  const { rows } = await session.client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  sessions.give(session, true)
  let hasEnded = false
  void session.ended.then(() => {
    hasEnded = true
  })
  const taken = new Promise((resolve) => {
    session.client.on('error', () => resolve({ hasEnded, waiting: sessions.waiting(null) }))
  })
  await database.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid])
  expect(await taken).toEqual({ hasEnded: false, waiting: undefined })
  await session.ended
  const fresh = await sessions.open(null)
  sessions.give(fresh, true)
  expect(sessions.waiting(null)).toBe(fresh)
  sessions.give(fresh, true)
  await sessions.close()
})

/** Reads that are cancelled at any moment, beside other reads on the same connections. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Db, statement } from '../../src/engine/storage/database/client.ts'
import { type Database, openDatabase } from '../../src/engine/storage/database/pool.ts'
import { LIMITS } from '../../src/foundation/limits.ts'
import { sleep, times } from '../support/answers.ts'
import { cases } from '../support/cases.ts'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'

let database: TestDatabase
let db: Database
beforeAll(async () => {
  database = await cloneDatabase()
  db = openDatabase(database.url, () => {})
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

const LAST = statement('last', `SELECT 'done' AS said FROM pg_sleep($1 / 1000.0)`)
const last = (ms: number, closed?: () => AbortSignal, on: Db = db) =>
  on.query<{ said: string }>(LAST, [ms], closed).then(
    ([row]) => row?.said,
    (thrown: { details?: { code: string }[] }) => thrown.details?.[0]?.code ?? String(thrown),
  )

test('a read cancelled near its end affects no other read and closes no connection', {
  tags: 'sampled',
}, async () => {
  const backends = async () => {
    const found = await database.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE application_name = 'plinth' AND datname = current_database() ORDER BY pid`,
    )
    return found.map(({ pid }) => pid)
  }
  // Opens all connections of the pool, in parts of their own, as each part has a share only.
  await Promise.all(times(LIMITS.databaseConnections, () => last(500, undefined, db.part())))
  const before = await backends()
  expect(before).toHaveLength(LIMITS.databaseConnections)

  const about = () => LIMITS.watchAfterMs - 5 + Math.random() * 20
  const lanes = times(8, async () => {
    const said: (string | undefined)[] = []
    for (const n of times(cases(30), (n) => n)) {
      const gone = new AbortController()
      void sleep(about()).then(() => gone.abort())
      // A third ends long before it is cancelled, a third would end long after, on a slow machine too.
      const around = [0, -LIMITS.watchAfterMs, LIMITS.watchAfterMs * 10][n % 3] ?? 0
      said.push(await last(Math.max(about() + around, 0), () => gone.signal))
    }
    return said
  })
  let isOver = false
  const part = db.part()
  const others = times(4, async () => {
    const said = new Set<string | undefined>()
    while (!isOver) said.add(await last(Math.random() * 5, undefined, part))
    return [...said]
  })
  const said = (await Promise.all(lanes)).flat()
  isOver = true
  expect(await Promise.all(others)).toEqual(times(4, () => ['done']))
  expect([...new Set(said)].sort()).toEqual(['abandoned', 'done'])
  expect(await backends(), 'no connection was opened again').toEqual(before)
})

test('a read in a transaction is not cancelled', { tags: 'full' }, async () => {
  const gone = AbortSignal.abort()
  const work = db.statements(async (tx) => {
    await tx.query(LAST, [LIMITS.watchAfterMs * 2], () => gone)
    return 'done'
  })
  expect(await work).toBe('done')
})

test('a failed statement leaves its connection usable', async () => {
  const BACKEND = statement('backend', 'SELECT pg_backend_pid() AS pid, 1 / $1::int AS one')
  const parts = times(LIMITS.databaseConnections, () => db.part())
  const pids = async () =>
    (await Promise.all(parts.map((part) => part.query<{ pid: number }>(BACKEND, [1]))))
      .map(([row]) => row?.pid)
      .sort((a, b) => (a ?? 0) - (b ?? 0))
  const before = await pids()
  for (const failed of await Promise.allSettled(parts.map((part) => part.query(BACKEND, [0]))))
    expect(failed.status).toBe('rejected')
  expect(await pids()).toEqual(before)
})

// @module-tag full
/** A network that drops connections without closing them: idle listening connections must detect it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../../support/answers.ts'
import { cloneDatabase, type TestDatabase } from '../../support/database.ts'
import { openProxy } from '../../support/proxy.ts'
import { openServer, type TestServer } from '../../support/server.ts'

let database: TestDatabase
let proxy: Awaited<ReturnType<typeof openProxy>>
let server: TestServer
beforeAll(async () => {
  database = await cloneDatabase()
  proxy = await openProxy(database.url)
  server = await openServer({ DATABASE_URL: proxy.url, PLINTH_REQUEST_TIMEOUT_MS: '1000' }, database)
  succeed(await server.call('PUT', '/v1/bases/crm', {}), 201)
  succeed(await server.call('PUT', '/v1/crm/record-types/task', {}), 201)
  succeed(await server.call('PUT', '/v1/crm/records/task/a', { data: { n: 1 } }), 201)
})
afterAll(async () => {
  await server.close()
  await proxy.close()
  await database.drop()
})

const WITHIN = { timeout: 25_000, interval: 200 }
const isReady = () => expect.poll(async () => (await server.call('GET', '/readyz')).status, WITHIN).toBe(200)

test('a server listens again after a silent connection loss', async () => {
  const listening = async () =>
    (
      await database.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'plinth-notices'`,
      )
    ).map(({ pid }) => pid)
  const before = await listening()
  proxy.forget()
  await expect.poll(() => server.log.join(''), WITHIN).toContain('a database connection was lost')
  const isNew = async () => (await listening()).some((pid) => !before.includes(pid))
  await expect.poll(isNew, WITHIN).toBe(true)
})

test('a server runs jobs again after a silent connection loss', async () => {
  proxy.forget()
  await isReady()
  const indexes = [{ fields: ['data.n'] }]
  const declare = () => server.call('PUT', '/v1/crm/record-types/task', { indexes })
  await expect.poll(async () => (await declare()).status, WITHIN).toBe(200)
  const status = async () =>
    succeed(await server.call('GET', '/v1/crm/record-types/task')).indexes[0].status as string
  await expect.poll(status, WITHIN).toBe('ready')
})

// @module-tag full
/** The log of an outage of the database: a line when it begins, a line when it ends, and no stacks. */
import { expect, test } from 'vitest'
import { expectFailure, succeed } from '../../support/answers.ts'
import { cloneDatabase } from '../../support/database.ts'
import { openProxy } from '../../support/proxy.ts'
import { openServer } from '../../support/server.ts'

test('an outage is logged once at its begin and once at its end, and its failed requests have no stack', {
  tags: 'full',
}, async () => {
  const database = await cloneDatabase()
  const proxy = await openProxy(database.url)
  const server = await openServer({ DATABASE_URL: proxy.url }, database)
  const lines = (msg: string) => server.log.map((line) => JSON.parse(line)).filter((line) => line.msg === msg)
  try {
    succeed(await server.call('PUT', '/v1/bases/crm', {}), 201)
    proxy.shut()
    await expect.poll(() => lines('the database is away')).toHaveLength(1)
    for (let n = 0; n < 5; n++)
      expectFailure(await server.call('PUT', `/v1/bases/b-${n}`, {}), 'INTERNAL_ERROR')
    expect((await server.call('GET', '/readyz')).status).toBe(503)
    proxy.open()
    await expect.poll(() => lines('the database is back')).toHaveLength(1)
    expect(lines('the database is back')[0]).toMatchObject({ level: 40, ms: expect.any(Number) })
    expect(lines('the database is away')).toEqual([expect.objectContaining({ level: 50 })])

    const failed = lines('The database is not reachable. Try again shortly.')
    expect(failed).toHaveLength(5)
    for (const line of failed)
      expect(line).toMatchObject({ level: 40, reqId: expect.any(String), cause: expect.any(String) })
    expect(server.log.filter((line) => line.includes('"stack"'))).toEqual([])
    await expect.poll(async () => (await server.call('GET', '/readyz')).status).toBe(200)
    succeed(await server.call('GET', '/v1/bases/crm'))
  } finally {
    await server.close()
    await proxy.close()
    await database.drop()
  }
})

test('a single lost connection is no outage', async () => {
  const database = await cloneDatabase()
  const server = await openServer({}, database)
  try {
    await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'plinth-notices'`,
    )
    const lost = () => server.log.filter((line) => line.includes('a database connection was lost'))
    await expect.poll(lost).toHaveLength(1)
    expect(server.log.filter((line) => line.includes('"level":50') || line.includes('"stack"'))).toEqual([])
  } finally {
    await server.close()
    await database.drop()
  }
})

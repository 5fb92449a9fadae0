// @module-tag full
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openServer, type TestServer } from '../../support/server.ts'
import { until } from '../../support/until.ts'

let server: TestServer
beforeAll(async () => {
  server = await openServer()
  await server.call('PUT', '/v1/bases/crm', {})
  await server.call('PUT', '/v1/crm/record-types/deal', {})
})
afterAll(() => server.close())

const slowTurns = () =>
  server.log.filter((line) => line.includes('slow turn')).map((line) => JSON.parse(line) as SlowTurn)
type SlowTurn = { ms: number; cpu_ms: number; requests: { route: string; method: string; reqId: string }[] }

/** Blocks the event loop, which the test shares with the server. */
function holdLoop(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

test('a slow turn of the event loop is logged with the requests open in it', async () => {
  const waiting = server.call('GET', '/v1/crm/wait/deal?timeout=1', undefined, {
    'x-request-id': 'who-waits',
  })
  await sleep(300)
  holdLoop(400)
  await until(() => slowTurns().some(({ ms }) => ms >= 300))
  // The start of the server may have had a slow turn too.
  expect(slowTurns().flatMap(({ requests }) => requests)).toContainEqual({
    reqId: 'who-waits',
    method: 'GET',
    route: '/v1/:base_id/wait/:record_type',
  })
  expect((await waiting).status).toBe(200)
})

test('a slow turn of the event loop without open requests is not logged', { tags: 'full' }, async () => {
  await sleep(300)
  const before = slowTurns().length
  holdLoop(400)
  await sleep(100)
  expect(slowTurns().length).toBe(before)
})

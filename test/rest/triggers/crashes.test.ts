/** Deliveries of triggers while receivers misbehave and the server is killed. */
import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed, times } from '../../support/answers.ts'
import { CASES_TIMEOUT, cases } from '../../support/cases.ts'
import { type ChildServer, startChild } from '../../support/child-server.ts'
import { cloneDatabase } from '../../support/database.ts'
import { openReceiver, type Received, type Receiver } from '../../support/receiver.ts'
import type { Body } from '../../support/server.ts'
import { eventually, until } from '../../support/until.ts'

const WRITES = Math.min(2000, cases(300))
const WRITERS = 4
/** Deliveries of one trigger in flight, whose outcome a killed server has not stored. */
const IN_FLIGHT = 32

let database: Awaited<ReturnType<typeof cloneDatabase>>
let receiver: Receiver
let server: ChildServer
const adminToken = `plt_${randomBytes(32).toString('base64url')}`
const env = {
  PLINTH_MASTER_KEY: randomBytes(32).toString('base64'),
  PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1',
  PLINTH_WEBHOOK_SCHEDULE: '0.1',
}
const start = async (): Promise<void> => {
  server = await startChild({ database, adminToken }, env)
}
beforeAll(async () => {
  database = await cloneDatabase()
  receiver = await openReceiver()
  await start()
})
afterAll(async () => {
  await server.kill()
  await receiver.close()
  await database.drop()
})

/** What the receiver does in turn: it takes one delivery in three, and the others fail in some way. */
const MISBEHAVIOURS: ((response: ServerResponse) => void)[] = [
  (response) => response.socket?.destroy(),
  (response) => response.writeHead(500).end('no'),
  (response) => response.writeHead(302, { location: `${receiver.url}/elsewhere` }).end(),
  (response) => response.socket?.resetAndDestroy(),
  (response) => response.writeHead(200, { 'content-length': '10' }).destroy(),
  // It never answers this one.
  () => {},
]

test('no change is lost, and none that did not commit is sent, while receivers misbehave and the server is killed', {
  tags: ['full', 'sampled'],
  timeout: CASES_TIMEOUT,
}, async () => {
  const type = { json_schema: { type: 'object', properties: { n: { type: 'integer' } } } }
  succeed(await server.call('PUT', '/v1/bases/crm', {}), 201)
  succeed(await server.call('PUT', '/v1/crm/record-types/deal', type), 201)
  const trigger = { url: `${receiver.url}/bad`, record_types: ['deal'], max_attempts: 100 }
  succeed(await server.call('PUT', '/v1/crm/triggers/bad', trigger), 201)
  const taken: Received[] = []
  let turn = 0
  let hung = 0
  receiver.on('/bad', (received, response) => {
    const misbehave = turn++ % 3 === 0 ? undefined : MISBEHAVIOURS[(turn >> 1) % MISBEHAVIOURS.length]
    const isHang = misbehave === MISBEHAVIOURS.at(-1)
    // Each one that hangs takes the timeout of a request, so they are few.
    if (misbehave && !(isHang && ++hung > 3)) return misbehave(response)
    taken.push(received)
    setTimeout(() => response.writeHead(204).end(), turn % 7)
  })

  let written = 0
  const write = async (n: number): Promise<void> => {
    // A write whose answer is lost is sent again, until it is known to have committed.
    for (let isDone = false; !isDone; ) {
      const { call } = server
      const answer = await call('PUT', `/v1/crm/records/deal/r${n}`, { data: { n } }).catch(() => undefined)
      isDone = answer !== undefined && answer.status < 300
      if (n % 10 === 0)
        await call('PUT', `/v1/crm/records/deal/no${n}`, { data: { n: 'no' } }).catch(() => {})
      if (!isDone) await new Promise((resolve) => setTimeout(resolve, 50))
    }
    written++
  }
  const writers = times(WRITERS, async (writer) => {
    for (let n = writer; n < WRITES; n += WRITERS) await write(n)
  })
  const kills = [WRITES / 3, (WRITES * 2) / 3]
  for (const at of kills) {
    await until(() => written >= at && taken.length >= 3)
    await server.kill()
    await start()
  }
  await Promise.all(writers)
  const taken204 = () => new Set(taken.map(({ body }) => body.data.record.id)).size
  await until(() => taken204() === WRITES)
  await server.kill()
  await start()

  const log: Body[] = []
  for (let after = 0; ; ) {
    const { data, meta } = succeed(
      await server.call('GET', `/v1/crm/changes?record_type=deal&after=${after}&limit=1000`),
    )
    log.push(...data)
    if (!meta.has_more) break
    after = meta.next_after
  }
  expect(log).toHaveLength(WRITES)
  await eventually(async () => {
    const { meta } = succeed(
      await server.call('GET', '/v1/crm/triggers/bad/deliveries?limit=1&status=failed&include_total=true'),
    )
    const pending = succeed(
      await server.call('GET', '/v1/crm/triggers/bad/deliveries?limit=1&status=pending&include_total=true'),
    )
    return meta.total + pending.meta.total === 0 || undefined
  })
  const { meta } = succeed(await server.call('GET', '/v1/crm/triggers/bad/deliveries?include_total=true'))
  expect(meta.total).toBe(WRITES)
  const committed = new Set(log.map(({ seq }) => seq))
  const idsOf = new Map<number, Set<string>>()
  for (const { body, headers } of receiver.at('/bad')) {
    const { change_seq: seq } = body.data
    expect(committed).toContain(seq)
    idsOf.set(seq, (idsOf.get(seq) ?? new Set()).add(headers['webhook-id'] ?? ''))
  }
  expect([...idsOf.keys()].sort()).toEqual([...committed].sort())
  for (const ids of idsOf.values()) expect(ids.size).toBe(1)
  // What was taken and not stored when the server was killed is sent again, and nothing else.
  expect(taken.length - WRITES).toBeLessThanOrEqual(IN_FLIGHT * (kills.length + 1))
  expect(receiver.at('/elsewhere')).toEqual([])
})

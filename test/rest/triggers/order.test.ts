// @module-tag full
/** The order of deliveries, and servers that send none. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed, times } from '../../support/answers.ts'
import { explain, type RanStatement, statementsOf } from '../../support/query-plans.ts'
import { openReceiver, type Receiver } from '../../support/receiver.ts'
import { triggersOf } from '../../support/triggers.ts'
import { eventually } from '../../support/until.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let receiver: Receiver
let newTrigger: ReturnType<typeof triggersOf>['newTrigger']
beforeAll(async () => {
  receiver = await openReceiver()
  world = await openWorld({ PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1', PLINTH_WEBHOOK_SCHEDULE: '0.05' })
  newTrigger = triggersOf(world, receiver).newTrigger
})
afterAll(async () => {
  await world.close()
  await receiver.close()
})

test('first attempts for a record are made one after the other in the order of its changes, also of many writers at a slow receiver', {
  tags: 'full',
}, async () => {
  const { path, put, arrived } = await newTrigger()
  const records = times(6, (n) => `r${n}`)
  const open = new Map<string, number>()
  const overlaps: string[] = []
  let most = 0
  receiver.on(path, ({ body }, response) => {
    const { id, version } = body.data.record
    if (open.has(id)) overlaps.push(`${id}: ${version} while ${open.get(id)} is not answered`)
    open.set(id, version)
    most = Math.max(most, open.size)
    setTimeout(
      () => {
        if (open.get(id) === version) open.delete(id)
        response.writeHead(204).end()
      },
      // The earlier one takes longer, so that it would end after the later one.
      version % 2 ? 60 : 1,
    )
  })
  const writes = 10
  await Promise.all(
    records.flatMap((record) =>
      times(3, async (writer) => {
        for (let n = 0; n < writes; n++) await put(record, { writer, n })
      }),
    ),
  )
  const received = await arrived(records.length * 3 * writes)
  expect(overlaps).toEqual([])
  for (const record of records) {
    const own = received.filter(({ body }) => body.data.record.id === record)
    expect(own.map(({ body }) => body.data.record.version)).toEqual(times(3 * writes, (n) => n + 1))
  }
  expect(most).toBeGreaterThan(1)
})

test('a record whose receiver does not answer holds up its own later changes, and no other record', {
  tags: 'full',
}, async () => {
  const { path, put, arrived } = await newTrigger()
  let answer = () => {}
  receiver.on(path, ({ body }, response) => {
    const { id, version } = body.data.record
    if (id === 'slow' && version === 1) answer = () => void response.writeHead(204).end()
    else response.writeHead(204).end()
  })
  for (let n = 0; n < 80; n++) await put('slow', { n })
  for (let n = 0; n < 80; n++) await put(`quick${n}`, { n })
  const early = await arrived(81)
  expect(early.filter(({ body }) => body.data.record.id === 'slow')).toHaveLength(1)
  answer()
  const all = await arrived(160)
  const slow = all.filter(({ body }) => body.data.record.id === 'slow')
  expect(slow.map(({ body }) => body.data.record.version)).toEqual(times(80, (n) => n + 1))
})

test('a retry may arrive after a later change, and holds up none', async () => {
  const { path, put, arrived } = await newTrigger()
  receiver.on(path, ({ body }, response) => {
    const isFirst = body.data.record.version === 1
    const tries = receiver.at(path).filter((each) => each.body.data.record.version === 1).length
    response.writeHead(isFirst && tries === 1 ? 500 : 204).end()
  })
  await put('r1', { n: 1 })
  await put('r1', { n: 2 })
  const received = await arrived(3)
  expect(received.map(({ body }) => body.data.record.version).sort()).toEqual([1, 1, 2])
  expect(received[0]?.body.data.record.version).toBe(1)
})

test('what a process held that was killed is sent by the next one', { tags: 'full' }, async () => {
  const { id, put, arrived, recordType } = await newTrigger()
  await put('r1', { n: 1 })
  await arrived(1)
  await world.database.query(
    `INSERT INTO plinth.trigger_delivery (base_id, trigger_id, id, event, record_type, record_id, change_seq, status, next_attempt_at, is_held)
     SELECT base_id, trigger_id, 'left', event, record_type, record_id, change_seq, 'pending', now(), true
     FROM plinth.trigger_delivery WHERE base_id = 'crm' AND trigger_id = $1 AND record_type = $2`,
    [id, recordType],
  )
  await world.database.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'plinth-triggers' AND datname = current_database()`,
  )
  await arrived(2)
})

test('a look for due deliveries reads few of 100,000 that are due, also of one record', {
  tags: 'full',
}, async () => {
  const { id, one, put, path } = await newTrigger()
  receiver.on(path, (_received, response) => void setTimeout(() => response.writeHead(204).end(), 300))
  await world.database.query(
    `INSERT INTO plinth.trigger_delivery (base_id, trigger_id, id, event, record_type, record_id, change_seq, status, next_attempt_at)
     SELECT 'crm', $1, 'd' || n, 'record.created', 't', CASE WHEN n < 50000 THEN 'hot' ELSE 'r' || n END, -n, 'pending', now()
     FROM generate_series(1, 100000) n`,
    [id],
  )
  const ran = await statementsOf(async () => {
    await put('x', {})
    await new Promise((resolve) => setTimeout(resolve, 1500))
  })
  for (const name of ['due_deliveries', 'hold_deliveries', 'release_deliveries', 'store_attempts']) {
    const look = ran.find((each) => each.name.startsWith(name)) as RanStatement
    for (const statistics of [false, true]) {
      if (statistics) await world.database.query('ANALYZE plinth.trigger_delivery')
      const { widest, text } = await explain(world.database, look)
      expect(widest, `${name}\n${text}`).toBeLessThan(3000)
    }
  }
  succeed(await world.call('DELETE', one))
})

test('a server with PLINTH_DELIVERIES=off sends nothing, and does not keep others on its database from sending', {
  tags: 'full',
}, async () => {
  const settings = {
    PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1',
    PLINTH_MASTER_KEY: randomBytes(32).toString('base64'),
  }
  const quiet = await openWorld({ ...settings, PLINTH_DELIVERIES: 'off' })
  try {
    const own = triggersOf(quiet, receiver)
    const { put, one, deliveries } = await own.newTrigger({ url: `${receiver.url}/held` })
    await put('r1', { n: 1 })
    succeed(await quiet.call('POST', `${one}/test`))
    expect((await quiet.call('GET', '/readyz')).body.deliveries).toBe('off')
    expect((await world.call('GET', '/readyz')).body.deliveries).toBe('on')
    expect(quiet.log.some((line) => line.includes('PLINTH_DELIVERIES is off'))).toBe(true)
    await new Promise((resolve) => setTimeout(resolve, 1500))
    expect(receiver.at('/held')).toEqual([])
    expect(await deliveries()).toMatchObject([{ event: 'trigger.test', status: 'pending', attempts: 0 }])
    const sender = await openWorld(settings, quiet.database)
    try {
      await eventually(async () => receiver.at('/held').length === 2 || undefined)
      expect(
        receiver
          .at('/held')
          .map(({ body }) => body.type)
          .sort(),
      ).toEqual(['record.created', 'trigger.test'])
    } finally {
      await sender.close()
    }
  } finally {
    await quiet.close()
  }
})

// @module-tag full
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, sleep, succeed, times } from '../../support/answers.ts'
import { openProxy } from '../../support/proxy.ts'
import { type Answer, openServer } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

// Two servers that share only the database.
let one: World
let two: World
let at: string
beforeAll(async () => {
  one = await openWorld()
  two = await openWorld({}, one.database)
  at = `/v1/crm/records/${await one.newType()}`
})
afterAll(async () => {
  await two.close()
  await one.close()
})

const isReplay = (answer: Answer) => answer.headers.get('idempotency-replayed') === 'true'

/** Creates a record and locks its row, so that writes to it wait until `free`. */
async function hold(id: string) {
  succeed(await one.call('PUT', `${at}/${id}`, { data: { n: 0 } }), 201)
  const client = new pg.Client({ connectionString: one.database.url })
  await client.connect()
  await client.query('BEGIN')
  await client.query('SELECT 1 FROM plinth.record WHERE id = $1 FOR UPDATE', [id])
  return {
    remove: () => client.query('DELETE FROM plinth.record WHERE id = $1', [id]),
    free: async () => {
      await client.query('COMMIT')
      await client.end()
    },
  }
}

// Concurrent, because two of the tests wait for ten seconds.
describe.concurrent('A request under an idempotency key in use', () => {
  test('by another server waits, and is then a replay', async () => {
    const held = await hold('waited')
    const patch = (world: World) =>
      world.call('PATCH', `${at}/waited`, { data: { n: 1 } }, { 'idempotency-key': 'waited' })
    const all = [patch(one), patch(two), patch(one), patch(two)]
    const early = await Promise.race([...all, sleep(300).then(() => 'all wait')])
    expect(early).toBe('all wait')
    await held.free()
    const answers = await Promise.all(all)
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200])
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1)
    expect(answers.filter(isReplay)).toHaveLength(3)
    expect(succeed(await one.call('GET', `${at}/waited`)).version).toBe(2)
  })

  test('runs itself when the first request failed without a stored outcome', { tags: 'full' }, async () => {
    const held = await hold('removed')
    const patch = (world: World) =>
      world.call('PATCH', `${at}/removed`, { data: { n: 1 } }, { 'idempotency-key': 'removed' })
    const both = [patch(one), patch(two)]
    await sleep(150)
    await held.remove()
    await held.free()
    for (const answer of await Promise.all(both)) {
      expectFailure(answer, 'NOT_FOUND')
      expect(isReplay(answer)).toBe(false)
    }
    succeed(await one.call('PUT', `${at}/removed`, { data: { n: 0 } }), 201)
    const [a, b] = await Promise.all([patch(one), patch(two)])
    expect([a?.status, b?.status]).toEqual([200, 200])
    expect([a, b].filter((answer) => answer && isReplay(answer))).toHaveLength(1)
  })

  test('writes once when 64 arrive at two servers', { tags: 'full' }, async () => {
    const key = { 'idempotency-key': 'spread' }
    const body = { data: { spread: true } }
    const answers = await Promise.all(times(64, (i) => (i % 2 ? one : two).call('POST', at, body, key)))
    expect(answers.map((answer) => answer.status)).toEqual(times(64, () => 201))
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1)
    expect(answers.filter(isReplay)).toHaveLength(63)
  })

  test('is a replay for all of 32 when the database is far away', { tags: 'full' }, async () => {
    // One replay after another would take more than the wait for a connection.
    const proxy = await openProxy(one.database.url, 100)
    const far = await openServer({ DATABASE_URL: proxy.url }, one.database)
    try {
      const call = () => far.call('POST', at, { data: { far: true } }, { 'idempotency-key': 'far' })
      const answers = await Promise.all(times(32, call))
      expect(answers.map((answer) => answer.status)).toEqual(times(32, () => 201))
      expect(answers.filter(isReplay)).toHaveLength(31)
    } finally {
      await far.close()
      await proxy.close()
    }
  })

  test('writes once per key when 160 under 40 keys arrive at two servers', { tags: 'full' }, async () => {
    const send = (n: number, i: number) =>
      (i % 3 ? one : two).call('POST', at, { data: { key: n } }, { 'idempotency-key': `many-${n}` })
    const answers: Answer[] = []
    for (const round of times(4, (n) => n * 10))
      answers.push(...(await Promise.all(times(40, (i) => send(round + (i % 10), i)))))
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([201]))
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(40)
  })

  test('is 409 key_in_flight after ten seconds, at both servers', { tags: 'full' }, async () => {
    const held = await hold('slow')
    const patch = (world: World) =>
      world.call('PATCH', `${at}/slow`, { data: { n: 1 } }, { 'idempotency-key': 'slow' })
    const started = Date.now()
    const settled: Answer[] = []
    const all = [patch(one), patch(one), patch(two)].map(async (asked) => settled.push(await asked))
    while (settled.length < 2) await sleep(50)
    expect(Date.now() - started).toBeGreaterThan(8_000)
    for (const waiter of settled) {
      const { details } = expectFailure(waiter, 'CONFLICT')
      expect(details[0]).toMatchObject({ path: 'header/Idempotency-Key', code: 'key_in_flight' })
      expect(isReplay(waiter)).toBe(false)
    }
    await held.free()
    await Promise.all(all)
    const owner = settled[2] as Answer
    expect([owner.status, isReplay(owner)]).toEqual([200, false])
    const again = await patch(two)
    expect([again.status, again.text, isReplay(again)]).toEqual([200, owner.text, true])
  })
})

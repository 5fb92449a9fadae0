// @module-tag full
/** The clock of the server jumps by hours, that of the database does not: nothing acknowledged is lost, and no lease ends early. */
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { type Call, caller } from '../support/caller.ts'
import { startChild } from '../support/child-server.ts'
import { answering, openReceiver } from '../support/receiver.ts'
import { scratch } from '../support/scratch.ts'
import { lostOf, startWriting } from '../support/writing.ts'

/** Loaded into the server: its clock goes wrong by the milliseconds that a file says. */
const SHIFT = `
import { readFileSync } from 'node:fs'
const Real = Date
const by = () => { try { return Number(readFileSync(process.env.PLINTH_TEST_CLOCK, 'utf8')) || 0 } catch { return 0 } }
globalThis.Date = class extends Real {
  constructor(...args) { if (args.length === 0) super(Real.now() + by()); else super(...args) }
  static now() { return Real.now() + by() }
}
`
/** Long runs jump back too. */
const HOURS = process.env['PLINTH_TEST'] === 'long' ? [3, -3, 0] : [3]

test('writes, claims and keys outlive jumps of the clock of the server', async () => {
  const folder = await scratch('plinth-clock-')
  const [shift, clock] = [join(folder, 'shift.mjs'), join(folder, 'clock')]
  writeFileSync(shift, SHIFT)
  writeFileSync(clock, '0')
  const adminToken = `plt_${randomBytes(32).toString('base64url')}`
  const server = await startChild(
    { adminToken },
    {
      PLINTH_DATA_DIR: join(folder, 'data'),
      NODE_OPTIONS: `--import ${pathToFileURL(shift)}`,
      PLINTH_TEST_CLOCK: clock,
      PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1',
      PLINTH_WEBHOOK_SCHEDULE: '1',
    },
  )
  const receiver = await openReceiver()
  receiver.on('/down', answering(503))
  const writing = await startWriting(server)
  const { acknowledged, failures } = writing
  await expect.poll(() => acknowledged.size).toBeGreaterThan(50)
  const job = '/v1/crm/records/job'
  for (const type of ['job', 'doomed'])
    succeed(await server.call('PUT', `/v1/crm/record-types/${type}`, {}), 201)
  succeed(await server.call('PUT', `${job}/one`, { data: {} }), 201)
  const claimed = succeed(await server.call('POST', `${job}/claim`, { lease_seconds: 600 }))
  expect(claimed.data).toHaveLength(1)
  const hour = 3_600_000
  const tokenUntil = async (ms: number, name: string) => {
    const grants = [{ base: 'crm', record_type: '*', environment: '*', permission: 'read' }]
    const body = { name, grants, expires_at: new Date(Date.now() + ms).toISOString() }
    return caller(server.url, succeed(await server.call('POST', '/v1/tokens', body), 201).token)
  }
  const [short, long] = [await tokenUntil(3000, 'short'), await tokenUntil(hour, 'long')]
  const statusOf = async (call: Call) => (await call('GET', `${job}/one`)).status
  expect([await statusOf(short), await statusOf(long)]).toEqual([200, 200])
  await expect.poll(() => statusOf(short)).toBe(401)
  const key = { 'idempotency-key': 'once' }
  const made = succeed(await server.call('POST', job, { data: { n: 1 } }, key), 201)
  const trigger = '/v1/crm/triggers/down'
  const body = { record_types: ['doomed'], url: `${receiver.url}/down`, max_attempts: 2 }
  succeed(await server.call('PUT', trigger, body), 201)
  let was = 0
  for (const hours of HOURS) {
    for (const id of ['a', 'b']) await server.call('PUT', `/v1/crm/records/doomed/${id}`, { data: {} })
    const statements = 'DELETE FROM doomed'
    const { plan_token } = succeed(await server.call('POST', '/v1/crm/sql/execute', { statements }))
    writeFileSync(clock, String(hours * hour))
    // The clock ahead ends a token before its time, and the clock behind revives none.
    expect([await statusOf(short), await statusOf(long)]).toEqual([401, hours > 0 ? 401 : 200])
    // A plan ends at a jump ahead, with nothing written, and outlives one back, as long as it is true.
    const confirmed = await server.call('POST', '/v1/crm/sql/execute', { plan_token })
    const left = succeed(await server.call('GET', '/v1/crm/records/doomed')).data.length
    expect([confirmed.body.error?.details[0].code, left]).toEqual(
      hours > was ? ['plan_expired', 2] : [undefined, 0],
    )
    was = hours
    // Ids begin with the time, and never go back.
    const { id } = succeed(await server.call('POST', job, { data: {} }), 201)
    const at = Number.parseInt(id.replace('-', '').slice(0, 12), 16)
    if (hours > 0) expect(Math.round((at - Date.now()) / 3_600_000)).toBe(hours)
    const before = acknowledged.size
    await expect.poll(() => acknowledged.size).toBeGreaterThan(before + 50)
    // What is due is the database's: a test is sent at once, and a retry when its wait is over.
    const sent = succeed(await server.call('POST', `${trigger}/test`))
    const deliveries = async () => succeed(await server.call('GET', `${trigger}/deliveries`)).data
    const ofTest = ({ id }: { id: string }) => id === sent.id
    await expect.poll(async () => (await deliveries()).find(ofTest).status).toBe('dead')
    await expect
      .poll(
        async () => (await deliveries()).filter(({ attempts }: { attempts: number }) => attempts < 2).length,
      )
      .toBe(1)
    // The lease is the database's: the record is still held, and the key still answers as at first.
    const filter = { field: 'id', op: 'eq', value: 'one' }
    expect(succeed(await server.call('POST', `${job}/claim`, { filter })).data).toEqual([])
    expect(succeed(await server.call('POST', job, { data: { n: 1 } }, key), 201).id).toBe(made.id)
  }
  await writing.end()
  expect(failures).toEqual([])
  expect(await lostOf(server, acknowledged)).toEqual([])
  await server.kill()
  await receiver.close()
})

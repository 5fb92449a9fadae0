// @module-tag full
/** The loss of the primary: the standby takes over, and nothing that was acknowledged is missing anywhere. */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { type Proxy as DatabaseProxy, openProxy } from '../support/proxy.ts'
import { openReceiver } from '../support/receiver.ts'
import { openServer } from '../support/server.ts'
import { openStream } from '../support/sse.ts'
import { openPair, type Pair } from '../support/standby.ts'
import { feedOf } from '../support/writing.ts'

const WRITERS = 4
/** Writes of each before the primary dies, and after the standby has taken over. */
const BEFORE = 60
const AFTER = 30

const promote = ({ standby }: Pair) => standby.query('SELECT pg_promote()')

// [the case, how often the database is away, what happens]
test.each<[string, number, (pair: Pair, proxy: DatabaseProxy) => Promise<unknown>]>([
  [
    'the machine of the primary is lost',
    1,
    async (pair, proxy) => {
      pair.primary.signal('SIGKILL')
      proxy.shut()
      await promote(pair)
      proxy.open(pair.standby.url)
    },
  ],
  [
    'the primary hangs',
    1,
    async (pair, proxy) => {
      pair.primary.signal('SIGSTOP')
      await sleep(1000)
      proxy.shut()
      await promote(pair)
      proxy.open(pair.standby.url)
    },
  ],
  [
    // It is read-only for a while, which each failed write says.
    'the proxy leads to the standby before that may write',
    0,
    async (pair, proxy) => {
      proxy.shut()
      proxy.open(pair.standby.url)
      await sleep(1000)
      pair.primary.signal('SIGKILL')
      await promote(pair)
    },
  ],
])(
  '%s: the standby takes over, and no acknowledged write, entry of the feed or delivery is lost',
  async (_case, outages, failOver) => {
    const pair = await openPair({ isSynchronous: true })
    const proxy = await openProxy(pair.primary.url)
    const receiver = await openReceiver()
    const pool = new pg.Pool({ connectionString: pair.standby.url, max: 2 })
    pool.on('error', () => {})
    const database = {
      url: proxy.url,
      query: async <Row extends object>(text: string, values: unknown[] = []) =>
        (await pool.query<Row>(text, values)).rows,
      drop: () => pool.end(),
    }
    const settings = { PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1', PLINTH_WEBHOOK_SCHEDULE: '0.05' }
    const server = await openServer(settings, database)
    try {
      succeed(await server.call('PUT', '/v1/bases/crm', {}), 201)
      succeed(await server.call('PUT', '/v1/crm/record-types/order', {}), 201)
      const trigger = { record_types: ['order'], url: `${receiver.url}/orders` }
      succeed(await server.call('PUT', '/v1/crm/triggers/orders', trigger), 201)
      const stream = await openStream(server, '/v1/crm/changes/stream')
      const acknowledged = new Map<string, number>()
      const failures: { status: number; retries: string | null; code: string | undefined }[] = []
      let isLost = false
      let isBack = false
      const write = async (writer: number): Promise<void> => {
        for (let n = 0, after = 0; after < AFTER; n++) {
          const id = `w${writer}-${n}`
          const answer = await server.call('PUT', `/v1/crm/records/order/${id}`, { data: { n } })
          if (answer.status === 201) acknowledged.set(id, n)
          else {
            failures.push({
              status: answer.status,
              retries: answer.headers.get('retry-after'),
              code: answer.body.error?.details[0]?.code,
            })
            await sleep(50)
          }
          if (isBack && answer.status === 201) after++
          if (!isLost && n >= BEFORE) await sleep(1)
        }
      }
      const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer))
      await expect.poll(() => acknowledged.size).toBeGreaterThan(WRITERS * BEFORE)
      isLost = true
      const lostAt = performance.now()
      await failOver(pair, proxy)
      const count = acknowledged.size
      await expect.poll(() => acknowledged.size).toBeGreaterThan(count)
      const outageMs = performance.now() - lostAt
      isBack = true
      await Promise.all(writers)

      const rows = await database.query<{ id: string; n: number }>(
        `SELECT id, (data ->> 'n')::int AS n FROM plinth.record WHERE base_id = 'crm' AND record_type = 'order'`,
      )
      const kept = new Map(rows.map(({ id, n }) => [id, n]))
      expect([...acknowledged].filter(([id, n]) => kept.get(id) !== n)).toEqual([])
      // What was not acknowledged says whether it may have been written.
      expect(failures.length).toBeGreaterThan(0)
      for (const { status, retries, code } of failures)
        expect([status, retries === null]).toEqual([500, code === 'outcome_unknown'])

      const feed = await feedOf(server)
      expect(new Set(feed)).toEqual(new Set(kept.keys()))
      const streamed = () =>
        stream.events.flatMap(({ data }) => (data.record_type === 'order' ? [data.id] : []))
      await expect.poll(streamed).toHaveLength(feed.length)
      expect(streamed()).toEqual(feed)
      const delivered = () => new Set(receiver.at('/orders').map(({ body }) => body.data.record.id))
      await expect.poll(() => delivered().size, { timeout: 60_000 }).toBe(kept.size)

      const said = (msg: string) => server.log.filter((line) => line.includes(`"msg":"${msg}"`)).length
      await expect.poll(() => said('the database is back')).toBe(outages)
      expect(said('the database is away')).toBe(outages)
      expect(server.log.filter((line) => line.includes('"stack"'))).toEqual([])
      console.info(
        `${acknowledged.size} acknowledged, 0 lost; ${failures.length} failed; writes again after ${outageMs.toFixed(0)} ms`,
      )
      stream.cut()
    } finally {
      pair.primary.signal('SIGCONT')
      await server.close()
      await proxy.close()
      await receiver.close()
      await database.drop()
      await pair.close()
    }
  },
)

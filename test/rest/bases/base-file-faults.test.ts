// @module-tag full
/** An import amid others: it holds nobody up, a sweep takes none of its contents, and a crash leaves nothing of it. */
import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MARK_IMPORT, openWatermark } from '../../../src/engine/log/watermark.ts'
import { openDatabase } from '../../../src/engine/storage/database/pool.ts'
import { LIMITS } from '../../../src/foundation/limits.ts'
import { expectFailure, sleep, succeed, times } from '../../support/answers.ts'
import { exportsOf, forgedOf, linesIn, linesText, membersOf } from '../../support/base-file.ts'
import { startChild } from '../../support/child-server.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', {}), 201)
  succeed(await world.call('PUT', '/v1/crm/records/deal/d', { data: {} }), 201)
})
afterAll(() => world.close())

/** A transaction that has written to the log, as an import does for long. */
async function writing(marks: boolean, work: () => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: world.database.url })
  await client.connect()
  try {
    await client.query('BEGIN')
    if (marks) await client.query(MARK_IMPORT.text)
    await client.query(
      `INSERT INTO plinth.change (base_id, kind, id, operation, version, data, actor_name, via, request_id)
       VALUES ('unseen', 'base', 'unseen', 'create', 1, '{}', 'a', 'rest', 'r')`,
    )
    await work()
    await client.query('ROLLBACK')
  } finally {
    await client.end()
  }
}

test('the change feed of other bases goes on while a base is imported', async () => {
  const database = openDatabase(world.database.url, () => {})
  const watermark = openWatermark(database)
  const isHeld = async (): Promise<boolean> => {
    succeed(await world.call('PUT', '/v1/crm/records/deal/d', { data: { n: Math.random() } }))
    return Promise.race([watermark.next().then(() => false), sleep(1500).then(() => true)])
  }
  try {
    await writing(true, async () => expect(await isHeld()).toBe(false))
    // Another transaction holds it back: else this would prove nothing.
    await writing(false, async () => expect(await isHeld()).toBe(true))
  } finally {
    watermark.close()
    await database.close()
  }
})

test('a server that is killed amid an import leaves nothing, and the import can be made again', async () => {
  const small = membersOf(await exportsOf(world).exported('crm'))
  const [record] = linesIn(small, 'records/deal.ndjson')
  const count = 40_000
  const ids = times(count, (n) => `d${String(n).padStart(6, '0')}`)
  const changes = linesIn(small, 'changes.ndjson')
  const first = changes.find(({ kind }) => kind === 'record') as Body
  const about = JSON.parse(small.get('plinth.json')?.toString() ?? '')
  const others = changes.filter(({ kind }) => kind !== 'record')
  const made = ids.map((id, n) => ({ ...first, id, version: 1, seq: 1_000_000 + n }))
  const file = forgedOf(
    new Map([
      ...small,
      ['plinth.json', Buffer.from(JSON.stringify(about))],
      ['records/deal.ndjson', linesText(ids.map((id) => ({ ...record, id, version: 1 })))],
      ['changes.ndjson', linesText([...others, ...made])],
    ]),
  )
  const child = await startChild(world)
  const refused = exportsOf({ url: child.url, adminToken: world.adminToken })
    .imported('cut', file)
    .catch(() => 'gone')
  const rows = async () => {
    const [row] = await world.database.query<{ writers: number }>(
      `SELECT count(*)::int AS writers FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND mode = 'ShareLock'`,
    )
    return row?.writers ?? 0
  }
  for (let n = 0; n < 600 && (await rows()) === 0; n++) await sleep(50)
  expect(await rows()).toBe(1)
  await sleep(200)
  await child.kill()
  expect(await refused).toBe('gone')
  expectFailure(await world.call('GET', '/v1/bases/cut'), 'NOT_FOUND')
  for (let n = 0; n < 200 && (await rows()) > 0; n++) await sleep(50)
  expect(await world.database.query(`SELECT 1 FROM plinth.change WHERE base_id = 'cut' LIMIT 1`)).toEqual([])
  const again = succeed(await exportsOf(world).imported('cut', file), 201)
  expect(again.counts.records).toBe(count)
}, 120_000)

test('a sweep removes no content while a base is imported', async () => {
  const sha256 = 'a'.repeat(64)
  const old = new Date(Date.now() - LIMITS.unreferencedMs - 60_000).toISOString()
  const insert =
    'INSERT INTO plinth.content (sha256, bytes, stored_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING'
  await world.database.query(insert, [sha256, Buffer.from('x'), old])
  const isThere = async () =>
    (await world.database.query('SELECT 1 FROM plinth.content WHERE sha256 = $1', [sha256])).length > 0
  const sweep = async () => {
    await world.database.query(`SELECT graphile_worker.add_job('sweep_contents', '{}', job_key => 'sweep')`)
    for (let n = 0; n < 200; n++) {
      const left = await world.database.query(`SELECT 1 FROM graphile_worker.jobs WHERE key = 'sweep'`)
      if (left.length === 0) return
      await sleep(50)
    }
  }
  await writing(true, async () => {
    await sweep()
    expect(await isThere()).toBe(true)
  })
  await sweep()
  expect(await isThere()).toBe(false)
})

test('imports of one file at the same time leave it to each other', async () => {
  const { exported, imported } = exportsOf(world)
  const pad = 'x'.repeat(LIMITS.keptContentBytes)
  succeed(await world.call('PUT', '/v1/crm/records/deal/large', { data: { pad } }), 201)
  const file = await exported('crm')
  const ids = times(9, (n) => (n % 3 === 0 ? 'crm' : `same-${n}`))
  const answers = await Promise.all(ids.map((id) => imported(id, file)))
  expect(answers.map(({ status }) => status)).toEqual(ids.map((id) => (id === 'crm' ? 409 : 201)))
  expect(answers.map(({ body }) => body.counts?.records ?? 0)).toEqual(
    ids.map((id) => (id === 'crm' ? 0 : 2)),
  )
  // None of them is there to keep it.
  const left = await readdir(`${world.dataDir}/blobs`, { recursive: true })
  expect(left.filter((name) => name.includes(createHash('sha256').update(file).digest('hex')))).toEqual([])
})

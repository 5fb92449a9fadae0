// @module-tag full
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure, succeed, times } from '../../support/answers.ts'
import { holdOpen } from '../../support/holding.ts'
import { leftOver, outOfTrue, settled } from '../../support/indexes.ts'
import { SEED } from '../../support/seed.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const typePath = (id: string) => `/v1/crm/record-types/${id}`
const recordPath = (type: string, id: string) => `/v1/crm/records/${type}/${id}`

/** Inserts records in SQL, so that a build takes some time. */
const fill = (type: string, records: number, on = world) =>
  on.database.query(
    `INSERT INTO plinth.record (base_id, record_type, id, data, version)
     SELECT 'crm', $1, 'r' || i, jsonb_build_object('n', i % 97, 'd', '2026-01-0' || 1 + i % 9, 's', 'word' || i, 'u', i), 1 FROM generate_series(1, $2::int) i`,
    [type, records],
  )

const INDEXES = [
  { fields: ['data.n', { field: 'data.d', direction: 'desc' }] },
  { fields: ['status', 'data.n'] },
  { fields: ['data.u'], unique: true },
  { fields: ['data.s'], type: 'text' },
]

/** A random number generator that repeats its numbers for one seed. */
function randomly(seed: number) {
  let state = seed
  return (limit: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

/** Sends one random write; conflicts and absent records are expected. */
async function writeSomething(
  type: string,
  random: (limit: number) => number,
  serial: number,
): Promise<void> {
  const path = recordPath(type, `r${1 + random(400)}`)
  const d = `2026-02-1${random(9)}`
  const data = {
    n: random(97),
    d,
    s: `word${random(50)} more`,
    u: random(20) === 0 ? random(3000) : 10_000 + serial,
  }
  const upserts = times(3, (i) => ({
    type: 'upsert_record',
    record_type: type,
    id: `r${1 + random(400)}`,
    data: { ...data, u: 20_000 + serial + i },
  }))
  const gone = { type: 'delete_record', record_type: type, id: `r${1 + random(400)}` }
  const writes = [
    () => world.call('PUT', path, { data }),
    () => world.call('PATCH', path, { data: { n: data.n } }),
    () => world.call('PATCH', path, { data: { u: data.u, s: null } }),
    () => world.call('POST', `${path}/cancel`),
    () => world.call('POST', `${path}/restore`),
    () => world.call('DELETE', path),
    () => world.call('POST', `/v1/crm/records/${type}`, { data }),
    () => world.call('POST', '/v1/crm/batch', { operations: upserts }),
    () => world.call('POST', '/v1/crm/batch', { operations: [...upserts, gone] }),
  ]
  const answer = await (writes[random(writes.length)] as () => ReturnType<World['call']>)()
  expect([200, 201, 404, 409], answer.text).toContain(answer.status)
}

const wordsOf = (type: string) =>
  world.database.query(
    `SELECT id, field, words FROM plinth.record_text
     WHERE index_id IN (SELECT id FROM plinth.record_type_index WHERE record_type = $1) ORDER BY id, field`,
    [type],
  )

test('index entries are correct after concurrent writes during builds and changes of the type', {
  tags: 'full',
  timeout: 600_000,
}, async () => {
  const random = randomly(SEED)
  const type = await world.newType()
  await fill(type, 3000)
  const changes = [
    { indexes: INDEXES },
    { indexes: INDEXES.slice(0, 2) },
    { indexes: [...INDEXES].reverse() },
    { json_schema: { type: 'object', properties: { d: { format: 'date' } } } },
    { timezone: 'Asia/Tokyo' },
  ]
  for (const change of changes) {
    let writing = true
    let serial = 0
    const storm = Promise.all(
      times(6, async () => {
        while (writing) await writeSomething(type, random, ++serial + random(1e9))
      }),
    ).finally(() => {
      writing = false
    })
    succeed(await world.call('PATCH', `${typePath(type)}?on_invalid=allow`, change))
    const indexes = await settled(world, type)
    writing = false
    await storm
    for (const { status, unique } of indexes) if (!unique) expect(status).toBe('ready')
    expect(await outOfTrue(world, type), `after ${JSON.stringify(change)}`).toEqual([])
  }
  const words = await wordsOf(type)
  succeed(await world.call('PATCH', typePath(type), { indexes: [] }))
  succeed(await world.call('PATCH', typePath(type), { indexes: [{ fields: ['data.s'], type: 'text' }] }))
  await settled(world, type)
  expect(words.length).toBeGreaterThan(2000)
  expect(await wordsOf(type)).toEqual(words)
  // No write adds entries of a failed or removed index, so a job can delete them for good.
  await expect.poll(() => leftOver(world)).toBe(0)
})

test('an interrupted index build resumes at the next start, also when its job is locked by a dead process', {
  tags: 'full',
  timeout: 600_000,
}, async () => {
  const first = await openWorld({}, world.database)
  const type = 'interrupted'
  succeed(await first.call('PUT', typePath(type), {}), 201)
  await fill(type, 20_000)
  succeed(await first.call('PATCH', typePath(type), { indexes: INDEXES.slice(0, 1) }))
  await first.close()
  const left = await world.database.query(
    'SELECT status FROM plinth.record_type_index WHERE record_type = $1',
    [type],
  )
  expect(left).toEqual([{ status: 'building' }])
  // The state after a process was killed.
  await world.database.query(
    `UPDATE graphile_worker._private_jobs SET locked_at = now(), locked_by = 'a dead process', attempts = 1 WHERE key LIKE 'build:%'`,
  )
  const second = await openWorld({}, world.database)
  await settled(second, type)
  expect(await outOfTrue(second, type)).toEqual([])
  await second.close()
})

test('a unique index declared at one server is enforced by another that has the type cached', {
  tags: 'full',
}, async () => {
  const other = await openWorld({}, world.database)
  const type = await world.newType()
  const put = (on: World, id: string, u: number) => on.call('PUT', recordPath(type, id), { data: { u } })
  succeed(await put(other, 'a', 1), 201)
  succeed(await put(world, 'b', 2), 201)
  succeed(await world.call('PATCH', typePath(type), { indexes: [{ fields: ['data.u'], unique: true }] }))
  const race = await Promise.all(times(8, (i) => put(i % 2 ? world : other, `c${i}`, 3)))
  expect(race.map(({ status }) => status).sort()).toEqual([201, ...times(7, () => 409)])
  expect((await settled(other, type))[0].status).toBe('ready')
  expectFailure(await put(other, 'b', 1), 'CONFLICT')
  expect(await outOfTrue(world, type)).toEqual([])
  succeed(await world.call('PATCH', typePath(type), { indexes: [] }))
  succeed(await put(other, 'b', 1))
  await other.close()
})

test('a duplicate corrected during the build does not fail a unique index', { tags: 'full' }, async () => {
  const type = await world.newType()
  await fill(type, 3500)
  await world.database.query(
    `UPDATE plinth.record SET data = '{"u": 1}' WHERE record_type = $1 AND id = 'r2'`,
    [type],
  )
  // The build finds r1 and r2, and waits at r999 until r2 is corrected.
  const held = await holdOpen(world.database)
  await held.query(`SELECT FROM plinth.record WHERE record_type = $1 AND id = 'r999' FOR UPDATE`, [type])
  succeed(await world.call('PATCH', typePath(type), { indexes: [{ fields: ['data.u'], unique: true }] }))
  const found = async () => {
    const [index] = await world.database.query<{ duplicates: unknown }>(
      'SELECT duplicates FROM plinth.record_type_index WHERE record_type = $1',
      [type],
    )
    return index?.duplicates
  }
  await expect.poll(found).toEqual([{ ids: ['r1', 'r2'], values: [1] }])
  succeed(await world.call('PUT', recordPath(type, 'r2'), { data: { u: 'mended' } }))
  await held.end()
  expect((await settled(world, type))[0]).not.toHaveProperty('duplicates')
  expect(await outOfTrue(world, type)).toEqual([])
})

test('a record skipped as a duplicate is indexed when the other one changes during the build', async () => {
  const type = await world.newType()
  await fill(type, 4)
  const [first, last] = [await holdOpen(world.database), await holdOpen(world.database)]
  // The build waits at r1 until r3 has the value of r2, then at r4 for the entry of another transaction.
  await first.query('SELECT FROM plinth.record WHERE record_type = $1 AND id = $2 FOR UPDATE', [type, 'r1'])
  succeed(await world.call('PATCH', typePath(type), { indexes: [{ fields: ['data.u'], unique: true }] }))
  await expect.poll(first.waiting).toHaveLength(1)
  succeed(await world.call('PUT', recordPath(type, 'r3'), { data: { u: 2 } }))
  await last.query(
    `INSERT INTO plinth.record_index (base_id, index_id, k1, k2, k3, id, row_no, created_at, is_unique)
     SELECT 'crm', d.id, '', '', '', r.id, r.row_no, r.created_at, false
     FROM plinth.record r JOIN plinth.record_type_index d USING (base_id, record_type)
     WHERE r.record_type = $1 AND r.id = 'r4'`,
    [type],
  )
  await first.end()
  await expect.poll(last.waiting).toHaveLength(1)
  succeed(await world.call('PUT', recordPath(type, 'r3'), { data: { u: 'another' } }))
  await last.end()
  expect((await settled(world, type))[0].status).toBe('ready')
  expect(await outOfTrue(world, type)).toEqual([])
  expectFailure(await world.call('PUT', recordPath(type, 'r3'), { data: { u: 2 } }), 'CONFLICT')
})

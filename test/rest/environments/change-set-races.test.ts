// @module-tag full
/** What two transactions decide at the same moment: openings near the limit, and merges beside writers of production. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure, succeed, times } from '../../support/answers.ts'
import { holdOpen } from '../../support/holding.ts'
import { openWorld, type World } from '../../support/world.ts'

/** Fewer than the share of a token of the connections. */
const OPENERS = 4
let world: World

beforeAll(async () => {
  world = await openWorld({ PLINTH_DATABASE_CONNECTIONS: String(3 * OPENERS) })
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', {}), 201)
})
afterAll(() => world.close())

const FILL = `WITH made AS (
  INSERT INTO plinth.base (id, name, environment, production_base, settings, version, types_version)
  SELECT $1 || '--p' || n, 'p', 'preview', $1, '{}', 1, 1 FROM generate_series($2::int, $3::int) n RETURNING id)
  INSERT INTO plinth.change_set (base_id, token_id, actor_name, steps) SELECT id, $4, 'test', 1 FROM made`

/** A base with so many open change-sets, of no token. */
async function newBase(base: string, open: number): Promise<string> {
  succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
  await world.database.query(FILL, [base, 1, open, null])
  return base
}
const open = (base: string, call = world.call) => call('POST', `/v1/${base}/preview`, { copy: 'on_write' })
const openIn = async (base: string) =>
  succeed(await world.call('GET', `/v1/${base}/previews?limit=1&include_total=true`)).meta.total
/** Until so many requests wait for a lock. */
const waiting = (count: number) =>
  expect
    .poll(
      () =>
        world.database.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        ),
      { timeout: 10_000 },
    )
    .toHaveLength(count)

test('openers at once open no more change-sets than a base may have', async () => {
  const base = await newBase('full', 998)
  const other = await holdOpen(world.database)
  // An opening is logged after it has counted.
  await other.query('LOCK TABLE plinth.change IN SHARE MODE')
  const answers = times(OPENERS, () => open(base))
  await waiting(OPENERS)
  await other.end()
  const statuses = (await Promise.all(answers)).map(({ status }) => status)
  expect(statuses.sort()).toEqual([201, 201, 409, 409])
  expect(await openIn(base)).toBe(1000)
})

test('openers who counted before others came near the limit count again, and lose nothing', async () => {
  const base = await newBase('nearly', 899)
  const other = await holdOpen(world.database)
  await other.query(`SELECT pg_advisory_xact_lock(hashtextextended('base:' || $1, 0))`, [base])
  const answers = times(OPENERS, () => open(base))
  await waiting(OPENERS)
  await other.query(FILL, [base, 900, 998, null])
  await other.end('COMMIT')
  const statuses = (await Promise.all(answers)).map(({ status }) => status)
  expect(statuses.sort()).toEqual([201, 201, 409, 409])
  expect(await openIn(base)).toBe(1000)
})

test('a change-set is not opened again where the base has as many as it may', async () => {
  const base = await newBase('again', 999)
  const { id } = succeed(await open(base), 201)
  succeed(await world.call('POST', `/v1/${id}/reviews`, { verdict: 'reject' }), 201)
  const { id: last } = succeed(await open(base), 201)
  const refused = expectFailure(await world.call('POST', `/v1/${id}/reopen`, {}), 'CONFLICT')
  expect(refused.details[0]).toMatchObject({ code: 'too_many_previews', expected: 1000 })
  succeed(await world.call('DELETE', `/v1/bases/${last}`))
  expect(succeed(await world.call('POST', `/v1/${id}/reopen`, {})).change_set.status).toBe('open')
})

test('a token opens no more change-sets at once than it may, and others go on', async () => {
  const base = await newBase('ofone', 0)
  const { id: tokenId, call } = await world.newToken([
    { base, permission: 'write', environment: 'preview' },
    { base, permission: 'write', writes: 'propose' },
  ])
  await world.database.query(FILL, [base, 1, 49, tokenId])
  succeed(await world.call('PUT', `/v1/${base}/record-types/deal`, {}), 201)
  const other = await holdOpen(world.database)
  await other.query(`SELECT pg_advisory_xact_lock(hashtextextended('base:' || $1, 0))`, [base])
  const answers = times(OPENERS, () => open(base, call))
  await waiting(OPENERS)
  // They have counted before these are there.
  await other.query(FILL, [base, 50, 98, tokenId])
  await other.end('COMMIT')
  const statuses = (await Promise.all(answers)).map(({ status }) => status)
  expect(statuses.sort()).toEqual([201, 201, 409, 409])
  expect(await openIn(base)).toBe(100)
  const full = { code: 'too_many_change_sets', expected: 100 }
  // A write goes on in what is open, and opens another one beside what waits.
  await world.database.query(`UPDATE plinth.change_set SET status = 'submitted' WHERE token_id = $1`, [
    tokenId,
  ])
  const write = () => call('POST', `/v1/${base}/records/deal`, { data: {} })
  for (const refused of [await open(base, call), await write()])
    expect(expectFailure(refused, 'CONFLICT').details).toMatchObject([full])
  expect(await openIn(base)).toBe(100)
  expect(succeed(await world.call('GET', `/v1/${base}/records/deal`)).data).toEqual([])
  succeed(await open(base), 201)
  succeed(await world.call('POST', `/v1/${base}--p1/reviews`, { verdict: 'reject' }), 201)
  const proposed = succeed(await write(), 201)
  expect(proposed.change_set).toMatch(/^ofone--p-/)
  const again = await world.call('POST', `/v1/${base}--p1/reopen`, {})
  expect(expectFailure(again, 'CONFLICT').details).toMatchObject([full])
})

test('a merge writes over no relationship that production makes while it is checked', async () => {
  const ends = { source_record_types: ['deal'], target_record_types: ['deal'] }
  succeed(await world.call('PUT', '/v1/crm/relationship-types/near', ends), 201)
  for (const each of ['a', 'b', 'c'])
    succeed(await world.call('PUT', `/v1/crm/records/deal/${each}`, { data: {} }), 201)
  const { id } = succeed(await open('crm'), 201)
  const link = (base: string, data: object) =>
    world.call('POST', `/v1/${base}/relationships`, {
      ...{
        rel_type: 'near',
        source_record_type: 'deal',
        source_id: 'a',
        target_record_type: 'deal',
        target_id: 'b',
      },
      data,
    })
  const { id: drafted } = succeed(await link(id, { of: 'the change-set' }), 201)
  succeed(await world.call('PATCH', `/v1/${id}/records/deal/c`, { data: { n: 1 } }))
  const promote = () => world.call('POST', '/v1/crm/promote', { from: id })
  const other = await holdOpen(world.database)
  // The merge writes the record after its checks, and before the link.
  await other.query('LOCK TABLE plinth.record IN SHARE MODE')
  const merging = promote()
  await waiting(1)
  const { id: made } = succeed(await link('crm', { of: 'production' }), 201)
  await other.end()
  const there = { path: `/${drafted}`, code: 'exists' }
  expect(expectFailure(await merging, 'CONFLICT').details).toMatchObject([there])
  expect(succeed(await world.call('GET', `/v1/crm/relationships/${made}`))).toMatchObject({
    version: 1,
    data: { of: 'production' },
  })
  expect(succeed(await world.call('GET', '/v1/crm/records/deal/c'))).toMatchObject({ version: 1, data: {} })
  // As a merge says that begins later.
  expect(expectFailure(await promote(), 'CONFLICT').details).toMatchObject([there])
})

test('what is discarded while an index is built leaves no entry in it', async () => {
  const numbered = (more: object) =>
    world.call('PUT', '/v1/crm/record-types/numbered', {
      json_schema: { type: 'object', properties: { n: { type: 'number' } } },
      ...more,
    })
  succeed(await numbered({}), 201)
  for (const n of [1, 2, 3])
    succeed(await world.call('PUT', `/v1/crm/records/numbered/r${n}`, { data: { n } }), 201)
  const { id } = succeed(await open('crm'), 201)
  succeed(await world.call('PATCH', `/v1/${id}/records/numbered/r2`, { data: { n: 9 } }))
  const other = await holdOpen(world.database)
  // As a discard does, which ends later.
  for (const table of ['draft_record', 'draft_index', 'draft_change'])
    await other.query(`DELETE FROM plinth.${table} WHERE branch = $1`, [id])
  succeed(await numbered({ indexes: [{ fields: ['data.n'] }] }))
  await waiting(1)
  await other.end('COMMIT')
  const status = async () =>
    succeed(await world.call('GET', '/v1/crm/record-types/numbered')).indexes[0].status
  await expect.poll(status).toBe('ready')
  const list = async (query: object) => {
    const { data } = succeed(await world.call('POST', `/v1/${id}/records/numbered/query`, query))
    return data.map((record: { id: string }) => record.id)
  }
  expect(await list({ sort: [{ field: 'data.n', direction: 'asc' }] })).toEqual(['r1', 'r2', 'r3'])
  expect(await list({ filter: { field: 'data.n', op: 'gt', value: 5 } })).toEqual([])
})

// @module-tag full
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure, expectFault, sleep, succeed, times } from '../../support/answers.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

let serial = 0
/** Creates a base with a type `t`. */
async function newBase(): Promise<string> {
  const base = `kept${++serial}`
  succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
  succeed(await world.call('PUT', `/v1/${base}/record-types/t`, {}), 201)
  return base
}
const put = async (base: string, id: string, data: object, more: object = {}) => {
  const answer = await world.call('PUT', `/v1/${base}/records/t/${id}`, { data, ...more })
  expect(answer.status, answer.text).toBeLessThan(300)
}
const get = (base: string, id: string, query = '') => world.call('GET', `/v1/${base}/records/t/${id}${query}`)
const versions = async (base: string, id: string): Promise<number[]> =>
  succeed(await get(base, id, '/history')).data.map(({ version }: Body) => version)
/** Moves the log of the base so many days into the past. */
const age = (base: string, days: number) =>
  world.database.query('UPDATE plinth.change SET at = at - make_interval(days => $2) WHERE base_id = $1', [
    base,
    days,
  ])
const asOf = (daysAgo: number) => `?as_of=${new Date(Date.now() - daysAgo * 86_400_000).toISOString()}`

/** Changes the settings, which schedules a purge, and waits for its end. */
async function keep(base: string, settings: object): Promise<void> {
  succeed(await world.call('PUT', `/v1/bases/${base}`, { settings }))
  await purged()
}
async function purged(): Promise<void> {
  for (let left = 1; left > 0; await sleep(20)) {
    const [row] = await world.database.query<{ left: number }>(
      `SELECT count(*)::int AS left FROM graphile_worker.jobs WHERE task_identifier LIKE 'purge_%'`,
    )
    left = row?.left ?? 0
  }
}

test('history_days purges older versions, but keeps those needed to show any time since then', async () => {
  const base = await newBase()
  for (const n of [1, 2]) await put(base, 'a', { n })
  await put(base, 'still', { n: 1 })
  await age(base, 10)
  await put(base, 'a', { n: 3 })
  await age(base, 3)
  await put(base, 'a', { n: 4 })
  await keep(base, { history_days: 7 })
  // Version 2 was current until three days ago.
  expect(await versions(base, 'a')).toEqual([4, 3, 2])
  expect(await versions(base, 'still')).toEqual([1])
  const list = succeed(await world.call('GET', `/v1/${base}/records/t${asOf(6)}&sort=id`))
  expect(list.data.map((each: Body) => [each.id, each.version])).toEqual([
    ['a', 2],
    ['still', 1],
  ])
  expect(succeed(await get(base, 'a', asOf(1))).data).toEqual({ n: 3 })
})

test('purged versions, times and reverts are answered with "purged" or the remaining range', async () => {
  const base = await newBase()
  for (const n of [1, 2, 3]) await put(base, 'a', { n })
  await age(base, 10)
  await keep(base, { history_days: 7 })
  const gone = expectFailure(await get(base, 'a', '?version=1'), 'NOT_FOUND')
  expect(gone.details[0]).toMatchObject({ code: 'version_not_found', expected: { from: 3, to: 3 } })
  const before = expectFailure(await get(base, 'a', asOf(20)), 'NOT_FOUND')
  expect(before.details[0].code).toBe('history_purged')
  const list = expectFault(await world.call('GET', `/v1/${base}/records/t${asOf(8)}`), 'query/as_of')
  expect(list.code).toBe('history_purged')
  succeed(await world.call('GET', `/v1/${base}/records/t?as_of=${list.expected.from}`))
  const { data } = succeed(await get(base, 'a', '/history'))
  expect(data).toHaveLength(1)
  expect(data[0].diff[0]).toMatchObject({ op: 'add', path: '' })
  const revert = await world.call('POST', `/v1/${base}/changes/${data[0].seq}/revert`)
  expect(expectFailure(revert, 'NOT_FOUND').details[0].code).toBe('history_purged')
  expect(succeed(await get(base, 'a'))).toMatchObject({ version: 3, data: { n: 3 } })
})

test('after trash_days a deleted record leaves only its version number in the log', async () => {
  const base = await newBase()
  const secret = { name: 'canary-of-the-deleted' }
  await put(base, 'a', secret, { external_id: 'canary-pair' })
  await put(base, 'a', { ...secret, more: 1 })
  succeed(await world.call('DELETE', `/v1/${base}/records/t/a`))
  await age(base, 10)
  await keep(base, { history_days: 7, trash_days: 20 })
  expect(await versions(base, 'a')).toEqual([3])
  expect(succeed(await world.call('POST', `/v1/${base}/records/t/a/restore?dry_run=true`)).version).toBe(4)
  expect(succeed(await world.call('GET', `/v1/${base}/trash`)).data).toHaveLength(1)
  await keep(base, { history_days: 7, trash_days: 8 })
  expectFailure(await world.call('POST', `/v1/${base}/records/t/a/restore`), 'NOT_FOUND')
  const log = await world.database.query('SELECT c::text AS text FROM plinth.change c WHERE base_id = $1', [
    base,
  ])
  expect(JSON.stringify(log)).not.toContain('canary')
  const { data } = succeed(await get(base, 'a', '/history'))
  expect(data).toMatchObject([{ version: 3, operation: 'delete', diff: [{ op: 'remove', path: '' }] }])
  const anew = succeed(await world.call('PUT', `/v1/${base}/records/t/a`, { data: {} }), 201)
  expect(anew.version).toBe(4)
})

test('without history_days everything is kept, and a purge of one base does not affect others', async () => {
  const [forever, other] = [await newBase(), await newBase()]
  for (const base of [forever, other]) for (const n of [1, 2]) await put(base, 'a', { n })
  await age(forever, 4000)
  await age(other, 10)
  await keep(forever, { trash_days: 1 })
  await keep(await newBase(), { history_days: 1 })
  expect(await versions(forever, 'a')).toEqual([2, 1])
  expect(await versions(other, 'a')).toEqual([2, 1])
})

test('purging a long log works in batches and is idempotent under concurrent jobs', {
  tags: 'full',
}, async () => {
  const base = await newBase()
  for (const id of ['a', 'b']) await put(base, id, { n: 0 })
  await world.database.query(
    `INSERT INTO plinth.change (base_id, kind, record_type, id, operation, version, data, created_at, actor_name, via, request_id)
     SELECT $1, 'record', 't', CASE n % 2 WHEN 0 THEN 'a' ELSE 'b' END, 'update', 2 + n / 2, '{}', now(), 'x', 'rest', 'x'
     FROM generate_series(0, 2999) n`,
    [base],
  )
  await age(base, 10)
  succeed(await world.call('PUT', `/v1/bases/${base}`, { settings: { history_days: 7 } }))
  const again = `SELECT graphile_worker.add_job('purge_history', json_build_object('base', $1::text))::text`
  await Promise.all(times(4, () => world.database.query(again, [base])))
  await world.database.query(`SELECT graphile_worker.add_job('purge_histories')::text`)
  await purged()
  expect(await versions(base, 'a')).toEqual([1501])
  expect(await versions(base, 'b')).toEqual([1501])
  const left = await world.logOf('t', undefined, base)
  expect(left).toHaveLength(2)
})

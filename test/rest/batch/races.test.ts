// @module-tag full
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure, succeed, times } from '../../support/answers.ts'
import { startChild } from '../../support/child-server.ts'
import { SEED } from '../../support/seed.ts'
import type { Answer, Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const [shuffles] = [
  fc.sample(
    fc.shuffledSubarray(
      times(20, (n) => n),
      { minLength: 20 },
    ),
    { seed: SEED, numRuns: 32 },
  ),
]

const batch = (operations: unknown) => world.call('POST', '/v1/crm/batch', { operations })
const put = (record_type: string, id: string, data: object, more = {}) => ({
  type: 'upsert_record',
  record_type,
  id,
  data,
  ...more,
})

test('32 concurrent batches over the same 20 records have the result of a serial order', async () => {
  const type = await world.newType()
  const answers = await Promise.all(
    shuffles.map((order, by) =>
      batch(order.map((n) => put(type, `r${n}`, { by }, { external_id: `x${n}` }))),
    ),
  )
  for (const answer of answers) succeed(answer)
  const { data } = succeed(await world.call('GET', `/v1/crm/records/${type}`))
  expect(data).toHaveLength(20)
  expect(new Set(data.map((record: Body) => record.data.by)).size).toBe(1)
  expect(new Set(data.map((record: Body) => record.version))).toEqual(new Set([32]))
  const log = await world.logOf(type)
  expect(log).toHaveLength(20 * 32)
})

test('32 concurrent upserts by id alone write each record 32 times, new records included', async () => {
  const type = await world.newType()
  succeed(await batch(times(10, (n) => put(type, `r${n}`, { by: -1 }))))
  const answers = await Promise.all(
    shuffles.map((order, by) => batch(order.map((n) => put(type, `r${n}`, { by })))),
  )
  const did = answers.flatMap((answer) => succeed(answer).data.map(({ operation }: Body) => operation))
  expect(did.filter((operation) => operation === 'created')).toHaveLength(10)
  expect(did.filter((operation) => operation === 'updated')).toHaveLength(32 * 20 - 10)
  const versions = new Map<string, number>()
  for (const { id, version } of await world.logOf(type)) {
    expect(version).toBe((versions.get(id) ?? 0) + 1)
    versions.set(id, version)
  }
  expect([...versions.values()].sort()).toEqual([...times(10, () => 32), ...times(10, () => 33)])
})

test('concurrent batches, single writes and deletions log consecutive versions of each record', async () => {
  const type = await world.newType()
  const path = (n: number) => `/v1/crm/records/${type}/r${n}`
  const answers = await Promise.all(
    shuffles.flatMap((order, by) => [
      batch(order.slice(0, 8).map((n) => put(type, `r${n}`, { by }))),
      world.call('PUT', path(by % 20), { data: { by, alone: true } }),
      world.call('DELETE', path((by + 7) % 20)),
    ]),
  )
  expect([...new Set(answers.map(({ status }) => status))].filter((status) => status >= 409)).toEqual([])
  const versions = new Map<string, number>()
  for (const { id, version } of await world.logOf(type)) {
    expect(version).toBe((versions.get(id) ?? 0) + 1)
    versions.set(id, version)
  }
})

test('writes concurrent with the recreation of a type leave no record that its new schema refuses', async () => {
  const strict = { json_schema: { type: 'object', required: ['must'] } }
  const statuses = new Set<number>()
  for (const _ of times(6, (n) => n)) {
    const type = await world.newType()
    succeed(await batch(times(200, (n) => put(type, `r${n}`, {}))))
    const remade = batch([
      { type: 'delete_record_type', id: type, confirm: type },
      { type: 'upsert_record_type', id: type, body: strict },
    ])
    const writes: Promise<Answer>[] = []
    for (const n of times(30, (each) => each)) {
      writes.push(
        n % 2 === 0
          ? batch([put(type, `a${n}`, { n }), put(type, `b${n}`, { n })])
          : world.call('PUT', `/v1/crm/records/${type}/p${n}`, { data: { n } }),
      )
      await new Promise((resolve) => setTimeout(resolve, n % 5))
    }
    succeed(await remade)
    for (const { status } of await Promise.all(writes)) statuses.add(status)
    expect(succeed(await world.call('GET', `/v1/crm/records/${type}`)).data).toEqual([])
  }
  expect([...statuses].sort()).toEqual([200, 201, 400])
})

test('a link is validated by the current schema of a relationship type that another server recreated', async () => {
  const type = await world.newType()
  for (const id of ['a', 'b'])
    succeed(await world.call('PUT', `/v1/crm/records/${type}/${id}`, { data: {} }), 201)
  const relationshipType = (body: object) => world.call('PUT', '/v1/crm/relationship-types/knows', body)
  const link = (id: string, source: string, target: string) =>
    world.call('PUT', `/v1/crm/relationships/${id}`, {
      rel_type: 'knows',
      ...{ source_record_type: type, source_id: source },
      ...{ target_record_type: type, target_id: target },
    })
  succeed(await relationshipType({}), 201)
  succeed(await link('l1', 'a', 'b'), 201)
  // As another server would, before its notification arrives.
  await world.database.query(`WITH gone AS (DELETE FROM plinth.relationship WHERE rel_type = 'knows')
    UPDATE plinth.relationship_type SET created_at = now(), data_schema = '{"required":["since"]}' WHERE id = 'knows'`)
  expectFailure(await link('l2', 'b', 'a'), 'VALIDATION_ERROR')
  expect(succeed(await world.call('GET', '/v1/crm/relationships')).data).toEqual([])
})

test('a server killed during batches leaves each batch written completely or not at all', async () => {
  const type = await world.newType()
  const child = await startChild(world)
  const answered: string[] = []
  // Each writer sends batches until the server is gone.
  const write = async (writer: number) => {
    for (let round = 0; ; round++) {
      const name = `b${writer}.${round}`
      const operations = times(200, (n) => put(type, `${name}-${n}`, { name }))
      await child.call('POST', '/v1/crm/batch', { operations })
      answered.push(name)
      if (answered.length === 3) await child.kill()
    }
  }
  const outcomes = await Promise.allSettled(times(16, write))
  expect(outcomes.map(({ status }) => status)).toEqual(times(16, () => 'rejected'))
  // One statement: PostgreSQL may still be committing transactions of the killed server.
  const rows = await world.database.query<{ name: string; count: number; entries: number }>(
    `SELECT data ->> 'name' AS name, count(*)::int AS count,
       (SELECT count(*)::int FROM plinth.change WHERE record_type = $1 AND kind = 'record') AS entries
     FROM plinth.record WHERE record_type = $1 GROUP BY 1`,
    [type],
  )
  expect(rows.map(({ count }) => count)).toEqual(rows.map(() => 200))
  expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(answered))
  expect(rows[0]?.entries).toBe(rows.length * 200)
})

// @module-tag full
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure, succeed, times } from '../../support/answers.ts'
import { cases } from '../../support/cases.ts'
import { holdOpen } from '../../support/holding.ts'
import type { Answer, Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

// Two instances on one database, so that a lock in one process cannot hide a race.
let one: World
let two: World
beforeAll(async () => {
  one = await openWorld()
  two = await openWorld({}, one.database)
})
afterAll(async () => {
  await two.close()
  await one.close()
})

const either = (i: number) => (i % 2 ? one : two).call
const statuses = (answers: Answer[]) => {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** Runs the works with a limited concurrency. */
async function pooled<T>(works: (() => Promise<T>)[], width: number): Promise<T[]> {
  const results: T[] = []
  const next = works.entries()
  await Promise.all(
    times(width, async () => {
      for (const [index, work] of next) results[index] = await work()
    }),
  )
  return results
}

/** The versions of each id must be 1, 2, 3 …, and each record must equal its last log entry. */
async function expectSoundLog(type: string): Promise<void> {
  const rows = await one.logOf(type)
  const lives = Map.groupBy(rows, (row) => row.id)
  for (const [id, life] of lives) {
    const ordered = life.toSorted((a, b) => a.version - b.version)
    expect(
      ordered.map((row) => row.version),
      id,
    ).toEqual(times(life.length, (i) => i + 1))
    for (const [index, row] of ordered.entries()) {
      // After a deletion an id is created again or restored.
      const follows = ordered[index - 1]?.operation
      const wanted = follows === 'delete' ? /^(create|restore)$/ : index === 0 ? /^create$/ : /^(?!create)/
      expect(row.operation, `${id} version ${row.version}`).toMatch(wanted)
    }
  }
  const records = succeed(await one.call('GET', `/v1/crm/records/${type}?limit=1000`)).data
  const alive = [...lives].filter(([, life]) => last(life).operation !== 'delete').map(([id]) => id)
  expect(records.map((record: Body) => record.id).sort()).toEqual(alive.sort())
  for (const record of records) {
    const { version, data, external_id, cancelled_at } = last(lives.get(record.id) ?? [])
    expect([record.version, record.data, record.external_id]).toEqual([version, data, external_id])
    expect(record.cancelled_at).toBe(cancelled_at?.toISOString() ?? null)
  }
}
const last = <T extends { version: number }>(rows: T[]): T =>
  rows.reduce((a, b) => (a.version > b.version ? a : b))

test('64 concurrent PUTs of one new external id create one record: one 201, no 409, no 500', async () => {
  const type = await one.newType()
  const answers = await Promise.all(
    times(64, (i) => either(i)('PUT', `/v1/crm/records/${type}`, { data: { i }, external_id: 'e' })),
  )
  expect(statuses(answers)).toEqual({ 200: 63, 201: 1 })
  expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1)
  expect(answers.map((answer) => answer.body.version).sort((a, b) => a - b)).toEqual(times(64, (i) => i + 1))
  await expectSoundLog(type)
})

test('64 concurrent PUTs of one new external id under 64 path ids create one record', async () => {
  const type = await one.newType()
  const answers = await Promise.all(
    times(64, (i) => either(i)('PUT', `/v1/crm/records/${type}/id-${i}`, { data: { i }, external_id: 'e' })),
  )
  expect(statuses(answers)).toEqual({ 200: 63, 201: 1 })
  await expectSoundLog(type)
})

test('64 concurrent PUTs of one new id make 64 versions; with If-None-Match: * only one succeeds', async () => {
  const type = await one.newType()
  const puts = await Promise.all(
    times(64, (i) => either(i)('PUT', `/v1/crm/records/${type}/a`, { data: { i } })),
  )
  expect(statuses(puts)).toEqual({ 200: 63, 201: 1 })
  const once = await Promise.all(
    times(64, (i) =>
      either(i)('PUT', `/v1/crm/records/${type}/b`, { data: { i } }, { 'if-none-match': '*' }),
    ),
  )
  expect(statuses(once)).toEqual({ 201: 1, 409: 63 })
  const posts = await Promise.all(
    times(64, (i) => either(i)('POST', `/v1/crm/records/${type}`, { id: 'c', data: { i } })),
  )
  expect(statuses(posts)).toEqual({ 201: 1, 409: 63 })
  await expectSoundLog(type)
})

test('of concurrent PUTs those that change nothing are unchanged, and the others are written', async () => {
  const type = await one.newType()
  const put = (id: string, data: object) => one.call('PUT', `/v1/crm/records/${type}/${id}`, { data })
  const ids = times(40, (i) => `r${i}`)
  await Promise.all(ids.map((id, i) => put(id, { i, list: [1.5, { a: null }] })))
  const expected = (i: number) => (i % 4 === 0 ? 'updated' : 'unchanged')
  const answers = await Promise.all([
    ...ids.map((id, i) => put(id, i % 4 === 0 ? { i, changed: true } : { list: [1.5, { a: null }], i })),
    ...times(5, (i) => put(`new${i}`, { i })),
  ])
  expect(answers.map(({ body }) => [body.id, body.operation, body.version])).toEqual([
    ...ids.map((id, i) => [id, expected(i), i % 4 === 0 ? 2 : 1]),
    ...times(5, (i) => [`new${i}`, 'created', 1]),
  ])
  expect((await one.logOf(type)).length).toBe(40 + 10 + 5)
  await expectSoundLog(type)
})

test('PUTs of the same new and old ids in opposite orders at two instances are all applied', async () => {
  const type = await one.newType()
  for (const round of times(6, (i) => i)) {
    const ids = times(40 + 10 * round, (i) => `r${i}`)
    const put = (world: World, writer: string) => (id: string) =>
      world.call('PUT', `/v1/crm/records/${type}/${id}`, { data: { writer, round } })
    const answers = await Promise.all([
      ...ids.map(put(one, 'one')),
      ...ids.toReversed().map(put(two, 'two')),
      ...ids.slice(30, 40).map((id) => either(round)('DELETE', `/v1/crm/records/${type}/${id}`)),
    ])
    expect(Object.keys(statuses(answers.slice(0, 2 * ids.length)))).toEqual(
      expect.arrayContaining(['200', '201']),
    )
    expect(answers.slice(0, 2 * ids.length).every(({ status }) => status < 300)).toBe(true)
  }
  await expectSoundLog(type)
})

test('64 concurrent patches of one record are all applied', async () => {
  const type = await one.newType()
  const path = `/v1/crm/records/${type}/a`
  succeed(await one.call('PUT', path, { data: {} }), 201)
  const answers = await Promise.all(times(64, (i) => either(i)('PATCH', path, { data: { [`k${i}`]: i } })))
  expect(statuses(answers)).toEqual({ 200: 64 })
  expect(Object.keys(succeed(await one.call('GET', path)).data)).toHaveLength(64)
  await expectSoundLog(type)
})

test('of 64 writes with the same If-Match at two instances one succeeds', async () => {
  const type = await one.newType()
  const path = `/v1/crm/records/${type}/a`
  succeed(await one.call('PUT', path, { data: {} }), 201)
  const answers = await Promise.all(
    times(64, (i) => {
      const held = { 'if-match': '"1"' }
      if (i % 4 === 0) return either(i)('PATCH', path, { data: { i } }, held)
      return either(i)('PUT', path, { data: { i } }, held)
    }),
  )
  expect(statuses(answers)).toEqual({ 200: 1, 409: 63 })
  await expectSoundLog(type)
})

test('concurrent PUTs, DELETEs, cancels and restores of three records never repeat or skip a version', {
  tags: 'sampled',
}, async () => {
  const type = await one.newType()
  const works = times(cases(500, 100), (i) => () => {
    const path = `/v1/crm/records/${type}/r${i % 3}`
    const kind = (i * 7) % 10
    if (kind < 5) return either(i)('PUT', path, { data: { i }, external_id: `e${i % 4}` })
    if (kind < 8) return either(i)('DELETE', path)
    return either(i)('POST', `${path}/${kind === 8 ? 'cancel' : 'restore'}`)
  })
  const answers = await pooled(works, 24)
  for (const status of Object.keys(statuses(answers))) expect(['200', '201', '404', '409']).toContain(status)
  for (const answer of answers.filter(({ status }) => status === 409))
    expect(answer.body.error.details[0]?.path, answer.text).toBe('/external_id')
  await expectSoundLog(type)
})

test('an external id that two records compete for belongs to at most one of them', async () => {
  const type = await one.newType()
  for (const id of ['a', 'b'])
    succeed(await one.call('PUT', `/v1/crm/records/${type}/${id}`, { data: {} }), 201)
  const works = times(120, (i) => () => {
    const path = `/v1/crm/records/${type}/${i % 2 ? 'a' : 'b'}`
    return either(i >> 1)('PATCH', path, { external_id: `p${i % 3}` })
  })
  const answers = await pooled(works, 16)
  for (const status of Object.keys(statuses(answers))) expect(['200', '409']).toContain(status)
  await expectSoundLog(type)
})

test('schema changes with on_invalid=allow during writes flag every record that the schema refuses', {
  tags: 'sampled',
}, async () => {
  const type = await one.newType()
  const schemas = [
    { type: 'object', properties: { v: { type: 'number' } } },
    {},
    { type: 'object', required: ['v'] },
  ]
  const rounds = cases(16, 4)
  const changes = (async () => {
    const answers: Answer[] = []
    for (let i = 0; i < rounds; i++) {
      const json_schema = schemas[i % 3]
      answers.push(await either(i)('PUT', `/v1/crm/record-types/${type}?on_invalid=allow`, { json_schema }))
    }
    answers.push(
      await one.call('PUT', `/v1/crm/record-types/${type}?on_invalid=allow`, { json_schema: schemas[0] }),
    )
    return answers
  })()
  const works = times(cases(400, 100), (i) => () => {
    const data = i % 4 === 0 ? {} : { v: i % 2 ? 'text' : i }
    return either(i)('PUT', `/v1/crm/records/${type}/r${i % 60}`, { data })
  })
  const writes = await pooled(works, 16)
  expect(statuses(await changes)).toEqual({ 200: rounds + 1 })
  for (const status of Object.keys(statuses(writes))) expect(['200', '201', '400']).toContain(status)
  const { data } = succeed(await one.call('GET', `/v1/crm/records/${type}?limit=1000`))
  for (const record of data) {
    const fits = !('v' in record.data) || typeof record.data.v === 'number'
    expect(record.valid ?? true, JSON.stringify(record)).toBe(fits)
  }
  await expectSoundLog(type)
})

test('a schema change during writes is refused, or leaves no invalid record', async () => {
  const type = await one.newType()
  const json_schema = { type: 'object', properties: { v: { type: 'number' } } }
  const works = times(
    200,
    (i) => () => either(i)('PUT', `/v1/crm/records/${type}/r${i}`, { data: { v: i < 20 ? i : 'text' } }),
  )
  const [, change] = await Promise.all([
    pooled(works, 16),
    one.call('PUT', `/v1/crm/record-types/${type}`, { json_schema }),
  ])
  const { data } = succeed(await one.call('GET', `/v1/crm/records/${type}?limit=1000`))
  const broken = data.filter((record: Body) => typeof record.data.v !== 'number')
  if (change.status === 200) expect(broken).toEqual([])
  else expect(change.status, change.text).toBe(409)
})

test('deleting a type during writes deletes all of its records', async () => {
  const type = await one.newType()
  const works = times(150, (i) => () => either(i)('PUT', `/v1/crm/records/${type}/r${i}`, { data: { i } }))
  const [writes, gone] = await Promise.all([
    pooled(works, 16),
    one.call('DELETE', `/v1/crm/record-types/${type}?confirm=${type}`),
  ])
  succeed(gone)
  for (const status of Object.keys(statuses(writes))) expect(['201', '404']).toContain(status)
  const left = await one.database.query('SELECT 1 FROM plinth.record WHERE record_type = $1', [type])
  expect(left).toEqual([])
  const rows = await one.logOf(type)
  const created = rows.filter((row) => row.operation === 'create').length
  expect(rows.filter((row) => row.operation === 'delete')).toHaveLength(created)
})

test('of 32 concurrent PUTs of one new base or one new type, one is 201', async () => {
  const bases = await Promise.all(times(32, (i) => either(i)('PUT', '/v1/bases/raced', {})))
  expect(statuses(bases)).toEqual({ 200: 31, 201: 1 })
  const types = await Promise.all(
    times(32, (i) => either(i)('PUT', '/v1/raced/record-types/task', { name: `n${i}` })),
  )
  expect(statuses(types)).toEqual({ 200: 31, 201: 1 })
  expect(types.map((answer) => answer.body.version).sort((a, b) => a - b)).toEqual(times(32, (i) => i + 1))
})

test('a write with relationships whose base is deleted while it waits is not found', async () => {
  succeed(await one.call('PUT', '/v1/bases/gone', {}), 201)
  succeed(await one.call('PUT', '/v1/gone/record-types/deal', {}), 201)
  succeed(await one.call('PUT', '/v1/gone/records/deal/a', { data: {} }), 201)
  const other = await holdOpen(one.database)
  await other.query("DELETE FROM plinth.base WHERE id = 'gone'")
  const relationships = [{ rel_type: 'near', record_type: 'deal', id: 'a' }]
  const written = one.call('PUT', '/v1/gone/records/deal/b', { data: {}, relationships })
  await expect.poll(() => other.waiting()).toHaveLength(1)
  await other.end('COMMIT')
  expect(expectFailure(await written, 'NOT_FOUND').details[0].code).toBe('base_not_found')
})

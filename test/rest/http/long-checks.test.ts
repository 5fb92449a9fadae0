// @module-tag full
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, succeed, times } from '../../support/answers.ts'
import type { Answer } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let costly: string
beforeAll(async () => {
  world = await openWorld({ PLINTH_RATE_LIMIT: '0' })
  costly = await world.newType(COSTLY)
})
afterAll(() => world.close())

const branches = times(200, (i) => ({ properties: { k: { const: i } }, required: ['k'] }))
const COSTLY = { json_schema: { properties: { v: { items: { oneOf: branches } } } } }
/** Checking this value takes about 1.1 million steps; the budget of one value is two million. */
const costlyData = (last = 0) => ({ v: [...times(600, (i) => ({ k: i % 200 })), { k: last }] })
const upsert = (record_type: string, id: string, data: object) => ({
  type: 'upsert_record',
  record_type,
  id,
  data,
})
const batch = (operations: object[], query = '') =>
  world.call('POST', `/v1/crm/batch${query}`, { operations })

/** Counts the requests that were answered while the work ran. */
async function answeredDuring(work: Promise<Answer>): Promise<{ answer: Answer; others: number }> {
  let done = false
  const answer = work.finally(() => {
    done = true
  })
  let others = 0
  while (!done) {
    succeed(await world.call('GET', '/v1/bases/crm'))
    others++
  }
  return { answer: await answer, others }
}

describe('While long checks run, other requests are answered', () => {
  test('between the operations of a batch', async () => {
    const operations = times(30, (i) => upsert(costly, `b${i}`, costlyData()))
    const { answer, others } = await answeredDuring(batch(operations))
    expect(succeed(answer).meta.count).toBe(30)
    expect(others).toBeGreaterThan(5)
  })

  test('between the records that are checked against a changed schema', async () => {
    const type = await world.newType({})
    succeed(await batch(times(30, (i) => upsert(type, `r${i}`, costlyData()))))
    const { answer, others } = await answeredDuring(
      world.call('PATCH', `/v1/crm/record-types/${type}`, COSTLY),
    )
    expect(succeed(answer).version).toBe(2)
    expect(others).toBeGreaterThan(5)
  })
})

describe('The schema checks of one request have a budget', () => {
  test('a batch that exceeds it is refused and writes nothing', async () => {
    const operations = times(120, (i) => upsert(costly, `over${i}`, costlyData()))
    const { details } = expectFailure(await batch(operations), 'VALIDATION_ERROR')
    expect(details).toMatchObject([{ code: 'too_complex' }])
    expectFailure(await world.call('GET', `/v1/crm/records/${costly}/over0`), 'NOT_FOUND')
  })

  test('a single value that exceeds it is refused', async () => {
    const data = { v: times(10_000, (i) => ({ k: i % 200 })) }
    const answer = await world.call('PUT', `/v1/crm/records/${costly}/one`, { data })
    expect(expectFailure(answer, 'VALIDATION_ERROR').details).toMatchObject([
      { path: '/data', code: 'too_complex' },
    ])
  })
})

describe('The error of a request with many faults', () => {
  test('describes the faults of the first operation and counts all failed operations', async () => {
    const properties = Object.fromEntries(times(100, (i) => [`property_${i}`, {}]))
    const closed = await world.newType({ json_schema: { properties, additionalProperties: false } })
    const data = Object.fromEntries(times(200, (i) => [`propert_${i}`, 1]))
    const answer = await batch(times(300, (i) => upsert(closed, `x${i}`, data)))
    const { details, message } = expectFailure(answer, 'VALIDATION_ERROR')
    expect(message).toContain('300 operations fail')
    expect(details).toHaveLength(20)
    expect(details[0].path).toBe('/operations/0/data/propert_0')
    expect(details.at(-1)).toMatchObject({ path: '', code: 'more_faults' })
    expect(details.at(-1).count).toBeGreaterThanOrEqual(300)
    expect(answer.text.length).toBeLessThan(64 * 1024)
  })

  test('counts all records that violate a changed schema and shows ten of them', async () => {
    const type = await world.newType({})
    succeed(await batch(times(40, (i) => upsert(type, `r${i}`, { n: i }))))
    const answer = await world.call('PATCH', `/v1/crm/record-types/${type}`, {
      json_schema: { properties: { n: { maximum: 9 } } },
    })
    const [detail] = expectFailure(answer, 'CONFLICT').details
    expect(detail).toMatchObject({ code: 'records_invalid', count: 30 })
    expect(detail.samples).toHaveLength(10)
  })

  test('counts invalid records on every page of the check, whatever their size', async () => {
    const type = await world.newType({})
    const large = { text: 'x'.repeat(900_000), n: 1 }
    for (let i = 0; i < 3; i++) {
      const some = times(8, (n) => upsert(type, `l${i}${n}`, large))
      succeed(await batch([...some, upsert(type, `s${i}`, { n: i })]))
    }
    const answer = await world.call('PATCH', `/v1/crm/record-types/${type}`, {
      json_schema: { properties: { n: { maximum: 0 } } },
    })
    expect(expectFailure(answer, 'CONFLICT').details[0].count).toBe(26)
  })
})

test('A batch can create a relationship type and write a record whose relationships use it', async () => {
  const type = await world.newType({})
  const made = {
    type: 'upsert_relationship_type',
    id: 'part_of',
    body: { source_record_types: ['*'], target_record_types: ['*'] },
  }
  const relationships = [{ rel_type: 'part_of', record_type: type, id: 'whole' }]
  const answer = await batch([
    upsert(type, 'whole', {}),
    made,
    { ...upsert(type, 'part', {}), relationships },
    { type: 'create_record', record_type: type, id: 'other', data: {}, relationships },
  ])
  expect(succeed(answer).meta.count).toBe(4)
  const { data } = succeed(await world.call('GET', '/v1/crm/relationships'))
  expect(data.map(({ source_id }: { source_id: string }) => source_id).sort()).toEqual(['other', 'part'])
})

test('A batch that uses a relationship type before it creates it is refused', async () => {
  const type = await world.newType({})
  const relationships = [{ rel_type: 'too_late', record_type: type, id: 'whole' }]
  const answer = await batch([
    upsert(type, 'whole', {}),
    { ...upsert(type, 'part', {}), relationships },
    { type: 'upsert_relationship_type', id: 'too_late', body: {} },
  ])
  expect(expectFailure(answer, 'VALIDATION_ERROR').details[0].code).toBe('unknown_relationship_type')
  expectFailure(await world.call('GET', `/v1/crm/records/${type}/whole`), 'NOT_FOUND')
})

test('A refused import names every tool with an invalid schema', async () => {
  const tool = (name: string, input_schema: object) => ({ name, description: name, input_schema })
  const bad = (name: string) => tool(name, { type: 'object', properties: { a: { minimum: 'x' } } })
  const tools = [bad('first_bad'), tool('sound', { type: 'object' }), bad('second_bad')]
  const answer = await world.call('POST', '/v1/crm/providers/anthropic/import', { tools })
  const paths = expectFailure(answer, 'VALIDATION_ERROR').details.map(({ path }: { path: string }) => path)
  expect(paths).toEqual([
    '/tools/0/input_schema/properties/a/minimum',
    '/tools/2/input_schema/properties/a/minimum',
  ])
  expectFailure(await world.call('GET', '/v1/crm/record-types/sound'), 'NOT_FOUND')
})

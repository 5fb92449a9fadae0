/** `ticketAggregate` of `/graphql/{base}`. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { statementsOf } from '../support/query-plans.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World

async function ask(query: string, variables?: object): Promise<Body> {
  const { body, text } = await world.call('POST', '/graphql/crm', { query, ...(variables && { variables }) })
  expect(body.errors, text).toBeUndefined()
  return body.data
}
async function fail(query: string): Promise<Body> {
  const { body, text } = await world.call('POST', '/graphql/crm', { query })
  expect(body.errors, text).toHaveLength(1)
  return body.errors[0]
}

beforeAll(async () => {
  world = await openWorld()
  const properties = {
    stage: { enum: ['open', 'closed'] },
    amount: { type: 'number' },
    pieces: { type: 'integer', minimum: 0, maximum: 100 },
    due: { type: 'string', format: 'date-time' },
    day: { type: 'string', format: 'date' },
    paid: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
  }
  await world.call('PUT', '/v1/crm/record-types/ticket', { json_schema: { type: 'object', properties } })
  await world.call('PUT', '/v1/crm/record-types/empty', { json_schema: {} })
  await world.call('PUT', '/v1/crm/record-types/secret', {})
  for (const [id, data] of Object.entries({
    t1: { stage: 'open', amount: 10, pieces: 2, due: '2026-01-05T10:00:00Z', day: '2026-01-05', paid: true },
    t2: { stage: 'open', amount: 20.5, pieces: 3, due: '2026-01-20T10:00:00Z', day: '2026-01-20' },
    t3: { stage: 'closed', amount: 5, due: '2026-02-01T10:00:00Z', day: '2026-02-01' },
    t4: { stage: 'closed' },
  }))
    await world.call('PUT', `/v1/crm/records/ticket/${id}`, { data })
})
afterAll(() => world.close())

test('without groups there is one result of all that match', async () => {
  const { all, open } = await ask(`{
    all: ticketAggregate {
      count countDistinct { stage amount } sum { amount pieces } avg { amount } min { amount due stage } max { amount day _version }
    }
    open: ticketAggregate(where: { stage: { eq: open } }) { count sum { amount } group { stage } }
  }`)
  expect(all).toEqual([
    {
      count: 4,
      countDistinct: { stage: 2, amount: 3 },
      sum: { amount: 35.5, pieces: 5 },
      avg: { amount: 35.5 / 3 },
      min: { amount: 5, due: '2026-01-05T10:00:00Z', stage: 'closed' },
      max: { amount: 20.5, day: '2026-02-01', _version: 1 },
    },
  ])
  expect(open).toEqual([{ count: 2, sum: { amount: 30.5 }, group: { stage: null } }])
})

test('groups are keyed by fields and intervals of times, kept by having, sorted and paged', async () => {
  const { ticketAggregate } = await ask(`{
    ticketAggregate(groupBy: [{ stage: true }, { day: MONTH }], sort: "-count") { group { stage day } count }
  }`)
  expect(ticketAggregate).toEqual([
    { group: { stage: 'open', day: '2026-01-01T00:00:00.000Z' }, count: 2 },
    { group: { stage: 'closed', day: '2026-02-01T00:00:00.000Z' }, count: 1 },
    { group: { stage: 'closed', day: null }, count: 1 },
  ])
  const query = `query ($having: JSON, $first: Int, $offset: Int) {
    ticketAggregate(groupBy: [{ stage: true }], having: $having, first: $first, offset: $offset) { group { stage } sum { amount } }
  }`
  const having = { field: 'sum_amount', op: 'gt', value: 6 }
  expect((await ask(query, { having })).ticketAggregate).toEqual([
    { group: { stage: 'open' }, sum: { amount: 30.5 } },
  ])
  expect((await ask(query, { first: 1, offset: 1 })).ticketAggregate).toEqual([
    { group: { stage: 'open' }, sum: { amount: 30.5 } },
  ])
})

test('an aggregate is one statement, whatever it selects, with aliases and fragments', async () => {
  const query = `query ($skip: Boolean!) {
    ticketAggregate { total: sum { amount ...Numbers } low: min { amount } high: max { due @skip(if: $skip) amount } }
  } fragment Numbers on TicketAggregate_sum { pieces }`
  const statements = await statementsOf(async () => {
    expect((await ask(query, { skip: true })).ticketAggregate).toEqual([
      { total: { amount: 35.5, pieces: 5 }, low: { amount: 5 }, high: { amount: 20.5 } },
    ])
  })
  expect(statements.filter(({ text }) => text.includes('plinth.record r'))).toHaveLength(1)
})

test('a read of the past counts what was there', async () => {
  const now = new Date().toISOString()
  await world.call('PUT', '/v1/crm/records/ticket/late', { data: { amount: 1 } })
  const { ticketAggregate } = await ask('query ($now: DateTime) { ticketAggregate(asOf: $now) { count } }', {
    now,
  })
  expect(ticketAggregate).toEqual([{ count: 4 }])
  await world.call('DELETE', '/v1/crm/records/ticket/late')
})

test('over time, each row has its moment, and equals a read of the past', { tags: 'full' }, async () => {
  const id = 'late'
  const query = `query ($over: _Over) { ticketAggregate(over: $over, groupBy: [{ stage: true }], where: { amount: { gt: 1 } }) {
    at group { stage } count sum { amount }
  } }`
  await world.database.query(
    `UPDATE plinth.change SET at = at - interval '2 days' WHERE record_type = 'ticket'`,
  )
  await world.database.query(
    `UPDATE plinth.record SET updated_at = updated_at - interval '2 days', created_at = created_at - interval '2 days' WHERE record_type = 'ticket'`,
  )
  await world.database.query(`UPDATE plinth.base SET created_at = now() - interval '9 days'`)
  await world.call('PUT', `/v1/crm/records/ticket/${id}`, { data: { stage: 'open', amount: 4 } })
  const { ticketAggregate: rows } = await ask(query, { over: { interval: 'DAY', since: '1d', until: null } })
  const moments = [...new Set<string>(rows.map(({ at }: Body) => at))]
  expect(moments).toHaveLength(2)
  const then = moments.map(async (at) => {
    const past = query.replace(/_Over/, 'DateTime').replace(/over: \$over/, 'asOf: $over')
    const { ticketAggregate } = await ask(past, { over: at })
    return ticketAggregate.map((row: Body) => ({ ...row, at }))
  })
  expect(rows).toEqual((await Promise.all(then)).flat())
  expect(rows.map(({ count }: Body) => count)).toEqual([1, 2, 1, 3])
  expect((await ask(query)).ticketAggregate[0].at).toBeNull()
  await world.call('DELETE', `/v1/crm/records/ticket/${id}`)
})

test('errors name the arguments; lists and hidden types have no aggregate', { tags: 'full' }, async () => {
  const path = async (args: string) =>
    (await fail(`{ ticketAggregate(${args}) { count } }`)).extensions.details?.[0]?.path
  expect(await path('groupBy: [{ stage: false }]')).toBe('/groupBy/0/stage')
  expect(await path('first: 0')).toBe('/first')
  expect(await path('having: { field: "sum_amount", op: "gt", value: 1 }')).toBe('/having/field')
  expect(await path('sort: "amount"')).toBe('/sort')
  expect(await path('groupBy: [{ stage: true }, { stage: true }]')).toBe('/groupBy/1')
  expect(await path('over: { interval: MINUTE, since: "30d" }')).toBe('/over/interval')
  expect(await path('over: { interval: DAY, since: "soon" }')).toBe('/over/since')
  expect(await path('over: { interval: DAY, since: "3d" }, asOf: "2026-01-01T00:00:00Z"')).toBe('/over')
  expect(await path('where: { stage: {} }')).toBe('/where/stage')
  for (const query of [
    '{ ticketAggregate(groupBy: [{ tags: true }]) { count } }',
    '{ ticketAggregate(groupBy: [{ stage: true, paid: true }]) { count } }',
    '{ ticketAggregate { sum { stage } } }',
  ])
    expect((await fail(query)).extensions.code).toBe('VALIDATION_ERROR')
  const { call } = await world.newToken([{ record_type: ['ticket'], permission: 'read' }])
  const { body } = await call('POST', '/graphql/crm', { query: '{ secretAggregate { count } }' })
  expect(body.errors[0].extensions.code).toBe('VALIDATION_ERROR')
  expect((await ask('{ emptyAggregate { count max { _createdAt } } }')).emptyAggregate).toEqual([
    { count: 0, max: { _createdAt: null } },
  ])
})

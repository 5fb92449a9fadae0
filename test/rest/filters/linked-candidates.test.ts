// @module-tag full
/** Conditions on linked records that few far records decide: read from the far end, with the same result. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed, times } from '../../support/answers.ts'
import { forAll } from '../../support/for-all.ts'
import { explain, type RanStatement, statementsOf } from '../../support/query-plans.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

const TICKETS = 3000
const CUSTOMERS = 60
const TIERS = ['free', 'pro', 'rare', null] as const
/** More links than are read from the far end. */
const BUSY = 'c0'

let world: World

const on = (field: string, op: string, value?: unknown) => ({
  field,
  op,
  ...(value !== undefined && { value }),
})

/** A group of one condition reads the records in their order. */
const inOrder = (filter: object) => ({ or: [filter] })

async function list(filter: object, more: object = {}): Promise<string[]> {
  const found: string[] = []
  let cursor: string | undefined
  do {
    const page = { filter, limit: 200, fields: ['id'], ...more, ...(cursor && { cursor }) }
    const { data, meta } = succeed(await world.call('POST', '/v1/crm/records/ticket/query', page))
    found.push(...data.map(({ id }: Body) => id))
    cursor = meta.next_cursor
  } while (cursor)
  return found
}

const batch = async (operations: object[]) => {
  for (const at of times(Math.ceil(operations.length / 1000), (n) => n * 1000))
    succeed(await world.call('POST', '/v1/crm/batch', { operations: operations.slice(at, at + 1000) }))
}

beforeAll(async () => {
  world = await openWorld()
  const indexes = (field: string) => ({ json_schema: {}, indexes: [{ fields: [field] }] })
  for (const [id, body] of Object.entries({
    ticket: { json_schema: {} },
    customer: indexes('data.tier'),
    company: indexes('data.country'),
  }))
    succeed(await world.call('PUT', `/v1/crm/record-types/${id}`, body), 201)
  for (const [id, source, target] of [
    ['customer', 'ticket', 'customer'],
    ['works_at', 'customer', 'company'],
  ] as const)
    succeed(
      await world.call('PUT', `/v1/crm/relationship-types/${id}`, {
        ...{ source_record_types: [source], target_record_types: [target] },
      }),
      201,
    )
  const create = (record_type: string, id: string, data: object, links: [string, string, string][] = []) => ({
    ...{ type: 'create_record', record_type, id, data },
    relationships: links.map(([rel_type, type, to]) => ({ rel_type, record_type: type, id: to })),
  })
  const tierOf = (n: number) => (n === 0 ? 'free' : (TIERS[n % 4] ?? null))
  await batch([
    ...times(6, (n) => create('company', `f${n}`, { country: n % 2 ? 'DE' : 'FR' })),
    ...times(CUSTOMERS, (n) =>
      create(
        'customer',
        `c${n}`,
        { tier: tierOf(n), n },
        n % 5 ? [['works_at', 'company', `f${n % 6}`]] : [],
      ),
    ),
  ])
  // Every second ticket is of the busy customer; the others go round.
  const customerOf = (n: number) => (n % 2 ? BUSY : `c${1 + ((n / 2) % (CUSTOMERS - 1))}`)
  await batch(
    times(TICKETS, (n) =>
      create(
        'ticket',
        `t${n}`,
        { n, open: n % 3 === 0 },
        n % 11 ? [['customer', 'customer', customerOf(n)]] : [],
      ),
    ),
  )
})
afterAll(() => world.close())

const filters: fc.Arbitrary<object> = fc.oneof(
  fc.integer({ min: 0, max: CUSTOMERS + 2 }).map((n) => on('customer.id', 'eq', `c${n}`)),
  fc.array(fc.integer({ min: 0, max: CUSTOMERS + 2 }), { minLength: 1, maxLength: 5 }).map((all) =>
    on(
      'customer.id',
      'in',
      all.map((n) => `c${n}`),
    ),
  ),
  fc.constantFrom(...TIERS, 'none').map((tier) => on('customer.data.tier', 'eq', tier)),
  fc.constantFrom('a', 'pro', 'r').map((start) => on('customer.data.tier', 'starts_with', start)),
  fc.constantFrom('DE', 'FR', 'XX').map((country) => on('customer.works_at.data.country', 'eq', country)),
  fc.constantFrom('f1', 'f2', 'f9').map((id) => on('customer.works_at.id', 'eq', id)),
  fc.tuple(fc.constantFrom(...TIERS), fc.integer({ min: 0, max: 60 })).map(([tier, n]) => ({
    some: {
      rel_type: 'customer',
      filter: { and: [on('data.tier', 'eq', tier), on('data.n', 'lt', n)] },
    },
  })),
  fc.constant(on('customer.id', 'is_null')),
  fc
    .constantFrom(7, null, ['c7'], [['c7'], 'c8'], { id: 'c7' })
    .map((odd) => on('customer.id', 'in', [odd, 'c9'])),
  fc.constantFrom(7, ['c7'], { id: 'c7' }, '\ud800').map((odd) => on('customer.id', 'eq', odd)),
)
const sorts = fc.constantFrom('id', '-created_at', '-data.n', 'updated_at')

test('a list, its total and an aggregate are those of a read in order', { tags: 'full' }, () =>
  forAll(fc.tuple(filters, fc.boolean(), sorts), 60, async ([linked, isOpen, sort]) => {
    const filter = { and: [linked, ...(isOpen ? [on('data.open', 'eq', true)] : [])] }
    const found = await list(filter, { sort })
    expect(found).toEqual(await list(inOrder(filter), { sort }))
    const total = succeed(
      await world.call('POST', '/v1/crm/records/ticket/query', { filter, limit: 1, include_total: true }),
    ).meta.total
    const { data } = succeed(
      await world.call('POST', '/v1/crm/records/ticket/aggregate', {
        filter,
        aggregations: [{ fn: 'count' }],
      }),
    )
    expect([total, data[0].count]).toEqual([found.length, found.length])
  }),
)

test('the tickets of one customer are found by its links, whatever statistics the planner has', {
  tags: 'full',
}, async () => {
  for (const statistics of [false, true]) {
    if (statistics)
      await world.database.query('ANALYZE plinth.record, plinth.relationship, plinth.record_index')
    for (const filter of [
      on('customer.id', 'eq', 'c7'),
      on('customer.data.tier', 'eq', 'rare'),
      on('customer.works_at.id', 'eq', 'f1'),
    ]) {
      const statements = await statementsOf(() => list(filter, { sort: '-data.n', limit: 500 }))
      // Statements of jobs have names of their own.
      const reads = statements.filter(
        ({ name, text }) => /^(shape_\d+)?$/.test(name) && /plinth\.relationship\b/.test(text),
      )
      const texts = reads.map(({ text }) => text)
      expect(texts, texts.join('\n\n')).toHaveLength(2)
      for (const each of reads) expect((await explain(world.database, each)).widest).toBeLessThan(TICKETS / 2)
    }
  }
})

test('the newest tickets of a customer with many are read in their order', async () => {
  const filter = on('customer.id', 'eq', BUSY)
  const page = { filter, limit: 10, sort: '-created_at' }
  const statements = await statementsOf(async () => {
    const { data } = succeed(await world.call('POST', '/v1/crm/records/ticket/query', page))
    expect(data).toHaveLength(10)
  })
  const listed = statements.find(({ text }) => text.includes('ORDER BY')) as RanStatement
  expect((await explain(world.database, listed)).widest).toBeLessThan(100)
  expect(await list(filter)).toHaveLength(1364)
})

test('claims take the records of one customer', async () => {
  const filter = { and: [on('customer.id', 'eq', 'c9'), on('data.open', 'eq', true)] }
  const open = await list(filter)
  const { data } = succeed(await world.call('POST', '/v1/crm/records/ticket/claim', { filter, limit: 100 }))
  expect(data.map(({ record }: Body) => record.id).sort()).toEqual(open.sort())
  expect(open.length).toBeGreaterThan(3)
  const again = succeed(await world.call('POST', '/v1/crm/records/ticket/claim', { filter, limit: 100 }))
  expect(again.data).toEqual([])
})

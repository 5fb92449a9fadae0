import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bindFilter, bindSort } from '../../src/engine/data/filter/check-fields.ts'
import { parseFilter } from '../../src/engine/data/filter/parse.ts'
import type { CompiledIndex } from '../../src/engine/data/indexes/index.ts'
import { compileFor } from '../../src/engine/records/query/compile-query.ts'
import { adviseIndex } from '../../src/engine/records/query/index-advice.ts'
import {
  countStatement,
  type ListQuery,
  listStatement,
} from '../../src/engine/records/query/list-statement.ts'
import { parseSort } from '../../src/engine/records/query/sort.ts'
import { sleep, succeed } from '../support/answers.ts'
import { openWorld, type World } from '../support/world.ts'

const RECORDS = 5000
const TYPE = 'ticket'

let world: World
let indexes: CompiledIndex[]
beforeAll(async () => {
  world = await openWorld()
  const type = `/v1/crm/record-types/${TYPE}`
  succeed(await world.call('PUT', type, {}), 201)
  await world.database.query(
    `INSERT INTO plinth.record (base_id, record_type, id, data, version, created_at)
     SELECT 'crm', $1, 'r' || n, jsonb_build_object('status', 's' || n % 20, 'due', n * 7919 % 5003, 'title', 't' || n), 1,
       now() - n * interval '1 second' FROM generate_series(1, $2::int) n`,
    [TYPE, RECORDS],
  )
  const declared = [
    { fields: ['data.status', { field: 'data.due', direction: 'desc' }] },
    { fields: ['data.due'] },
  ]
  succeed(await world.call('PATCH', type, { indexes: declared }))
  for (let building = true; building; await sleep(20)) {
    const { indexes } = succeed(await world.call('GET', type))
    building = indexes.some((index: { status: string }) => index.status !== 'ready')
  }
  await world.database.query('VACUUM ANALYZE plinth.record')
  await world.database.query('VACUUM ANALYZE plinth.record_index')
  indexes = await world.database.query<CompiledIndex>(
    `SELECT id::text, kind, status, has_cut AS "hasCut", fields FROM plinth.record_type_index
     WHERE base_id = 'crm' AND record_type = $1 ORDER BY position`,
    [TYPE],
  )
})
afterAll(() => world.close())

const STATUS = { field: 'data.status', op: 'eq', value: 's7' }
const AFTER = { id: 'r100', values: ['bp40a3880000000000'] }

function queryOf(filter: object | null, sort: string | null, more: Partial<ListQuery> = {}): ListQuery {
  const parsed = filter ? parseFilter(filter, '/filter') : null
  const type = { jsonSchema: {}, timezone: 'UTC', indexes }
  return {
    baseId: 'crm',
    recordType: TYPE,
    type,
    filter: parsed && bindFilter(parsed, type),
    sort: bindSort(parseSort(sort, '/sort', parsed), type),
    limit: 50,
    offset: 0,
    position: null,
    withData: true,
    includeTotal: false,
    moment: null,
    ...more,
  }
}

/** The plan as text, and the highest number of rows that a node read. */
async function explain({ text, values }: { text: string; values: readonly unknown[] }) {
  const rows = await world.database.query<{ 'QUERY PLAN': string }>(`EXPLAIN (ANALYZE, TIMING OFF) ${text}`, [
    ...values,
  ])
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  return {
    plan,
    widest: Math.max(...[...plan.matchAll(/actual rows=([\d.]+)/g)].map(([, rows]) => Number(rows))),
  }
}

const planOf = (query: ListQuery) => explain(listStatement(query, compileFor(query)))

describe('a declared index', () => {
  test.each<[string, object | null, string, Partial<ListQuery>]>([
    ['a filter and the sort as declared', STATUS, '-data.due', {}],
    ['the other way round', STATUS, 'data.due', {}],
    ['a page in the middle', STATUS, '-data.due', { position: AFTER }],
    ['a page in the middle, the other way round', STATUS, 'data.due', { position: AFTER }],
    ['a sort alone', null, 'data.due', {}],
    ['a sort alone, backwards, from a cursor', null, '-data.due', { position: AFTER }],
    [
      'a range in its order',
      {
        and: [
          { field: 'data.due', op: 'gte', value: 100 },
          { field: 'data.due', op: 'lt', value: 4000 },
        ],
      },
      'data.due',
      {},
    ],
    [
      'a filter beside one it does not know',
      { and: [STATUS, { field: 'data.title', op: 'neq', value: 'x' }] },
      '-data.due',
      {},
    ],
  ])('is used for %s and reads at most 110 rows', async (_, filter, sort, more) => {
    const { plan, widest } = await planOf(queryOf(filter, sort, more))
    expect(plan).toMatch(/record_index_keys/)
    expect(plan).not.toMatch(/Seq Scan/)
    expect(widest, plan).toBeLessThanOrEqual(110)
  })

  test.each<[string, object, string | null]>([
    ['the newest of what it finds', STATUS, null],
    ['the newest of a range', { field: 'data.due', op: 'lt', value: 300 }, null],
    ['what it finds in another order', STATUS, 'data.title'],
    ['a list of values', { field: 'data.status', op: 'in', value: ['s1', 's2'] }, '-data.due'],
    ['what is missing', { field: 'data.status', op: 'is_null' }, '-data.due'],
  ])('is used to find %s', async (_, filter, sort) => {
    const { plan, widest } = await planOf(queryOf(filter, sort))
    expect(plan).toMatch(/record_index_keys/)
    expect(widest, plan).toBeLessThanOrEqual(RECORDS / 10)
  })

  test('is used for an index-only count', async () => {
    const query = queryOf(STATUS, '-data.due')
    const { plan } = await explain(countStatement(query))
    expect(plan).toMatch(/Index Only Scan using record_index_keys/)
    expect(plan).not.toMatch(/on record r/)
  })

  test.each<[string, object | null, string | null]>([
    ['another field', { field: 'data.title', op: 'eq', value: 't7' }, null],
    ['one of two conditions', { or: [STATUS, { field: 'data.title', op: 'eq', value: 't7' }] }, 'data.title'],
    ['a negation', { not: STATUS }, 'data.title'],
    ['a list', { ...STATUS, value: ['s7'] }, 'data.title'],
    ['a long string', { ...STATUS, value: 'x'.repeat(141) }, 'data.title'],
    ['the newest of all', null, null],
  ])('is not used for %s', async (_, filter, sort) => {
    expect((await planOf(queryOf(filter, sort))).plan).not.toMatch(/record_index/)
  })

  test('is not used while it is being built', async () => {
    const building = indexes.map((index) => ({ ...index, status: 'building' as const }))
    const query = queryOf(STATUS, '-data.due')
    const { plan } = await planOf({ ...query, type: { ...query.type, indexes: building } })
    expect(plan).not.toMatch(/record_index/)
  })

  test('with truncated keys is used to find records but not to sort them', async () => {
    const cut = indexes.map((index) => ({ ...index, hasCut: true }))
    const query = queryOf(STATUS, '-data.due')
    const { plan } = await planOf({ ...query, type: { ...query.type, indexes: cut } })
    expect(plan).toMatch(/record_index_keys/)
    expect(plan).toMatch(/Sort Key: .*jsonb_typeof/)
  })
})

test('a list without filter reads only its page from the index of newest records', async () => {
  const { plan, widest } = await planOf(
    queryOf(null, null, { position: { id: 'r9', values: ['2126-01-01T00:00:00Z'] } }),
  )
  expect(plan).toMatch(/record_newest/)
  expect(widest, plan).toBeLessThanOrEqual(51)
})

describe('the index advice for a slow list', () => {
  const advise = (filter: object | null, sort: string) => {
    return (
      adviseIndex({ ...queryOf(filter, sort), type: { jsonSchema: {}, timezone: 'UTC', indexes: [] } })
        ?.index ?? null
    )
  }
  test('contains equality fields first, then sort fields, otherwise a range field', () => {
    const due = { field: 'data.due', op: 'gt', value: 5 }
    expect(advise(STATUS, '-data.due')).toEqual({
      fields: ['data.status', { field: 'data.due', direction: 'desc' }],
    })
    expect(advise({ and: [due, STATUS] }, 'id')).toEqual({ fields: ['data.status', 'data.due'] })
    expect(advise({ field: 'data.title', op: 'search', value: 'x' }, 'id')).toEqual({
      fields: ['data.title'],
      type: 'text',
    })
    expect(advise({ not: STATUS }, 'id')).toBeNull()
    expect(advise(null, '-created_at')).toBeNull()
    expect(advise({ ...STATUS, field: 'data.tags[]' }, 'id')).toBeNull()
  })

  test('ends with created_at for a filter with equality conditions only', () => {
    expect(advise(STATUS, '-created_at')).toEqual({
      fields: ['data.status', { field: 'created_at', direction: 'desc' }],
    })
    const due = { field: 'data.due', op: 'gt', value: 5 }
    expect(advise({ and: [due, STATUS] }, '-created_at')).toEqual({ fields: ['data.status', 'data.due'] })
  })

  test('is of the linked records, where a condition on them decides and they have no policy', () => {
    const query = queryOf(STATUS, 'id')
    const { type } = queryOf(null, 'id')
    const end = { baseId: 'crm', recordType: 'customer', readable: null, type, policy: null, within: null }
    const step = { kind: 'linked', relType: 'of', incoming: false, recordType: null, at: '/filter' } as const
    const linked = (more: object) =>
      ({ ...step, of: query.filter, end: { ...end, ...more } }) as unknown as typeof query.filter
    const undeclared = { ...type, indexes: [] }
    expect(adviseIndex({ ...query, filter: linked({ type: undeclared }) })).toEqual({
      recordType: 'customer',
      index: { fields: ['data.status'] },
      status: 'undeclared',
    })
    for (const more of [
      { type: undeclared, recordType: null },
      { type: { ...undeclared, visible: ['status'] } },
      { type: undeclared, policy: query.filter },
    ])
      expect(adviseIndex({ ...query, filter: linked(more) })).toBeNull()
  })

  describe('with a declared index', () => {
    const declared = (kind: CompiledIndex['kind'], status: CompiledIndex['status'], ...fields: string[]) => ({
      id: '1',
      kind,
      status,
      hasCut: false,
      fields: fields.map((name) => {
        const field = name.replace(/^-/, '')
        const direction = name.startsWith('-') ? ('desc' as const) : ('asc' as const)
        return { field, column: null, path: field.split('.').slice(1), direction, zone: null }
      }),
    })
    const adviseWith = (filter: object | null, sort: string, index: CompiledIndex) =>
      adviseIndex({ ...queryOf(filter, sort), type: { jsonSchema: {}, timezone: 'UTC', indexes: [index] } })
    const SEARCH = { field: 'data.title', op: 'search', value: 'x' }

    test.each<[string, object | null, string, CompiledIndex]>([
      ['for the same fields', STATUS, '-data.due', declared('btree', 'ready', 'data.status', '-data.due')],
      ['for the other direction', STATUS, 'data.due', declared('btree', 'ready', 'data.status', '-data.due')],
      ['for a sort that the second field serves', null, 'data.due', declared('btree', 'ready', 'data.due')],
      ['for a unique index', STATUS, 'id', declared('unique', 'ready', 'data.status')],
      ['for a search', SEARCH, '-created_at', declared('text', 'ready', 'data.body', 'data.title')],
    ])('is absent %s', (_, filter, sort, index) => {
      expect(adviseWith(filter, sort, index)).toBeNull()
    })

    test('contains that index with its status while it is built or after it failed', () => {
      expect(adviseWith(SEARCH, 'id', declared('text', 'building', 'data.title'))).toEqual({
        index: { fields: ['data.title'], type: 'text' },
        status: 'building',
      })
      expect(adviseWith(STATUS, 'id', declared('unique', 'failed', 'data.status'))).toEqual({
        index: { fields: ['data.status'], unique: true },
        status: 'failed',
      })
    })

    test('contains another index that serves the query better', () => {
      const index = declared('btree', 'ready', 'data.due')
      expect(adviseWith(STATUS, '-data.due', index)).toEqual({
        index: { fields: ['data.status', { field: 'data.due', direction: 'desc' }] },
        status: 'undeclared',
      })
      expect(adviseWith(SEARCH, 'id', declared('text', 'ready', 'data.body'))?.status).toBe('undeclared')
    })
  })

  test('is in the response of a list that took more than 250 ms', { tags: 'full' }, async () => {
    const path = `/v1/crm/records/${TYPE}?sort=data.title&limit=1`
    const quick = succeed(await world.call('GET', path))
    expect(quick.meta).not.toHaveProperty('hint')
    // Locks the table to delay the list.
    const held = world.database.query(`DO $$ BEGIN LOCK TABLE plinth.record; PERFORM pg_sleep(0.6); END $$`)
    await sleep(100)
    const slow = succeed(await world.call('GET', path))
    await held
    expect(slow.meta.hint).toContain('{"fields":["data.title"]}')
    expect(slow.data).toEqual(quick.data)
  })

  test('is not in the response when a declared index serves the list', { tags: 'full' }, async () => {
    const held = world.database.query(`DO $$ BEGIN LOCK TABLE plinth.record; PERFORM pg_sleep(0.6); END $$`)
    await sleep(100)
    const slow = succeed(await world.call('GET', `/v1/crm/records/${TYPE}?sort=-data.due&limit=1`))
    await held
    expect(slow.meta).not.toHaveProperty('hint')
  })
})

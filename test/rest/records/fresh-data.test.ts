/** Reads with no planner statistics, or those of other data. The tests count the rows read, not the time. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sleep, succeed, times } from '../../support/answers.ts'
import { openWorld, type World } from '../../support/world.ts'

const RECORDS = 600
const PLACES = 60
const TABLES = ['record', 'record_index', 'record_text', 'record_word', 'relationship', 'change']

let world: World
let holder: pg.Client
beforeAll(async () => {
  world = await openWorld()
  // A transaction holds a lock that prevents autovacuum from collecting statistics.
  holder = new pg.Client({ connectionString: world.database.url })
  await holder.connect()
  await holder.query('BEGIN')
  await holder.query(
    `LOCK TABLE ${TABLES.map((name) => `plinth.${name}`).join(', ')} IN SHARE UPDATE EXCLUSIVE MODE`,
  )
})
afterAll(async () => {
  await holder.end()
  await world.close()
})

const call = async (method: string, path: string, body?: object) =>
  succeed(await world.call(method, `/v1/crm/${path}`, body))
const batch = (operations: object[]) => call('POST', 'batch', { operations })

/** Creates a type with indexes, records and links through the API. */
async function load(type: string): Promise<void> {
  await world.call('PUT', `/v1/crm/record-types/${type}`, {
    json_schema: {
      type: 'object',
      properties: { title: { type: 'string' }, status: { type: 'string' }, place: { type: 'string' } },
    },
    indexes: [{ fields: ['data.title'], type: 'text' }, { fields: ['data.status'] }],
  })
  await world.call('PUT', `/v1/crm/record-types/${type}_place`, {
    json_schema: { type: 'object', properties: { name: { type: 'string' } } },
  })
  await world.call('PUT', `/v1/crm/relationship-types/${type}_at`, {
    source_record_types: ['*'],
    target_record_types: ['*'],
  })
  const isBuilding = ({ status }: { status: string }) => status === 'building'
  while ((await call('GET', `record-types/${type}`)).indexes.some(isBuilding)) await sleep(20)
  const record = (recordType: string, id: string, data: object) => ({
    type: 'upsert_record',
    record_type: recordType,
    id,
    data,
  })
  await batch(times(PLACES, (n) => record(`${type}_place`, `p${n}`, { name: `Place ${n}` })))
  await batch(
    times(RECORDS, (n) =>
      record(type, `d${n}`, {
        title: `${n % 7 === 0 ? 'invoice' : 'letter'} number ${n}`,
        status: n % 3 === 0 ? 'open' : 'done',
        place: `p${n % PLACES}`,
      }),
    ),
  )
  await batch(
    times(RECORDS, (n) => ({
      type: 'upsert_relationship',
      id: `${type}-${n}`,
      rel_type: `${type}_at`,
      source_record_type: type,
      source_id: `d${n}`,
      target_record_type: `${type}_place`,
      target_id: `p${n % PLACES}`,
    })),
  )
}

/** Ends the connections of the server, because PostgreSQL adds up their counters at the end. */
async function endConnections(): Promise<void> {
  const mine = `FROM pg_stat_activity WHERE datname = current_database() AND application_name IN ('plinth', 'plinth-sql')`
  for (;;) {
    await world.database.query(`SELECT pg_terminate_backend(pid) ${mine} AND state = 'idle'`)
    const [left] = await world.database.query<{ n: number }>(`SELECT count(*)::int AS n ${mine}`)
    if (left?.n === 0) return
    await sleep(20)
  }
}

async function counted(): Promise<number> {
  const [read] = await world.database.query<{ rows: number }>(
    `SELECT ((SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables
         WHERE schemaname = 'plinth' AND relname = ANY ($1))
       + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE schemaname = 'plinth' AND relname = ANY ($1)))::float8 AS rows`,
    [TABLES],
  )
  return read?.rows ?? 0
}

/** The number of rows and index entries that the requests read, as counted by PostgreSQL. */
async function rowsRead(work: () => Promise<unknown>): Promise<number> {
  await endConnections()
  const before = await counted()
  await work()
  await endConnections()
  return (await counted()) - before
}

const INVOICES = { field: 'data.title', op: 'search', value: 'invoice' }
const OPEN = { field: 'data.status', op: 'eq', value: 'open' }
const list = (type: string, body: object) => () => call('POST', `records/${type}/query`, body)
const sql = (query: string) => () => call('POST', 'sql', { query })
const links = (filter: object) => () =>
  call('GET', `relationships?filter=${encodeURIComponent(JSON.stringify(filter))}`)

/** Each read with its limit of rows per record of the type. A nested loop over the type reads hundreds. */
const READS: [string, (type: string) => () => Promise<unknown>, number][] = [
  ['a search', (type) => list(type, { filter: INVOICES, limit: 5 }), 6],
  ['a search with its total', (type) => list(type, { filter: INVOICES, include_total: true }), 8],
  ['a search and a condition', (type) => list(type, { filter: { and: [INVOICES, OPEN] } }), 8],
  ['a search in another order', (type) => list(type, { filter: INVOICES, sort: '-created_at' }), 6],
  ['a search or a condition', (type) => list(type, { filter: { or: [INVOICES, OPEN] } }), 8],
  ['all but a search', (type) => list(type, { filter: { not: INVOICES } }), 8],
  [
    'an aggregate of a search',
    (type) => () =>
      call('POST', `records/${type}/aggregate`, { filter: INVOICES, aggregations: [{ fn: 'count' }] }),
    6,
  ],
  [
    'an aggregate through an index',
    (type) => () =>
      call('POST', `records/${type}/aggregate`, {
        filter: OPEN,
        aggregations: [{ fn: 'count' }],
        group_by: ['data.place'],
      }),
    6,
  ],
  [
    'a claim of a search',
    (type) => () => call('POST', `records/${type}/claim`, { filter: INVOICES, limit: 3 }),
    10,
  ],
  ['a list through an index', (type) => list(type, { filter: OPEN, sort: '-data.place', limit: 5 }), 6],
  [
    'the links of a record',
    (type) =>
      links({
        and: [
          { field: 'source_record_type', op: 'eq', value: type },
          { field: 'source_id', op: 'eq', value: 'd7' },
        ],
      }),
    0.5,
  ],
  ['what a record is linked with', (type) => () => call('GET', `records/${type}/d7/related?depth=3`), 1],
  ['the changes of a record', (type) => () => call('GET', `changes?after=0&record_type=${type}&id=d7`), 0.5],
  [
    'a join of two types in SQL',
    (type) =>
      sql(`SELECT p.name, count(*) AS n FROM ${type} d JOIN ${type}_place p ON p.id = d.place GROUP BY 1`),
    8,
  ],
  [
    'a join along relationships in SQL',
    (type) =>
      sql(`SELECT p.name, count(*) AS n FROM relationships l JOIN ${type} d ON d.id = l.source_id
        JOIN ${type}_place p ON p.id = l.target_id WHERE l.rel_type = '${type}_at' GROUP BY 1`),
    14,
  ],
  [
    'an anti-join in SQL',
    (type) =>
      sql(
        `SELECT count(*) AS n FROM ${type} d WHERE NOT EXISTS (SELECT FROM ${type}_place p WHERE p.id = d.place)`,
      ),
    8,
  ],
]

describe.each([
  ['without any statistics', 'first', async () => {}],
  [
    'with the statistics of another type',
    'second',
    async () => {
      for (const table of TABLES) await holder.query(`ANALYZE plinth.${table}`)
    },
  ],
])('After a bulk load, %s', (_, type, prepare) => {
  beforeAll(async () => {
    await prepare()
    await load(type)
  })

  test.each(READS)('%s reads a limited number of rows per record of the type', async (_name, read, most) => {
    const rows = await rowsRead(read(type))
    expect(rows).toBeLessThanOrEqual(most * RECORDS)
  })
})

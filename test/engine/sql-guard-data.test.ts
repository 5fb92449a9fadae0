import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { prepareSql } from '../../src/engine/sql/guard/prepare.ts'
import type { Catalog } from '../../src/engine/sql/guard/relations/catalog.ts'
import { DomainError } from '../../src/foundation/errors.ts'
import { sampleOf } from '../support/cases.ts'
import { cloneDatabase } from '../support/database.ts'
import { ATTACKS, CANARY, CANARY_PLACES, ORACLE } from '../support/sql-corpus/attacks.ts'
import { RECORDS, TYPES } from '../support/sql-corpus/data.ts'
import { HONEST } from '../support/sql-corpus/honest.ts'

// Runs as a superuser with every grant, so that only the guard protects the data.

const CATALOG: Catalog = {
  baseId: 'shop',
  readsAll: false,
  readsDrafts: false,
  tokenId: 'none',
  types: TYPES,
}
let client: pg.Client
let drop: () => Promise<void>

beforeAll(async () => {
  const database = await cloneDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
  drop = database.drop
  await client.query(
    `INSERT INTO plinth.sql_grant (role, base_id, record_types) VALUES (session_user, '*', '["*"]')`,
  )
  for (const base of ['shop', CANARY_PLACES.base]) await seedTypes(base)
  for (const { type, rows } of RECORDS) for (const row of rows) await seedRecord('shop', type, row)
  const canary = {
    id: 'canary',
    data: { name: CANARY, customer: CANARY, title: CANARY, total: 1, number: 1 },
  }
  await seedRecord('shop', CANARY_PLACES.recordType, canary)
  for (const type of ['order', 'customer', CANARY_PLACES.recordType])
    await seedRecord(CANARY_PLACES.base, type, canary)
  await client.query(
    `INSERT INTO plinth.token (id, name, hash, tail, grants) VALUES ($1, $1, '\\x00', 'x', '[]')`,
    [CANARY],
  )
  await client.query(
    `INSERT INTO plinth.change (base_id, kind, id, operation, version, data, actor_name, via, request_id)
    VALUES ('shop', 'token', $1, 'create', 1, '{}', $1, 'rest', 'r')`,
    [CANARY],
  )
  await client.query(`SET search_path = ''; SET TimeZone = 'UTC'; SET statement_timeout = '10s'`)
  await client.query('SET default_transaction_read_only = on')
})

afterAll(async () => {
  await client.end()
  await drop()
})

async function seedTypes(base: string): Promise<void> {
  await client.query(
    `INSERT INTO plinth.base (id, name, environment, settings) VALUES ($1, $1, 'production', '{}')`,
    [base],
  )
  for (const { id, jsonSchema } of [...TYPES, { id: CANARY_PLACES.recordType, jsonSchema: {} }])
    await client.query(
      `INSERT INTO plinth.record_type (base_id, id, portable_id, graphql_name, name, json_schema, timezone, display)
       VALUES ($1, $2, $2, $2, $2, $3, 'UTC', '{}')`,
      [base, id, JSON.stringify(jsonSchema)],
    )
}

type Row = { id: string; external_source?: string; external_id?: string; data: object }

async function seedRecord(base: string, type: string, row: Row): Promise<void> {
  const values = [base, type, row.id, row.external_source ?? null, row.external_id ?? null, row.data]
  await client.query(
    `INSERT INTO plinth.record (base_id, record_type, id, external_source, external_id, data, version)
     VALUES ($1, $2, $3, $4, $5, $6, 1)`,
    values,
  )
  await client.query(
    `INSERT INTO plinth.change (base_id, kind, record_type, id, operation, version, data, actor_name, via, request_id)
     VALUES ($1, 'record', $2, $3, 'create', 1, $4, 'seed', 'rest', 'r')`,
    [base, type, row.id, row.data],
  )
}

const READ: Readonly<Record<number, (text: string) => unknown>> = {
  [pg.types.builtins.INT8]: Number,
  [pg.types.builtins.NUMERIC]: Number,
  [pg.types.builtins.DATE]: String,
}

/** The rows of a statement as arrays of JSON values. */
async function run(sql: string, params?: unknown, catalog = CATALOG): Promise<unknown[][]> {
  const { text, values } = await prepareSql(sql, params, catalog)
  const types = {
    getTypeParser: (oid: number) => READ[oid] ?? pg.types.getTypeParser(oid),
  } as pg.CustomTypesConfig
  const config: pg.QueryArrayConfig = { text, values: [...values], rowMode: 'array', types }
  const result = await client.query<unknown[]>(config)
  return result.rows
}

test.each(sampleOf(HONEST))(
  '$name returns the expected rows',
  { tags: 'sampled' },
  async ({ sql, params, rows, first }) => {
    const answer = await run(sql, params)
    if (rows !== undefined) expect(answer).toHaveLength(rows)
    if (first) expect(answer[0]?.slice(0, first.length)).toEqual(first)
  },
)

test.each(sampleOf(ATTACKS))(
  '$name returns no data outside the grants',
  { tags: 'sampled' },
  async ({ kind, sql, params, runs }) => {
    const outcome = await run(sql, params).catch((error: unknown) => error)
    if (!runs) expect(outcome).toBeInstanceOf(DomainError)
    const shown =
      outcome instanceof Error ? JSON.stringify([outcome.message, { ...outcome }]) : JSON.stringify(outcome)
    if (runs) expect(shown).not.toContain(CANARY)
    if (kind === ORACLE) expect(outcome).toBeInstanceOf(Array)
  },
)

describe('a typed SQL column', () => {
  const KINDS = {
    whole: { type: 'integer' },
    number: { type: ['number', 'null'] },
    flag: { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
    text: { $ref: '#/$defs/text' },
    instant: { type: 'string', format: 'date-time' },
    day: { type: 'string', format: 'date' },
    json: { type: ['object', 'string'] },
  }
  const type = {
    id: 'odd',
    timezone: 'Europe/Berlin',
    jsonSchema: { properties: KINDS, $defs: { text: { type: 'string' } } },
  }
  const catalog: Catalog = {
    baseId: 'shop',
    readsAll: true,
    readsDrafts: false,
    tokenId: null,
    types: [type],
  }
  const names = Object.keys(KINDS).join(', ')

  const write = async (id: string, data: object) => {
    await client.query('BEGIN READ WRITE')
    await client.query(
      `INSERT INTO plinth.record_type (base_id, id, portable_id, graphql_name, name, json_schema, timezone, display)
       VALUES ('shop', 'odd', 'odd', 'odd', 'odd', '{}', 'UTC', '{}') ON CONFLICT DO NOTHING`,
    )
    await client.query(
      `INSERT INTO plinth.record (base_id, record_type, id, data, version) VALUES ('shop', 'odd', $1, $2, 1)`,
      [id, JSON.stringify(data)],
    )
    await client.query('COMMIT')
  }
  const read = async (id: string) => (await run(`SELECT ${names} FROM odd WHERE id = $1`, [id], catalog))[0]

  test('has the type of its JSON Schema', async () => {
    const instant = '2025-01-01T12:00:00+02:00'
    await write('plain', {
      whole: 7,
      number: 0.5,
      flag: true,
      text: 'x',
      instant,
      day: '2025-02-28',
      json: { a: 1 },
    })
    expect(await read('plain')).toEqual([7, 0.5, true, 'x', new Date(instant), '2025-02-28', { a: 1 }])
  })

  test('interprets a time without offset in the time zone of the record type', async () => {
    await write('local', { instant: '2025-07-01T12:00:00' })
    expect((await run(`SELECT instant FROM odd WHERE id = 'local'`, [], catalog))[0]).toEqual([
      new Date('2025-07-01T10:00:00Z'),
    ])
  })

  test('is null for a value of another type, without an error', async () => {
    const values: unknown[] = [
      null,
      true,
      'x',
      '5',
      '2025-02-30',
      '0000-01-01',
      '2025-13-01T00:00:00Z',
      '9999999-01-01',
      [],
      {},
      [1],
      { a: 1 },
      1e300,
      -1e300,
      2 ** 63,
      0.5,
      '\\',
      "'",
    ]
    for (const [index, value] of values.entries())
      await write(`odd${index}`, Object.fromEntries(Object.keys(KINDS).map((name) => [name, value])))
    const rows = await run(`SELECT ${names} FROM odd WHERE id LIKE 'odd%'`, [], catalog)
    expect(rows).toHaveLength(values.length)
    for (const [whole, number, flag, text, , day] of rows) {
      expect(whole === null || Number.isSafeInteger(whole)).toBe(true)
      expect([null, 'number']).toContain(number === null ? null : typeof number)
      expect([null, true]).toContain(flag)
      expect([null, 'string']).toContain(text === null ? null : typeof text)
      expect(day).toBeNull()
    }
  })

  test('contains values in the bigint range, and is null outside it', async () => {
    await client.query('BEGIN READ WRITE')
    for (const [id, digits] of Object.entries({
      most: '9223372036854775807',
      over: '9223372036854775808',
      least: '-9223372036854775808',
      huge: `1${'0'.repeat(400)}`,
    }))
      await client.query(
        `INSERT INTO plinth.record (base_id, record_type, id, data, version) VALUES ('shop', 'odd', $1, $2, 1)`,
        [id, `{"whole": ${digits}}`],
      )
    await client.query('COMMIT')
    const rows = await run(
      `SELECT id, whole::text FROM odd WHERE id IN ('most', 'over', 'least', 'huge') ORDER BY id`,
      [],
      catalog,
    )
    expect(rows).toEqual([
      ['huge', null],
      ['least', '-9223372036854775808'],
      ['most', '9223372036854775807'],
      ['over', null],
    ])
  })
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../../support/answers.ts'
import { sampleOf } from '../../support/cases.ts'
import { GRANTED, pastTheParser, withoutDatabaseRoles } from '../../support/past-the-parser.ts'
import type { Call } from '../../support/server.ts'
import { ATTACKS, type Attack, CANARY, CANARY_PLACES } from '../../support/sql-corpus/attacks.ts'
import { RECORDS, TYPES } from '../../support/sql-corpus/data.ts'
import { HONEST } from '../../support/sql-corpus/honest.ts'
import { openWorld, type World } from '../../support/world.ts'

/** No statement may return these: the canary, and the first line of /etc/passwd. */
const FOREIGN = [CANARY, 'root:x:0:']
/** Enough for a thousand statements on a busy machine. */
const MINUTES = 5 * 60_000

let world: World
let call: Call
beforeAll(async () => {
  world = await openWorld({ PLINTH_SQL_TIMEOUT_MS: '2000' })
  const { base: rival, recordType: hidden } = CANARY_PLACES
  for (const base of ['shop', rival]) {
    succeed(
      await world.call('PUT', `/v1/bases/${base}`, { description: base === rival ? CANARY : 'A shop' }),
      201,
    )
    for (const { id, timezone, jsonSchema } of TYPES)
      succeed(
        await world.call('PUT', `/v1/${base}/record-types/${id}`, { timezone, json_schema: jsonSchema }),
        201,
      )
    succeed(await world.call('PUT', `/v1/${base}/record-types/${hidden}`, { name: CANARY }), 201)
  }
  for (const { type, rows } of RECORDS)
    for (const { id, ...body } of rows)
      succeed(await world.call('PUT', `/v1/shop/records/${type}/${id}`, body), 201)
  const secret = { data: { name: CANARY, status: CANARY, sku: CANARY } }
  for (const place of [
    `shop/records/${hidden}`,
    ...[...GRANTED, hidden].map((id) => `${rival}/records/${id}`),
  ])
    succeed(await world.call('PUT', `/v1/${place}/${CANARY}`, secret), 201)
  // The tool calls of other tokens, on records that this one may read.
  await world.database.query(
    `UPDATE plinth.change SET call = jsonb_build_array($1::text, $1::text, $1::text) WHERE base_id = 'shop'`,
    [CANARY],
  )
  const grant = { base: 'shop', environment: '*', permission: 'read' }
  succeed(
    await world.call('POST', '/v1/tokens', { name: CANARY, grants: [{ ...grant, record_type: '*' }] }),
    201,
  )
  const { token } = await world.newToken([{ ...grant, record_type: GRANTED }])
  call = world.as(token)
})
afterAll(() => world.close())

const showsForeign = (text: string) => FOREIGN.some((each) => text.includes(each))
const logged = () => world.log.splice(0).filter(showsForeign)

/** Names of the attacks that were not refused, or whose answer or log contains foreign data. */
async function escapes(attacks: readonly Attack[]): Promise<string[]> {
  const escaped: string[] = []
  for (const { name, sql, params, runs } of attacks) {
    const { status, text } = await call('POST', '/v1/shop/sql', { query: sql, ...(params && { params }) })
    const isRefused = status === 400 || (runs && status === 200)
    if (!isRefused || showsForeign(text) || logged().length > 0) escaped.push(`${status} ${name}`)
  }
  return escaped
}

test('every legitimate SQL query returns the right rows', {
  tags: ['full', 'sampled'],
  timeout: MINUTES,
}, async () => {
  const wrong: unknown[] = []
  for (const { name, sql, params, rows, first } of sampleOf(HONEST)) {
    const { status, body } = await call('POST', '/v1/shop/sql', { query: sql, ...(params && { params }) })
    // Duplicate column names are refused by design.
    if (status === 400 && body.error.details[0].code === 'duplicate_column') continue
    const found = { status, rows: body.data?.length, first: Object.values(body.data?.[0] ?? {}) }
    const expected = { status: 200, rows: rows ?? found.rows, first: first ?? found.first }
    if (JSON.stringify(found) !== JSON.stringify(expected)) wrong.push({ name, found, expected })
  }
  expect(wrong).toEqual([])
})

test('every SQL attack is refused or returns only data that the token may read', {
  tags: ['full', 'sampled'],
  timeout: MINUTES,
}, async () => {
  expect(await escapes(sampleOf(ATTACKS))).toEqual([])
})

test.each(['query', 'write'] as const)(
  'without the SQL parser, the database role alone prevents a %s from reading foreign data',
  {
    tags: 'full',
    timeout: MINUTES,
  },
  async (reader) => {
    const { run, lines, close } = await pastTheParser(world, reader)
    const escaped: string[] = []
    const direct = DIRECT.map((sql): Attack => ({ name: sql, kind: 'direct', sql }))
    // Excluded: only the parser bounds the memory of a single function.
    const confined = [...ATTACKS, ...direct].filter(
      ({ kind, sql }) => kind !== 'time and memory' && !/repeat|[lr]pad|format/.test(sql),
    )
    let ran = 0
    for (const { name, sql, params } of confined)
      for (const text of new Set([sql, onViews(sql)])) {
        const found = await run(text, Array.isArray(params) ? params : [])
        if ('rows' in found) ran++
        if (showsForeign(JSON.stringify(found))) escaped.push(name)
      }
    expect(escaped).toEqual([])
    expect(lines.filter(showsForeign)).toEqual([])
    // Otherwise the test would have tried nothing.
    expect(ran).toBeGreaterThan(50)
    expect(JSON.stringify(await run('SELECT count(*) AS n FROM plinth_sql.record'))).toContain('270')
    await close()
  },
)

/** Attacks by someone who knows the underlying names and bypasses the parser. */
const DIRECT = [
  'SELECT * FROM plinth_sql.record',
  'SELECT * FROM plinth_sql.record_type',
  'SELECT * FROM plinth_sql.change',
  'SELECT * FROM plinth.record',
  'SELECT * FROM plinth.token',
  'SELECT * FROM plinth.base',
  'SELECT * FROM plinth.sql_grant',
  `SELECT * FROM plinth_sql.record WHERE base_id = '${CANARY_PLACES.base}'`,
  `SELECT * FROM plinth_sql.record WHERE record_type = '${CANARY_PLACES.recordType}'`,
  `SELECT data::text::int FROM plinth_sql.record WHERE base_id <> 'shop'`,
  `SELECT (data->>'name')::int FROM plinth_sql.record WHERE data->>'name' LIKE 'CANARY%'`,
  `WITH x AS MATERIALIZED (SELECT set_config('role', 'plinth', true)) SELECT query_to_xml('select * from plinth.token', true, false, '') FROM x`,
  `SELECT query_to_xml('select * from plinth.record', true, false, '')`,
  `SELECT ts_stat('select to_tsvector(data::text) from plinth.record')`,
  `SELECT database_to_xml(true, false, '')`,
  'SET ROLE plinth',
  'SET SESSION AUTHORIZATION plinth',
  'RESET ROLE',
  `SELECT pg_read_file('/etc/passwd')`,
  `SELECT (('/etc/passwd')::text).pg_read_file`,
  `SELECT lo_import('/etc/passwd')`,
  `COPY (SELECT * FROM plinth.record) TO STDOUT`,
  `COPY plinth.record TO PROGRAM 'cat'`,
  `DO $$ BEGIN RAISE EXCEPTION '%', (SELECT string_agg(data::text, '') FROM plinth.record); END $$`,
  `CREATE TEMP TABLE t AS SELECT * FROM plinth.record`,
  `CREATE FUNCTION pg_temp.f() RETURNS text LANGUAGE sql AS 'SELECT name FROM plinth.token'`,
  'SELECT * FROM pg_stat_activity',
  'SELECT * FROM pg_stats',
  'SELECT * FROM pg_authid',
  'SELECT prosrc FROM pg_proc',
  'SELECT * FROM information_schema.tables',
  'EXPLAIN ANALYZE SELECT * FROM plinth.record',
  'EXPLAIN (VERBOSE) SELECT * FROM plinth_sql.record',
  'DECLARE c CURSOR WITH HOLD FOR SELECT * FROM plinth.record',
  'LISTEN plinth_caches',
  'COMMIT',
  'SET TRANSACTION READ WRITE',
  `UPDATE plinth_sql.record SET data = '{}'`,
  'DROP SCHEMA plinth CASCADE',
]

/** Replaces the caller's relations in the statement by the underlying views. */
const onViews = (sql: string) =>
  sql
    .replace(
      /\b(FROM|JOIN|,) +(records|customer|"order"|"Product\.v2"|hidden)(?!\w)/gi,
      '$1 plinth_sql.record',
    )
    .replace(/\b(FROM|JOIN|,) +changes\b/gi, '$1 plinth_sql.change')
    .replace(/\b(FROM|JOIN|,) +record_types\b/gi, '$1 plinth_sql.record_type')

test('without the database role, the SQL parser alone prevents access to foreign data', {
  tags: 'full',
  timeout: MINUTES,
}, async () => {
  await withoutDatabaseRoles(world)
  const { run, close } = await pastTheParser(world, 'query')
  const open = await run(`SELECT data FROM plinth.record WHERE data->>'name' = '${CANARY}'`)
  expect(open).toMatchObject({ rows: { length: GRANTED.length + 2 } })
  expect(showsForeign(JSON.stringify(await run('SELECT * FROM plinth_sql.record')))).toBe(true)
  await close()
  expect(await escapes(ATTACKS)).toEqual([])
})

test('the corpora have at least 300 attacks and 200 legitimate SQL queries', () => {
  expect(ATTACKS.length).toBeGreaterThanOrEqual(300)
  expect(HONEST.length).toBeGreaterThanOrEqual(200)
})

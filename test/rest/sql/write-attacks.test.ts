/** Statements that write reach no further than statements that read: the attacks on reads, in each place of a write. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, times } from '../../support/answers.ts'
import { sampleOf } from '../../support/cases.ts'
import { GRANTED, withoutDatabaseRoles } from '../../support/past-the-parser.ts'
import type { Body, Call } from '../../support/server.ts'
import { ATTACKS, type Attack, CANARY, CANARY_PLACES } from '../../support/sql-corpus/attacks.ts'
import { RECORDS, TYPES } from '../../support/sql-corpus/data.ts'
import { openWorld, type World } from '../../support/world.ts'

const FOREIGN = [CANARY, 'root:x:0:']
const MINUTES = 10 * 60_000
const WRITTEN = [...GRANTED, 'item']
/** The type that the statements write. */
const ITEM = {
  properties: {
    sku: { type: 'string' },
    title: { type: 'string' },
    stock: { type: 'integer' },
    attributes: { type: 'object' },
  },
}

let world: World
/** A token that writes the granted types. */
let writer: Call
/** A token that writes `item` and reads `customer`. */
let half: Call
beforeAll(async () => {
  world = await openWorld({ PLINTH_SQL_TIMEOUT_MS: '2000' })
  const { base: rival, recordType: hidden } = CANARY_PLACES
  for (const base of ['shop', rival]) {
    succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
    for (const { id, timezone, jsonSchema } of TYPES)
      succeed(
        await world.call('PUT', `/v1/${base}/record-types/${id}`, { timezone, json_schema: jsonSchema }),
        201,
      )
    succeed(await world.call('PUT', `/v1/${base}/record-types/item`, { json_schema: ITEM }), 201)
    succeed(await world.call('PUT', `/v1/${base}/record-types/${hidden}`, { name: CANARY }), 201)
  }
  for (const { type, rows } of RECORDS)
    for (const { id, ...body } of rows.slice(0, 20))
      succeed(await world.call('PUT', `/v1/shop/records/${type}/${id}`, body), 201)
  for (const id of ['p01', 'p02'])
    succeed(await world.call('PUT', `/v1/shop/records/item/${id}`, { data: { sku: id, stock: 1 } }), 201)
  const secret = { data: { name: CANARY, status: CANARY, sku: CANARY } }
  for (const place of [
    `shop/records/${hidden}`,
    ...[...WRITTEN, hidden].map((id) => `${rival}/records/${id}`),
  ])
    succeed(await world.call('PUT', `/v1/${place}/${CANARY}`, secret), 201)
  // The tool calls of other tokens, on records that this one may read.
  await world.database.query(
    `UPDATE plinth.change SET call = jsonb_build_array($1::text, $1::text, $1::text) WHERE base_id = 'shop'`,
    [CANARY],
  )
  const grant = { base: 'shop', environment: '*' }
  const all = await world.newToken([{ ...grant, permission: 'write', record_type: WRITTEN }])
  writer = world.as(all.token)
  const some = await world.newToken([
    { ...grant, permission: 'write', record_type: 'item' },
    { ...grant, permission: 'read', record_type: 'customer' },
  ])
  half = world.as(some.token)
})
afterAll(() => world.close())

const showsForeign = (text: string) => FOREIGN.some((each) => text.includes(each))

const PLACES: readonly ((sql: string) => string)[] = [
  (sql) => sql,
  (sql) => `SELECT 1 AS one; ${sql}`,
  (sql) => `UPDATE item SET title = ((${sql}))::text WHERE id = 'p01' RETURNING *`,
  (sql) => `UPDATE item SET title = 'x' FROM (${sql}) AS a WHERE item.id = 'p01' RETURNING item.id, a`,
  (sql) => `UPDATE item SET title = 'x' WHERE id IN (${sql}) RETURNING id`,
  (sql) => `UPDATE item SET title = 'x' WHERE id = 'p01' RETURNING (${sql})`,
  (sql) => `INSERT INTO item (id) ${sql}`,
  (sql) => `INSERT INTO item (id, title) VALUES ('n', ((${sql}))::text) RETURNING *`,
  (sql) =>
    `INSERT INTO item (id, sku) VALUES ('p01', 'x') ON CONFLICT (id) DO UPDATE SET title = ((${sql}))::text WHERE (${sql}) IS NOT NULL RETURNING *`,
  (sql) => `DELETE FROM item USING (${sql}) AS a WHERE item.id = 'p01' RETURNING *`,
  (sql) => `WITH w AS (${sql}) UPDATE item SET title = 'x' FROM w WHERE item.id = 'p01' RETURNING w`,
  (sql) => `WITH w AS (${sql}) INSERT INTO item (id) SELECT w::text FROM w`,
]

/** All records of the base, read from the table. */
const state = () =>
  world.database.query(`SELECT * FROM plinth.record WHERE base_id = 'shop' ORDER BY record_type, id`)

type Place = (typeof PLACES)[number]
const inEachPlace = (attacks: readonly Attack[]) =>
  attacks.flatMap((attack) => PLACES.map((place) => [attack, place] as const))

/** Runs attacks in places of a write. Returns those whose answer or log shows foreign data or a crash. */
async function escapes(attacks: readonly (readonly [Attack, Place])[]): Promise<string[]> {
  const escaped: string[] = []
  let refused = 0
  for (const [{ name, sql, params }, put] of attacks) {
    const statements = put(sql.replace(/;\s*$/, ''))
    const body = { statements, dry_run: true, ...(params && { params }) }
    const { status, text } = await writer('POST', '/v1/shop/sql/execute', body)
    if (status === 400) refused++
    const isSound = [200, 400, 403, 404, 409].includes(status)
    const seen = world.log.splice(0).filter(showsForeign)
    if (!isSound || showsForeign(text) || seen.length > 0)
      escaped.push(`${status} of ${name} in ${put('…')}: ${text.slice(0, 200)}`)
  }
  expect(refused).toBeGreaterThan(0)
  return escaped
}

test('no attack on reads gets further in any place of a write', {
  tags: ['full', 'sampled'],
  timeout: MINUTES,
}, async () => {
  const before = await state()
  // Five and the number of places have no common factor: a full run has every attack, and every place.
  expect(await escapes(sampleOf(inEachPlace(ATTACKS), 5))).toEqual([])
  expect(await state()).toEqual(before)
})

test('a token writes only the types that it may write, and reads only those that it may read', {
  tags: 'full',
}, async () => {
  const run = (statements: string) => half('POST', '/v1/shop/sql/execute', { statements })
  for (const write of [
    `UPDATE customer SET name = 'x'`,
    `DELETE FROM customer`,
    `INSERT INTO customer (id) VALUES ('x')`,
  ])
    expectFailure(await run(`UPDATE item SET title = 'lost' WHERE id = 'p01'; ${write}`), 'FORBIDDEN')
  for (const write of [
    `UPDATE hidden SET name = 'x'`,
    `UPDATE order_item SET status = 'x'`,
    `UPDATE item p SET title = h.name FROM hidden h`,
    `UPDATE item SET title = 'x' RETURNING (SELECT name FROM hidden)`,
    `INSERT INTO item (title) SELECT name FROM hidden`,
    `DELETE FROM item USING hidden`,
  ])
    expect((await run(write)).body.error.details[0]).toMatchObject({
      path: '/statements/0',
      code: expect.stringMatching(/^(unknown_relation|unsupported)$/),
    })
  const [read] = succeed(
    await run(`SELECT count(*) AS n FROM records WHERE record_type NOT IN ('item', 'customer');
      UPDATE item SET title = 'mine' WHERE id = 'p01'`),
  ).data
  expect(read.rows).toEqual([{ n: 0 }])
  const reader = world.as(
    (await world.newToken([{ base: 'shop', environment: '*', permission: 'read', record_type: '*' }])).token,
  )
  expectFailure(
    await reader('POST', '/v1/shop/sql/execute', { statements: `UPDATE item SET title = 'x'` }),
    'FORBIDDEN',
  )
  expect(succeed(await world.call('GET', '/v1/shop/records/item/p01')).data.title).toBe('mine')
})

test('a cascade into a type that the token may not read shows nothing of it', { tags: 'full' }, async () => {
  const { recordType: hidden } = CANARY_PLACES
  succeed(
    await world.call('PUT', '/v1/shop/relationship-types/part', {
      source_record_types: ['item'],
      target_record_types: [hidden],
      on_delete: 'cascade',
    }),
    201,
  )
  succeed(await world.call('PUT', '/v1/shop/records/item/gone', { data: { sku: 'g' } }), 201)
  succeed(await world.call('PUT', `/v1/shop/records/${hidden}/under`, { data: { name: CANARY } }), 201)
  succeed(
    await world.call('POST', '/v1/shop/relationships', {
      rel_type: 'part',
      source_record_type: 'item',
      source_id: 'gone',
      target_record_type: hidden,
      target_id: 'under',
    }),
    201,
  )
  const statements = `DELETE FROM item WHERE id = 'gone' RETURNING *; SELECT * FROM changes; SELECT * FROM records; SELECT * FROM relationships`
  const { text } = await half('POST', '/v1/shop/sql/execute', { statements })
  expect(showsForeign(text)).toBe(false)
})

test('more rows than a statement may write are refused with their number', { tags: 'full' }, async () => {
  const rows = times(1001, (n) => ({ id: `r${n}` }))
  const insert = `INSERT INTO item (id, sku) SELECT id, id FROM jsonb_to_recordset(:rows) AS r(id text)`
  // A dry run, because the last test reads all records in one answer.
  const run = (statements: string, params?: object) =>
    writer('POST', '/v1/shop/sql/execute', { statements, dry_run: true, ...(params && { params }) })
  expect(expectFault(await run(insert, { rows }), '/statements/0')).toMatchObject({
    code: 'too_many_rows',
    received: 1001,
  })
  expect(succeed(await run(insert, { rows: rows.slice(1) })).meta).toMatchObject({ count: 1000 })
  expectFault(await run(times(21, () => 'SELECT 1 AS one').join(';')), '/statements')
  expectFault(await run(`UPDATE item SET title = '${'x'.repeat(200_000)}'`), '/statements')
  const nested = `${'abs('.repeat(5000)}1${')'.repeat(5000)}`
  expectFailure(await run(`UPDATE item SET stock = ${nested}`), 'VALIDATION_ERROR')
  const deep = `data = jsonb_set(data, '{attributes}', '${'['.repeat(300)}${']'.repeat(300)}')`
  expectFailure(await run(`UPDATE item SET ${deep} WHERE id = 'p02'`), 'VALIDATION_ERROR')
  const proto = `data = data || '{"__proto__": {"x": 1}}'`
  expectFailure(await run(`UPDATE item SET ${proto} WHERE id = 'p02'`), 'VALIDATION_ERROR')
})

test('concurrent updates of one row all take effect', { tags: 'full' }, async () => {
  succeed(await world.call('PUT', '/v1/shop/records/item/race', { data: { stock: 0 } }), 201)
  const add = () =>
    writer('POST', '/v1/shop/sql/execute', {
      statements: `UPDATE item SET stock = stock + 1 WHERE id = 'race' RETURNING stock`,
    })
  const answers = await Promise.all(
    times(4, async () => {
      const done: Body[] = []
      for (let n = 0; n < 10; n++) done.push(succeed(await add()).data[0].rows[0])
      return done
    }),
  )
  const seen = answers.flat().map(({ stock }) => stock)
  expect(seen.sort((a, b) => a - b)).toEqual(times(40, (n) => n + 1))
})

test('concurrent inserts of one key with ON CONFLICT become one record', { tags: 'full' }, async () => {
  const put = (n: number) =>
    writer('POST', '/v1/shop/sql/execute', {
      statements: `INSERT INTO item (id, sku, stock) VALUES ('one', 's${n}', 1)
        ON CONFLICT (id) DO UPDATE SET stock = item.stock + 1 RETURNING stock`,
    })
  const answers = await Promise.all(times(20, put))
  const seen = answers.map((answer) => succeed(answer).data[0].rows[0].stock)
  expect(seen.sort((a, b) => a - b)).toEqual(times(20, (n) => n + 1))
})

// The last test: it changes the views and the roles of the database.
test('without the database role, the SQL parser alone keeps writes from foreign data', {
  tags: ['full', 'sampled'],
  timeout: MINUTES,
}, async () => {
  succeed(await writer('POST', '/v1/shop/sql/execute', { statements: 'SELECT 1 AS one' }))
  await withoutDatabaseRoles(world, WRITTEN)
  const before = await state()
  expect(await escapes(sampleOf(inEachPlace(ATTACKS), 13))).toEqual([])
  const statements = `UPDATE item SET title = 'seen' WHERE id = 'p01'; SELECT * FROM records; SELECT * FROM changes LIMIT 900;
    SELECT * FROM item; SELECT * FROM relationships; SELECT * FROM record_types`
  const { status, text } = await writer('POST', '/v1/shop/sql/execute', { statements, dry_run: true })
  expect([status, showsForeign(text), text.includes('seen')], text).toEqual([200, false, true])
  expect(await state()).toEqual(before)
})

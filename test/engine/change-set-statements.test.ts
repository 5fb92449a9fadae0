// @module-tag full
/** What change-sets cost those who use none: no statement more. */
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LIMITS } from '../../src/foundation/limits.ts'
import { expectFailure, succeed, times } from '../support/answers.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  const type = {
    json_schema: { type: 'object', properties: { n: { type: 'integer' } } },
    indexes: [{ fields: ['data.n'] }],
  }
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', type), 201)
  for (const id of ['a', 'b'])
    succeed(await world.call('PUT', `/v1/crm/records/deal/${id}`, { data: {} }), 201)
})
afterAll(() => world.close())

/** The statements on records, links and the log that the work runs, as PostgreSQL gets them. */
async function statementsOf(work: () => Promise<void>): Promise<string[]> {
  const seen: string[] = []
  const { prototype } = pg.Client
  const { query } = prototype
  prototype.query = function (this: pg.Client, ...sent: unknown[]) {
    const [first] = sent as [string | { text?: string } | undefined]
    const text = typeof first === 'string' ? first : first?.text
    if (text) seen.push(text)
    return Reflect.apply(query, this, sent)
  } as typeof query
  try {
    await work()
  } finally {
    prototype.query = query
  }
  return seen.filter((text) =>
    /plinth(_draft)?\.(record|few_records|relationship|change|draft|change_set)/.test(text),
  )
}

test('production runs the statements that it runs without change-sets, and none names a draft', async () => {
  let n = 0
  const work = async () => {
    const record = '/v1/crm/records/deal/a'
    succeed(await world.call('GET', record))
    succeed(await world.call('GET', '/v1/crm/records/deal?limit=2&include_total=true'))
    succeed(await world.call('PATCH', record, { data: { n: ++n } }))
  }
  for (let warm = 0; warm < 3; warm++) await work()
  const before = await statementsOf(work)
  expect(before.length).toBeGreaterThanOrEqual(3)
  const id = succeed(await world.call('POST', '/v1/crm/preview', { copy: 'on_write' }), 201).id
  succeed(await world.call('PATCH', `/v1/${id}/records/deal/a`, { data: { draft: 1 } }))
  succeed(await world.call('DELETE', `/v1/${id}/records/deal/b`))
  await work()
  const after = await statementsOf(work)
  expect(after).toEqual(before)
  expect(after.filter((text) => /draft|change_set/.test(text))).toEqual([])
  const inside = await statementsOf(async () => {
    succeed(await world.call('GET', `/v1/${id}/records/deal/a`))
  })
  // The counter would see them, and one read is one statement there too.
  expect(inside).toHaveLength(1)
  expect(inside[0]).toContain('plinth_draft.few_records')
})

test('a change-set is opened by two statements after its locks, and answers what it is without another', async () => {
  const open = () => world.call('POST', '/v1/crm/preview', { copy: 'on_write', title: 'Two statements' })
  succeed(await open(), 201)
  let opened: Record<string, unknown> = {}
  const seen = await statementsOf(async () => {
    opened = succeed(await open(), 201)
  })
  const [locks, ...writes] = seen
  expect(locks).toMatch(/^SELECT pg_advisory_xact_lock_shared/)
  expect(writes.map((text) => /INTO plinth\.(\w+)/.exec(text)?.[1])).toEqual(['base', 'change'])
  expect(succeed(await world.call('GET', `/v1/bases/${opened['id']}`))['change_set']).toEqual(
    opened['change_set'],
  )
})

test('a change-set takes all that it has room for and no more, and counts its drafts where that may be too much', {
  tags: 'full',
}, async () => {
  const { id } = succeed(await world.call('POST', '/v1/crm/preview', { copy: 'on_write' }), 201)
  const put = (name: string) => world.call('PUT', `/v1/${id}/records/deal/${name}`, { data: { name } })
  const most = async () => {
    const [row] = await world.database.query(
      'SELECT most_rows AS rows, most_bytes::int AS bytes FROM plinth.change_set WHERE base_id = $1',
      [id],
    )
    return row as { rows: number; bytes: number }
  }
  succeed(await put('first'), 201)
  succeed(await put('first'))
  // A bound: one draft was written, twice at most.
  expect((await most()).rows).toBe(1)
  succeed(await world.call('PATCH', `/v1/${id}/records/deal/first`, { data: { more: 'x'.repeat(1000) } }))
  const { rows, bytes } = await most()
  expect(rows).toBe(2)
  expect(bytes).toBeGreaterThan(1000)
  await world.database.query('UPDATE plinth.change_set SET most_bytes = $2::bigint WHERE base_id = $1', [
    id,
    LIMITS.changeSetBytes,
  ])
  succeed(await put('second'), 201)
  expect((await most()).rows).toBe(2)
  expect((await most()).bytes).toBeLessThan(2000)
  await world.database.query(
    `INSERT INTO plinth.draft_record SELECT (jsonb_populate_record(d, jsonb_build_object('id', 'x' || n, 'row_no', -n))).*
     FROM plinth.draft_record d, generate_series(1, $2::int) n WHERE d.branch = $1 AND d.id = 'second'`,
    [id, LIMITS.changeSetRows - 3],
  )
  await world.database.query('UPDATE plinth.change_set SET most_rows = $2::int WHERE base_id = $1', [
    id,
    LIMITS.changeSetRows - 1,
  ])
  succeed(await put('last'), 201)
  succeed(await put('second'), 200)
  const create = { type: 'create_record', record_type: 'deal', data: {} }
  const tooMuch = [
    await put('over'),
    await world.call('POST', `/v1/${id}/batch`, { operations: [create] }),
    await world.call('POST', `/v1/${id}/records/deal`, { data: {} }, { 'idempotency-key': 'over' }),
  ]
  for (const answer of tooMuch)
    expect(expectFailure(answer, 'CONFLICT').details[0].code).toBe('change_set_full')
  // What else the database refuses at the end is not for want of room.
  await world.database.query(
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE check_violation USING MESSAGE = ''another rule''; END'`,
  )
  await world.database.query(
    `CREATE CONSTRAINT TRIGGER refused AFTER UPDATE OF written_by ON plinth.change_set DEFERRABLE INITIALLY DEFERRED
     FOR EACH ROW EXECUTE FUNCTION refuse()`,
  )
  const { id: roomy } = succeed(await world.call('POST', '/v1/crm/preview', { copy: 'on_write' }), 201)
  const others = [
    await world.call('PUT', `/v1/${roomy}/records/deal/over`, { data: {} }),
    await world.call('POST', `/v1/${roomy}/records/deal`, { data: {} }, { 'idempotency-key': 'other' }),
  ]
  for (const answer of others) expectFailure(answer, 'INTERNAL_ERROR')
  await world.database.query('DROP TRIGGER refused ON plinth.change_set')
  expect((await most()).rows).toBeLessThanOrEqual(LIMITS.changeSetRows)
  expectFailure(await world.call('GET', `/v1/${id}/records/deal/over`), 'NOT_FOUND')
})

test('a record of a large change-set among small ones is read and drafted by keys alone, with and without statistics', {
  tags: 'full',
}, async () => {
  const open = async (drafts: number) => {
    const { id } = succeed(await world.call('POST', '/v1/crm/preview', { copy: 'on_write' }), 201)
    const operations = times(drafts, (n) => ({
      ...{ type: 'upsert_record', record_type: 'deal', id: `d${n}`, data: { n } },
    }))
    succeed(await world.call('POST', `/v1/${id}/batch`, { operations }))
    return id as string
  }
  for (let n = 0; n < 20; n++) await open(1)
  const large = await open(1000)
  const client = new pg.Client({ connectionString: world.database.url })
  await client.connect()
  await client.query('SET plan_cache_mode = force_generic_plan')
  await client.query(
    `PREPARE one (text, text) AS SELECT data FROM plinth_draft.few_records($1)
     WHERE base_id = 'crm' AND record_type = 'deal' AND id = $2`,
  )
  for (const statistics of ['', 'ANALYZE plinth.record, plinth.draft_record']) {
    if (statistics) await client.query(statistics)
    for (const [id, rows] of [
      ['a', 1],
      ['d999', 1],
      ['nowhere', 0],
    ] as const) {
      const { rows: found } = await client.query(
        `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) EXECUTE one ('${large}', '${id}')`,
      )
      const [{ Plan: plan }] = found[0]['QUERY PLAN']
      expect(plan['Actual Rows']).toBe(rows)
      expect(JSON.stringify(plan)).not.toMatch(/hashed|Seq Scan/)
      expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(40)
    }
  }
  // The first time reads the catalogue too.
  const blocks: number[] = []
  for (let n = 0; n < 2; n++) {
    const { rows: found } = await client.query(
      `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) SELECT plinth_draft.enter(d, true) FROM plinth.draft_record d
       WHERE d.branch = $1 AND d.record_type = 'deal' AND d.id = 'd999'`,
      [large],
    )
    const [{ Plan: plan }] = found[0]['QUERY PLAN']
    blocks.push(plan['Shared Hit Blocks'] + plan['Shared Read Blocks'])
  }
  expect(blocks[1]).toBeLessThan(20)
  await client.end()
})

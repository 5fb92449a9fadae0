// @module-tag full
/** No statement of history, undo, SQL that writes or environments reads a large table from end to end. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed, times } from '../support/answers.ts'
import { explain, type RanStatement, statementsOf } from '../support/query-plans.ts'
import { openWorld, type World } from '../support/world.ts'

const CHANGES = 25_000
const RECORDS = 25_000
const LARGE = ['change', 'record', 'relationship']
/** Rows that a statement may read: 20,000 entries are one step of a page of changes. */
const MOST = 20_500

let world: World
let part: Awaited<ReturnType<World['newToken']>>
let made: string
beforeAll(async () => {
  world = await openWorld()
  for (const table of ['change', 'record', 'relationship'])
    await world.database.query(`ALTER TABLE plinth.${table} SET (autovacuum_enabled = off)`)
  for (const type of ['t', 'hidden'])
    succeed(await world.call('PUT', `/v1/crm/record-types/${type}`, {}), 201)
  const ends = { source_record_types: ['t'], target_record_types: ['t'] }
  succeed(await world.call('PUT', '/v1/crm/relationship-types/joins', ends), 201)
  const single = { cardinality: 'many_to_one' }
  succeed(await world.call('PUT', '/v1/crm/relationship-types/owned', { ...ends, ...single }), 201)
  await world.database.query(
    `INSERT INTO plinth.record (base_id, record_type, id, data, version)
     SELECT 'crm', 't', 'r' || n, jsonb_build_object('n', n), 4 FROM generate_series(1, $1::int) n`,
    [RECORDS],
  )
  await world.database.query(
    `INSERT INTO plinth.change (base_id, kind, record_type, id, operation, version, data, token_id, actor_name, via, request_id, at, cause)
     SELECT 'crm', 'record', CASE WHEN n % 5 = 0 THEN 'hidden' ELSE 't' END, 'r' || (n - 1) / 4, CASE WHEN n % 4 = 1 THEN 'create' ELSE 'update' END,
       1 + (n - 1) % 4, jsonb_build_object('n', n), 'tok' || n % 7, 'name', 'rest', 'req-' || n / 100,
       now() - make_interval(secs => ($1::int - n) * 5), CASE WHEN n % 50 = 3 THEN '77' END
     FROM generate_series(1, $1::int) n`,
    [CHANGES],
  )
  await world.database.query(
    `INSERT INTO plinth.relationship (base_id, id, rel_type, source_record_type, source_id, source_row,
       target_record_type, target_id, target_row, data, one_target, one_source)
     SELECT 'crm', 'l' || a.row_no, 'joins', 't', a.id, a.row_no, 't', b.id, b.row_no, '{}', false, false
     FROM plinth.record a JOIN plinth.record b ON b.row_no = a.row_no + 1`,
  )
  succeed(await world.call('PUT', '/v1/crm/record-types/checked', {}), 201)
  succeed(await world.call('PUT', '/v1/crm/relationship-types/few', ends), 201)
  await world.database.query(
    `INSERT INTO plinth.record (base_id, record_type, id, data, version)
     SELECT 'crm', 'checked', 'c' || n, jsonb_build_object('n', n), 1 FROM generate_series(1, 5000) n`,
  )
  // Without types of its own: a type that a relationship type names is not deleted.
  const pulls = { on_delete: 'cascade' }
  succeed(await world.call('PUT', '/v1/crm/relationship-types/pulls', pulls), 201)
  const puller = { rel_type: 'pulls', target_record_type: 'checked', target_id: 'c1' }
  for (const source_id of ['r1', 'r2']) {
    const body = { ...puller, source_record_type: 't', source_id }
    succeed(await world.call('PUT', `/v1/crm/relationships/of-${source_id}`, body), 201)
  }
  part = await world.newToken([{ record_type: 't', permission: 'write' }])
  const operations = times(50, (n) => ({
    type: 'patch_record',
    record_type: 't',
    id: `r${n + 1}`,
    data: { m: n },
  }))
  const links = times(50, (n) => ({
    ...{ type: 'upsert_relationship', rel_type: 'joins', source_record_type: 't', target_record_type: 't' },
    ...{ source_id: `r${n + 1}`, target_id: `r${n + 500}` },
  }))
  made = 'made'
  const batch = { operations: [...operations, ...links] }
  succeed(await world.call('POST', '/v1/crm/batch', batch, { 'x-request-id': made }))
  // What followed from each of its changes: a delivery, a run and a change of another record.
  const steps = [{ name: 'q', type: 'query', record_type: 't' }]
  succeed(await world.call('PUT', '/v1/crm/actions/act', { steps }), 201)
  const trigger = { record_types: ['checked'], action: 'act', enabled: false }
  succeed(await world.call('PUT', '/v1/crm/triggers/on', trigger), 201)
  await world.database.query(
    `WITH d AS (
       INSERT INTO plinth.trigger_delivery (base_id, trigger_id, id, event, record_type, record_id, change_seq, status)
       SELECT 'crm', 'on', 'd' || seq, 'record.updated', 't', id, seq, 'succeeded' FROM plinth.change
       WHERE request_id = $1 AND kind = 'record' RETURNING id, record_id),
     r AS (
       INSERT INTO plinth.action_run (base_id, action_id, id, status, action_version, steps, duration_ms, actor_name, via, request_id, cause, created_at)
       SELECT 'crm', 'act', 'run-' || id, 'succeeded', 1, '[]', 1, 'on', 'trigger', 'run', id, now() FROM d)
     INSERT INTO plinth.change (base_id, kind, record_type, id, operation, version, data, actor_name, via, request_id, cause)
     SELECT 'crm', 'record', 't', 'x' || id, 'create', 1, '{}', 'on', 'action', 'run', 'run-' || id FROM d`,
    [made],
  )
})
afterAll(() => world.close())

const since = () => new Date(Date.now() - 60_000).toISOString()
const list = (query: string) => async () => {
  for (const { call } of [world, part]) succeed(await call('GET', `/v1/crm/changes?${query}`))
}
const post = (path: string, body: object) => async () => {
  const answer = await world.call('POST', `/v1/crm/${path}`, body)
  expect(answer.status, answer.text).toBeLessThan(300)
}
const undo = (selection: () => object) => async () => {
  succeed(await world.call('POST', '/v1/crm/revert?dry_run=true', { ...selection(), on_conflict: 'skip' }))
}
const sql = (statements: string) => post('sql/execute?dry_run=true', { statements })
const ENDS = { rel_type: 'joins', source_record_type: 't', source_id: 'r7', target_record_type: 't' }

const CASES: [string, () => Promise<void>][] = [
  ['the oldest changes', list('limit=50')],
  ['the newest changes', list('order=desc&include=before')],
  ['changes of a request', list('request_id=req-77')],
  ['changes of a request, newest first', list('request_id=req-77&order=desc')],
  ['changes of a record', list('record_type=t&id=r500')],
  ['changes of a type', list('record_type=t&order=desc')],
  ['changes of a rare kind', list('kind=record_type&order=desc')],
  ['changes of an actor', list('actor=tok3&order=desc')],
  ['changes since a time', () => list(`since=${since()}`)()],
  ['requests', list('group=request')],
  ['requests of an actor', list('group=request&actor=tok3')],
  ['one request', list('group=request&request_id=req-77')],
  ['undo of a request', undo(() => ({ request_id: made }))],
  [
    'undo of a request with its effects',
    async () => {
      const body = { request_id: made, with_effects: true, on_conflict: 'skip' }
      const { effects } = succeed(await world.call('POST', '/v1/crm/revert?dry_run=true', body))
      expect(effects).toMatchObject({ changes: 50, deliveries: [] })
      expect(effects.runs).toHaveLength(50)
    },
  ],
  ['undo of an actor since a time', undo(() => ({ actor: 'admin', since: since() }))],
  [
    'the deletion of a type, which cascades to records of another',
    async () => {
      const path = '/v1/crm/record-types/checked?dry_run=true&confirm=checked'
      expect(succeed(await world.call('DELETE', path)).dry_run).toBe(true)
    },
  ],
  [
    'SQL that writes records',
    sql(`UPDATE t SET data = data || '{"z": 1}' WHERE id IN ('r5', 'r6') RETURNING id;
    INSERT INTO t (id, data) VALUES ('new', '{}'); SELECT count(*) FROM t WHERE id = 'new'; DELETE FROM t WHERE id = 'new'`),
  ],
  [
    'SQL that writes links',
    sql(`INSERT INTO relationships (rel_type, source_record_type, source_id, target_record_type, target_id)
    VALUES ('joins', 't', 'r5', 't', 'r900'); SELECT id FROM relationships WHERE source_id = 'r5'; SELECT operation FROM changes WHERE id = 'r5'`),
  ],
  [
    'links deleted by their ends',
    post('batch?dry_run=true', { operations: [{ type: 'delete_relationship', ...ENDS, target_id: 'r8' }] }),
  ],
  [
    'a link moved',
    post('batch?dry_run=true', {
      operations: [
        { type: 'upsert_relationship', ...ENDS, rel_type: 'owned', target_id: 'r800', replace: true },
      ],
    }),
  ],
]

/** Statements of callers are theirs to make fast, and settings have no plan. */
const isOurs = ({ name, text }: RanStatement) =>
  // The relay of triggers asks it meanwhile, of the end of the log.
  name !== 'feed_grown' &&
  /plinth\./.test(text) &&
  !/plinth_sql\./.test(text) &&
  /^\s*(WITH|SELECT|INSERT|UPDATE|DELETE)/i.test(text)

async function expectNarrow(work: () => Promise<void>): Promise<void> {
  for (const statement of (await statementsOf(work)).filter(isOurs)) {
    const { scans, widest, text } = await explain(world.database, statement)
    const about = `${statement.name} ${statement.text}\n${text}`
    expect(
      scans.filter((table) => LARGE.includes(table)),
      about,
    ).toEqual([])
    expect(widest, about).toBeLessThanOrEqual(MOST)
  }
}

describe.each(['without', 'with'])('%s planner statistics', (phase) => {
  beforeAll(async () => {
    if (phase === 'with') for (const table of LARGE) await world.database.query(`ANALYZE plinth.${table}`)
  })
  test.each(CASES)('%s', (_, work) => expectNarrow(work))

  test('an aggregate over the last hours reads the end of the log, once for its states and once for their first', async () => {
    const over = { interval: 'hour', since: '2h' }
    const body = { aggregations: [{ fn: 'count' }], group_by: ['data.n'], over }
    const ran = await statementsOf(post('records/t/aggregate', body))
    const [aggregate, ...others] = ran.filter(({ text }) => text.includes('width_bucket('))
    expect(others).toEqual([])
    const { scans, text } = await explain(world.database, aggregate as RanStatement)
    expect(scans, text).not.toContain('change')
  })

  test('a promotion of schemas, its proposal and its rollback read no more than the records of the types', async () => {
    // Not by `admin`, whose changes another case undoes.
    const { call } = await world.newToken([{ permission: 'admin' }])
    const preview = `crm--schemas${phase}`
    const typeOf = (properties: object) => ({ json_schema: { type: 'object', properties } })
    const strict = { n: { type: 'integer', maximum: 1e9 }, [`more-${phase}`]: { type: 'string' } }
    await expectNarrow(async () => {
      succeed(await call('POST', '/v1/crm/preview', { name: `schemas${phase}` }), 201)
      const put = async (path: string, body: object, of = preview) =>
        expect((await call('PUT', `/v1/${of}/${path}`, body)).status).toBeLessThan(300)
      await put('record-types/checked?on_invalid=allow', typeOf({ n: { type: 'string' } }), 'crm')
      await put('record-types/checked', typeOf(strict))
      await put('relationship-types/few', { data_schema: { properties: strict } })
      for (const id of ['new1', 'new2']) await put(`record-types/${id}${phase}`, {})
      const body = { from: preview, force: true }
      succeed(await call('POST', '/v1/crm/promote/proposal', { from: preview }))
      const { id } = succeed(await call('POST', '/v1/crm/promote', body))
      const migration = { checked: [{ op: 'drop', field: 'data.n' }] }
      const back = { promotion_id: id, migration, dry_run: true }
      succeed(await call('POST', '/v1/crm/promote/rollback', back))
      succeed(await call('DELETE', `/v1/bases/${preview}`))
    })
  })

  test('a preview, its configuration, a promotion and its rollback', async () => {
    const name = phase
    const preview = `crm--${name}`
    await expectNarrow(async () => {
      succeed(await world.call('POST', '/v1/crm/preview', { name, copy: 'config_and_sample' }), 201)
      succeed(await world.call('PATCH', `/v1/${preview}/record-types/t`, { name: `Name ${phase}` }))
      const config = succeed(await world.call('GET', `/v1/${preview}/config`))
      succeed(await world.call('POST', `/v1/${preview}/config/diff`, config))
      succeed(await world.call('PUT', `/v1/${preview}/config`, config))
      const { id } = succeed(await world.call('POST', '/v1/crm/promote', { from: preview }))
      succeed(await world.call('GET', '/v1/crm/promotions'))
      succeed(await world.call('POST', '/v1/crm/promote/rollback', { promotion_id: id }))
    })
  })
})

// @module-tag full
/** SQL in change-sets: drafts over the rows of production, for the roles of that change-set alone. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectFailure, succeed } from '../../support/answers.ts'
import type { Call } from '../../support/caller.ts'
import { pastTheParser } from '../../support/past-the-parser.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let call: Call
let serial = 0
/** The change-set of a test. */
let id: string

const properties = { stage: { type: 'string' }, amount: { type: 'number' } }
beforeAll(async () => {
  world = await openWorld()
  ;({ call } = world)
  succeed(
    await call('PUT', '/v1/crm/record-types/deal', { json_schema: { type: 'object', properties } }),
    201,
  )
  succeed(await call('PUT', '/v1/crm/record-types/note', {}), 201)
  const ends = { source_record_types: ['note'], target_record_types: ['deal'] }
  succeed(await call('PUT', '/v1/crm/relationship-types/about', { ...ends, on_delete: 'cascade' }), 201)
  for (const each of ['a', 'b', 'c'])
    succeed(await call('PUT', `/v1/crm/records/deal/${each}`, { data: { stage: 'open', amount: 1 } }), 201)
  const relationships = [{ rel_type: 'about', record_type: 'deal', id: 'a' }]
  succeed(await call('PUT', '/v1/crm/records/note/n', { data: {}, relationships }), 201)
})
afterAll(() => world.close())
beforeEach(async () => {
  const opening = { name: `s${++serial}`, copy: 'on_write' }
  id = succeed(await call('POST', '/v1/crm/preview', opening), 201).id
})

type Row = Record<string, unknown>
const rows = async (query: string, base = id, as = call): Promise<Row[]> =>
  succeed(await as('POST', `/v1/${base}/sql`, { query })).data
const execute = (statements: string, more: object = {}, base = id) =>
  call('POST', `/v1/${base}/sql/execute`, { statements, ...more })
const DEALS = 'SELECT id, stage, version FROM deal ORDER BY id'

test('reads the drafts over the rows of production, in each relation that has them', async () => {
  succeed(await call('PATCH', `/v1/${id}/records/deal/a`, { data: { stage: 'won' } }))
  succeed(await call('DELETE', `/v1/${id}/records/deal/b`))
  succeed(await call('PUT', `/v1/${id}/records/deal/new`, { data: { stage: 'new' } }), 201)
  const relationships = [{ rel_type: 'about', record_type: 'deal', id: 'new' }]
  succeed(await call('PUT', `/v1/${id}/records/note/m`, { data: {}, relationships }), 201)
  expect(await rows(DEALS)).toEqual([
    { id: 'a', stage: 'won', version: 2 },
    { id: 'c', stage: 'open', version: 1 },
    { id: 'new', stage: 'new', version: 1 },
  ])
  expect(await rows('SELECT count(*) AS n FROM records')).toEqual([{ n: 5 }])
  const joined = `SELECT r.source_id, d.stage FROM relationships r JOIN deal d ON d.id = r.target_id ORDER BY 1`
  expect(await rows(joined)).toEqual([
    { source_id: 'm', stage: 'new' },
    { source_id: 'n', stage: 'won' },
  ])
  expect(await rows(DEALS, 'crm')).toHaveLength(3)
  expect((await rows(joined, 'crm')).map(({ stage }) => stage)).toEqual(['open'])
  // What production writes later shows through, and its types and log are production's.
  succeed(await call('PATCH', '/v1/crm/records/deal/c', { data: { stage: `later ${serial}` } }))
  expect((await rows(DEALS))[1]).toMatchObject({ id: 'c', stage: `later ${serial}` })
  expect(await rows('SELECT id FROM record_types ORDER BY id')).toEqual([{ id: 'deal' }, { id: 'note' }])
  expect(await rows(`SELECT DISTINCT via FROM changes WHERE kind = 'record'`)).toEqual([{ via: 'rest' }])
  succeed(await call('PATCH', '/v1/crm/records/deal/c', { data: { stage: 'open' } }))
})

test('whole results have them too', async () => {
  succeed(await call('PATCH', `/v1/${id}/records/deal/a`, { data: { stage: 'won' } }))
  const answer = await call(
    'POST',
    `/v1/${id}/sql`,
    { query: `SELECT id, stage FROM deal ORDER BY id`, limit: 'all' },
    {
      accept: 'application/x-ndjson',
    },
  )
  expect(answer.status).toBe(200)
  expect(answer.text.split('\n')[0]).toBe('{"id":"a","stage":"won"}')
})

describe('writes', () => {
  test('are drafts, which later statements of the request read', async () => {
    const before = await rows(DEALS, 'crm')
    const done = succeed(
      await execute(`UPDATE deal SET stage = 'won' WHERE id IN ('a', 'b') RETURNING id, stage;
        INSERT INTO deal (id, stage, amount) VALUES ('x', 'new', 7);
        DELETE FROM deal WHERE id = 'c';
        UPDATE deal SET amount = amount + 1 WHERE stage = 'won';
        SELECT id, stage, amount FROM deal ORDER BY id`),
    )
    expect(done.change_set).toBe(id)
    expect(done.data.at(-1).rows).toEqual([
      { id: 'a', stage: 'won', amount: 2 },
      { id: 'b', stage: 'won', amount: 2 },
      { id: 'x', stage: 'new', amount: 7 },
    ])
    expect(await rows('SELECT id FROM deal ORDER BY id')).toEqual([{ id: 'a' }, { id: 'b' }, { id: 'x' }])
    expect(await rows(DEALS, 'crm')).toEqual(before)
    const proposal = succeed(await call('POST', '/v1/crm/promote/proposal', { from: id }))
    expect(proposal.summary).toEqual({ create: 1, update: 2, delete: 1 })
    // What is taken back is seen as production has it, by the request that takes it back as well.
    const back = succeed(
      await execute(
        `UPDATE deal SET stage = 'open', amount = 1 WHERE id = 'a'; SELECT stage FROM deal WHERE id = 'a'`,
      ),
    )
    expect(back.data[1].rows).toEqual([{ stage: 'open' }])
  })

  test('of links, with the cascade of a deletion', async () => {
    const done = succeed(await execute(`DELETE FROM deal WHERE id = 'a'; SELECT id FROM relationships`))
    expect(done.data[1].rows).toEqual([])
    expect(await rows('SELECT source_id FROM relationships', 'crm')).toEqual([{ source_id: 'n' }])
  })

  test('that fail, and dry runs, leave nothing', async () => {
    const run = await call('POST', `/v1/${id}/sql/execute?dry_run=true`, { statements: `DELETE FROM deal` })
    expect(succeed(run)).toMatchObject({ data: [{ count: 3 }], dry_run: true })
    expectFailure(
      await execute(`DELETE FROM deal WHERE id = 'a'; INSERT INTO deal (id) VALUES ('b')`),
      'CONFLICT',
    )
    expect(await rows('SELECT count(*) AS n FROM deal')).toEqual([{ n: 3 }])
    expect(succeed(await call('GET', `/v1/${id}/changes`)).data).toEqual([])
  })

  test('at once lose none', async () => {
    const statements = `UPDATE deal SET amount = amount + 1 WHERE id = 'a'`
    const answers = await Promise.all(Array.from({ length: 4 }, () => execute(statements)))
    for (const answer of answers) succeed(answer)
    expect(await rows(`SELECT amount FROM deal WHERE id = 'a'`)).toEqual([{ amount: 5 }])
  })

  test('of a token that proposes are in its change-set', async () => {
    const agent = await world.newToken([{ permission: 'write', writes: 'propose' }])
    const statements = `UPDATE deal SET stage = 'won' WHERE id = 'a'`
    const written = succeed(await agent.call('POST', '/v1/crm/sql/execute', { statements }))
    expect(written.change_set).toMatch(/^crm--p-/)
    expect(await rows(`SELECT stage FROM deal WHERE id = 'a'`, 'crm', agent.call)).toEqual([{ stage: 'won' }])
    expect(await rows(`SELECT stage FROM deal WHERE id = 'a'`, 'crm')).toEqual([{ stage: 'open' }])
  })
})

test('a token reads what it may on both sides', async () => {
  succeed(await call('PUT', `/v1/${id}/records/note/secret`, { data: {} }), 201)
  succeed(await call('PUT', `/v1/${id}/records/deal/new`, { data: {} }), 201)
  const half = await world.newToken([
    { environment: 'preview', permission: 'read' },
    { environment: 'production', permission: 'read', record_type: 'deal' },
  ])
  expect(await rows('SELECT id FROM records ORDER BY id', id, half.call)).toEqual(
    ['a', 'b', 'c', 'new'].map((each) => ({ id: each })),
  )
  const blind = await world.newToken([{ environment: 'production', permission: 'read' }])
  expectFailure(await blind.call('POST', `/v1/${id}/sql`, { query: 'SELECT 1' }), 'FORBIDDEN')
})

test('without the parser, the role of a change-set reads its drafts alone, and that of production none', async () => {
  const mine = id
  const other = succeed(await call('POST', '/v1/crm/preview', { copy: 'on_write' }), 201).id
  for (const base of [mine, other])
    for (const [type, name] of [
      ['deal', 'new'],
      ['note', 'hidden'],
    ])
      succeed(await call('PUT', `/v1/${base}/records/${type}/${name}-${base}`, { data: { of: base } }), 201)
  const recordTypes = ['deal']
  const shown = async (baseId: string, changeSet: string | null) => {
    const { run, close } = await pastTheParser(world, 'query', { baseId, recordTypes, changeSet })
    const drafts = await run(
      `SELECT coalesce(json_agg(data ->> 'of'), '[]') AS of FROM plinth_sql.draft_record WHERE data ? 'of'`,
    )
    const all = await run(`SELECT count(*) AS n FROM plinth_sql.draft_record`)
    // No setting changes what a role sees.
    const set = await run(`SELECT pg_catalog.set_config('plinth.change_set', '${other}', false)`)
    const after = await run(`SELECT count(*) AS n FROM plinth_sql.draft_record`)
    const inner = await run('SELECT * FROM plinth.draft_record')
    const called = await run(`SELECT * FROM plinth_draft.records('${other}')`)
    await close()
    expect([JSON.stringify(inner), JSON.stringify(called)].join()).not.toContain('"rows":[{')
    expect(JSON.stringify(after)).toBe(JSON.stringify(all))
    return { drafts: JSON.stringify(drafts), all: JSON.stringify(all), set: JSON.stringify(set) }
  }
  const seen = await shown('crm', mine)
  expect(seen.drafts).toContain(`["${mine}"]`)
  expect(seen.all).toContain('{"n":4}')
  const none = await shown('crm', null)
  expect(none.all).toContain('{"n":0}')
})

test('lists, objects and several links read as production has them after the merge', {
  tags: 'full',
}, async () => {
  const list = { type: 'array', items: {} }
  const fields = {
    tags: { ...list, items: { type: 'string' } },
    sizes: { ...list, items: { type: 'number' } },
  }
  const json_schema = { type: 'object', properties: { ...fields, parts: list, none: list } }
  const indexes = [{ fields: ['data.tags'] }]
  succeed(await call('PUT', '/v1/crm/record-types/kit', { json_schema, indexes }), 201)
  succeed(await call('PUT', '/v1/crm/relationship-types/holds', { source_record_types: ['kit'] }), 201)
  const data = {
    tags: ['a', 'with "quotes"', '{b,c}', 'NULL', '', '\\'],
    ...{ sizes: [1, 2.5, 1e20], parts: [[1, [2]], { at: [null, true] }, []], none: [] },
  }
  for (const each of ['k1', 'k2']) succeed(await call('PUT', `/v1/crm/records/kit/${each}`, { data }), 201)
  const relationships = ['a', 'b', 'c'].map((to) => ({ rel_type: 'holds', record_type: 'deal', id: to }))
  succeed(await call('PUT', `/v1/${id}/records/kit/k3`, { data, relationships }), 201)
  succeed(await call('PATCH', `/v1/${id}/records/kit/k2`, { data: { parts: [{ of: ['it'] }], none: null } }))
  const statements = `UPDATE kit SET tags = coalesce(tags, '[]') || '["vip"]' WHERE id <> 'k3';
    UPDATE kit SET sizes = sizes - 0 WHERE id = 'k3'; UPDATE kit SET none = to_jsonb(ARRAY[ARRAY[1], ARRAY[2]]) WHERE id = 'k3';
    INSERT INTO relationships (rel_type, source_record_type, source_id, target_record_type, target_id)
      SELECT 'holds', 'kit', 'k1', 'deal', d.id FROM deal d WHERE d.id <> 'c';
    DELETE FROM relationships WHERE source_id = 'k3' AND target_id = 'b'`
  const done = await execute(statements)
  const { plan_token } = succeed(done)
  if (plan_token) succeed(await call('POST', `/v1/${id}/sql/execute`, { plan_token }))
  const queries = [
    'SELECT id, tags, sizes, parts, none, data FROM kit ORDER BY id',
    `SELECT k.id, t.value FROM kit k CROSS JOIN LATERAL jsonb_array_elements_text(k.tags) AS t(value) ORDER BY 1, 2`,
    `SELECT id FROM kit WHERE tags ? 'vip' ORDER BY id`,
    `SELECT id, array_agg(t ORDER BY t) AS texts FROM kit, jsonb_array_elements_text(tags) AS t GROUP BY id ORDER BY id`,
    `SELECT source_id, array_agg(target_id ORDER BY target_id) AS targets, count(*) AS n FROM relationships
       WHERE rel_type = 'holds' GROUP BY 1 ORDER BY 1`,
    `SELECT count(*) AS n, array_agg(id ORDER BY id) AS ids FROM records WHERE record_type = 'kit'`,
  ]
  const read = async (base: string) => {
    const answers: Row[][] = []
    for (const query of queries) answers.push(await rows(query, base))
    return answers
  }
  const before = await read(id)
  expect(before[2]).toEqual([{ id: 'k1' }, { id: 'k2' }])
  expect(before[4]).toEqual([
    { source_id: 'k1', targets: ['a', 'b'], n: 2 },
    { source_id: 'k3', targets: ['a', 'c'], n: 2 },
  ])
  expect(await rows(`SELECT id FROM kit WHERE tags ? 'vip'`, 'crm')).toEqual([])
  succeed(await call('POST', '/v1/crm/promote', { from: id }))
  expect(await read('crm')).toEqual(before)
  expect(await read(id)).toEqual(before)
})

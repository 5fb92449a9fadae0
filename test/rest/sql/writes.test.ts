// @module-tag full
/** SQL that writes: INSERT, UPDATE, DELETE and SELECT in one transaction, each carried out as the batch does. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, UUID7 } from '../../support/answers.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let run: (statements: string, more?: object, headers?: Record<string, string>) => ReturnType<World['call']>
let base = 0
let name = ''

beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

beforeEach(async () => {
  name = `crm${++base}`
  succeed(await world.call('PUT', `/v1/bases/${name}`, {}), 201)
  const deal = {
    type: 'object',
    properties: {
      title: { type: 'string' },
      amount: { type: 'number' },
      seats: { type: 'integer' },
      won: { type: 'boolean' },
      due: { type: 'string', format: 'date' },
      closed: { type: 'string', format: 'date-time' },
      tags: { type: 'array', items: { type: 'string' } },
      address: { type: 'object' },
      company: { type: 'string' },
    },
    required: ['title'],
    additionalProperties: true,
  }
  succeed(await world.call('PUT', `/v1/${name}/record-types/deal`, { json_schema: deal }), 201)
  succeed(
    await world.call('PUT', `/v1/${name}/record-types/company`, {
      json_schema: { type: 'object', properties: { name: { type: 'string' }, factor: { type: 'number' } } },
    }),
    201,
  )
  run = (statements, more = {}, headers = {}) =>
    world.call('POST', `/v1/${name}/sql/execute`, { statements, ...more }, headers)
  const rows = [
    {
      type: 'create_record',
      record_type: 'deal',
      id: 'd1',
      data: { title: 'One', amount: 10, tags: ['a'], company: 'c1', address: { city: 'Bern', zip: null } },
    },
    {
      type: 'create_record',
      record_type: 'deal',
      id: 'd2',
      data: { title: 'Two', amount: 20, company: 'c2' },
      external_id: 'x2',
    },
    { type: 'create_record', record_type: 'deal', id: 'd3', data: { title: 'Three' } },
    { type: 'create_record', record_type: 'company', id: 'c1', data: { name: 'Acme', factor: 2 } },
    { type: 'create_record', record_type: 'company', id: 'c2', data: { name: 'Bolt', factor: 3 } },
  ]
  succeed(await world.call('POST', `/v1/${name}/batch`, { operations: rows }))
})

const deal = async (id: string): Promise<Body> =>
  succeed(await world.call('GET', `/v1/${name}/records/deal/${id}`))

test('UPDATE touches only what SET names, and RETURNING shows the rows after it', async () => {
  const done = succeed(
    await run(`UPDATE deal SET amount = amount * 1.1, tags = tags || '["vip"]', won = NULL,
      address = jsonb_set(address, '{zip}', '3000') WHERE id = 'd1' RETURNING id, amount, old.amount AS before, tags, version`),
  )
  expect(done).toEqual({
    data: [
      {
        statement: 0,
        operation: 'update',
        count: 1,
        rows: [{ id: 'd1', amount: 11, before: 10, tags: ['a', 'vip'], version: 2 }],
      },
    ],
    meta: { count: 1 },
  })
  expect((await deal('d1'))['data']).toEqual({
    title: 'One',
    amount: 11,
    tags: ['a', 'vip'],
    company: 'c1',
    address: { city: 'Bern', zip: 3000 },
  })
})

test('INSERT, UPDATE FROM, DELETE and SELECT see what those before them wrote', async () => {
  const done = succeed(
    await run(
      `INSERT INTO deal (id, title, amount, company) VALUES ('d4', 'Four', :amount, 'c1') RETURNING *;
       UPDATE deal d SET amount = d.amount * c.factor FROM company c WHERE c.id = d.company RETURNING d.id, d.amount, c.name;
       SELECT count(*) AS n, sum(amount) AS total FROM deal;
       DELETE FROM deal WHERE id = 'd3' RETURNING id, title;
       SELECT id FROM records WHERE record_type = 'deal' ORDER BY id;
       SELECT operation, count(*) AS n FROM changes WHERE record_type = 'deal' GROUP BY 1 ORDER BY 1`,
      { params: { amount: 40 } },
    ),
  )
  const [inserted, updated, summed, deleted, left, changes] = done.data
  expect(inserted.rows[0]).toMatchObject({
    id: 'd4',
    title: 'Four',
    amount: 40,
    version: 1,
    status: 'active',
  })
  expect(updated.count).toBe(3)
  expect(updated.rows.map(({ id, amount, name }: Body) => [id, amount, name]).sort()).toEqual([
    ['d1', 20, 'Acme'],
    ['d2', 60, 'Bolt'],
    ['d4', 80, 'Acme'],
  ])
  expect(summed.rows).toEqual([{ n: 4, total: 160 }])
  expect(deleted).toMatchObject({ count: 1, rows: [{ id: 'd3', title: 'Three' }] })
  expect(left.rows).toEqual([{ id: 'd1' }, { id: 'd2' }, { id: 'd4' }])
  expect(changes.rows).toEqual([
    { operation: 'create', n: 4 },
    { operation: 'delete', n: 1 },
    { operation: 'update', n: 3 },
  ])
})

test('ON CONFLICT by id and by pair updates, creates or leaves records', async () => {
  const upsert = `INSERT INTO deal AS d (id, title, amount) VALUES ('d1', 'Uno', 5), ('d9', 'Nine', 9)
    ON CONFLICT (id) DO UPDATE SET title = EXCLUDED.title, amount = d.amount + EXCLUDED.amount
    WHERE d.amount > 0 RETURNING id, title, amount`
  const [first] = succeed(await run(upsert)).data
  expect(first.rows).toEqual([
    { id: 'd1', title: 'Uno', amount: 15 },
    { id: 'd9', title: 'Nine', amount: 9 },
  ])
  const [pairs, nothing] = succeed(
    await run(`INSERT INTO deal (external_id, title) SELECT x, 'By pair' FROM unnest(ARRAY['x2', 'x8']) AS x
        ON CONFLICT (external_source, external_id) DO UPDATE SET title = EXCLUDED.title RETURNING id, external_id, title;
      INSERT INTO deal (id, title) VALUES ('d1', 'Never'), ('d10', 'Ten'), ('d10', 'Twice') ON CONFLICT DO NOTHING RETURNING id, title`),
  ).data
  expect(pairs.rows).toEqual([
    { id: 'd2', external_id: 'x2', title: 'By pair' },
    { id: expect.any(String), external_id: 'x8', title: 'By pair' },
  ])
  expect(nothing).toMatchObject({ count: 1, rows: [{ id: 'd10', title: 'Ten' }] })
  expect((await deal('d1'))['data']).not.toHaveProperty('seats')
  const twice = upsert.replace("'d9'", "'d1'")
  expectFault(await run(twice), '/statements/0/rows/1')
})

test('links are inserted, updated and deleted, with cardinality and ends checked', async () => {
  succeed(
    await world.call('PUT', `/v1/${name}/relationship-types/of`, {
      source_record_types: ['deal'],
      target_record_types: ['company'],
      cardinality: 'many_to_one',
      data_schema: { type: 'object', properties: { role: { type: 'string' } } },
    }),
    201,
  )
  const columns = '(rel_type, source_record_type, source_id, target_record_type, target_id, data)'
  const [made, again, changed, seen, gone, left] = succeed(
    await run(`INSERT INTO relationships ${columns} VALUES ('of', 'deal', 'd1', 'company', 'c1', '{"role": "buyer"}') RETURNING rel_type, source_id, data;
      INSERT INTO relationships ${columns} SELECT 'of', 'deal', id, 'company', company, '{}' FROM deal WHERE id = 'd2';
      UPDATE relationships SET data = data || '{"role": "owner"}' WHERE source_id = 'd1' RETURNING data ->> 'role' AS role, version;
      SELECT source_id, data FROM relationships ORDER BY 1;
      DELETE FROM relationships WHERE source_id = 'd2' RETURNING target_id;
      SELECT count(*) AS n FROM relationships`),
  ).data
  expect(made.rows).toEqual([{ rel_type: 'of', source_id: 'd1', data: { role: 'buyer' } }])
  expect(again.count).toBe(1)
  expect(changed.rows).toEqual([{ role: 'owner', version: 2 }])
  expect(seen.rows).toEqual([
    { source_id: 'd1', data: { role: 'owner' } },
    { source_id: 'd2', data: {} },
  ])
  expect(gone.rows).toEqual([{ target_id: 'c2' }])
  expect(left.rows).toEqual([{ n: 1 }])
  const link = (id: string, target: string) =>
    `INSERT INTO relationships (rel_type, source_record_type, source_id, target_record_type, target_id) VALUES ('of', 'deal', '${id}', 'company', '${target}')`
  expectFailure(await run(link('d1', 'c2')), 'CONFLICT')
  expectFailure(await run(link('d3', 'none')), 'VALIDATION_ERROR')
  expectFault(await run(`UPDATE relationships SET rel_type = 'at'`), '/statements/0')
})

test('UPDATE moves the end of a link, which keeps its id, its data and its pair', {
  tags: 'full',
}, async () => {
  const put = (id: string, cardinality: string) =>
    world.call('PUT', `/v1/${name}/relationship-types/${id}`, {
      source_record_types: ['deal'],
      target_record_types: ['company'],
      cardinality,
    })
  for (const [id, cardinality] of [
    ['of', 'many_to_one'],
    ['main', 'one_to_one'],
    ['near', 'many_to_many'],
  ] as const)
    succeed(await put(id, cardinality), 201)
  const ends = { source_record_type: 'deal', source_id: 'd1', target_record_type: 'company', target_id: 'c1' }
  const pair = { external_id: 'l1', external_source: 'erp' }
  const link = { rel_type: 'of', ...ends, ...pair, data: { role: 'buyer' } }
  const { id } = succeed(await world.call('POST', `/v1/${name}/relationships`, link), 201)
  succeed(
    await run(`INSERT INTO relationships (rel_type, source_id, target_id) VALUES ('of', 'd2', 'c1'), ('main', 'd1', 'c1'),
      ('main', 'd2', 'c2'), ('near', 'd1', 'c1'), ('near', 'd1', 'c2')`),
  )
  const linked = async () =>
    succeed(await run(`SELECT rel_type, source_id, target_id FROM relationships ORDER BY 1, 2, 3`)).data[0]
      .rows
  const before = await linked()

  const moved =
    await run(`UPDATE relationships r SET target_id = 'c2' FROM deal d WHERE r.rel_type = 'of' AND d.id = r.source_id
      AND r.target_id = 'c1' RETURNING r.id, r.target_id, r.data, r.external_id, d.title`)
  expect(succeed(moved).data[0]).toMatchObject({
    operation: 'update',
    count: 2,
    rows: expect.arrayContaining([
      { id, target_id: 'c2', data: { role: 'buyer' }, external_id: 'l1', title: 'One' },
    ]),
  })
  expect(succeed(await world.call('GET', `/v1/${name}/relationships/${id}`))).toMatchObject({
    ...link,
    target_id: 'c2',
  })
  const undone = { request_id: moved.headers.get('x-request-id') }
  succeed(await world.call('POST', `/v1/${name}/revert`, undone))
  expect(await linked()).toEqual(before)
  expect(succeed(await world.call('GET', `/v1/${name}/relationships/${id}`))).toMatchObject(link)

  // Nothing gives way to a link that moves.
  const taken = expectFailure(
    await run(`UPDATE relationships SET target_id = 'c2' WHERE rel_type = 'main' AND source_id = 'd1'`),
    'CONFLICT',
  )
  expect(taken.details[0]).toMatchObject({ code: 'cardinality', samples: [{ source_id: 'd2' }] })
  const twice = await run(
    `UPDATE relationships SET target_id = 'c2' WHERE rel_type = 'near' AND target_id = 'c1'`,
  )
  expect(expectFailure(twice, 'CONFLICT').details[0]).toMatchObject({ code: 'exists' })
  const again = expectFailure(await run(`INSERT INTO company (id, name) VALUES ('c1', 'C')`), 'CONFLICT')
  expect(again.message).toBe(
    'Statement 0: company "c1": There is already a record "c1". Use another id, or update the one that exists. Nothing was written.',
  )
  for (const end of [`'none'`, 'NULL', `(SELECT id FROM company WHERE name = 'None')`])
    expectFailure(await run(`UPDATE relationships SET target_id = ${end}`), 'VALIDATION_ERROR')
  expectFailure(
    await run(`UPDATE relationships SET source_record_type = 'company', source_id = 'c1'`),
    'VALIDATION_ERROR',
  )
  expect(await linked()).toEqual(before)
})

test('faults of the same kind name the link of each row', async () => {
  succeed(
    await world.call('PUT', `/v1/${name}/relationship-types/of`, {
      source_record_types: ['deal'],
      target_record_types: ['company'],
      cardinality: 'many_to_one',
    }),
    201,
  )
  const insert = (target: string) =>
    run(`INSERT INTO relationships (rel_type, source_id, target_id) SELECT 'of', id, '${target}' FROM deal`)
  succeed(await insert('c1'))
  const { details } = expectFailure(await insert('c2'), 'CONFLICT')
  const sources = details.map(({ samples }: Body) => samples[0].source_id)
  expect(sources.sort()).toEqual(['d1', 'd2', 'd3'])
  succeed(
    await run(`INSERT INTO deal (id, title) VALUES ('d4', 'Four'); INSERT INTO relationships (rel_type, source_id, target_id)
    VALUES ('of', 'd4', 'c1')`),
  )
  const repeated = expectFailure(await insert('c2'), 'CONFLICT').details
  expect(repeated).toHaveLength(1)
  expect(repeated[0].message).toContain('The same in 4 rows.')
})

test('INSERT into relationships fills in the record type of an end that has no other', async () => {
  const put = (id: string, ends: object) => world.call('PUT', `/v1/${name}/relationship-types/${id}`, ends)
  succeed(await put('one', { source_record_types: ['deal'], target_record_types: ['company'] }), 201)
  succeed(await put('some', { source_record_types: ['deal'], target_record_types: ['company', 'deal'] }), 201)
  succeed(await put('any', { source_record_types: ['deal'] }), 201)
  const insert = (relType: string, more = '') =>
    `INSERT INTO relationships (rel_type, source_id, target_id${more && ', target_record_type'})
     SELECT '${relType}', 'd1', 'c1'${more} RETURNING source_record_type, target_record_type`
  const ends = { source_record_type: 'deal', target_record_type: 'company' }
  expect(succeed(await run(insert('one'))).data[0].rows).toEqual([ends])
  expect(succeed(await run(insert('any', `, 'company'`))).data[0].rows).toEqual([ends])
  for (const [relType, allowed] of [
    ['some', ['company', 'deal']],
    ['any', undefined],
    ['none', undefined],
  ] as const) {
    const { details } = expectFailure(await run(insert(relType)), 'VALIDATION_ERROR')
    expect(details[0]).toMatchObject({ code: 'required', ...(allowed && { allowed }) })
    expect(details[0].allowed).toEqual(allowed)
  }
  const part = await world.newToken([{ base: name, record_type: ['deal', 'company'], permission: 'write' }])
  const narrow = (statements: string) =>
    part.call('POST', `/v1/${name}/sql/execute`, { statements, dry_run: true })
  expect(succeed(await narrow(insert('one'))).data[0].rows).toEqual([ends])
})

test('a DELETE of several rows answers its plan first, and the plan_token alone confirms it', async () => {
  const statements = `DELETE FROM deal WHERE id <> :kept RETURNING id; SELECT count(*) AS n FROM deal`
  const plan = succeed(await run(statements, { params: { kept: 'd1' } }))
  expect(plan['plan']).toMatchObject({ records: { count: 2, by_type: { deal: 2 } } })
  await deal('d2')
  const confirmed = await world.call('POST', `/v1/${name}/sql/execute`, { plan_token: plan['plan_token'] })
  const [deleted, counted] = succeed(confirmed).data
  expect(deleted.rows.map(({ id }: Body) => id).sort()).toEqual(['d2', 'd3'])
  expect(counted.rows).toEqual([{ n: 1 }])
  expectFailure(await world.call('GET', `/v1/${name}/records/deal/d2`), 'NOT_FOUND')
})

test('a dry run writes nothing, and a key writes once', async () => {
  const statements = `UPDATE deal SET seats = coalesce(seats, 0) + 1 WHERE id = 'd1' RETURNING seats; SELECT seats FROM deal WHERE id = 'd1'`
  const dry = succeed(await run(statements, { dry_run: true }))
  expect(dry).toMatchObject({ dry_run: true, data: [{ rows: [{ seats: 1 }] }, { rows: [{ seats: 1 }] }] })
  expect((await deal('d1'))['version']).toBe(1)
  const key = { 'idempotency-key': 'once' }
  const first = succeed(await run(statements, {}, key))
  const second = await run(statements, {}, key)
  expect(succeed(second)).toEqual(first)
  expect(second.headers.get('idempotency-replayed')).toBe('true')
  expect((await deal('d1'))['version']).toBe(2)
  expectFailure(await run(`${statements};`, {}, key), 'CONFLICT')
})

test('values of SQL are stored as JSON has them', async () => {
  const { data } = succeed(
    await run(
      `UPDATE deal SET due = date '2026-01-31' + interval '1 day', closed = timestamptz '2026-11-22 10:00+01',
        amount = 1.50, won = 'true', tags = :tags, address = jsonb_build_object('a', ARRAY[1, 2]), seats = '7', title = :title
       WHERE id = 'd1' RETURNING data, now() = updated_at AS same`,
      { params: { tags: ['x', 'y'], title: '5' } },
    ),
  )
  expect(data[0].rows[0]).toEqual({
    same: true,
    data: {
      title: '5',
      amount: 1.5,
      company: 'c1',
      due: '2026-02-01',
      closed: '2026-11-22T09:00:00.000Z',
      won: true,
      tags: ['x', 'y'],
      address: { a: [1, 2] },
      seats: 7,
    },
  })
  const created = succeed(
    await run(`INSERT INTO deal (title, amount) VALUES ('New', DEFAULT) RETURNING id, data`),
  ).data[0].rows[0]
  expect(created).toEqual({ id: expect.stringMatching(UUID7), data: { title: 'New' } })
})

const REFUSED: readonly (readonly [statement: string, path: string, words: RegExp])[] = [
  [`UPDATE deal SET status = 'cancelled'`, '/statements/0', /cancel/],
  [`UPDATE deal SET version = 7`, '/statements/0', /version/],
  [`UPDATE deal SET id = 'x'`, '/statements/0', /id of a record/],
  [`UPDATE deal SET tilte = 'x'`, '/statements/0', /title/],
  [`UPDATE deal SET title = 'x', title = 'y'`, '/statements/0', /twice/],
  [`UPDATE deal SET address['zip'] = '1'`, '/statements/0', /jsonb_set/],
  [`UPDATE deal SET title = DEFAULT`, '/statements/0', /DEFAULT/],
  [`UPDATE deal SET (title, amount) = (SELECT 'a', 1)`, '/statements/0', /assignment/],
  [`UPDATE deal SET data = '{}', title = 'x'`, '/statements/0', /data/],
  [`UPDATE deal SET title = max(title)`, '/statements/0', /aggregate/],
  [`UPDATE deal SET title = jsonb_object_keys(data)`, '/statements/0', /set/],
  [`UPDATE ONLY deal SET title = 'x'`, '/statements/0', /ONLY/],
  [`UPDATE plinth.record SET title = 'x'`, '/statements/0', /schema/],
  [`UPDATE records SET data = '{}'`, '/statements/0', /one record type/],
  [`UPDATE changes SET data = '{}'`, '/statements/0', /log/],
  [`WITH deal AS (SELECT 1 AS id) UPDATE deal SET title = 'x'`, '/statements/0', /WITH/],
  [`WITH w AS (DELETE FROM deal RETURNING id) SELECT * FROM w`, '/statements/0', /./],
  [`WITH w AS (DELETE FROM deal RETURNING id) UPDATE deal SET title = 'x' FROM w`, '/statements/0', /./],
  [`UPDATE deal AS old SET title = 'x'`, '/statements/0', /alias/],
  [`INSERT INTO deal VALUES ('a', 'b')`, '/statements/0', /names of its columns/],
  [`INSERT INTO deal DEFAULT VALUES`, '/statements/0', /columns/],
  [`INSERT INTO deal (id, title) VALUES ('a')`, '/statements/0', /one value for each/],
  [`INSERT INTO deal (id) SELECT 'a', 'b'`, '/statements/0', /one value for each/],
  [
    `INSERT INTO deal (id, title) VALUES ('a', 'b') ON CONFLICT (title) DO NOTHING`,
    '/statements/0',
    /\(id\)/,
  ],
  [
    `INSERT INTO deal (id, title) VALUES ('a', 'b') ON CONFLICT ON CONSTRAINT x DO NOTHING`,
    '/statements/0',
    /./,
  ],
  [
    `INSERT INTO deal (id, title) VALUES ('a', 'b') ON CONFLICT DO UPDATE SET title = 'x'`,
    '/statements/0',
    /columns that conflict|syntax|inference/,
  ],
  [`MERGE INTO deal USING company ON true WHEN MATCHED THEN DELETE`, '/statements/0', /ON CONFLICT/],
  [`DELETE FROM deal WHERE CURRENT OF x`, '/statements/0', /./],
  [`UPDATE deal SET title = 'x' RETURNING (SELECT 1)`, '/statements/0', /subqueries/],
  [`UPDATE deal d SET title = 'x' FROM company c RETURNING c.*`, '/statements/0', /Name the columns/],
  [`BEGIN; UPDATE deal SET title = 'x'; ROLLBACK`, '/statements/0', /one transaction/],
  [`BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT 1; COMMIT`, '/statements/0', /one transaction/],
  [`BEGIN; COMMIT`, '/statements', /Send 1 to 20/],
  [`SELECT 1; TRUNCATE deal`, '/statements/1', /DELETE/],
  [`SELECT 1; SELECT pg_sleep(1)`, '/statements/1', /wait/],
  [`UPDATE deal SET amount = 9007199254740993 WHERE id = 'd1'`, '/statements/0/d1/data/amount', /digits/],
  [`UPDATE deal SET amount = 'NaN' WHERE id = 'd1'`, '/statements/0/d1/data/amount', /number/],
  [`UPDATE deal SET data = data || '{"title": 5}' WHERE id = 'd1'`, '/statements/0/d1/data/title', /string/],
  [`UPDATE deal SET title = NULL WHERE id = 'd1'`, '/statements/0/d1/data/title', /required/],
  [`UPDATE deal SET data = data || NULL WHERE id = 'd1'`, '/statements/0/d1/data', /NULL/],
  [`UPDATE deal SET due = now() WHERE id = 'd1'`, '/statements/0/d1/data/due', /date/],
  [`UPDATE deal SET closed = localtimestamp WHERE id = 'd1'`, '/statements/0/d1/data/closed', /time zone/],
  [`INSERT INTO deal (id, title) VALUES ('a b', 'x')`, '/statements/0/rows/0/id', /id/],
  [
    `UPDATE deal SET title = c.name FROM company c WHERE deal.id = 'd1'`,
    '/statements/0/d1',
    /different values/,
  ],
  [`UPDATE deal SET title = 'x' WHERE id = $1`, '/params/0', /params has none/],
]

test('what SQL may not write is refused with the place and the way out, and nothing is written', async () => {
  const before = succeed(
    await world.call('POST', `/v1/${name}/sql`, { query: 'SELECT * FROM records ORDER BY id' }),
  )
  const wrong: unknown[] = []
  for (const [statement, path, words] of REFUSED) {
    const { status, body } = await run(
      `UPDATE company SET factor = 99; ${statement}`.replace(/^UPDATE company SET factor = 99; /, ''),
    )
    const detail = body['error']?.details.find((each: Body) => each['path'] === path)
    if (status !== 400 || !detail || !words.test(`${detail['message']} ${detail['hint']}`))
      wrong.push([statement, status, body['error']?.details ?? body])
  }
  expect(wrong).toEqual([])
  expect(
    succeed(await world.call('POST', `/v1/${name}/sql`, { query: 'SELECT * FROM records ORDER BY id' })),
  ).toEqual(before)
})

test('SET of the status names cancel and restore, also where a property has that name', async () => {
  const schema = { type: 'object', properties: { status: { type: 'string' } } }
  succeed(await world.call('PUT', '/v1/crm/record-types/order', { json_schema: schema }), 201)
  for (const statements of [
    `UPDATE "order" SET status = 'cancelled'`,
    `INSERT INTO "order" (status) VALUES ('x')`,
  ]) {
    const answer = await world.call('POST', '/v1/crm/sql/execute', { statements })
    const [detail] = expectFailure(answer, 'VALIDATION_ERROR').details
    expect(detail).toMatchObject({ code: 'read_only', hint: 'data_status' })
    expect(detail.message).toMatch(/\/cancel cancels .*\/restore reverses/)
  }
})

test('a statement reads whole rows of every relation that an earlier one wrote', async () => {
  succeed(
    await world.call('PUT', `/v1/${name}/relationship-types/of`, {
      source_record_types: ['*'],
      target_record_types: ['*'],
    }),
    201,
  )
  const relations = ['deal', 'records', 'relationships', 'changes', 'record_types', 'relationship_types']
  const reads = relations.map((relation) => `SELECT * FROM ${relation}`).join('; ')
  const written = succeed(
    await run(`UPDATE deal SET amount = 5 WHERE id = 'd1';
      INSERT INTO relationships (rel_type, source_record_type, source_id, target_record_type, target_id) VALUES ('of', 'deal', 'd1', 'company', 'c1');
      ${reads}`),
  ).data.slice(2)
  const after = succeed(await run(reads)).data
  const sorted = (rows: Body[]) => rows.map((row) => JSON.stringify(row)).sort()
  for (const [n, relation] of relations.entries())
    expect(sorted(written[n].rows), relation).toEqual(sorted(after[n].rows))
})

test('a row that the schema refuses is named once, by statement, type, id and property', async () => {
  const answer = await run(`SELECT 1 AS one; UPDATE deal SET title = NULL WHERE id = 'd1'`)
  const { message, details } = expectFailure(answer, 'VALIDATION_ERROR')
  expect(message).toMatch(/^Statement 1: deal "d1": "?title"?[^:]*$/)
  expect(details[0].path).toMatch(/^\/statements\/1\/d1\/data/)
  expect((await deal('d1'))['data'].title).toBe('One')
})

test.each([
  ['UPDATE deal SET title = company, amount = company::numeric', '/statements/0/d1/data/amount', 'deal "d1"'],
  [
    `SELECT 1; UPDATE deal SET seats = 10 / (amount - 20)::int WHERE amount IS NOT NULL`,
    '/statements/1/d2/data/seats',
    'deal "d2", "seats": The statement divides by zero.',
  ],
  [
    `INSERT INTO deal (id, title, amount) SELECT 'n-' || id, title, coalesce(company, '1')::numeric FROM deal WHERE id > 'd1'`,
    '/statements/0/n-d2/data/amount',
    'near "coalesce(company',
  ],
  [
    'INSERT INTO deal (title, amount) SELECT title, title::numeric FROM deal',
    '/statements/0/data/amount',
    '',
  ],
  [
    `INSERT INTO deal (title, seats) VALUES ('a', 1), ('b', :text)`,
    '/statements/0/rows/1/data/seats',
    '"seats"',
  ],
  ['UPDATE deal SET title = company, amount = :text', '/statements/0/data/amount', '"amount": A text'],
  [
    `INSERT INTO deal (id, title) SELECT id, 'x' FROM deal ON CONFLICT (id) DO UPDATE SET won = deal.title::bool`,
    '/statements/0/d1/data/won',
    'boolean',
  ],
  [`UPDATE deal SET amount = 'lots'`, '/statements/0/data/amount', `near "'lots'"`],
  [
    'UPDATE deal SET amount = 1 WHERE company::int > 5',
    '/statements/0',
    'a value of "company" (character 34',
  ],
  ['DELETE FROM deal WHERE company::int > 5', '/statements/0', 'a value of "company" (character 24'],
  [`UPDATE deal SET title = 'x' RETURNING company::int`, '/statements/0', 'a value of "company"'],
])(
  'a value that does not fit is placed by row and property, or in the text: %s',
  async (text, path, words) => {
    const params = text.includes(':text') ? { params: { text: 'a secret' } } : {}
    const { message, details } = expectFailure(await run(text, params), 'VALIDATION_ERROR')
    expect(details).toEqual([expect.objectContaining({ path, code: 'invalid_value' })])
    expect(message).toContain(words)
    expect(message).not.toMatch(/secret|"c1"|Two|plinth|carried|#/)
    expect(await deal('d1')).toMatchObject({ version: 1, data: { title: 'One' } })
  },
)

test('a refused INSERT of several rows names each row, its id where it has one, and what was received', async () => {
  const properties = { email: { type: 'string', format: 'email' }, age: { type: 'integer', minimum: 1 } }
  const json_schema = { type: 'object', properties, additionalProperties: false }
  succeed(await world.call('PUT', `/v1/${name}/record-types/person`, { json_schema }), 201)
  const values = `('p0', 'a@example.com', 3), ('p1', 'a(at)example.com', 3), (NULL, 'b@example.com', 0)`
  for (const more of ['', ' ON CONFLICT (id) DO UPDATE SET age = excluded.age']) {
    const answer = await run(`INSERT INTO person (id, email, age) VALUES ${values}${more}`)
    const { message, details } = expectFailure(answer, 'VALIDATION_ERROR')
    expect(message).toMatch(
      /^Statement 0: person "p1": "email" must match the format email.* Nothing was written\.$/,
    )
    expect(details).toMatchObject([
      { path: '/statements/0/rows/1/data/email', code: 'format', received: 'a(at)example.com' },
      {
        path: '/statements/0/rows/2/data/age',
        code: 'minimum',
        received: 0,
        message: 'a new person: "age" must be at least 1.',
      },
    ])
  }
  // A text that PostgreSQL itself cannot read as the type of the column.
  const long = `much ${'x'.repeat(100)}`
  const rows = `('q0', 'a@example.com', 3), (NULL, 'b@example.com', '${long}'), ('q2', 'c@example.com', 'more')`
  for (const more of ['', ' ON CONFLICT (id) DO UPDATE SET age = excluded.age']) {
    const answer = await run(`INSERT INTO person (id, email, age) VALUES ${rows}${more}`)
    const { message, details } = expectFailure(answer, 'VALIDATION_ERROR')
    expect(message).toMatch(
      /^Statement 0: row 1, "age": A text cannot be read as bigint.*Nothing was written\.$/,
    )
    expect(details).toMatchObject([
      {
        ...{ path: '/statements/0/rows/1/data/age', code: 'invalid_value' },
        ...{ expected: 'bigint', received: long.slice(0, 64), hint: '5' },
      },
    ])
  }
  const computed = await run(
    `INSERT INTO person (email, age) VALUES ('a@example.com', 1), ('b@example.com', 1 / (2 - 2))`,
  )
  expect(expectFailure(computed, 'VALIDATION_ERROR').details).toMatchObject([
    { path: '/statements/0/rows/1/data/age', code: 'invalid_value' },
  ])
  // A parameter is named, also in RETURNING, which has numbers of its own.
  for (const [statements, params, path] of [
    [`UPDATE person SET age = 1 WHERE age > :least`, { least: 'x' }, '/params/least'],
    [
      `INSERT INTO person (id, email, age) VALUES (:id, 'd@example.com', 1) RETURNING age > :b`,
      { id: 'q9', b: 'x' },
      '/params/b',
    ],
  ] as const) {
    const { message, details } = expectFailure(await run(statements, { params }), 'VALIDATION_ERROR')
    expect(details).toMatchObject([{ path, code: 'invalid_value' }])
    expect(message).toMatch(/It is the value of :(least|b)[.]/)
  }
  expect(succeed(await world.call('GET', `/v1/${name}/records/person`)).data).toEqual([])
})

test('the statements have at most 16000 words and signs, of which a string is one', {
  tags: 'full',
}, async () => {
  const values = (count: number, value: string) => Array(count).fill(value).join(', ')
  const insert = (value: string) => `INSERT INTO deal (title) SELECT unnest(ARRAY[${values(900, value)}])`
  const long = "'one: \"two\", {3}, it''s (4); five, six - 7, eight'"
  expect(succeed(await run(insert(long), { dry_run: true })).meta.count).toBe(900)
  for (const [hidden, value] of [
    ['', values(20, '1')],
    ["E'\\'', ", values(20, '1')],
    ["E'a'\n'\\'', ", values(20, '1')],
    ["$$'$$, ", values(20, '1')],
    ["$a$'$a$, ", values(20, '1')],
    ["/*'*/ ", values(20, '1')],
    ["--'\n", values(20, '1')],
    ['', values(9, "'a' || ('b')")],
  ])
    expect(
      expectFault(await run(`SELECT ARRAY[${hidden}${values(1000, value ?? '')}]`), '/statements').code,
    ).toBe('too_many')
})

test('a value that does not fit is found among thousands of places', async () => {
  const casts = Array(2000).fill('title::int').join(', ')
  succeed(await run("INSERT INTO deal (id, title) VALUES ('unfit', 'x')"))
  const answer = await run(`SELECT ARRAY[${casts}] FROM deal WHERE id = 'unfit'`)
  const { message } = expectFailure(answer, 'VALIDATION_ERROR')
  expect(message).toMatch(/It is one of: .* and 1\d\d\d more\.$/)
})

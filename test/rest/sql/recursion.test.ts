/** Recursive queries and unions that mix ids, properties and literals, as PostgreSQL accepts them. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../../support/answers.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  const text = { type: 'string' }
  const properties = { name: text, parent: text, rank: { type: 'integer' } }
  succeed(await world.call('PUT', '/v1/crm/record-types/part', { json_schema: { properties } }), 201)
  const type = { source_record_types: ['part'], target_record_types: ['part'] }
  succeed(await world.call('PUT', '/v1/crm/relationship-types/holds', type), 201)
  const parts = { A: [null, 1], B: ['A', 2], C: ['B', 3], D: ['B', 4], é: ['D', 5] }
  for (const [id, [parent, rank]] of Object.entries(parts)) {
    const data = { name: `n${id}`, ...(parent !== null && { parent }), rank }
    succeed(await world.call('PUT', `/v1/crm/records/part/p${rank}`, { data, external_id: id }), 201)
  }
  for (const [from, to] of [
    ['p1', 'p2'],
    ['p2', 'p3'],
    ['p2', 'p4'],
    ['p4', 'p5'],
  ]) {
    const link = {
      rel_type: 'holds',
      source_id: from,
      source_record_type: 'part',
      target_id: to,
      target_record_type: 'part',
    }
    succeed(await world.call('POST', '/v1/crm/relationships', link), 201)
  }
})
afterAll(() => world.close())

const LINKS = 'relationships l JOIN r ON l.source_id = r.id'
const ALL = ['p1', 'p2', 'p3', 'p4', 'p5']
const TREE = ['A', 'B', 'C', 'D', 'é']

const STATEMENTS: [sql: string, rows: unknown[][], params?: unknown][] = [
  [
    `WITH RECURSIVE r(id) AS (SELECT 'p1'::text UNION SELECT l.target_id FROM ${LINKS}) SELECT id FROM r ORDER BY id`,
    ALL.map((id) => [id]),
  ],
  [
    `WITH RECURSIVE r(id) AS (SELECT 'p1' UNION SELECT l.target_id FROM ${LINKS}) SELECT id FROM r ORDER BY id`,
    ALL.map((id) => [id]),
  ],
  [
    `WITH RECURSIVE r(id) AS (VALUES ('p1') UNION SELECT l.target_id FROM ${LINKS}) SELECT id FROM r ORDER BY id`,
    ALL.map((id) => [id]),
  ],
  [
    `WITH RECURSIVE r(id) AS (SELECT $1 UNION SELECT l.target_id FROM ${LINKS}) SELECT id FROM r ORDER BY id`,
    ALL.map((id) => [id]),
    ['p1'],
  ],
  [
    `WITH RECURSIVE r(id) AS (SELECT $1::text UNION ALL SELECT l.target_id FROM ${LINKS}) SELECT count(*) AS n FROM r`,
    [[5]],
    ['p1'],
  ],
  [
    `WITH RECURSIVE r(id) AS (SELECT :start UNION SELECT l.target_id FROM ${LINKS}) SELECT count(*) AS n FROM r`,
    [[4]],
    { start: 'p2' },
  ],
  [
    `WITH RECURSIVE r AS (SELECT id, 0 AS d FROM part WHERE id = 'p1' UNION ALL SELECT l.target_id, r.d + 1 FROM ${LINKS}) SELECT max(d) AS d FROM r`,
    [[3]],
  ],
  [
    `WITH RECURSIVE r AS (SELECT id, name AS path FROM part WHERE parent IS NULL UNION ALL SELECT l.target_id, r.path || '/' || l.target_id FROM ${LINKS}) SELECT path FROM r ORDER BY path DESC LIMIT 1`,
    [['nA/p2/p4/p5']],
  ],
  [
    `WITH RECURSIVE r AS (SELECT id, '' AS path FROM part WHERE id = 'p1' UNION ALL SELECT l.target_id, r.path || l.target_id FROM ${LINKS}) SELECT max(length(path)) AS n FROM r`,
    [[6]],
  ],
  [
    `WITH RECURSIVE r AS (SELECT id, ARRAY['x'] AS path FROM part WHERE id = 'p1' UNION ALL SELECT l.target_id, r.path || l.target_id FROM ${LINKS}) SELECT max(cardinality(path)) AS n FROM r`,
    [[4]],
  ],
  [
    `WITH RECURSIVE r AS (SELECT id, ARRAY[id] AS path FROM part WHERE id = 'p1' UNION ALL SELECT l.target_id, r.path || l.target_id FROM ${LINKS} WHERE l.target_id <> ALL (r.path)) SELECT max(cardinality(path)) AS n FROM r`,
    [[4]],
  ],
  [
    `WITH RECURSIVE r AS (SELECT id, concat('#', rank) AS path FROM part WHERE id = 'p1' UNION ALL SELECT l.target_id, r.path || l.target_id FROM ${LINKS}) SELECT max(path) AS path FROM r`,
    [['#1p2p4p5']],
  ],
  [
    `WITH RECURSIVE r AS (SELECT id, CASE WHEN rank > 1 THEN 'low' ELSE 'top' END AS at FROM part WHERE id = 'p1' UNION ALL SELECT l.target_id, l.rel_type FROM ${LINKS}) SELECT DISTINCT at FROM r ORDER BY at`,
    [['holds'], ['top']],
  ],
  [
    `WITH RECURSIVE r AS (SELECT id, coalesce(data->>'nothing', '-') AS at FROM part WHERE id = 'p1' UNION ALL SELECT l.target_id, l.source_id FROM ${LINKS}) SELECT at FROM r ORDER BY at LIMIT 1`,
    [['-']],
  ],
  [
    `WITH RECURSIVE r AS (SELECT id, data->>'name' AS at FROM part WHERE id = 'p1' UNION ALL SELECT l.target_id, l.source_id FROM ${LINKS}) SELECT count(DISTINCT at) AS n FROM r`,
    [[4]],
  ],
  [
    `WITH RECURSIVE r AS (SELECT id, NULL AS at FROM part WHERE id = 'p1' UNION ALL SELECT l.target_id, l.source_id FROM ${LINKS}) SELECT count(at) AS n FROM r`,
    [[4]],
  ],
  [
    `WITH RECURSIVE r AS (SELECT id, NULL::text AS at FROM part WHERE id = 'p1' UNION ALL SELECT l.target_id, l.source_id FROM ${LINKS}) SELECT count(at) AS n FROM r`,
    [[4]],
  ],
  [
    `WITH RECURSIVE r AS (SELECT id, upper(name) AS at FROM part WHERE id = 'p1' UNION ALL SELECT l.target_id, l.source_id FROM ${LINKS}) SELECT min(at) AS at FROM r`,
    [['NA']],
  ],
  [
    `WITH RECURSIVE r AS (SELECT p.id, 'a' || p.name AS at FROM part p WHERE p.id = 'p1' UNION ALL SELECT l.target_id, l.source_id FROM ${LINKS}) SELECT min(at) AS at FROM r`,
    [['anA']],
  ],
  [
    `WITH RECURSIVE r AS ((SELECT 'p3'::text AS id UNION SELECT 'p4') UNION SELECT l.target_id FROM ${LINKS}) SELECT id FROM r ORDER BY id`,
    [['p3'], ['p4'], ['p5']],
  ],
  [
    `WITH RECURSIVE r(id) AS (SELECT p.external_id FROM part p WHERE p.parent IS NULL UNION SELECT c.external_id FROM part c JOIN r ON c.parent = r.id) SELECT id FROM r ORDER BY id`,
    TREE.map((id) => [id]),
  ],
  [
    `WITH RECURSIVE r(id) AS (SELECT 'A' UNION SELECT c.external_id FROM part c JOIN r ON c.parent = r.id) SELECT id FROM r ORDER BY id`,
    TREE.map((id) => [id]),
  ],
  [
    `WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT sum(n) AS n FROM r`,
    [[15]],
  ],
  [
    `WITH RECURSIVE r(n, t) AS (SELECT 1, 'a' UNION ALL SELECT n + 1, t || 'b' FROM r WHERE n < 3) SELECT max(t) AS t FROM r`,
    [['abb']],
  ],
  [
    `WITH RECURSIVE r(d) AS (SELECT date '2026-01-01' UNION ALL SELECT (d + 1)::date FROM r WHERE d < '2026-01-03') SELECT count(*) AS n FROM r`,
    [[3]],
  ],
  [
    `WITH RECURSIVE r AS (SELECT id, to_jsonb(id) AS j FROM part WHERE id = 'p1' UNION ALL SELECT l.target_id, to_jsonb(l.target_id) FROM ${LINKS}) SELECT count(j) AS n FROM r`,
    [[5]],
  ],
  [
    `SELECT id FROM (WITH RECURSIVE r(id) AS (SELECT 'p4'::text UNION SELECT l.target_id FROM ${LINKS}) SELECT * FROM r) x ORDER BY id`,
    [['p4'], ['p5']],
  ],
  [`SELECT 'p0' AS id UNION SELECT id FROM part ORDER BY id LIMIT 2`, [['p0'], ['p1']]],
  [`SELECT name AS x FROM part UNION SELECT id FROM part ORDER BY x LIMIT 1`, [['nA']]],
  [`SELECT id FROM part INTERSECT SELECT data->>'id' FROM part`, []],
  [
    `SELECT max(x) AS x FROM (SELECT id AS x FROM part UNION ALL SELECT name FROM part UNION ALL SELECT 'a') u`,
    [['p5']],
  ],
  [
    `SELECT string_agg(id || name, ',' ORDER BY id DESC) AS s FROM part WHERE id IN ('p1', 'p2')`,
    [['p2nB,p1nA']],
  ],
  [`SELECT (name || external_id) COLLATE "C" AS s FROM part WHERE id = 'p5'`, [['néé']]],
]

test.each(STATEMENTS)('SQL returns the rows of: %s', async (query, rows, params) => {
  const answer = succeed(
    await world.call('POST', '/v1/crm/sql', { query, ...(params !== undefined && { params }) }),
  )
  expect(answer.data.map(Object.values)).toEqual(rows)
})

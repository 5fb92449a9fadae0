/** The entries of indexes whose keys the server makes are those that PostgreSQL makes of the records. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { entryKeys } from '../../src/engine/data/indexes/entry-keys.ts'
import type { IndexField } from '../../src/engine/schema/compiled-types/compiled-type.ts'
import { succeed, times } from '../support/answers.ts'
import { CASES_TIMEOUT } from '../support/cases.ts'
import { forAll } from '../support/for-all.ts'
import type { Json } from '../support/paths.ts'
import { statementsOf } from '../support/query-plans.ts'
import type { Answer } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'
import { text as anyText, mixed, number } from './irregular-values.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const field = (path: string[], direction: 'asc' | 'desc' = 'asc'): IndexField => ({
  ...{ field: `data.${path.join('.')}`, column: null, zone: null },
  ...{ path, direction },
})
const FIELDS = [
  [field(['a'])],
  [field(['a'], 'desc')],
  [field(['a']), field(['b'], 'desc')],
  [field(['a'], 'desc'), field(['b', 'c'])],
  [field(['a', 'b', 'c']), field([''], 'desc'), field(['b', 'c'], 'desc')],
  [field(['a', 'length']), field(['__proto__']), field(['toString'])],
]
const INDEXES = FIELDS.map((fields, n) => ({
  ...({ id: String(n), kind: 'btree', status: 'ready', hasCut: false } as const),
  fields,
}))

const value: fc.Arbitrary<Json> = fc.oneof(
  mixed,
  number,
  anyText,
  fc.string({ unit: 'binary', maxLength: 120 }).map(plain),
)
const member = fc.oneof(
  value,
  fc.record({ b: fc.oneof(value, fc.record({ c: value })), c: value }, { requiredKeys: [] }),
)
const content = fc.record({ a: member, b: member, '': value }, { requiredKeys: [] })
function plain(each: string): string {
  return each.replaceAll('\u0000', '~')
}

type Entry = { n: number; index: number; k1: string; k2: string; k3: string; is_cut: boolean }
const ENTRIES = `SELECT r.n::int, i.n::int - 1 AS index, e.k1, e.k2, e.k3, e.is_cut
  FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS r (data, n)
  CROSS JOIN jsonb_array_elements($2::jsonb) WITH ORDINALITY AS i (fields, n)
  CROSS JOIN LATERAL plinth.entry('btree', i.fields, 'x', NULL, NULL, 1, r.data, NULL, now(), now()) e ORDER BY r.n, i.n`

test(
  'keys of any values are those of plinth.entry, or the database makes them',
  { tags: 'sampled', timeout: CASES_TIMEOUT },
  () =>
    forAll(fc.array(content, { minLength: 1, maxLength: 20 }), 400, async (contents) => {
      const expected = await world.database.query<Entry>(ENTRIES, [
        JSON.stringify(contents),
        JSON.stringify(FIELDS),
      ])
      for (const [n, data] of contents.entries())
        for (const [at, index] of INDEXES.entries()) {
          const found = entryKeys({ indexes: [index] }, [{ id: 'x', data }])
          const { k1, k2, k3, is_cut } = expected[n * INDEXES.length + at] as Entry
          const keys = { indexes: [index.id], ids: ['x'], k1: [k1], k2: [k2], k3: [k3] }
          if (found) expect(found, JSON.stringify(data)).toMatchObject(keys)
          // What PostgreSQL cuts may not be made here.
          else expect(is_cut || [k1, k2, k3].some((key) => Buffer.byteLength(key) > 300)).toBe(true)
        }
    }),
)

const WRONG = `SELECT r.id FROM plinth.record r JOIN plinth.record_type_index d USING (base_id, record_type)
  CROSS JOIN LATERAL plinth.entry(d.kind, d.fields, r.id, r.external_id, r.external_source, r.version, r.data,
    r.cancelled_at, r.created_at, r.updated_at) e
  LEFT JOIN plinth.record_index x ON x.base_id = d.base_id AND x.index_id = d.id AND x.id = r.id
  WHERE r.record_type = $1 AND (x.k1, x.k2, x.k3, x.row_no, x.created_at) IS DISTINCT FROM (e.k1, e.k2, e.k3, r.row_no, r.created_at)`

const indexes = [
  { fields: ['data.state', { field: 'data.rank', direction: 'desc' }] },
  { fields: ['data.place.city'] },
]

test('each write of a record keeps its entries', async () => {
  const type = await world.newType({ indexes })
  const path = `/v1/crm/records/${type}`
  const upsert = (id: string, data: object) => ({ type: 'upsert_record', record_type: type, id, data })
  const create = (data: object) => ({ type: 'create_record', record_type: type, data })
  const writes: (() => Promise<Answer>)[] = [
    () => world.call('PUT', `${path}/a`, { data: { state: 'open', rank: 1, place: { city: 'Kyiv' } } }),
    () =>
      world.call('PUT', `${path}/a`, { data: { state: 'open', rank: 1, place: { city: 'Lviv' }, note: 1 } }),
    () =>
      world.call('PUT', `${path}/a`, { data: { state: 'open', rank: 1, place: { city: 'Lviv' }, note: 2 } }),
    () => world.call('PUT', `${path}/a`, { data: { place: { city: 'é'.repeat(200) } } }),
    () => world.call('PUT', `${path}/a`, { data: { state: null, rank: '1' } }),
    () => world.call('POST', path, { data: { state: 'new', rank: -2.5 } }),
    () => world.call('PUT', path, { external_source: 's', external_id: '1', data: { state: 'by pair' } }),
    () =>
      world.call('POST', '/v1/crm/batch', {
        operations: [upsert('a', { rank: 1e300 }), upsert('b', { state: [], place: {} }), upsert('c', {})],
      }),
    () =>
      world.call('POST', '/v1/crm/batch', {
        operations: [
          upsert('a', { rank: 1e300, note: 1 }),
          create({ state: 'made' }),
          upsert('b', { state: true }),
        ],
      }),
  ]
  const statements = await statementsOf(async () => {
    for (const write of writes) {
      const { status, text } = await write()
      expect([200, 201], text).toContain(status)
      expect(await world.database.query(WRONG, [type])).toEqual([])
    }
  })
  const names = statements.map(({ name }) => name)
  const keyed = [
    'put_records',
    'create_new_records',
    'batch_put_records',
    'batch_create_records',
    'batch_update_records',
  ]
  expect(names).toEqual(expect.arrayContaining(keyed.map((name) => `${name}_keyed`)))
  expect(names).toContain('put_records_indexed')
})

test('writers that wait for each other leave the entries of the record as it is in the end', {
  tags: 'full',
}, async () => {
  const type = await world.newType({ indexes })
  const ids = times(4, (n) => `r${n}`)
  const put = (id: string, n: number) =>
    world.call('PUT', `/v1/crm/records/${type}/${id}`, { data: { state: n % 3 === 0 ? 'open' : 'done', n } })
  const batch = (n: number) =>
    world.call('POST', '/v1/crm/batch', {
      operations: ids.map((id) => ({
        ...{ type: 'upsert_record', record_type: type, id },
        data: { state: n % 2 === 0 ? 'open' : 'held', rank: n % 4, n },
      })),
    })
  for (const id of ids) succeed(await put(id, 0), 201)
  for (let round = 0; round < 15; round++) {
    const answers = await Promise.all(
      times(24, (n) =>
        n % 3 === 2 ? batch(n + round) : put(ids[(n + round) % ids.length] ?? '', n + round),
      ),
    )
    for (const answer of answers) succeed(answer)
    expect(await world.database.query(WRONG, [type])).toEqual([])
  }
})

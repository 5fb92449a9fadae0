import { expect, test } from 'vitest'
import { prepareSql } from '../../src/engine/sql/guard/prepare.ts'
import type { Catalog } from '../../src/engine/sql/guard/relations/catalog.ts'
import { DomainError } from '../../src/foundation/errors.ts'

const typeOf = (id: string, count: number) => ({
  id,
  timezone: 'UTC',
  jsonSchema: {
    properties: Object.fromEntries(
      Array.from({ length: count }, (_, i) => [`p${i}`, { type: 'string', format: 'date' }]),
    ),
  },
})
const loadCatalog = (...types: Catalog['types'][number][]): Catalog => ({
  baseId: 'b',
  readsAll: false,
  readsDrafts: false,
  tokenId: null,
  types,
})
const listed = (count: number, piece: (i: number) => string, separator = ', ') =>
  Array.from({ length: count }, (_, i) => piece(i)).join(separator)

async function refusal(sql: string, catalog: Catalog, params?: unknown) {
  const thrown = await prepareSql(sql, params, catalog).catch((error: unknown) => error)
  if (!(thrown instanceof DomainError)) throw new Error('Not refused', { cause: thrown })
  return thrown.details[0]
}

/** The result of the work, and the number of event loop passes during it. */
async function countPasses<T>(work: () => Promise<T>): Promise<{ result: T; passes: number }> {
  let passes = 0
  let isDone = false
  const count = () => {
    passes++
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const result = await work()
  isDone = true
  return { result, passes }
}

test('a statement that reads more than 5,000 columns in all its relations is refused', {
  tags: 'full',
}, async () => {
  const wide = loadCatalog(typeOf('w', 300), ...Array.from({ length: 49 }, (_, i) => typeOf(`t${i}`, 300)))
  const statements = [
    `SELECT ${listed(49, (i) => `row_to_json(w${i}) c${i}`)} FROM ${listed(49, (i) => `w w${i}`)}`,
    `SELECT ${listed(49, (i) => `to_jsonb(t${i}.*) c${i}`)} FROM ${listed(49, (i) => `t${i}`)}`,
    `SELECT count(*) FROM w a ${listed(20, (i) => `NATURAL JOIN w b${i}`, ' ')}`,
    `SELECT count(*) FROM ${listed(49, (i) => `w w${i}`)} WHERE ${listed(150, (i) => `w0.p${i} IS NULL`, ' OR ')}`,
    `SELECT count(j) FROM (${listed(30, (i) => `w w${i}`, ' CROSS JOIN ')}) AS j`,
  ]
  for (const sql of statements)
    expect(await refusal(sql, wide), sql.slice(0, 60)).toMatchObject({
      path: '/query',
      code: 'too_many',
      expected: 5000,
      message: expect.stringContaining('Name the columns you need'),
    })
})

test('a relation has all its columns only where the statement reads the whole row', {
  tags: 'full',
}, async () => {
  const catalog = loadCatalog(typeOf('small', 2), typeOf('wide', 4000))
  const { text } = await prepareSql('SELECT s.* FROM small s JOIN wide w ON w.id = s.id', [], catalog)
  expect(text).toContain('"p1"')
  expect(text).not.toContain('"p2"')
  const whole = await prepareSql('SELECT to_jsonb(w) FROM small s JOIN wide w USING (id)', [], catalog)
  expect(whole.text).toContain('"p3999"')
  const renamed = await prepareSql(
    'SELECT j.a FROM (small s JOIN small t ON true) AS j (a, b, c)',
    [],
    catalog,
  )
  expect(renamed.text.match(/AS "data"/g)).toHaveLength(2)
})

test('preparing a statement on wide types yields to the event loop', { tags: 'full' }, async () => {
  const catalog = loadCatalog(...Array.from({ length: 12 }, (_, i) => typeOf(`t${i}`, 4000)))
  const whole = () => prepareSql('SELECT to_jsonb(t0) FROM t0', [], catalog)
  const first = await countPasses(whole)
  expect(first.passes).toBeGreaterThan(1)
  expect((await whole()).text.length).toBe(first.result.text.length)
  const many = await countPasses(() =>
    prepareSql(`SELECT count(*) FROM ${listed(12, (i) => `t${i}`)}`, [], catalog),
  )
  expect(many.passes).toBeGreaterThan(1)
})

test('a parameter that is too long is refused, and is not parsed as a time or number', {
  tags: 'full',
}, async () => {
  const catalog = loadCatalog(typeOf('t', 1))
  expect(await refusal('SELECT 1 WHERE 1 = ANY($1)', catalog, [Array(1_000_000).fill(1)])).toMatchObject({
    path: '/params',
    code: 'too_long',
  })
  expect(await refusal('SELECT :a AS x', catalog, { a: 'x'.repeat(3_000_000) })).toMatchObject({
    code: 'too_long',
  })
  // Each would take minutes if the whole text were parsed as a time or number.
  const digits = '1'.repeat(1_000_000)
  expect(await refusal('SELECT generate_series($1::int, 5)', catalog, [digits])).toMatchObject({
    code: 'unsupported',
  })
  const positions = listed(150, () => "substring('abc', $1)", ' || ')
  expect(await refusal(`SELECT ${positions}`, catalog, [`${' '.repeat(1_000_000)}1`])).toMatchObject({
    code: 'unsupported',
  })
  const paths = listed(200, () => "jsonb_path_exists('[]', $1)", ' OR ')
  expect(await refusal(`SELECT ${paths}`, catalog, [`$${' '.repeat(1_000_000)}`])).toMatchObject({
    code: 'unsupported',
  })
})

test('a long parameter is sent once per type, independent of the number of uses', async () => {
  const catalog = loadCatalog(typeOf('t', 1))
  const uses = listed(1000, () => '$1', ', ')
  const { values } = await prepareSql(
    `SELECT array_length(ARRAY[${uses}], 1)`,
    ['x'.repeat(2_000_000)],
    catalog,
  )
  expect(values).toHaveLength(1)
  const casts = ['text', 'varchar', 'json', 'jsonb', 'uuid', 'date', 'int', 'numeric'].map(
    (type) => `$1::${type}`,
  )
  expect(await refusal(`SELECT ${casts.join(', ')}`, catalog, ['x'.repeat(2_000_000)])).toMatchObject({
    path: '/params',
    code: 'too_long',
  })
})

test('a literal that looks like an internal placeholder is not changed', async () => {
  const catalog = loadCatalog(typeOf('t', 1))
  const { text } = await prepareSql(`SELECT 'r00000000000000000000000000000000_0' AS x FROM t`, [], catalog)
  expect(text).toContain(`'r00000000000000000000000000000000_0'`)
})

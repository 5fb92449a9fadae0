import fc from 'fast-check'
import { loadModule, parseSync, scanSync } from 'libpg-query'
import { beforeAll, describe, expect, test } from 'vitest'
import { prepareSql } from '../../src/engine/sql/guard/prepare.ts'
import type { Catalog } from '../../src/engine/sql/guard/relations/catalog.ts'
import { DomainError } from '../../src/foundation/errors.ts'
import { sampleOf } from '../support/cases.ts'
import { ATTACKS } from '../support/sql-corpus/attacks.ts'
import { TYPES } from '../support/sql-corpus/data.ts'
import { HONEST } from '../support/sql-corpus/honest.ts'

const CATALOG: Catalog = {
  baseId: 'shop',
  readsAll: false,
  readsDrafts: false,
  tokenId: 'none',
  types: TYPES,
}

beforeAll(loadModule)

/** The rewritten text of a statement. */
async function rewritten(sql: string, params?: unknown, catalog = CATALOG): Promise<string> {
  return (await prepareSql(sql, params, catalog)).text
}

/** The first detail of the refusal. */
async function refusal(sql: unknown, params?: unknown, catalog = CATALOG) {
  const thrown = await prepareSql(sql, params, catalog).catch((error: unknown) => error)
  if (!(thrown instanceof DomainError)) throw new Error(`Not refused: ${String(sql)}`, { cause: thrown })
  expect(thrown.code).toBe('VALIDATION_ERROR')
  const [detail] = thrown.details
  if (!detail) throw new Error('A refusal without a detail')
  return detail
}

/** All nodes of a kind in a parse tree. */
function nodes(tree: unknown, kind: string): Record<string, unknown>[] {
  if (typeof tree !== 'object' || tree === null) return []
  return Object.entries(tree).flatMap(([name, value]) => [
    ...(name === kind ? [value] : []),
    ...nodes(value, kind),
  ])
}

/** Checks that a rewritten text is one SELECT on the views, filtered by base. */
function expectPureRead(text: string): void {
  const { stmts = [] } = parseSync(text)
  expect(stmts).toHaveLength(1)
  expect(Object.keys(stmts[0]?.stmt ?? {})).toEqual(['SelectStmt'])
  const ctes = nodes(stmts, 'CommonTableExpr').map(({ ctename }) => ctename)
  for (const { schemaname, relname } of nodes(stmts, 'RangeVar'))
    if (schemaname !== 'plinth_sql') expect([schemaname, ctes.includes(relname)]).toEqual([undefined, true])
  for (const select of nodes(stmts, 'SelectStmt')) {
    const [from] = (select['fromClause'] as unknown[] | undefined) ?? []
    const [range] = Object.values((from ?? {}) as Record<string, { schemaname?: string }>)
    if (range?.schemaname !== 'plinth_sql') continue
    const held = JSON.stringify(nodes(select['whereClause'], 'A_Expr'), (name, value: unknown) =>
      name === 'location' ? undefined : value,
    )
    expect(held).toContain(
      '"lexpr":{"ColumnRef":{"fields":[{"String":{"sval":"base_id"}}]}},"rexpr":{"A_Const":{"sval":{"sval":"shop"}}}',
    )
  }
  for (const kind of ['IntoClause', 'LockingClause', 'RangeTableSample', 'intoClause', 'lockingClause'])
    expect(nodes(stmts, kind)).toEqual([])
}

describe('the statement corpus of the SQL guard', () => {
  test('has at least 300 distinct attacks and 200 distinct honest statements', () => {
    const distinct = new Set(ATTACKS.map(({ sql, params }) => JSON.stringify([sql, params])))
    expect(distinct.size).toBe(ATTACKS.length)
    expect(ATTACKS.filter(({ runs }) => !runs).length).toBeGreaterThanOrEqual(300)
    expect(new Set(HONEST.map(({ name }) => name)).size).toBe(HONEST.length)
    expect(HONEST.length).toBeGreaterThanOrEqual(200)
  })

  test.each(sampleOf(ATTACKS.filter(({ runs }) => !runs)))(
    '$name is refused with a reason',
    { tags: 'sampled' },
    async ({ sql, params }) => {
      const { path, message } = await refusal(sql, params)
      expect(path).toMatch(/^\/(query|params)/)
      expect(message.length).toBeGreaterThan(15)
      expect(message).not.toMatch(/undefined|\[object/)
    },
  )

  test.each(sampleOf([...HONEST, ...ATTACKS.filter(({ runs }) => runs)]))(
    '$name is accepted and rewritten to a pure read',
    { tags: 'sampled' },
    async ({ sql, params }) => {
      const { text, values } = await prepareSql(sql, params, CATALOG)
      expectPureRead(text)
      const numbers = nodes(parseSync(text), 'ParamRef').map(({ number }) => number)
      expect(new Set(numbers).size).toBe(values.length)
    },
  )
})

describe('the SQL guard with a generated text', () => {
  const words = [
    ...'SELECT FROM WHERE GROUP BY ORDER LIMIT WITH RECURSIVE AS UNION ALL VALUES JOIN LATERAL ON USING NOT IN'.split(
      ' ',
    ),
    ...'CASE WHEN THEN END OVER PARTITION FILTER ARRAY ROW EXISTS INTO FOR UPDATE DELETE CAST COLLATE IS NULL'.split(
      ' ',
    ),
    ...'( ) [ ] , . ; :: : := * + - / % ^ = <> < || -> ->> @> ? ~ $1 $2 $ :a \' " $$ -- /* */ \\ \0 é 🎉'.split(
      ' ',
    ),
    ...'customer order "order" "Product.v2" records changes plinth.token pg_class c o id data name total t x'.split(
      ' ',
    ),
    ...`1 2.5 'x' 'y' NULL true count sum now() pg_sleep generate_series unnest int text regclass jsonb`.split(
      ' ',
    ),
  ]
  const text = fc.array(fc.constantFrom(...words), { maxLength: 25 }).map((list) => list.join(' '))
  const params = fc.constantFrom(undefined, [], [1], ['x', null], { a: 1 }, 'x', 7)

  test('accepts it or refuses it with a VALIDATION_ERROR', { tags: 'full' }, async () => {
    await fc.assert(
      fc.asyncProperty(text, params, async (sql, given) => {
        const outcome = await prepareSql(sql, given, CATALOG).catch((error: unknown) => error)
        if (outcome instanceof DomainError) expect(outcome.code).toBe('VALIDATION_ERROR')
        else if (outcome instanceof Error) throw outcome
        else expectPureRead((outcome as { text: string }).text)
      }),
      { numRuns: 2000 },
    )
  })

  test('rewrites an accepted mix of honest statements to a pure read', { tags: 'full' }, async () => {
    const pieces = HONEST.map(({ sql }) => scanSync(sql).tokens.map((token) => token.text))
    const piece = fc.constantFrom(...pieces)
    const cut = fc.tuple(piece, piece, fc.nat(), fc.nat(), fc.nat()).map(([one, other, a, b, c]) => {
      const from = b % other.length
      return [
        ...one.slice(0, a % one.length),
        ...other.slice(from, from + 1 + (c % 8)),
        ...one.slice((a % one.length) + 1),
      ]
    })
    let passed = 0
    await fc.assert(
      fc.asyncProperty(cut, async (list) => {
        const outcome = await prepareSql(list.join(' '), undefined, CATALOG).catch((error: unknown) => error)
        if (outcome instanceof DomainError) return
        if (outcome instanceof Error) throw outcome
        passed++
        expectPureRead((outcome as { text: string }).text)
      }),
      { numRuns: 2000 },
    )
    expect(passed).toBeGreaterThan(0)
  })
})

describe('a relation of a statement', () => {
  test('is a SELECT of the used columns, filtered by base and type', async () => {
    expect(await rewritten('SELECT c.name FROM customer c')).toBe(
      `SELECT c.name AS name FROM (SELECT CASE WHEN jsonb_typeof(data -> 'name') = 'string' THEN (data ->> 'name') END AS "name" ` +
        `FROM plinth_sql.record WHERE base_id = 'shop' AND record_type = 'customer') AS c`,
    )
  })

  test('across types is filtered by the granted types, unless all are granted', async () => {
    for (const name of ['records', 'changes', 'record_types', 'relationships', 'relationship_types'])
      expect(await rewritten(`SELECT count(*) FROM ${name}`), name).toContain(
        `'order', 'customer', 'Product.v2'`,
      )
    const whole = { ...CATALOG, readsAll: true }
    expect(await rewritten('SELECT count(*) FROM records', undefined, whole)).toContain(
      `WHERE base_id = 'shop')`,
    )
    expect(await rewritten('SELECT count(*) FROM changes', undefined, whole)).toMatch(
      /kind <> ALL.*'token', 'secret'/,
    )
    expect(await rewritten('SELECT count(*) FROM changes')).toContain(`kind = 'record' AND`)
    // Only a statement that asks for it looks at the entries before.
    const [plain, comparing] = [
      await rewritten('SELECT data FROM changes'),
      await rewritten('SELECT changed FROM changes'),
    ]
    expect(plain).not.toContain('plinth_sql.change p')
    expect(comparing).toContain('plinth_sql.change p')
  })

  test('is empty for a token without types', async () => {
    const none = { ...CATALOG, types: [] }
    expect(await rewritten('SELECT count(*) FROM records', undefined, none)).toContain(
      'record_type = ANY (ARRAY[]::text[])',
    )
  })

  test('has ids and properties with quotes and backslashes as literals', async () => {
    const type = { id: 'a', timezone: 'UTC', jsonSchema: { properties: { "x'\\y": { type: 'string' } } } }
    const odd: Catalog = { baseId: "b'\\", readsAll: true, readsDrafts: false, tokenId: null, types: [type] }
    const text = await rewritten(`SELECT * FROM a`, undefined, odd)
    const constants = nodes(parseSync(text), 'sval').map((each) => (each as { sval?: unknown }).sval ?? each)
    expect(constants).toContain("b'\\")
    expect(constants).toContain("x'\\y")
  })

  test('with a built-in name hides a type of that name', async () => {
    const hidden = { ...CATALOG, types: [...TYPES, { id: 'records', timezone: 'UTC', jsonSchema: {} }] }
    expect(await rewritten('SELECT count(*) FROM records', undefined, hidden)).not.toContain(
      `record_type = 'records'`,
    )
  })

  test('is suggested with the quotes that it needs', async () => {
    const types = [...TYPES, { id: 'Deal', timezone: 'UTC', jsonSchema: {} }]
    expect(await refusal('SELECT * FROM Deal', [], { ...CATALOG, types })).toMatchObject({
      code: 'unknown_relation',
      hint: '"Deal"',
    })
    expect(await refusal('SELECT * FROM Product.v2')).toMatchObject({ hint: '"Product.v2"' })
    expect(await refusal('SELECT * FROM customers')).toMatchObject({ hint: 'customer' })
  })

  test('outside the grants returns the same error as one that does not exist', async () => {
    const [granted, unknown] = [await refusal('SELECT * FROM hidden'), await refusal('SELECT * FROM nowhere')]
    expect(granted.message.replace('hidden', 'nowhere').replace('hidden', 'nowhere')).toBe(unknown.message)
  })

  test('is matched by its first 63 bytes, and refused when several types match', async () => {
    const long = (tail: string) => ({ id: `${'t'.repeat(63)}${tail}`, timezone: 'UTC', jsonSchema: {} })
    const one = { ...CATALOG, types: [long('a')] }
    expect(await rewritten(`SELECT count(*) FROM ${'t'.repeat(63)}a`, [], one)).toContain(
      `record_type = '${'t'.repeat(63)}a'`,
    )
    expect(
      await refusal(`SELECT count(*) FROM ${'t'.repeat(63)}a`, [], {
        ...CATALOG,
        types: [long('a'), long('b')],
      }),
    ).toMatchObject({
      code: 'unknown_relation',
      message: expect.stringContaining('63 bytes'),
    })
  })
})

describe('a column of a statement', () => {
  test('that is unknown is refused with its position and the most similar column', async () => {
    expect(await refusal('SELECT nam FROM customer')).toEqual({
      path: '/query',
      code: 'unknown_column',
      message: 'There is no column "nam" here. Did you mean name? (character 8, near "nam FROM customer")',
      allowed: expect.arrayContaining(['name', 'email']),
      hint: 'name',
    })
    expect(await refusal('SELECT * FROM customer WHERE country = "DE"')).toMatchObject({
      message: expect.stringContaining(`single quotes: 'DE'`),
    })
    expect(await refusal('SELECT address.city FROM "order"')).toMatchObject({
      message: expect.stringContaining(`address->>'city'`),
    })
    const camel = { id: 't', timezone: 'UTC', jsonSchema: { properties: { placedAt: {} } } }
    expect(await refusal('SELECT placedAt FROM t', [], { ...CATALOG, types: [camel] })).toMatchObject({
      hint: '"placedAt"',
    })
  })

  test('is not created for a property whose name is taken', async () => {
    const properties = {
      id: { type: 'integer' },
      data: {},
      '': {},
      [`${'p'.repeat(63)}a`]: { type: 'integer' },
      [`${'p'.repeat(63)}b`]: {},
    }
    const types = [{ id: 't', timezone: 'UTC', jsonSchema: { properties } }]
    const text = await rewritten('SELECT * FROM t', [], { ...CATALOG, types })
    expect(text).toContain('id AS "id"')
    expect(text).toContain('data AS "data"')
    expect(text).toContain(`${'p'.repeat(63)}a`)
    expect(text).not.toContain(`${'p'.repeat(63)}b`)
  })
})

describe('a parameter of a statement', () => {
  const typesOf = async (sql: string, params: unknown) => {
    const { text, values } = await prepareSql(sql, params, CATALOG)
    return { text: text.replace(/ AS "\?column\?"| AS \w+$/g, ''), values }
  }

  test('is cast to the type of its JSON value; a string or null is not cast', async () => {
    expect(await typesOf('SELECT $1', [1])).toEqual({ text: 'SELECT CAST($1 AS int)', values: ['1'] })
    expect(await typesOf('SELECT $1', [5_000_000_000])).toMatchObject({ text: 'SELECT CAST($1 AS bigint)' })
    expect(await typesOf('SELECT $1', [0.5])).toMatchObject({ text: 'SELECT CAST($1 AS numeric)' })
    expect(await typesOf('SELECT $1', [true])).toMatchObject({
      text: 'SELECT CAST($1 AS boolean)',
      values: ['true'],
    })
    expect(await typesOf('SELECT $1', ['x'])).toEqual({ text: 'SELECT $1', values: ['x'] })
    expect(await typesOf('SELECT $1', [null])).toEqual({ text: 'SELECT $1', values: [null] })
    expect(await typesOf('SELECT $1', [{ a: 1 }])).toEqual({
      text: 'SELECT CAST($1 AS jsonb)',
      values: ['{"a":1}'],
    })
  })

  test('with a JSON array is an SQL array where one is expected, otherwise jsonb', async () => {
    expect((await typesOf('SELECT 1 = ANY ($1)', [[1, 2]])).values).toEqual(['{1,2}'])
    expect((await typesOf('SELECT $1::text[]', [['a"', null]])).values).toEqual(['{"a\\"",NULL}'])
    expect((await typesOf('SELECT $1', [[1, 2]])).values).toEqual(['[1,2]'])
    expect((await typesOf('SELECT $1, 1 = ANY ($1)', [[1]])).values).toEqual(['[1]', '{1}'])
  })

  test('has one number for all its uses, so that equal expressions remain equal', async () => {
    const { text, values } = await prepareSql(
      'SELECT date_trunc($1, placed_at) FROM "order" GROUP BY date_trunc($1, placed_at)',
      ['day'],
      CATALOG,
    )
    expect(text.match(/\$\d/g)).toEqual(['$1', '$1'])
    expect(values).toEqual(['day'])
  })

  test('that is missing, unused or mixed with the other kind is refused by name', async () => {
    expect(await refusal('SELECT $2', ['x'])).toMatchObject({ path: '/params/1', code: 'missing_parameter' })
    expect(await refusal('SELECT $2', ['x', 'y'])).toMatchObject({
      path: '/params/0',
      code: 'unused_parameter',
    })
    expect(await refusal('SELECT $1', ['x', 'y'])).toMatchObject({
      path: '/params/1',
      code: 'unused_parameter',
    })
    expect(await refusal('SELECT :a', {})).toMatchObject({ path: '/params/a', code: 'missing_parameter' })
    expect(await refusal('SELECT :a', { a: 1, b: 2 })).toMatchObject({
      path: '/params/b',
      code: 'unused_parameter',
    })
    expect(await refusal('SELECT :a, $1', { a: 1 })).toMatchObject({ path: '/query', code: 'exclusive' })
    expect(await refusal('SELECT 1', 'x')).toMatchObject({ path: '/params', code: 'type' })
  })

  test('is not recognised in strings, quoted names, comments and array slices', async () => {
    const sql = `SELECT ':a', "x:a", '1'::int, :a -- :b\n /* :c */ , $$:d$$, (ARRAY[1, 2])[1:x2] FROM (SELECT 1 AS "x:a", 2 AS x2) AS t`
    expect((await prepareSql(sql, { a: 'v' }, CATALOG)).values).toEqual(['v'])
  })

  test('does not shift the position in an error message', async () => {
    const { message } = await refusal(`SELECT :long_name, 'é', nope FROM customer`, { long_name: 1 })
    expect(message).toContain('(character 25, near "nope FROM customer")')
  })
})

describe('a refused statement', () => {
  test('with a syntax error has the position in its message', async () => {
    expect(await refusal('SELECT\n  id FORM customer c')).toEqual({
      path: '/query',
      code: 'sql_syntax',
      message: expect.stringMatching(/\(character 18, near "customer c"\)/),
    })
    expect((await refusal(`SELECT 'é🎉' FROM WHERE`)).message).toContain('near "WHERE"')
  })

  test('with a name that needs double quotes says so', async () => {
    for (const [sql, hint] of [
      ['SELECT id FROM first-type', '"first-type"'],
      ['SELECT id FROM 2type', '"2type"'],
      ['SELECT id FROM order', '"order"'],
      ['SELECT end FROM customer', '"end"'],
      ['SELECT id, to FROM customer', '"to"'],
      ['SELECT id FROM customer WHERE desc = 1', '"desc"'],
      ['SELECT count(*) FROM customer GROUP BY column', '"column"'],
    ] as const) {
      const { code, message, hint: given } = await refusal(sql)
      expect([code, given]).toEqual(['sql_syntax', hint])
      expect(message).toContain(`write it in double quotes: ${hint}`)
    }
    for (const sql of ['SELECT id FORM customer', 'SELECT 1.2.3', 'SELECT id FROM WHERE x', 'SELEC 1'])
      expect((await refusal(sql)).hint ?? '', sql).not.toMatch(/customer|SELEC|\d/)
    for (const sql of ['SELECT id, FROM customer', 'SELECT id FROM customer WHERE ORDER BY id'])
      expect(await refusal(sql), sql).not.toHaveProperty('hint')
    expect((await refusal('SELECT user FROM customer')).message).toContain('in double quotes')
  })

  test('with an unsupported feature has the alternative in its message', async () => {
    expect((await refusal('DELETE FROM customer')).message).toMatch(/write one SELECT.*<<write_sql>>/)
    expect((await refusal(`SELECT format('%s', 1)`)).message).toContain('||')
    expect((await refusal('SELECT version()')).message).toContain('the data of the base only')
    expect((await refusal('SELECT median(total) FROM "order"')).message).toContain('percentile_cont')
    expect((await refusal('SELECT lenght(name) FROM customer')).hint).toBe('length')
  })

  test('that is missing, not a string or longer than 10,240 bytes has the matching code', async () => {
    expect(await refusal(undefined)).toMatchObject({ code: 'required' })
    expect(await refusal(7)).toMatchObject({ code: 'type' })
    expect(await refusal('x'.repeat(10_241))).toMatchObject({ code: 'too_long', expected: 10_240 })
    expect(await refusal(`SELECT '${'é'.repeat(5200)}'`)).toMatchObject({ code: 'too_long' })
  })
})

test('statements that differ only in constants and parameters have the same fingerprint', async () => {
  const print = async (sql: string, params?: unknown) => (await prepareSql(sql, params, CATALOG)).fingerprint
  const [one, other, third] = await Promise.all([
    print(`SELECT id FROM customer WHERE name = 'a'`),
    print(`SELECT id FROM customer WHERE name = 'b'`),
    print(`SELECT id FROM customer WHERE email = 'b'`),
  ])
  expect(one).toBe(other)
  expect(one).not.toBe(third)
})

test('prepareSql returns each relation of a statement once', async () => {
  const { relations } = await prepareSql(
    'WITH x AS (SELECT 1) SELECT 1 FROM x, customer a, customer b, records r',
    [],
    CATALOG,
  )
  expect(relations).toEqual(['customer', 'records'])
})

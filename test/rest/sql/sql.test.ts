import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, times } from '../../support/answers.ts'
import { callTool } from '../../support/mcp.ts'
import type { Answer, Body, Call } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let sql: (query: string, more?: object, call?: Call) => ReturnType<Call>
beforeAll(async () => {
  world = await openWorld({ PLINTH_SQL_TIMEOUT_MS: '1500', PLINTH_SQL_MAX_BYTES: '65536' })
  sql = (query, more = {}, call = world.call) => call('POST', '/v1/crm/sql', { query, ...more })
  const properties = {
    title: { type: 'string' },
    amount: { type: 'number' },
    count: { type: 'integer' },
    open: { type: 'boolean' },
    due: { type: 'string', format: 'date-time' },
    day: { type: 'string', format: 'date' },
    tags: { type: 'array', items: { type: 'string' } },
  }
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', { json_schema: { properties } }), 201)
  succeed(await world.call('PUT', '/v1/crm/record-types/note', {}), 201)
  for (const [id, data] of Object.entries(DEALS))
    succeed(await world.call('PUT', `/v1/crm/records/deal/${id}`, { data }), 201)
  succeed(await world.call('PUT', '/v1/crm/records/note/n1', { data: { text: 'x' } }), 201)
  succeed(await world.call('POST', '/v1/crm/records/deal/d3/cancel'))
})
afterAll(() => world.close())

const DEALS = {
  d1: {
    title: 'One',
    amount: 10.25,
    count: 3,
    open: true,
    due: '2026-01-31T09:30:00+02:00',
    day: '2026-01-31',
    tags: ['a', 'b'],
  },
  d2: { title: 'Two', amount: 20, count: 4, open: false },
  d3: { title: 'Three', amount: 0.1 },
}
/** A statement that runs until it is cancelled. */
const ENDLESS = `SELECT count(*) AS n FROM generate_series(1, 10000) a, generate_series(1, 10000) b, generate_series(1, 10000) c`

/** The first detail of a refusal. Without expectFault, because messages about SQL may quote the statement. */
const refusalOf = ({ status, body, text }: Answer): Body => {
  expect(status, text.slice(0, 400)).toBe(400)
  expect(body.error.code).toBe('VALIDATION_ERROR')
  expect(body.error.details[0]).toMatchObject({ path: '/query', message: expect.stringMatching(/\w/) })
  return body.error.details[0]
}
const rowsOf = async (query: string, more?: object): Promise<Body[]> => succeed(await sql(query, more)).data
/** The value of one SQL expression. */
const cell = async (expression: string) => (await rowsOf(`SELECT ${expression} AS v`))[0].v

test('SQL sees a record type as a relation with typed columns, which the answer describes', {
  tags: 'full',
}, async () => {
  const answer = succeed(await sql(`SELECT * FROM deal WHERE id = 'd1'`))
  const { created_at, updated_at, ...row } = answer.data[0]
  expect(row).toEqual({
    id: 'd1',
    external_id: null,
    external_source: null,
    status: 'active',
    version: 1,
    ...DEALS.d1,
    due: '2026-01-31T07:30:00.000Z',
    data: DEALS.d1,
  })
  expect(created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  expect(updated_at).toBe(created_at)
  expect(answer.meta).toMatchObject({ rows: 1, has_more: false })
  expect(Object.fromEntries(answer.meta.columns.map(({ name, type }: Body) => [name, type]))).toEqual({
    id: 'text',
    external_id: 'text',
    external_source: 'text',
    status: 'text',
    version: 'integer',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
    title: 'text',
    amount: 'numeric',
    count: 'bigint',
    open: 'boolean',
    due: 'timestamptz',
    day: 'date',
    tags: 'jsonb',
    data: 'jsonb',
  })
})

test('SQL aggregates, joins and window functions work over every built-in relation', {
  tags: 'full',
}, async () => {
  expect(
    await rowsOf(
      'SELECT status, count(*) AS n, sum(amount) AS total FROM deal GROUP BY status ORDER BY status',
    ),
  ).toEqual([
    { status: 'active', n: 2, total: 30.25 },
    { status: 'cancelled', n: 1, total: 0.1 },
  ])
  expect(
    await rowsOf('SELECT record_type, count(*) AS n FROM records GROUP BY record_type ORDER BY record_type'),
  ).toEqual([
    { record_type: 'deal', n: 3 },
    { record_type: 'note', n: 1 },
  ])
  expect(await rowsOf('SELECT t.id, t.version FROM record_types t ORDER BY t.id')).toEqual([
    { id: 'deal', version: 1 },
    { id: 'note', version: 1 },
  ])
  expect(
    await rowsOf(`SELECT operation, version, status, via FROM changes WHERE id = 'd3' ORDER BY seq`),
  ).toEqual([
    { operation: 'create', version: 1, status: 'active', via: 'rest' },
    { operation: 'cancel', version: 2, status: 'cancelled', via: 'rest' },
  ])
  expect(
    await rowsOf('SELECT r.*, t.name FROM relationships r JOIN relationship_types t ON t.id = r.rel_type'),
  ).toEqual([])
})

test('SQL returns numbers that a double cannot represent as strings, also within JSON', {
  tags: 'full',
}, async () => {
  expect(await cell('9007199254740993')).toBe('9007199254740993')
  expect(await cell('9007199254740991')).toBe(9007199254740991)
  expect(await cell('0.1::numeric')).toBe(0.1)
  expect(await cell('12345678901234567890.5')).toBe('12345678901234567890.5')
  expect(await cell(`'NaN'::float8`)).toBe('NaN')
  expect(await cell(`'-Infinity'::numeric`)).toBe('-Infinity')
  expect(await cell(`jsonb_build_object('n', 9007199254740993, 'm', 1.5)`)).toEqual({
    n: '9007199254740993',
    m: 1.5,
  })
  expect(await cell('ARRAY[1, 9007199254740993]')).toEqual([1, '9007199254740993'])
})

test('SQL returns every type of value in one JSON form', { tags: 'full' }, async () => {
  expect(await cell(`timestamptz '2026-01-31 09:30:00.1239+02'`)).toBe('2026-01-31T07:30:00.123Z')
  expect(await cell(`timestamp '2026-01-31 09:30:00'`)).toBe('2026-01-31T09:30:00.000')
  expect(await cell(`date '2026-01-31'`)).toBe('2026-01-31')
  expect(await cell(`interval '1 day 90 minutes'`)).toBe('P1DT1H30M')
  expect(await cell('1 = 1')).toBe(true)
  expect(await cell('NULL')).toBe(null)
  expect(await cell(`ARRAY['a,"b"', 'NULL', NULL, '{}']`)).toEqual(['a,"b"', 'NULL', null, '{}'])
  expect(await cell('ARRAY[ARRAY[1, 2], ARRAY[3, 4]]')).toEqual([
    [1, 2],
    [3, 4],
  ])
  expect(await cell(`'{"a": [null, "x"]}'::jsonb`)).toEqual({ a: [null, 'x'] })
  expect(await cell(`'héllo – 🎈'`)).toBe('héllo – 🎈')
})

test('SQL parameters are bound by number or by name', { tags: 'full' }, async () => {
  expect(await rowsOf('SELECT id FROM deal WHERE amount > $1 ORDER BY id', { params: [10] })).toEqual([
    { id: 'd1' },
    { id: 'd2' },
  ])
  expect(await rowsOf('SELECT id FROM deal WHERE id = ANY(:ids)', { params: { ids: ['d2'] } })).toEqual([
    { id: 'd2' },
  ])
  const text = `'; DROP TABLE deal; --`
  expect(await rowsOf('SELECT $1 AS v', { params: [text] })).toEqual([{ v: text }])
  expectFailure(await sql('SELECT $1', {}), 'VALIDATION_ERROR')
  expectFailure(await sql('SELECT 1', { params: [1] }), 'VALIDATION_ERROR')
  expectFault(await sql('SELECT 1', { params: 'x' }), '/params')
})

test('an SQL answer ends at the row limit and shows whether there are more rows', {
  tags: 'full',
}, async () => {
  const series = 'SELECT i FROM generate_series(1, 2000) AS i'
  const whole = succeed(await sql(series))
  expect(whole.meta).toMatchObject({ rows: 1000, has_more: true })
  expect(whole.data.at(-1)).toEqual({ i: 1000 })
  expect(succeed(await sql(series, { limit: 3 })).data).toEqual([{ i: 1 }, { i: 2 }, { i: 3 }])
  expect(succeed(await sql(`${series} LIMIT 3`, { limit: 3 })).meta).toMatchObject({
    rows: 3,
    has_more: false,
  })
  for (const limit of [0, -1, 1001, 1.5]) expectFault(await sql(series, { limit }), '/limit')
})

test('an SQL answer ends at its byte limit, and a single row over it is refused', {
  tags: 'full',
}, async () => {
  const cut = await sql(`SELECT i, repeat('x', 1000) AS x FROM generate_series(1, 200) AS i`)
  const { meta, data } = succeed(cut)
  expect(meta.has_more).toBe(true)
  expect(data).toHaveLength(meta.rows)
  expect(data.at(-1)).toEqual({ i: meta.rows, x: 'x'.repeat(1000) })
  expect(cut.text.length).toBeGreaterThan(60_000)
  expect(cut.text.length).toBeLessThan(66_000)
  const wide = times(80, (i) => `repeat('x', 1000) AS c${i}`).join()
  const { code } = refusalOf(await sql(`SELECT ${wide}`))
  expect(code).toBe('too_large')
})

test('SQL with duplicate column names is refused', async () => {
  expect(refusalOf(await sql('SELECT 1 AS a, 2 AS a'))).toMatchObject({
    code: 'duplicate_column',
    message: expect.stringContaining('AS'),
  })
})

test('an SQL error discloses no values and no internal names', { tags: 'full' }, async () => {
  const failed = async (query: string) => {
    const answer = await sql(query)
    const detail = refusalOf(answer)
    expect(answer.text).not.toMatch(/Three|plinth_sql|base_id =/)
    return detail
  }
  expect(await failed('SELECT amount / 0 FROM deal')).toMatchObject({
    message: expect.stringContaining('zero'),
  })
  expect(await failed('SELECT title::bigint FROM deal')).toMatchObject({ code: 'invalid_value' })
  expect(await failed('SELECT title + 1 FROM deal')).toMatchObject({
    code: 'invalid_sql',
    message: expect.stringContaining('text + integer'),
  })
  expect(await failed('SELECT id, count(*) FROM deal')).toMatchObject({
    message: expect.stringContaining('GROUP BY'),
  })
  expect(await failed('SELECT (SELECT id FROM deal)')).toMatchObject({
    hint: expect.stringContaining('LIMIT 1'),
  })
})

test.each([
  [`SELECT title::int FROM deal`, 'integer', '"title" (character 8, near "title::int FROM deal")'],
  [`SELECT id FROM deal WHERE amount > 'lots'`, 'numeric', '(character 36, near "\'lots\'")'],
  [`SELECT count(*) FROM deal WHERE title::date > now()`, 'date', '"title" (character 33,'],
  [`SELECT title::int, id::int FROM deal`, 'integer', 'one of: (character 8, near'],
  [`SELECT amount / count AS a, 1 / (version - version) AS b FROM deal`, 'zero', 'one of: ('],
  [`SELECT 1 / (version - version) FROM deal`, 'zero', '(character 8, near "1 / (version - version) ")'],
])('an SQL value that does not fit is placed in the text: %s', async (query, what, place) => {
  const { code, message } = refusalOf(await sql(query))
  expect(code).toBe('invalid_value')
  expect(message).toContain(what)
  expect(message).toContain(place)
  expect(message).not.toMatch(/Big|Small|plinth|base_id/)
})

test.each([
  [
    'SELECT :a::int',
    'A text cannot be read as integer. It is the value of :a. (character 8, near ":a::int")',
  ],
  ['SELECT id FROM deal WHERE amount > :a', 'A text cannot be read as numeric. It is the value of :a.'],
  [
    'SELECT id FROM deal WHERE day = :a',
    'A text is not a date or time of the type it is cast to. It is the value of :a.',
  ],
  [
    'SELECT id FROM deal WHERE id = ANY(:a)',
    'A text cannot be read as the type it is cast to. It is the value of :a.',
  ],
])('an SQL parameter whose value does not fit is named, without the value: %s', async (query, message) => {
  const answer = await sql(query, { params: { a: 'a secret' } })
  const [detail] = expectFailure(answer, 'VALIDATION_ERROR').details
  expect(detail).toMatchObject({ path: '/params/a', code: 'invalid_value', message })
  expect(answer.text).not.toContain('secret')
})

test('an SQL parameter is named by its own number, and what JSON it is where that is no text', async () => {
  const second = await sql('SELECT id FROM deal WHERE title = $2 AND amount > $1', { params: ['x', 'One'] })
  expect(expectFailure(second, 'VALIDATION_ERROR').details[0]).toMatchObject({
    path: '/params/0',
    message: 'A text cannot be read as numeric. It is the value of $1.',
  })
  for (const [value, kind] of [
    [{}, 'object'],
    [[], 'array'],
  ] as const)
    expect(refusalOf(await sql('SELECT :a::int', { params: { a: value } })).message).toBe(
      `A JSON ${kind} cannot be read as integer.`,
    )
})

test('SQL writes, other relations and multiple statements are refused', async () => {
  for (const query of [
    'DELETE FROM deal',
    'SELECT 1; DROP TABLE deal',
    'SELECT * FROM pg_class',
    'SELECT * FROM token',
    'SELECT pg_sleep(1)',
    '',
  ]) {
    refusalOf(await sql(query))
  }
  expect(await rowsOf('SELECT count(*) AS n FROM deal')).toEqual([{ n: 3 }])
})

test('SQL needs only read permission and refuses dry_run', async () => {
  expectFault(await world.call('POST', '/v1/crm/sql?dry_run=true', { query: 'SELECT 1' }), 'query/dry_run')
  const reader = await world.newToken([{ permission: 'read' }])
  expect(succeed(await sql('SELECT 1 AS one', {}, reader.call)).data).toEqual([{ one: 1 }])
  expectFault(await world.call('POST', '/v1/crm/sql', { query: 'SELECT 1', extra: 1 }), '/extra')
  refusalOf(await world.call('POST', '/v1/crm/sql', {}))
})

test('SQL in a base without a grant is 403, and in an absent base 404', async () => {
  const stranger = await world.newToken([{ permission: 'read', record_type: 'deal' }])
  for (const base of ['other', 'nothing-there'])
    expectFailure(await stranger.call('POST', `/v1/${base}/sql`, { query: 'SELECT' }), 'FORBIDDEN')
  expectFailure(await world.call('POST', '/v1/nothing-there/sql', { query: 'SELECT 1' }), 'NOT_FOUND')
})

test('SQL shows only the record types granted to the token', { tags: 'full' }, async () => {
  const { call } = await world.newToken([{ permission: 'read', record_type: 'deal' }])
  const read = async (query: string) => succeed(await sql(query, {}, call)).data
  expect(await read('SELECT DISTINCT record_type FROM records')).toEqual([{ record_type: 'deal' }])
  expect(await read('SELECT id FROM record_types')).toEqual([{ id: 'deal' }])
  expect(await read('SELECT DISTINCT kind, record_type FROM changes')).toEqual([
    { kind: 'record', record_type: 'deal' },
  ])
  const ungranted = refusalOf(await sql('SELECT * FROM note', {}, call))
  const unknown = refusalOf(await sql('SELECT * FROM nope', {}, call))
  expect(ungranted.message.replaceAll('note', 'nope')).toBe(unknown.message)
  expect(ungranted.allowed).not.toContain('note')
})

test('SQL follows the creation, change and deletion of a record type at once', { tags: 'full' }, async () => {
  const type = await world.newType({ json_schema: { properties: { first: { type: 'string' } } } })
  expect(succeed(await sql(`SELECT first FROM ${type}`))).toEqual({
    data: [],
    meta: { rows: 0, has_more: false, columns: [{ name: 'first', type: 'text' }] },
  })
  const next = { json_schema: { properties: { second: { type: 'integer' } } } }
  succeed(await world.call('PUT', `/v1/crm/record-types/${type}`, next))
  expect(await rowsOf(`SELECT second FROM ${type}`)).toEqual([])
  refusalOf(await sql(`SELECT first FROM ${type}`))
  succeed(await world.call('DELETE', `/v1/crm/record-types/${type}`))
  refusalOf(await sql(`SELECT second FROM ${type}`))
})

test('SQL that exceeds the time limit is refused', { tags: 'full' }, async () => {
  const detail = refusalOf(await sql(ENDLESS))
  expect(detail).toMatchObject({ code: 'timeout', message: expect.stringContaining('1500 ms') })
})

const RUNNING = `SELECT pid FROM pg_stat_activity WHERE application_name = 'plinth-sql' AND datname = current_database()
  AND state = 'active' AND query LIKE '%generate_series%'`
const runningIn = async (each: World) => (await each.database.query<{ pid: number }>(RUNNING)).length
const running = () => runningIn(world)
/** Asks for ENDLESS until `signal` disconnects the client. */
const askEndless = (url: string, token: string, signal: AbortSignal) =>
  fetch(`${url}/v1/crm/sql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: ENDLESS }),
    signal,
  })

// Only for the test's own PostgreSQL: the test suspends one of its processes.
test.skipIf(process.env['DATABASE_URL'] !== undefined)(
  'SQL is answered in time even if the database does not obey the timeout',
  { tags: 'full' },
  async () => {
    const asked = sql(ENDLESS)
    await expect.poll(running).toBe(1)
    const [{ pid } = { pid: 0 }] = await world.database.query<{ pid: number }>(RUNNING)
    process.kill(pid, 'SIGSTOP')
    try {
      expect(refusalOf(await asked)).toMatchObject({ code: 'timeout' })
      expect(await running()).toBe(1)
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await expect.poll(running).toBe(0)
  },
)

test('an SQL statement is cancelled when its client disconnects', { tags: 'full' }, async () => {
  const gone = new AbortController()
  const asked = askEndless(world.url, world.adminToken, gone.signal)
  await expect.poll(running).toBe(1)
  gone.abort()
  await expect(asked).rejects.toThrow()
  await expect.poll(running).toBe(0)
  expect(world.log.some((line) => line.includes('"outcome":"abandoned"'))).toBe(true)
})

test('a token may run two SQL statements at once, and all tokens together four', {
  tags: 'full',
}, async () => {
  // All four run at the same time on a slow machine too: they end when their clients disconnect.
  const patient = await openWorld({ PLINTH_SQL_TIMEOUT_MS: '60000' })
  const gone = new AbortController()
  const held: Promise<Response>[] = []
  const hold = (token: string) => held.push(askEndless(patient.url, token, gone.signal))
  const ask = (call: Call) => call('POST', '/v1/crm/sql', { query: 'SELECT 1 AS a' })
  try {
    const [first, second, third] = await Promise.all(
      times(3, () => patient.newToken([{ permission: 'read' }])),
    )
    if (!first || !second || !third) throw new Error('three tokens')
    times(2, () => hold(first.token))
    await expect.poll(() => runningIn(patient)).toBe(2)
    const ownLimit = await ask(first.call)
    expect(expectFailure(ownLimit, 'RATE_LIMITED').message).toContain('token')
    expect(ownLimit.headers.get('retry-after')).toBe('1')
    times(2, () => hold(second.token))
    await expect.poll(() => runningIn(patient)).toBe(4)
    expectFailure(await ask(third.call), 'RATE_LIMITED')
    gone.abort()
    for (const { status } of await Promise.allSettled(held)) expect(status).toBe('rejected')
    await expect.poll(async () => (await ask(first.call)).status).toBe(200)
  } finally {
    gone.abort()
    await Promise.allSettled(held)
    await patient.close()
  }
})

test('each SQL statement writes one log line without its text and values', async () => {
  const secret = randomUUID()
  await sql(`SELECT id, '${secret}' AS mine FROM deal WHERE id = $1`, { params: [secret] })
  await sql(`SELECT 1 / (length($1) - 36)`, { params: [secret] })
  const lines = world.log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'sql')
  expect(lines.at(-2)).toMatchObject({
    base: 'crm',
    relations: ['deal'],
    rows: 0,
    outcome: 'answered',
    token: expect.any(String),
    fingerprint: expect.stringMatching(/^[0-9a-f]+$/),
    ms: expect.any(Number),
  })
  expect(lines.at(-1)).toMatchObject({ outcome: 'invalid_value', relations: [] })
  await sql(`DELETE FROM deal WHERE id = '${secret}'`)
  expect(JSON.parse(world.log.filter((line) => line.includes('"msg":"sql"')).at(-1) ?? '')).toMatchObject({
    base: 'crm',
    rows: 0,
    outcome: 'not_a_read',
  })
  expect(world.log.join('')).not.toContain(secret)
})

test('GraphQL and MCP run the same SQL statement as REST', { tags: 'full' }, async () => {
  const query = `SELECT title, sum(count) AS n FROM deal WHERE id = 'd1' GROUP BY title`
  const { data, errors } = succeed(
    await world.call('POST', '/graphql', {
      query: `query ($q: String!) { sql(base: "crm", query: $q) { data meta { rows hasMore columns { name type } } } }`,
      variables: { q: query },
    }),
  )
  expect(errors).toBeUndefined()
  expect(data.sql).toEqual({
    data: [{ title: 'One', n: 3 }],
    meta: {
      rows: 1,
      hasMore: false,
      columns: [
        { name: 'title', type: 'text' },
        { name: 'n', type: 'numeric' },
      ],
    },
  })
  const { body, text } = await callTool(world, '/mcp/crm', 'sql_query', { query })
  const { columns: _, ...meta } = data.sql.meta
  expect(body).toEqual({ data: data.sql.data, meta: { rows: meta.rows, has_more: meta.hasMore } })
  expect(text).toContain('Untrusted data')
  for (const params of [[2], { n: 2 }, '[2]', '{"n":2}']) {
    const name = JSON.stringify(params).includes('n') ? ':n' : '$1'
    const bound = await callTool(world, '/mcp/crm', 'sql_query', {
      query: `SELECT ${name}::int AS v`,
      params,
    })
    expect(bound.body.data).toEqual([{ v: 2 }])
  }
  const more = await callTool(world, '/mcp/crm', 'sql_query', {
    query: 'SELECT i FROM generate_series(1, 500) AS i',
  })
  expect(more.body.meta).toMatchObject({ rows: 100, has_more: true })
  const { error } = await callTool(world, '/mcp/crm', 'sql_query', { query: 'DELETE FROM deal' })
  expect(error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: '/query' }] })
})

test('PLINTH_SQL_ENABLED=false disables SQL', { tags: 'full' }, async () => {
  const off = await openWorld({ PLINTH_SQL_ENABLED: 'false' })
  const answer = await off.call('POST', '/v1/crm/sql', { query: 'SELECT 1' })
  expect(expectFailure(answer, 'FORBIDDEN').details[0].code).toBe('sql_disabled')
  expect((await off.call('GET', '/readyz')).body.sql_isolation).toBe('off')
  await off.close()
})

test('SQL derives the column type of an enum from its values', { tags: 'full' }, async () => {
  const properties = {
    stage: { enum: ['open', 'won', null] },
    level: { enum: [1, 2] },
    share: { enum: [0.5, 1] },
    flag: { const: true },
    mixed: { enum: ['a', 1] },
  }
  const type = await world.newType({ json_schema: { properties } })
  const data = { stage: 'won', level: 2, share: 0.5, flag: true, mixed: 'a' }
  succeed(await world.call('PUT', `/v1/crm/records/${type}/a`, { data }), 201)
  const answer = succeed(
    await sql(
      `SELECT stage, level, share, flag, mixed FROM ${type} WHERE stage = 'won' AND level > 1 AND flag`,
    ),
  )
  expect(answer.data).toEqual([data])
  expect(answer.meta.columns.map((column: Body) => column.type)).toEqual([
    'text',
    'bigint',
    'numeric',
    'boolean',
    'jsonb',
  ])
})

import { createHash } from 'node:crypto'
import { getIntrospectionQuery } from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Answer, type Body, openServer, type TestServer } from '../support/server.ts'

let server: TestServer
type Options = { token?: string | null; headers?: Record<string, string> }
const send = (query: string, variables?: object, { token = server.adminToken, headers = {} }: Options = {}) =>
  server.as(token)('POST', '/graphql', { query, ...(variables && { variables }) }, headers)

/** The data of a successful request. */
async function ask(query: string, variables?: object, options?: Options): Promise<Body> {
  const { status, body, text } = await send(query, variables, options)
  expect(body.errors, text).toBeUndefined()
  expect(status).toBe(200)
  return body.data
}
/** The error of a failed request. */
async function fail(query: string, variables?: object, options?: Options): Promise<Body> {
  const { body, text } = await send(query, variables, options)
  expect(body.errors, text).toHaveLength(1)
  expect(body.data ?? null).toBeNull()
  const [{ message, extensions }] = body.errors
  return { message, ...extensions }
}
/** The error of a request that is refused before execution. */
async function refused(query: string, variables?: object): Promise<Body> {
  const answer = await send(query, variables)
  expect(answer.status, answer.text).toBe(400)
  expect(answer.body).not.toHaveProperty('data.bases')
  return answer.body.errors[0]
}

const SCHEMA = {
  type: 'object',
  properties: { title: { type: 'string' }, qty: { type: 'integer' } },
  required: ['title'],
}

beforeAll(async () => {
  server = await openServer()
  await server.call('PUT', '/v1/bases/crm', { name: 'CRM' })
  await server.call('PUT', '/v1/crm/record-types/task', { json_schema: SCHEMA })
  await server.call('PUT', '/v1/crm/record-types/note', {})
})
afterAll(() => server.close())

async function tokenWith(grant: object): Promise<string> {
  const made = await server.call('POST', '/v1/tokens', {
    name: 'scoped',
    grants: [{ base: 'crm', record_type: '*', environment: 'production', ...grant }],
  })
  return made.body.token
}

test('GraphQL queries return the values that REST returns', { tags: 'full' }, async () => {
  await server.call('PUT', '/v1/crm/records/task/t1', { data: { title: 'a', qty: 1 }, external_id: 'x1' })
  const data = await ask(`{
    bases(includeTotal: true) { data { id name environment counts } hasMore total }
    base(id: "crm") { name settings version createdAt }
    recordTypes(base: "crm") { data { id portableId jsonSchema } }
    recordType(base: "crm", id: "task") { id timezone indexes sources display }
    records(base: "crm", recordType: "task", limit: 10, includeTotal: true) { data { id data } hasMore limit offset total }
    record(base: "crm", recordType: "task", id: "t1") {
      id recordType data externalId externalSource version status cancelledAt valid createdAt updatedAt
    }
    tokens { data { name masked grants } hasMore }
  }`)
  const record = (await server.call('GET', '/v1/crm/records/task/t1')).body
  expect(data.record).toEqual({
    id: 't1',
    recordType: 'task',
    data: record.data,
    externalId: 'x1',
    externalSource: 'default',
    version: 1,
    status: 'active',
    cancelledAt: null,
    valid: null,
    createdAt: record.created_at,
    updatedAt: record.updated_at,
  })
  expect(data.bases).toEqual({
    data: [{ id: 'crm', name: 'CRM', environment: 'production', counts: { record_types: 2, records: 1 } }],
    hasMore: false,
    total: 1,
  })
  expect(data.base.settings).toEqual((await server.call('GET', '/v1/bases/crm')).body.settings)
  expect(data.recordTypes.data.map((type: Body) => type.id).sort()).toEqual(['note', 'task'])
  expect(data.recordType).toEqual({ id: 'task', timezone: 'UTC', indexes: [], sources: [], display: {} })
  expect(data.records).toMatchObject({ hasMore: false, limit: 10, offset: 0, total: 1 })
  expect(data.tokens.data[0]).toMatchObject({ masked: expect.stringMatching(/^plt_….{4}$/) })
  expect(JSON.stringify(data)).not.toContain(server.adminToken)
})

test('a filter and a sort apply to a GraphQL list', async () => {
  for (const title of ['s1', 's2', 's1'])
    await server.call('POST', '/v1/crm/records/note', { data: { title } })
  const { records } = await ask(
    `query Q($filter: JSON) { records(base: "crm", recordType: "note", filter: $filter, sort: "created_at") { data { data } } }`,
    { filter: { field: 'data.title', op: 'eq', value: 's1' } },
  )
  expect(records.data).toEqual([{ data: { title: 's1' } }, { data: { title: 's1' } }])
})

test('GraphQL mutations of bases, types and records do what REST does', { tags: 'full' }, async () => {
  const data = await ask(`mutation {
    base: putBase(id: "made", input: { name: "Made", settings: { trash_days: 7 } }) { id name settings operation }
    type: putRecordType(base: "made", id: "thing", input: { jsonSchema: { type: "object", required: ["n"] } }) { version operation }
    patched: patchRecordType(base: "made", id: "thing", input: { description: "Things" }) { version description jsonSchema operation }
    put: putRecord(base: "made", recordType: "thing", id: "a", data: { n: 1 }) { id version operation }
    pair: putRecordByExternalId(base: "made", recordType: "thing", data: { n: 2 }, externalId: "e") { externalId externalSource operation }
    created: createRecord(base: "made", recordType: "thing", data: { n: 3 }) { id version operation }
    merged: patchRecord(base: "made", recordType: "thing", id: "a", merge: { m: [1, 2.5, null, "x"] }) { data version }
    pathed: patchRecord(base: "made", recordType: "thing", id: "a", operations: [{ op: "remove", path: "/data/m/0" }]) { data version }
    cancelled: cancelRecord(base: "made", recordType: "thing", id: "a") { status version }
    restored: restoreRecord(base: "made", recordType: "thing", id: "a") { status version }
    deleted: deleteRecord(base: "made", recordType: "thing", id: "a") { id deleted }
  }`)
  expect(data).toMatchObject({
    base: { id: 'made', name: 'Made', settings: { trash_days: 7 }, operation: 'created' },
    type: { version: 1, operation: 'created' },
    patched: { version: 2, description: 'Things', operation: 'updated', jsonSchema: { required: ['n'] } },
    put: { id: 'a', version: 1, operation: 'created' },
    pair: { externalId: 'e', externalSource: 'default', operation: 'created' },
    created: { version: 1, operation: 'created' },
    merged: { data: { n: 1, m: [1, 2.5, null, 'x'] }, version: 2 },
    pathed: { data: { n: 1, m: [2.5, null, 'x'] }, version: 3 },
    cancelled: { status: 'cancelled', version: 4 },
    restored: { status: 'active', version: 5 },
    deleted: { id: 'a', deleted: true },
  })
  expect((await server.call('GET', '/v1/made/records/thing/a')).status).toBe(404)
  expect((await server.call('GET', `/v1/made/records/thing/${data.created.id}`)).body.data).toEqual({ n: 3 })
  const end = await ask(`mutation {
    type: deleteRecordType(base: "made", id: "thing", confirm: "thing") { id deleted }
    base: deleteBase(id: "made") { id deleted }
  }`)
  expect(end).toEqual({ type: { id: 'thing', deleted: true }, base: { id: 'made', deleted: true } })
  expect((await server.call('GET', '/v1/bases/made')).status).toBe(404)
})

test('GraphQL creates tokens, imports tool definitions and records tool calls', {
  tags: 'full',
}, async () => {
  const grants = [{ base: 'crm', record_type: 'note', environment: 'production', permission: 'read' }]
  const { createToken } = await ask(
    'mutation M($grants: JSON!) { createToken(name: "made", grants: $grants) { id token masked createdBy expiresAt } }',
    { grants },
  )
  expect(createToken.token).toMatch(/^plt_/)
  expect(createToken.expiresAt).toBeNull()
  const read = await ask('{ recordTypes(base: "crm") { data { id } } }', {}, { token: createToken.token })
  expect(read.recordTypes.data).toEqual([{ id: 'note' }])
  expect(await ask(`mutation { deleteToken(id: "${createToken.id}") { id deleted } }`)).toEqual({
    deleteToken: { id: createToken.id, deleted: true },
  })
  const definition = {
    name: 'log_call',
    description: 'Logs.',
    input_schema: { type: 'object', properties: {} },
  }
  const done = await ask(
    `mutation M($tools: JSON!) { importTools(base: "crm", provider: "anthropic", tools: $tools) { data meta } }`,
    { tools: [definition] },
  )
  expect(done.importTools).toEqual({
    data: [{ record_type: 'log_call', operation: 'created', warnings: [] }],
    meta: { count: 1 },
  })
  const call = { type: 'tool_use', id: 'toolu_1', name: 'log_call', input: { a: 1 } }
  const { recordToolCall } = await ask(
    `mutation M($call: JSON!) { recordToolCall(base: "crm", provider: "anthropic", recordType: "log_call", call: $call) {
      record { data externalId externalSource } operation toolResult } }`,
    { call },
  )
  expect(recordToolCall).toMatchObject({
    record: { data: { a: 1 }, externalId: 'toolu_1', externalSource: 'anthropic' },
    operation: 'created',
    toolResult: { type: 'tool_result', tool_use_id: 'toolu_1' },
  })
  const { exportTools } = await ask(
    '{ exportTools(base: "crm", provider: "anthropic", recordTypes: ["log_call"]) { provider tools warnings } }',
  )
  expect(exportTools).toEqual({ provider: 'anthropic', tools: [definition], warnings: [] })
})

test('GraphQL errors have the codes and details of the API', { tags: 'full' }, async () => {
  const missing = await fail('{ record(base: "crm", recordType: "task", id: "nobody") { id } }')
  expect(missing).toMatchObject({ code: 'NOT_FOUND', details: [{ path: '/id', code: 'record_not_found' }] })
  expect(missing.request_id).toMatch(/./)
  const invalid = await fail(
    'mutation { createRecord(base: "crm", recordType: "task", data: { title: 5, qty: 1.5 }) { id } }',
  )
  expect(invalid.code).toBe('VALIDATION_ERROR')
  expect(invalid.details.map((detail: Body) => detail.path).sort()).toEqual(['/data/qty', '/data/title'])
  await server.call('PUT', '/v1/crm/records/task/c1', { data: { title: 'c' } })
  const taken = await fail(
    'mutation { createRecord(base: "crm", recordType: "task", id: "c1", data: { title: "d" }) { id } }',
  )
  expect(taken).toMatchObject({ code: 'CONFLICT' })
  const stale = await fail(
    'mutation { patchRecord(base: "crm", recordType: "task", id: "c1", merge: {}, expectedVersions: [9]) { id } }',
  )
  expect(stale).toMatchObject({
    code: 'CONFLICT',
    details: [{ code: 'version_mismatch', expected: 1, received: 9 }],
  })
  const page = await fail('{ bases(limit: 1001) { hasMore } }')
  expect(page).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: '/limit' }] })
})

test('a failed root field has an error with its path and a code', async () => {
  const { status, body } = await send('mutation { a: deleteBase(id: "no-such-base") { id } }')
  expect(status).toBe(200)
  expect(body.errors[0]).toMatchObject({ path: ['a'], extensions: { code: 'NOT_FOUND' } })
})

test('mutations of one GraphQL request run in order', async () => {
  const { body } = await send(`mutation {
    one: putRecord(base: "crm", recordType: "note", id: "ordered", data: { n: 1 }) { version }
    two: putRecord(base: "crm", recordType: "note", id: "ordered", data: { n: 2 }) { version }
  }`)
  expect(body.data).toEqual({ one: { version: 1 }, two: { version: 2 } })
})

test('a repeated idempotencyKey returns the first result, and dryRun writes nothing', {
  tags: 'full',
}, async () => {
  const write = (key: string, n: number, dry = false) =>
    send(
      `mutation { createRecord(base: "crm", recordType: "note", data: { n: ${n} }, idempotencyKey: "${key}", dryRun: ${dry}) { id dryRun } }`,
    )
  const first = await write('g-1', 1)
  expect((await write('g-1', 1)).body).toEqual(first.body)
  expect((await write('g-1', 2)).body.errors[0].extensions).toMatchObject({
    code: 'CONFLICT',
    details: [{ code: 'key_reused' }],
  })
  const dry = await write('g-2', 3, true)
  expect(dry.body.data.createRecord.dryRun).toBe(true)
  expect((await server.call('GET', `/v1/crm/records/note/${dry.body.data.createRecord.id}`)).status).toBe(404)
  expect((await write('g-2', 4)).body.data.createRecord.dryRun).toBeNull()
  const bad = await write('with space', 5)
  expect(bad.body.errors[0].extensions).toMatchObject({
    code: 'VALIDATION_ERROR',
    details: [{ path: '/idempotencyKey' }],
  })
})

test('each mutation of a GraphQL request has its own idempotency key', async () => {
  const { body } = await send(`mutation {
    a: createRecord(base: "crm", recordType: "note", data: { k: "a" }, idempotencyKey: "ka") { data }
    b: createRecord(base: "crm", recordType: "note", data: { k: "b" }, idempotencyKey: "kb") { data }
    c: createRecord(base: "crm", recordType: "note", data: { k: "c" }) { data }
  }`)
  expect(body.data).toEqual({ a: { data: { k: 'a' } }, b: { data: { k: 'b' } }, c: { data: { k: 'c' } } })
})

test.each([
  ['Idempotency-Key', 'k'],
  ['If-Match', '"1"'],
  ['If-None-Match', '*'],
])('the %s header of a REST write is refused on /graphql', async (name, value) => {
  const { status, body } = await send('{ bases { hasMore } }', {}, { headers: { [name]: value } })
  expect(status).toBe(400)
  expect(body.errors[0].extensions).toMatchObject({
    code: 'VALIDATION_ERROR',
    details: [{ path: `header/${name}`, code: 'not_here' }],
  })
  expect(body).not.toHaveProperty('data')
})

test('GraphQL numbers that a double cannot represent are refused, as literals and as variables', {
  tags: 'full',
}, async () => {
  const literal = (n: string) =>
    `mutation { createRecord(base: "crm", recordType: "note", data: { n: ${n} }) { data } }`
  for (const n of ['9007199254740993', '1e400', '-0.12345678901234567890']) {
    const error = await refused(literal(n))
    expect(error.extensions, n).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ code: 'unsafe_number' }],
    })
  }
  expect((await ask(literal('1e21'))).createRecord.data).toEqual({ n: 1e21 })
  const raw = await server.call(
    'POST',
    '/graphql',
    '{"query":"query Q($f: JSON) { bases { hasMore } }","variables":{"f":9007199254740993}}',
    { 'content-type': 'application/json' },
  )
  expect(raw.status).toBe(400)
  expect(raw.body.errors[0].extensions).toMatchObject({
    code: 'VALIDATION_ERROR',
    details: [{ path: '/variables/f', code: 'unsafe_number' }],
  })
  for (const value of ['"a\\u0000b"', '{ __proto__: 1 }', 'AN_ENUM']) {
    const error = await refused(literal(value))
    expect(error.extensions.code, value).toBe('VALIDATION_ERROR')
  }
})

test('a string of a document with NUL is refused where it stands, whatever takes it', async () => {
  for (const escaped of ['\\u0000', '\\u{0}', '\\u{00000}'])
    for (const query of [
      `mutation { putBase(id: "crm", input: { name: "${escaped}" }) { id } }`,
      `{ records(base: "${escaped}", recordType: "task") { rows } }`,
    ]) {
      const { message, locations, extensions } = await refused(query)
      expect([message, extensions.code]).toEqual([expect.stringMatching(/NUL.*u0000/), 'VALIDATION_ERROR'])
      expect(locations).toEqual([{ line: 1, column: query.indexOf(`"${escaped}`) + 1 }])
    }
  const { status, body } = await server.call('GET', '/graphql?query=%7B+base(id:+%22%00%22)+%7B+id+%7D+%7D')
  expect([status, body.errors[0].extensions.code]).toEqual([400, 'VALIDATION_ERROR'])
})

test('a GraphQL request without a body or a document is 400 and says what to send', async () => {
  const json = { 'content-type': 'application/json' }
  for (const [method, sent, path] of [
    ['POST', undefined, ''],
    ['POST', '[{"query":"{ bases { hasMore } }"}]', ''],
    ['POST', '"{ bases { hasMore } }"', ''],
    ['POST', '{}', '/query'],
    ['POST', '{"query":null,"variables":{}}', '/query'],
    ['GET', undefined, 'query/query'],
  ] as const) {
    const { status, body } = await server.call(method, '/graphql', sent, sent === undefined ? {} : json)
    expect([status, body.errors?.[0].extensions], `${method} ${sent}`).toMatchObject([
      400,
      { code: 'VALIDATION_ERROR', details: [{ path, expected: path === '' ? 'object' : 'string' }] },
    ])
  }
})

test('a GraphQL request above a limit is 400 before execution', { tags: 'full' }, async () => {
  const deep = `{ bases { data { ${'... on Base { '.repeat(3)} id ${'} '.repeat(3)} } } }`
  expect((await send(deep)).status).toBe(200)
  const tooDeep = `{ __schema { types ${'{ fields { type '.repeat(7)} { name } ${'} } '.repeat(7)} } }`
  expect((await refused(tooDeep)).message).toMatch(/depth/)
  const aliases = Array.from({ length: 51 }, (_, i) => `a${i}: base(id: "crm") { id }`).join(' ')
  expect((await refused(`{ ${aliases} }`)).message).toMatch(/aliases .* limit of 50/)
  const costly = Array.from({ length: 6 }, (_, i) => `b${i}: bases(limit: 1000) { data { id } }`).join(' ')
  expect((await refused(`{ ${costly} }`)).message).toMatch(/cost .* limit of 5000/)
  const spread = `${'query Q { ...A ...A ...A ...A ...A ...A } fragment A on Query { bases(limit: 1000) { data { id } } }'}`
  expect((await refused(spread)).message).toMatch(/cost/)
  const words = `{ ${'bases { hasMore } '.repeat(600)} }`
  expect((await refused(words)).message).toMatch(/2000 tokens/)
  const chained = Array.from(
    { length: 1900 },
    (_, i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 2} }`,
  )
  expect((await refused(`{ ...F0 } ${chained.join(' ')}`)).message).toMatch(/2000 tokens/)
  expect((await refused('{ nothing }')).extensions.code).toBe('VALIDATION_ERROR')
  expect((await refused('{ bases { ')).extensions.code).toBe('VALIDATION_ERROR')
  expect((await refused('query Q($x: Int!) { bases(limit: $x) { hasMore } }', {})).extensions.code).toBe(
    'VALIDATION_ERROR',
  )
})

test('a GraphQL response above 16 MiB is 400 with too_large', { tags: 'full' }, async () => {
  const text = 'x'.repeat(1_000_000)
  await server.call('PUT', '/v1/crm/records/note/large', { data: { text } })
  const asking = (count: number) =>
    `{ ${Array.from({ length: count }, (_, i) => `n${i}: record(base: "crm", recordType: "note", id: "large") { data }`).join(' ')} }`
  const { errors, data } = (await send(asking(16), undefined)).body
  expect(errors).toBeUndefined()
  expect(Object.keys(data)).toHaveLength(16)
  expect(data.n15).toEqual({ data: { text } })
  const { extensions } = await refused(asking(17))
  expect(extensions).toMatchObject({
    code: 'VALIDATION_ERROR',
    details: [{ code: 'too_large', path: '/query' }],
  })
  const stream = await send(asking(2), undefined, { headers: { accept: 'text/event-stream' } })
  expect(stream.text).toContain(`event: next\ndata: {"data":{"n0":{"data":{"text":"xxx`)
})

test('`rows` of a GraphQL list equal the REST records, including an empty list', async () => {
  const { body: row } = await server.call('PUT', '/v1/crm/records/task/rows', {
    data: { title: 'r', qty: 1 },
  })
  const data = await ask(`{
    one: records(base: "crm", recordType: "task", filter: {field: "id", op: "eq", value: "rows"}) { rows cursors }
    none: records(base: "crm", recordType: "task", filter: {field: "id", op: "eq", value: "none"}) { rows data { id } }
  }`)
  const { operation: _, ...shown } = row
  expect(data).toEqual({
    one: { rows: [shown], cursors: [expect.any(String)] },
    none: { rows: [], data: [] },
  })
})

test.each([
  ['open brackets', '{ base(id: '.concat('['.repeat(3000))],
  ['closed brackets', `{ base(id: ${'['.repeat(20_000)}${']'.repeat(20_000)}) { id } }`],
  ['selections', '{a:'.repeat(30_000)],
  ['list types', `query Q($a: ${'['.repeat(5000)}Int${']'.repeat(5000)}) { bases { hasMore } }`],
  ['braces', '{'.repeat(100_000)],
  ['bytes', `{ bases { hasMore } } #${'x'.repeat(200_000)}`],
])('a GraphQL text with too many %s is 400 before it is parsed', async (_, query) => {
  const { status, body } = await send(query)
  expect(status).toBe(400)
  const { extensions } = body.errors[0]
  expect(extensions).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: '/query' }] })
})

test('brackets in strings and comments do not count towards the GraphQL bracket limit', async () => {
  const noise = '[{('.repeat(300)
  const query = `{ __type(name: "${noise} \\" ${noise}") { name } } # ${noise}\n`
  expect((await send(query)).body).toMatchObject({ data: { __type: null } })
  expect((await send(query.replaceAll('"', '"""').replace('\\"""', ''))).status).toBe(200)
})

test('each root field of a GraphQL request counts towards the rate limit', { tags: 'full' }, async () => {
  const limited = await openServer({ PLINTH_RATE_LIMIT: '100' }, server.database)
  try {
    const fields = Array.from({ length: 40 }, (_, n) => `a${n}: base(id: "none") { id }`).join(' ')
    const ask = () => limited.call('POST', '/graphql', { query: `{ ${fields} }` })
    const first = await ask()
    expect(first.status).toBe(200)
    expect(Number(first.headers.get('x-ratelimit-remaining'))).toBeLessThanOrEqual(61)
    await ask()
    const refused = await ask()
    expect(refused.status).toBe(429)
    expect(refused.body.errors[0].extensions.code).toBe('RATE_LIMITED')
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
  } finally {
    await limited.close()
  }
})

test('the cost of fragments that double each other is computed without expanding them', {
  tags: 'full',
}, async () => {
  const doubling = Array.from(
    { length: 60 },
    (_, i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`,
  )
  const query = `{ ...F0 } ${doubling.join(' ')} fragment F60 on Query { __typename }`
  // Expansion would not end within the timeout.
  expect((await refused(query)).message).toMatch(/cost/)
})

test('the cost of a list uses the value of a limit variable', { tags: 'full' }, async () => {
  const query = `query Q($n: Int) { ${Array.from({ length: 6 }, (_, i) => `b${i}: bases(limit: $n) { data { id } }`).join(' ')} }`
  expect((await send(query, { n: 1000 })).status).toBe(400)
  expect((await send(query, { n: 10 })).status).toBe(200)
})

test('PLINTH_GRAPHQL_MAX_COST sets the GraphQL cost limit', { tags: 'full' }, async () => {
  const small = await openServer({ PLINTH_GRAPHQL_MAX_COST: '10' }, server.database)
  const { status, body } = await small.call('POST', '/graphql', {
    query: '{ bases(limit: 20) { data { id settings } } }',
  })
  expect(status).toBe(400)
  expect(body.errors[0].message).toMatch(/limit of 10/)
  await small.close()
})

test('an internal GraphQL error is only in the log; the response has no details of it', async () => {
  await server.database.query('ALTER TABLE plinth.base RENAME COLUMN settings TO hidden_column')
  const answer = await send('{ bases { hasMore } }')
  await server.database.query('ALTER TABLE plinth.base RENAME COLUMN hidden_column TO settings')
  const [error] = answer.body.errors
  expect(error.extensions).toMatchObject({ code: 'INTERNAL_ERROR', details: [] })
  expect(answer.text).not.toMatch(/settings|plinth\.base|\.ts/)
  const line = server.log.find(
    (entry) => entry.includes(error.extensions.request_id) && entry.includes('"err"'),
  )
  expect(line).toMatch(/settings/)
})

const UNAUTHORIZED = { code: 'UNAUTHORIZED', details: [{ path: 'header/Authorization' }] }

test('a GraphQL request without a valid token is 401 without data', async () => {
  for (const token of [null, 'plt_nobody']) {
    const { status, body, headers } = await send('{ bases { hasMore } }', {}, { token })
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toMatch(/^Bearer/)
    expect(body.errors[0].extensions).toMatchObject(UNAUTHORIZED)
    expect(body.errors[0].extensions.request_id).toBe(headers.get('x-request-id'))
    expect(body).not.toHaveProperty('data')
  }
  expect((await server.as(null)('POST', '/graphql', '{ nonsense')).status).toBe(401)
})

test('grants apply to GraphQL as to REST', { tags: 'full' }, async () => {
  const token = await tokenWith({ record_type: 'note', permission: 'read' })
  const may = (query: string) => fail(query, {}, { token })
  for (const query of [
    '{ record(base: "crm", recordType: "task", id: "t1") { id } }',
    '{ records(base: "crm", recordType: "nowhere") { hasMore } }',
    '{ recordType(base: "crm", id: "task") { id } }',
    '{ base(id: "elsewhere") { id } }',
    '{ tokens { hasMore } }',
    'mutation { createRecord(base: "crm", recordType: "note", data: {}) { id } }',
    'mutation { putBase(id: "crm", input: {}) { id } }',
    'mutation { deleteBase(id: "crm") { id } }',
    'mutation { createToken(name: "x", grants: []) { id } }',
  ])
    expect(await may(query), query).toMatchObject({ code: 'FORBIDDEN' })
  const seen = await ask(
    '{ bases { data { id counts } } recordTypes(base: "crm") { data { id } } }',
    {},
    { token },
  )
  expect(seen.recordTypes.data).toEqual([{ id: 'note' }])
  expect(seen.bases.data[0].counts.record_types).toBe(1)
})

test('unknown input fields and parameters and exclusive arguments are refused by name', async () => {
  const misspelt = await send(
    'mutation M($input: RecordTypeInput!) { putRecordType(base: "crm", id: "x", input: $input) { id } }',
    { input: { jsonSchema: {}, nmae: 'x' } },
  )
  expect(misspelt.status).toBe(400)
  expect(misspelt.body.errors[0]).toMatchObject({
    message: expect.stringContaining('Did you mean "name"?'),
    extensions: { code: 'VALIDATION_ERROR' },
  })
  const meant = async (query: string) => (await send(query)).body.errors[0].message
  expect(await meant('{ bases { nodes { id } } }')).toContain('Did you mean "data"?')
  expect(await meant('{ records(base: "crm", recordType: "task") { edges { node { id } } } }')).toContain(
    '"data"',
  )
  expect(await meant('{ me { name } }')).toContain('Did you mean "ownToken"?')
  const both = await fail(
    'mutation { patchRecord(base: "crm", recordType: "task", id: "t1", merge: { qty: 9 }, operations: []) { id } }',
  )
  expect(both).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: '/operations' }] })
  const parameter = await server.call('POST', '/graphql?query=x', { query: '{ bases { hasMore } }' })
  expect(parameter.status).toBe(400)
  expect(parameter.body.errors[0].extensions.details).toMatchObject([{ path: 'query/query' }])
})

test('a GraphQL response is JSON for any Accept header', async () => {
  for (const accept of ['image/png', 'multipart/mixed', 'application/*']) {
    const { status, headers, body } = await send('{ bases { hasMore } }', {}, { headers: { accept } })
    expect([status, body.data], accept).toEqual([200, { bases: { hasMore: false } }])
    expect(headers.get('content-type')).toMatch(/^application\/json/)
  }
})

test('GET /graphql returns the playground page to a browser and runs no query for it', async () => {
  const page = await server.as(null)('GET', '/graphql?query={bases{hasMore}}', undefined, {
    accept: 'text/html,*/*',
  })
  expect(page.status).toBe(200)
  expect(page.headers.get('content-type')).toMatch(/^text\/html/)
  expect(page.headers.get('content-security-policy')).toMatch(/connect-src 'self'/)
  expect(page.text).not.toContain(server.adminToken)
  expect(page.text).not.toContain('hasMore":')
})

const JSON_ACCEPT = { accept: 'application/json' }
const byGet = (
  path: string,
  parameters: Record<string, string>,
  headers: Record<string, string> = JSON_ACCEPT,
) => server.call('GET', `${path}?${new URLSearchParams(parameters)}`, undefined, headers)

test('a query by GET answers as by POST, on both addresses, and no cache keeps it', async () => {
  const query = 'query A($id: String!) { base(id: $id) { id } } query B { bases { hasMore } }'
  const sent = { query, operationName: 'A', variables: '{"id":"crm"}', extensions: '{}' }
  const { status, body, headers } = await byGet('/graphql', sent)
  expect([status, body]).toEqual([200, { data: { base: { id: 'crm' } } }])
  expect(headers.get('cache-control')).toBe('private, no-cache')
  const typed = await byGet(
    '/graphql/crm',
    { query: '{ __typename }' },
    { accept: 'application/graphql-response+json' },
  )
  expect([typed.status, typed.body]).toEqual([200, { data: { __typename: 'Query' } }])
  const head = await server.call(
    'HEAD',
    `/graphql?${new URLSearchParams({ query: '{ __typename }' })}`,
    undefined,
    JSON_ACCEPT,
  )
  expect([head.status, head.text]).toEqual([200, ''])
  const anyone = await server.as(null)('GET', '/graphql?query={__typename}', undefined, JSON_ACCEPT)
  expect(anyone.status).toBe(401)
})

test('a GET runs no mutation and no subscription, and takes no other parameters', {
  tags: 'full',
}, async () => {
  const mutation = 'mutation { putBase(id: "forged", input: {}) { id } }'
  for (const path of ['/graphql', '/graphql/crm'])
    for (const query of [mutation, 'subscription { changes(base: "crm") { seq } }'])
      for (const accept of ['application/json', 'application/graphql-response+json', 'text/event-stream']) {
        const { status, text } = await byGet(path, { query }, { accept })
        expect([path, accept, status], text).toEqual([path, accept, 400])
        expect(text).toContain('cannot be sent by GET. Send it by POST.')
      }
  expect((await server.call('GET', '/v1/bases/forged')).status).toBe(404)
  const faults: [Record<string, string>, string][] = [
    [{ query: '{ __typename }', querry: 'x' }, 'query/querry'],
    [{ query: '{ __typename }', variables: '{' }, 'query/variables'],
    [{ query: '{ __typename }', variables: '[]' }, 'query/variables'],
    [{ query: '{ __typename }', extensions: '1' }, 'query/extensions'],
  ]
  for (const [sent, path] of faults) {
    const { status, body } = await byGet('/graphql', sent)
    expect([status, body.errors[0].extensions.details[0].path]).toEqual([400, path])
  }
  expect((await byGet('/graphql', {})).body.errors).toHaveLength(1)
})

test('a request that names none of several operations, or another, is told their names', async () => {
  const query = 'query A { __typename } query B { __typename }'
  for (const path of ['/graphql', '/graphql/crm']) {
    for (const operationName of [undefined, 'C']) {
      const { status, body } = await server.call('POST', path, { query, operationName }, JSON_ACCEPT)
      expect([path, status]).toEqual([path, 400])
      const { message, extensions } = body.errors[0]
      expect(message).toBe('Send operationName with one of the operations of the document: A, B.')
      expect(extensions.details).toMatchObject([
        { path: '/operationName', code: 'unknown_operation', allowed: ['A', 'B'] },
      ])
    }
    const none = await server.call('POST', path, { query: 'fragment F on Query { __typename }' }, JSON_ACCEPT)
    expect([none.status, none.body.errors[0].extensions.details[0].allowed]).toEqual([400, []])
    for (const operationName of [1, {}, ['A'], true]) {
      const other = await server.call('POST', path, { query, operationName }, JSON_ACCEPT)
      expect([other.status, other.body.errors[0].extensions.details[0]]).toMatchObject([
        400,
        { path: '/operationName', code: 'type', expected: 'string' },
      ])
    }
    const named = await server.call('POST', path, { query, operationName: 'B' }, JSON_ACCEPT)
    expect([named.status, named.body]).toEqual([200, { data: { __typename: 'Query' } }])
  }
})

test('a persisted query without its text is not found, so that the client sends the text', async () => {
  const query = '{ __typename }'
  const sha256Hash = createHash('sha256').update(query).digest('hex')
  const extensions = { persistedQuery: { version: 1, sha256Hash } }
  for (const path of ['/graphql', '/graphql/crm']) {
    const asked = await server.call('POST', path, { extensions }, JSON_ACCEPT)
    const [error] = asked.body.errors
    expect([asked.status, error.message, error.extensions.code]).toEqual([
      200,
      'PersistedQueryNotFound',
      'PERSISTED_QUERY_NOT_FOUND',
    ])
    const again = await byGet(path, { extensions: JSON.stringify(extensions) })
    expect(again.body.errors[0].extensions.code).toBe('PERSISTED_QUERY_NOT_FOUND')
    const text = await byGet(path, { query, extensions: JSON.stringify(extensions) })
    expect(text.body).toEqual({ data: { __typename: 'Query' } })
    const other = await server.call('POST', path, { query: '{ bases { hasMore } }', extensions }, JSON_ACCEPT)
    expect([other.status, other.body.errors[0].extensions.details[0].code]).toEqual([400, 'disagrees'])
  }
})

test('the scalars say which specification they follow', { tags: 'full' }, async () => {
  const query = '{ __schema { types { name specifiedByURL } } }'
  for (const path of ['/graphql', '/graphql/crm']) {
    const { data } = (await server.call('POST', path, { query })).body
    const types = data.__schema.types as { name: string; specifiedByURL: string | null }[]
    const specified = types.filter(({ name }) => ['DateTime', 'Date', 'JSON'].includes(name))
    expect(specified.map(({ specifiedByURL }) => specifiedByURL)).toEqual(
      specified.map(() => expect.stringMatching(/^https:/)),
    )
    expect(specified.length).toBeGreaterThan(0)
  }
})

test('a GraphQL POST with the content type of an HTML form is 400 and runs nothing', {
  tags: 'full',
}, async () => {
  const body = JSON.stringify({ query: 'mutation { putBase(id: "forged", input: {}) { id } }' })
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'application/graphql',
  ]) {
    const answer = await server.call('POST', '/graphql', body, { 'content-type': type })
    expect(answer.status, type).toBe(400)
    expect(answer.body.errors[0].extensions.details).toMatchObject([{ path: 'header/Content-Type' }])
  }
  expect((await server.call('GET', '/v1/bases/forged')).status).toBe(404)
})

test('a GraphQL batch or an invalid body is 400', async () => {
  const bodies: unknown[] = [
    [{ query: '{ bases { hasMore } }' }],
    [],
    'null',
    '5',
    {},
    { query: 5 },
    { query: '' },
    { query: '{ bases { hasMore } }', variables: 'no' },
    { query: '{ bases { hasMore } }', operationName: 'Missing' },
    { query: '{ bases { hasMore } }', unknown: 1 },
  ]
  for (const body of bodies) {
    const answer: Answer = await server.call('POST', '/graphql', body, { 'content-type': 'application/json' })
    expect(answer.status, `${JSON.stringify(body)} ${answer.text}`).toBe(400)
    expect(answer.body.errors[0].extensions.code).toBe('VALIDATION_ERROR')
  }
  const cut = await server.call('POST', '/graphql', '{"query":', { 'content-type': 'application/json' })
  expect(cut.status).toBe(400)
  expect(cut.body.errors[0].extensions).toMatchObject({
    code: 'VALIDATION_ERROR',
    details: [{ code: 'malformed_json' }],
  })
})

test('the GraphQL schema supports introspection', { tags: 'full' }, async () => {
  const { __schema } = await ask(getIntrospectionQuery())
  expect(__schema.mutationType.name).toBe('Mutation')
  const names = __schema.types.map((type: Body) => type.name)
  expect(names).toEqual(expect.arrayContaining(['Base', 'RecordType', 'Record', 'Token', 'JSON']))
})

test('a subscription sent as a plain request is refused', async () => {
  expect((await refused('subscription { bases { hasMore } }')).extensions.code).toBe('VALIDATION_ERROR')
})

test('the type and the status of an answer follow the Accept header', { tags: 'full' }, async () => {
  const modern = 'application/graphql-response+json'
  const plain = 'application/json'
  const cases = [
    ['*/*', plain, 400],
    [`${modern}, ${plain};q=0.9`, modern, 400],
    [`${plain}, ${modern};q=0.5`, plain, 200],
    [`${modern}; charset=utf-8`, modern, 400],
    [plain, plain, 200],
    [`${plain}; charset=utf-8`, plain, 200],
  ] as const
  for (const path of ['/graphql', '/graphql/crm'])
    for (const [accept, type, status] of cases) {
      const post = (query: string) => server.call('POST', path, { query }, { accept })
      const done = await post('{ __typename }')
      expect([done.status, done.headers.get('content-type')]).toEqual([200, `${type}; charset=utf-8`])
      for (const query of ['{ nothing }', '{', 'query($id: ID!) { __typename @skip(if: $id) }']) {
        const invalid = await post(query)
        expect([invalid.status, invalid.headers.get('content-type')], query).toEqual([
          status,
          `${type}; charset=utf-8`,
        ])
        expect(invalid.body.errors[0].extensions.code).toBe('VALIDATION_ERROR')
      }
    }
})

test('a query over a limit is 400, whatever type of answer the client asks for', {
  tags: 'full',
}, async () => {
  const aliases = `{ ${Array.from({ length: 60 }, (_, n) => `a${n}: bases { hasMore }`).join(' ')} }`
  const tokens = `{ bases { ${'hasMore '.repeat(5000)} } }`
  for (const query of [aliases, tokens])
    for (const accept of ['*/*', 'application/json', 'application/graphql-response+json']) {
      const { status, body } = await server.call('POST', '/graphql', { query }, { accept })
      expect(status, body.errors[0].message).toBe(400)
    }
})

/** Generated requests of hostile size or shape, at and slightly above the limits, for every surface. */
import fc from 'fast-check'

export type Sent = {
  kind: string
  method: string
  path: string
  body?: string
  type?: string
  accept?: string
}

/** A copy of the helper, because the soak test runs without Vitest. */
const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))
const MB = 1024 * 1024
/** Names of what `prepare` creates. */
const BASE = 'big'
const WIDE_PROPERTIES = 1000
const BRANCHES = 400

const properties = (count: number, schema: object = { type: 'string' }) =>
  Object.fromEntries(times(count, (i) => [`property_${i}`, schema]))
const branches = (count: number) => ({
  items: { type: 'array', items: { oneOf: times(count, (i) => ({ properties: { k: { const: i } } })) } },
})

/** Text of about `bytes`, a repeated part. */
const filled = (part: string, bytes: number) => part.repeat(Math.max(1, Math.floor(bytes / part.length)))
const list = (part: string, bytes: number) => `[${filled(`${part},`, bytes)}0]`
const object = (bytes: number, value = '1') => {
  const count = Math.max(1, Math.floor(bytes / 20))
  return `{${times(count, (i) => `"key_${i}":${value}`).join(',')}}`
}

/** JSON that is expensive to parse, to traverse or to refuse. */
const garbage = (bytes: number): fc.Arbitrary<string> =>
  fc
    .constantFrom(
      () => list('1e300', bytes),
      () => list('[]', bytes),
      () => list('{}', bytes),
      () => list('"a"', bytes),
      () => list('"\\u0000"', bytes),
      () => list('12345678901234567890', bytes),
      () => list('{"__proto__":1}', bytes),
      () => list('{"a":{"b":[1,2,{"c":"d"}]}}', bytes),
      () => filled('[', bytes),
      () => filled('{"a":', bytes),
      () => object(bytes),
      () => object(bytes, '{"x":[1]}'),
      () => `"${filled('a', bytes)}"`,
      () => `"${filled('\\ud800', bytes)}"`,
      () => `${filled(' ', bytes)}1`,
    )
    .map((make) => make())

const JSON_PLACES: readonly ((json: string) => Omit<Sent, 'kind'>)[] = [
  (json) => ({ method: 'PUT', path: `/v1/${BASE}/records/plain/r1`, body: `{"data":{"x":${json}}}` }),
  (json) => ({ method: 'PUT', path: `/v1/${BASE}/records/wide/r1`, body: `{"data":${json}}` }),
  (json) => ({ method: 'PATCH', path: `/v1/${BASE}/records/plain/large0`, body: `{"data":${json}}` }),
  (json) => ({ method: 'POST', path: `/v1/${BASE}/records/plain/query`, body: `{"filter":${json}}` }),
  (json) => ({ method: 'POST', path: `/v1/${BASE}/records/plain/query`, body: json }),
  (json) => ({
    method: 'POST',
    path: `/v1/${BASE}/records/plain/aggregate`,
    body: `{"aggregations":${json}}`,
  }),
  (json) => ({ method: 'POST', path: `/v1/${BASE}/batch`, body: `{"operations":${json}}` }),
  (json) => ({
    method: 'POST',
    path: `/v1/${BASE}/batch`,
    body: `{"operations":[{"type":"upsert_record","record_type":"plain","id":"b1","data":{"x":${json}}}]}`,
  }),
  (json) => ({
    method: 'PUT',
    path: `/v1/${BASE}/record-types/made`,
    body: `{"json_schema":{"enum":${json}}}`,
  }),
  (json) => ({ method: 'PUT', path: `/v1/${BASE}/record-types/made`, body: `{"json_schema":${json}}` }),
  (json) => ({ method: 'POST', path: '/v1/tokens', body: `{"name":"x","grants":${json}}` }),
  (json) => ({ method: 'POST', path: `/v1/${BASE}/sql`, body: `{"query":"SELECT 1","params":${json}}` }),
  (json) => ({ method: 'POST', path: `/v1/${BASE}/providers/openai/import`, body: `{"tools":${json}}` }),
  (json) => ({
    method: 'POST',
    path: '/graphql',
    body: `{"query":"{ bases { data { id } } }","variables":${json}}`,
  }),
  (json) => ({ method: 'POST', path: `/mcp/${BASE}`, body: json }),
  (json) => ({
    method: 'POST',
    path: `/mcp/${BASE}`,
    body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_plain","arguments":{"x":${json}}}}`,
  }),
]

const sizes = fc.oneof(
  { weight: 1, arbitrary: fc.constant(MB) },
  { weight: 2, arbitrary: fc.constant(9.9 * MB) },
  { weight: 1, arbitrary: fc.constant(100_000) },
  { weight: 1, arbitrary: fc.integer({ min: 1000, max: 10 * MB }) },
)

const anyJson: fc.Arbitrary<Sent> = fc
  .tuple(fc.constantFrom(...JSON_PLACES), sizes.chain(garbage))
  .map(([place, json]) => ({ kind: `json ${json.slice(0, 12)}`, ...place(json) }))

/** A share of a limit, often all of it. */
const share = fc.oneof(fc.constant(1), fc.double({ min: 0.1, max: 1, noNaN: true }))

const records: fc.Arbitrary<Sent> = fc.tuple(fc.integer({ min: 0, max: 3 }), share).map(([which, of]) => {
  const n = (most: number) => Math.round(most * of)
  const item = (i: number) => `{"k":${i % (BRANCHES * 2)}}`
  const unknown = (count: number) => object(count * 20)
  const bodies = [
    `{"data":{"items":[${times(n(20_000), item).join(',')}]}}`,
    `{"data":${unknown(n(20_000))}}`,
  ] as const
  if (which === 0)
    return { kind: 'branches', method: 'PUT', path: `/v1/${BASE}/records/branchy/r1`, body: bodies[0] }
  if (which === 1)
    return { kind: 'unknown keys', method: 'PUT', path: `/v1/${BASE}/records/wide/r1`, body: bodies[1] }
  const operation =
    which === 2
      ? `{"type":"upsert_record","record_type":"branchy","data":{"items":[${times(1000, item).join(',')}]}}`
      : `{"type":"upsert_record","record_type":"wide","data":${unknown(300)}}`
  return {
    kind: which === 2 ? 'batch of branches' : 'batch of unknown keys',
    method: 'POST',
    path: `/v1/${BASE}/batch?dry_run=true`,
    body: `{"operations":[${times(n(200), () => operation).join(',')}]}`,
  }
})

const schemas: fc.Arbitrary<Sent> = fc
  .tuple(
    fc.constantFrom<(n: (most: number) => number) => object>(
      (n) => branches(n(5000)),
      (n) => ({ oneOf: branches(n(5000)).items.items.oneOf }),
      (n) => ({ anyOf: times(n(4000), (i) => ({ required: [`p${i}`] })) }),
      (n) => ({ allOf: times(n(3000), (i) => ({ properties: { [`p${i}`]: { minLength: i } } })) }),
      (n) => ({ properties: properties(n(6000)) }),
      (n) => ({ properties: properties(n(2000), { type: 'string', pattern: '^(a|b)+[0-9]{1,20}$' }) }),
      (n) => ({ properties: { p: { enum: times(n(20_000), (i) => `v${i}`) } } }),
      (n) => ({ patternProperties: properties(n(3000)) }),
      (n) => ({
        $defs: Object.fromEntries(
          times(n(60), (i) => [`d${i}`, { allOf: times(8, () => ({ $ref: `#/$defs/d${i + 1}` })) }]),
        ),
        $ref: '#/$defs/d0',
      }),
      (n) => times(n(60), Number).reduce<object>((inner) => ({ properties: { a: inner, b: inner } }), {}),
    ),
    share,
  )
  .map(([make, of]) => {
    const body = bounded(make((most) => Math.max(1, Math.round(most * of))))
    return { kind: 'schema', method: 'PUT', path: `/v1/${BASE}/record-types/made?dry_run=true`, body }
  })

/** The schema as text of bounded size: nested schemas share their parts and would expand exponentially. */
function bounded(schema: object): string {
  let left = 400_000
  const text = (value: unknown): string => {
    if (left < 0) return 'true'
    left -= 8
    if (Array.isArray(value)) return `[${value.map(text).join(',')}]`
    if (typeof value !== 'object' || value === null) return JSON.stringify(value)
    const members = Object.entries(value).map(([key, member]) => {
      left -= key.length
      return `${JSON.stringify(key)}:${text(member)}`
    })
    return `{${members.join(',')}}`
  }
  return `{"json_schema":${text(schema)}}`
}

const conditions: fc.Arbitrary<Sent> = fc
  .tuple(
    fc.constantFrom<(i: number) => object>(
      (i) => ({ field: `data.x${i}`, op: 'ilike', value: '%a%b%c%' }),
      () => ({ field: 'data.list[]', op: 'eq', value: 'x' }),
      (i) => ({ field: 'data.x', op: 'in', value: times(1000, (k) => `${i}-${k}`) }),
      () => ({ field: 'data', op: 'search', value: 'some words that are not there at all' }),
      (i) => ({ not: { or: [{ field: `data.a${i}`, op: 'has', value: { a: [i] } }] } }),
    ),
    fc.integer({ min: 1, max: 120 }),
    fc.constantFrom('query', 'aggregate'),
  )
  .map(([make, count, route]) => ({
    kind: `conditions ${route}`,
    method: 'POST',
    path: `/v1/${BASE}/records/plain/${route}`,
    body: JSON.stringify({
      filter: { or: times(count, make) },
      ...(route === 'aggregate' ? { aggregations: [{ fn: 'count' }] } : { limit: 10 }),
    }),
  }))

const graphql: fc.Arbitrary<Sent> = fc
  .tuple(
    fc.constantFrom<(n: number) => string>(
      (n) => `{ ${times(n, (i) => `a${i}: bases { data { id } }`).join(' ')} }`,
      (n) => `{ bases(x: ${'['.repeat(n)}`,
      (n) => `{ bases(x: ${'['.repeat(n)}${']'.repeat(n)}) { data { id } } }`,
      (n) => `${'{a:b'.repeat(n)}`,
      (n) => `${'{ a '.repeat(n)}${'}'.repeat(n)}`,
      (n) =>
        `query(${times(n, (i) => `$v${i}: ${'['.repeat(i % 50)}Int${']'.repeat(i % 50)}`).join()}) { bases { data { id } } }`,
      (n) =>
        `{ ...f0 } ${times(n, (i) => `fragment f${i} on Query { ...f${i + 1} ...f${i + 2} }`).join(' ')}`,
      (n) =>
        `{ records(base: "${BASE}", recordType: "large", limit: 1000) { data { data } } } #${'x'.repeat(n)}`,
      (n) =>
        `{ ${times(Math.min(n, 20), (i) => `l${i}: records(base: "${BASE}", recordType: "large", limit: 50) { data { id data } }`).join(' ')} }`,
    ),
    fc.constantFrom(10, 1900, 30_000, 120_000),
  )
  .map(([make, n]) => ({
    kind: 'graphql',
    method: 'POST',
    path: '/graphql',
    body: JSON.stringify({ query: make(n) }),
  }))

const sql: fc.Arbitrary<Sent> = fc
  .tuple(
    fc.constantFrom<(n: number) => string>(
      (n) => `select ${times(n, (i) => `row_to_json(w${i}) c${i}`)} from ${times(n, (i) => `wide w${i}`)}`,
      (n) => `select * from wide ${times(Math.min(n, 12), () => 'natural join wide').join(' ')}`,
      (n) => `select ${'('.repeat(n * 3)}1${')'.repeat(n * 3)}`,
      (n) => `select id from plain where id in (${times(n * 20, (i) => `'${i}'`)})`,
      (n) => `select ${times(n, () => `repeat('a', 1000)`).join('||')}`,
      (n) =>
        `with ${times(n, (i) => `c${i} as (select * from ${i ? `c${i - 1}` : 'wide'})`)} select count(*) from c${n - 1}`,
      (n) => `select ${times(n * 8, (i) => `w.property_${i}`)} from wide w, wide v`,
      (n) => `select ${'- '.repeat(n * 30)}1`,
      (n) => `select ${times(n, (i) => `proprety_${i}`)} from wide`,
    ),
    fc.integer({ min: 1, max: 49 }),
  )
  .map(([make, n]) => ({
    kind: 'sql',
    method: 'POST',
    path: `/v1/${BASE}/sql`,
    body: JSON.stringify({ query: make(n) }),
  }))

const call = (name: string, args: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args },
})
const mcp: fc.Arbitrary<Sent> = fc
  .constantFrom<object>(
    { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    call('describe_type', { record_type: 'wide', detail: 'full', max_tokens: 100_000 }),
    call('describe_type', { record_type: 'branchy', detail: 'full', max_tokens: 100_000 }),
    call('query_records', { record_type: 'large', limit: 1000, max_tokens: 100_000 }),
    call('create_wide', Object.fromEntries(times(20_000, (i) => [`proprety_${i}`, i]))),
    times(100, () => call('query_records', { record_type: 'large', limit: 1000 })),
    times(100, () => call('sql_query', { query: 'select * from large' })),
  )
  .map((message) => ({ kind: 'mcp', method: 'POST', path: `/mcp/${BASE}`, body: JSON.stringify(message) }))

const reads: fc.Arbitrary<Sent> = fc
  .constantFrom(
    `/v1/${BASE}/records/large?limit=1000`,
    `/v1/${BASE}/records/large?limit=1000&fields=id`,
    `/v1/${BASE}/records/large?limit=1000&include_total=true&sort=data.text`,
    `/v1/${BASE}/changes?limit=1000`,
    `/v1/${BASE}/record-types?limit=1000`,
    `/v1/${BASE}/record-types/wide/profile`,
    `/v1/${BASE}/record-types/large/profile`,
    `/v1/${BASE}/record-types/branchy/profile`,
    `/v1/${BASE}/providers/openai/export`,
    `/v1/${BASE}/mcp/tools`,
    `/v1/${BASE}/openapi.json`,
    `/v1/${BASE}/records/plain?${times(3000, (i) => `k${i}=1`).join('&')}`,
    `/v1/${BASE}/records/plain?fields=${times(5000, (i) => `data.k${i}`).join()}`,
    '/openapi.json',
    '/docs/js/scalar.js',
    '/docs',
  )
  .map((path) => ({ kind: 'read', method: 'GET', path }))

const page: fc.Arbitrary<Sent> = fc.constant({
  kind: 'page',
  method: 'GET',
  path: '/graphql',
  accept: 'text/html',
})

export const hostileSizes: fc.Arbitrary<Sent> = fc.oneof(
  { weight: 6, arbitrary: anyJson },
  { weight: 3, arbitrary: records },
  { weight: 3, arbitrary: schemas },
  { weight: 2, arbitrary: conditions },
  { weight: 3, arbitrary: graphql },
  { weight: 3, arbitrary: sql },
  { weight: 2, arbitrary: mcp },
  { weight: 3, arbitrary: reads },
  { weight: 1, arbitrary: page },
)

/** Creates what the requests read: wide types, types of many alternatives, large records, and a record with a long list. */
export async function prepare(put: (path: string, body: object) => Promise<void>): Promise<void> {
  await put(`/v1/bases/${BASE}`, {})
  const type = (id: string, json_schema: object) => put(`/v1/${BASE}/record-types/${id}`, { json_schema })
  await type('plain', {})
  await type('large', {})
  await type('wide', { properties: properties(WIDE_PROPERTIES), additionalProperties: false })
  await type('branchy', { properties: branches(BRANCHES) })
  // Schemas of 130 to 180 KB: many properties, alternatives, allOf parts, and names that a tool cannot have.
  await type('properties', { properties: properties(5000) })
  await type('alternatives', { oneOf: branches(4900).items.items.oneOf })
  await type('parts', { allOf: times(3000, (i) => ({ properties: { [`p${i}`]: { minLength: i } } })) })
  await type('names', { properties: Object.fromEntries(times(4000, (i) => [`Straße ${i} näme`, {}])) })
  await put(`/v1/${BASE}/records/plain/long-list`, { data: { list: times(60_000, (i) => `e${i}`) } })
  const text = 'some words '.repeat(80_000)
  for (const i of times(40, Number)) await put(`/v1/${BASE}/records/large/l${i}`, { data: { text, i } })
  for (const i of times(4, Number)) await put(`/v1/${BASE}/records/plain/large${i}`, { data: { text, i } })
}

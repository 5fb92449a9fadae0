/** Requests that once blocked the event loop for too long or caused a server error. */
import { times } from '../support/answers.ts'
import type { Sent } from './hostile-sizes.ts'

const MB = 1024 * 1024
const post = (kind: string, path: string, body: unknown): Sent => ({
  kind,
  method: 'POST',
  path,
  body: typeof body === 'string' ? body : JSON.stringify(body),
})
const put = (kind: string, path: string, body: unknown): Sent => ({
  ...post(kind, path, body),
  method: 'PUT',
})
const call = (id: number, name: string, args: object) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
})
const aliases = (count: number, field: (i: number) => string) => `{ ${times(count, field).join(' ')} }`
const unknownKeys = (count: number, value: unknown) =>
  Object.fromEntries(times(count, (i) => [`proprety_${i}`, value]))

/** Functions, because all bodies together are a hundred megabytes. */
export const EXAMPLES: readonly (() => Sent)[] = [
  () => post('millions of operations', '/v1/big/batch', `{"operations":[${'1e300,'.repeat(1_700_000)}0]}`),
  () => post('millions of texts', '/v1/big/batch', `{"operations":[${'"a",'.repeat(2_400_000)}0]}`),
  () => post('operations of a tool', '/mcp/big', call(1, 'batch', { operations: times(1_600_000, () => 1) })),
  () =>
    post('operations of GraphQL', '/graphql', {
      query: 'mutation($o: JSON!) { batch(base: "big", operations: $o) { count } }',
      variables: { o: times(150_000, () => 1) },
    }),
  () =>
    post('chained fragments', '/graphql', {
      query: `{ ...f0 } ${times(1900, (i) => `fragment f${i} on Query { ...f${i + 1} ...f${i + 2} }`).join(' ')}`,
    }),
  () => post('the same field', '/graphql', { query: aliases(140, () => `bases{data{${'id '.repeat(8)}}}`) }),
  () =>
    post('many lists', '/graphql', {
      query: aliases(
        20,
        (i) => `l${i}: records(base: "big", recordType: "large", limit: 50) { data { id data } }`,
      ),
    }),
  () =>
    post('an answer of almost 16 MiB', '/graphql', {
      query: aliases(17, (i) => `l${i}: records(base: "big", recordType: "large", limit: 50) { rows }`),
    }),
  () =>
    put('patterns', '/v1/big/record-types/made?dry_run=true', {
      json_schema: { patternProperties: unknownKeys(3000, { type: 'string' }) },
    }),
  () =>
    post(
      'calls of megabytes',
      '/mcp/big',
      times(10, (i) => call(i, 'create_wide', unknownKeys(19_000, 1))),
    ),
  () =>
    post('operations that fail', '/v1/big/batch', {
      operations: times(900, (i) => ({
        type: 'upsert_record',
        record_type: 'wide',
        id: `w${i}`,
        data: unknownKeys(500, 'xxxxx'),
      })),
    }),
  () =>
    post('operations that go well', '/v1/big/batch?dry_run=true', {
      operations: times(900, (i) => ({
        type: 'upsert_record',
        record_type: 'plain',
        id: `b${i}`,
        data: unknownKeys(500, 'xxxxx'),
      })),
    }),
  () => put('a body over its limit', '/v1/big/records/plain/r1', `"${'a'.repeat(20 * MB)}"`),
  ...['(1)', "('a')", '(1, 1, 1)', '(:a)'].map(
    (row) => () =>
      post('rows of SQL', '/v1/big/sql/execute', {
        statements: `INSERT INTO plain (a) VALUES ${row}${`, ${row}`.repeat(16_000 / (row.length + 2))}`,
        params: row.includes(':') ? { a: 1 } : [],
        dry_run: true,
      }),
  ),
  () =>
    post('words of SQL', '/v1/big/sql/execute', {
      statements: `SELECT ${':a, '.repeat(40_000)}1`,
      params: { a: 1 },
    }),
  ...[
    times(1000, () => ({ op: 'remove', path: '/data/list/0' })),
    times(50, () => ({ op: 'test', path: '/data/list', value: times(60_000, (i) => `e${i}`) })),
    [{ op: 'test', path: '/data/list', value: times(60_000, (i) => i) }],
    [{ op: 'add', path: `/data${'/a'.repeat(500_000)}`, value: 1 }],
  ].map((operations) => () => ({
    ...post('a JSON Patch', '/v1/big/records/plain/long-list', operations),
    ...{ method: 'PATCH', type: 'application/json-patch+json' },
  })),
  () => post('tools of large types', '/mcp/big', { jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  ...['openai', 'anthropic', 'google', 'mcp'].map((provider) => () => ({
    kind: 'export of large types',
    method: 'GET',
    path: `/v1/big/providers/${provider}/export`,
  })),
]

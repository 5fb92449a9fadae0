import { runInNewContext } from 'node:vm'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROUTES, STREAMS } from '../../src/rest/plugin.ts'
import { exportsOf } from '../support/base-file.ts'
import { FAILED_DELIVERY, homeOf, KIND_SAMPLES, putReferences } from '../support/kinds.ts'
import { type Answer, type Body, openServer, type TestServer } from '../support/server.ts'

let server: TestServer
let document: Body

beforeAll(async () => {
  server = await openServer()
  document = (await server.as(null)('GET', '/openapi.json')).body
})
afterAll(() => server.close())

type Operation = { path: string; method: string; operation: Body }
const operations = (): Operation[] =>
  Object.entries<Body>(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  )
const templateOf = (path: string) =>
  `/v1${path
    .replace(/:(filename|attachment_id)$/, '{attachment}')
    .replace(/:(\w+)/g, '{$1}')
    .replace('*', '{path}')}`
/** Paths beside /v1 that a program can send requests to. */
const OTHERS = [
  'POST /graphql',
  'POST /graphql/{base_id}',
  'GET /graphql/{base_id}/schema.graphql',
  'POST /mcp/{base_id}',
  'POST /inbound/{org_id}/{base_id}/{inbound_webhook_id}/ingest',
  'GET /healthz',
  'GET /readyz',
  'GET /metrics',
]

/** Calls `see` with every object in the document. */
function walk(value: Body, see: (node: Body) => void): void {
  if (typeof value !== 'object' || value === null) return
  see(value)
  for (const part of Object.values(value)) walk(part, see)
}
const resolve = (ref: string): Body =>
  ref
    .slice(2)
    .split('/')
    .reduce((node, token) => node?.[token.replaceAll('~1', '/').replaceAll('~0', '~')], document)

test('/openapi.json is OpenAPI 3.1 and needs no token', async () => {
  const answer = await server.as(null)('GET', '/openapi.json')
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
  expect(document.openapi).toMatch(/^3\.1\.\d+$/)
  expect(document.info).toMatchObject({ title: expect.any(String), version: expect.any(String) })
  expect(document.components.securitySchemes[Object.keys(document.security[0])[0] ?? '']).toMatchObject({
    type: 'http',
    scheme: 'bearer',
  })
})

test('every OpenAPI reference resolves, and every component is used', () => {
  const used = new Set<string>()
  walk(document, ({ $ref }) => {
    if (typeof $ref !== 'string') return
    expect($ref).toMatch(/^#\//)
    expect(resolve($ref), $ref).toBeDefined()
    used.add($ref)
  })
  for (const kind of ['schemas', 'responses'])
    for (const name of Object.keys(document.components[kind]))
      expect(used.has(`#/components/${kind}/${name}`), `${kind}/${name}`).toBe(true)
})

test('the OpenAPI description has exactly the routes of the API', () => {
  const rows = [...ROUTES, ...STREAMS].map((row) => `${row.method} ${templateOf(row.path)}`)
  const found = operations().map(({ path, method }) => `${method.toUpperCase()} ${path}`)
  expect(found.sort()).toEqual([...rows, ...OTHERS].sort())
})

test('every OpenAPI operation has a unique id, a tag, parameters, bodies and responses', () => {
  const ids = operations().map(({ operation }) => operation.operationId)
  expect(new Set(ids).size).toBe(ids.length)
  const tags = document.tags.map((tag: Body) => tag.name)
  for (const { path, method, operation } of operations()) {
    const name = `${method} ${path}`
    expect(operation.operationId, name).toMatch(/^[a-z]\w*\.[a-z]\w*$/i)
    expect(operation.summary, name).toMatch(/./)
    expect(tags, name).toEqual(expect.arrayContaining(operation.tags))
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
    const { parameters = [] } = operation as Body
    const declared = parameters.filter((each: Body) => each.in === 'path')
    expect(declared.map((each: Body) => each.name).sort(), name).toEqual(inPath.sort())
    for (const parameter of parameters) {
      expect(['path', 'query', 'header'], name).toContain(parameter.in)
      expect(parameter.schema, `${name} ${parameter.name}`).toBeTypeOf('object')
      if (parameter.in === 'path') expect(parameter.required).toBe(true)
    }
    const places = parameters.map((each: Body) => `${each.in} ${each.name}`)
    expect(new Set(places).size, name).toBe(places.length)
    if (method === 'get' || method === 'delete') expect(operation, name).not.toHaveProperty('requestBody')
    const statuses = Object.keys(operation.responses)
    expect(
      statuses.some((status) => status.startsWith('2')),
      name,
    ).toBe(true)
    if (!path.startsWith('/v1/')) continue
    expect(statuses, name).toEqual(expect.arrayContaining(['400', '401', '403', '404', '409', '429', '500']))
    for (const [status, response] of Object.entries<Body>(operation.responses)) {
      const { description, content } = response.$ref ? resolve(response.$ref) : response
      expect(description, name).toMatch(/./)
      // It has no body.
      if (status === '304') continue
      const type = path.endsWith('/stream') && !response.$ref ? 'text/event-stream' : 'application/json'
      expect(content[type].schema, name).toBeTypeOf('object')
    }
  }
})

const TOOL = { name: 'log_call', description: 'Logs.', input_schema: { type: 'object', properties: {} } }
const CALL = { type: 'tool_use', id: 'toolu_1', name: 'log_call', input: { a: 1 } }
const JSON_PATCH = { 'content-type': 'application/json-patch+json' }

/** Requests to all routes of /v1; each must succeed with a body that is valid for its schema. */
const NEAR = {
  rel_type: 'near',
  source_record_type: 'task',
  source_id: 't1',
  target_record_type: 'task',
  target_id: 't1',
}
const DESK = {
  instructions: 'Be brief.',
  toolsets: ['basics'],
  tools: [
    { record_type: 'task', operations: ['create', 'list'], filter: { field: 'data.n', op: 'eq', value: 1 } },
  ],
  relationships: [{ rel_type: 'near', operations: ['link'] }],
  batch: { enabled: true, operations: ['create_record'] },
}
const NARROWED = '/crm/relationship-types/near?on_invalid=allow'

type Step = [row: string, path: string, body?: unknown, headers?: Record<string, string>]
const STEPS: Step[] = [
  ['PUT /bases/:id', '/bases/crm', { name: 'CRM', description: 'All.', settings: { history_days: 30 } }],
  ['PUT /bases/:id', '/bases/crm', { name: 'CRM 2' }],
  ['PUT /bases/:id', '/bases/dry?dry_run=true', {}],
  ['GET /bases', '/bases?include=counts&include_total=true'],
  ['GET /bases', '/bases?limit=1'],
  ['GET /:base_id/changes', '/crm/changes?limit=2'],
  ['GET /bases/:id', '/bases/crm?include=counts'],
  ['GET /bases/:id', '/bases/crm'],
  [
    'PUT /:base_id/record-types/:id',
    '/crm/record-types/task',
    { json_schema: { type: 'object' }, icon: 'x', display: { a: 1 } },
  ],
  ['PUT /:base_id/record-types/:id', '/crm/record-types/task?dry_run=true', {}],
  ['PATCH /:base_id/record-types/:id', '/crm/record-types/task', { description: 'Tasks.' }],
  ['GET /:base_id/record-types', '/crm/record-types?include_total=true'],
  ['GET /:base_id/record-types/:id', '/crm/record-types/task'],
  ['GET /:base_id/record-types/:id/history', '/crm/record-types/task/history'],
  [
    'PUT /:base_id/relationship-types/:id',
    '/crm/relationship-types/near',
    { data_schema: { type: 'object' }, source_record_types: ['task'], on_delete: 'cascade' },
  ],
  ['PUT /:base_id/relationship-types/:id', '/crm/relationship-types/near?dry_run=true', {}],
  ['PATCH /:base_id/relationship-types/:id', '/crm/relationship-types/near', { description: 'By.' }],
  ['GET /:base_id/relationship-types', '/crm/relationship-types?include_total=true'],
  ['GET /:base_id/relationship-types/:id', '/crm/relationship-types/near'],
  ['GET /:base_id/relationship-types/:id/history', '/crm/relationship-types/near/history'],
  ['POST /:base_id/records/:record_type', '/crm/records/task', { data: { n: 1 }, external_id: 'e1' }],
  ['PUT /:base_id/records/:record_type', '/crm/records/task', { data: { n: 2 }, external_id: 'e1' }],
  ['PUT /:base_id/records/:record_type', '/crm/records/task', { data: { n: 2 }, external_id: 'e2' }],
  ['PUT /:base_id/records/:record_type/:id', '/crm/records/task/t1', { data: { n: 1 } }],
  ['PUT /:base_id/records/:record_type/:id', '/crm/records/task/t1', { data: { n: 1 } }],
  ['PUT /:base_id/records/:record_type/:id', '/crm/records/task/t2?dry_run=true', { data: {} }],
  ['POST /:base_id/relationships', '/crm/relationships', { ...NEAR, id: 'l1', data: { n: 1 } }],
  ['PUT /:base_id/relationships', '/crm/relationships', { ...NEAR, external_id: 'x' }],
  ['PUT /:base_id/relationships/:id', '/crm/relationships/l2', NEAR],
  ['PUT /:base_id/relationships/:id', '/crm/relationships/l2?dry_run=true', { ...NEAR, data: { n: 2 } }],
  ['PATCH /:base_id/relationship-types/:id', NARROWED, { data_schema: { required: ['q'] } }],
  [
    'PUT /:base_id/toolsets/:id',
    '/crm/toolsets/basics',
    { tools: [{ record_type: 'task', operations: ['get'] }] },
  ],
  ['PUT /:base_id/file-types/:id', '/crm/file-types/docs', { storage: { content_types: ['text/*'] } }],
  ['PATCH /:base_id/file-types/:id', '/crm/file-types/docs', { description: 'Text.' }],
  ['PUT /:base_id/file-types/:id', '/crm/file-types/docs', {}],
  ['PUT /:base_id/files/:file_type/*', '/crm/files/docs/a.txt?dry_run=true', { n: 1 }],
  ['PUT /:base_id/files/:file_type/*', '/crm/files/docs/a.txt', { n: 1 }],
  ['PUT /:base_id/files/:file_type/*', '/crm/files/docs/a.txt', { n: 2 }],
  ['PATCH /:base_id/files/:file_type/*', '/crm/files/docs/a.txt', { path: 'd/a.txt', metadata: { n: 1 } }],
  ['GET /:base_id/files/:file_type', '/crm/files/docs?depth=1&include_total=true'],
  ['GET /:base_id/files/:file_type', '/crm/files/docs?prefix=d/'],
  ['GET /:base_id/files/:file_type/*', '/crm/files/docs/d/a.txt?meta=1'],
  ['GET /:base_id/files/:file_type/*', '/crm/files/docs/d/a.txt?history&include_total=true'],
  ['GET /:base_id/files/:file_type/*', '/crm/files/docs/d/a.txt?diff&from=1&to=2'],
  ['GET /:base_id/files', '/crm/files?search=a.txt'],
  ['DELETE /:base_id/files/:file_type/*', '/crm/files/docs/d/a.txt'],
  [
    'POST /:base_id/s3-credentials',
    '/crm/s3-credentials?dry_run=true',
    { permission: 'read', expires_in: 60 },
  ],
  ['POST /:base_id/s3-credentials', '/crm/s3-credentials', { permission: 'read', expires_in: 60 }],
  ['GET /:base_id/s3-credentials', '/crm/s3-credentials?include_total=true'],
  ['PUT /:base_id/endpoints/:id', '/crm/endpoints/desk', DESK],
  ['GET /:base_id/endpoints/:id/resolved', '/crm/endpoints/desk/resolved'],
  ['POST /:base_id/preview', '/crm/preview', { name: 'dev', copy: 'config_and_sample' }],
  ['GET /:base_id/config', '/crm/config'],
  ['POST /:base_id/config/diff', '/crm/config/diff', { plinth: 1, base: 'crm', record_types: [{ id: 'n' }] }],
  [
    'PUT /:base_id/config',
    '/crm--dev/config?dry_run=true',
    { plinth: 1, base: 'crm', record_types: [{ id: 'n' }] },
  ],
  ['POST /:base_id/promote/proposal', '/crm/promote/proposal', { from: 'crm--dev' }],
  ['PUT /:base_id/record-types/:id', '/crm--dev/record-types/promoted', {}],
  ['GET /:base_id/calls', '/crm/calls?outcome=failed'],
  ['GET /:base_id/usage', '/crm/usage?interval=day&by=token'],
  ['POST /:base_id/review-requests', '/crm/review-requests', { from: 'crm--dev', note: 'For the new team.' }],
  ['GET /:base_id/review-requests', '/crm/review-requests?include_total=true'],
  ['GET /:base_id/review-requests/:id', '/crm/review-requests/first'],
  [
    'POST /:base_id/review-requests/:id/decision',
    '/crm/review-requests/first/decision?dry_run=true',
    { decision: 'accept' },
  ],
  [
    'POST /:base_id/review-requests/:id/decision',
    '/crm/review-requests/first/decision',
    { decision: 'send_back', note: 'Name it.' },
  ],
  ['POST /:base_id/preview', '/crm/preview', { name: 'fix', copy: 'on_write' }],
  ['PUT /:base_id/records/:record_type/:id', '/crm--fix/records/task/drafted', { data: {} }],
  [
    'POST /:base_id/discard',
    '/crm--fix/discard',
    { resources: [{ kind: 'record', record_type: 'task', id: 'drafted' }] },
  ],
  ['PUT /:base_id/records/:record_type/:id', '/crm--fix/records/task/submitted', { data: {} }],
  ['POST /:base_id/submit', '/crm--fix/submit', { comment: 'Done.' }],
  ['POST /:base_id/reviews', '/crm--fix/reviews', { verdict: 'reject', text: 'No.' }],
  ['GET /:base_id/reviews', '/crm--fix/reviews'],
  ['POST /:base_id/reopen', '/crm--fix/reopen', {}],
  ['POST /:base_id/promote', '/crm/promote', { from: 'crm--dev' }],
  ['GET /:base_id/promotions', '/crm/promotions?include_total=true'],
  ['GET /:base_id/promotions/:id', '/crm/promotions/first'],
  ['POST /:base_id/promote/rollback', '/crm/promote/rollback?dry_run=true', { promotion_id: 'first' }],
  ['GET /:base_id/previews', '/crm/previews?include_total=true'],
  ['GET /:base_id/relationships', '/crm/relationships?include_total=true&sort=-created_at'],
  ['GET /:base_id/records/:record_type/:id/related', '/crm/records/task/t1/related?include_total=true'],
  ['GET /:base_id/relationships/:id', '/crm/relationships/l1'],
  ['DELETE /:base_id/relationships', `/crm/relationships?${new URLSearchParams(NEAR)}&dry_run=true`],
  ['DELETE /:base_id/relationships/:id', '/crm/relationships/l1'],
  ['PATCH /:base_id/records/:record_type/:id', '/crm/records/task/t1', { data: { n: null, m: 'x' } }],
  [
    'PATCH /:base_id/records/:record_type/:id',
    '/crm/records/task/t1',
    [{ op: 'add', path: '/data/p', value: 1 }],
    JSON_PATCH,
  ],
  [
    'PUT /:base_id/record-types/:id',
    '/crm/record-types/task?on_invalid=allow',
    { json_schema: { required: ['q'], type: 'object' } },
  ],
  ['GET /:base_id/records/:record_type', '/crm/records/task?include_total=true&sort=-created_at'],
  [
    'GET /:base_id/records/:record_type',
    '/crm/records/task?fields=id,data.n&filter={"field":"data","op":"search","value":"x"}',
  ],
  ['GET /:base_id/wait/:record_type', '/crm/wait/task?limit=1&fields=id'],
  ['POST /:base_id/records/:record_type/claim', '/crm/records/task/claim', { limit: 2, max_attempts: 3 }],
  ['POST /:base_id/records/:record_type/claim', '/crm/records/task/claim?dry_run=true'],
  [
    'POST /:base_id/records/:record_type/:id/attachments',
    '/crm/records/task/t1/attachments',
    { filename: 'n.txt', content: 'x' },
  ],
  [
    'POST /:base_id/records/:record_type/:id/attachments',
    '/crm/records/task/t1/attachments',
    { filename: 'up.bin' },
  ],
  [
    'GET /:base_id/records/:record_type/:id/attachments',
    '/crm/records/task/t1/attachments?include_total=true',
  ],
  ['GET /:base_id/records/:record_type/:id/attachments/:filename', '/crm/records/task/t1/attachments/n.txt'],
  [
    'DELETE /:base_id/records/:record_type/:id/attachments/:attachment_id',
    '/crm/records/task/t1/attachments/first',
  ],
  ['GET /:base_id/claims', '/crm/claims?include_total=true'],
  ...['heartbeat', 'complete', 'release'].map(
    (act): Step => [
      `POST /:base_id/claims/:id/${act}`,
      `/crm/claims/${act === 'release' ? 'second' : 'first'}/${act}`,
    ],
  ),
  ...['heartbeat', 'complete', 'release'].map(
    (act): Step => [`POST /:base_id/claims/${act}`, `/crm/claims/${act}`, { claim_ids: ['first'] }],
  ),
  ['GET /:base_id/claims/:id', '/crm/claims/first'],
  ['POST /:base_id/records/:record_type/query', '/crm/records/task/query', { sort: 'data.n', limit: 1 }],
  [
    'POST /:base_id/records/:record_type/aggregate',
    '/crm/records/task/aggregate',
    {
      aggregations: [{ fn: 'count' }, { fn: 'max', field: 'data.n' }],
      group_by: ['status'],
      include_total: true,
    },
  ],
  [
    'POST /accounts/:account_id/query',
    '/accounts/default/query',
    { bases: ['*'], record_type: 'task', include_total: true },
  ],
  [
    'POST /accounts/:account_id/query',
    '/accounts/default/query',
    { bases: ['crm'], record_type: 'task', aggregations: [{ fn: 'count' }], group_by: ['base_id'] },
  ],
  [
    'POST /:base_id/batch',
    '/crm/batch',
    { operations: [{ type: 'create_record', record_type: 'task', data: { q: 1 } }] },
  ],
  ['POST /:base_id/sql', '/crm/sql', { query: 'SELECT id, created_at, data FROM task ORDER BY id' }],
  [
    'POST /:base_id/sql/execute',
    '/crm/sql/execute',
    { statements: `INSERT INTO task (id, data) VALUES ('sql-1', '{"q":2}') RETURNING id, data` },
  ],
  [
    'POST /:base_id/revert',
    '/crm/revert?dry_run=true',
    { actor: 'admin', since: '2026-01-01T00:00:00Z', on_conflict: 'skip' },
  ],
  ['GET /:base_id/record-types/:id/infer', '/crm/record-types/task/infer'],
  ['GET /:base_id/record-types/:id/profile', '/crm/record-types/task/profile'],
  ['GET /:base_id/records/:record_type/:id', '/crm/records/task/t1'],
  ['POST /:base_id/records/:record_type/:id/cancel', '/crm/records/task/t1/cancel'],
  ['GET /:base_id/records/:record_type/:id', '/crm/records/task/t1'],
  ['POST /:base_id/records/:record_type/:id/restore', '/crm/records/task/t1/restore'],
  ['DELETE /:base_id/records/:record_type/:id', '/crm/records/task/t1?dry_run=true'],
  ['DELETE /:base_id/records/:record_type/:id', '/crm/records/task/t1'],
  ['GET /:base_id/records/:record_type/:id', '/crm/records/task/t1?version=1'],
  ['GET /:base_id/records/:record_type/:id/history', '/crm/records/task/t1/history?limit=2'],
  ['GET /:base_id/trash', '/crm/trash?include_total=true'],
  [
    'POST /:base_id/providers/:provider/import',
    '/crm/providers/anthropic/import',
    { tools: [TOOL], dry_run: true },
  ],
  ['POST /:base_id/providers/:provider/import', '/crm/providers/anthropic/import', { tools: [TOOL] }],
  ['GET /:base_id/providers/:provider/export', '/crm/providers/google/export'],
  ['GET /:base_id/mcp/tools', '/crm/mcp/tools?types=task'],
  ['GET /:base_id/openapi.json', '/crm/openapi.json'],
  [
    'POST /:base_id/providers/:provider/records/:record_type',
    '/crm/providers/anthropic/records/log_call',
    CALL,
  ],
  [
    'POST /:base_id/providers/:provider/records/:record_type',
    '/crm/providers/anthropic/records/log_call',
    CALL,
  ],
  [
    'POST /tokens',
    '/tokens',
    { name: 't', grants: [{ base: 'crm', record_type: ['task'], environment: '*', permission: 'read' }] },
  ],
  [
    'POST /tokens',
    '/tokens?dry_run=true',
    { name: 'd', grants: [{ base: '*', record_type: '*', environment: '*', permission: 'admin' }] },
  ],
  ['PUT /vault/secrets/:name', '/vault/secrets/KEY', { value: 'v', bases: ['crm'] }],
  ['PUT /vault/secrets/:name', '/vault/secrets/KEY?dry_run=true', { value: 'w' }],
  ['GET /vault/secrets', '/vault/secrets?include_total=true'],
  ['GET /vault/secrets/:name', '/vault/secrets/KEY'],
  ['POST /vault/rotate', '/vault/rotate'],
  ['DELETE /vault/secrets/:name', '/vault/secrets/KEY'],
  ['GET /tokens', '/tokens?include_total=true'],
  ['GET /tokens/self', '/tokens/self'],
  ['GET /diagnostics', '/diagnostics'],
  ['POST /tokens/self/sign-in-codes', '/tokens/self/sign-in-codes?dry_run=true'],
  ['POST /tokens/self/sign-in-codes', '/tokens/self/sign-in-codes'],
  ['DELETE /:base_id/endpoints/:id', '/crm/endpoints/desk'],
  ['DELETE /:base_id/relationship-types/:id', '/crm/relationship-types/near'],
  ['PUT /:base_id/record-types/:id', '/crm/record-types/spare', {}],
  ['DELETE /:base_id/record-types/:id', '/crm/record-types/spare'],
  ['DELETE /bases/:id', '/bases/crm?confirm=crm'],
]

test('the responses of all routes are valid for the OpenAPI description', {
  tags: 'full',
  timeout: 600_000,
}, async () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema(document, 'openapi')
  const seen = new Set<string>()
  const check = (row: string, answer: Answer) => {
    const [method = '', path = ''] = row.split(' ')
    const at = [
      templateOf(path),
      method.toLowerCase(),
      'responses',
      `${answer.status}`,
      'content',
      'application/json',
      'schema',
    ]
    const pointer = at
      .map((token) => encodeURIComponent(token.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/')
    expect(answer.status, `${row} ${answer.text}`).toBeLessThan(300)
    const valid = ajv.getSchema(`openapi#/paths/${pointer}`)
    expect(valid?.(answer.body), `${row} ${answer.text} ${JSON.stringify(valid?.errors)}`).toBe(true)
    seen.add(row)
  }
  for (const [row, path, body, headers] of STEPS) {
    const answer = await server.call(
      row.split(' ')[0] ?? '',
      `/v1${path}`,
      typeof headers === 'object' ? JSON.stringify(body) : body,
      headers,
    )
    check(row, answer)
    if (path.endsWith('/review-requests') && body)
      await server.database.query(
        "UPDATE plinth.review_request SET id = 'first', token_id = NULL, own_token = NULL",
      )
    if (path.endsWith('/promote')) await server.database.query("UPDATE plinth.promotion SET id = 'first'")
    if (path.endsWith('/attachments'))
      await server.database.query("UPDATE plinth.attachment SET id = 'first' WHERE filename = 'n.txt'")
    // Gives the claims the ids that the later steps use.
    if (path.endsWith('/claim'))
      for (const [n, { claim }] of answer.body.data.entries())
        await server.database.query('UPDATE plinth.claim SET id = $1 WHERE id = $2', [
          ['first', 'second'][n],
          claim.id,
        ])
  }
  const [token] = (await server.call('GET', '/v1/tokens')).body.data
  check('GET /tokens/:id', await server.call('GET', `/v1/tokens/${token.id}`))
  await server.call('PUT', '/v1/bases/held', {})
  const grants = [{ base: 'held', record_type: '*', environment: '*', permission: 'write' }]
  const agent = (await server.call('POST', '/v1/tokens', { name: 'agent', grants })).body
  for (const verb of ['pause', 'resume'])
    check(
      `POST /:base_id/tokens/:id/${verb}`,
      await server.call('POST', `/v1/held/tokens/${agent.id}/${verb}`, {}),
    )
  check('DELETE /tokens/:id', await server.call('DELETE', `/v1/tokens/${token.id}`))
  await server.call('PUT', '/v1/bases/undo', {})
  await server.call('PUT', '/v1/undo/record-types/task', {})
  await server.call('PUT', '/v1/undo/records/task/t1', { data: {} })
  const [made] = (await server.call('GET', '/v1/undo/records/task/t1/history')).body.data
  const revert = `/v1/undo/changes/${made.seq}/revert`
  for (const path of [`${revert}?dry_run=true`, revert])
    check('POST /:base_id/changes/:seq/revert', await server.call('POST', path))
  const trace = revert.replace(/revert$/, 'trace')
  check('GET /:base_id/changes/:seq/trace', await server.call('GET', trace))
  const mount = await server.call('POST', '/v1/undo/s3-credentials', { permission: 'read', expires_in: 60 })
  const gone = await server.call('DELETE', `/v1/undo/s3-credentials/${mount.body.id}`)
  check('DELETE /:base_id/s3-credentials/:id', gone)
  await putReferences(server.call, 'undo')
  await server.call('POST', '/v1/undo/preview', { name: 'kinds' })
  for (const { noun, body } of Object.values(KIND_SAMPLES)) {
    const row = `/:base_id/${noun}`
    const home = homeOf(noun, 'undo', 'undo--kinds')
    const path = `/v1/${home}/${noun}/walked`
    for (const query of ['?dry_run=true', '', ''])
      check(`PUT ${row}/:id`, await server.call('PUT', `${path}${query}`, body))
    check(`GET ${row}`, await server.call('GET', `/v1/${home}/${noun}?include_total=true`))
    check(`GET ${row}/:id`, await server.call('GET', path))
    check(`GET ${row}/:id/history`, await server.call('GET', `${path}/history`))
    check(`PATCH ${row}/:id`, await server.call('PATCH', path, { name: 'Walked' }))
    if (noun === 'triggers') {
      const sent = await server.call('POST', `${path}/test`)
      check(`POST ${row}/:id/test`, sent)
      check(`GET ${row}/:id/deliveries`, await server.call('GET', `${path}/deliveries`))
      check(`POST ${row}/:id/rotate-secret`, await server.call('POST', `${path}/rotate-secret`))
      await server.database.query(
        "UPDATE plinth.trigger_delivery SET status = 'dead', next_attempt_at = NULL",
      )
      const replay = `${path}/deliveries/${sent.body.id}/replay`
      check(`POST ${row}/:id/deliveries/:delivery_id/replay`, await server.call('POST', replay))
    }
    if (noun === 'inbound-webhooks') {
      await server.database.query(FAILED_DELIVERY, [home, 'walked'])
      check(`GET ${row}/:id/deliveries`, await server.call('GET', `${path}/deliveries`))
      check(`POST ${row}/:id/rotate-secret`, await server.call('POST', `${path}/rotate-secret`))
      check('GET /:base_id/deliveries', await server.call('GET', `/v1/${home}/deliveries`))
      const several = await server.call('POST', `/v1/${home}/deliveries/replay`, { status: 'dead' })
      check('POST /:base_id/deliveries/replay', several)
      const replay = `${path}/deliveries/failed/replay`
      check(`POST ${row}/:id/deliveries/:delivery_id/replay`, await server.call('POST', replay))
    }
    if (noun === 'actions') {
      for (const query of ['?dry_run=true', ''])
        check(`POST ${row}/:id/run`, await server.call('POST', `${path}/run${query}`, {}))
      const runs = await server.call('GET', `${path}/runs`)
      check(`GET ${row}/:id/runs`, runs)
      check(`GET ${row}/:id/runs/:run_id`, await server.call('GET', `${path}/runs/${runs.body.data[0].id}`))
    }
    if (noun === 'seeds')
      for (const act of ['apply?dry_run=true', 'apply', 'reset', 'clear'])
        check(`POST ${row}/:name/${act.split('?')[0]}`, await server.call('POST', `${path}/${act}`))
    check(`DELETE ${row}/:id`, await server.call('DELETE', path))
  }
  const { exported, imported } = exportsOf(server)
  const file = await exported('undo')
  for (const query of ['?dry_run=true', ''])
    check('PUT /bases/:id/import', await imported('copy', file, query))
  // The token of this server is one of its settings, which no request replaces. An export is no JSON.
  const elsewhere = ['POST /tokens/rotate-admin', 'GET /:base_id/export']
  expect([...seen, ...elsewhere].sort()).toEqual(ROUTES.map((row) => row.id).sort())
})

test('every error response is valid for the Error schema', { tags: 'full' }, async () => {
  const ajv = new Ajv2020({ strict: false })
  ajv.addSchema(document, 'openapi')
  const valid = ajv.compile({ $ref: 'openapi#/components/schemas/Error' })
  const failures = [
    await server.as(null)('GET', '/v1/bases'),
    await server.call('GET', '/v1/bases/nowhere'),
    await server.call('GET', '/v1/nothing/at/all/here'),
    await server.call('PUT', '/v1/bases/x', { nmae: 'x', settings: { trash_days: -1 } }),
    await server.call('PUT', '/v1/bases/x', '{"a":', { 'content-type': 'application/json' }),
    await server.call('PUT', '/v1/bases/x', 'text', { 'content-type': 'text/plain' }),
    await server.call('DELETE', '/docs'),
  ]
  for (const { status, body, text, headers } of failures) {
    expect(status).toBeGreaterThanOrEqual(400)
    expect(valid(body), `${text} ${JSON.stringify(valid.errors)}`).toBe(true)
    expect(body.error.request_id).toBe(headers.get('x-request-id'))
  }
})

test('what only some answers have is in the description: warnings, the run of a failure, and 304', {
  tags: 'full',
}, async () => {
  const ajv = new Ajv2020({ strict: false })
  formats.default(ajv)
  ajv.addSchema(document, 'openapi')
  await server.call('PUT', '/v1/bases/some', {})
  await server.call('PUT', '/v1/some/record-types/task', {})
  const close = {
    steps: [{ name: 'close', type: 'patch_record', record_type: 'task', id: 't9', data: { done: true } }],
  }
  await server.call('PUT', '/v1/some/actions/close', close)
  const run = await server.call('POST', '/v1/some/actions/close/run', { input: {} })
  expect(run.body.error.details[0].run_id).toBeTypeOf('string')
  expect(ajv.validate({ $ref: 'openapi#/components/schemas/Error' }, run.body), run.text).toBe(true)

  const tools = [{ record_type: 'task', operations: ['update'], fields: ['data.title'] }]
  const put = await server.call('PUT', '/v1/some/endpoints/desk', { tools, actions: ['close'] })
  expect(put.body.meta.warnings).toHaveLength(1)
  const answer = 'openapi#/paths/~1v1~1%7Bbase_id%7D~1endpoints~1%7Bid%7D/put/responses/201/content'
  expect(ajv.validate({ $ref: `${answer}/application~1json/schema` }, put.body), put.text).toBe(true)

  const same = await server.call('GET', '/v1/some/endpoints/desk', undefined, { 'if-none-match': '"1"' })
  expect(same.status).toBe(304)
  const fresh = Object.entries<Body>(document.paths).filter(([, { get }]) => get?.responses['304'])
  for (const [, { get }] of fresh)
    expect(get.parameters.map(({ name }: Body) => name)).toContain('If-None-Match')
  expect(fresh.map(([path]) => path)).toEqual(
    expect.arrayContaining([
      '/v1/bases/{id}',
      '/v1/{base_id}/config',
      '/v1/{base_id}/endpoints/{id}',
      '/v1/{base_id}/records/{record_type}/{id}',
      '/v1/{base_id}/relationships/{id}',
      '/v1/vault/secrets/{name}',
    ]),
  )
})

/** All URLs in the tags and styles of a page; script content is ignored. */
function addressesIn(html: string): string[] {
  const tags = html.replace(/(<script\b[^>]*>)[\s\S]*?<\/script>/gi, '$1').replace(/<!--[\s\S]*?-->/g, '')
  return [
    ...tags.matchAll(/\b(?:src|href|action|data|poster|srcset)\s*=\s*["']?([^"'\s>]+)/gi),
    ...tags.matchAll(/@import\s+(?:url\()?["']?([^"')\s]+)/gi),
    ...tags.matchAll(/\burl\(\s*["']?([^"')]+)/gi),
  ].map((match) => match[1] ?? '')
}

test.each(['/docs', '/docs/', '/graphql'])(
  '%s loads only resources from the server',
  { tags: 'full' },
  async (path) => {
    const page = await server.as(null)('GET', path, undefined, { accept: 'text/html' })
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toMatch(/^text\/html/)
    for (const address of addressesIn(page.text)) {
      const { protocol, origin } = new URL(address, `${server.url}${path}`)
      expect(protocol === 'data:' || origin === server.url, address).toBe(true)
    }
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/^default-src '(self|none)'/)
    for (const rule of ["connect-src 'self'", "frame-ancestors 'none'"]) expect(policy).toContain(rule)
    expect(policy).not.toMatch(/https?:|\*/)
    expect(page.text).not.toContain(server.adminToken)
  },
)

test.each(['/docs', '/docs/'])('the API reference at %s loads its script from the server', async (path) => {
  const page = await server.as(null)('GET', path)
  expect(page.status).toBe(200)
  const { text } = page
  const [script] = addressesIn(text).filter((address) => address.endsWith('.js'))
  const { status, headers } = await server.as(null)(
    'GET',
    new URL(script ?? '', `${server.url}${path}`).pathname,
  )
  expect(status).toBe(200)
  expect(headers.get('content-type')).toMatch(/javascript/)
  expect(text).toContain('/openapi.json')
  expect(text).not.toMatch(/proxyUrl|proxy\.scalar/)
})

test('the API reference keeps the token in the storage of the tab', { tags: 'full' }, async () => {
  const { text } = await server.as(null)('GET', '/docs/')
  expect(text).toMatch(/"persistAuth":\s*true/)
  const script = (await server.as(null)('GET', '/docs/js/scalar.js')).text
  const tab = { sessionStorage: {}, localStorage: {} }
  runInNewContext(script.slice(0, script.indexOf('\n')), tab)
  expect(tab.localStorage).toBe(tab.sessionStorage)
})

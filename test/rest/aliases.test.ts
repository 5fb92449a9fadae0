import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROUTES } from '../../src/rest/plugin.ts'
import { succeed } from '../support/answers.ts'
import { putFile } from '../support/files.ts'
import { homeOf, KIND_SAMPLES, leastOf, PLAIN_NOUNS } from '../support/kinds.ts'
import { claimAs, openWorld, type World } from '../support/world.ts'

let world: World
let spareToken: string
let credentialId: string
let seq: string
let attachmentId: string
beforeAll(async () => {
  world = await openWorld()
  // A type with the name of an alias: aliases are resolved by position in the path.
  for (const type of ['task', 'collections'])
    succeed(await world.call('PUT', `/v1/crm/record-types/${type}`, {}), 201)
  const body = { data: { n: 1 }, external_id: 'e' }
  for (const id of ['a', 'records'])
    succeed(await world.call('PUT', `/v1/crm/records/task/${id}`, id === 'a' ? body : { data: {} }), 201)
  succeed(await world.call('PUT', '/v1/crm/records/collections/documents', { data: {} }), 201)
  for (const type of ['near', 'far'])
    succeed(await world.call('PUT', `/v1/crm/relationship-types/${type}`, {}), 201)
  succeed(await world.call('PUT', '/v1/crm/relationships/l', LINK), 201)
  const { data } = succeed(await world.call('GET', '/v1/crm/records/task/a/history'))
  seq = String(data[0].seq)
  succeed(await world.call('PUT', '/v1/crm/records/task/made', { data: {} }, { 'x-request-id': 'made' }), 201)
  await claimAs(world, 'held', 'task')
  // A pending one has no signed URL, which differs each time.
  const attached = await world.call('POST', '/v1/crm/records/task/a/attachments', { filename: 'note' })
  attachmentId = succeed(attached, 201).id
  succeed(await world.call('POST', '/v1/crm/preview', { name: 'kinds' }), 201)
  succeed(await world.call('PUT', '/v1/crm/record-types/note', {}), 201)
  for (const noun of PLAIN_NOUNS)
    succeed(await world.call('PUT', `/v1/${homeOf(noun, 'crm', KINDS)}/${noun}/desk`, leastOf(noun)), 201)
  succeed(await putFile(world.call, 'desk', 'a.txt', 'one'), 201)
  spareToken = (await world.newToken([{ permission: 'read' }])).id
  const key = { permission: 'read', expires_in: 600 }
  succeed(await world.call('PUT', '/v1/vault/secrets/desk', { value: 'v' }), 201)
  credentialId = succeed(await world.call('POST', '/v1/crm/s3-credentials', key), 201).id
})
afterAll(() => world.close())

const KINDS = 'crm--kinds'
const GRANT = { base: 'crm', record_type: '*', environment: '*', permission: 'read' }
const TOOL = { type: 'function', function: { name: 'look', parameters: { type: 'object' } } }
const CALL = { id: 'c1', type: 'function', function: { name: 'task', arguments: '{"n":1}' } }

const LINK = {
  rel_type: 'near',
  source_record_type: 'collections',
  source_id: 'documents',
  target_record_type: 'collections',
  target_id: 'documents',
}

/** The sample requests of the routes that every kind of configuration has; the body sets a name only. */
const rowsOfKind = (noun: string, query = ''): Record<string, Sample> => ({
  [`GET /:base_id/${noun}`]: { query: 'limit=1' },
  [`PUT /:base_id/${noun}/:id`]: { body: { name: 'New', ...leastOf(noun) } },
  [`GET /:base_id/${noun}/:id`]: { query: 'version=1' },
  [`GET /:base_id/${noun}/:id/history`]: { query: 'limit=1' },
  [`DELETE /:base_id/${noun}/:id`]: { query },
})
type Sample = { status?: number; query?: string; body?: unknown }
const TYPES: Record<string, string> = {
  'record-types': 'confirm=task',
  'relationship-types': 'confirm=near',
  'file-types': 'confirm=desk',
}
const KIND_ROWS = Object.values(KIND_SAMPLES).map(({ noun }) => rowsOfKind(noun, TYPES[noun]))

/** For every route a request that succeeds; `:id` below `records` is the id of a record. */
const SAMPLES: Record<string, Sample> = {
  ...Object.assign({}, ...KIND_ROWS),
  'GET /bases': { query: 'include_total=true&include=counts' },
  'PUT /bases/:id': { body: { name: 'New' } },
  'GET /bases/:id': {},
  'DELETE /bases/:id': { query: 'confirm=crm' },
  'POST /:base_id/preview': { body: { name: 'dev' }, status: 201 },
  'GET /:base_id/previews': {},
  'POST /:base_id/promote': { body: { from: 'crm--none' }, status: 404 },
  'POST /:base_id/promote/proposal': { body: { from: 'crm--none' }, status: 404 },
  'POST /:base_id/promote/rollback': { body: { promotion_id: 'none' }, status: 404 },
  'GET /:base_id/promotions': {},
  'GET /:base_id/promotions/:id': { status: 404 },
  'GET /:base_id/config': { query: 'format=yaml' },
  'POST /:base_id/config/diff': { body: { plinth: 1, base: 'crm', record_types: [{ id: 'new' }] } },
  'PUT /:base_id/config': { body: { plinth: 1, base: 'crm' }, status: 403 },
  'GET /:base_id/record-types/:id/infer': { query: 'from=records' },
  'GET /:base_id/record-types/:id/profile': {},
  'PATCH /:base_id/record-types/:id': { body: { name: 'New' } },
  'GET /:base_id/records/:record_type': { query: 'sort=id' },
  'POST /:base_id/records/:record_type/query': { body: { sort: 'id' } },
  'PATCH /:base_id/relationship-types/:id': { body: { name: 'New' } },
  'PATCH /:base_id/file-types/:id': { body: { name: 'New' } },
  'GET /:base_id/files': { query: 'search=one' },
  'GET /:base_id/files/:file_type': { query: 'limit=1' },
  'PUT /:base_id/files/:file_type/*': { body: { n: 1 } },
  'GET /:base_id/files/:file_type/*': { query: 'meta=1' },
  'PATCH /:base_id/files/:file_type/*': { body: { label: 'New' } },
  'DELETE /:base_id/files/:file_type/*': {},
  'POST /:base_id/s3-credentials': { body: { permission: 'read', expires_in: 60 }, status: 201 },
  'GET /:base_id/s3-credentials': {},
  'DELETE /:base_id/s3-credentials/:id': {},
  'GET /:base_id/endpoints/:id/resolved': {},
  'PATCH /:base_id/actions/:id': { body: { name: 'New' } },
  'POST /:base_id/actions/:id/run': { body: { input: {} } },
  'GET /:base_id/actions/:id/runs': {},
  'GET /:base_id/actions/:id/runs/:run_id': { status: 404 },
  'PATCH /:base_id/inbound-webhooks/:id': { body: { name: 'New' } },
  'GET /:base_id/inbound-webhooks/:id/deliveries': {},
  'POST /:base_id/inbound-webhooks/:id/deliveries/:delivery_id/replay': { status: 404 },
  'PATCH /:base_id/triggers/:id': { body: { name: 'New' } },
  'GET /:base_id/triggers/:id/deliveries': {},
  'POST /:base_id/triggers/:id/test': {},
  'POST /:base_id/triggers/:id/rotate-secret': {},
  'POST /:base_id/triggers/:id/deliveries/:delivery_id/replay': { status: 404 },
  'POST /:base_id/seeds/:name/apply': {},
  'POST /:base_id/seeds/:name/reset': {},
  'POST /:base_id/seeds/:name/clear': {},
  'GET /:base_id/relationships': { query: 'sort=id' },
  'PUT /:base_id/relationships': { body: { ...LINK, data: { n: 1 } } },
  'POST /:base_id/relationships': { body: { ...LINK, rel_type: 'far' }, status: 201 },
  'PUT /:base_id/relationships/:id': { body: { ...LINK, data: { n: 1 } } },
  'GET /:base_id/relationships/:id': {},
  'DELETE /:base_id/relationships/:id': {},
  'DELETE /:base_id/relationships': { query: new URLSearchParams(LINK).toString() },
  'POST /:base_id/sql': { body: { query: 'SELECT count(*) AS n FROM task' } },
  'POST /:base_id/sql/execute': { body: { statements: `UPDATE task SET data = '{"n":9}' WHERE id = 'a'` } },
  'POST /:base_id/records/:record_type/aggregate': { body: { aggregations: [{ fn: 'count' }] } },
  'POST /accounts/:account_id/query': { body: { bases: ['crm'], record_type: 'task' } },
  'PUT /:base_id/records/:record_type': { body: { data: {}, external_id: 'new' }, status: 201 },
  'POST /:base_id/records/:record_type': { body: { data: {} }, status: 201 },
  'PUT /:base_id/records/:record_type/:id': { body: { data: {} } },
  'GET /:base_id/records/:record_type/:id': {},
  'GET /:base_id/records/:record_type/:id/related': {},
  'PATCH /:base_id/records/:record_type/:id': { body: { data: { n: 2 } } },
  'DELETE /:base_id/records/:record_type/:id': {},
  'POST /:base_id/records/:record_type/:id/cancel': {},
  'POST /:base_id/records/:record_type/:id/attachments': {
    body: { filename: 'n.txt', content: 'x' },
    status: 201,
  },
  'GET /:base_id/records/:record_type/:id/attachments': {},
  'GET /:base_id/records/:record_type/:id/attachments/:filename': {},
  'DELETE /:base_id/records/:record_type/:id/attachments/:attachment_id': {},
  'POST /:base_id/records/:record_type/:id/restore': {},
  'POST /:base_id/changes/:seq/revert': {},
  'POST /:base_id/revert': { body: { request_id: 'made' } },
  'GET /:base_id/trash': { query: 'record_type=task' },
  'GET /:base_id/records/:record_type/:id/history': { query: 'limit=1' },
  'POST /:base_id/records/:record_type/claim': { body: { limit: 2 } },
  'GET /:base_id/claims': { query: 'status=active' },
  'GET /:base_id/claims/:id': {},
  'POST /:base_id/claims/:id/heartbeat': { body: { lease_seconds: 60 } },
  'POST /:base_id/claims/:id/release': {},
  'POST /:base_id/claims/:id/complete': {},
  'POST /:base_id/claims/heartbeat': { body: { claim_ids: ['held'] } },
  'POST /:base_id/claims/release': { body: { claim_ids: ['held'] } },
  'POST /:base_id/claims/complete': { body: { claim_ids: ['held'] } },
  'GET /:base_id/wait/:record_type': { query: 'timeout=0' },
  'POST /:base_id/batch': {
    body: { operations: [{ type: 'create_record', record_type: 'task', data: {} }] },
  },
  'POST /:base_id/providers/:provider/import': { body: { tools: [TOOL] } },
  'GET /:base_id/providers/:provider/export': {},
  'GET /:base_id/mcp/tools': { query: 'readonly=1' },
  'POST /:base_id/providers/:provider/records/:record_type': { body: CALL, status: 201 },
  'POST /tokens': { body: { name: 't', grants: [GRANT] }, status: 201 },
  'GET /tokens': {},
  'GET /tokens/self': {},
  'DELETE /tokens/:id': {},
  'GET /vault/secrets': {},
  'PUT /vault/secrets/:name': { body: { value: 'v' } },
  'GET /vault/secrets/:name': {},
  'DELETE /vault/secrets/:name': {},
  'POST /vault/rotate': {},
  'GET /:base_id/changes': { query: 'limit=1' },
  'GET /:base_id/changes/:seq/trace': { query: 'depth=2' },
}

/** Repeated here on purpose: the table of aliases in the source is under test. */
const NOUNS: Record<string, string[]> = {
  bases: ['bases', 'workspaces', 'databases'],
  'record-types': ['record-types', 'collections'],
  records: ['records', 'documents'],
}

/** The values of a route's path parameters. */
function valuesOf(pattern: string): Record<string, string> {
  const ids: [RegExp, string][] = [
    [/\/records\/:record_type/, 'a'],
    [/^\/bases/, 'crm'],
    [/^\/tokens/, spareToken],
    [/s3-credentials/, credentialId],
    [/relationship-types/, 'near'],
    [/relationships/, 'l'],
    [/claims/, 'held'],
    [new RegExp(`/(${PLAIN_NOUNS.join('|')})`), 'desk'],
  ]
  const id = ids.find(([about]) => about.test(pattern))?.[1] ?? 'task'
  const base = homeOf(pattern.split('/')[2] ?? '', 'crm', KINDS)
  return {
    base_id: base,
    record_type: 'task',
    provider: 'openai',
    account_id: 'default',
    id,
    name: 'desk',
    file_type: 'desk',
    filename: 'note',
    attachment_id: attachmentId,
    delivery_id: 'absent',
    run_id: 'absent',
    seq,
  }
}

/** All aliases of the path with its parameters filled in; the canonical path is the first. */
function spellings(pattern: string): string[] {
  const values = valuesOf(pattern)
  const choices = pattern.split('/').map((segment) => NOUNS[segment] ?? [segment])
  const paths = choices.reduce<string[][]>(
    (all, names) => all.flatMap((path) => names.map((name) => [...path, name])),
    [[]],
  )
  return paths.map(
    (path) =>
      `/v1${path
        .join('/')
        .replace('*', 'a.txt')
        .replaceAll(/:([a-z_]+)/g, (_, name: string) => values[name] ?? '')}`,
  )
}

/** The answer with generated ids and times replaced by placeholders. */
async function normalized(method: string, path: string, body: unknown) {
  const answer = await world.call(method, path, body, { 'x-request-id': 'alike' })
  const still = (text: string | null) =>
    text
      ?.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}/g, '<id>')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>') ?? null
  const { headers } = answer
  return {
    status: answer.status,
    text: still(answer.text),
    etag: headers.get('etag'),
    location: still(headers.get('location')),
    type: headers.get('content-type'),
  }
}

test('every route has a sample request, and every sample has a route', () => {
  expect(Object.keys(SAMPLES).sort()).toEqual(ROUTES.map((row) => row.id).sort())
})

describe.each(ROUTES.map((row) => [row.id, row] as const))('%s', (id, row) => {
  const sample = SAMPLES[id] ?? {}
  // Writes are dry runs, so that each alias finds the same state.
  const query = [sample.query, row.writes && 'dry_run=true'].filter(Boolean).join('&')

  test('answers the same under every alias of its path', async () => {
    const [canonical = '', ...others] = spellings(row.path)
    const first = await normalized(row.method, `${canonical}?${query}`, sample.body)
    expect(first.status, first.text ?? '').toBe(sample.status ?? 200)
    if (first.location)
      expect(first.location).toMatch(
        /^\/v1\/(bases|tokens|vault\/secrets|crm\/(records|record-types|relationships|relationship-types|s3-credentials))\//,
      )
    for (const path of others)
      expect(await normalized(row.method, `${path}?${query}`, sample.body), path).toEqual(first)
  })

  test('fails the same under every alias of its path', async () => {
    const [canonical = '', ...others] = spellings(row.path)
    const first = await normalized(row.method, `${canonical}?nope=1`, sample.body)
    expect(first.status).toBe(400)
    expect(first.text).toContain('query/nope')
    for (const path of others)
      expect(await normalized(row.method, `${path}?nope=1`, sample.body), path).toEqual(first)
  })
})

test('an id that equals an alias is read as an id', async () => {
  for (const [path, id] of [
    ['/v1/crm/records/collections/documents', 'documents'],
    ['/v1/crm/documents/collections/documents', 'documents'],
    ['/v1/crm/records/task/records', 'records'],
    ['/v1/crm/record-types/collections', 'collections'],
    ['/v1/crm/collections/collections', 'collections'],
  ] as const)
    expect(succeed(await world.call('GET', path)).id, path).toBe(id)
  expect((await world.call('GET', '/v1/crm/records/record-types/documents')).status).toBe(404)
  expect((await world.call('GET', '/v1/crm/records/documents/records')).status).toBe(404)
})

test('a base, a type and a record can have the name of an alias', async () => {
  succeed(await world.call('PUT', '/v1/bases/collections', {}), 201)
  succeed(await world.call('PUT', '/v1/collections/collections/collections', {}), 201)
  succeed(await world.call('PUT', '/v1/collections/documents/collections/records', { data: {} }), 201)
  const record = await world.call('GET', '/v1/collections/records/collections/records')
  expect(succeed(record)).toMatchObject({ id: 'records', record_type: 'collections' })
})

test('an idempotency key used under one alias is replayed under another', async () => {
  const key = { 'idempotency-key': 'one-request' }
  const made = await world.call('POST', '/v1/crm/documents/task', { data: {} }, key)
  const again = await world.call('POST', '/v1/crm/records/task', { data: {} }, key)
  expect([made.status, again.status, again.text]).toEqual([201, 201, made.text])
  expect(again.headers.get('idempotency-replayed')).toBe('true')
})

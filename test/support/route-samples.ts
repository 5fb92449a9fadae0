/** A request for every route, and a base in which they succeed. */
import { expect } from 'vitest'
import { succeed } from './answers.ts'
import { homeOf, KIND_SAMPLES, leastOf, PLAIN_NOUNS } from './kinds.ts'
import { claimAs, type World } from './world.ts'

const grantOn = (base: string) => ({ base, record_type: '*', environment: '*', permission: 'read' })
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
const rowsOfKind = (noun: string, query = ''): Record<string, RouteSample> => ({
  [`GET /:base_id/${noun}`]: { query: 'limit=1' },
  [`PUT /:base_id/${noun}/:id`]: { body: { name: 'New', ...leastOf(noun) } },
  [`GET /:base_id/${noun}/:id`]: { query: 'version=1' },
  [`GET /:base_id/${noun}/:id/history`]: { query: 'limit=1' },
  [`DELETE /:base_id/${noun}/:id`]: { query },
})
export type RouteSample = { status?: number; query?: string; body?: unknown }
const TYPES: Record<string, string> = {
  'record-types': 'confirm=task',
  'relationship-types': 'confirm=near',
  'file-types': 'confirm=desk',
}
const KIND_ROWS = Object.values(KIND_SAMPLES).map(({ noun }) => rowsOfKind(noun, TYPES[noun]))

/** For every route a request that succeeds in a filled base; `:id` below `records` is the id of a record. */
export const routeSamples = (base: string): Readonly<Record<string, RouteSample>> => ({
  ...Object.assign({}, ...KIND_ROWS),
  'GET /bases': { query: 'include_total=true&include=counts' },
  'PUT /bases/:id': { body: { name: 'New' } },
  'GET /bases/:id': {},
  'GET /:base_id/export': {},
  'PUT /bases/:id/import': { body: 'no export', status: 400 },
  'DELETE /bases/:id': { query: `confirm=${base}` },
  'POST /:base_id/preview': { body: { name: 'dev' }, status: 201 },
  'GET /:base_id/previews': {},
  'POST /:base_id/promote': { body: { from: `${base}--none` }, status: 404 },
  'POST /:base_id/promote/proposal': { body: { from: `${base}--none` }, status: 404 },
  'POST /:base_id/discard': {
    body: { resources: [{ kind: 'record', record_type: 'task', id: 'a' }] },
    status: 400,
  },
  'POST /:base_id/submit': { body: {}, status: 400 },
  'POST /:base_id/reviews': { body: { verdict: 'comment', text: 'x' }, status: 400 },
  'GET /:base_id/reviews': { status: 400 },
  'POST /:base_id/reopen': { body: {}, status: 400 },
  'POST /:base_id/promote/rollback': { body: { promotion_id: 'none' }, status: 404 },
  'GET /:base_id/promotions': {},
  'GET /:base_id/promotions/:id': { status: 404 },
  'GET /:base_id/config': { query: 'format=yaml' },
  'POST /:base_id/config/diff': { body: { plinth: 1, base, record_types: [{ id: 'new' }] } },
  'PUT /:base_id/config': { body: { plinth: 1, base }, status: 403 },
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
  'POST /:base_id/inbound-webhooks/:id/rotate-secret': {},
  'POST /:base_id/review-requests': { body: { from: 'crm--none' }, status: 404 },
  'GET /:base_id/review-requests': {},
  'GET /:base_id/review-requests/:id': { status: 404 },
  'POST /:base_id/review-requests/:id/decision': { body: { decision: 'decline' }, status: 404 },
  'POST /:base_id/tokens/:id/pause': { body: {}, status: 404 },
  'POST /:base_id/tokens/:id/resume': { body: {}, status: 409 },
  'GET /:base_id/deliveries': {},
  'POST /:base_id/deliveries/replay': { body: { status: 'dead' } },
  'PATCH /:base_id/endpoints/:id': { body: { name: 'New' } },
  'PATCH /:base_id/toolsets/:id': { body: { name: 'New' } },
  'PATCH /:base_id/seeds/:id': { body: { name: 'New' } },
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
  'POST /accounts/:account_id/query': { body: { bases: [base], record_type: 'task' } },
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
  'GET /:base_id/calls': { query: 'outcome=failed&limit=2' },
  'GET /:base_id/usage': { query: 'since=7d&interval=day&by=token' },
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
  'GET /:base_id/openapi.json': {},
  'POST /:base_id/providers/:provider/records/:record_type': { body: CALL, status: 201 },
  'POST /tokens': { body: { name: 't', grants: [grantOn(base)] }, status: 201 },
  'GET /tokens': {},
  'GET /tokens/:id': {},
  'GET /tokens/self': {},
  'GET /diagnostics': {},
  'POST /tokens/self/sign-in-codes': { status: 201 },
  // The server has its token from a setting.
  'POST /tokens/rotate-admin': { status: 409 },
  'DELETE /tokens/:id': {},
  'GET /vault/secrets': {},
  'PUT /vault/secrets/:name': { body: { value: 'v' } },
  'GET /vault/secrets/:name': {},
  'DELETE /vault/secrets/:name': {},
  'POST /vault/rotate': {},
  'GET /:base_id/changes': { query: 'limit=1' },
  'GET /:base_id/changes/:seq/trace': { query: 'depth=2' },
})

/** Where the samples of routes succeed, and the ids that were made there. */
export type FilledBase = {
  readonly base: string
  /** The base for kinds that only a preview takes. */
  readonly home: string
  readonly tokenId: string
  readonly credentialId: string
  readonly attachmentId: string
  readonly seq: string
}

/** Fills a base with what the samples of routes need. Its data has the note. */
export async function fillBase(world: World, base: string, note: string): Promise<FilledBase> {
  const put = async (path: string, body: object, headers = {}) =>
    expect((await world.call('PUT', `/v1/${base}/${path}`, body, headers)).status, path).toBeLessThan(300)
  // A type with the name of an alias: aliases are resolved by position in the path.
  for (const type of ['task', 'collections']) await put(`record-types/${type}`, { name: note })
  await put('records/task/a', { data: { n: 1, note }, external_id: 'e' })
  await put('records/task/records', { data: { note } })
  await put('records/collections/documents', { data: { note } })
  for (const type of ['near', 'far']) await put(`relationship-types/${type}`, { name: note })
  await put('relationships/l', { ...LINK, data: { note } })
  const { data } = succeed(await world.call('GET', `/v1/${base}/records/task/a/history`))
  await put('records/task/made', { data: { note } }, { 'x-request-id': 'made' })
  await claimAs(world, 'held', 'task', base)
  // A pending one has no signed URL, which differs each time.
  const attached = await world.call('POST', `/v1/${base}/records/task/a/attachments`, { filename: 'note' })
  const home = base.includes('--') ? base : `${base}--kinds`
  if (home !== base) succeed(await world.call('POST', `/v1/${base}/preview`, { name: 'kinds' }), 201)
  await put('record-types/note', { name: note })
  for (const noun of PLAIN_NOUNS) {
    const body = { ...leastOf(noun), name: note }
    succeed(await world.call('PUT', `/v1/${homeOf(noun, base, home)}/${noun}/desk`, body), 201)
  }
  await put('files/desk/a.txt', { note })
  const token = await world.newToken([{ base, permission: 'read' }])
  const key = { permission: 'read', expires_in: 600 }
  const credential = succeed(await world.call('POST', `/v1/${base}/s3-credentials`, key), 201)
  return {
    ...{ base, home, tokenId: token.id, credentialId: credential.id },
    ...{ attachmentId: succeed(attached, 201).id, seq: String(data[0].seq) },
  }
}

/** The values of a route's path parameters in a filled base. */
export function routeValues(pattern: string, { base, ...filled }: FilledBase): Record<string, string> {
  const ids: [RegExp, string][] = [
    [/\/records\/:record_type/, 'a'],
    [/^\/bases/, base],
    [/^\/tokens/, filled.tokenId],
    [/s3-credentials/, filled.credentialId],
    [/relationship-types/, 'near'],
    [/relationships/, 'l'],
    [/claims/, 'held'],
    [new RegExp(`/(${PLAIN_NOUNS.join('|')})`), 'desk'],
  ]
  const id = ids.find(([about]) => about.test(pattern))?.[1] ?? 'task'
  return {
    base_id: homeOf(pattern.split('/')[2] ?? '', base, filled.home),
    record_type: 'task',
    provider: 'openai',
    account_id: 'default',
    id,
    name: 'desk',
    file_type: 'desk',
    filename: 'note',
    attachment_id: filled.attachmentId,
    delivery_id: 'absent',
    run_id: 'absent',
    seq: filled.seq,
  }
}

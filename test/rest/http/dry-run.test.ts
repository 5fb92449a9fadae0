import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROUTES } from '../../../src/rest/plugin.ts'
import { expectFailure, succeed } from '../../support/answers.ts'
import { sampleOf } from '../../support/cases.ts'
import { putFile } from '../../support/files.ts'
import { FAILED_DELIVERY, homeOf, KIND_SAMPLES, leastOf, PLAIN_NOUNS } from '../../support/kinds.ts'
import type { Body } from '../../support/server.ts'
import { claimAs, openWorld, type World } from '../../support/world.ts'

let world: World
let spare: { id: string; token: string }
/** Replaced in paths by the seq of a change that can be reverted. */
const SEQ = '<seq>'
const ATTACHMENT = 'attached'
const CREDENTIAL = '01970000-0000-7000-8000-0000000000c3'
let seq: string
const at = '/v1/crm/records/task'
beforeAll(async () => {
  world = await openWorld()
  const json_schema = { type: 'object', properties: { n: { type: 'number' } } }
  succeed(await world.call('PUT', '/v1/crm/record-types/task', { json_schema }), 201)
  succeed(await world.call('PUT', `${at}/a`, { data: { n: 1 } }), 201)
  succeed(await world.call('PUT', `${at}/c`, { data: { n: 1 } }), 201)
  succeed(await world.call('POST', `${at}/c/cancel`))
  await claimAs(world, 'held', 'task')
  succeed(await world.call('PUT', `${at}/free`, { data: { n: 1 } }), 201)
  succeed(await world.call('PUT', '/v1/crm/record-types/node', {}), 201)
  for (const id of ['a', 'b'])
    succeed(await world.call('PUT', `/v1/crm/records/node/${id}`, { data: {} }), 201)
  succeed(await world.call('PUT', '/v1/crm/relationship-types/near', {}), 201)
  succeed(
    await world.call('PUT', '/v1/crm/records/task/made', { data: { n: 1 } }, { 'x-request-id': 'made' }),
    201,
  )
  succeed(await world.call('PUT', '/v1/crm/relationships/l', LINK), 201)
  succeed(await world.call('PUT', '/v1/crm/file-types/paper', {}), 201)
  succeed(await putFile(world.call, 'paper', 'a.txt', 'one'), 201)
  const { data } = succeed(await world.call('GET', `${at}/a/history`))
  seq = String(data[0].seq)
  succeed(await world.call('POST', '/v1/crm/preview', { name: 'kept' }), 201)
  succeed(await world.call('POST', '/v1/crm/preview', { name: 'drafts', copy: 'on_write' }), 201)
  succeed(await world.call('PATCH', '/v1/crm--drafts/records/task/a', { data: { n: 8 } }))
  succeed(await world.call('POST', '/v1/crm/preview', { name: 'rejected', copy: 'on_write' }), 201)
  succeed(await world.call('POST', '/v1/crm--rejected/reviews', { verdict: 'reject' }), 201)
  succeed(await world.call('PUT', '/v1/crm--kept/record-types/promoted', {}), 201)
  succeed(await world.call('POST', '/v1/crm/promote', { from: 'crm--kept' }))
  await world.database.query("UPDATE plinth.promotion SET id = 'done'")
  succeed(await world.call('PUT', '/v1/crm/record-types/note', {}), 201)
  for (const noun of PLAIN_NOUNS)
    succeed(
      await world.call('PUT', `/v1/${homeOf(noun, 'crm', 'crm--kept')}/${noun}/desk`, leastOf(noun)),
      201,
    )
  await world.database.query(
    "INSERT INTO plinth.trigger_delivery (base_id, trigger_id, id, event, status) VALUES ('crm', 'desk', 'sent', 'trigger.test', 'dead')",
  )
  await world.database.query(FAILED_DELIVERY, ['crm', 'desk'])
  const filled = { records: [{ record_type: 'node', external_id: 'x', data: {} }] }
  succeed(await world.call('PUT', '/v1/crm--kept/seeds/filled', filled), 201)
  succeed(await world.call('POST', '/v1/crm/review-requests', { from: 'crm--kept' }), 201)
  // Nobody decides what they asked for themselves.
  await world.database.query(
    "UPDATE plinth.review_request SET id = 'asked', token_id = NULL, own_token = NULL",
  )
  succeed(await world.call('POST', `${at}/a/attachments`, { filename: 'note', content: 'x' }), 201)
  await world.database.query('UPDATE plinth.attachment SET id = $1', [ATTACHMENT])
  const key = { permission: 'read', expires_in: 600 }
  succeed(await world.call('POST', '/v1/crm/s3-credentials', key), 201)
  await world.database.query('UPDATE plinth.s3_credential SET id = $1', [CREDENTIAL])
  succeed(await world.call('PUT', '/v1/vault/secrets/KEPT', { value: 'v' }), 201)
  spare = await world.newToken([{ permission: 'write' }])
  for (const name of ['free', 'held']) {
    const { id } = await world.newToken([{ permission: 'write' }])
    await world.database.query('UPDATE plinth.token SET id = $1 WHERE id = $2', [name, id])
  }
  succeed(await world.call('POST', '/v1/crm/tokens/held/pause', {}))
})
afterAll(() => world.close())

/** All stored rows, without the last use of tokens. */
async function everything(): Promise<string> {
  const tables = [
    'base',
    'record_type',
    'record',
    'relationship_type',
    'relationship',
    ...Object.keys(KIND_SAMPLES).filter((kind) => kind !== 'record_type' && kind !== 'relationship_type'),
    'file',
    'file_version',
    's3_credential',
    'change',
    'idempotency',
    'claim',
    'fork',
    'promotion',
    'review_request',
    'change_set',
    'change_set_review',
    'attachment',
    'trigger_delivery',
    'inbound_delivery',
    'action_run',
    'sign_in_code',
  ]
  const parts = tables.map(
    (name) =>
      `SELECT '${name}' AS name, coalesce(string_agg(t::text, '|' ORDER BY t::text), '') AS all_of FROM plinth.${name} t`,
  )
  parts.push(`SELECT 'token', string_agg(id || name || grants::text, '|' ORDER BY id) FROM plinth.token`)
  return JSON.stringify(await world.database.query(parts.join(' UNION ALL ')))
}

const TOOL = { name: 'look_up', input_schema: { type: 'object', properties: {} } }
const CALL = { type: 'tool_use', id: 'call-1', name: 'task', input: { n: 1 } }
const GRANT = { base: 'crm', record_type: '*', environment: '*', permission: 'read' }

const LINK = {
  rel_type: 'near',
  source_record_type: 'node',
  source_id: 'a',
  target_record_type: 'node',
  target_id: 'b',
}

function writesOf(noun: string): [string, string, unknown, number, Body][] {
  const path = `/v1/${homeOf(noun, 'crm', 'crm--kept')}/${noun}`
  return [
    [`PUT /:base_id/${noun}/:id`, `${path}/new`, leastOf(noun), 201, { id: 'new', version: 1 }],
    [`DELETE /:base_id/${noun}/:id`, `${path}/desk`, undefined, 200, { deleted: true }],
  ]
}
const applied = (created: number) => ({ records: { created, updated: 0, unchanged: 0, deleted: 0 } })

/** Every write: its route, path, body, status, and part of its answer. */
const WRITES: [string, string, unknown, number, Body][] = [
  ...PLAIN_NOUNS.flatMap(writesOf),
  ...(['apply', 'reset', 'clear'] as const).map((act): [string, string, unknown, number, Body] => [
    `POST /:base_id/seeds/:name/${act}`,
    `/v1/crm--kept/seeds/filled/${act}`,
    undefined,
    200,
    applied(act === 'clear' ? 0 : 1),
  ]),
  [
    'PATCH /:base_id/triggers/:id',
    '/v1/crm/triggers/desk',
    { name: 'New' },
    200,
    { name: 'New', version: 2, secret: '<redacted>' },
  ],
  ['POST /:base_id/triggers/:id/test', '/v1/crm/triggers/desk/test', undefined, 200, { attempts: 0 }],
  [
    'POST /:base_id/triggers/:id/rotate-secret',
    '/v1/crm/triggers/desk/rotate-secret',
    undefined,
    200,
    { secret: null, version: 2 },
  ],
  [
    'POST /:base_id/triggers/:id/deliveries/:delivery_id/replay',
    '/v1/crm/triggers/desk/deliveries/sent/replay',
    undefined,
    200,
    { status: 'pending' },
  ],
  [
    'POST /:base_id/inbound-webhooks/:id/rotate-secret',
    '/v1/crm/inbound-webhooks/desk/rotate-secret',
    undefined,
    200,
    { secret: null, version: 2 },
  ],
  [
    'POST /:base_id/deliveries/replay',
    '/v1/crm/deliveries/replay',
    { status: 'dead' },
    200,
    { has_more: false },
  ],
  ['PATCH /:base_id/endpoints/:id', '/v1/crm/endpoints/desk', { name: 'New' }, 200, { name: 'New' }],
  ['PATCH /:base_id/toolsets/:id', '/v1/crm/toolsets/desk', { name: 'New' }, 200, { name: 'New' }],
  ['PATCH /:base_id/seeds/:id', '/v1/crm--kept/seeds/filled', { name: 'New' }, 200, { name: 'New' }],
  ['PATCH /:base_id/actions/:id', '/v1/crm/actions/desk', { name: 'New' }, 200, { name: 'New' }],
  ['POST /:base_id/actions/:id/run', '/v1/crm/actions/desk/run', {}, 200, { status: 'succeeded' }],
  [
    'PATCH /:base_id/inbound-webhooks/:id',
    '/v1/crm/inbound-webhooks/desk',
    { name: 'New' },
    200,
    { name: 'New' },
  ],
  [
    'POST /:base_id/inbound-webhooks/:id/deliveries/:delivery_id/replay',
    '/v1/crm/inbound-webhooks/desk/deliveries/failed/replay',
    undefined,
    200,
    { status: 'succeeded' },
  ],
  ['PUT /:base_id/files/:file_type/*', '/v1/crm/files/paper/new', { n: 1 }, 201, { path: 'new', version: 1 }],
  [
    'PATCH /:base_id/files/:file_type/*',
    '/v1/crm/files/paper/a.txt',
    { path: 'b' },
    200,
    { path: 'b', version: 1 },
  ],
  ['DELETE /:base_id/files/:file_type/*', '/v1/crm/files/paper/a.txt', undefined, 200, { deleted: true }],
  [
    'POST /:base_id/s3-credentials',
    '/v1/crm/s3-credentials',
    { file_type: 'paper', permission: 'write', expires_in: 60 },
    201,
    { prefix: 'paper/', access_key_id: null, secret_access_key: null, session_token: null, mount: null },
  ],
  [
    'DELETE /:base_id/s3-credentials/:id',
    `/v1/crm/s3-credentials/${CREDENTIAL}`,
    undefined,
    200,
    { deleted: true },
  ],
  [
    'PATCH /:base_id/file-types/:id',
    '/v1/crm/file-types/desk',
    { name: 'New' },
    200,
    { name: 'New', version: 2 },
  ],
  [
    'POST /:base_id/preview',
    '/v1/crm/preview',
    { name: 'dev', copy: 'config_and_sample' },
    201,
    { id: 'crm--dev', version: 1 },
  ],
  [
    'PUT /:base_id/config',
    '/v1/crm--kept/config',
    { plinth: 1, base: 'crm', record_types: [{ id: 'new' }] },
    200,
    { summary: { create: 1, update: 0, delete: 0 } },
  ],
  [
    'POST /:base_id/discard',
    '/v1/crm--drafts/discard',
    { resources: [{ kind: 'record', record_type: 'task', id: 'a' }] },
    200,
    { from: 'crm--drafts', changes: [{ id: 'task/a', op: 'update' }] },
  ],
  [
    'POST /:base_id/submit',
    '/v1/crm--drafts/submit',
    { comment: 'Signed.' },
    201,
    { from: 'crm--drafts', state: 'open' },
  ],
  [
    'POST /:base_id/reviews',
    '/v1/crm--drafts/reviews',
    { verdict: 'comment', text: 'Why?' },
    201,
    { verdict: 'comment', is_stale: false },
  ],
  ['POST /:base_id/reopen', '/v1/crm--rejected/reopen', {}, 200, { id: 'crm--rejected' }],
  ['POST /:base_id/promote', '/v1/crm/promote', { from: 'crm--kept' }, 200, { status: 'applied' }],
  [
    'POST /:base_id/review-requests',
    '/v1/crm/review-requests',
    { from: 'crm--kept' },
    201,
    { state: 'open' },
  ],
  [
    'POST /:base_id/review-requests/:id/decision',
    '/v1/crm/review-requests/asked/decision',
    { decision: 'accept' },
    200,
    { state: 'accepted' },
  ],
  ['POST /:base_id/tokens/:id/pause', '/v1/crm/tokens/free/pause', {}, 200, { state: 'open' }],
  ['POST /:base_id/tokens/:id/resume', '/v1/crm/tokens/held/resume', {}, 200, { state: 'accepted' }],
  [
    'POST /:base_id/promote/rollback',
    '/v1/crm/promote/rollback',
    { promotion_id: 'done' },
    200,
    { kind: 'rollback' },
  ],
  ['PUT /bases/:id', '/v1/bases/new', { name: 'N' }, 201, { id: 'new', version: 1 }],
  ['PUT /bases/:id', '/v1/bases/crm', { name: 'Other' }, 200, { name: 'Other', version: 2 }],
  ['DELETE /bases/:id', '/v1/bases/crm?confirm=crm', undefined, 200, { id: 'crm', deleted: true }],
  ['PUT /:base_id/record-types/:id', '/v1/crm/record-types/new', {}, 201, { id: 'new', version: 1 }],
  ['PUT /:base_id/record-types/:id', '/v1/crm/record-types/task', {}, 200, { json_schema: {}, version: 2 }],
  [
    'PATCH /:base_id/record-types/:id',
    '/v1/crm/record-types/task',
    { name: 'T' },
    200,
    { name: 'T', version: 2 },
  ],
  [
    'DELETE /:base_id/record-types/:id',
    '/v1/crm/record-types/task?confirm=task',
    undefined,
    200,
    { deleted: true },
  ],
  [
    'PUT /:base_id/records/:record_type/:id',
    `${at}/b`,
    { data: { n: 2 } },
    201,
    { operation: 'created', data: { n: 2 } },
  ],
  [
    'PUT /:base_id/records/:record_type/:id',
    `${at}/a`,
    { data: { n: 2 } },
    200,
    { operation: 'updated', version: 2 },
  ],
  [
    'PUT /:base_id/records/:record_type/:id',
    `${at}/a`,
    { data: { n: 1 } },
    200,
    { operation: 'unchanged', version: 1 },
  ],
  ['PUT /:base_id/records/:record_type', at, { data: {}, external_id: 'e' }, 201, { operation: 'created' }],
  ['POST /:base_id/records/:record_type', at, { id: 'p', data: {} }, 201, { id: 'p', version: 1 }],
  [
    'PATCH /:base_id/records/:record_type/:id',
    `${at}/a`,
    { data: { n: 4 } },
    200,
    { data: { n: 4 }, version: 2 },
  ],
  [
    'POST /:base_id/records/:record_type/:id/cancel',
    `${at}/a/cancel`,
    undefined,
    200,
    { status: 'cancelled', version: 2 },
  ],
  [
    'POST /:base_id/records/:record_type/:id/restore',
    `${at}/c/restore`,
    undefined,
    200,
    { status: 'active', version: 3 },
  ],
  ['DELETE /:base_id/records/:record_type/:id', `${at}/a`, undefined, 200, { id: 'a', deleted: true }],
  [
    'POST /:base_id/changes/:seq/revert',
    `/v1/crm/changes/${SEQ}/revert`,
    undefined,
    200,
    { id: 'a', operation: 'delete', version: 2 },
  ],
  [
    'POST /:base_id/records/:record_type/claim',
    `${at}/claim`,
    {},
    200,
    { data: [{ record: { id: 'free' }, claim: { attempts: 1 } }], meta: { count: 1, limit: 1 } },
  ],
  [
    'POST /:base_id/records/:record_type/:id/attachments',
    `${at}/a/attachments`,
    { filename: 'n', content: 'x' },
    201,
    { filename: 'n', size: 1, status: 'ready' },
  ],
  [
    'DELETE /:base_id/records/:record_type/:id/attachments/:attachment_id',
    `${at}/a/attachments/${ATTACHMENT}`,
    undefined,
    200,
    { id: ATTACHMENT, deleted: true },
  ],
  [
    'POST /:base_id/claims/:id/heartbeat',
    '/v1/crm/claims/held/heartbeat',
    { lease_seconds: 5 },
    200,
    { status: 'active' },
  ],
  [
    'POST /:base_id/claims/:id/release',
    '/v1/crm/claims/held/release',
    undefined,
    200,
    { status: 'released' },
  ],
  [
    'POST /:base_id/claims/:id/complete',
    '/v1/crm/claims/held/complete',
    undefined,
    200,
    { status: 'completed' },
  ],
  [
    'POST /:base_id/claims/heartbeat',
    '/v1/crm/claims/heartbeat',
    { claim_ids: ['held'] },
    200,
    { data: [{ id: 'held', status: 'active' }], meta: { count: 1 } },
  ],
  [
    'POST /:base_id/claims/release',
    '/v1/crm/claims/release',
    { claim_ids: ['held'] },
    200,
    { data: [{ id: 'held', status: 'released' }], meta: { count: 1 } },
  ],
  [
    'POST /:base_id/claims/complete',
    '/v1/crm/claims/complete',
    { claim_ids: ['held'] },
    200,
    { data: [{ id: 'held', status: 'completed' }], meta: { count: 1 } },
  ],
  [
    'POST /:base_id/batch',
    '/v1/crm/batch',
    { operations: [{ type: 'delete_record', record_type: 'task', id: 'a' }] },
    200,
    { data: [{ operation: 'deleted', id: 'a', version: 2 }], meta: { count: 1 } },
  ],
  [
    'POST /:base_id/providers/:provider/import',
    '/v1/crm/providers/anthropic/import',
    { tools: [TOOL] },
    200,
    { data: [{ record_type: 'look_up', operation: 'created', warnings: [] }] },
  ],
  [
    'POST /:base_id/providers/:provider/records/:record_type',
    '/v1/crm/providers/anthropic/records/task',
    CALL,
    201,
    { external_id: 'call-1', external_source: 'anthropic' },
  ],
  [
    'PUT /:base_id/relationship-types/:id',
    '/v1/crm/relationship-types/new',
    {},
    201,
    { id: 'new', version: 1 },
  ],
  [
    'PATCH /:base_id/relationship-types/:id',
    '/v1/crm/relationship-types/near',
    { cardinality: 'one_to_one' },
    200,
    { version: 2, cardinality: 'one_to_one' },
  ],
  [
    'DELETE /:base_id/relationship-types/:id',
    '/v1/crm/relationship-types/near?confirm=near',
    undefined,
    200,
    { deleted: true },
  ],
  [
    'PUT /:base_id/relationships/:id',
    '/v1/crm/relationships/other',
    { ...LINK, data: { n: 1 } },
    200,
    { id: 'l', operation: 'updated', version: 2 },
  ],
  [
    'PUT /:base_id/relationships',
    '/v1/crm/relationships',
    { ...LINK, source_id: 'b' },
    201,
    { operation: 'created' },
  ],
  [
    'POST /:base_id/relationships',
    '/v1/crm/relationships',
    { ...LINK, id: 'm', target_id: 'a' },
    201,
    { id: 'm', version: 1 },
  ],
  [
    'DELETE /:base_id/relationships/:id',
    '/v1/crm/relationships/l',
    undefined,
    200,
    { id: 'l', deleted: true },
  ],
  [
    'DELETE /:base_id/relationships',
    `/v1/crm/relationships?${new URLSearchParams(LINK)}`,
    undefined,
    200,
    { id: 'l', deleted: true },
  ],
  [
    'POST /:base_id/sql/execute',
    '/v1/crm/sql/execute',
    { statements: `UPDATE task SET data = '{"n":9}' WHERE id = 'a'` },
    200,
    { data: [{ statement: 0, operation: 'update', count: 1 }] },
  ],
  ['POST /:base_id/revert', '/v1/crm/revert', { request_id: 'made' }, 200, { dry_run: true }],
  ['PUT /vault/secrets/:name', '/v1/vault/secrets/NEW', { value: 'v' }, 201, { name: 'NEW', version: 1 }],
  ['PUT /vault/secrets/:name', '/v1/vault/secrets/KEPT', { value: 'w' }, 200, { version: 2 }],
  ['DELETE /vault/secrets/:name', '/v1/vault/secrets/KEPT', undefined, 200, { id: 'KEPT', deleted: true }],
  ['POST /vault/rotate', '/v1/vault/rotate', undefined, 200, { rewrapped: 0, unreadable: 0 }],
  ['POST /tokens', '/v1/tokens', { name: 't', grants: [GRANT] }, 201, { name: 't', token: null }],
  ['POST /tokens/self/sign-in-codes', '/v1/tokens/self/sign-in-codes', undefined, 201, { code: null }],
]

test('every route that writes has a dry run', () => {
  const written = ROUTES.filter((row) => row.writes).map((row) => row.id)
  // The token of this server is one of its settings, so it is not rotated here. Files of bases have tests of their own.
  const elsewhere = ['DELETE /tokens/:id', 'POST /tokens/rotate-admin', 'PUT /bases/:id/import']
  expect([...new Set([...WRITES.map(([row]) => row), ...elsewhere])].sort()).toEqual(written.sort())
})

describe.each(sampleOf(WRITES))('%s at %s', { tags: 'sampled' }, (row, path, body, status, shown) => {
  test('as a dry run returns the answer with dry_run true, and stores nothing', async () => {
    const before = await everything()
    const dry = await world.call(
      row.split(' ')[0] ?? '',
      `${path.replace(SEQ, seq)}${path.includes('?') ? '&' : '?'}dry_run=true`,
      body,
    )
    expect(succeed(dry, status)).toMatchObject({ ...shown, dry_run: true })
    expect(await everything()).toBe(before)
  })
})

test('a dry run of the deletion of a record without relationships says what goes, as that of a batch does', {
  tags: 'full',
}, async () => {
  succeed(await world.call('PUT', `${at}/alone`, { data: {} }), 201)
  const file = { filename: 'a.txt', content_type: 'text/plain', content: 'x' }
  succeed(await world.call('POST', `${at}/alone/attachments`, file), 201)
  const one = { count: 1, by_type: { task: 1 } }
  const deletion = { records: one, attachments: one, samples: ['task/alone'] }
  expect(succeed(await world.call('DELETE', `${at}/alone?dry_run=true`))).toEqual({
    ...{ id: 'alone', deleted: true, dry_run: true, deletion },
  })
  const operations = [{ type: 'delete_record', record_type: 'task', id: 'alone' }]
  expect(succeed(await world.call('POST', '/v1/crm/batch?dry_run=true', { operations }))).toMatchObject({
    deletion,
  })
  // The deletion itself names nothing besides.
  expect(succeed(await world.call('DELETE', `${at}/alone`))).toEqual({ id: 'alone', deleted: true })
})

test('a dry run of a revocation leaves the token valid', async () => {
  const before = await everything()
  const dry = await world.call('DELETE', `/v1/tokens/${spare.id}?dry_run=true`)
  expect(succeed(dry)).toEqual({ id: spare.id, deleted: true, dry_run: true })
  expect(await everything()).toBe(before)
  succeed(await world.as(spare.token)('GET', '/v1/bases'))
})

test('a dry run returns the answer of the real write', async () => {
  const still = (body: Body) => JSON.parse(JSON.stringify(body).replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, ''))
  const body = { data: { n: 7 }, external_id: 'real' }
  const dry = await world.call('PUT', `${at}/real?dry_run=true`, body)
  const real = await world.call('PUT', `${at}/real`, body)
  expect(still(dry.body)).toEqual({ ...still(real.body), dry_run: true })
  expect([dry.status, dry.headers.get('etag')]).toEqual([real.status, real.headers.get('etag')])
  succeed(await world.call('DELETE', `${at}/real`))
})

test('an import with dry_run in its body stores nothing', async () => {
  const before = await everything()
  const path = '/v1/crm/providers/anthropic/import'
  const dry = await world.call('POST', path, { tools: [TOOL], dry_run: true })
  expect(succeed(dry)).toMatchObject({ dry_run: true, meta: { count: 1 } })
  const both = await world.call('POST', `${path}?dry_run=true`, { tools: [TOOL], dry_run: false })
  expect(succeed(both)).toMatchObject({ dry_run: true })
  expect(await everything()).toBe(before)
})

test('dry_run true in the query holds, whatever the body of an SQL write says', async () => {
  const before = await everything()
  const statements = 'INSERT INTO node (id) VALUES ($1)'
  const dry = { statements, params: ['dry'], dry_run: false }
  expect(succeed(await world.call('POST', '/v1/crm/sql/execute?dry_run=true', dry))).toMatchObject({
    ...{ dry_run: true, meta: { count: 1 } },
  })
  expect(await everything()).toBe(before)
})

test('a dry run does not change cached types, schemas or grants', { tags: 'full' }, async () => {
  const put = (path: string, body: object) => world.call('PUT', `${path}?dry_run=true`, body)
  succeed(await put('/v1/crm/record-types/ghost', {}), 201)
  expectFailure(await world.call('PUT', '/v1/crm/records/ghost/a', { data: {} }), 'NOT_FOUND')
  expectFailure(await world.call('GET', '/v1/crm/records/ghost'), 'NOT_FOUND')

  const strict = { json_schema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } }
  succeed(await put('/v1/crm/record-types/task', strict))
  succeed(await world.call('PUT', `${at}/loose`, { data: {} }), 201)
  succeed(await put('/v1/crm/record-types/task', {}))
  expectFailure(await world.call('PUT', `${at}/loose`, { data: { n: 'x' } }), 'VALIDATION_ERROR')

  succeed(await world.call('DELETE', '/v1/bases/crm?confirm=crm&dry_run=true'))
  succeed(await world.as(spare.token)('PUT', `${at}/still`, { data: {} }), 201)
})

test('a dry run fails with the error of the real write', { tags: 'full' }, async () => {
  const before = await everything()
  for (const [method, path, body, code, headers] of [
    ['PUT', `${at}/x`, { data: { n: 'x' } }, 'VALIDATION_ERROR', {}],
    ['PUT', `${at}/x`, { dta: {} }, 'VALIDATION_ERROR', {}],
    ['POST', at, { id: 'a', data: {} }, 'CONFLICT', {}],
    ['PUT', `${at}/a`, { data: {} }, 'CONFLICT', { 'if-match': '"9"' }],
    ['DELETE', `${at}/none`, undefined, 'NOT_FOUND', {}],
    ['DELETE', '/v1/crm/record-types/task', undefined, 'CONFLICT', {}],
    ['DELETE', '/v1/bases/crm', undefined, 'CONFLICT', {}],
    ['PUT', '/v1/nobase/record-types/x', {}, 'NOT_FOUND', {}],
    ['POST', '/v1/tokens', { name: 't', grants: [] }, 'VALIDATION_ERROR', {}],
    ['POST', '/v1/tokens', { name: 't', grants: [{ ...GRANT, base: 'none' }] }, 'VALIDATION_ERROR', {}],
    ['DELETE', '/v1/tokens/none', undefined, 'NOT_FOUND', {}],
  ] as const)
    expectFailure(await world.call(method, `${path}?dry_run=true`, body, headers), code)
  const { call: reader } = await world.newToken([{ permission: 'read' }])
  expectFailure(await reader('PUT', `${at}/a?dry_run=true`, { data: {} }), 'FORBIDDEN')
  expect((await everything()).length).toBeGreaterThan(before.length)
})

test('dry_run=false writes', async () => {
  const made = await world.call('PUT', `${at}/wet?dry_run=false`, { data: {} })
  expect(succeed(made, 201)).not.toHaveProperty('dry_run')
  succeed(await world.call('GET', `${at}/wet`))
})

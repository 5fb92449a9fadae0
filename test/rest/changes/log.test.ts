// @module-tag full
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure, succeed } from '../../support/answers.ts'
import type { Answer } from '../../support/server.ts'
import { type LogRow, openWorld, patchJson, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const rowsOf = (requestId: string) =>
  world.database.query<LogRow>('SELECT * FROM plinth.change WHERE request_id = $1 ORDER BY seq', [requestId])

/** Sends a request with its own request id; returns the log entries of that request. */
async function logged(send: (headers: Record<string, string>) => Promise<Answer>): Promise<LogRow[]> {
  const id = `req-${Math.random().toString(36).slice(2)}`
  const answer = await send({ 'x-request-id': id })
  expect(answer.status, answer.text).toBeLessThan(300)
  return rowsOf(id)
}

test('every write of a record logs one entry with actor, surface, request id and resulting state', async () => {
  const type = await world.newType()
  const { id: tokenId, call } = await world.newToken([{ permission: 'write' }], { name: 'a writer' })
  const at = `/v1/crm/records/${type}/a`
  const pair = { external_id: 'e', external_source: 's' }
  const steps: [string, (headers: Record<string, string>) => Promise<Answer>, object][] = [
    ['create', (h) => call('PUT', at, { data: { n: 1 }, ...pair }, h), { n: 1 }],
    ['update', (h) => call('PUT', at, { data: { n: 2 } }, h), { n: 2 }],
    ['update', (h) => call('PATCH', at, { data: { n: 3 } }, h), { n: 3 }],
    ['update', (h) => patchJson(call, at, [{ op: 'add', path: '/data/n', value: 4 }], h), { n: 4 }],
    ['cancel', (h) => call('POST', `${at}/cancel`, undefined, h), { n: 4 }],
    ['restore', (h) => call('POST', `${at}/restore`, undefined, h), { n: 4 }],
    ['delete', (h) => call('DELETE', at, undefined, h), { n: 4 }],
    ['create', (h) => call('POST', `/v1/crm/records/${type}`, { id: 'a', data: { n: 5 } }, h), { n: 5 }],
  ]
  for (const [index, [operation, send, data]] of steps.entries()) {
    const rows = await logged(send)
    expect(rows, operation).toHaveLength(1)
    expect(rows[0]).toMatchObject({
      base_id: 'crm',
      kind: 'record',
      record_type: type,
      id: 'a',
      operation,
      version: index + 1,
      data,
      external_id: index < 7 ? 'e' : null,
      external_source: index < 7 ? 's' : null,
      token_id: tokenId,
      actor_name: 'a writer',
      via: 'rest',
    })
    expect(rows[0]?.cancelled_at === null).toBe(operation !== 'cancel')
  }
})

test('unchanged writes, reads, dry runs and failed requests log no entry', async () => {
  const type = await world.newType()
  const at = `/v1/crm/records/${type}/a`
  succeed(await world.call('PUT', at, { data: { n: 1 } }), 201)
  const silent = { 'x-request-id': 'silent' }
  for (const [method, path, body] of [
    ['PUT', at, { data: { n: 1 } }],
    ['PATCH', at, { data: {} }],
    ['POST', `${at}/restore`, undefined],
    ['GET', at, undefined],
    ['PUT', `${at}?dry_run=true`, { data: { n: 2 } }],
    ['DELETE', `${at}?dry_run=true`, undefined],
    ['PUT', at, { dta: 1 }],
    ['POST', `/v1/crm/records/${type}`, { id: 'a', data: {} }],
    ['PUT', '/v1/bases/crm', {}],
    ['PATCH', `/v1/crm/record-types/${type}`, {}],
  ] as const)
    await world.call(method, path, body, silent)
  expect(await rowsOf('silent')).toEqual([])
})

test('changes of bases, types and tokens are logged without secrets', async () => {
  const base = await logged((h) => world.call('PUT', '/v1/bases/logged', { name: 'L' }, h))
  expect(base).toMatchObject([{ base_id: 'logged', kind: 'base', operation: 'create', version: 1 }])
  const at = '/v1/logged/record-types/task'
  expect(await logged((h) => world.call('PUT', at, {}, h))).toMatchObject([
    { base_id: 'logged', kind: 'record_type', id: 'task', operation: 'create', version: 1 },
  ])
  expect(await logged((h) => world.call('PATCH', at, { name: 'T' }, h))).toMatchObject([
    { operation: 'update', version: 2, actor_name: 'admin' },
  ])
  expect(await logged((h) => world.call('DELETE', at, undefined, h))).toMatchObject([
    { operation: 'delete', version: 3 },
  ])
  let secret = ''
  const grants = [{ base: 'crm', record_type: '*', environment: '*', permission: 'read' }]
  const token = await logged(async (h) => {
    const answer = await world.call('POST', '/v1/tokens', { name: 't', grants }, h)
    secret = answer.body.token
    return answer
  })
  expect(token).toMatchObject([{ base_id: '', kind: 'token', operation: 'create' }])
  expect(secret).toMatch(/^plt_/)
  const found = await world.database.query<{ text: string }>(
    'SELECT c::text AS text FROM plinth.change c UNION ALL SELECT t::text FROM plinth.token t',
  )
  expect(found.filter(({ text }) => text.includes(secret.slice(4, -4)))).toEqual([])
  expect(await logged((h) => world.call('DELETE', `/v1/tokens/${token[0]?.id}`, undefined, h))).toMatchObject(
    [{ kind: 'token', operation: 'delete', version: 2 }],
  )
})

test('a write whose log entry cannot be inserted is rolled back', async () => {
  const type = await world.newType()
  const at = `/v1/crm/records/${type}`
  for (const id of ['a', 'b']) succeed(await world.call('PUT', `${at}/${id}`, { data: { n: 1 } }), 201)
  await world.database.query(
    `ALTER TABLE plinth.change ADD CONSTRAINT no_poison CHECK (request_id <> 'poison') NOT VALID`,
  )
  const poison = { 'x-request-id': 'poison' }
  const writes: [string, string, unknown][] = [
    ['PUT', `${at}/a`, { data: { n: 2 } }],
    ['PUT', `${at}/new`, { data: {} }],
    ['PUT', at, { data: {}, external_id: 'e' }],
    ['POST', at, { data: {} }],
    ['PATCH', `${at}/a`, { data: { n: 2 } }],
    ['POST', `${at}/a/cancel`, undefined],
    ['DELETE', `${at}/b`, undefined],
    ['PUT', '/v1/bases/poisoned', {}],
    ['PUT', `/v1/crm/record-types/${type}`, { name: 'x' }],
    ['DELETE', `/v1/crm/record-types/${type}?confirm=${type}`, undefined],
    ['DELETE', '/v1/bases/crm?confirm=crm', undefined],
    [
      'POST',
      '/v1/tokens',
      { name: 't', grants: [{ base: '*', record_type: '*', environment: '*', permission: 'read' }] },
    ],
  ]
  for (const [method, path, body] of writes) {
    const failed = await world.call(method, path, body, poison)
    expectFailure(failed, 'INTERNAL_ERROR')
    expect(failed.text).not.toContain('no_poison')
  }
  await world.database.query('ALTER TABLE plinth.change DROP CONSTRAINT no_poison')
  const list = succeed(await world.call('GET', `${at}?sort=id&include_total=true`))
  expect(list.data.map(({ id, version, status }: Record<string, unknown>) => [id, version, status])).toEqual([
    ['a', 1, 'active'],
    ['b', 1, 'active'],
  ])
  expectFailure(await world.call('GET', '/v1/bases/poisoned'), 'NOT_FOUND')
  expect(succeed(await world.call('GET', `/v1/crm/record-types/${type}`)).version).toBe(1)
})

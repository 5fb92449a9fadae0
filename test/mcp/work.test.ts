import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed, TIME, times, UUID7 } from '../support/answers.ts'
import { callTool, rpc } from '../support/mcp.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let token: string
beforeAll(async () => {
  world = await openWorld()
  token = (await world.newToken([{ permission: 'write' }])).token
})
afterAll(() => world.close())

const work = (args: Record<string, unknown>, as = token) =>
  callTool(world, '/mcp/crm', 'work', args, { token: as })

async function queue(count: number): Promise<string> {
  const type = await world.newType()
  for (const n of times(count, (i) => i))
    succeed(await world.call('PUT', `/v1/crm/records/${type}/r${n}`, { data: { n } }), 201)
  return type
}

test('a worker claims a record, extends the claim, writes with it and completes it', {
  tags: 'full',
}, async () => {
  const record_type = await queue(2)
  const { body, text } = await work({ action: 'claim', record_type, lease_seconds: 60 })
  expect(body).toMatchObject({
    data: [{ record: { id: 'r0', data: { n: 0 } } }],
    meta: { count: 1, limit: 1 },
  })
  expect(text).toMatch(/^Untrusted/)
  const { id, ...claim } = body.data[0].claim
  expect(claim).toEqual({ expires_at: expect.stringMatching(TIME), attempts: 1 })
  expect(id).toMatch(UUID7)
  expect((await work({ action: 'heartbeat', claim_id: id })).body).toMatchObject({ id, status: 'active' })

  const write = (name: string, data: object) =>
    callTool(world, '/mcp/crm', name, { record_type, id: 'r0', data, claim_id: id }, { token })
  expect((await write('update_record', { m: 1 })).body).toMatchObject({ data: { n: 0, m: 1 }, version: 2 })
  expect((await write('upsert_record', { n: 5 })).body).toMatchObject({ data: { n: 5 }, version: 3 })
  expect((await work({ action: 'complete', claim_id: id })).body).toMatchObject({ id, status: 'completed' })
  expect((await write('update_record', { m: 2 })).error).toMatchObject({
    code: 'CONFLICT',
    details: [{ path: '/claim_id', code: 'claim_lost' }],
  })

  const rest = await work({ action: 'claim', record_type, sort: '-data.n', limit: 5, max_attempts: 3 })
  expect(rest.body.data.map((each: Body) => each.record.id)).toEqual(['r1'])
  const released = await work({ action: 'release', claim_id: rest.body.data[0].claim.id })
  expect(released.body).toMatchObject({ status: 'released' })
})

test('a claimed record is cancelled or deleted only with its claim, alone or in a batch', {
  tags: 'full',
}, async () => {
  const record_type = await queue(2)
  const { body } = await work({ action: 'claim', record_type, limit: 2, sort: 'id' })
  const [first, second] = body.data.map(({ claim }: Body) => claim.id)
  const at = (name: string, args: object) => callTool(world, '/mcp/crm', name, { ...args }, { token })
  const lost = { code: 'CONFLICT', details: [{ path: '/claim_id', code: 'claim_of_another_record' }] }
  for (const name of ['cancel_record', 'delete_record'])
    expect((await at(name, { record_type, id: 'r0', claim_id: second })).error, name).toMatchObject(lost)
  const cancelled = await at('cancel_record', { record_type, id: 'r0', claim_id: first })
  expect(cancelled.body).toMatchObject({ status: 'cancelled', version: 2 })
  const deleted = await at('delete_record', { record_type, id: 'r0', claim_id: first })
  expect(deleted.body).toEqual({ id: 'r0', deleted: true })

  const operation = { type: 'delete_record', record_type, id: 'r1' }
  const refused = await at('batch', { operations: [{ ...operation, claim_id: first }] })
  expect(refused.error).toMatchObject({
    code: 'CONFLICT',
    details: [{ path: '/operations/0/claim_id', code: 'claim_of_another_record' }],
  })
  const done = await at('batch', { operations: [{ ...operation, claim_id: second }] })
  expect(done.body.data).toMatchObject([{ operation: 'deleted', id: 'r1' }])
  expect((await work({ action: 'heartbeat', claim_id: second })).error.details[0].code).toBe('claim_lost')
})

test('include shows the active claim of each record, and force releases it with manage on the type', {
  tags: 'full',
}, async () => {
  const record_type = await queue(2)
  const claimed = (await work({ action: 'claim', record_type, sort: 'id' })).body.data[0].claim
  const manager = (await world.newToken([{ record_type, permission: 'manage' }])).token
  const read = (name: string, args: object) =>
    callTool(world, '/mcp/crm', name, { record_type, ...args }, { token: manager })
  const holder = { token_id: expect.any(String), name: expect.any(String), kind: 'program' }
  const claim = expect.objectContaining({ id: claimed.id, record_id: 'r0', status: 'active', holder })
  const list = await read('query_records', { include: 'claim', sort: 'id' })
  expect(list.body.data.map((row: Body) => row.claim)).toEqual([claim, null])
  expect((await read('get_record', { id: 'r0', include: 'claim' })).body.claim).toEqual(claim)
  expect((await read('get_record', { id: 'r1', include: 'claim' })).body.claim).toBeNull()
  expect((await read('get_record', { id: 'r0' })).body).not.toHaveProperty('claim')
  const past = await read('get_record', { id: 'r0', include: 'claim', version: 1 })
  expect(past.error.details[0]).toMatchObject({ path: '/include', code: 'exclusive' })

  const release = (args: object, as = manager) => work({ action: 'release', ...args }, as)
  expect((await release({ claim_id: claimed.id })).error.details[0].code).toBe('claim_of_another_token')
  const { token: writer } = await world.newToken([{ record_type, permission: 'write' }])
  expect((await release({ claim_id: claimed.id, force: true }, writer)).error.code).toBe('FORBIDDEN')
  const listed = await release({ claim_ids: [claimed.id], force: true })
  expect(listed.error.details[0]).toMatchObject({ path: '/force', code: 'exclusive' })
  const other = await work({ action: 'complete', claim_id: claimed.id, force: true }, manager)
  expect(other.error.details[0]).toMatchObject({ path: '/force', code: 'unknown_key' })
  expect((await read('get_record', { id: 'r0', include: 'claim' })).body.claim).toEqual(claim)
  expect((await release({ claim_id: claimed.id, force: true })).body.status).toBe('released')
  expect((await read('get_record', { id: 'r0', include: 'claim' })).body.claim).toBeNull()
})

test('a dry_run claims nothing, and a repeated idempotency_key returns the same claim', {
  tags: 'full',
}, async () => {
  const record_type = await queue(2)
  expect((await work({ action: 'claim', record_type, dry_run: true })).body).toMatchObject({ dry_run: true })
  const args = { action: 'claim', record_type, idempotency_key: 'once' }
  const [first, again] = [await work(args), await work(args)]
  expect(again.body).toEqual(first.body)
  expect(first.body.data[0].record.id).toBe('r0')
})

test('a wait requires only read permission, and ends with the first match', { tags: 'full' }, async () => {
  const record_type = await queue(0)
  const other = await queue(0)
  const grants = [
    { record_type, permission: 'read' },
    { record_type: other, permission: 'write' },
  ]
  const reader = (await world.newToken(grants)).token
  const filter = { field: 'data.n', op: 'eq', value: 1 }
  expect((await work({ action: 'wait', record_type, filter, timeout: 0 }, reader)).body.data).toEqual([])
  const waiting = work({ action: 'wait', record_type, filter, timeout: 20 }, reader)
  succeed(await world.call('PUT', `/v1/crm/records/${record_type}/r1`, { data: { n: 1 } }), 201)
  expect((await waiting).body.data).toMatchObject([{ id: 'r1', data: { n: 1 } }])
  expect((await work({ action: 'claim', record_type }, reader)).error.code).toBe('FORBIDDEN')
})

const isDone = {
  and: [
    { field: 'data.done', op: 'eq', value: true },
    { field: 'previous.data.done', op: 'is_null' },
  ],
}

test('a wait for a change ends with the first change that meets the condition, and the next one goes on after it', {
  tags: 'full',
}, async () => {
  const record_type = await queue(2)
  const put = async (id: string, data: object) =>
    succeed(await world.call('PUT', `/v1/crm/records/${record_type}/${id}`, { data }))
  const { token: reader } = await world.newToken([{ record_type, permission: 'read' }])
  const wait = (args: object) => work({ action: 'wait', record_type, condition: isDone, ...args }, reader)
  const { next_after: after } = (await wait({ timeout: 0 })).body.meta
  const first = wait({ after })
  await put('r0', { n: 7 })
  await put('r0', { n: 7, done: true })
  await put('r1', { done: true })
  const { body } = await first
  expect(body.data).toMatchObject([{ id: 'r0', operation: 'update', version: 3, kind: 'record' }])
  const second = (await wait({ after: body.meta.next_after })).body
  expect(second.data).toMatchObject([{ id: 'r1', version: 2 }])
  const none = (await wait({ after: second.meta.next_after, timeout: 0 })).body
  expect(none).toEqual({ data: [], meta: { next_after: expect.any(Number) } })
})

test('a wait for a change shows no changes of types that the token cannot read', {
  tags: 'full',
}, async () => {
  const [record_type, shut] = [await queue(1), await queue(1)]
  const { token: reader } = await world.newToken([{ record_type, permission: 'read' }])
  for (const type of [shut, record_type])
    succeed(await world.call('PUT', `/v1/crm/records/${type}/r0`, { data: { done: true } }))
  const { body } = await work({ action: 'wait', condition: isDone, after: 0 }, reader)
  expect(body.data).toMatchObject([{ record_type, id: 'r0', version: 2 }])
  const refused = await work({ action: 'wait', condition: isDone, record_type: shut }, reader)
  expect(refused.error.code).toBe('FORBIDDEN')
})

test('a read token sees and may use only the action "wait" of the work tool', { tags: 'full' }, async () => {
  const record_type = await queue(1)
  const reader = (await world.newToken([{ permission: 'read' }])).token
  const shownAt = async (path: string, token: string): Promise<Body> => {
    const { body } = await rpc(world, path, 'tools/list', {}, { token })
    return body.result.tools.find(({ name }: Body) => name === 'work')
  }
  const narrow = await shownAt('/mcp/crm', reader)
  expect(narrow.annotations).toEqual({ title: 'Work', readOnlyHint: true, openWorldHint: false })
  expect(narrow.inputSchema.properties.action.enum).toEqual(['wait'])
  expect(narrow.inputSchema.required).toEqual(['action'])
  expect(Object.keys(narrow.inputSchema.properties)).not.toContain('claim_id')
  const whole = await shownAt('/mcp/crm', token)
  expect(whole.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true })
  expect(whole.inputSchema.properties.action.enum).toHaveLength(5)
  // ?readonly=1 narrows the tool for a token that may write, too.
  expect(await shownAt('/mcp/crm?readonly=1', token)).toEqual(narrow)
  expect((await shownAt('/mcp', reader)).inputSchema.required).toEqual(['base_id', 'action'])

  const wait = { action: 'wait', record_type, timeout: 0 }
  for (const [path, as] of [
    ['/mcp/crm', reader],
    ['/mcp/crm?readonly=1', token],
  ] as const) {
    const at = (args: object) => callTool(world, path, 'work', { ...args }, { token: as })
    expect((await at(wait)).body.data, path).toMatchObject([{ id: 'r0' }])
    expect((await at({ action: 'claim', record_type })).error.code, path).toBe('FORBIDDEN')
    const { body } = await work({ action: 'claim', record_type, lease_seconds: 60 })
    const claim_id = body.data[0].claim.id
    for (const action of ['heartbeat', 'release', 'complete'])
      expect((await at({ action, claim_id })).error.code, `${path} ${action}`).toBe('FORBIDDEN')
    expect((await work({ action: 'release', claim_id })).body.status).toBe('released')
    const misspelt = (await at({ ...wait, timout: 1 })).error.details[0]
    expect(misspelt).toMatchObject({ path: '/timout', hint: 'timeout' })
  }
  const blind = (await world.newToken([{ base: 'crm', record_type: await queue(0), permission: 'read' }]))
    .token
  expect((await work(wait, blind)).error.code).toBe('FORBIDDEN')
})

test.each<[Record<string, unknown>, string, string]>([
  [{ action: 'grab' }, '/action', 'enum'],
  [{ action: 'claim' }, '/record_type', 'required'],
  [{ action: 'complete' }, '/claim_id', 'required'],
  [{ action: 'complete', claim_id: 'x', limit: 2 }, '/limit', 'unknown_key'],
  [{ action: 'wait', record_type: 'type1', lease_seconds: 5 }, '/lease_seconds', 'unknown_key'],
  [{ action: 'wait', record_type: 'type1', dry_run: true }, '/dry_run', 'unknown_key'],
  [{ action: 'wait' }, '/record_type', 'required'],
  [{ action: 'wait', after: 1 }, '/condition', 'required'],
  [{ action: 'wait', condition: {}, filter: {} }, '/filter', 'unknown_key'],
  [{ action: 'wait', record_type: 'type1', timeout: 61 }, '/timeout', 'out_of_range'],
  [{ action: 'claim', record_type: 'type1', limit: 101 }, '/limit', 'out_of_range'],
  [{ action: 'claim', record_type: 'type1', claim: 'x' }, '/claim', 'unknown_key'],
])('the work tool refuses %j and names the argument', async (args, path, code) => {
  const { error } = await work(args)
  expect(error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path, code }] })
})

test('an unknown claim is NOT_FOUND', async () => {
  expect((await work({ action: 'release', claim_id: 'nothing' })).error).toMatchObject({
    code: 'NOT_FOUND',
    details: [{ path: '/claim_id', code: 'claim_not_found' }],
  })
})

test('a list of claims is worked on at once; a lost one is named and does not keep the others', {
  tags: 'full',
}, async () => {
  const record_type = await queue(3)
  const { body } = await work({ action: 'claim', record_type, limit: 3 })
  const [first, second, third] = body.data.map(({ claim }: Body) => claim.id)
  const beats = await work({
    action: 'heartbeat',
    claim_ids: [first, second, third, first],
    lease_seconds: 60,
  })
  expect(beats.body).toMatchObject({ data: times(3, () => ({ status: 'active' })), meta: { count: 3 } })
  expect(beats.body.meta).not.toHaveProperty('refused')
  expect((await work({ action: 'release', claim_id: second })).body.status).toBe('released')
  const dry = await work({ action: 'complete', claim_ids: [first], dry_run: true })
  expect(dry.body).toMatchObject({ data: [{ status: 'completed' }], dry_run: true })
  const done = {
    action: 'complete',
    claim_ids: [first, second, 'none', third],
    idempotency_key: `k-${first}`,
  }
  const { body: result } = await work(done)
  expect(result).toEqual({
    data: [
      expect.objectContaining({ id: first, status: 'completed' }),
      { id: second, error: { code: 'claim_lost', message: expect.any(String) } },
      { id: 'none', error: { code: 'claim_not_found', message: expect.any(String) } },
      expect.objectContaining({ id: third, status: 'completed' }),
    ],
    meta: { count: 4, refused: 2 },
  })
  expect((await work(done)).body).toEqual(result)
  expect((await work({ action: 'claim', record_type, limit: 3 })).body.meta.count).toBe(1)
})

test('a list of claims is refused when it is empty, too long, or beside a claim_id', async () => {
  const code = async (args: Record<string, unknown>) => {
    const { error } = await work({ action: 'release', ...args })
    return [error.code, error.details[0].path]
  }
  const faulty = ['VALIDATION_ERROR', '/claim_ids']
  expect(await code({ claim_ids: [] })).toEqual(faulty)
  expect(await code({ claim_ids: times(101, (i) => `c${i}`) })).toEqual(faulty)
  expect(await code({ claim_ids: ['a'], claim_id: 'a' })).toEqual(faulty)
  expect(await code({})).toEqual(['VALIDATION_ERROR', '/claim_id'])
})

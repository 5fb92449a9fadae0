import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { callTool } from '../support/mcp.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/record-types/note', {}), 201)
})
afterAll(() => world.close())

const call = (name: string, args: Record<string, unknown>, send = {}) =>
  callTool(world, '/mcp/crm', name, args, send)
const put = async (id: string, data: object, request: string) =>
  expect(
    (await world.call('PUT', `/v1/crm/records/note/${id}`, { data }, { 'x-request-id': request })).status,
  ).toBeLessThan(300)
const dataOf = async (id: string) => (await world.call('GET', `/v1/crm/records/note/${id}`)).body.data

test('changes lists what requests did, with old values when asked', { tags: 'full' }, async () => {
  await put('a', { n: 1 }, 'one')
  await put('a', { n: 2 }, 'two')
  const { body: groups } = await call('changes', { group: 'request', record_type: 'note' })
  expect(groups.data.map(({ request_id }: { request_id: string }) => request_id)).toEqual(['two', 'one'])
  const { body } = await call('changes', { request_id: 'two', include: 'before' })
  const both = await call('changes', { request_id: 'two', include: 'before,titles' })
  expect(both.body.data).toMatchObject(body.data)
  expect(both.body.data.every((each: object) => 'title' in each)).toBe(true)
  expect((await call('changes', { trace: 2 ** 40 })).error.details[0].path).toBe('/trace')
  expect(body.data[0].diff).toEqual([{ op: 'replace', path: '/data/n', value: 2, before: 1 }])
  const { error } = await call('changes', { operation: 'updte' })
  expect(error).toMatchObject({ code: 'VALIDATION_ERROR' })
})

test('undo answers a plan, and its token alone carries it out', async () => {
  await put('b', { n: 1 }, 'first')
  await put('b', { n: 2 }, 'second')
  const { body: plan } = await call('undo', { request_id: 'second' })
  expect(plan.plan.what).toBe('Undoes 1 change: updates 1 note.')
  expect(plan.plan.count).toBe(1)
  expect(await dataOf('b')).toEqual({ n: 2 })
  const { body: done, text } = await call('undo', { plan_token: plan.plan_token })
  expect(done, text).toMatchObject({ count: 1 })
  expect(await dataOf('b')).toEqual({ n: 1 })
})

test('a plan that something has overtaken is refused', { tags: 'full' }, async () => {
  await put('c', { n: 1 }, 'c-1')
  await put('c', { n: 2 }, 'c-2')
  const { body: plan } = await call('undo', { request_id: 'c-2' })
  await put('c', { n: 3 }, 'c-3')
  const { error } = await call('undo', { plan_token: plan.plan_token })
  expect(error.code).toBe('CONFLICT')
  expect(await dataOf('c')).toEqual({ n: 3 })
})

test('the plan of an undo lists what was changed since, and its token undoes the rest', {
  tags: 'full',
}, async () => {
  for (const id of ['g', 'h']) await put(id, { n: 1 }, 'g-1')
  for (const id of ['g', 'h']) await put(id, { n: 2 }, 'g-2')
  await put('h', { n: 3 }, 'g-3')
  const { body } = await call('changes', { request_id: 'g-3' })
  const [{ seq: later }] = body.data
  const asked = { request_id: 'g-2' }
  const { body: plan } = await call('undo', asked)
  expect(plan.plan).toMatchObject({
    what: 'Undoes 1 change: updates 1 note. Skips 1.',
    samples: ['note/g'],
    skipped: [{ record_type: 'note', id: 'h', overtaken_by: later, code: 'overtaken' }],
    skipped_count: 1,
  })
  expect(plan.next).toContain('send on_conflict "force"')
  expect(await dataOf('g')).toEqual({ n: 2 })
  const refused = await call('undo', { ...asked, on_conflict: 'fail' })
  expect(refused.error).toMatchObject({ code: 'CONFLICT', details: [{ code: 'overtaken', expected: later }] })
  const { body: done } = await call('undo', { plan_token: plan.plan_token })
  expect(done).toMatchObject({ count: 1, skipped: [{ id: 'h' }] })
  expect([await dataOf('g'), await dataOf('h')]).toEqual([{ n: 1 }, { n: 3 }])
  const { body: none } = await call('undo', asked)
  expect(none).toMatchObject({ count: 0, skipped_count: 1, next: expect.stringContaining('Nothing can be') })
  expect(none).not.toHaveProperty('plan_token')
})

test('undo of a migration takes back the type with its records, or neither', { tags: 'full' }, async () => {
  const define = (args: object) => call('define', { record_type: 'bill', ...args })
  const json_schema = { type: 'object', properties: { sum: { type: 'number' } } }
  await define({ json_schema })
  const at = '/v1/crm/records/bill/b1'
  succeed(await world.call('PUT', at, { data: { sum: 1 } }), 201)
  const bill = async () => [
    (await world.call('GET', at)).body.data,
    Object.keys((await world.call('GET', '/v1/crm/record-types/bill')).body.json_schema.properties),
  ]
  const rename = async () => {
    await define({ migration: [{ op: 'rename', field: 'sum', to: 'total' }] })
    const { body } = await call('changes', { kind: 'record_type', id: 'bill', order: 'desc', limit: 1 })
    return { request_id: body.data[0].request_id }
  }
  const first = await call('undo', await rename())
  expect(await bill()).toEqual([{ total: 1 }, ['total']])
  expect(first.body.plan, first.text).toMatchObject({ count: 2 })
  expect(first.body.plan).not.toHaveProperty('skipped')
  await call('undo', { plan_token: first.body.plan_token })
  expect(await bill()).toEqual([{ sum: 1 }, ['sum']])

  const again = await rename()
  await define({ description: 'Money.' })
  const { body } = await call('undo', again)
  expect(body).toMatchObject({
    count: 0,
    skipped: [
      { kind: 'record_type', code: 'overtaken' },
      { kind: 'record', code: 'refused' },
    ],
  })
  expect(await bill()).toEqual([{ total: 1 }, ['total']])
})

test('undo of nothing in particular says what it takes', async () => {
  const { error } = await call('undo', { record_type: 'note' })
  expect(error.details).toMatchObject([
    {
      path: '/request_id',
      message: expect.stringContaining('Send request_id, seq for one change, or actor'),
    },
  ])
})

test('undo takes back one change by its seq', { tags: 'full' }, async () => {
  await put('d', { n: 1 }, 'd-1')
  await put('d', { n: 2 }, 'd-2')
  const { body } = await call('changes', { request_id: 'd-2' })
  const { body: plan } = await call('undo', { seq: body.data[0].seq })
  await call('undo', { plan_token: plan.plan_token })
  expect(await dataOf('d')).toEqual({ n: 1 })
})

test('undo of a deletion by its seq brings back what went with it, once', { tags: 'full' }, async () => {
  succeed(
    await world.call('PUT', '/v1/crm/relationship-types/about', {
      source_record_types: ['note'],
      target_record_types: ['note'],
      on_delete: 'cascade',
    }),
    201,
  )
  for (const id of ['e', 'under', 'beside', 'other']) await put(id, { n: 1 }, `e-${id}`)
  const link = (source_id: string, target_id: string) =>
    world.call('POST', '/v1/crm/relationships', {
      rel_type: 'about',
      source_record_type: 'note',
      source_id,
      target_record_type: 'note',
      target_id,
    })
  for (const [source, target] of [
    ['under', 'e'],
    ['e', 'beside'],
    ['other', 'beside'],
  ] as const)
    succeed(await link(source, target), 201)
  const linked = async () => {
    const { data } = succeed(await world.call('GET', '/v1/crm/relationships'))
    return data.map((each: Record<string, unknown>) => `${each['source_id']} ${each['target_id']}`).sort()
  }
  const before = await linked()
  const deleted = await call('batch', {
    operations: [{ type: 'delete_record', record_type: 'note', id: 'e' }],
  })
  await call('batch', { plan_token: deleted.body.plan_token })
  expect(await linked()).toEqual(['other beside'])
  // The same request deletes something else, which stays deleted.
  const { body: log } = await call('changes', { operation: 'delete', id: 'e', order: 'desc', limit: 1 })
  const { body: plan } = await call('undo', { seq: log.data[0].seq })
  expect(plan.plan).toEqual({
    what: 'Undoes 4 changes: creates 2 relationships, restores 2 note.',
    count: 4,
    samples: expect.arrayContaining(['note/e', 'note/under']),
  })
  const { body: done } = await call('undo', { plan_token: plan.plan_token })
  expect(done).toMatchObject({ request_id: expect.any(String), count: 4 })
  expect(await linked()).toEqual(before)
  const again = await call('undo', { seq: log.data[0].seq })
  expect(again.body.count ?? again.body.plan?.count).toBe(0)
})

test('since and until can be an age', { tags: 'full' }, async () => {
  await put('f', { n: 1 }, 'f-1')
  const made = await world.newToken([{ permission: 'write' }], { name: 'bot' })
  succeed(await made.call('PATCH', '/v1/crm/records/note/f', { data: { n: 2 } }))
  for (const since of ['2h', '1 hour ago', '-30m', 'now-7d', 'PT2H', 'P1DT30M']) {
    const { body } = await call('undo', { actor: 'bot', since, dry_run: true })
    expect(body.count ?? body.plan?.count, since).toBe(1)
  }
  const { body: listed } = await call('changes', { actor: 'bot', until: '1h' })
  expect(listed.data).toEqual([])
  const { body: plan } = await call('undo', { actor: 'bot', since: '2h' })
  await call('undo', { plan_token: plan.plan_token })
  expect(await dataOf('f')).toEqual({ n: 1 })
  for (const since of ['soon', '2 months ago', 'yesterday', 'P', 'PT', 'P2M', '']) {
    const { error } = await call('undo', { actor: 'bot', since })
    expect(error.details[0], since).toMatchObject({ path: '/since', code: 'invalid_time' })
  }
})

describe('undo without arguments', () => {
  const own = () => world.newToken([{ permission: 'manage' }])
  const write = async (statements: string, token: string) => {
    const { body, text } = await call('sql_write', { statements }, { token })
    expect(body, text).toHaveProperty('data')
  }
  const undo = (args: Record<string, unknown>, token: string) => call('undo', args, { token })
  const confirmed = async (token: string) => {
    const { body: plan, text } = await undo({}, token)
    expect(plan, text).toHaveProperty('plan_token')
    return (await undo({ plan_token: plan.plan_token }, token)).body
  }

  test('plans the last request of its token, and names it', { tags: 'full' }, async () => {
    const { token } = await own()
    await put('l1', { n: 1 }, 'l-1')
    await write(`UPDATE note SET data = '{"n": 2}' WHERE id = 'l1'`, token)
    // Neither a read nor the write of another token is the last one.
    await put('l2', { n: 1 }, 'l-2')
    await call('sql_query', { query: 'SELECT id FROM note' }, { token })
    const { body: plan } = await undo({}, token)
    expect(plan.plan).toEqual({
      what: 'Undoes 1 change: updates 1 note.',
      of: { request_id: expect.any(String), at: expect.any(String), tool: 'sql_write' },
      count: 1,
      samples: ['note/l1'],
    })
    expect(await dataOf('l1')).toEqual({ n: 2 })
    const { body: done } = await undo({ plan_token: plan.plan_token }, token)
    expect(done).toMatchObject({ count: 1, of: plan.plan.of })
    expect(await dataOf('l1')).toEqual({ n: 1 })
    expect(await dataOf('l2')).toEqual({ n: 1 })
  })

  test('goes further back each time, and undoes no undo', { tags: 'full' }, async () => {
    const { token } = await own()
    await put('m', { n: 0 }, 'm-0')
    for (const n of [1, 2, 3]) await write(`UPDATE note SET data = '{"n": ${n}}' WHERE id = 'm'`, token)
    for (const n of [2, 1, 0]) {
      expect(await confirmed(token)).toMatchObject({ count: 1 })
      expect(await dataOf('m')).toEqual({ n })
    }
    const { error } = await undo({}, token)
    expect(error).toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringMatching(/^Nothing is left to undo\. All 6 of the latest requests of this token/),
      details: [{ code: 'change_not_found' }],
    })
    const [latest] = error.details[0].samples
    expect(latest).toEqual({
      ...{ request_id: expect.any(String), actor: expect.any(String), tool: 'undo', at: expect.any(String) },
      ...{ count: 1, what: 'update 1 note' },
    })
    expect(await dataOf('m')).toEqual({ n: 0 })
    // A new write is the last one again; what was redone is undone again.
    await write(`UPDATE note SET data = '{"n": 4}' WHERE id = 'm'`, token)
    const done = await confirmed(token)
    const redo = await undo({ request_id: done.request_id }, token)
    await undo({ plan_token: redo.body.plan_token }, token)
    expect(await dataOf('m')).toEqual({ n: 4 })
    await confirmed(token)
    expect(await dataOf('m')).toEqual({ n: 0 })
  })

  test('confirms the request that was planned, whatever the token wrote since', {
    tags: 'full',
  }, async () => {
    const { token } = await own()
    await put('o1', { n: 0 }, 'o-1')
    await put('o2', { n: 0 }, 'o-2')
    await write(`UPDATE note SET data = '{"n": 1}' WHERE id = 'o1'`, token)
    const { body: plan } = await undo({}, token)
    await write(`UPDATE note SET data = '{"n": 1}' WHERE id = 'o2'`, token)
    const { body: done } = await undo({ plan_token: plan.plan_token }, token)
    expect(done).toMatchObject({ count: 1 })
    expect([await dataOf('o1'), await dataOf('o2')]).toEqual([{ n: 0 }, { n: 1 }])
  })

  test('a plan that is confirmed twice does not go on to the request before', async () => {
    const { token } = await own()
    await write(`INSERT INTO note (id) VALUES ('twice-1')`, token)
    await write(`INSERT INTO note (id) VALUES ('twice-2')`, token)
    const { body: plan } = await undo({}, token)
    expect((await undo({ plan_token: plan.plan_token }, token)).body).toMatchObject({ count: 1 })
    const { body: again } = await undo({ plan_token: plan.plan_token }, token)
    expect(again).toMatchObject({ count: 0, of: plan.plan.of })
    expect(await dataOf('twice-1')).toEqual({})
  })

  test('says so when something has overtaken the last request, rather than undo the one before', {
    tags: 'full',
  }, async () => {
    const { token } = await own()
    await put('q1', { n: 0 }, 'q-1')
    await write(`UPDATE note SET data = '{"n": 1}' WHERE id = 'q1'`, token)
    await write(`UPDATE note SET data = '{"n": 2}' WHERE id = 'q1'`, token)
    await put('q1', { n: 3 }, 'q-3')
    const { body } = await undo({}, token)
    expect(body).toMatchObject({ count: 0, skipped: [{ id: 'q1', code: 'overtaken' }] })
    expect(body).not.toHaveProperty('plan_token')
  })

  test('goes on after an undo that had to leave something', { tags: 'full' }, async () => {
    const { token } = await own()
    for (const id of ['r1', 'r2', 'r3']) await put(id, { n: 0 }, `${id}-0`)
    await write(`UPDATE note SET data = '{"n": 1}' WHERE id = 'r3'`, token)
    await write(`UPDATE note SET data = '{"n": 1}' WHERE id IN ('r1', 'r2')`, token)
    await put('r2', { n: 5 }, 'r2-5')
    expect(await confirmed(token)).toMatchObject({ count: 1, skipped_count: 1 })
    expect(await confirmed(token)).toMatchObject({ count: 1 })
    expect([await dataOf('r1'), await dataOf('r2'), await dataOf('r3')]).toEqual([
      { n: 0 },
      { n: 5 },
      { n: 0 },
    ])
  })

  test('undoes a definition, with the records that it changed', { tags: 'full' }, async () => {
    const { token } = await own()
    succeed(
      await world.call('PUT', '/v1/crm/record-types/offer', {
        json_schema: { type: 'object', properties: { sum: { type: 'number' } } },
      }),
      201,
    )
    succeed(await world.call('PUT', '/v1/crm/records/offer/1', { data: { sum: 1 } }), 201)
    const migration = [{ op: 'rename', field: 'sum', to: 'total' }]
    await call('define', { record_type: 'offer', migration }, { token })
    expect(await confirmed(token)).toMatchObject({ count: 2, of: { tool: 'define' } })
    const { body } = await world.call('GET', '/v1/crm/records/offer/1')
    expect(body.data).toEqual({ sum: 1 })
  })

  test('is about no request of another token, whatever its name', { tags: 'full' }, async () => {
    const { token, id } = await own()
    const none = await undo({}, token)
    expect(none.error).toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('has no request of this token'),
      details: [{ code: 'change_not_found' }],
    })
    const named = await undo({ request_id: 'nope', record_type: 'note' }, token)
    expect(named.error.message).toContain('matches record_type "note", request_id "nope"')
    expect(named.error.details[0].samples.length).toBeGreaterThan(0)
    await put('s', { n: 0 }, 's-0')
    const other = await world.newToken([{ permission: 'write' }], { name: id })
    await write(`UPDATE note SET data = '{"n": 1}' WHERE id = 's'`, other.token)
    expect((await undo({}, token)).error).toMatchObject({ code: 'NOT_FOUND' })
    const reader = await world.newToken([{ permission: 'read' }])
    expect((await undo({}, reader.token)).error.code).toBe('FORBIDDEN')
    expect(await dataOf('s')).toEqual({ n: 1 })
  })

  test('a dry run changes nothing, and REST takes the same as last', { tags: 'full' }, async () => {
    const { token, call: rest } = await own()
    await put('t', { n: 0 }, 't-0')
    await write(`UPDATE note SET data = '{"n": 1}' WHERE id = 't'`, token)
    const { body: dry } = await undo({ dry_run: true }, token)
    expect(dry).toMatchObject({ dry_run: true, count: 1, of: { tool: 'sql_write' } })
    const at = '/v1/crm/revert'
    const planned = succeed(await rest('POST', `${at}?dry_run=true`, { last: true }))
    expect(planned).toMatchObject({ count: 1, last: { request_id: dry.of.request_id, via: 'mcp' } })
    expect(await dataOf('t')).toEqual({ n: 1 })
    for (const body of [{}, { last: false }]) expect((await rest('POST', at, body)).status).toBe(400)
    const both = await rest('POST', at, { last: true, request_id: 't-0' })
    expect(both.body.error.details).toMatchObject([{ path: '/request_id', code: 'exclusive' }])
    expect(await dataOf('t')).toEqual({ n: 1 })
    succeed(await rest('POST', at, { last: true }))
    expect(await dataOf('t')).toEqual({ n: 0 })
  })
})

test('undo needs write, and is hidden at a read-only address', async () => {
  const reader = await world.newToken([{ permission: 'read' }])
  const { error } = await call('undo', { request_id: 'one' }, { token: reader.token })
  expect(error.code).toBe('FORBIDDEN')
  const { rpcError } = await callTool(world, '/mcp/crm?readonly=true', 'undo', { request_id: 'one' })
  expect(rpcError.code).toBe(-32602)
})

test('undo without a target names the other latest requests before its plan', { tags: 'full' }, async () => {
  await put('rr1', { n: 1 }, 'recent-rest')
  const made = await call('upsert_record', { record_type: 'note', id: 'rr2', data: { n: 1 } })
  expect(made.body.operation).toBe('created')
  const { body } = await call('undo', {})
  expect(Object.keys(body)[0]).toBe('recent')
  expect(body.plan.samples).toEqual(['note/rr2'])
  expect(body.recent[0]).toMatchObject({
    ...{ request_id: 'recent-rest', via: 'rest', count: 1, what: 'create 1 note' },
  })
  expect(body.recent.map(({ request_id }: { request_id: string }) => request_id)).not.toContain(
    body.plan.of.request_id,
  )
  const named = await call('undo', { request_id: 'recent-rest' })
  expect(named.body).not.toHaveProperty('recent')
})

describe('an answer of changes that is cut', () => {
  const wide = (n: number) => `${n} ${'wide '.repeat(300)}`
  const NEWEST = 12
  beforeAll(async () => {
    for (let n = 1; n <= NEWEST; n++) await put('long', { text: wide(n) }, `long-${n}`)
    await call('update_record', { record_type: 'note', id: 'long', data: { text: wide(13) } })
  })
  const tokensOf = (text: string) => Buffer.byteLength(text) / 4
  const versions = (rows: readonly Body[]) => rows.map(({ version }) => version)
  const about = { record_type: 'note', id: 'long' }

  test('says first how many there are and by whom, then shows the newest, shortened, in less than the budget', {
    tags: 'full',
  }, async () => {
    const { body, text } = await call('changes', about)
    expect(Object.keys(body)).toEqual(['matches', 'data', 'meta'])
    expect(body.matches).toMatchObject({
      ...{ count: 13, requests: 13, by_tool: { rest: 12, update_record: 1 } },
      latest_requests: expect.arrayContaining([
        {
          request_id: 'long-12',
          actor: expect.any(String),
          via: 'rest',
          at: expect.any(String),
          count: 1,
          what: 'update 1 note',
        },
      ]),
    })
    expect(versions(body.data).slice(0, 3)).toEqual([13, 12, 11])
    expect(body.data.length).toBeGreaterThan(4)
    expect(body.data[0].diff[0].value.length).toBeLessThan(wide(13).length)
    expect(body.meta.truncated[0]).toMatch(/^\/data\/0\/diff/)
    expect(tokensOf(text)).toBeLessThan(1600)
    expect(body.meta).toMatchObject({ has_more: true, next_before: body.data.at(-1).seq })
    const next = await call('changes', { ...about, order: 'desc', before: body.meta.next_before })
    expect(versions(next.body.data)[0]).toBe(body.data.at(-1).version - 1)
  })

  test('keeps to small budgets, with fewer requests', { tags: 'full' }, async () => {
    for (const max_tokens of [200, 300, 600]) {
      const { body, text } = await call('changes', { ...about, max_tokens })
      expect(tokensOf(text)).toBeLessThanOrEqual(max_tokens)
      expect(body.matches).toMatchObject({ count: 13, requests: 13 })
      expect(body.matches.latest_requests).toHaveLength(max_tokens / 100 - 1)
      expect(body.meta.next_before).toEqual(expect.any(Number))
    }
  })

  test('keeps the order and the start that the call names, and goes on without a gap', async () => {
    const seen: number[] = []
    let start = 0
    for (let more = true; more; ) {
      const { body } = await call('changes', { ...about, after: start })
      seen.push(...versions(body.data))
      more = body.meta.has_more
      start = body.meta.next_after
    }
    expect(seen).toEqual(Array.from({ length: 13 }, (_, n) => n + 1))
    const { body } = await call('changes', { ...about, order: 'asc' })
    expect(versions(body.data)[0]).toBe(1)
    expect(body.matches.count).toBe(13)
  })

  test('of SQL is counted and turned likewise, unless the query orders it', { tags: 'full' }, async () => {
    const query = `SELECT seq, version, actor_name, call, request_id, data FROM changes WHERE id = :id; `
    const { body, text } = await call('sql_query', { query, params: { id: 'long' } })
    expect(Object.keys(body)[0], text).toBe('matches')
    expect(body.matches.count).toBe(13)
    expect(body.matches.latest.slice(0, 2)).toMatchObject([
      { tool: 'update_record', count: 1 },
      { tool: null, request_id: 'long-12', count: 1 },
    ])
    expect(versions(body.data).slice(0, 2)).toEqual([13, 12])
    expect(tokensOf(text)).toBeLessThan(1600)
    const small = await call('sql_query', { query, params: { id: 'long' }, max_tokens: 200 })
    expect(tokensOf(small.text)).toBeLessThanOrEqual(200)
    expect(small.body.matches.latest).toHaveLength(3)
    const ordered = await call('sql_query', {
      query: "SELECT version, data FROM changes WHERE id = 'long' ORDER BY seq",
    })
    expect(ordered.body.matches).toEqual({ count: 13 })
    expect(versions(ordered.body.data)[0]).toBe(1)
    const short = await call('sql_query', { query: "SELECT version FROM changes WHERE id = 'long'" })
    expect(short.body).not.toHaveProperty('matches')
    expect(short.body.data).toHaveLength(13)
  })
})

test.each([
  ['SELECT record_id FROM changes', 'id'],
  ['SELECT actor FROM changes', 'actor_name'],
  ['SELECT old_data FROM changes', 'data_before'],
  ['SELECT modified_at FROM note', 'updated_at'],
  ['SELECT relationship_type FROM relationships', 'rel_type'],
])('the column that is meant by %s is %s', async (query, hint) => {
  const { error } = await call('sql_query', { query })
  expect(error.details[0]).toMatchObject({ code: 'unknown_column', hint })
})

test('SQL shows cancelled records, and refuses look-around, as its text says', { tags: 'full' }, async () => {
  await put('gone', { n: 1 }, 'gone-1')
  await call('cancel_record', { record_type: 'note', id: 'gone' })
  const { body } = await call('sql_query', { query: "SELECT status FROM note WHERE id = 'gone'" })
  expect(body.data).toEqual([{ status: 'cancelled' }])
  const { error } = await call('sql_query', { query: "SELECT id FROM note WHERE id ~ 'a(?=b)'" })
  expect(error.code).toBe('VALIDATION_ERROR')
})

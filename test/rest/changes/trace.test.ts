/** The trace of a change: back to the request that began it, and forward to what it set off. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, TIME } from '../../support/answers.ts'
import { callTool } from '../../support/mcp.ts'
import { explain, statementsOf } from '../../support/query-plans.ts'
import { openReceiver, type Receiver } from '../../support/receiver.ts'
import type { Body } from '../../support/server.ts'
import { eventually } from '../../support/until.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let receiver: Receiver
let serial = 0
beforeAll(async () => {
  receiver = await openReceiver()
  world = await openWorld({ PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1' })
  const relationship = {
    source_record_types: ['child'],
    target_record_types: ['parent'],
    on_delete: 'cascade',
  }
  for (const type of ['parent', 'child', 'note', 'other'])
    succeed(await world.call('PUT', `/v1/crm/record-types/${type}`, {}), 201)
  succeed(await world.call('PUT', '/v1/crm/relationship-types/has', relationship), 201)
  succeed(await world.call('PUT', '/v1/bases/elsewhere', {}), 201)
})
afterAll(async () => {
  await world.close()
  await receiver.close()
})

const call: World['call'] = (...args) => world.call(...args)
const put = async (type: string, id: string, data: object, headers = {}): Promise<number> => {
  const answer = await call('PUT', `/v1/crm/records/${type}/${id}`, { data }, headers)
  expect(answer.status, answer.text).toBeLessThan(300)
  return (await changesOf(type, id)).at(-1).seq
}
const changesOf = async (type: string, id: string): Promise<Body> =>
  succeed(await call('GET', `/v1/crm/changes?record_type=${type}&id=${id}`)).data
const traceOf = async (seq: number, query = '', by = call): Promise<Body> =>
  succeed(await by('GET', `/v1/crm/changes/${seq}/trace${query}`))
const kinds = (steps: Body[]) => steps.map(({ kind, depth }) => [kind, depth])
const ADDING = [{ name: 'add', type: 'create_record', record_type: 'note', data: {} }]
const newId = () => `r${++serial}`

test('a change of a request is traced to the request, and shows itself as the log does', async () => {
  const id = newId()
  const seq = await put('note', id, { n: 1 }, { 'x-request-id': `made-${id}` })
  const trace = await traceOf(seq)
  expect(trace).toEqual({
    change: (await changesOf('note', id))[0],
    causes: [
      {
        ...{ kind: 'request', id: `made-${id}`, of: null, depth: 1, cause: null, status: null, change: null },
        at: expect.stringMatching(TIME),
        actor: trace.change.actor,
        request_id: `made-${id}`,
        call: null,
      },
    ],
    effects: [],
    truncated: false,
  })
})

test('reverts are a chain of changes, back and forward, as deep as asked for', { tags: 'full' }, async () => {
  const id = newId()
  const seqs = [await put('note', id, { n: 1 }), await put('note', id, { n: 2 })]
  for (let n = 0; n < 4; n++) {
    const { seq } = succeed(await call('POST', `/v1/crm/changes/${seqs.at(-1)}/revert`))
    seqs.push(seq)
  }
  const [, first, second, third, fourth, last] = seqs.map(String)
  const back = await traceOf(Number(last))
  expect(back.causes.map(({ id, cause }: Body) => [id, cause])).toEqual([
    [fourth, third],
    [third, second],
    [second, first],
    [first, back.causes.at(-1).id],
    [expect.any(String), null],
  ])
  expect(back.causes.at(-1).kind).toBe('request')
  const forward = await traceOf(Number(first))
  expect(forward.effects.map(({ id, cause, depth }: Body) => [id, cause, depth])).toEqual([
    [second, first, 1],
    [third, second, 2],
    [fourth, third, 3],
    [last, fourth, 4],
  ])
  expect(forward.effects[0].change).toMatchObject({
    kind: 'record',
    record_type: 'note',
    id,
    operation: 'update',
  })
  expect([forward.truncated, back.truncated]).toEqual([false, false])
  const near = await traceOf(Number(third), '?depth=2')
  expect(near.causes.map(({ id }: Body) => id)).toEqual([second, first])
  expect(near.effects.map(({ id }: Body) => id)).toEqual([fourth, last])
  expect(near.truncated).toBe(true)
  expect((await traceOf(Number(fourth), '?depth=10')).truncated).toBe(false)
  for (const depth of ['0', '11', '-1', 'x', '1.5'])
    expectFault(await call('GET', `/v1/crm/changes/${last}/trace?depth=${depth}`), 'query/depth')
  expectFault(await call('GET', `/v1/crm/changes/${last}/trace?deep=1`), 'query/deep')
})

test('a deletion is followed to what it took, and a token sees the steps of its types only', {
  tags: 'full',
}, async () => {
  const [parent, child] = [newId(), newId()]
  await put('parent', parent, {})
  await put('child', child, {})
  const link = {
    ...{ rel_type: 'has', source_record_type: 'child', source_id: child },
    ...{ target_record_type: 'parent', target_id: parent },
  }
  succeed(await call('POST', '/v1/crm/relationships', link), 201)
  succeed(await call('DELETE', `/v1/crm/records/parent/${parent}`))
  const { seq } = (await changesOf('parent', parent)).at(-1)
  const whole = await traceOf(seq)
  expect(whole.effects.map(({ change }: Body) => change.kind).sort()).toEqual(['record', 'relationship'])
  const gone = (await changesOf('child', child)).at(-1).seq
  expect(kinds((await traceOf(gone)).causes)).toEqual([
    ['change', 1],
    ['request', 2],
  ])
  const { call: ofParents } = await world.newToken([{ permission: 'read', record_type: 'parent' }])
  expect((await traceOf(seq, '', ofParents)).effects).toEqual([])
  const { call: ofChildren } = await world.newToken([{ permission: 'read', record_type: 'child' }])
  const hidden = await traceOf(gone, '', ofChildren)
  expect(kinds(hidden.causes)).toEqual([['request', 1]])
  expect(JSON.stringify([hidden.causes, hidden.effects])).not.toContain(parent)
  expectFailure(await ofChildren('GET', `/v1/crm/changes/${seq}/trace`), 'NOT_FOUND')
  const { call: ofBoth } = await world.newToken([{ permission: 'read', record_type: ['parent', 'child'] }])
  expect((await traceOf(seq, '', ofBoth)).effects).toHaveLength(2)
  const { call: stranger } = await world.newToken([{ permission: 'admin', base: 'elsewhere' }])
  expectFailure(await stranger('GET', `/v1/crm/changes/${seq}/trace`), 'FORBIDDEN')
})

test('deliveries of triggers follow a change, for readers of the whole base', { tags: 'full' }, async () => {
  for (const id of ['one', 'two'])
    succeed(
      await call('PUT', `/v1/crm/triggers/${id}`, { url: `${receiver.url}/${id}`, record_types: ['other'] }),
      201,
    )
  const seq = await put('other', newId(), {})
  const { effects } = await eventually(async () => {
    const trace = await traceOf(seq)
    const done = trace.effects.filter(({ status }: Body) => status === 'succeeded')
    return done.length === 2 ? trace : undefined
  })
  const [sent] = succeed(await call('GET', '/v1/crm/triggers/one/deliveries')).data
  expect(effects[0]).toEqual({
    ...{
      kind: 'trigger_delivery',
      id: sent.id,
      of: 'one',
      depth: 1,
      cause: String(seq),
      at: sent.created_at,
    },
    ...{ status: 'succeeded', change: null, actor: null, request_id: null, call: null },
  })
  expect(effects[1].of).toBe('two')
  const { call: ofType } = await world.newToken([{ permission: 'read', record_type: 'other' }])
  expect((await traceOf(seq, '', ofType)).effects).toEqual([])
  for (const id of ['one', 'two']) succeed(await call('DELETE', `/v1/crm/triggers/${id}`))
})

test('what a webhook, an action, a seed and a promotion wrote is traced to them', {
  tags: 'full',
}, async () => {
  const hook = { record_type: 'note', signature: { scheme: 'github' }, secret: 'secret-of-the-hook' }
  succeed(await call('PUT', '/v1/crm/inbound-webhooks/desk', hook), 201)
  const { ingest_url: url } = succeed(await call('GET', '/v1/crm/inbound-webhooks/desk'))
  const body = JSON.stringify({ n: 1 })
  const key = await crypto.subtle.importKey(
    'raw',
    Buffer.from(hook.secret),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  )
  const signature = Buffer.from(await crypto.subtle.sign('HMAC', key, Buffer.from(body))).toString('hex')
  const arrived = await world.as(null)('POST', new URL(url).pathname, body, {
    'content-type': 'application/json',
    'x-hub-signature-256': `sha256=${signature}`,
    'x-github-delivery': 'delivery-1',
  })
  expect(arrived.status, arrived.text).toBe(200)
  const [delivery] = succeed(await call('GET', '/v1/crm/inbound-webhooks/desk/deliveries')).data
  const { data } = succeed(await call('GET', '/v1/crm/changes?record_type=note&order=desc&limit=1'))
  const inbound = await traceOf(data[0].seq)
  expect(inbound.causes).toMatchObject([
    { kind: 'inbound_delivery', id: delivery.id, of: 'desk', status: 'succeeded', depth: 1 },
    { kind: 'request', actor: { via: 'inbound', name: 'desk' }, depth: 2 },
  ])
  const { call: ofNotes } = await world.newToken([{ permission: 'read', record_type: 'note' }])
  expect(kinds((await traceOf(data[0].seq, '', ofNotes)).causes)).toEqual([['request', 1]])

  succeed(await call('PUT', '/v1/crm/actions/adding', { steps: ADDING }), 201)
  const run = succeed(await call('POST', '/v1/crm/actions/adding/run', { input: {} }))
  const [added] = succeed(await call('GET', '/v1/crm/changes?record_type=note&order=desc&limit=1')).data
  expect((await traceOf(added.seq)).causes).toMatchObject([
    { kind: 'action_run', id: run.run_id, of: 'adding', status: 'succeeded', depth: 1 },
    { kind: 'request', id: added.request_id, depth: 2 },
  ])

  succeed(await call('POST', '/v1/crm/preview', { name: 'try' }), 201)
  const seed = { records: [{ record_type: 'note', external_id: 's', data: {} }] }
  succeed(await call('PUT', '/v1/crm--try/seeds/demo', seed), 201)
  succeed(await call('POST', '/v1/crm--try/seeds/demo/apply'))
  const seeded = succeed(await call('GET', '/v1/crm--try/changes?record_type=note')).data[0]
  expect(seeded.cause).toBe('seed:demo')
  const ofSeed = succeed(await call('GET', `/v1/crm--try/changes/${seeded.seq}/trace`))
  expect(ofSeed.causes).toMatchObject([{ kind: 'seed', of: 'demo' }, { kind: 'request' }])

  succeed(await call('PUT', '/v1/crm--try/record-types/promoted', {}), 201)
  const promotion = succeed(
    await call('POST', '/v1/crm/promote', {
      from: 'crm--try',
      resources: [{ kind: 'record_type', id: 'promoted' }],
    }),
  )
  const promoted = succeed(await call('GET', '/v1/crm/changes?kind=record_type&id=promoted')).data[0]
  expect((await traceOf(promoted.seq)).causes).toMatchObject([
    { kind: 'promotion', id: promotion.id, of: 'crm--try', status: 'applied' },
    { kind: 'request', actor: { via: 'promotion' } },
  ])
})

test('absent changes are 404, and what is no seq is 400', async () => {
  expectFailure(await call('GET', '/v1/crm/changes/999999999/trace'), 'NOT_FOUND')
  for (const seq of ['0', '-1', 'x', '1e3', '9'.repeat(16)])
    expectFailure(await call('GET', `/v1/crm/changes/${seq}/trace`), 'VALIDATION_ERROR')
})

describe('with many effects', () => {
  test('it shows 200 and says that there are more, by index, with and without statistics', {
    tags: 'full',
  }, async () => {
    const id = newId()
    const seq = await put('note', id, {})
    await world.database.query('ALTER TABLE plinth.trigger_delivery SET (autovacuum_enabled = off)')
    await world.database.query('ALTER TABLE plinth.change SET (autovacuum_enabled = off)')
    succeed(await call('PUT', '/v1/crm/triggers/busy', { url: 'https://example.com/', enabled: false }), 201)
    await world.database.query(
      `INSERT INTO plinth.trigger_delivery (base_id, trigger_id, id, event, record_type, record_id, change_seq, status)
       SELECT 'crm', 'busy', 'd' || n, 'record.updated', 'note', $1, $2::bigint + n % 1000, 'dead' FROM generate_series(0, 49999) n`,
      [id, seq],
    )
    await world.database.query(
      `INSERT INTO plinth.change (base_id, kind, record_type, id, operation, version, data, actor_name, via, request_id, cause)
       SELECT 'crm', 'record', 'note', 'many' || n, 'create', 1, '{}', 'a', 'rest', 'r', CASE WHEN n < 5000 THEN $1 END
       FROM generate_series(1, 50000) n`,
      [String(seq)],
    )
    await world.database.query('ALTER TABLE plinth.action_run SET (autovacuum_enabled = off)')
    await world.database.query('ALTER TABLE plinth.inbound_delivery SET (autovacuum_enabled = off)')
    succeed(await call('PUT', '/v1/crm/actions/busy', { steps: ADDING }), 201)
    const run = succeed(await call('POST', '/v1/crm/actions/busy/run', { input: {} }))
    const [added] = succeed(await call('GET', '/v1/crm/changes?record_type=note&order=desc&limit=1')).data
    succeed(await call('PUT', '/v1/crm/inbound-webhooks/busy', { record_type: 'note' }), 201)
    await world.database.query(
      `INSERT INTO plinth.action_run
       SELECT (json_populate_record(r, json_build_object('id', 'r' || n))).* FROM plinth.action_run r, generate_series(1, 20000) n
       WHERE r.id = $1`,
      [run.run_id],
    )
    await world.database.query(
      `INSERT INTO plinth.inbound_delivery (base_id, webhook_id, id, status, request_id, last_attempt_at, created_at)
       SELECT 'crm', 'busy', 'd' || n, 'succeeded', 'r', now(), now() FROM generate_series(1, 20000) n`,
    )
    const ofNotes = await world.newToken([{ permission: 'read', record_type: 'note' }])
    const ofParents = await world.newToken([{ permission: 'read', record_type: ['note', 'parent'] }])
    for (const analyzed of [false, true]) {
      if (analyzed) await world.database.query('ANALYZE')
      const ran = await statementsOf(async () => {
        const trace = await traceOf(seq)
        expect(trace.effects).toHaveLength(200)
        expect(trace.truncated).toBe(true)
        expect((await traceOf(seq, '', ofNotes.call)).truncated).toBe(true)
        await traceOf(seq, '', ofParents.call)
        expect((await traceOf(added.seq)).causes[0]).toMatchObject({ kind: 'action_run', of: 'busy' })
      })
      const traced = ran.filter(({ text }) => /k\.cause|change_seq = k\.seq|webhook_id AS of/.test(text))
      expect(traced.length).toBeGreaterThanOrEqual(4)
      for (const statement of traced) {
        const { scans, widest, text } = await explain(world.database, statement)
        // The few rows of these fit a page.
        const large = scans.filter((table) => table !== 'action' && table !== 'promotion')
        expect([statement.name, large], text).toEqual([statement.name, []])
        expect(widest, `${statement.name} ${text}`).toBeLessThanOrEqual(1000)
      }
    }
    succeed(await call('DELETE', '/v1/crm/triggers/busy'))
  })
})

test('MCP traces a change with the tool changes, and shows the tool call behind it', async () => {
  const at = '/mcp/crm'
  const made = await callTool(world, at, 'upsert_record', {
    record_type: 'note',
    id: newId(),
    data: { n: 1 },
  })
  const { seq } = (await changesOf('note', made.body.id)).at(-1)
  const { body } = await callTool(world, at, 'changes', { trace: seq })
  expect(body).toMatchObject({
    change: { seq, id: made.body.id },
    causes: [{ kind: 'tool_call', of: 'upsert_record', depth: 1, actor: { via: 'mcp' } }],
    effects: [],
    truncated: false,
  })
  const mixed = await callTool(world, at, 'changes', { trace: seq, record_type: 'note' })
  expect(mixed.error.details[0]).toMatchObject({ path: '/record_type', code: 'exclusive' })
})

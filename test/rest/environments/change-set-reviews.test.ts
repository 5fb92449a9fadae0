// @module-tag full
/** The life of a change-set: submitted, reviewed by revision, sent back, approved, merged, rejected, expired, opened again. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { plinth } from '../../cli/plinth.ts'
import { expectDetail, expectFailure, succeed } from '../../support/answers.ts'
import type { Call } from '../../support/caller.ts'
import { callTool } from '../../support/mcp.ts'
import { openWorld, type World } from '../../support/world.ts'

type Token = Awaited<ReturnType<World['newToken']>>
let world: World
let agent: Token
let mara: Token
let tom: Token
let serial = 0
let base: string
let id: string

beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

beforeEach(async () => {
  base = `crm${++serial}`
  id = `${base}--fix`
  succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
  for (const type of ['deal', 'note'])
    succeed(await world.call('PUT', `/v1/${base}/record-types/${type}`, {}), 201)
  for (const record of ['a', 'b', 'c'])
    succeed(
      await world.call('PUT', `/v1/${base}/records/deal/${record}`, { data: { stage: 'open', amount: 1 } }),
      201,
    )
  agent = await world.newToken([{ base, permission: 'write', writes: 'propose' }], { kind: 'agent' })
  mara = await world.newToken([{ base, permission: 'write' }], { name: 'Mara', kind: 'person' })
  tom = await world.newToken([{ base, permission: 'write' }], { name: 'Tom', kind: 'person' })
  succeed(await agent.call('POST', `/v1/${base}/preview`, { name: 'fix', copy: 'on_write' }), 201)
  await patch('a', { stage: 'won' })
})

const patch = async (record: string, data: object, at = id) =>
  succeed(await agent.call('PATCH', `/v1/${at}/records/deal/${record}`, { data }))
const state = async (of = id) => succeed(await world.call('GET', `/v1/bases/${of}`)).change_set
const review = (call: Call, body: object) => call('POST', `/v1/${id}/reviews`, body)
const submit = (body: object = {}) => agent.call('POST', `/v1/${id}/submit`, body)
const promote = (call: Call, more: object = {}) => call('POST', `/v1/${base}/promote`, { from: id, ...more })
const rules = async (change_sets: object) =>
  succeed(await world.call('PUT', `/v1/bases/${base}`, { settings: { change_sets } }))
const stageOf = async (record: string) =>
  succeed(await world.call('GET', `/v1/${base}/records/deal/${record}`)).data.stage
const steps = async () => succeed(await world.call('GET', `/v1/${base}/changes?kind=preview&order=desc`)).data

const listed = async (only: string) =>
  succeed(await mara.call('GET', `/v1/${base}/previews?${only}`)).data.map((each: { id: string }) => each.id)

test('previews are listed by what they copy, and change-sets by the token that opened them', async () => {
  const { id: copied } = succeed(await world.call('POST', `/v1/${base}/preview`, { name: 'dev' }), 201)
  const { created_by } = await state()
  expect(await listed('copy=config')).toEqual([copied])
  expect(await listed('copy=on_write')).toEqual([id])
  expect(await listed(`created_by=${created_by}`)).toEqual([id])
  expect(await listed(`created_by=${created_by}&copy=config`)).toEqual([])
  expect(await listed('created_by=nobody')).toEqual([])
  expect(await mara.call('GET', `/v1/${base}/previews?copy=none`)).toMatchObject({ status: 400 })
})

test('what is submitted waits, a reviewer sends it back, and the agent reads why and goes on in it', async () => {
  const asked = succeed(await submit({ title: 'June', comment: 'Signed.' }), 201)
  expect(asked).toMatchObject({ from: id, title: 'June', note: 'Signed.', state: 'open', revision: 1 })
  expect(await state()).toMatchObject({ status: 'submitted', title: 'June', revision: 1 })
  expect(await listed('status=submitted')).toEqual([id])
  succeed(await review(mara.call, { verdict: 'request_changes', text: 'Name the month.' }), 201)
  expect(await state()).toMatchObject({ status: 'changes_requested' })
  expect(succeed(await agent.call('GET', `/v1/${base}/review-requests/${asked.id}`))).toMatchObject({
    state: 'sent_back',
    decision: { decision: 'send_back', note: 'Name the month.', by: { name: 'Mara' } },
  })
  const [said] = succeed(await agent.call('GET', `/v1/${id}/reviews`)).data
  expect(said).toMatchObject({
    ...{ verdict: 'request_changes', revision: 1, is_stale: false, resources: null, text: 'Name the month.' },
    by: { name: 'Mara', kind: 'person', via: 'rest' },
  })
  // What it writes to production goes on in the one that was sent back.
  expect((await patch('b', { stage: 'lost' }, base)).change_set).toBe(id)
  expect(await state()).toMatchObject({ status: 'open', revision: 2 })
  expect(succeed(await agent.call('GET', `/v1/${id}/reviews`)).data[0].is_stale).toBe(true)
})

test('what waits is left as it is: the next write of its token opens another one', async () => {
  succeed(await submit(), 201)
  const other = (await patch('b', { stage: 'lost' }, base)).change_set
  expect(other).not.toBe(id)
  expect((await state()).status).toBe('submitted')
})

describe('approvals', () => {
  test('are needed by the rules, count for one revision, and once for each reviewer', async () => {
    await rules({ approvals: 2 })
    const refused = await promote(mara.call)
    expectDetail(refused, 409, { code: 'needs_approval', path: '/from', received: 0, expected: 2 })
    expectDetail(await review(mara.call, { verdict: 'approve' }), 400, { path: '/revision' })
    expectDetail(await review(mara.call, { verdict: 'approve', revision: 0 }), 409, { code: 'changed_since' })
    for (const _ of [1, 2]) succeed(await review(mara.call, { verdict: 'approve', revision: 1 }), 201)
    expect(await state()).toMatchObject({ status: 'open', approvals: { needed: 2, given: 1 } })
    expectDetail(await promote(mara.call), 409, { code: 'needs_approval', received: 1 })
    succeed(await review(tom.call, { verdict: 'approve', revision: 1 }), 201)
    expect(await state()).toMatchObject({ status: 'approved', approvals: { needed: 2, given: 2 } })
    await patch('a', { stage: 'lost' })
    expect(await state()).toMatchObject({ status: 'open', approvals: { needed: 2, given: 0 } })
    expectDetail(await promote(mara.call), 409, { code: 'needs_approval', received: 0 })
    for (const { call } of [mara, tom]) succeed(await review(call, { verdict: 'approve', revision: 2 }), 201)
    // Who asks for changes after all takes the approval back.
    succeed(await review(tom.call, { verdict: 'request_changes' }), 201)
    expect((await state()).approvals).toEqual({ needed: 2, given: 1 })
    succeed(await review(tom.call, { verdict: 'approve', revision: 2 }), 201)
    expect(await stageOf('a')).toBe('open')
    succeed(await promote(mara.call))
    expect([await stageOf('a'), (await state()).status]).toEqual(['lost', 'merged'])
  })

  test('from before it was rejected do not count once its agent opens it again', async () => {
    await rules({ approvals: 1 })
    succeed(await review(tom.call, { verdict: 'approve', revision: 1 }), 201)
    succeed(await review(mara.call, { verdict: 'reject', text: 'Not these.' }), 201)
    succeed(await agent.call('POST', `/v1/${id}/reopen`, {}))
    expect(await state()).toMatchObject({ status: 'open', approvals: { needed: 1, given: 0 } })
    expectDetail(await promote(tom.call), 409, { code: 'needs_approval', received: 0 })
    expect(await stageOf('a')).toBe('open')
    succeed(await review(tom.call, { verdict: 'approve', revision: 2 }), 201)
    succeed(await promote(tom.call))
  })

  test('of some records or fields let these pass alone', async () => {
    await rules({ approvals: 1 })
    await patch('b', { stage: 'won', amount: 9 })
    const record = (of: string, fields?: string[]) => ({
      kind: 'record',
      record_type: 'deal',
      id: of,
      fields,
    })
    const resources = [record('a'), record('b', ['data.stage'])]
    succeed(await review(mara.call, { verdict: 'approve', revision: 2, resources }), 201)
    expect((await state()).approvals).toEqual({ needed: 1, given: 0 })
    expectDetail(await promote(mara.call), 409, { code: 'needs_approval' })
    expectDetail(await promote(mara.call, { resources: [record('b')] }), 409, { code: 'needs_approval' })
    succeed(await promote(mara.call, { resources }))
    const b = succeed(await world.call('GET', `/v1/${base}/records/deal/b`)).data
    expect([await stageOf('a'), b]).toEqual(['won', { stage: 'won', amount: 1 }])
    expect(await state()).toMatchObject({ status: 'open', counts: { update: 1 } })
  })

  test('of who wrote in it do not count where the rules say so, in no tab either', async () => {
    await rules({ approvals: 1, self_approval: false })
    succeed(await mara.call('PATCH', `/v1/${id}/records/deal/b`, { data: { stage: 'won' } }))
    // It is the last writer of nothing, and wrote all the same.
    succeed(await agent.call('PATCH', `/v1/${id}/records/deal/b`, { data: { stage: 'lost' } }))
    succeed(await review(mara.call, { verdict: 'approve', revision: 3 }), 201)
    const { code } = succeed(await mara.call('POST', '/v1/tokens/self/sign-in-codes'), 201)
    const { token } = succeed(await world.as(null)('POST', '/playground/sign-in', { code }))
    succeed(await review(world.as(token), { verdict: 'approve', revision: 3 }), 201)
    expectDetail(await promote(mara.call), 409, { code: 'needs_approval', received: 0 })
    succeed(await review(tom.call, { verdict: 'approve', revision: 3 }), 201)
    succeed(await promote(mara.call))
  })

  test('of a tab stay those of its token once the tab is closed, and so do its drafts', {
    tags: 'full',
  }, async () => {
    await rules({ approvals: 2, self_approval: false })
    const inTab = async (run: (call: Call) => Promise<unknown>) => {
      const { code } = succeed(await mara.call('POST', '/v1/tokens/self/sign-in-codes'), 201)
      const { token } = succeed(await world.as(null)('POST', '/playground/sign-in', { code }))
      await run(world.as(token))
      expect(succeed(await world.as(token)('POST', '/playground/sign-out', {}))).toEqual({ revoked: true })
    }
    const approve = async (revision: number, by: Call) =>
      succeed(await review(by, { verdict: 'approve', revision }), 201)
    // Two tabs and their token are one reviewer.
    await inTab((call) => approve(1, call))
    await inTab((call) => approve(1, call))
    await approve(1, mara.call)
    expect((await state()).approvals).toEqual({ needed: 2, given: 1 })
    await approve(1, tom.call)
    expect((await state()).approvals).toEqual({ needed: 2, given: 2 })
    // What a tab wrote is no one else's.
    await inTab(async (call) =>
      succeed(await call('PATCH', `/v1/${id}/records/deal/b`, { data: { stage: 'won' } })),
    )
    await inTab((call) => approve(2, call))
    await approve(2, mara.call)
    expect((await state()).approvals).toEqual({ needed: 2, given: 0 })
    await approve(2, tom.call)
    expectDetail(await promote(mara.call), 409, { code: 'needs_approval', received: 1 })
    expect(await stageOf('b')).toBe('open')
  })

  test('are of nothing that is drafted, linked or discarded after them, in a plan from before either', async () => {
    await rules({ approvals: 1 })
    const resources = [{ kind: 'record', record_type: 'deal', id: 'a', fields: ['data.stage'] }]
    const approve = async (more: object = {}) =>
      succeed(
        await review(tom.call, { verdict: 'approve', revision: (await state()).revision, ...more }),
        201,
      )
    const refused = async (more: object = {}) =>
      expectDetail(await promote(mara.call, more), 409, { code: 'needs_approval', received: 0 })
    await approve({ resources })
    // Another field of the record, and what was approved stays as it was.
    await patch('a', { amount: 1_000_000 })
    await refused({ resources })
    succeed(await world.call('PUT', `/v1/${base}/relationship-types/about`, {}), 201)
    const ends = { source_record_type: 'deal', source_id: 'a', target_record_type: 'deal', target_id: 'b' }
    await approve()
    succeed(await agent.call('POST', `/v1/${id}/relationships`, { rel_type: 'about', ...ends }), 201)
    await refused()
    await patch('b', { amount: 2 })
    await approve()
    const b = [{ kind: 'record', record_type: 'deal', id: 'b' }]
    succeed(await agent.call('POST', `/v1/${id}/discard`, { resources: b }))
    await refused()
    await approve()
    const planned = async (plan: string) =>
      succeed(
        await mara.call('POST', '/graphql', {
          query: `mutation { promote(base: "${base}", from: "${id}", ${plan}) { plan { token } } }`,
        }),
      )
    const { token } = (await planned('askFirst: true')).data.promote.plan
    await patch('c', { amount: 3 })
    const stale = async () => (await planned(`planToken: "${token}"`)).errors[0].extensions.details[0].code
    expect(await stale()).toBe('needs_approval')
    await approve()
    expect(await stale()).toBe('plan_stale')
    expect([await stageOf('a'), (await state()).status]).toEqual(['open', 'approved'])
  })

  test('of a token that is revoked do not count, nor do those of its tabs', async () => {
    await rules({ approvals: 1 })
    const leaked = await world.newToken([{ base, permission: 'write' }], { kind: 'person' })
    const { code } = succeed(await leaked.call('POST', '/v1/tokens/self/sign-in-codes'), 201)
    const { token } = succeed(await world.as(null)('POST', '/playground/sign-in', { code }))
    for (const by of [leaked.call, world.as(token)])
      succeed(await review(by, { verdict: 'approve', revision: 1 }), 201)
    const resources = [{ kind: 'record', record_type: 'deal', id: 'a' }]
    succeed(await review(leaked.call, { verdict: 'approve', revision: 1, resources }), 201)
    expect(await state()).toMatchObject({ status: 'approved', approvals: { needed: 1, given: 1 } })
    succeed(await world.call('DELETE', `/v1/tokens/${leaked.id}`))
    expect((await state()).approvals).toEqual({ needed: 1, given: 0 })
    for (const more of [{}, { resources }])
      expectDetail(await promote(mara.call, more), 409, { code: 'needs_approval', received: 0 })
    expect(await stageOf('a')).toBe('open')
    // Who could be trusted all along is asked again.
    succeed(await review(tom.call, { verdict: 'approve', revision: 1 }), 201)
    succeed(await promote(mara.call))
    expect(await stageOf('a')).toBe('won')
  })

  test('are passed by force of an admin alone, and the log says so', async () => {
    await rules({ approvals: 1 })
    expectDetail(await promote(mara.call, { force: true }), 409, { code: 'needs_approval' })
    succeed(await promote(world.call, { force: true }))
    const [last] = await steps()
    expect(last.diff).toEqual(
      expect.arrayContaining([expect.objectContaining({ path: '/forced', value: true })]),
    )
  })

  test('are given by the acceptance of a request too, for the revision that was asked for', async () => {
    await rules({ approvals: 1 })
    const asked = succeed(await submit(), 201)
    await patch('b', { stage: 'unseen' })
    const decide = (body: object) =>
      mara.call('POST', `/v1/${base}/review-requests/${asked.id}/decision`, body)
    expectDetail(await decide({ decision: 'accept' }), 409, { code: 'changed_since' })
    expect(await stageOf('b')).toBe('open')
    succeed(await decide({ decision: 'accept', revision: 2, note: 'Seen.' }))
    expect([await stageOf('b'), (await state()).status]).toEqual(['unseen', 'merged'])
    expect(succeed(await world.call('GET', `/v1/${id}/reviews`)).data[0]).toMatchObject({
      ...{ verdict: 'approve', revision: 2, text: 'Seen.' },
    })
  })
})

test('a token that proposes comments, and neither approves, rejects nor promotes', async () => {
  const only = [{ kind: 'record', record_type: 'deal', id: 'a', fields: ['data.stage'] }]
  succeed(await review(agent.call, { verdict: 'comment', text: 'The mail of 3 June.', resources: only }), 201)
  for (const verdict of ['approve', 'request_changes', 'reject'])
    expectFailure(await review(agent.call, { verdict, revision: 1 }), 'FORBIDDEN')
  expectFailure(await promote(agent.call), 'FORBIDDEN')
  expect((await state()).status).toBe('open')
  const unknown = [{ kind: 'record', record_type: 'deal', id: 'b' }]
  expectDetail(await review(mara.call, { verdict: 'comment', resources: unknown }), 400, {
    code: 'unknown_resource',
    path: '/resources/0/id',
  })
})

test('a token sees what was said of records that it may read', async () => {
  succeed(await agent.call('PUT', `/v1/${id}/records/note/n`, { data: {} }), 201)
  const of = (record_type: string, record: string) => [{ kind: 'record', record_type, id: record }]
  succeed(await review(mara.call, { verdict: 'comment', text: 'deal', resources: of('deal', 'a') }), 201)
  succeed(await review(mara.call, { verdict: 'comment', text: 'note', resources: of('note', 'n') }), 201)
  const reader = await world.newToken([{ base, permission: 'read', record_type: ['deal'], environment: '*' }])
  const said = succeed(await reader.call('GET', `/v1/${id}/reviews`)).data
  expect(said.map(({ text }: { text: string }) => text)).toEqual(['deal'])
  const writer = await world.newToken([
    { base, permission: 'write', record_type: ['deal'], environment: 'preview' },
    { base, permission: 'read', record_type: ['deal'], environment: 'production' },
  ])
  succeed(await review(writer.call, { verdict: 'comment', resources: of('deal', 'a') }), 201)
  // Whether something of another type is changed is not said.
  const discard = (resources: object[]) => writer.call('POST', `/v1/${id}/discard`, { resources })
  const comment = (resources: object[]) => review(writer.call, { verdict: 'comment', resources })
  for (const name of ['n', 'absent'])
    for (const refused of [await comment(of('note', name)), await discard(of('note', name))])
      expectFailure(refused, 'FORBIDDEN')
  succeed(await world.call('PUT', `/v1/${base}/relationship-types/beside`, {}), 201)
  const ends = { source_record_type: 'note', source_id: 'n', target_record_type: 'deal', target_id: 'a' }
  succeed(await agent.call('PUT', `/v1/${id}/relationships/hidden`, { rel_type: 'beside', ...ends }), 201)
  for (const name of ['hidden', 'absent'])
    for (const refused of [
      await comment([{ kind: 'relationship', id: name }]),
      await discard([{ kind: 'relationship', id: name }]),
    ])
      expectDetail(refused, 400, { code: 'unknown_resource', path: '/resources/0/id' })
  expect(succeed(await world.call('GET', `/v1/${id}/relationships/hidden`)).rel_type).toBe('beside')
  expectFailure(await review(reader.call, { verdict: 'comment', resources: of('deal', 'a') }), 'FORBIDDEN')
  expectFailure(await review(reader.call, { verdict: 'reject' }), 'FORBIDDEN')
})

test('a submission needs no body', async () => {
  expect(succeed(await agent.call('POST', `/v1/${id}/submit`), 201)).toMatchObject({
    note: null,
    state: 'open',
  })
  expect(await state()).toMatchObject({ status: 'submitted' })
})

test('what is rejected takes no write, its request is declined, and it is opened again as it was', async () => {
  const asked = succeed(await submit(), 201)
  succeed(await review(mara.call, { verdict: 'reject', text: 'No.' }), 201)
  expect(await state()).toMatchObject({ status: 'rejected', closed_at: expect.any(String) })
  expect(succeed(await agent.call('GET', `/v1/${base}/review-requests/${asked.id}`)).state).toBe('declined')
  for (const answer of [
    await agent.call('PATCH', `/v1/${id}/records/deal/a`, { data: { stage: 'x' } }),
    await agent.call('POST', `/v1/${id}/discard`, {
      resources: [{ kind: 'record', record_type: 'deal', id: 'a' }],
    }),
    await submit(),
    await promote(mara.call),
    await review(mara.call, { verdict: 'comment', text: 'x' }),
  ])
    expectDetail(answer, 409, { code: 'change_set_closed' })
  expect((await patch('b', { stage: 'lost' }, base)).change_set).not.toBe(id)
  const reopen = () => agent.call('POST', `/v1/${id}/reopen`)
  expect(succeed(await reopen()).change_set).toMatchObject({ status: 'open', closed_at: null, revision: 2 })
  expectDetail(await reopen(), 409, { code: 'not_reopened' })
  succeed(await promote(mara.call))
  expectDetail(await reopen(), 409, { code: 'not_reopened' })
  expect(await stageOf('a')).toBe('won')
})

test('each step is in the log of production, with who took it', async () => {
  succeed(await submit({ title: 'June' }), 201)
  succeed(await review(mara.call, { verdict: 'approve', revision: 1 }), 201)
  succeed(await promote(tom.call))
  const log = await steps()
  const events = log.map((each: { actor: { name: string }; diff: { path: string; value: unknown }[] }) => [
    each.diff
      .map(({ path, value }) =>
        path === '' ? (value as { event: string }).event : path === '/event' ? value : '',
      )
      .join(''),
    each.actor.name,
  ])
  expect(events.map(([event]: string[]) => event)).toEqual(['merged', 'approved', 'submitted', 'opened'])
  expect(events.slice(0, 2).map(([, name]: string[]) => name)).toEqual(['Tom', 'Mara'])
})

test('the history of what was merged says who proposed it, and who let it pass', {
  tags: 'full',
}, async () => {
  const by = { name: expect.stringMatching(/^token/), kind: 'agent', token_id: agent.id }
  const { token } = agent
  const args = { record_type: 'note', id: 'n1', data: { text: 'x' } }
  const made = await callTool(world, `/mcp/${base}`, 'upsert_record', args, { token })
  expect([made.error, made.rpcError]).toEqual([undefined, undefined])
  const link = { source_record_type: 'note', source_id: 'n1', target_record_type: 'deal', target_id: 'a' }
  succeed(await world.call('PUT', `/v1/${base}/relationship-types/about`, {}), 201)
  succeed(await agent.call('POST', `/v1/${id}/relationships`, { rel_type: 'about', ...link }), 201)
  succeed(await agent.call('DELETE', `/v1/${id}/records/deal/c`))
  const promotion = succeed(await promote(mara.call)).id
  const historyOf = async (path: string, call = world.call) =>
    succeed(await call('GET', `/v1/${base}/records/${path}/history`)).data[0]
  const note = await historyOf('note/n1')
  expect(note).toMatchObject({
    ...{ operation: 'create', cause: promotion, actor: { name: 'Mara', via: 'promotion' } },
    proposed: { ...by, call: { tool: 'upsert_record' }, request_id: expect.any(String) },
  })
  expect(note.proposed.request_id).not.toBe(note.request_id)
  expect((await historyOf('deal/a')).proposed).toMatchObject({ ...by, call: null })
  expect(await historyOf('deal/b')).not.toHaveProperty('proposed')
  const log = succeed(await world.call('GET', `/v1/${base}/changes?order=desc&limit=20`)).data
  const proposed = (kind: string, operation: string) =>
    log.find(
      (each: { kind: string; operation: string }) => each.kind === kind && each.operation === operation,
    )
  expect(proposed('relationship', 'create').proposed).toMatchObject(by)
  expect(proposed('record', 'delete').proposed).toMatchObject(by)
  expect(proposed('promotion', 'create')).not.toHaveProperty('proposed')
  const groupsOf = async (call = world.call, filter = '') =>
    succeed(await call('GET', `/v1/${base}/changes?group=request&limit=5${filter}`)).data
  const [group, ...earlier] = await groupsOf()
  const { token_id, name, kind } = note.proposed
  const own = (count: number) => ({ token_id, name, kind, count })
  expect(group).toMatchObject({ request_id: note.request_id, actor: { name: 'Mara' }, proposed: [own(4)] })
  expect(earlier.filter((each: object) => 'proposed' in each)).toEqual([])
  // Counted as the changes are: what the filter matches, and the token may read.
  const ofNotes = '&record_type=note'
  expect((await groupsOf(world.call, ofNotes))[0]).toMatchObject({ count: 1, proposed: [own(1)] })
  const settings = { PLINTH_URL: world.url, PLINTH_TOKEN: world.adminToken, PLINTH_BASE: base }
  const listed = await plinth(['changes', '--group', 'request', '--limit', '1'], settings)
  expect(listed.out).toContain(`\tMara (promotion)\t${name}\t`)
  const grouped = await callTool(world, `/mcp/${base}`, 'changes', { group: 'request', limit: 1 })
  expect(grouped.body.data[0].proposed).toEqual([own(4)])
  // The tools that others call are seen by who reads the whole base.
  const reader = await world.newToken([{ base, permission: 'read', record_type: ['note'] }])
  expect((await historyOf('note/n1', reader.call)).proposed).toMatchObject({ ...by, call: null })
  expect((await groupsOf(reader.call))[0]).toMatchObject({ count: 1, proposed: [own(1)] })
  const told = await callTool(world, `/mcp/${base}`, 'record_history', { record_type: 'note', id: 'n1' })
  expect(told.body.data[0].proposed).toMatchObject(by)
  // A day later.
  await world.database.query(`UPDATE plinth.change SET at = at - interval '1 day' WHERE base_id = $1`, [base])
  succeed(await mara.call('POST', `/v1/${base}/promote/rollback`, { promotion_id: promotion }))
  expect([await stageOf('a'), await stageOf('c')]).toEqual(['open', 'open'])
  expect((await historyOf('deal/a')).proposed).toBeUndefined()
})

describe('expiry', () => {
  const SOON = { timeout: 10_000 }
  const sweep = () => world.database.query(`SELECT graphile_worker.add_job('sweep_change_sets')::text`)
  const age = (column: string, days: number) =>
    world.database.query(
      `UPDATE plinth.change_set SET ${column} = ${column} - make_interval(days => ${days}) WHERE base_id = $1`,
      [id],
    )

  test('closes what was not written for the days of the rules, which can be opened again', {
    tags: 'full',
  }, async () => {
    await rules({ expire_days: 5 })
    await age('written_at', 4)
    const asked = succeed(await submit(), 201)
    const other = `${base}--other`
    succeed(await agent.call('POST', `/v1/${base}/preview`, { name: 'other', copy: 'on_write' }), 201)
    await world.database.query(
      `UPDATE plinth.change_set SET written_at = now() - interval '6 days' WHERE base_id = $1`,
      [other],
    )
    await sweep()
    await expect.poll(() => state(other), SOON).toMatchObject({ status: 'expired' })
    expect((await state()).status).toBe('submitted')
    await age('written_at', 1)
    await sweep()
    await expect.poll(() => state(), SOON).toMatchObject({ status: 'expired' })
    expect(succeed(await agent.call('GET', `/v1/${base}/review-requests/${asked.id}`)).state).toBe('declined')
    expect((await steps())[0].actor.name).toBe('system')
    expect(succeed(await agent.call('POST', `/v1/${id}/reopen`, {})).change_set.status).toBe('open')
    await sweep()
    expect(succeed(await agent.call('GET', `/v1/${id}/records/deal/a`)).data.stage).toBe('won')
    expect((await state()).status).toBe('open')
  })

  test('what is closed goes after the days of the trash', { tags: 'full' }, async () => {
    succeed(await review(mara.call, { verdict: 'reject' }), 201)
    await age('closed_at', 29)
    await sweep()
    expect((await state()).status).toBe('rejected')
    await age('closed_at', 2)
    await sweep()
    await expect.poll(async () => (await world.call('GET', `/v1/bases/${id}`)).status, SOON).toBe(404)
    const rows = await world.database.query('SELECT FROM plinth.draft_record WHERE branch = $1', [id])
    expect([rows.length, await stageOf('a')]).toEqual([0, 'open'])
  })
})

// @module-tag full
/** A token that writes far past its usual pace is paused in the base: a person resumes it, or takes back what it wrote. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectDetail, succeed, times } from '../../support/answers.ts'
import { callTool } from '../../support/mcp.ts'
import { openReceiver, type Receiver } from '../../support/receiver.ts'
import type { Call } from '../../support/server.ts'
import { until } from '../../support/until.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let receiver: Receiver
let serial = 0
/** Changes in an hour that pause nobody. */
const FREE = 6
const SETTINGS = {
  ...{ PLINTH_RATE_LIMIT: '0', PLINTH_PAUSE_ABOVE: String(FREE) },
  PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1',
}
beforeAll(async () => {
  receiver = await openReceiver()
  world = await openWorld(SETTINGS)
})
afterAll(async () => {
  await world.close()
  await receiver.close()
})

async function desk(): Promise<string> {
  const base = `pace${++serial}`
  succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
  succeed(await world.call('PUT', `/v1/${base}/record-types/deal`, {}), 201)
  return base
}
const ANYTHING = { record_type: 'deal', operations: ['create', 'update'], max: 1000, per: 'day' }
const agentOf = (base: string, writes: unknown = { auto: [ANYTHING] }) =>
  world.newToken([{ base, permission: 'write', writes }], { name: 'reply-agent', kind: 'agent' })
const put = (call: Call, base: string, id: string, data: object = {}) =>
  call('PUT', `/v1/${base}/records/deal/${id}`, { data })
const requests = async (base: string, state = 'open') =>
  succeed(await world.call('GET', `/v1/${base}/review-requests?state=${state}`)).data
const decide = (base: string, id: string, body: object = { decision: 'accept' }, call = world.call) =>
  call('POST', `/v1/${base}/review-requests/${id}/decision`, body)
const stored = async (base: string): Promise<number> =>
  succeed(await world.call('GET', `/v1/${base}/records/deal?include_total=true&limit=1`)).meta.total

const upTo = (count: number) => times(count, (n) => n)

/** Writes until the token is paused. */
async function runAway(call: Call, base: string, prefix = 'run'): Promise<void> {
  for (const n of upTo(FREE)) succeed(await put(call, base, `${prefix}-${n}`), 201)
  expectDetail(await put(call, base, `${prefix}-more`), 403, { code: 'paused' })
}

test('a token past its pace is refused, reads on, and is on the list with what it wrote', async () => {
  const base = await desk()
  const { id, call } = await agentOf(base)
  await runAway(call, base)
  const [asked, ...others] = await requests(base)
  expect(others).toEqual([])
  expect(asked).toMatchObject({
    ...{ kind: 'pause', from: base, title: 'reply-agent is paused', state: 'open', may_decide: true },
    by: { token_id: id, name: 'reply-agent', kind: 'agent' },
    pause: {
      ...{ token_id: id, writes: FREE, refused: 1, usual: 0, allowed: FREE },
      wrote: [{ change_set: null, kind: 'record', record_type: 'deal', count: FREE }],
    },
  })
  expect(Date.parse(asked.pause.since) % 3_600_000).toBe(0)
  expectDetail(await put(call, base, 'again'), 403, {
    ...{ code: 'paused', path: '', message: expect.stringContaining(asked.id) },
    expected: { changes_in_an_hour: FREE },
  })
  expect(succeed(await call('GET', `/v1/${base}/records/deal/run-1`)).id).toBe('run-1')
  expect(await requests(base)).toHaveLength(1)
  expect(await stored(base)).toBe(FREE)
})

test('over each door it is refused, and nothing is written', async () => {
  const base = await desk()
  const { token, call } = await agentOf(base, 'propose')
  const own = succeed(await put(call, base, 'run-0'), 201).change_set
  for (const n of upTo(FREE - 1)) succeed(await put(call, base, `run-${n + 1}`), 201)
  expectDetail(await put(call, base, 'run-more'), 403, { code: 'paused' })
  expect((await requests(base))[0].pause.wrote).toEqual([
    { change_set: own, kind: 'record', record_type: 'deal', count: FREE },
  ])
  const revision = async () => succeed(await world.call('GET', `/v1/bases/${own}`)).change_set.revision
  const before = await revision()
  for (const address of [base, own]) {
    const tool = await callTool(world, `/mcp/${address}`, 'create_deal', {}, { token })
    expect(JSON.stringify(tool.result ?? tool.error)).toContain('paused')
    const operations = [{ type: 'create_record', record_type: 'deal', data: {} }]
    expectDetail(await call('POST', `/v1/${address}/batch`, { operations }), 403, { code: 'paused' })
    const statements = `INSERT INTO deal (id) VALUES ('sql')`
    expectDetail(await call('POST', `/v1/${address}/sql/execute`, { statements }), 403, { code: 'paused' })
    const query = `mutation { createRecord(base: "${address}", recordType: "deal", data: {}) { id } }`
    const { errors } = (await call('POST', '/graphql', { query })).body
    expect(errors[0].extensions.details[0].code).toBe('paused')
    const typed = `mutation { createDeal(data: {}) { id } }`
    const answer = await call('POST', `/graphql/${address}`, { query: typed })
    if (address === base) expect(answer.body.errors[0].extensions.details[0].code).toBe('paused')
    expectDetail(await put(call, address, 'dry', {}), 403, { code: 'paused' })
    expectDetail(await call('DELETE', `/v1/${address}/records/deal/run-1`), 403, { code: 'paused' })
  }
  expect(await revision()).toBe(before)
  expect(await stored(base)).toBe(0)
})

test('it opens no change-set, and discards nothing of others', async () => {
  const base = await desk()
  const { call } = await agentOf(base)
  await runAway(call, base)
  succeed(await world.call('POST', `/v1/${base}/preview`, { name: 'other', copy: 'on_write' }), 201)
  succeed(await put(world.call, `${base}--other`, 'of-another'), 201)
  const resources = [{ kind: 'record', record_type: 'deal', id: 'of-another' }]
  expectDetail(await call('POST', `/v1/${base}--other/discard`, { resources }), 403, { code: 'paused' })
  expectDetail(await call('POST', `/v1/${base}/preview`, { name: 'own', copy: 'on_write' }), 403, {
    code: 'paused',
  })
  expect((await world.call('GET', `/v1/bases/${base}--own`)).status).toBe(404)
  succeed(await world.call('GET', `/v1/${base}--other/records/deal/of-another`))
})

test('what it discards counts, also of others; a dry run does not', async () => {
  const base = await desk()
  const id = `${base}--other`
  succeed(await world.call('POST', `/v1/${base}/preview`, { name: 'other', copy: 'on_write' }), 201)
  for (const n of upTo(FREE)) succeed(await put(world.call, id, `of-another-${n}`), 201)
  const { call } = await agentOf(base, 'propose')
  const discard = (names: string[], query = '') =>
    call('POST', `/v1/${id}/discard${query}`, {
      resources: names.map((each) => ({ kind: 'record', record_type: 'deal', id: each })),
    })
  const others = upTo(FREE).map((n) => `of-another-${n}`)
  succeed(await put(call, id, 'own'), 201)
  succeed(await discard(['own'], '?dry_run=true'))
  succeed(await discard(['own']))
  expect(succeed(await call('GET', '/v1/tokens/self')).bounds.pace.bases).toMatchObject([{ used: 2 }])
  expectDetail(await discard(others), 403, { code: 'paused' })
  expect(succeed(await world.call('GET', `/v1/${id}/records/deal`)).data).toHaveLength(FREE)
  expect(await requests(base)).toMatchObject([{ pause: { writes: 2, refused: FREE } }])
})

test('change-sets that it opens and deletes, and its comments, count; dry runs and those of people do not', {
  tags: 'full',
}, async () => {
  const base = await desk()
  const { call } = await agentOf(base, 'propose')
  const used = async () => succeed(await call('GET', '/v1/tokens/self')).bounds.pace.bases[0]?.used ?? 0
  const open = (name: string, by = call) => by('POST', `/v1/${base}/preview`, { name, copy: 'on_write' })
  const drop = (name: string, by = call, query = '') => by('DELETE', `/v1/bases/${base}--${name}${query}`)
  const comment = (name: string, by = call, query = '') =>
    by('POST', `/v1/${base}--${name}/reviews${query}`, { verdict: 'comment', text: 'Why?' })
  for (const _ of upTo(FREE)) {
    succeed(await open('of-a-person', world.call), 201)
    succeed(await comment('of-a-person', world.call), 201)
    succeed(await drop('of-a-person', world.call))
  }
  expect(await used()).toBe(0)
  succeed(await open('one'), 201)
  succeed(await comment('one', call, '?dry_run=true'), 201)
  succeed(await drop('one', call, '?dry_run=true'))
  expect(await used()).toBe(1)
  succeed(await drop('one'))
  succeed(await open('two'), 201)
  for (const n of upTo(FREE - 3)) expect([n, (await comment('two')).status]).toEqual([n, 201])
  expect(await used()).toBe(FREE)
  expectDetail(await comment('two'), 403, { code: 'paused' })
  expectDetail(await open('three'), 403, { code: 'paused' })
  expectDetail(await drop('two'), 403, { code: 'paused' })
  const { data } = succeed(await world.call('GET', `/v1/${base}--two/reviews`))
  expect(data).toHaveLength(FREE - 3)
  expect((await world.call('GET', `/v1/bases/${base}--three`)).status).toBe(404)
  expect(await requests(base)).toMatchObject([{ pause: { writes: FREE, refused: 1, wrote: [] } }])
})

test('others go on: another token, another base, and one that writes directly', async () => {
  const base = await desk()
  const elsewhere = await desk()
  const grant = { permission: 'write', writes: { auto: [ANYTHING] } }
  const { call } = await world.newToken([
    { base, ...grant },
    { base: elsewhere, ...grant },
  ])
  await runAway(call, base)
  succeed(await put(call, elsewhere, 'one'), 201)
  succeed(await put((await agentOf(base)).call, base, 'other'), 201)
  const direct = await agentOf(base, 'direct')
  for (const n of upTo(3 * FREE)) succeed(await put(direct.call, base, `direct-${n}`), 201)
  expect(await requests(base)).toHaveLength(1)
  expect(await requests(elsewhere)).toEqual([])
})

test('a person resumes it, and it may write as much again; the agent itself may not', async () => {
  const base = await desk()
  const { call } = await agentOf(base)
  await runAway(call, base)
  const [asked] = await requests(base)
  expect((await decide(base, asked.id, { decision: 'accept' }, call)).status).toBe(403)
  expectDetail(await decide(base, asked.id, { decision: 'decline' }), 400, { code: 'only_accept' })
  expectDetail(await decide(base, asked.id, { decision: 'accept', resources: [] }), 400, {
    path: '/resources',
  })
  succeed(await decide(base, asked.id, { decision: 'accept', dry_run: true }))
  expectDetail(await put(call, base, 'still'), 403, { code: 'paused' })
  const done = succeed(await decide(base, asked.id, { decision: 'accept', note: 'An import.' }))
  expect(done).toMatchObject({ state: 'accepted', decision: { note: 'An import.', promotion_id: null } })
  expect(await requests(base, 'decided')).toHaveLength(1)
  await runAway(call, base, 'next')
  expect(await stored(base)).toBe(2 * FREE)
  expect(await requests(base)).toHaveLength(1)
})

test('a pause is off the list with its token, and the log says so; the undo of what it wrote is left', async () => {
  const base = await desk()
  const { id, call } = await agentOf(base)
  const other = await agentOf(base)
  await runAway(call, base)
  await runAway(other.call, base, 'other')
  const asked = (await requests(base)).find(({ by }: { by: { token_id: string } }) => by.token_id === id)
  succeed(await world.call('DELETE', `/v1/tokens/${id}`))
  expect((await requests(base)).map(({ by }: { by: { token_id: string } }) => by.token_id)).toEqual([
    other.id,
  ])
  expect((await decide(base, asked.id)).status).toBe(404)
  const { data } = succeed(await world.call('GET', `/v1/${base}/changes?kind=review_request&id=${asked.id}`))
  expect(data.map(({ operation }: { operation: string }) => operation)).toEqual(['create', 'delete'])
  succeed(await world.call('POST', `/v1/${base}/revert`, { actor: id, since: asked.pause.since }))
  expect(await stored(base)).toBe(FREE)
})

test('the pause of a token that has expired ends, and that of one that lives or is renewed stays', async () => {
  const base = await desk()
  const soon = new Date(Date.now() + 3_600_000).toISOString()
  const writes = { auto: [ANYTHING] }
  const [over, lives, renewed] = await Promise.all(
    times(3, () => world.newToken([{ base, permission: 'write', writes }], { expires_at: soon })),
  )
  if (!over || !lives || !renewed) throw new Error('three tokens')
  for (const [n, { call }] of [over, lives, renewed].entries()) await runAway(call, base, `of-${n}`)
  // A client renews its token as long as who let it in may.
  await world.database.query(
    `INSERT INTO plinth.oauth_authorization (id, code_hash, code_expires_at, client_id, client_name, resource, redirect_uri, challenge, grants, granted_by, token_id)
     VALUES ('a', '\\x00', now(), 'c', 'c', 'r', 'u', 'c', '[]', $2, $1)`,
    [renewed.id, lives.id],
  )
  await world.database.query(`UPDATE plinth.token SET expires_at = now() WHERE id = ANY ($1)`, [
    [over.id, renewed.id],
  ])
  const asked = await requests(base)
  await world.database.query(`SELECT graphile_worker.add_job('sweep_change_sets')::text`)
  const ofTokens = (rows: { by: { token_id: string } }[]) => rows.map(({ by }) => by.token_id).sort()
  expect(ofTokens(asked)).toEqual([over.id, lives.id, renewed.id].sort())
  await expect.poll(() => requests(base), { timeout: 20_000 }).toHaveLength(2)
  expect(ofTokens(await requests(base))).toEqual([lives.id, renewed.id].sort())
  const { id } = asked.find(({ by }: { by: { token_id: string } }) => by.token_id === over.id)
  const { data } = succeed(await world.call('GET', `/v1/${base}/changes?kind=review_request&id=${id}`))
  expect(data.map(({ operation }: { operation: string }) => operation)).toEqual(['create', 'delete'])
  expect(data[1].actor.name).toBe('system')
})

const byHand = (base: string, id: string, verb: 'pause' | 'resume', body: object = {}, call = world.call) =>
  call('POST', `/v1/${base}/tokens/${id}/${verb}`, body)

test('a person pauses a token by hand over each door, and resumes it; both are in the history', async () => {
  const base = await desk()
  succeed(
    await world.call('PUT', `/v1/${base}/actions/noted`, {
      steps: [{ name: 'made', type: 'create_record', record_type: 'deal', data: {} }],
    }),
    201,
  )
  for (const writes of ['direct', 'propose', { auto: [ANYTHING] }]) {
    const { id, token, call } = await agentOf(base, writes)
    const key = `by-${JSON.stringify(writes).length}`
    succeed(await put(call, base, key), 201)
    const note = 'It answers the wrong customers.'
    expect(succeed(await byHand(base, id, 'pause', { note, dry_run: true })).dry_run).toBe(true)
    succeed(await put(call, base, `${key}-dry`), 201)
    const asked = succeed(await byHand(base, id, 'pause', { note }))
    expect(asked).toMatchObject({
      ...{ kind: 'pause', state: 'open', note, by: { token_id: id, name: 'reply-agent' } },
      pause: { token_id: id, writes: 2, paused_by: { name: 'admin', via: 'rest' } },
    })
    expect(succeed(await byHand(base, id, 'pause')).id).toBe(asked.id)
    expect((await requests(base)).map((each: { id: string }) => each.id)).toEqual([asked.id])
    const refusal = {
      code: 'paused',
      path: '',
      message: expect.stringContaining(`admin paused the token and says: "${note}"`),
    }
    const operations = [{ type: 'create_record', record_type: 'deal', data: {} }]
    for (const answer of [
      await put(call, base, 'more'),
      await call('DELETE', `/v1/${base}/records/deal/${key}`),
      await call('POST', `/v1/${base}/batch`, { operations }),
      await call('POST', `/v1/${base}/sql/execute`, { statements: `INSERT INTO deal (id) VALUES ('sql')` }),
      await call('POST', `/v1/${base}/actions/noted/run`, {}),
      await call('POST', `/v1/${base}/records/deal/claim`, {}),
      await call('PUT', `/v1/${base}/record-types/other`, {}),
      await call('PUT', `/v1/${base}/files/paper/a.txt`, 'a'),
      await call('POST', `/v1/${base}/preview`, { name: 'own', copy: 'on_write' }),
    ])
      expectDetail(answer, 403, refusal)
    const query = `mutation { createRecord(base: "${base}", recordType: "deal", data: {}) { id } }`
    expect((await call('POST', '/graphql', { query })).body.errors[0].extensions.details[0]).toMatchObject(
      refusal,
    )
    const tool = await callTool(world, `/mcp/${base}`, 'create_deal', {}, { token })
    expect(JSON.stringify(tool.result ?? tool.error)).toContain('paused it')
    expect(succeed(await call('GET', '/v1/tokens/self')).bounds.paused).toMatchObject([
      { base_id: base, review_request: asked.id },
    ])
    succeed(await call('GET', `/v1/${base}/records/deal`))
    expect((await byHand(base, id, 'resume', {}, call)).status).toBe(403)
    expect(succeed(await byHand(base, id, 'resume', { note: 'Mended.' }))).toMatchObject({
      id: asked.id,
      state: 'accepted',
      decision: { note: 'Mended.' },
    })
    expectDetail(await byHand(base, id, 'resume'), 409, { code: 'not_paused' })
    succeed(await put(call, base, `${key}-after`), 201)
    const { data } = succeed(
      await world.call('GET', `/v1/${base}/changes?kind=review_request&id=${asked.id}`),
    )
    expect(
      data.map((each: { operation: string; actor: { name: string } }) => [each.operation, each.actor.name]),
    ).toEqual([
      ['create', 'admin'],
      ['update', 'admin'],
    ])
  }
})

test('who may write all of a base pauses in it, and who administers it pauses administrators; nobody itself', async () => {
  const base = await desk()
  const [writer, reader, admin, part] = await Promise.all([
    world.newToken([{ base, permission: 'write' }]),
    world.newToken([{ base, permission: 'read' }]),
    world.newToken([
      { base, permission: 'admin' },
      { base: 'crm', permission: 'admin' },
    ]),
    world.newToken([{ base, permission: 'write', record_type: ['deal'] }]),
  ])
  const other = await world.newToken([{ permission: 'write' }])
  expectDetail(await byHand(base, admin.id, 'pause', {}, writer.call), 403, { code: 'missing_permission' })
  for (const { call } of [reader, part])
    expectDetail(await byHand(base, writer.id, 'pause', {}, call), 403, { code: 'missing_permission' })
  expectDetail(await byHand(base, admin.id, 'pause', {}, admin.call), 403, { code: 'own_token' })
  for (const id of ['none', other.id])
    expectDetail(await byHand(base, id, 'pause', {}, writer.call), 404, { code: 'token_not_found' })
  expectDetail(await byHand(`${base}--x`, part.id, 'pause'), 400, { code: 'is_preview' })
  succeed(await byHand(base, part.id, 'pause', {}, writer.call))
  expectDetail(await put(part.call, base, 'one'), 403, { code: 'paused' })
  // An administrator makes no other token that goes on in its place.
  succeed(await byHand(base, admin.id, 'pause'))
  const make = (at: string) => {
    const grants = [{ base: at, record_type: '*', environment: '*', permission: 'write' }]
    return admin.call('POST', '/v1/tokens', { name: 'next', grants })
  }
  expectDetail(await make(base), 403, { code: 'outside_own_grants' })
  succeed(await make('crm'), 201)
  expectDetail(await byHand(base, part.id, 'resume', {}, admin.call), 403, { code: 'paused' })
  succeed(await admin.call('PUT', `/v1/crm/record-types/${base}`, {}), 201)
})

test('a pause by hand holds for a tab of the token, for a client that it let in, and on each server', {
  tags: 'full',
}, async () => {
  const other = await openWorld(SETTINGS, world.database)
  try {
    const base = await desk()
    const { id, token, call } = await agentOf(base, 'direct')
    const client = await agentOf(base, 'direct')
    await world.database.query(
      `INSERT INTO plinth.oauth_authorization (id, code_hash, code_expires_at, client_id, client_name, resource, redirect_uri, challenge, grants, granted_by, token_id)
       VALUES ('by-hand', '\\x01', now(), 'c', 'c', 'r', 'u', 'c', '[]', $2, $1)`,
      [client.id, id],
    )
    const { code } = succeed(await call('POST', '/v1/tokens/self/sign-in-codes'), 201)
    const tab = world.as(succeed(await world.as(null)('POST', '/playground/sign-in', { code })).token)
    const doors = [call, tab, client.call, other.as(token)]
    for (const [n, door] of doors.entries()) succeed(await put(door, base, `at-${n}`), 201)
    succeed(await byHand(base, id, 'pause'))
    for (const [n, door] of doors.entries())
      await expect.poll(async () => (await put(door, base, `at-${n}`, { n })).status).toBe(403)
    succeed(await byHand(base, id, 'resume'))
    for (const [n, door] of doors.entries())
      await expect.poll(async () => (await put(door, base, `at-${n}`, { n })).status).toBe(200)
  } finally {
    await other.close()
  }
})

test('one undo takes back what it wrote since the hour began', async () => {
  const base = await desk()
  const { call } = await agentOf(base)
  await runAway(call, base)
  const [{ pause }] = await requests(base)
  const undone = succeed(
    await world.call('POST', `/v1/${base}/revert`, { actor: pause.token_id, since: pause.since }),
  )
  expect(undone.count).toBe(FREE)
  expect(await stored(base)).toBe(0)
})

test('ten times what is usual is allowed, by the hours in which it wrote', { tags: 'full' }, async () => {
  const base = await desk()
  const { id, call } = await agentOf(base)
  for (const [hours, used] of [
    [1, 1],
    [30, 3],
    [24 * 15, 1000],
  ])
    await world.database.query(
      `INSERT INTO plinth.automatic_write (token_id, rule, since, used) VALUES ($1, $2, date_trunc('hour', now()) - make_interval(hours => $3), $4)`,
      [id, `base/${base}`, hours, used],
    )
  for (const n of upTo(20)) succeed(await put(call, base, `usual-${n}`), 201)
  expectDetail(await put(call, base, 'more'), 403, { code: 'paused' })
  expect((await requests(base))[0].pause).toMatchObject({ writes: 20, usual: 2, allowed: 20 })
  const { pace } = succeed(await call('GET', '/v1/tokens/self')).bounds
  expect(pace.bases).toEqual([{ base_id: base, used: 20, usual: 2, pauses_above: 20 }])
})

test('a trigger hears of the pause, and of its end', { tags: 'full' }, async () => {
  const base = await desk()
  const types = ['token.paused', 'token.resumed']
  const url = `${receiver.url}/${base}`
  succeed(await world.call('PUT', `/v1/${base}/triggers/watch`, { url, events: types }), 201)
  const { id, call } = await agentOf(base)
  await runAway(call, base)
  const [asked] = await requests(base)
  succeed(await decide(base, asked.id))
  await until(() => receiver.at(`/${base}`).length === 2)
  const [paused, resumed] = types.map((type) =>
    receiver.at(`/${base}`).find(({ body }) => body.type === type),
  )
  expect(paused?.body.data).toMatchObject({
    ...{ base_id: base, actor: { token_id: id, name: 'reply-agent', kind: 'agent' } },
    review_request: { id: asked.id, state: 'open', pause: { token_id: id, writes: FREE } },
  })
  expect(resumed?.body.data.review_request).toMatchObject({ id: asked.id, state: 'accepted' })
})

test('writers at once never exceed it, and open one request', { tags: 'full' }, async () => {
  for (const writes of [{ auto: [ANYTHING] }, 'propose']) {
    const base = await desk()
    const { call } = await agentOf(base, writes)
    const answers = await Promise.all(times(3 * FREE, (n) => put(call, base, `once-${n}`)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(FREE)
    for (const answer of answers.filter(({ status }) => status !== 201))
      expectDetail(answer, 403, { code: 'paused' })
    const [{ pause }, ...others] = await requests(base)
    expect([pause.wrote[0].count, others]).toEqual([FREE, []])
  }
})

test('a batch that is too much writes nothing, and passes once it is resumed', async () => {
  const base = await desk()
  const { call } = await agentOf(base)
  const operations = times(FREE + 2, (n) => ({
    type: 'upsert_record',
    record_type: 'deal',
    id: `b-${n}`,
    data: {},
  }))
  const send = () => call('POST', `/v1/${base}/batch`, { operations })
  succeed(await call('POST', `/v1/${base}/batch?dry_run=true`, { operations }))
  expect(await requests(base)).toEqual([])
  expectDetail(await send(), 403, { code: 'paused' })
  expect(await stored(base)).toBe(0)
  const [asked] = await requests(base)
  expect(asked.pause).toMatchObject({ writes: 0, refused: FREE + 2 })
  succeed(await decide(base, asked.id))
  succeed(await send())
  expect(await stored(base)).toBe(FREE + 2)
})

test('a tab of its browser is the same token', async () => {
  const base = await desk()
  const { id, call } = await agentOf(base)
  const { code } = succeed(await call('POST', '/v1/tokens/self/sign-in-codes'), 201)
  const { token } = succeed(await world.as(null)('POST', '/playground/sign-in', { code }))
  const tab = world.as(token)
  for (const n of upTo(FREE)) succeed(await put(n % 2 ? call : tab, base, `tab-${n}`), 201)
  expectDetail(await put(tab, base, 'more'), 403, { code: 'paused' })
  expectDetail(await put(call, base, 'more'), 403, { code: 'paused' })
  expect((await requests(base))[0].pause).toMatchObject({ token_id: id, wrote: [{ count: FREE }] })
})

test('two servers count as one', { tags: 'full' }, async () => {
  const other = await openWorld(SETTINGS, world.database)
  try {
    const base = await desk()
    const { token } = await agentOf(base)
    const doors = [world, other].map((each) => each.as(token))
    const answers = await Promise.all(
      upTo(2 * FREE).flatMap((n) => doors.map((call, at) => put(call, base, `at-${at}-${n}`))),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(FREE)
    for (const call of doors) expectDetail(await put(call, base, 'more'), 403, { code: 'paused' })
    const [asked, ...others] = await requests(base)
    expect(others).toEqual([])
    succeed(await decide(base, asked.id))
    for (const [n, call] of doors.entries()) succeed(await put(call, base, `next-${n}`), 201)
  } finally {
    await other.close()
  }
})

test('hours and days are those of UTC, on a database of another timezone too', { tags: 'full' }, async () => {
  const own = await openWorld(SETTINGS)
  const [{ name } = { name: '' }] = await own.database.query<{ name: string }>(
    'SELECT current_database() AS name',
  )
  await own.database.query(`ALTER DATABASE "${name}" SET timezone = 'Asia/Kolkata'`)
  const other = await openWorld(SETTINGS, own.database)
  try {
    succeed(await other.call('PUT', '/v1/crm/record-types/deal', {}), 201)
    const rule = { record_type: 'deal', operations: ['create'], max: 5 }
    const auto = [
      { ...rule, per: 'day' },
      { ...rule, operations: ['update'], per: 'hour' },
    ]
    const { call } = await other.newToken([{ permission: 'write', writes: { auto } }])
    succeed(await put(call, 'crm', 'one', { n: 1 }), 201)
    succeed(await put(call, 'crm', 'one', { n: 2 }))
    const { rules } = succeed(await call('GET', '/v1/tokens/self')).bounds
    expect(rules.map(({ used }: { used: number }) => used)).toEqual([1, 1])
    const counts = await own.database.query<{ since: Date }>('SELECT since FROM plinth.automatic_write')
    expect(counts.map(({ since }) => since.getTime() % 3_600_000)).toEqual([0, 0, 0])
  } finally {
    await other.close()
    await own.close()
  }
})

test('a token sees what is left of its rules, when they count anew, and where it is paused', async () => {
  const base = await desk()
  const hourly = { ...ANYTHING, operations: ['delete'], max: 2, per: 'hour' }
  const { call, token } = await agentOf(base, { auto: [ANYTHING, hourly] })
  const bounds = async (by = call) => succeed(await by('GET', '/v1/tokens/self')).bounds
  const floor = { per: 'hour', pauses_above: FREE }
  expect((await bounds()).pace).toEqual({ ...floor, bases: [] })
  succeed(await put(call, base, 'gone'), 201)
  succeed(await call('DELETE', `/v1/${base}/records/deal/gone`))
  const { rules, pace, paused } = await bounds()
  expect(pace).toEqual({ ...floor, bases: [{ base_id: base, used: 2, usual: 0, pauses_above: FREE }] })
  expect(rules).toMatchObject([
    { base: [base], ...ANYTHING, used: 1, remaining: 999 },
    { base: [base], ...hourly, used: 1, remaining: 1 },
  ])
  expect(rules.map((each: { ends_at: string }) => Date.parse(each.ends_at) > Date.now())).toEqual([
    true,
    true,
  ])
  expect(paused).toEqual([])
  for (const n of upTo(FREE - 2)) succeed(await put(call, base, `run-${n}`), 201)
  expectDetail(await put(call, base, 'more'), 403, { code: 'paused' })
  const [asked] = await requests(base)
  const after = await bounds()
  expect(after.paused).toMatchObject([{ base_id: base, review_request: asked.id }])
  const tool = await callTool(world, `/mcp/${base}`, 'whoami', {}, { token })
  expect(tool.result?.structuredContent).toMatchObject({ name: 'reply-agent', kind: 'agent', bounds: after })
  expect(JSON.stringify(tool)).not.toContain(token.slice(4, 20))
  expect(await bounds(world.call)).toBeUndefined()
})

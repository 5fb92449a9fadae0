// @module-tag full
/** What waits for a person: asked by one token, decided once by another. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectDetail, expectFailure, succeed, times } from '../../support/answers.ts'
import { openWorld, type World } from '../../support/world.ts'

type Token = Awaited<ReturnType<World['newToken']>>
let world: World
let serial = 0
let agent: Token
let person: Token
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const type = (...names: string[]) => ({
  json_schema: {
    type: 'object',
    properties: Object.fromEntries(names.map((each) => [each, { type: 'string' }])),
  },
})

/** A base with a preview that adds a field, an agent that may ask, and a person who may decide. */
async function desk(): Promise<string> {
  const base = `desk${++serial}`
  succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
  succeed(await world.call('PUT', `/v1/${base}/record-types/ticket`, type('subject')), 201)
  succeed(await world.call('POST', `/v1/${base}/preview`, { name: 'csat' }), 201)
  succeed(await world.call('PUT', `/v1/${base}--csat/record-types/ticket`, type('subject', 'score')))
  agent = await world.newToken(
    [
      { base, permission: 'read', environment: 'production' },
      { base, permission: 'manage', environment: 'preview' },
    ],
    { name: 'schema-agent', kind: 'agent' },
  )
  person = await world.newToken([{ base, permission: 'admin' }], { name: 'Mara', kind: 'person' })
  return base
}
const ask = (base: string, body: object = {}, call = agent.call) =>
  call('POST', `/v1/${base}/review-requests`, { from: `${base}--csat`, ...body })
const decide = (base: string, id: string, body: object, call = person.call) =>
  call('POST', `/v1/${base}/review-requests/${id}/decision`, body)
const open = async (base: string, state = 'open') =>
  succeed(await person.call('GET', `/v1/${base}/review-requests?state=${state}&include_total=true`))
const fieldsOf = async (base: string) =>
  Object.keys(succeed(await world.call('GET', `/v1/${base}/record-types/ticket`)).json_schema.properties)

test('an agent asks, a person accepts, and the promotion and the decision are one', {
  tags: 'full',
}, async () => {
  const base = await desk()
  const asked = succeed(await ask(base, { note: 'The survey starts on Monday.' }), 201)
  expect(asked).toMatchObject({
    ...{ kind: 'promotion', from: `${base}--csat`, title: 'Promote csat', summary: '1 change' },
    ...{ state: 'open', may_decide: false, decision: null, breaks: [], note: 'The survey starts on Monday.' },
    by: { name: 'schema-agent', kind: 'agent', via: 'rest' },
  })
  const { data, meta } = await open(base)
  expect([data.length, meta.total, data[0].may_decide]).toEqual([1, 1, true])
  const found = succeed(await person.call('GET', `/v1/${base}/review-requests/${asked.id}`))
  expect(found.proposal).toMatchObject({
    changes: [{ kind: 'record_type', id: 'ticket', op: 'update' }],
    breaks: [],
  })

  expect(succeed(await decide(base, asked.id, { decision: 'accept', dry_run: true })).dry_run).toBe(true)
  expect([await fieldsOf(base), (await open(base)).meta.total]).toEqual([['subject'], 1])

  const done = succeed(await decide(base, asked.id, { decision: 'accept', note: 'Good.' }))
  expect(done).toMatchObject({
    state: 'accepted',
    decision: { decision: 'accept', note: 'Good.', by: { name: 'Mara', kind: 'person' } },
    promotion: { kind: 'promotion', changes: [{ id: 'ticket' }] },
  })
  expect(done.decision.promotion_id).toBe(done.promotion.id)
  expect(await fieldsOf(base)).toEqual(['subject', 'score'])
  expect([(await open(base)).meta.total, (await open(base, 'decided')).meta.total]).toEqual([0, 1])
  expect(succeed(await agent.call('GET', `/v1/${base}/review-requests/${asked.id}`)).proposal).toBeNull()
  expectDetail(await decide(base, asked.id, { decision: 'decline' }), 409, { code: 'decided' })
  const log = succeed(await world.call('GET', `/v1/${base}/changes?kind=review_request`)).data
  expect(
    log.map((each: { operation: string; actor: { name: string } }) => [each.operation, each.actor.name]),
  ).toEqual([
    ['create', 'schema-agent'],
    ['update', 'Mara'],
  ])
})

test('a request that is sent back has the note, and the agent asks anew', { tags: 'full' }, async () => {
  const base = await desk()
  const first = succeed(await ask(base), 201)
  expect(succeed(await decide(base, first.id, { decision: 'send_back', note: 'Name it csat.' })).state).toBe(
    'sent_back',
  )
  expect(await fieldsOf(base)).toEqual(['subject'])
  succeed(await world.call('PUT', `/v1/${base}--csat/record-types/ticket`, type('subject', 'csat')))
  const second = succeed(await ask(base, { title: 'Again' }), 201)
  expect(second.id).not.toBe(first.id)
  const replaced = succeed(await ask(base, { title: 'Once more' }), 201)
  expect([replaced.id, replaced.title]).toEqual([second.id, 'Once more'])
  expect((await open(base)).meta.total).toBe(1)
  expect(succeed(await decide(base, second.id, { decision: 'decline' })).state).toBe('declined')
})

test('an acceptance lets nothing pass that was changed since it was asked for', {
  tags: 'full',
}, async () => {
  const base = await desk()
  const preview = (...names: string[]) =>
    agent.call('PUT', `/v1/${base}--csat/record-types/ticket`, type('subject', ...names))
  const first = succeed(await ask(base), 201)
  succeed(await preview('score', 'backdoor'))
  for (const dry_run of [true, false])
    expectDetail(await decide(base, first.id, { decision: 'accept', dry_run }), 409, {
      code: 'changed_since',
    })
  expect(await fieldsOf(base)).toEqual(['subject'])
  expect((await open(base)).data).toMatchObject([{ id: first.id, migration: null }])
  // Whoever looks at the former one decides nothing else by it.
  const second = succeed(await ask(base), 201)
  expect(second.id).not.toBe(first.id)
  expectFailure(await decide(base, first.id, { decision: 'accept' }), 'NOT_FOUND')
  expect((await open(base)).data).toMatchObject([{ id: second.id }])
  succeed(await preview('score'))
  expect(
    expectFailure(await decide(base, second.id, { decision: 'accept' }), 'CONFLICT').details,
  ).toHaveLength(1)
  succeed(await preview('score', 'backdoor'))
  succeed(await decide(base, second.id, { decision: 'accept' }))
  expect(await fieldsOf(base)).toEqual(['subject', 'score', 'backdoor'])
})

test('a part that was asked for is accepted as it was, whatever else the preview has changed since', async () => {
  const base = await desk()
  const resources = [{ kind: 'record_type', id: 'ticket' }]
  const { id } = succeed(await ask(base, { resources }), 201)
  succeed(await agent.call('PUT', `/v1/${base}--csat/record-types/other`, type('n')), 201)
  succeed(await decide(base, id, { decision: 'accept' }))
  expect(await fieldsOf(base)).toEqual(['subject', 'score'])
  expectFailure(await world.call('GET', `/v1/${base}/record-types/other`), 'NOT_FOUND')
})

test('what production does not fit is a break, and refuses the acceptance without deciding', {
  tags: 'full',
}, async () => {
  const base = await desk()
  succeed(await world.call('PUT', `/v1/${base}/records/ticket/t1`, { data: { subject: 'long enough' } }), 201)
  const short = { json_schema: { type: 'object', properties: { subject: { type: 'string', maxLength: 3 } } } }
  succeed(await world.call('PUT', `/v1/${base}--csat/record-types/ticket`, short))
  const asked = succeed(await ask(base), 201)
  expect(asked.breaks).toMatchObject([
    { kind: 'record_type', id: 'ticket', code: 'records_invalid', count: 1 },
  ])
  expectDetail(await decide(base, asked.id, { decision: 'accept' }), 409, { code: 'records_invalid' })
  expect((await open(base)).meta.total).toBe(1)
  const migration = { ticket: [{ op: 'replace', field: 'data.subject', from: 'long enough', value: 'ok' }] }
  expect(succeed(await decide(base, asked.id, { decision: 'accept', migration })).state).toBe('accepted')
  expect(succeed(await world.call('GET', `/v1/${base}/records/ticket/t1`)).data).toEqual({ subject: 'ok' })
})

test('a request says which migration it asks for, and a part without its type leaves it out', {
  tags: 'full',
}, async () => {
  const base = await desk()
  succeed(await world.call('PUT', `/v1/${base}/records/ticket/t1`, { data: { subject: 'long enough' } }), 201)
  const short = { json_schema: { type: 'object', properties: { subject: { type: 'string', maxLength: 3 } } } }
  succeed(await world.call('PUT', `/v1/${base}--csat/record-types/ticket`, short))
  for (const id of ['one', 'two'])
    succeed(await world.call('PUT', `/v1/${base}--csat/record-types/${id}`, {}), 201)
  const plain = succeed(await ask(base, { resources: [{ kind: 'record_type', id: 'one' }] }), 201)
  expect([plain.migration, plain.breaks]).toEqual([null, []])
  const migration = { ticket: [{ op: 'replace', field: 'data.subject', from: 'long enough', value: 'ok' }] }
  const asked = succeed(await ask(base, { migration }), 201)
  expect([asked.migration, asked.breaks]).toEqual([migration, []])
  expect((await open(base)).data[0].migration).toEqual(migration)
  const resources = [{ kind: 'record_type', id: 'one' }]
  const other = { two: migration.ticket }
  expectDetail(await decide(base, asked.id, { decision: 'accept', resources, migration: other }), 400, {
    path: '/migration/two',
  })
  succeed(await decide(base, asked.id, { decision: 'accept', resources }))
  expect(succeed(await world.call('GET', `/v1/${base}/records/ticket/t1`)).data).toEqual({
    subject: 'long enough',
  })
  expect((await world.call('GET', `/v1/${base}/record-types/two`)).status).toBe(404)
  const rest = succeed(await ask(base, { migration }), 201)
  succeed(await decide(base, rest.id, { decision: 'accept' }))
  expect(succeed(await world.call('GET', `/v1/${base}/records/ticket/t1`)).data).toEqual({ subject: 'ok' })
})

test('nobody decides their own request, in no tab, and nobody without admin decides at all', {
  tags: 'full',
}, async () => {
  const base = await desk()
  const asked = succeed(await ask(base, {}, person.call), 201)
  expect(asked.may_decide).toBe(false)
  expectDetail(await decide(base, asked.id, { decision: 'accept' }), 403, { code: 'own_request' })
  const { code } = succeed(await person.call('POST', '/v1/tokens/self/sign-in-codes'), 201)
  const { token } = succeed(await world.as(null)('POST', '/playground/sign-in', { code }))
  expectDetail(await decide(base, asked.id, { decision: 'accept' }, world.as(token)), 403, {
    code: 'own_request',
  })
  // What was asked for in a tab is not asked by another once that is closed.
  const inTab = succeed(await ask(base, {}, world.as(token)), 201)
  succeed(await world.as(token)('POST', '/playground/sign-out', {}))
  expectDetail(await decide(base, inTab.id, { decision: 'accept' }), 403, { code: 'own_request' })
  expectFailure(await decide(base, asked.id, { decision: 'accept' }, agent.call), 'FORBIDDEN')
  const other = await world.newToken([{ base, permission: 'read', record_type: 'ticket' }])
  expectFailure(await other.call('GET', `/v1/${base}/review-requests`), 'FORBIDDEN')
  expectFailure(await ask(base, {}, other.call), 'FORBIDDEN')
  const reader = await world.newToken([{ base, permission: 'read' }])
  expectFailure(await ask(base, {}, reader.call), 'FORBIDDEN')
  expect(await fieldsOf(base)).toEqual(['subject'])
})

test('of many decisions at once, one takes effect', { tags: 'full' }, async () => {
  const base = await desk()
  const { id } = succeed(await ask(base), 201)
  const answers = await Promise.all(
    times(6, (n) => decide(base, id, { decision: n % 2 === 0 ? 'accept' : 'decline' })),
  )
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  for (const answer of answers.filter(({ status }) => status !== 200))
    expectDetail(answer, 409, { code: 'decided' })
  const { state } = succeed(await person.call('GET', `/v1/${base}/review-requests/${id}`))
  expect((await fieldsOf(base)).includes('score')).toBe(state === 'accepted')
})

test('how conflicts end is said by who decides: a request that says it is refused by name', async () => {
  const base = await desk()
  const resolve = [{ record_type: 'ticket', id: 't1', take: 'preview' }]
  const refused = expectFailure(await ask(base, { resolve }), 'VALIDATION_ERROR')
  expect(refused.details).toMatchObject([{ path: '/resolve', code: 'unknown_key' }])
  expect((await open(base)).data).toEqual([])
})

test('nothing to promote is refused, and a request goes from the lists with its preview', {
  tags: 'full',
}, async () => {
  const base = await desk()
  const { id } = succeed(await ask(base), 201)
  succeed(await world.call('DELETE', `/v1/bases/${base}--csat?confirm=${base}--csat`))
  expect((await open(base)).meta.total).toBe(0)
  expect(succeed(await person.call('GET', `/v1/${base}/review-requests/${id}`)).proposal).toBeNull()
  expectFailure(await decide(base, id, { decision: 'accept' }), 'NOT_FOUND')
  succeed(await world.call('POST', `/v1/${base}/preview`, { name: 'empty' }), 201)
  expectDetail(await ask(base, { from: `${base}--empty` }), 409, { code: 'nothing_to_promote' })
  for (const [body, path] of [
    [{ from: base }, '/from'],
    [{ from: 'other--x' }, '/from'],
    [{ note: 'a\u0000b' }, '/note'],
    [{ note: 'x'.repeat(10_001) }, '/note'],
    [{ approve: true }, '/approve'],
  ] as const) {
    const { status, body: answer } = await ask(base, body)
    expect([body, status, answer.error.details[0].path]).toEqual([body, 400, path])
  }
})

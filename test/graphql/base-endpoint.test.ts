// @module-tag full
/** `/graphql/{base}/e/{endpoint}`: the types of an endpoint, within its policy. */
import { buildSchema } from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import type { Body, Call } from '../support/server.ts'
import { openStream } from '../support/sse.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
const AT = '/graphql/crm/e/desk'

const send = (query: string, call: Call = world.call, path = AT) => call('POST', path, { query })
async function ask(query: string, call: Call = world.call): Promise<Body> {
  const { body, text } = await send(query, call)
  expect(body.errors, text).toBeUndefined()
  return body.data
}
async function fail(query: string, call: Call = world.call): Promise<Body> {
  const { body, text } = await send(query, call)
  expect(body.errors, text).toHaveLength(1)
  return body.errors[0].extensions
}
const OURS = { field: 'data.team', op: 'eq', value: 'ours' }

beforeAll(async () => {
  world = await openWorld()
  const text = { type: 'string' }
  const types = {
    ticket: { type: 'object', properties: { title: text, team: text, secret: text } },
    customer: { type: 'object', properties: { name: text, team: text } },
    note: { type: 'object', properties: { word: text } },
  }
  for (const [id, json_schema] of Object.entries(types))
    succeed(await world.call('PUT', `/v1/crm/record-types/${id}`, { json_schema }), 201)
  for (const [id, target] of Object.entries({ customer: 'customer', noted: 'note', second: 'customer' }))
    succeed(
      await world.call('PUT', `/v1/crm/relationship-types/${id}`, {
        ...{ source_record_types: ['ticket'], target_record_types: [target], cardinality: 'many_to_many' },
      }),
      201,
    )
  const put = async (type: string, id: string, data: object) =>
    succeed(await world.call('PUT', `/v1/crm/records/${type}/${id}`, { data }), 201)
  const link = async (rel_type: string, source: string, type: string, target: string) =>
    succeed(
      await world.call('POST', '/v1/crm/relationships', {
        ...{ rel_type, source_record_type: 'ticket', source_id: source },
        ...{ target_record_type: type, target_id: target },
      }),
      201,
    )
  await put('customer', 'c1', { name: 'Ada', team: 'ours' })
  await put('customer', 'c2', { name: 'Canary', team: 'theirs' })
  for (const [id, team] of [
    ['t1', 'ours'],
    ['t2', 'ours'],
    ['t3', 'theirs'],
  ] as const) {
    await put('ticket', id, { title: id, team, secret: 'canary' })
    await link('customer', id, 'customer', id === 't2' ? 'c2' : 'c1')
  }
  await put('note', 'n1', { word: 'canary' })
  await link('noted', 't1', 'note', 'n1')
  succeed(
    await world.call('PUT', '/v1/crm/endpoints/desk', {
      tools: [
        {
          ...{ record_type: 'ticket', operations: ['get', 'list', 'create', 'update', 'aggregate'] },
          ...{ fields: ['data.title'], filter: OURS, defaults: { team: 'ours' } },
        },
        { record_type: 'customer', operations: ['list'], filter: OURS },
      ],
      relationships: [{ rel_type: 'customer', operations: ['related'] }],
    }),
    201,
  )
})
afterAll(() => world.close())

test('the schema has the types, operations, fields and relationships of the endpoint, and no others', async () => {
  const { text, headers } = await world.call('GET', `${AT}/schema.graphql`)
  const schema = buildSchema(text)
  expect(Object.keys(schema.getQueryType()?.getFields() ?? {}).sort()).toEqual([
    ...['_base', 'customerRecords', 'ticket', 'ticketAggregate', 'ticketRecords'],
  ])
  expect(Object.keys(schema.getMutationType()?.getFields() ?? {})).toEqual(['createTicket', 'updateTicket'])
  expect(schema.getSubscriptionType()).toBeUndefined()
  expect(text).toMatch(/ customer\(/)
  expect(text).not.toMatch(/^type Note|^ +(noted|secret|second)\b/m)
  expect(headers.get('etag')).toBeTruthy()
  const { __schema } = await ask('{ __schema { types { name } } }')
  const names = __schema.types.map(({ name }: Body) => name)
  expect(names).toContain('Ticket')
  expect(names).not.toContain('Note')
  const whole = await world.call('GET', '/graphql/crm/schema.graphql')
  expect(whole.text).toContain('secret')
})

test('reads stay within the policy, in lists, links, filters, aggregates and single records', async () => {
  const { ticketRecords, t3, customerRecords, ticketAggregate } = await ask(`{
    ticketRecords(sort: [{ id: ASC }]) { totalCount nodes { id title _data customer { nodes { id name } totalCount } } }
    t3: ticket(id: "t3") { id }
    customerRecords { nodes { id customer_of(sort: [{ id: ASC }]) { nodes { id } } } }
    ticketAggregate { count }
  }`)
  expect(ticketRecords).toEqual({
    totalCount: 2,
    nodes: [
      {
        id: 't1',
        title: 't1',
        _data: { title: 't1' },
        customer: { nodes: [{ id: 'c1', name: 'Ada' }], totalCount: 1 },
      },
      { id: 't2', title: 't2', _data: { title: 't2' }, customer: { nodes: [], totalCount: 0 } },
    ],
  })
  expect(t3).toBeNull()
  expect(customerRecords.nodes).toEqual([{ id: 'c1', customer_of: { nodes: [{ id: 't1' }] } }])
  expect(ticketAggregate).toEqual([{ count: 2 }])
  const through = await ask(`{
    canary: ticketRecords(where: { customer: { some: { name: { eq: "Canary" } } } }) { totalCount }
    some: ticketRecords(where: { customer: { some: {} } }) { totalCount }
  }`)
  expect(through).toEqual({ canary: { totalCount: 0 }, some: { totalCount: 1 } })
  const hidden = await fail(
    '{ ticketRecords(filter: { field: "data.secret", op: "eq", value: "canary" }) { totalCount } }',
  )
  expect(hidden.details[0].code).toBe('unknown_field')
  const links = await fail('{ ticketRecords(filter: { some: { rel_type: "noted" } }) { totalCount } }')
  expect(links.code).toBe('VALIDATION_ERROR')
})

test('writes get the defaults of the endpoint, and cannot leave its rows', async () => {
  const { createTicket } = await ask(
    'mutation { createTicket(id: "new", data: { title: "New" }) { ticket { id _data } } }',
  )
  expect(createTicket.ticket).toEqual({ id: 'new', _data: { title: 'New' } })
  const { body } = await world.call('GET', '/v1/crm/records/ticket/new')
  expect(body.data).toEqual({ title: 'New', team: 'ours' })
  expect((await fail('mutation { updateTicket(id: "t3", data: { title: "x" }) { operation } }')).code).toBe(
    'NOT_FOUND',
  )
  expect(
    (await fail('mutation { updateTicket(id: "t1", data: { _more: { team: "theirs" } }) { operation } }'))
      .code,
  ).not.toBe('INTERNAL_ERROR')
  expect((await world.call('GET', '/v1/crm/records/ticket/t1')).body.data.team).toBe('ours')
  for (const mutation of ['deleteTicket(id: "t1") { id }', 'createCustomer(data: {}) { operation }'])
    expect((await fail(`mutation { ${mutation} }`)).code).toBe('VALIDATION_ERROR')
})

test('a token of the endpoint alone uses it, and a reader of it writes nothing', async () => {
  const only = await world.newToken([{ endpoint: 'desk', permission: 'write' }])
  expect((await ask('{ ticketAggregate { count } }', only.call)).ticketAggregate[0].count).toBe(3)
  expect((await send('{ _base }', only.call, '/graphql/crm')).status).toBe(403)
  const reader = await world.newToken([{ endpoint: 'desk', permission: 'read' }])
  const { text } = await reader.call('GET', `${AT}/schema.graphql`)
  expect(text).not.toContain('type Mutation')
  const other = await world.newToken([{ record_type: 'note', permission: 'read' }])
  const none = await other.call('GET', `${AT}/schema.graphql`)
  expect(none.text).not.toMatch(/ticket|customer/i)
  expect((await world.call('GET', '/graphql/crm/e/nothing/schema.graphql')).status).toBe(404)
})

test('records that are resources can be followed from now on, without what changed and by whom', async () => {
  const put = (more: object = {}) =>
    world.call('PUT', '/v1/crm/endpoints/watch', {
      resources: true,
      tools: [
        { record_type: 'note', operations: ['get'] },
        { record_type: 'ticket', operations: ['get'], fields: ['data.title'] },
        { record_type: 'customer', operations: ['create'] },
      ],
      ...more,
    })
  succeed(await put(), 201)
  const path = '/graphql/crm/e/watch'
  const { text } = await world.call('GET', `${path}/schema.graphql`)
  const schema = buildSchema(text)
  const fields = schema.getSubscriptionType()?.getFields() ?? {}
  expect(Object.keys(fields)).toEqual(['noteChanges'])
  expect(fields['noteChanges']?.args.map(({ name }) => name)).toEqual(['id', 'operation', 'where', 'filter'])
  expect(text).not.toMatch(/_history|_Version|_Actor|\bdiff\b/)
  const { token } = await world.newToken([{ endpoint: 'watch', permission: 'read' }])
  const follow = (query: string) => openStream(world, path, { token, body: { query } })
  const stream = await follow('subscription { noteChanges { operation id version record { word } } }')
  const refused = await follow('subscription { ticketChanges { id } }')
  await refused.ended
  expect(refused.events[0]?.data.errors[0].extensions.code).toBe('VALIDATION_ERROR')
  succeed(await world.call('PUT', '/v1/crm/records/ticket/t9', { data: { title: 'canary' } }), 201)
  succeed(await world.call('PUT', '/v1/crm/records/note/n2', { data: { word: 'new' } }), 201)
  await stream.until(1)
  expect(stream.events.map(({ data }) => data.data.noteChanges)).toEqual([
    { operation: 'create', id: 'n2', version: 1, record: { word: 'new' } },
  ])
  succeed(await put({ resources: false }))
  await stream.ended
  expect((await world.call('GET', `${path}/schema.graphql`)).text).not.toContain('Subscription')
})

test('an endpoint that links records does so for types that it only reads, within their rows', async () => {
  succeed(
    await world.call('PUT', '/v1/crm/endpoints/linking', {
      tools: [
        { record_type: 'ticket', operations: ['update'], filter: OURS },
        { record_type: 'customer', operations: ['get'], filter: OURS },
      ],
      relationships: [{ rel_type: 'second', operations: ['link', 'related'] }],
    }),
    201,
  )
  const { call } = await world.newToken([{ endpoint: 'linking', permission: 'write' }])
  const link = (id: string) =>
    send(
      `mutation { updateTicket(id: "t1", data: {}, links: { second: [{ id: "${id}" }] }) { ticket { second { nodes { id } } } } }`,
      call,
      '/graphql/crm/e/linking',
    )
  expect((await link('c1')).body.data?.updateTicket.ticket.second.nodes).toEqual([{ id: 'c1' }])
  const { body, text } = await link('c2')
  expect(body.errors[0].extensions.details[0].path, text).toMatch(/^\/links\/second\/0/)
  const { body: links } = await send(
    '{ ticket(id: "t1") { second { totalCount } } }',
    world.call,
    '/graphql/crm',
  )
  expect(links.data.ticket.second.totalCount).toBe(1)
  const reader = await world.newToken([{ endpoint: 'linking', permission: 'read' }])
  expect((await reader.call('GET', '/graphql/crm/e/linking/schema.graphql')).text).not.toContain('_Links')
})

test('a change of the endpoint changes the schema, and a disabled one has none', async () => {
  const before = await world.call('GET', `${AT}/schema.graphql`)
  const tools = [{ record_type: 'ticket', operations: ['get'] }]
  succeed(await world.call('PUT', '/v1/crm/endpoints/desk', { tools }))
  const after = await world.call('GET', `${AT}/schema.graphql`)
  expect(after.text).not.toMatch(/ customer\(/)
  expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'))
  succeed(await world.call('PUT', '/v1/crm/endpoints/desk', { tools, enabled: false }))
  expect((await send('{ _base }')).status).toBe(404)
})

test('history, attachments and claims are those that the endpoint offers, within its policy', {
  tags: 'full',
}, async () => {
  const put = async (id: string, data: object, status = 201) =>
    succeed(await world.call('PUT', `/v1/crm/records/job/${id}`, { data }), status)
  const text = { type: 'string' }
  const json_schema = { type: 'object', properties: { title: text, team: text, secret: text } }
  succeed(await world.call('PUT', '/v1/crm/record-types/job', { json_schema }), 201)
  for (const id of ['j1', 'j2', 'j3'])
    await put(id, { title: id, team: id === 'j1' ? 'theirs' : 'ours', secret: 'canary' })
  await put('j1', { title: 'moved', team: 'ours', secret: 'canary' }, 200)
  await put('j3', { title: 'gone', team: 'theirs', secret: 'canary' }, 200)
  const selection = { record_type: 'job', fields: ['data.title'], filter: OURS, write_filter: {} }
  const operations = ['list', 'update', 'history', 'attach', 'claim']
  const at = '/graphql/crm/e/jobs'
  const offer = async (offered: string[], status = 201) =>
    succeed(
      await world.call('PUT', '/v1/crm/endpoints/jobs', { tools: [{ ...selection, operations: offered }] }),
      status,
    )
  await offer(operations)
  const { call } = await world.newToken([
    { base: 'crm', endpoint: 'jobs', environment: '*', permission: 'write' },
  ])
  const run = async (query: string) => {
    const { body, text } = await send(query, call, at)
    expect(body.errors, text).toBeUndefined()
    return body.data
  }
  const refusal = async (query: string) => (await send(query, call, at)).body.errors[0].extensions

  const { text: sdl } = await call('GET', `${at}/schema.graphql`)
  expect(Object.keys(buildSchema(sdl).getMutationType()?.getFields() ?? {})).toEqual([
    ...['updateJob', 'attachJob', 'claimJob', 'completeJob', 'releaseJob'],
  ])
  expect(sdl).not.toMatch(/_history\([^)]*before/)

  await run('mutation { updateJob(id: "j1", data: { title: "seen" }) { operation } }')
  const { jobRecords } = await run(
    '{ jobRecords(sort: [{ id: ASC }]) { nodes { id _history { version diff } _attachments { filename } } } }',
  )
  expect(
    jobRecords.nodes.map(({ id, _history }: Body) => [id, _history.map(({ version }: Body) => version)]),
  ).toEqual([
    ['j1', [3, 2]],
    ['j2', [1]],
  ])
  expect(JSON.stringify(jobRecords)).not.toMatch(/canary|theirs|ours/)

  const attach = (id: string) =>
    `mutation { attachJob(id: "${id}", filename: "n.txt", content: "Hi", contentType: "text/plain") { size status } }`
  expect(await run(attach('j1'))).toEqual({ attachJob: { size: 2, status: 'ready' } })
  expect((await refusal(attach('j3'))).code).toBe('NOT_FOUND')
  const read = await run(
    '{ jobRecords(where: { title: { eq: "seen" } }) { nodes { _attachments { filename url } } } }',
  )
  const [attached] = read.jobRecords.nodes[0]._attachments
  expect(attached.filename).toBe('n.txt')
  expect(await (await fetch(new URL(new URL(attached.url).pathname, world.url))).text()).toBe('Hi')

  const { claimJob } = await run(
    'mutation { claimJob(first: 5, sort: [{ id: ASC }], patch: { title: "mine" }) { claim { id attempts } job { id title } } }',
  )
  expect(claimJob.map(({ job }: Body) => job)).toEqual([
    { id: 'j1', title: 'mine' },
    { id: 'j2', title: 'mine' },
  ])
  const [first, second] = claimJob.map(({ claim }: Body) => claim.id)
  expect(await run(`mutation { completeJob(claimId: "${first}") { status recordId } }`)).toEqual({
    completeJob: { status: 'completed', recordId: 'j1' },
  })
  expect(await run(`mutation { releaseJob(claimId: "${second}") { status } }`)).toEqual({
    releaseJob: { status: 'released' },
  })
  const lost = await refusal(`mutation { releaseJob(claimId: "${second}") { status } }`)
  expect(lost.details[0]).toMatchObject({ path: '/claimId', code: 'claim_lost' })
  const foreign = succeed(await world.call('POST', '/v1/crm/records/note/claim')).data[0].claim.id
  const unknown = await refusal(`mutation { releaseJob(claimId: "${foreign}") { status } }`)
  expect(unknown.details[0]).toMatchObject({ path: '/claimId', code: 'claim_not_found' })
  expect((await refusal('mutation { claimJob(first: 0) { claim { id } } }')).details[0].path).toBe('/first')

  await offer(['list'], 200)
  const { text: bare } = await call('GET', `${at}/schema.graphql`)
  expect(bare).not.toMatch(/_history|_attachments|claimJob|_Attachment|_Claim/)
})

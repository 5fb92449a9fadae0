/** Records of external sources in `/graphql/{base}`. */
import { buildSchema } from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import type { Body, Call } from '../support/server.ts'
import { json, openUpstream, type Upstream } from '../support/upstream.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let upstream: Upstream

const send = (query: string, call: Call = world.call, path = '/graphql/crm') => call('POST', path, { query })
async function ask(query: string): Promise<Body> {
  const { body, text } = await send(query)
  expect(body.errors, text).toBeUndefined()
  return body.data
}
async function fail(query: string): Promise<Body> {
  const { body, text } = await send(query)
  expect(body.errors, text).toHaveLength(1)
  return { message: body.errors[0].message, ...body.errors[0].extensions, data: body.data }
}

const ISSUES = Array.from({ length: 5 }, (_, n) => ({
  number: n,
  title: n === 3 ? 3 : `Issue ${n}`,
  state: n % 2 ? 'done' : 'todo',
}))
const sourceOf = (name: string, more: object = {}) => ({
  name,
  list: {
    url: `${upstream.url}/issues?limit={{limit}}&offset={{offset}}`,
    response_path: '$.items',
    total_path: '$.count',
  },
  get: { url: `${upstream.url}/issues/{{external_id}}` },
  create: { url: `${upstream.url}/issues` },
  update: { url: `${upstream.url}/issues/{{external_id}}`, method: 'PATCH' },
  field_mapping: {
    to_plinth: { external_id: '$.number', title: '$.title', state: '$.state', author: '$.author' },
  },
  ...more,
})

beforeAll(async () => {
  upstream = await openUpstream()
  upstream.on('/issues', ({ method, url, body }, response) => {
    if (method === 'POST') return json({ number: 'new1', ...(body as object) }, 201)({} as never, response)
    const from = Number(url.searchParams.get('offset'))
    const items = ISSUES.slice(from, from + Number(url.searchParams.get('limit')))
    json({ items, count: ISSUES.length })({} as never, response)
  })
  upstream.on(/^\/issues\/\d$/, ({ url, method, body }, response) => {
    const issue = ISSUES[Number(url.pathname.at(-1))]
    if (!issue) return json({}, 404)({} as never, response)
    json(method === 'GET' ? issue : { ...issue, ...(body as object) })({} as never, response)
  })
  upstream.on('/down', json({ message: 'no' }, 503))
  world = await openWorld({ PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1' })
  const down = {
    ...{ name: 'down', list: { url: `${upstream.url}/down` } },
    field_mapping: { to_plinth: { external_id: '$.id' } },
  }
  const schema = (properties: object) => ({ json_schema: { type: 'object', properties } })
  const title = { type: 'string' }
  succeed(
    await world.call('PUT', '/v1/crm/record-types/ticket', {
      ...schema({
        title,
        state: { enum: ['todo', 'done'] },
        author: { type: 'object', properties: { name: title } },
      }),
      sources: [sourceOf('hub'), down],
    }),
    201,
  )
  succeed(await world.call('PUT', '/v1/crm/record-types/note', schema({ title })), 201)
  // Its list is a root field that begins as those of the sources of "ticket" do.
  succeed(await world.call('PUT', '/v1/crm/record-types/ticket_source', schema({ title })), 201)
})
afterAll(async () => {
  await world.close()
  await upstream.close()
})

test('a type with sources has fields for them, and other types have none', async () => {
  const { text } = await world.call('GET', '/graphql/crm/schema.graphql')
  const schema = buildSchema(text)
  expect(
    Object.keys(schema.getQueryType()?.getFields() ?? {}).filter((name) => /source/i.test(name)),
  ).toEqual([
    ...['ticket_fromSource', 'ticketRecords_fromSource'],
    ...['ticketSource', 'ticketSourceRecords', 'ticketSourceAggregate'],
  ])
  expect(text).not.toMatch(/Note_Source|TicketSource_Source/)
  const update = schema.getMutationType()?.getFields() ?? {}
  const hasSource = (field: string) => update[field]?.args.some(({ name }) => name === 'externalSource')
  expect([hasSource('updateTicket'), hasSource('updateNote')]).toEqual([true, false])
})

test('a page and a record of a source are typed, and a value of another kind is null', {
  tags: 'full',
}, async () => {
  const found = await ask(`{
    ticketRecords_fromSource(externalSource: "hub", first: 2, offset: 2) {
      hasMore totalCount nodes { _type _externalId _externalSource title state author { name } _data }
    }
    ticket_fromSource(externalSource: "hub", id: "1") { __typename _externalId title }
    none: ticket_fromSource(externalSource: "hub", id: "9") { title }
  }`)
  const own = { _type: 'ticket', _externalSource: 'hub', author: null }
  expect(found).toEqual({
    ticketRecords_fromSource: {
      ...{ hasMore: true, totalCount: 5 },
      nodes: [
        {
          ...own,
          _externalId: '2',
          title: 'Issue 2',
          state: 'todo',
          _data: { title: 'Issue 2', state: 'todo' },
        },
        { ...own, _externalId: '3', title: null, state: 'done', _data: { title: 3, state: 'done' } },
      ],
    },
    ticket_fromSource: { __typename: 'Ticket_SourceRecord', _externalId: '1', title: 'Issue 1' },
    none: null,
  })
})

test('faults name the source or the argument', { tags: 'full' }, async () => {
  const page = (args: string) => fail(`{ ticketRecords_fromSource(${args}) { totalCount } }`)
  const down = await page('externalSource: "down"')
  expect(down).toMatchObject({ code: 'INTERNAL_ERROR', message: 'The source "down" answered 503 (list).' })
  const unknown = await page('externalSource: "hubb"')
  expect(unknown.details[0]).toMatchObject({ path: '/externalSource', allowed: ['hub', 'down'], hint: 'hub' })
  expect((await page('externalSource: "hub", first: 1001')).details[0].path).toBe('/first')
  expect((await page('externalSource: "hub", offset: -1')).details[0].path).toBe('/offset')
  const noGet = await fail('{ ticket_fromSource(externalSource: "down", id: "1") { title } }')
  expect(noGet.details[0]).toMatchObject({ path: '/externalSource', code: 'not_of_source' })
})

test('mutations that name a source write there, and store nothing', async () => {
  const before = upstream.asked.length
  const { made, put, patched } = await ask(`mutation {
    made: createTicket(externalSource: "hub", data: { title: "New", state: todo }) {
      operation ticket { id } ticket_fromSource { _externalId title }
    }
    put: upsertTicket(externalSource: "hub", externalId: "1", data: { title: "Put" }) { operation ticket_fromSource { title } }
    patched: updateTicket(externalSource: "hub", id: "2", data: { state: done }) {
      operation ticket_fromSource { _externalId title state }
    }
  }`)
  expect(made).toEqual({
    ...{ operation: 'created', ticket: null },
    ticket_fromSource: { _externalId: 'new1', title: 'New' },
  })
  expect(put).toEqual({ operation: 'updated', ticket_fromSource: { title: 'Put' } })
  expect(patched.ticket_fromSource).toEqual({ _externalId: '2', title: 'Issue 2', state: 'done' })
  expect(upstream.asked.slice(before).map(({ method }) => method)).toEqual(['POST', 'PATCH', 'PATCH'])
  expect((await ask('{ ticketRecords { totalCount } }')).ticketRecords.totalCount).toBe(0)
})

test('a dry run sends nothing, an idempotency key sends once, and what only stored records have is refused', async () => {
  const before = upstream.asked.length
  const create = (args: string) =>
    `mutation { createTicket(externalSource: "hub", data: { title: "Once" }, ${args}) { dryRun ticket_fromSource { _externalId title } } }`
  const dry = await ask(create('dryRun: true'))
  expect(dry.createTicket).toEqual({ dryRun: true, ticket_fromSource: { _externalId: null, title: 'Once' } })
  expect(upstream.asked).toHaveLength(before)
  const once = await ask(create('idempotencyKey: "once"'))
  expect(await ask(create('idempotencyKey: "once"'))).toEqual(once)
  expect(upstream.asked).toHaveLength(before + 1)
  const update = (args: string) => fail(`mutation { updateTicket(id: "1", data: {}, ${args}) { operation } }`)
  const expected = await update('externalSource: "hub", expectedVersion: 1')
  expect(expected.details[0]).toMatchObject({ path: '/expectedVersion', code: 'not_of_source' })
  const unknown = await update('externalSource: "hubb"')
  expect(unknown.details[0]).toMatchObject({ path: '/externalSource', code: 'unknown_source' })
  expect(upstream.asked).toHaveLength(before + 1)
})

test('a stored record keeps its pair of another system, and is updated without naming one', async () => {
  const { createTicket } = await ask(
    'mutation { createTicket(externalSource: "other", externalId: "7", data: { title: "Stored" }) { ticket { id _externalSource } ticket_fromSource { title } } }',
  )
  expect(createTicket).toMatchObject({ ticket: { _externalSource: 'other' }, ticket_fromSource: null })
  const { updateTicket } = await ask(
    `mutation { updateTicket(id: "${createTicket.ticket.id}", data: { title: "New" }) { ticket { title _externalSource } } }`,
  )
  expect(updateTicket.ticket).toEqual({ title: 'New', _externalSource: 'other' })
})

test('many reads of sources in a document are over the limit of its cost', async () => {
  const before = upstream.asked.length
  const reads = Array.from(
    { length: 26 },
    (_, n) => `a${n}: ticket_fromSource(externalSource: "hub", id: "1") { title }`,
  )
  expect((await fail(`{ ${reads.join(' ')} }`)).message).toContain('cost')
  expect(upstream.asked).toHaveLength(before)
})

test('an endpoint has the sources of types without a policy, a token those of types that it may read', {
  tags: 'full',
}, async () => {
  const tools = (more: object) => ({ tools: [{ record_type: 'ticket', operations: ['get'], ...more }] })
  const textOf = async () => (await world.call('GET', '/graphql/crm/e/desk/schema.graphql')).text
  succeed(await world.call('PUT', '/v1/crm/endpoints/desk', tools({})), 201)
  const whole = await textOf()
  expect(whole).toContain('ticket_fromSource')
  expect(whole).not.toContain('ticketRecords_fromSource')
  succeed(await world.call('PUT', '/v1/crm/endpoints/desk', tools({ fields: ['data.title'] })))
  expect(await textOf()).not.toContain('fromSource')
  const other = await world.newToken([{ record_type: 'note', permission: 'write' }])
  const { body } = await send('{ ticket_fromSource(externalSource: "hub", id: "1") { title } }', other.call)
  expect(body.errors[0].extensions.code).toBe('VALIDATION_ERROR')
  expect(body.errors[0].message).not.toContain('note')
})

test('without its sources, a type has none of their fields', async () => {
  const change = await world.call('PATCH', '/v1/crm/record-types/ticket', { sources: [] })
  succeed(change)
  expect((await world.call('GET', '/graphql/crm/schema.graphql')).text).not.toContain('fromSource')
})

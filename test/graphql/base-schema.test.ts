/** `/graphql/{base}`: a schema of the base's record types, as the token sees them. */
import { buildClientSchema, buildSchema, getIntrospectionQuery, printSchema, validateSchema } from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { explain, statementsOf } from '../support/query-plans.ts'
import type { Body, Call } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
/** May read `ticket` and `customer`, and not `secret`. */
let reader: Call

const TICKET = {
  type: 'object',
  properties: {
    title: { type: 'string', description: 'What it is about.' },
    stage: { enum: ['new', 'open', 'closed'] },
    amount: { type: 'number' },
    priority: { type: 'integer', minimum: 1, maximum: 5 },
    big: { type: 'integer' },
    due: { type: 'string', format: 'date-time' },
    day: { type: 'string', format: 'date' },
    tags: { type: 'array', items: { type: 'string' } },
    address: {
      type: 'object',
      properties: {
        city: { type: 'string' },
        geo: { type: 'object', properties: { lat: { type: 'number' } } },
      },
    },
    labels: { type: 'object' },
    mixed: { type: ['string', 'number'] },
    'first-seen': { type: 'string' },
    id: { type: 'string' },
    constructor: { type: 'string' },
    rating: { enum: ['1', '2'] },
  },
}

const send = (call: Call, query: string, variables?: object, path = '/graphql/crm') =>
  call('POST', path, { query, ...(variables && { variables }) })
/** The data of a successful request. */
async function ask(query: string, variables?: object, call: Call = world.call): Promise<Body> {
  const { status, body, text } = await send(call, query, variables)
  expect(body.errors, text).toBeUndefined()
  expect(status).toBe(200)
  return body.data
}
/** The only error of a request. */
async function fail(query: string, variables?: object, call: Call = world.call): Promise<Body> {
  const { body, text } = await send(call, query, variables)
  expect(body.errors, text).toHaveLength(1)
  return body.errors[0]
}
const put = (type: string, id: string, data: object, more: object = {}) =>
  world.call('PUT', `/v1/crm/records/${type}/${id}`, { data, ...more })
const link = (id: string, rel: string, source: [string, string], target: [string, string], data = {}) =>
  world.call('PUT', `/v1/crm/relationships/${id}`, {
    rel_type: rel,
    source_record_type: source[0],
    source_id: source[1],
    target_record_type: target[0],
    target_id: target[1],
    data,
  })

beforeAll(async () => {
  world = await openWorld()
  const types = {
    ticket: TICKET,
    customer: { type: 'object', properties: { name: { type: 'string' } } },
    secret: {},
  }
  for (const [id, json_schema] of Object.entries(types))
    await world.call('PUT', `/v1/crm/record-types/${id}`, { json_schema })
  for (const [id, source, target, cardinality] of [
    ['customer', ['ticket'], ['customer'], 'many_to_one'],
    ['about', ['ticket'], ['customer', 'secret'], 'many_to_many'],
    ['hides', ['ticket'], ['secret'], 'many_to_many'],
    ['title', ['ticket'], ['ticket'], 'many_to_many'],
  ] as const)
    await world.call('PUT', `/v1/crm/relationship-types/${id}`, {
      source_record_types: source,
      target_record_types: target,
      cardinality,
    })
  for (const [id, name] of [
    ['c1', 'Ada'],
    ['c2', 'Ben'],
  ] as const)
    await put('customer', id, { name })
  for (let n = 1; n <= 6; n++) {
    await put(
      'ticket',
      `t${n}`,
      { title: `T${n}`, stage: n % 2 ? 'open' : 'closed', amount: n * 10.5, tags: ['a'] },
      n === 1 ? { external_id: '4711', external_source: 'zendesk' } : {},
    )
    await link(`l${n}`, 'customer', ['ticket', `t${n}`], ['customer', n < 5 ? 'c1' : 'c2'], { since: n })
  }
  await put('secret', 's1', { word: 'xyzzy' })
  await link('m1', 'about', ['ticket', 't1'], ['secret', 's1'])
  await link('m2', 'about', ['ticket', 't1'], ['customer', 'c2'])
  await link('m3', 'hides', ['ticket', 't1'], ['secret', 's1'])
  const token = await world.newToken([{ record_type: ['ticket', 'customer'], permission: 'read' }])
  reader = token.call
})
afterAll(() => world.close())

test('a record is read by its id or its pair, with the fields that every record has', async () => {
  const fields = 'id title _type _version _status _valid _createdAt _updatedAt _externalId _externalSource'
  const { byId, byPair, none } = await ask(`{
    byId: ticket(id: "t1") { ${fields} }
    byPair: ticket(externalId: "4711", externalSource: "zendesk") { ${fields} }
    none: ticket(id: "t99") { id }
  }`)
  const record = (await world.call('GET', '/v1/crm/records/ticket/t1')).body
  expect(byId).toEqual({
    id: 't1',
    title: 'T1',
    _type: 'ticket',
    _version: 1,
    _status: 'active',
    _valid: true,
    _createdAt: record.created_at,
    _updatedAt: record.updated_at,
    _externalId: '4711',
    _externalSource: 'zendesk',
  })
  expect(byPair).toEqual(byId)
  expect(none).toBeNull()
  const both = await fail(`{ ticket(id: "t1", externalId: "4711") { id } }`)
  expect(both.extensions.details).toEqual([expect.objectContaining({ path: '/id', code: 'exclusive' })])
})

test('lists are Relay connections: filtered, sorted, counted, and paged by cursors', async () => {
  const query = `query ($after: String) {
    ticketRecords(filter: { field: "data.stage", op: "eq", value: "open" }, sort: [{ amount: DESC }], first: 2, after: $after) {
      totalCount edges { cursor node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }`
  const { ticketRecords: first } = await ask(query)
  expect(first.nodes).toEqual([{ id: 't5' }, { id: 't3' }])
  expect(first.edges.map(({ node }: Body) => node)).toEqual(first.nodes)
  expect(first.totalCount).toBe(3)
  expect(first.pageInfo).toEqual({
    hasNextPage: true,
    hasPreviousPage: false,
    startCursor: first.edges[0].cursor,
    endCursor: first.edges[1].cursor,
  })
  const { ticketRecords: second } = await ask(query, { after: first.pageInfo.endCursor })
  expect(second.nodes).toEqual([{ id: 't1' }])
  expect(second.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true })
  const { ticketRecords: middle } = await ask(query, { after: first.edges[0].cursor })
  expect(middle.nodes).toEqual([{ id: 't3' }, { id: 't1' }])
})

test('a value that is not of its type is null without an error, and _data shows it', {
  tags: 'full',
}, async () => {
  await put('ticket', 'odd', {
    title: 'odd',
    big: 2 ** 40,
    day: '2026-01-31',
    due: '2026-01-31T09:30:00Z',
    address: { city: 'Ulm', geo: { lat: 48.4 } },
    labels: { team: 'north' },
    mixed: 7,
    'first-seen': 'x',
    id: 'own',
    constructor: 'mine',
    rating: '2',
  })
  const data = { title: 7, stage: 'lost', amount: 'much', priority: 1.5, tags: 'a', address: 'here', due: 1 }
  const type = { json_schema: {} }
  await world.call('PUT', '/v1/crm/record-types/ticket?on_invalid=allow', type)
  await put('ticket', 'wrong', data)
  await world.call('PUT', '/v1/crm/record-types/ticket?on_invalid=allow', { json_schema: TICKET })
  const fields = `title stage amount priority big due day tags address { city geo { lat } } labels mixed
    first_seen_${'505c'}_ id_ constructor rating _valid _data`
  const { odd, wrong } = await ask(
    `{ odd: ticket(id: "odd") { ${fields} } wrong: ticket(id: "wrong") { ${fields} } }`,
  )
  expect(odd).toMatchObject({
    big: 2 ** 40,
    day: '2026-01-31',
    due: '2026-01-31T09:30:00Z',
    address: { city: 'Ulm', geo: { lat: 48.4 } },
    labels: { team: 'north' },
    mixed: 7,
    first_seen_505c_: 'x',
    id_: 'own',
    constructor: 'mine',
    rating: '2',
    _valid: true,
  })
  expect(wrong).toMatchObject({
    ...{ title: null, stage: null, amount: null, priority: null, due: null, tags: null, address: null },
    constructor: null,
    _valid: false,
    _data: data,
  })
  await world.call('DELETE', '/v1/crm/records/ticket/odd')
  await world.call('DELETE', '/v1/crm/records/ticket/wrong')
})

test('related records are objects or connections, typed, with their own filter, sort, page and total', async () => {
  const { customerRecords, ticket } = await ask(`{
    customerRecords(sort: [{ name: ASC }]) { nodes {
      name
      customer_of(sort: [{ amount: DESC }], first: 2, filter: { field: "data.stage", op: "eq", value: "open" }) {
        totalCount pageInfo { hasNextPage } edges { _linkId _linkData node { id customer { name } } }
      }
      all: customer_of { nodes { id } }
    } }
    ticket(id: "t1") { customer { name } about { nodes { __typename id _data ... on Customer { name } } } title_ { nodes { id } } }
  }`)
  expect(customerRecords.nodes).toEqual([
    {
      name: 'Ada',
      customer_of: {
        totalCount: 2,
        pageInfo: { hasNextPage: false },
        edges: ['t3', 't1'].map((id) => ({
          _linkId: `l${id[1]}`,
          _linkData: { since: Number(id[1]) },
          node: { id, customer: { name: 'Ada' } },
        })),
      },
      all: { nodes: ['t1', 't2', 't3', 't4'].map((id) => ({ id })) },
    },
    {
      name: 'Ben',
      customer_of: {
        totalCount: 1,
        pageInfo: { hasNextPage: false },
        edges: [expect.objectContaining({ node: { id: 't5', customer: { name: 'Ben' } } })],
      },
      all: { nodes: [{ id: 't5' }, { id: 't6' }] },
    },
  ])
  expect(ticket.customer).toEqual({ name: 'Ada' })
  expect(ticket.title_).toEqual({ nodes: [] })
  expect(ticket.about.nodes).toHaveLength(2)
  expect(ticket.about.nodes).toContainEqual({
    __typename: 'Customer',
    id: 'c2',
    _data: { name: 'Ben' },
    name: 'Ben',
  })
})

test('a list of related records is paged by its cursors, sorted or not', { tags: 'full' }, async () => {
  for (const sort of ['', 'sort: [{ amount: DESC }],', 'sort: [{ _createdAt: ASC }],']) {
    const query = `query ($after: String) { customer(id: "c1") {
      customer_of(${sort} first: 3, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } } }`
    const { customer: one } = await ask(query)
    expect(one.customer_of.pageInfo.hasNextPage).toBe(true)
    const { customer: two } = await ask(query, { after: one.customer_of.pageInfo.endCursor })
    const ids = [...one.customer_of.nodes, ...two.customer_of.nodes].map(({ id }: Body) => id)
    expect(ids.sort(), sort).toEqual(['t1', 't2', 't3', 't4'])
    expect(two.customer_of.pageInfo.hasNextPage).toBe(false)
    const other = await fail(query.replace('"c1"', '"c2"'), { after: one.customer_of.pageInfo.endCursor })
    expect(other.extensions.details[0]).toMatchObject({ path: '/customer_of/after', code: 'invalid_cursor' })
  }
  const { extensions } = await fail(
    `{ customerRecords { nodes { customer_of(after: "x") { nodes { id } } } } }`,
  )
  expect(extensions.details[0]).toMatchObject({ path: '/customer_of/after', code: 'many_lists' })
})

test('each level of a query is one statement, whatever its fields, and none reads a table from end to end', async () => {
  const query = `{ customerRecords { totalCount nodes { name
    customer_of(first: 50, sort: [{ amount: DESC }]) { totalCount nodes { title customer { name } about(first: 2) { nodes { id } } } } } } }`
  await ask(query)
  const ran = await statementsOf(() => ask(query))
  // Background jobs read records too.
  const reads = ran.filter(({ text }) => /^(SELECT r\.id|\(SELECT 0::int AS ask)/.test(text))
  expect(reads.map(({ text }) => text.slice(0, 40))).toHaveLength(3)
  for (const each of reads.slice(1)) {
    const plan = await explain(world.database, each)
    expect(plan.scans, plan.text).toEqual([])
  }
})

test('a read of the past has no relationships', async () => {
  const before = (await world.call('GET', '/v1/crm/records/ticket/t6')).body.updated_at
  await put('ticket', 't6', { title: 'later', stage: 'closed', amount: 63 })
  const { ticket, ticketRecords } = await ask(
    `query ($at: DateTime) { ticket(id: "t6", asOf: $at) { title } ticketRecords(asOf: $at, filter: {field: "id", op: "eq", value: "t6"}) { nodes { title } } }`,
    { at: before },
  )
  expect(ticket).toEqual({ title: 'T6' })
  expect(ticketRecords.nodes).toEqual([{ title: 'T6' }])
  const { extensions } = await fail(
    `query ($at: DateTime) { ticketRecords(asOf: $at) { nodes { customer { name } } } }`,
    { at: before },
  )
  expect(extensions.details[0]).toMatchObject({ path: '/asOf', code: 'exclusive' })
})

test('a token sees no type, field, count, error or suggestion of what it may not read', {
  tags: 'full',
}, async () => {
  for (const query of [
    '{ secret(id: "s1") { id } }',
    '{ secretRecords { totalCount } }',
    '{ secretRecord { id } }',
  ]) {
    const { message } = await fail(query, undefined, reader)
    expect(message.replace(/"secret\w*"/, '')).not.toMatch(/secret/i)
  }
  for (const query of [
    '{ ticketRecords { nodes { hides { nodes { id } } } } }',
    '{ ticketRecords { nodes { about { nodes { ... on Secret { id } } } } } }',
    'query ($x: [Secret_Sort!]) { ticketRecords(sort: $x) { totalCount } }',
  ]) {
    const { message } = await fail(query, undefined, reader)
    expect(message).toMatch(/Cannot query field|Unknown type/)
  }
  const { ticket } = await ask(
    '{ ticket(id: "t1") { about { totalCount nodes { __typename id } } } }',
    undefined,
    reader,
  )
  expect(ticket.about).toEqual({ totalCount: 1, nodes: [{ __typename: 'Customer', id: 'c2' }] })
  const text = (await reader('GET', '/graphql/crm/schema.graphql')).text
  expect(text).not.toMatch(/secret|hides/i)
  const introspection = await send(reader, getIntrospectionQuery())
  expect(introspection.text).not.toMatch(/secret|hides/i)
  // The names of others are the same, whoever asks.
  expect(text).toMatch(/^ {2}title_\($/m)
})

test('a base without a grant is refused, whether or not it exists, and an absent one is not found', async () => {
  for (const base of ['other', 'nothing']) {
    const answer = await send(reader, '{ _base }', undefined, `/graphql/${base}`)
    expect(answer.status).toBe(403)
    expect(answer.body.errors[0].extensions.code).toBe('FORBIDDEN')
  }
  expect((await send(world.call, '{ _base }', undefined, '/graphql/nothing')).status).toBe(404)
  expect((await send(world.as(null), '{ _base }')).status).toBe(401)
  expect((await world.as(null)('GET', '/graphql/crm/schema.graphql')).status).toBe(401)
  const none = await world.newToken([{ record_type: ['absent'], permission: 'read' }])
  expect((await send(none.call, '{ _base }')).body.data).toEqual({ _base: 'crm' })
})

test('an address with NUL is refused, of a query and of the text', async () => {
  for (const path of ['%00', 'a%00b', 'crm/e/%00']) {
    const query = await send(world.call, '{ _base }', undefined, `/graphql/${path}`)
    const text = await world.call('GET', `/graphql/${path}/schema.graphql`)
    for (const { status, body } of [query, text]) {
      expect(status, path).toBe(400)
      expect(body.errors[0].extensions.details[0]).toMatchObject({ code: 'invalid_text' })
    }
  }
})

test('the text and the introspection of a schema are those of the same valid schema', {
  tags: 'full',
}, async () => {
  const answer = await world.call('GET', '/graphql/crm/schema.graphql')
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain/)
  const schema = buildSchema(answer.text)
  expect(validateSchema(schema)).toEqual([])
  const introspected = await ask(getIntrospectionQuery({ oneOf: true, specifiedByUrl: true }))
  expect(printSchema(buildClientSchema(introspected))).toBe(printSchema(schema))
  const etag = answer.headers.get('etag') ?? ''
  const again = await world.call('GET', '/graphql/crm/schema.graphql', undefined, { 'if-none-match': etag })
  expect(again.status).toBe(304)
  const { __type } = await ask('query ($name: String!) { __type(name: $name) { fields { name } } }', {
    name: 'Customer',
  })
  expect(__type.fields).toContainEqual({ name: 'customer_of' })
  const { extensions } = await fail('{ __schema { queryType { name } } ticketRecords { nodes { id } } }')
  expect(extensions.details[0]).toMatchObject({ path: '/query', code: 'exclusive' })
  const twice = await fail(
    '{ __schema { types { name } } ...A } fragment A on Query { b: __schema { types { name } } }',
  )
  expect(twice.extensions.details[0]).toMatchObject({ path: '/query', code: 'too_many' })
})

test('names are kept: a type that is deleted and restored has its own, and another in between gets another', {
  tags: 'full',
}, async () => {
  const schemaOf = async () => (await world.call('GET', '/graphql/crm/schema.graphql')).text
  await world.call('PUT', '/v1/crm/record-types/deal', {})
  await world.call('PUT', '/v1/crm/record-types/DEAL', {})
  await world.call('PUT', '/v1/crm/record-types/record', {})
  await world.call('PUT', '/v1/crm/record-types/order-records', {})
  await world.call('PUT', '/v1/crm/record-types/7up', {})
  const text = await schemaOf()
  expect(text).toMatch(/^type Deal implements/m)
  expect(text).toMatch(/^type DEAL[0-9a-f]{6} implements/m)
  expect(text).toMatch(/^type Record[0-9a-f]{6} implements/m)
  expect(text).toMatch(/^type OrderRecords[0-9a-f]{6} implements/m)
  expect(text).toMatch(/^type T7up implements/m)
  await world.call('DELETE', '/v1/crm/record-types/deal')
  expect(await schemaOf()).toMatch(/^type DEAL[0-9a-f]{6} implements/m)
  const preview = await world.call('POST', '/v1/crm/preview', { name: 'try' })
  expect(preview.status, preview.text).toBe(201)
  expect((await world.call('GET', '/graphql/crm--try/schema.graphql')).text).toMatch(
    /^type DEAL[0-9a-f]{6} /m,
  )
})

test('a change of a type shows in the next request', { tags: 'full' }, async () => {
  await world.call('PUT', '/v1/crm/record-types/fresh', {
    json_schema: { properties: { one: { type: 'string' } } },
  })
  await ask('{ freshRecords { nodes { one } } }')
  await world.call('PUT', '/v1/crm/record-types/fresh', {
    json_schema: { properties: { two: { type: 'string' } } },
  })
  await ask('{ freshRecords { nodes { two } } }')
  expect((await fail('{ freshRecords { nodes { one } } }')).message).toContain('Cannot query field')
})

test('a name of another server is corrected, and an argument or field says where it is', async () => {
  const said = async (query: string) => (await fail(query)).message
  expect(await said('{ tickets { id } }')).toContain('Did you mean "ticketRecords"?')
  expect(await said('{ allTickets { id } }')).toContain('Did you mean "ticketRecords"?')
  expect(await said('{ ticketRecords { id } }')).toContain('It is in "nodes": nodes { id }.')
  expect(await said('mutation { deleteTicket(id: "x", externalId: "x") { deleted } }')).toContain(
    'Find the record with a filter on external_id, and send its id.',
  )
  expect(await said('{ ticketRecords(orderBy: 1) { totalCount } }')).toContain(
    'It takes where, filter, sort,',
  )
})

test('limits of a query hold before it runs: depth, aliases, cost by first at every level', {
  tags: 'full',
}, async () => {
  const refused = async (query: string, variables?: object) => {
    const answer = await send(world.call, query, variables)
    expect(answer.status, answer.text).toBe(400)
    return answer.body.errors[0].message as string
  }
  const nested = (first: number, of: number) =>
    `{ customerRecords(first: ${first}) { nodes { customer_of(first: ${of}) { nodes { title amount stage } } } } }`
  await ask(nested(100, 100))
  expect(await refused(nested(1000, 1000))).toMatch(/cost of the query/)
  expect(
    await refused(
      'query ($n: Int) { customerRecords(first: $n) { edges { node { customer_of(first: $n) { edges { node { id } } } } } } }',
      { n: 1000 },
    ),
  ).toMatch(/cost of the query/)
  // Lists that have the size themselves.
  const versions = (first: number) =>
    `{ ticketRecords(first: 1000) { nodes { _history(first: ${first}) { version } } } }`
  await ask(versions(20))
  expect(await refused(versions(1000))).toMatch(/cost of the query/)
  const groups = (aliases: number) =>
    `{ ${Array.from({ length: aliases }, (_, n) => `a${n}: ticketAggregate(first: 1000) { count }`).join(' ')} }`
  await ask(groups(10))
  expect(await refused(groups(50))).toMatch(/cost of the query/)
  const deep = 'customer { customer_of { nodes { '.repeat(6)
  expect(await refused(`{ ticketRecords { nodes { ${deep} id ${'} } }'.repeat(6)} } } }`)).toMatch(
    /depth|cost/,
  )
  const aliases = Array.from({ length: 60 }, (_, n) => `a${n}: ticket(id: "t1") { id }`).join(' ')
  expect(await refused(`{ ${aliases} }`)).toMatch(/aliases/)
  const { extensions } = await fail('{ ticketRecords(first: 1001) { nodes { id } } }')
  expect(extensions.details[0]).toMatchObject({ path: '/first', code: 'out_of_range' })
  const below = await fail('{ customerRecords { nodes { customer_of(first: 0) { nodes { id } } } } }')
  expect(below.extensions.details[0]).toMatchObject({ path: '/customer_of/first', code: 'out_of_range' })
})

test('a large introspection is ended, and the server goes on', { tags: 'full' }, async () => {
  const bomb = `{ __schema { types { ...A } } } fragment A on __Type { fields { type { fields { type { name } } } } }`
  const answer = await send(world.call, bomb)
  expect([200, 400]).toContain(answer.status)
  expect(await ask('{ _base }')).toEqual({ _base: 'crm' })
})

test('an introspection without a value for its variable says so', { tags: 'full' }, async () => {
  const { message, extensions } = await fail('query ($name: String!) { __type(name: $name) { name } }')
  expect(message).toContain('$name')
  expect(extensions.details[0]).toMatchObject({ path: '/query', code: 'graphql' })
})

test('errors name the argument, and fragments and directives are followed', async () => {
  const { extensions } = await fail(
    '{ ticketRecords(filter: { field: "data.stage", op: "equals", value: 1 }) { nodes { id } } }',
  )
  expect(extensions.code).toBe('VALIDATION_ERROR')
  expect(extensions.details[0].path).toMatch(/^\/filter/)
  const empty = await fail('{ ticketRecords(sort: []) { nodes { id } } }')
  expect(empty.extensions.details[0]).toMatchObject({ path: '/sort', code: 'out_of_range' })
  const wrong = await fail('{ ticketRecords(sort: [{ amount: DESC, title: ASC }]) { nodes { id } } }')
  expect(wrong.message).toMatch(/Ticket_Sort/)
  const data = await ask(
    `query ($no: Boolean!) { ticketRecords(first: 1, sort: [{ id: ASC }]) { ...Page } }
     fragment Page on TicketConnection { nodes { ...T ... on _Record { id } customer @skip(if: $no) { name } } }
     fragment T on Ticket { title c: customer { ... on Customer { name } } __typename }`,
    { no: true },
  )
  expect(data.ticketRecords.nodes).toEqual([
    { title: 'T1', c: { name: 'Ada' }, __typename: 'Ticket', id: 't1' },
  ])
})

test('where filters by the kind of each property, as the filter language does', {
  tags: 'full',
}, async () => {
  const idsOf = async (where: string, more = '') =>
    (
      await ask(`{ ticketRecords(where: ${where}${more}, sort: [{ id: ASC }]) { nodes { id } } }`)
    ).ticketRecords.nodes
      .map(({ id }: Body) => id)
      .join(' ')
  await put('ticket', 'w1', {
    ...{
      title: 'Alpha beta',
      stage: 'new',
      amount: 5,
      priority: 2,
      big: 7,
      day: '2026-01-31',
      mixed: 'x',
      rating: '1',
    },
    ...{
      due: '2026-01-31T09:30:00Z',
      tags: ['u', 'v'],
      labels: { team: 'north' },
      'first-seen': 'y',
      constructor: 'c',
    },
    address: { city: 'Ulm', geo: { lat: 48.4 } },
  })
  for (const where of [
    '{ stage: { eq: new } }',
    '{ stage: { in: [new] }, amount: { gte: 5, lt: 6 } }',
    '{ title: { search: "alpha" } }',
    '{ title: { startsWith: "Al", ilike: "%BETA" } }',
    '{ priority: { eq: 2 }, big: { gt: 6.5 } }',
    '{ day: { eq: "2026-01-31" } }',
    '{ due: { gt: "2026-01-31T10:00:00+01:00", lte: "2026-01-31T10:30:00+01:00" } }',
    '{ tags: { hasAll: ["u", "v"] } }',
    '{ tags: { has: "u" }, labels: { eq: { team: "north" } }, mixed: { in: ["x", 7] } }',
    '{ address: { city: { eq: "Ulm" }, geo: { lat: { gt: 48 } } } }',
    '{ first_seen_505c_: { eq: "y" }, constructor: { eq: "c" }, rating: { eq: "1" } }',
    '{ _and: [{ stage: { neq: open } }, { _not: { _or: [{ stage: { eq: closed } }, { amount: { gt: 100 } }] } }] }',
    '{ id: { eq: "w1" }, _status: { eq: active }, _version: { eq: 1 }, _externalId: { isNull: true } }',
    '{ due: { isNull: false } }',
  ])
    expect(await idsOf(where), where).toBe('w1')
  expect(await idsOf('{ due: { eq: null }, stage: { eq: closed } }')).toBe('t2 t4 t6')
  expect(
    await idsOf('{ stage: { eq: closed } }', ', filter: { field: "data.amount", op: "lt", value: 30 }'),
  ).toBe('t2')
  const { customer } = await ask(
    '{ customer(id: "c1") { customer_of(where: { stage: { eq: closed } }) { totalCount nodes { id } } } }',
  )
  expect(customer.customer_of).toEqual({ totalCount: 2, nodes: [{ id: 't2' }, { id: 't4' }] })
  await world.call('DELETE', '/v1/crm/records/ticket/w1')
})

test('an empty or null condition is refused, and errors of where name the condition', {
  tags: 'full',
}, async () => {
  const pathOf = async (args: string) => {
    const { extensions } = await fail(`{ ticketRecords(${args}) { nodes { id } } }`)
    return [extensions.code, extensions.details[0].path]
  }
  for (const [args, path] of [
    ['where: {}', '/where'],
    ['where: { stage: null }', '/where/stage'],
    ['where: { stage: {} }', '/where/stage'],
    ['where: { address: { geo: {} } }', '/where/address/geo'],
    ['where: { _or: [] }', '/where/_or'],
    ['where: { _not: {} }', '/where/_not'],
    ['where: { title: { isNull: null } }', '/where/title/isNull'],
    ['where: { title: { eq: "a" }, amount: { gt: null } }', '/where/amount/gt'],
    ['where: { _or: [{ title: { like: "a\\\\" } }, { title: { eq: "a" } }] }', '/where/_or/0/title/like'],
    ['where: { title: { eq: "a" } }, filter: { field: "data.title", op: "is" }', '/filter/op'],
  ])
    expect(await pathOf(args as string), args).toEqual(['VALIDATION_ERROR', path])
  const { extensions } = await fail(
    '{ customerRecords { nodes { customer_of(where: { title: { in: null } }) { nodes { id } } } } }',
  )
  expect(extensions.details[0].path).toBe('/customer_of/where/title/in')
  const hidden = await fail(
    '{ ticketRecords(where: { word: { eq: 1 } }) { nodes { id } } }',
    undefined,
    reader,
  )
  expect(hidden.message).toContain('not defined by type "Ticket_Where"')
})

test('a browser gets the GraphiQL page at the address of the base, under the same policy', async () => {
  const accept = { accept: 'text/html' }
  const [base, all] = [
    await world.as(null)('GET', '/graphql/crm', undefined, accept),
    await world.as(null)('GET', '/graphql', undefined, accept),
  ]
  expect(base.status).toBe(200)
  expect(base.headers.get('content-security-policy')).toBe(all.headers.get('content-security-policy'))
  // Without an address of its own, the page asks where it is.
  expect(base.text.includes('"endpoint":')).toBe(false)
  expect((await world.as(null)('GET', '/graphql/crm')).status).toBe(401)
})

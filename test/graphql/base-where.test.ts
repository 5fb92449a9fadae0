/** `where` through relationships in `/graphql/{base}`. */
import { buildSchema, parse, validate } from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Body, Call } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World

async function ask(query: string, variables?: object, call: Call = world.call): Promise<Body> {
  const { body, text } = await call('POST', '/graphql/crm', { query, ...(variables && { variables }) })
  expect(body.errors, text).toBeUndefined()
  return body.data
}
async function fail(query: string, variables?: object, call: Call = world.call): Promise<Body> {
  const { body, text } = await call('POST', '/graphql/crm', { query, ...(variables && { variables }) })
  expect(body.errors, text).toHaveLength(1)
  return body.errors[0]
}
const tickets = async (where: string): Promise<string> => {
  const { ticketRecords } = await ask(
    `{ ticketRecords(where: ${where}, sort: [{ id: ASC }]) { nodes { id } } }`,
  )
  return ticketRecords.nodes.map(({ id }: Body) => id).join(' ')
}
const customers = async (where: string): Promise<string> => {
  const { customerRecords } = await ask(
    `{ customerRecords(where: ${where}, sort: [{ id: ASC }]) { nodes { id } } }`,
  )
  return customerRecords.nodes.map(({ id }: Body) => id).join(' ')
}

beforeAll(async () => {
  world = await openWorld()
  const stage = { enum: ['open', 'closed'] }
  const types = {
    ticket: { type: 'object', properties: { title: { type: 'string' }, stage } },
    customer: { type: 'object', properties: { name: { type: 'string' }, tier: { type: 'string' } } },
    secret: { type: 'object', properties: { word: { type: 'string' } } },
  }
  for (const [id, json_schema] of Object.entries(types))
    await world.call('PUT', `/v1/crm/record-types/${id}`, { json_schema })
  for (const [id, target, cardinality] of [
    ['customer', ['customer'], 'many_to_one'],
    ['about', ['customer', 'secret'], 'many_to_many'],
    ['hides', ['secret'], 'many_to_many'],
  ] as const)
    await world.call('PUT', `/v1/crm/relationship-types/${id}`, {
      ...{ source_record_types: ['ticket'], target_record_types: target, cardinality },
    })
  for (const [id, tier] of Object.entries({ ada: 'pro', ben: 'free', cyd: 'free' }))
    await world.call('PUT', `/v1/crm/records/customer/${id}`, { data: { name: id, tier } })
  await world.call('PUT', '/v1/crm/records/secret/s1', { data: { word: 'xyzzy' } })
  for (const [id, state, customer] of [
    ['t1', 'open', 'ada'],
    ['t2', 'closed', 'ada'],
    ['t3', 'open', 'ben'],
    ['t4', 'open', null],
  ] as const) {
    await world.call('PUT', `/v1/crm/records/ticket/${id}`, { data: { title: id, stage: state } })
    const link = (rel_type: string, target_record_type: string, target_id: string) =>
      world.call('POST', '/v1/crm/relationships', {
        ...{ rel_type, source_record_type: 'ticket', source_id: id, target_record_type, target_id },
      })
    if (customer) await link('customer', 'customer', customer)
    await link('hides', 'secret', 's1')
  }
})
afterAll(() => world.close())

test('conditions reach the one linked record, some and none of several', { tags: 'full' }, async () => {
  expect(await tickets('{ customer: { tier: { eq: "pro" } } }')).toBe('t1 t2')
  expect(await tickets('{ customer: { tier: { neq: "pro" } } }')).toBe('t3')
  expect(await tickets('{ stage: { eq: open }, customer: { tier: { eq: "pro" } } }')).toBe('t1')
  expect(await tickets('{ _not: { customer: { id: { isNull: false } } } }')).toBe('t4')
  expect(await customers('{ customer_of: { some: { stage: { eq: closed } } } }')).toBe('ada')
  expect(await customers('{ customer_of: { none: { stage: { eq: closed } } } }')).toBe('ben cyd')
  expect(
    await customers('{ customer_of: { some: { stage: { eq: open } }, none: { stage: { eq: closed } } } }'),
  ).toBe('ben')
  expect(await customers('{ customer_of: { some: {} } }')).toBe('ada ben')
  expect(await customers('{ customer_of: { none: {} } }')).toBe('cyd')
  expect(await tickets('{ customer: { customer_of: { some: { title: { eq: "t2" } } } } }')).toBe('t1 t2')
  expect(await tickets('{ hides: { some: { word: { eq: "xyzzy" } } } }')).toBe('t1 t2 t3 t4')
})

test('variables and lists of related records take them too', async () => {
  const query = `query ($where: Customer_Where) { customerRecords(where: $where) { nodes { id } } }`
  const where = { _or: [{ customer_of: { some: { stage: { eq: 'closed' } } } }, { name: { eq: 'cyd' } }] }
  expect((await ask(query, { where })).customerRecords.nodes).toHaveLength(2)
  const { customer } = await ask(
    `{ customer(id: "ada") { customer_of(where: { customer: { tier: { eq: "free" } } }) { totalCount } } }`,
  )
  expect(customer.customer_of.totalCount).toBe(0)
})

test('an empty condition is refused, and an error names its place', async () => {
  const paths = async (where: string) =>
    (await fail(`{ ticketRecords(where: ${where}) { totalCount } }`)).extensions.details[0].path
  expect(await paths('{ customer: {} }')).toBe('/where/customer')
  expect(await paths('{ customer: null }')).toBe('/where/customer')
  expect(await paths('{ hides: {} }')).toBe('/where/hides')
  expect(await paths('{ hides: { some: null } }')).toBe('/where/hides/some')
  expect(await paths('{ customer: { tier: { like: "a\\\\" } } }')).toBe('/where/customer/tier/like')
  expect(await paths('{ customer: { customer_of: { none: { title: { like: "a\\\\" } } } } }')).toBe(
    '/where/customer/customer_of/none/title/like',
  )
  const past = await fail(
    '{ ticketRecords(asOf: "2030-01-01T00:00:00Z", where: { customer: { tier: { eq: "pro" } } }) { totalCount } }',
  )
  expect(past.extensions.details[0]).toMatchObject({ path: '/where/customer', code: 'not_available' })
})

test('a filter with more conditions than fit is refused at one of them, however many there are', {
  tags: 'full',
}, async () => {
  const many = (each: object, length: number) => ({ w: { _or: Array.from({ length }, () => each) } })
  const query = 'query ($w: Ticket_Where) { ticketRecords(where: $w) { totalCount } }'
  for (const length of [101, 5000]) {
    const { extensions } = await fail(query, many({ title: { eq: 'x' } }, length))
    expect(extensions.details[0].code).toBe('too_many')
    expect(extensions.details[0].path).toMatch(/^\/where\/_or\/\d+\/title\/eq$/)
  }
  const linked = await fail(query, many({ customer: { id: { isNull: false } } }, 5000))
  expect(linked.extensions.details[0].path).toMatch(/^\/where\/_or\/\d+\/customer/)
})

test('a token has no conditions on types that it may not read, and none on several types at once', {
  tags: 'full',
}, async () => {
  const { call } = await world.newToken([{ record_type: ['ticket', 'customer'], permission: 'read' }])
  const { text } = await call('GET', '/graphql/crm/schema.graphql')
  const schema = buildSchema(text)
  const errors = (where: string) =>
    validate(schema, parse(`{ ticketRecords(where: ${where}) { totalCount } }`)).map(({ message }) => message)
  expect(errors('{ customer: { tier: { eq: "pro" } } }')).toEqual([])
  expect(errors('{ about: { some: {} } }')).toHaveLength(1)
  expect(text).not.toMatch(/[Ss]ecret|hides|word/)
  const refused = await fail(
    '{ ticketRecords(where: { hides: { some: {} } }) { totalCount } }',
    undefined,
    call,
  )
  expect(refused.extensions.code).toBe('VALIDATION_ERROR')
})

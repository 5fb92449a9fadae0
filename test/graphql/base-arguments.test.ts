// @module-tag full
/** Arguments of `/graphql/{base}`: variables within JSON, dates, and what errors call them. */
import { buildSchema, validateSchema } from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World

const send = (query: string, variables?: object, base = 'crm') =>
  world.call('POST', `/graphql/${base}`, { query, ...(variables && { variables }) })
async function ask(query: string, variables?: object, base = 'crm'): Promise<Body> {
  const { body, text } = await send(query, variables, base)
  expect(body.errors, text).toBeUndefined()
  return body.data
}
/** The first detail of the only error. */
async function fail(query: string, variables?: object): Promise<Body> {
  const { body, text } = await send(query, variables)
  expect(body.errors, text).toHaveLength(1)
  return body.errors[0].extensions.details[0]
}
const ids = async (args: string, head = '', variables?: object) =>
  (
    await ask(`query ${head} { ticketRecords(sort: [{ id: ASC }], ${args}) { nodes { id } } }`, variables)
  ).ticketRecords.nodes.map(({ id }: { id: string }) => id)

beforeAll(async () => {
  world = await openWorld()
  const text = { type: 'string' }
  const ticket = {
    type: 'object',
    properties: { title: text, day: { type: 'string', format: 'date' }, labels: { type: 'object' } },
  }
  for (const [id, json_schema] of Object.entries({ ticket, customer: {} }))
    succeed(await world.call('PUT', `/v1/crm/record-types/${id}`, { json_schema }), 201)
  const ends = { source_record_types: ['ticket'], target_record_types: ['customer'] }
  succeed(
    await world.call('PUT', '/v1/crm/relationship-types/customer', { ...ends, cardinality: 'many_to_one' }),
    201,
  )
  for (const id of ['c1', 'c2'])
    succeed(await world.call('PUT', `/v1/crm/records/customer/${id}`, { data: {} }), 201)
  const [t1, t2] = [
    { title: 'One', day: '2026-01-31' },
    { title: 'Two', day: '2026-02-01' },
  ]
  for (const [id, data] of Object.entries({ t1, t2 }))
    succeed(await world.call('PUT', `/v1/crm/records/ticket/${id}`, { data }), 201)
})
afterAll(() => world.close())

test('a JSON argument takes variables at any depth, and leaves out those without a value', async () => {
  const by = 'filter: { and: [{ field: "data.title", op: $op, value: $title }] }'
  const head = '($op: String!, $title: String, $more: JSON)'
  expect(await ids(by, '($op: String!, $title: String)', { op: 'eq', title: 'Two' })).toEqual(['t2'])
  const { createTicket } = await ask(
    `mutation ${head} { createTicket(id: "t3", data: { title: $title, labels: { op: $op, more: [$more, $title], none: $more } }) {
      ticket { labels }
    } }`,
    { op: 'x', title: 'Three' },
  )
  expect(createTicket.ticket.labels).toEqual({ op: 'x', more: [null, 'Three'] })
  const { updateTicket } = await ask(
    'mutation ($constructor: JSON) { updateTicket(id: "t3", data: { labels: { op: $constructor } }) { ticket { labels } } }',
  )
  expect(updateTicket.ticket.labels).toEqual({ op: 'x', more: [null, 'Three'] })
  await world.call('DELETE', '/v1/crm/records/ticket/t3')
  const { body } = await send('{ ticketRecords(filter: { and: [$unknown] }) { nodes { id } } }')
  expect(body.errors[0].message).toMatch(/"\$unknown" is not defined/)
})

test('a date is compared with days, and nothing else', async () => {
  expect(await ids('where: { day: { gt: "2026-01-31" } }')).toEqual(['t2'])
  expect(await ids('where: { day: { eq: $day } }', '($day: Date)', { day: '2026-01-31' })).toEqual(['t1'])
  for (const day of ['"soon"', '5', '"2026-13-01"', '{ a: 1 }'])
    expect((await fail(`{ ticketRecords(where: { day: { gt: ${day} } }) { totalCount } }`)).message).toMatch(
      /^A Date must be a day/,
    )
})

test('errors name terms of the sort, operators and links as the arguments do', async () => {
  const list = (args: string) => `{ ticketRecords(${args}) { nodes { id } } }`
  const unsearched = await fail(list('sort: [{ id: ASC }, { _searchScore: DESC }]'))
  expect(unsearched.path).toBe('/sort/1/_searchScore')
  expect(unsearched.message).toMatch(/^Only a search has a score/)
  const linked =
    '{ customerRecords { nodes { customer_of(sort: [{ _searchScore: DESC }]) { nodes { id } } } } }'
  expect((await fail(linked)).path).toBe('/customer_of/sort/0/_searchScore')
  expect(await fail(list('where: { title: { startsWith: null } }'))).toMatchObject({
    path: '/where/title/startsWith',
    message: '"startsWith" takes a string.',
  })
  const linking = (links: string) =>
    `mutation { updateTicket(id: "t1", data: {}, links: ${links}) { operation } }`
  expect((await fail(linking('{ customer: { id: "c1", recordType: "ticket" } }'))).path).toBe(
    '/links/customer/recordType',
  )
  expect((await fail(linking('{ customer: { externalId: "none" } }'))).path).toBe(
    '/links/customer/externalId',
  )
  await ask(linking('{ customer: { id: "c1" } }'))
  expect((await fail(linking('{ customer: { id: "c2" } }'))).path).toBe('/links/customer')
})

test('an error of a size names the argument that reads on', async () => {
  const message = async (query: string) => (await fail(query)).message
  expect(await message('{ ticketRecords(first: 0) { nodes { id } } }')).toMatch(/Read more with after/)
  expect(await message('{ ticketRecords { nodes { _history(first: 0) { version } } } }')).toMatch(
    /Read more with before/,
  )
  expect(await message('{ ticketAggregate(first: 0) { count } }')).toMatch(/Read more with offset/)
})

test('properties that are called like filters have types of their own', async () => {
  await world.call('PUT', '/v1/bases/clash', { name: 'Clash' })
  const within = { type: 'object', properties: { text: { type: 'string' } } }
  const values = { enum: ['open', 'closed'] }
  const properties = {
    ...{ address: within, address_Where: within, stage: values, stage_Filter: values },
    // The type of the escaped "a_" ends with "_", so its filter could meet a type within "a_571f".
    ...{ a_: within, a_571f: { type: 'object', properties: { Where: within } } },
  }
  succeed(
    await world.call('PUT', '/v1/clash/record-types/ticket', { json_schema: { type: 'object', properties } }),
    201,
  )
  const { text } = await world.call('GET', '/graphql/clash/schema.graphql')
  expect(validateSchema(buildSchema(text))).toEqual([])
  const { __schema } = await ask('{ __schema { types { name kind } } }', undefined, 'clash')
  const kinds = new Map(__schema.types.map(({ name, kind }: { name: string; kind: string }) => [name, kind]))
  expect(kinds.get('Ticket__address_Where')).toBe('INPUT_OBJECT')
  expect(kinds.get('Ticket__stage_Filter')).toBe('INPUT_OBJECT')
  const { createTicket } = await ask(
    `mutation { createTicket(data: { address_Where: { text: "x" }, stage_Filter: open }) {
      ticket { address_Where { text } stage_Filter }
    } }`,
    undefined,
    'clash',
  )
  expect(createTicket.ticket).toEqual({ address_Where: { text: 'x' }, stage_Filter: 'open' })
  const { ticketRecords } = await ask(
    `query ($address: Ticket__address_Where, $stage: Ticket__stage_Filter) {
      ticketRecords(where: { _or: [{ address: $address }, { stage: $stage }, { stage_Filter: { eq: open } }] }) { totalCount }
    }`,
    { address: { text: { eq: 'y' } }, stage: { eq: 'closed' } },
    'clash',
  )
  expect(ticketRecords.totalCount).toBe(1)
})

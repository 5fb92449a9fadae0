/** Links, deletion plans and unusual property names in the mutations of `/graphql/{base}`. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import type { Body, Call } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World

async function ask(query: string, variables?: object, call: Call = world.call): Promise<Body> {
  const { body, text } = await call('POST', '/graphql/crm', { query, ...(variables && { variables }) })
  expect(body.errors, text).toBeUndefined()
  return body.data
}
async function fail(query: string, call: Call = world.call): Promise<Body> {
  const { body, text } = await call('POST', '/graphql/crm', { query })
  expect(body.errors, text).toHaveLength(1)
  return body.errors[0].extensions
}
const exists = async (type: string, id: string) =>
  (await world.call('GET', `/v1/crm/records/${type}/${id}`)).status === 200

beforeAll(async () => {
  world = await openWorld()
  const text = { type: 'string' }
  for (const [id, properties] of Object.entries({
    ticket: { title: text },
    customer: { name: text },
    odd: { constructor: text, toString: text, within: { type: 'object', properties: { valueOf: text } } },
  }))
    succeed(
      await world.call('PUT', `/v1/crm/record-types/${id}`, { json_schema: { type: 'object', properties } }),
      201,
    )
  for (const [id, source, target, more] of [
    ['customer', ['ticket'], ['customer'], { cardinality: 'many_to_one', on_delete: 'cascade' }],
    ['about', ['ticket'], ['customer', 'odd'], {}],
  ] as const)
    succeed(
      await world.call('PUT', `/v1/crm/relationship-types/${id}`, {
        ...{ source_record_types: source, target_record_types: target, ...more },
      }),
      201,
    )
  succeed(
    await world.call('PUT', '/v1/crm/records/customer/c1', { data: { name: 'Ada' }, external_id: '7' }),
    201,
  )
  succeed(await world.call('PUT', '/v1/crm/records/odd/o1', { data: {} }), 201)
})
afterAll(() => world.close())

test('a record is created with its links, in both directions, in one transaction', async () => {
  const { createTicket } = await ask(`mutation {
    createTicket(id: "t1", data: { title: "One" }, links: {
      customer: { externalId: "7", data: { since: 1 } }, about: [{ recordType: "odd", id: "o1" }, { recordType: "customer", id: "c1" }]
    }) { ticket { customer { id } about { totalCount } } }
  }`)
  expect(createTicket.ticket).toEqual({ customer: { id: 'c1' }, about: { totalCount: 2 } })
  const { upsertCustomer } = await ask(`mutation {
    upsertCustomer(id: "c2", data: { name: "Ben" }, links: { about_of: [{ id: "t1" }] }) { customer { about_of { nodes { id } } } }
  }`)
  expect(upsertCustomer.customer.about_of.nodes).toEqual([{ id: 't1' }])
})

test('an update adds links in its transaction, and keeps those that exist', async () => {
  await ask(
    'mutation { createTicket(id: "t5", data: { title: "Five" }, links: { about: [{ recordType: "odd", id: "o1" }] }) { operation } }',
  )
  const update = (title: string, links: string) =>
    `mutation { updateTicket(id: "t5", data: { title: "${title}" }, links: ${links}) { operation ticket { title customer { id } about { totalCount } } } }`
  const links = '{ customer: { externalId: "7" }, about: [{ recordType: "customer", id: "c1" }] }'
  const linked = { customer: { id: 'c1' }, about: { totalCount: 2 } }
  expect((await ask(update('Six', links))).updateTicket).toEqual({
    operation: 'updated',
    ticket: { title: 'Six', ...linked },
  })
  expect((await ask(update('Six', links))).updateTicket.ticket).toEqual({ title: 'Six', ...linked })
  const refused = await fail(
    update('Seven', '{ about: [{ recordType: "odd", id: "o1" }, { recordType: "odd", id: "no" }] }'),
  )
  expect(refused.details[0].path).toMatch(/^\/links\/about\/1/)
  const { ticket } = await ask('{ ticket(id: "t5") { title about { totalCount } } }')
  expect(ticket).toEqual({ title: 'Six', about: { totalCount: 2 } })
  await ask('mutation { deleteTicket(id: "t5") { deleted } }')
})

test('a link at fault names its argument, and nothing is written', async () => {
  const at = async (links: string) =>
    (await fail(`mutation { createTicket(id: "t9", data: {}, links: ${links}) { operation } }`)).details[0]
      .path
  expect(await at('{ customer: { id: "nobody" } }')).toMatch(/^\/links\/customer/)
  expect(await at('{ about: [{ recordType: "customer", id: "c1" }, { id: "c1" }] }')).toBe(
    '/links/about/1/recordType',
  )
  expect(await at('{ about: [{ recordType: "ticket", id: "t1" }] }')).toMatch(/^\/links\/about\/0/)
  expect(await exists('ticket', 't9')).toBe(false)
})

test('a token writes no links to types that it may not write', async () => {
  const { call } = await world.newToken([
    { record_type: ['ticket'], permission: 'write' },
    { record_type: ['customer'], permission: 'read' },
  ])
  const { text } = await call('GET', '/graphql/crm/schema.graphql')
  expect(text).toMatch(/input Ticket_Links \{\s+about: \[/)
  expect(text).not.toMatch(/input Ticket_Links \{[^}]*customer:/)
  const refused = await fail(
    'mutation { createTicket(id: "t8", data: {}, links: { about: [{ recordType: "customer", id: "c1" }] }) { operation } }',
    call,
  )
  expect(refused.code).toBe('FORBIDDEN')
  expect(await exists('ticket', 't8')).toBe(false)
})

test('a deletion that reaches other records makes a plan first if asked, and its token does what the plan says', async () => {
  const plan =
    'id deleted plan { what records { count of { type count } } relationships { count } samples token expiresAt }'
  const { deleteCustomer: planned } = await ask(
    `mutation { deleteCustomer(id: "c1", askFirst: true) { ${plan} } }`,
  )
  expect(planned).toMatchObject({ id: 'c1', deleted: false, plan: { records: { count: 2 } } })
  expect(planned.plan.samples).toEqual(['customer/c1', 'ticket/t1'])
  expect(await exists('ticket', 't1')).toBe(true)
  const approve = `mutation ($token: String) { deleteCustomer(id: "c1", planToken: $token) { ${plan} } }`
  const { deleteCustomer: done } = await ask(approve, { token: planned.plan.token })
  expect(done).toEqual({ id: 'c1', deleted: true, plan: null })
  expect(await exists('ticket', 't1')).toBe(false)
  const again = await world.call('POST', '/graphql/crm', { query: approve, variables: { token: 'nothing' } })
  expect(again.body.errors).toHaveLength(1)
})

test('variables of inputs with properties such as constructor work', async () => {
  const create = 'mutation ($data: Odd_Input!) { createOdd(id: "o2", data: $data) { odd { _data } } }'
  const { createOdd } = await ask(create, { data: { within: {} } })
  expect(createOdd.odd._data).toEqual({ within: {} })
  const all = { constructor: 'a', toString: 'b', within: { valueOf: 'c' } }
  const update =
    'mutation ($data: Odd_Patch!) { updateOdd(id: "o2", data: $data) { odd { constructor toString within { valueOf } } } }'
  expect((await ask(update, { data: all })).updateOdd.odd).toEqual(all)
  const list = 'query ($where: Odd_Where) { oddRecords(where: $where) { nodes { id } } }'
  expect((await ask(list, { where: { id: { eq: 'o2' } } })).oddRecords.nodes).toEqual([{ id: 'o2' }])
  expect((await ask(list, { where: { toString: { eq: 'b' } } })).oddRecords.nodes).toEqual([{ id: 'o2' }])
  expect((await ask(list, { where: { constructor: { eq: 'no' } } })).oddRecords.nodes).toEqual([])
})

/** Mutations of `/graphql/{base}`: records written through inputs of their types. */
import { buildSchema, getIntrospectionQuery, validateSchema } from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Body, Call } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
/** May write `ticket`, and only read `customer`. */
let writer: Call
let reader: Call

beforeAll(async () => {
  world = await openWorld()
  const ticket = {
    type: 'object',
    properties: {
      title: { type: 'string', maxLength: 20 },
      stage: { enum: ['new', 'open', 'closed'] },
      amount: { type: 'number', minimum: 0 },
      'first-seen': { type: 'string', maxLength: 3 },
      tags: { type: 'array', items: { type: 'string', maxLength: 3 } },
      address: {
        type: 'object',
        properties: { city: { type: 'string', minLength: 2 }, zip: { type: 'string' } },
        required: ['city'],
      },
    },
    required: ['title'],
  }
  const customer = { type: 'object', properties: { name: { type: 'string' } } }
  for (const [id, json_schema] of Object.entries({ ticket, customer }))
    await world.call('PUT', `/v1/crm/record-types/${id}`, { json_schema })
  const token = await world.newToken([
    { record_type: ['ticket'], permission: 'write' },
    { record_type: ['customer'], permission: 'read' },
  ])
  writer = token.call
  reader = (await world.newToken([{ record_type: ['ticket', 'customer'], permission: 'read' }])).call
})
afterAll(() => world.close())

const send = (query: string, variables?: object, call: Call = writer) =>
  call('POST', '/graphql/crm', { query, ...(variables && { variables }) })
async function ask(query: string, variables?: object, call?: Call): Promise<Body> {
  const { body, text } = await send(query, variables, call)
  expect(body.errors, text).toBeUndefined()
  return body.data
}
async function fail(query: string, variables?: object, call?: Call): Promise<Body> {
  const { body, text } = await send(query, variables, call)
  expect(body.errors, text).toHaveLength(1)
  return body.errors[0]
}
const stored = async (id: string) => {
  const { status, body } = await world.call('GET', `/v1/crm/records/ticket/${id}`)
  return status === 200 ? body : null
}

test('each mutation writes a record, and the history shows that it came through GraphQL', async () => {
  const made = await ask(`mutation { createTicket(id: "a1", externalId: "7", data: {
    title: "One", stage: new, amount: 1.5, first_seen_505c_: "x", tags: ["a"], address: { city: "Ulm", _more: { floor: 2 } }, _more: { other: 1 }
  }) { ticket { id title stage _version _externalId address { city } } operation dryRun warnings } }`)
  expect(made.createTicket).toMatchObject({
    ticket: { id: 'a1', title: 'One', stage: 'new', _version: 1, _externalId: '7', address: { city: 'Ulm' } },
    operation: 'created',
    dryRun: false,
  })
  expect((await stored('a1'))?.data).toEqual({
    ...{ title: 'One', stage: 'new', amount: 1.5, 'first-seen': 'x', tags: ['a'], other: 1 },
    address: { city: 'Ulm', floor: 2 },
  })
  const done = await ask(`mutation {
    updateTicket(id: "a1", data: { stage: open, amount: null, address: { zip: "89073" } }) { ticket { stage amount _version address { city zip } } operation }
    upsertTicket(externalId: "7", data: { title: "Two" }) { ticket { id title stage } operation }
    cancelTicket(id: "a1") { ticket { _status } }
    restoreTicket(id: "a1") { ticket { _status _version } }
    deleteTicket(id: "a1") { id dryRun }
  }`)
  expect(done).toMatchObject({
    updateTicket: {
      ticket: { stage: 'open', amount: null, _version: 2, address: { city: 'Ulm', zip: '89073' } },
      operation: 'updated',
    },
    upsertTicket: { ticket: { id: 'a1', title: 'Two', stage: null }, operation: 'updated' },
    cancelTicket: { ticket: { _status: 'cancelled' } },
    restoreTicket: { ticket: { _status: 'active', _version: 5 } },
    deleteTicket: { id: 'a1', dryRun: false },
  })
  expect(await stored('a1')).toBeNull()
  const log = await world.logOf('ticket', 'a1')
  expect(log).toHaveLength(6)
  expect(log.map((each) => (each as unknown as { via: string }).via)).toEqual(Array(6).fill('graphql'))
})

test('a dry run writes nothing, and a repeated key takes effect once', async () => {
  const dry = await ask(
    'mutation { createTicket(id: "d1", data: { title: "D" }, dryRun: true) { ticket { id } operation dryRun } }',
  )
  expect(dry.createTicket).toEqual({ ticket: { id: 'd1' }, operation: 'created', dryRun: true })
  expect(await stored('d1')).toBeNull()
  const query = `mutation ($data: Ticket_Input!) { createTicket(data: $data, idempotencyKey: "k1") { ticket { id title } } }`
  const first = await ask(query, { data: { title: 'K' } })
  expect(await ask(query, { data: { title: 'K' } })).toEqual(first)
  const other = await fail(query, { data: { title: 'L' } })
  expect(other.extensions).toMatchObject({
    code: 'CONFLICT',
    details: [{ path: '/idempotencyKey' }],
  })
  const { ticketRecords } = await ask('{ ticketRecords(where: { title: { eq: "K" } }) { totalCount } }')
  expect(ticketRecords.totalCount).toBe(1)
})

test('an error names its argument, and nothing is written', async () => {
  for (const [args, path] of [
    ['data: { title: "a long title, which is too long" }', '/data/title'],
    ['data: { title: "a", first_seen_505c_: "xxxx" }', '/data/first_seen_505c_'],
    ['data: { title: "a", tags: ["a", "bbbb"] }', '/data/tags/1'],
    ['data: { title: "a", address: { city: "U" } }', '/data/address/city'],
    ['data: { title: null, _more: { amount: -1 } }', '/data/_more/amount'],
    ['data: { title: "a", _more: { title: "b" } }', '/data/_more/title'],
    ['data: { title: "a", _more: 1 }', '/data/_more'],
    ['data: { title: "a", amount: 9007199254740993 }', '/data'],
    ['id: "", data: { title: "a" }', '/id'],
    ['externalId: "", data: { title: "a" }', '/externalId'],
    ['idempotencyKey: "", data: { title: "a" }', '/idempotencyKey'],
  ] as const) {
    const query = path.includes('_more/amount')
      ? `mutation { createTicket(${args.replace('null', '"a"')}) { operation } }`
      : `mutation { createTicket(${args}) { operation } }`
    const { extensions } = await fail(query)
    expect([extensions.code, extensions.details[0].path], args).toEqual(['VALIDATION_ERROR', path])
  }
  expect((await fail('mutation { createTicket(data: { stage: new }) { operation } }')).message).toMatch(
    /title/,
  )
  const lost = 'mutation ($data: Ticket_Input!) { createTicket(data: $data) { operation } }'
  expect((await fail(lost, { data: { title: 'a', stage: 'lost' } })).message).toMatch(/data\.stage/)
  const { ticketRecords } = await ask('{ ticketRecords(where: { title: { eq: "a" } }) { totalCount } }')
  expect(ticketRecords.totalCount).toBe(0)
})

test('a wrong version is a conflict, and the mutations around it are done', async () => {
  await ask('mutation { createTicket(id: "v1", data: { title: "V" }) { operation } }')
  const { body } = await send(`mutation {
    a: updateTicket(id: "v1", data: { amount: 1 }, expectedVersion: 1) { ticket { amount } }
    b: updateTicket(id: "v1", data: { amount: 2 }, expectedVersion: 1) { ticket { amount } }
    c: updateTicket(id: "v1", data: { stage: open }, expectedVersion: 2) { ticket { amount stage } }
  }`)
  expect(body.data).toMatchObject({
    a: { ticket: { amount: 1 } },
    c: { ticket: { amount: 1, stage: 'open' } },
  })
  expect(body.data.b ?? null).toBeNull()
  expect(body.errors).toHaveLength(1)
  expect(body.errors[0].extensions).toMatchObject({ code: 'CONFLICT' })
  expect(body.errors[0].extensions.details[0]).toMatchObject({
    path: '/expectedVersion',
    code: 'version_mismatch',
  })
})

test('a token sees the mutations of the types that it may write, and no others', async () => {
  const text = (await writer('GET', '/graphql/crm/schema.graphql')).text
  expect(validateSchema(buildSchema(text))).toEqual([])
  expect(text).toContain('input Ticket_Patch {')
  expect(text).not.toMatch(/Customer_(Input|Patch|Payload)|createCustomer/)
  expect((await send(getIntrospectionQuery())).text).toContain('"createTicket"')
  const hidden = await fail('mutation { createCustomer(data: {}) { operation } }')
  expect(hidden.message).toBe('Cannot query field "createCustomer" on type "Mutation".')
  const read = (await reader('GET', '/graphql/crm/schema.graphql')).text
  expect(read).not.toMatch(/Mutation|_Input|_Patch|_Payload|_Deleted|_Operation/)
  expect((await send(getIntrospectionQuery(), undefined, reader)).text).not.toMatch(/createTicket|_Payload/)
  const { status } = await send('mutation { deleteTicket(id: "v1") { id } }', undefined, reader)
  expect([200, 400]).toContain(status)
  expect(await stored('v1')).not.toBeNull()
})

// @module-tag full
/** Warnings about changes that break clients generated from `/graphql/{base}`. */
import fc from 'fast-check'
import { buildClientSchema, findBreakingChanges, getIntrospectionQuery } from 'graphql'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CASES_TIMEOUT } from '../support/cases.ts'
import { forAll } from '../support/for-all.ts'
import { callTool } from '../support/mcp.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
const STAGES = { type: 'string', enum: ['open', 'closed'] }
const TICKET = { title: { type: 'string' }, amount: { type: 'number' }, stage: STAGES }
const typePath = (id: string) => `/v1/crm/record-types/${id}`
const LINK = '/v1/crm/relationship-types/customer'
const LINKED = { source_record_types: ['ticket'], target_record_types: ['customer'] }
const object = (properties: object, required: readonly string[] = []) => ({
  json_schema: { type: 'object', properties, required },
})

const put = async (id: string, properties: object, required: readonly string[] = []) =>
  breaksIn(await world.call('PUT', typePath(id), object(properties, required)))
const breaksIn = ({ body, text }: { body: { meta?: { warnings?: string[] } }; text: string }) => {
  expect(text).not.toContain('"error"')
  return (body.meta?.warnings ?? []).filter((warning) => warning.includes('/graphql/crm'))
}

beforeAll(async () => {
  world = await openWorld()
  expect(await put('customer', { name: { type: 'string' } })).toEqual([])
  expect(await put('firm', {})).toEqual([])
  expect(await put('ticket', TICKET)).toEqual([])
  expect(breaksIn(await world.call('PUT', LINK, LINKED))).toEqual([])
})
beforeEach(async () => {
  await put('ticket', TICKET)
  await world.call('PUT', LINK, LINKED)
})
afterAll(() => world.close())

const START = 'Clients that were generated from the schema of /graphql/crm may break: '

test('a property that goes is named once, though filters, sorts and inputs lose it too', async () => {
  const { title: _, ...rest } = TICKET
  expect(await put('ticket', rest)).toEqual([`${START}Ticket.title was removed.`])
  expect(await put('ticket', TICKET)).toEqual([])
})

test('a field of another kind, an enum value that goes and a required property are named', async () => {
  const changed = { ...TICKET, amount: { type: 'string' }, stage: { ...STAGES, enum: ['open', 'new'] } }
  expect(await put('ticket', changed, ['title'])).toEqual([
    `${START}Ticket.amount changed type from Float to String. closed was removed from enum type Ticket__stage. Ticket_Input.title changed type from String to String!.`,
  ])
  expect(await put('ticket', changed, ['title'])).toEqual([])
  expect(await put('ticket', { ...changed, due: { type: 'string' } }, ['title', 'due'])).toEqual([
    `${START}A required field due on input type Ticket_Input was added.`,
  ])
})

test('what clients do not see, and what they can ignore, is no warning', async () => {
  const wider = { ...TICKET, stage: { ...STAGES, enum: ['open', 'closed', 'new'] }, more: { type: 'string' } }
  expect(await put('ticket', wider)).toEqual([])
  const { call } = world
  expect(breaksIn(await call('PATCH', typePath('ticket'), { description: 'Other words' }))).toEqual([])
})

test('a PATCH, a dry run, GraphQL, MCP and a batch warn alike', async () => {
  const expected = `${START}Ticket.amount was removed.`
  const { amount: _, ...rest } = TICKET
  const { json_schema } = object(rest)
  const { call } = world
  const merge = { properties: { amount: null } }
  const patched = await call('PATCH', `${typePath('ticket')}?dry_run=true`, { json_schema: merge })
  expect(breaksIn(patched)).toEqual([expected])
  const mutation = `mutation($s: JSON) { patchRecordType(base: "crm", id: "ticket", input: { jsonSchema: $s }, dryRun: true) { warnings } }`
  const { body } = await call('POST', '/graphql', { query: mutation, variables: { s: merge } })
  expect(body.data.patchRecordType.warnings).toContain(expected)
  const args = { record_type: 'ticket', json_schema: merge, dry_run: true }
  expect((await callTool(world, '/mcp/crm', 'define', args)).body.meta.warnings).toContain(expected)
  const operations = [{ type: 'upsert_record_type', id: 'ticket', body: { json_schema } }]
  const batch = succeed(await call('POST', '/v1/crm/batch?dry_run=true', { operations }))
  expect(batch.data[0].warnings).toContain(expected)
})

test('a relationship type that changes its ends or cardinality names the fields of both ends', async () => {
  const { call } = world
  const toOne = { ...LINKED, cardinality: 'many_to_one' }
  expect(breaksIn(await call('PUT', LINK, toOne))).toEqual([
    `${START}Ticket.customer changed type from CustomerConnection! to Customer.`,
  ])
  expect(breaksIn(await call('PUT', LINK, { ...toOne, target_record_types: ['firm'] }))).toEqual([
    `${START}Customer.customer_of was removed. Ticket.customer changed type from Customer to Firm.`,
  ])
})

test('a new relationship type breaks nothing but the fields whose names it takes', async () => {
  const { call } = world
  const ofFirms = { source_record_types: ['customer'], target_record_types: ['firm'] }
  expect(breaksIn(await call('PUT', '/v1/crm/relationship-types/employer', ofFirms))).toEqual([])
  expect(breaksIn(await call('PUT', '/v1/crm/relationship-types/customer_of', ofFirms))).toEqual([
    `${START}Customer.customer_of changed type from TicketConnection! to FirmConnection!.`,
  ])
  for (const id of ['customer_of', 'employer'])
    succeed(await call('DELETE', `/v1/crm/relationship-types/${id}`))
})

test('a property that takes the name of a relationship renames its field', async () => {
  expect(await put('ticket', { ...TICKET, customer: { type: 'string' } })).toEqual([
    `${START}Ticket.customer changed type from CustomerConnection! to String.`,
  ])
  const { call: narrow } = await world.newToken([{ record_type: 'ticket', permission: 'manage' }])
  const taken = await narrow('PUT', typePath('ticket'), object(TICKET))
  expect(breaksIn(taken)).toEqual([`${START}Ticket.customer was removed.`])
  const again = await narrow('PUT', typePath('ticket'), object({ ...TICKET, customer: { type: 'string' } }))
  expect(again.text).not.toContain('Customer')
  expect(breaksIn(again)).toEqual([])
})

test('a config file warns where it is compared and where it is applied', async () => {
  const { call } = world
  succeed(await call('POST', '/v1/crm/preview', { name: 'next' }), 201)
  const config = succeed(await call('GET', '/v1/crm--next/config'))
  const ticket = config.record_types.find(({ id }: { id: string }) => id === 'ticket')
  delete ticket.json_schema.properties.amount
  delete config.hash
  const warnings = [
    'record_type ticket: The property "amount" is no longer in json_schema. Records keep what they hold of it.',
    `${START.replace('crm', 'crm--next')}Ticket.amount was removed.`,
  ]
  expect(succeed(await call('POST', '/v1/crm--next/config/diff', config)).meta).toEqual({ warnings })
  expect(succeed(await call('PUT', '/v1/crm--next/config', config)).meta).toEqual({ warnings })
  expect(succeed(await call('PUT', '/v1/crm--next/config', config))).not.toHaveProperty('meta')
})

test('a base of many types compares only those that are concerned', { tags: 'full' }, async () => {
  const { call } = world
  succeed(await call('PUT', '/v1/bases/wide', {}), 201)
  const types = Array.from({ length: 60 }, (_, n) => ({
    ...{ type: 'upsert_record_type', id: `type${n}` },
    body: object({ name: { type: 'string' } }),
  }))
  succeed(await call('POST', '/v1/wide/batch', { operations: types }))
  const path = '/v1/wide/relationship-types/any'
  succeed(await call('PUT', path, {}), 201)
  const { meta } = succeed(await call('PUT', path, { cardinality: 'many_to_one' }))
  expect(meta.warnings).toHaveLength(1)
  expect(meta.warnings[0]).toContain('Type0.any changed type from _RecordConnection! to _Record.')
  expect(meta.warnings[0]).toMatch(/ And 42 more\.$/)
})

const END = fc.constantFrom(['*'], ['one'], ['two'], ['one', 'two'], ['one', 'three'])
const RELATED = fc.record({
  id: fc.constantFrom('a', 'a_of', 'a_of_of', 'b', 'name'),
  source_record_types: END,
  target_record_types: END,
  cardinality: fc.constantFrom('many_to_many', 'many_to_one', 'one_to_one'),
})
let bases = 0

test('puts of relationship types warn exactly if the schema loses or changes what clients use', {
  ...{ tags: 'full', timeout: CASES_TIMEOUT },
}, async () => {
  const { call } = world
  await forAll(fc.array(RELATED, { minLength: 2, maxLength: 6 }), 26, async (puts) => {
    const base = `breaks-${++bases}`
    succeed(await call('PUT', `/v1/bases/${base}`, {}), 201)
    const operations = ['one', 'two', 'three'].map((id) => ({
      ...{ type: 'upsert_record_type', id, body: object({ name: { type: 'string' } }) },
    }))
    succeed(await call('POST', `/v1/${base}/batch`, { operations }))
    const query = getIntrospectionQuery()
    const seen = async () =>
      buildClientSchema(succeed(await call('POST', `/graphql/${base}`, { query })).data)
    let before = await seen()
    for (const { id, ...body } of puts) {
      const put = await call('PUT', `/v1/${base}/relationship-types/${id}`, body)
      expect(put.body.version, put.text).toBeGreaterThan(0)
      const after = await seen()
      const lost = findBreakingChanges(before, after).map(({ description }) => description)
      expect({ lost, warns: lost.length > 0 }).toEqual({ lost, warns: put.body.meta !== undefined })
      before = after
    }
  })
})

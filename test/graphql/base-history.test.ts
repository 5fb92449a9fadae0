/** `_history` of records in `/graphql/{base}`. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { explain, statementsOf } from '../support/query-plans.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World

async function ask(query: string): Promise<Body> {
  const { body, text } = await world.call('POST', '/graphql/crm', { query })
  expect(body.errors, text).toBeUndefined()
  return body.data
}
const put = (type: string, id: string, data: object) =>
  world.call('PUT', `/v1/crm/records/${type}/${id}`, { data })

beforeAll(async () => {
  world = await openWorld()
  for (const type of ['ticket', 'customer']) await world.call('PUT', `/v1/crm/record-types/${type}`, {})
  await world.call('PUT', '/v1/crm/relationship-types/customer', {
    ...{ source_record_types: ['ticket'], target_record_types: ['customer'] },
  })
  await put('customer', 'c1', { name: 'Ada' })
  for (const id of ['t1', 't2']) {
    for (const n of [1, 2, 3]) await put('ticket', id, { n })
    await world.call('POST', '/v1/crm/relationships', {
      ...{ rel_type: 'customer', source_record_type: 'ticket', source_id: id },
      ...{ target_record_type: 'customer', target_id: 'c1' },
    })
  }
})
afterAll(() => world.close())

test('the versions of all records of a list are one statement, newest first', async () => {
  const query = `{ ticketRecords(sort: [{ id: ASC }]) { nodes {
    id last: _history(first: 1) { version operation diff actor { via } } all: _history { version } older: _history(before: 3) { version }
  } } }`
  let data: Body = null
  const statements = await statementsOf(async () => {
    data = await ask(query)
  })
  // Jobs read the log beside it.
  const ofHistory = statements.filter(({ text }) => /plinth\.change\b.*kind = 'record'/s.test(text))
  expect(new Set(ofHistory.map(({ text }) => text)).size).toBe(1)
  for (const node of data.ticketRecords.nodes) {
    expect(node.last).toEqual([
      {
        ...{ version: 3, operation: 'update', actor: { via: 'rest' } },
        diff: [{ op: 'replace', path: '/data/n', value: 3 }],
      },
    ])
    expect(node.all.map(({ version }: Body) => version)).toEqual([3, 2, 1])
    expect(node.older.map(({ version }: Body) => version)).toEqual([2, 1])
  }
  const { scans } = await explain(world.database, ofHistory[0] as NonNullable<(typeof ofHistory)[0]>)
  expect(scans).not.toContain('change')
})

test('linked records and the results of mutations have their versions too', async () => {
  const { customer } = await ask(
    '{ customer(id: "c1") { customer_of { nodes { id _history(first: 1) { version } } } } }',
  )
  expect(customer.customer_of.nodes).toEqual([
    { id: 't1', _history: [{ version: 3 }] },
    { id: 't2', _history: [{ version: 3 }] },
  ])
  const { updateTicket } = await ask(
    'mutation { updateTicket(id: "t1", data: { _more: { n: 4 } }) { ticket { _history { version } } } }',
  )
  expect(updateTicket.ticket._history).toHaveLength(4)
})

test('a size out of range is refused at its field, and an endpoint with a policy has no versions', async () => {
  const { body } = await world.call('POST', '/graphql/crm', {
    query: '{ ticket(id: "t1") { past: _history(first: 0) { version } } }',
  })
  expect(body.errors[0].extensions.details[0]).toMatchObject({ path: '/past/first', code: 'out_of_range' })
  await world.call('PUT', '/v1/crm/endpoints/bounded', {
    tools: [{ record_type: 'ticket', operations: ['get'], fields: ['data.m'] }],
  })
  const { text } = await world.call('GET', '/graphql/crm/e/bounded/schema.graphql')
  expect(text).toContain('type Ticket implements')
  expect(text).not.toContain('_history')
})

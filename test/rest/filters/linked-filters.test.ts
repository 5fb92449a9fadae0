/** Conditions on linked records in filters: `some`, `none`, and paths such as `customer.data.tier`. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { explain, statementsOf } from '../../support/query-plans.ts'
import type { Body, Call } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World

const put = (type: string, id: string, data: object) =>
  world.call('PUT', `/v1/crm/records/${type}/${id}`, { data })
const link = (rel: string, source: [string, string], target: [string, string]) =>
  world.call('POST', '/v1/crm/relationships', {
    ...{ rel_type: rel, source_record_type: source[0], source_id: source[1] },
    ...{ target_record_type: target[0], target_id: target[1] },
  })
const query = (type: string, filter: object, more: object = {}, call: Call = world.call) =>
  call('POST', `/v1/crm/records/${type}/query`, { filter, sort: 'id', fields: ['id'], ...more })
async function ids(type: string, filter: object, call: Call = world.call): Promise<string> {
  const { status, body, text } = await query(type, filter, {}, call)
  expect(status, text).toBe(200)
  return body.data.map(({ id }: Body) => id).join(' ')
}
async function refused(
  type: string,
  filter: object,
  call: Call = world.call,
  more: object = {},
): Promise<Body> {
  const { status, body, text } = await query(type, filter, more, call)
  expect(status, text).toBe(400)
  expect(body.error.details).toHaveLength(1)
  return body.error.details[0]
}
const on = (field: string, op: string, value?: unknown) => ({
  field,
  op,
  ...(value !== undefined && { value }),
})
const tier = (op: string, value?: unknown) => on('customer.data.tier', op, value)

beforeAll(async () => {
  world = await openWorld()
  const text = { type: 'string' }
  const types = {
    ticket: { type: 'object', properties: { title: text, stage: text }, additionalProperties: false },
    customer: { type: 'object', properties: { name: text, tier: text }, additionalProperties: false },
    company: { type: 'object', properties: { country: text } },
    secret: {},
  }
  for (const [id, json_schema] of Object.entries(types))
    await world.call('PUT', `/v1/crm/record-types/${id}`, { json_schema })
  for (const [id, source, target] of [
    ['customer', ['ticket'], ['customer']],
    ['works_at', ['customer'], ['company']],
    ['about', ['ticket'], ['customer', 'secret']],
    ['hides', ['ticket'], ['secret']],
  ] as const)
    await world.call('PUT', `/v1/crm/relationship-types/${id}`, {
      source_record_types: source,
      target_record_types: target,
    })
  await put('company', 'de', { country: 'DE' })
  await put('customer', 'ada', { name: 'Ada', tier: 'pro' })
  await put('customer', 'ben', { name: 'Ben', tier: 'free' })
  await put('customer', 'cyd', { name: 'Cyd' })
  for (const [id, stage] of [
    ['t1', 'open'],
    ['t2', 'closed'],
    ['t3', 'open'],
    ['t4', 'open'],
    ['t5', 'open'],
  ] as const)
    await put('ticket', id, { title: id, stage })
  await put('secret', 's1', { word: 'xyzzy' })
  await link('works_at', ['customer', 'ada'], ['company', 'de'])
  await link('customer', ['ticket', 't1'], ['customer', 'ada'])
  await link('customer', ['ticket', 't2'], ['customer', 'ada'])
  await link('customer', ['ticket', 't3'], ['customer', 'ben'])
  await link('customer', ['ticket', 't4'], ['customer', 'cyd'])
  await link('about', ['ticket', 't1'], ['secret', 's1'])
  await link('about', ['ticket', 't2'], ['customer', 'ben'])
  await link('hides', ['ticket', 't5'], ['secret', 's1'])
})
afterAll(() => world.close())

test('a field after a relationship type is that of linked records', async () => {
  expect(await ids('ticket', tier('eq', 'pro'))).toBe('t1 t2')
  expect(await ids('ticket', { and: [tier('eq', 'pro'), on('data.stage', 'eq', 'open')] })).toBe('t1')
  expect(await ids('ticket', on('customer.id', 'in', ['ben', 'cyd']))).toBe('t3 t4')
  expect(await ids('customer', on('~customer.data.stage', 'eq', 'open'))).toBe('ada ben cyd')
  expect(await ids('customer', on('~customer.data.stage', 'eq', 'closed'))).toBe('ada')
  expect(await ids('ticket', on('customer.works_at.data.country', 'eq', 'DE'))).toBe('t1 t2')
  expect(await ids('company', on('~works_at.~customer.data.stage', 'eq', 'closed'))).toBe('de')
})

test('the negative operators hold where the positive ones do not, so for records without links too', async () => {
  expect(await ids('ticket', tier('neq', 'pro'))).toBe('t3 t4 t5')
  expect(await ids('ticket', tier('not_in', ['pro', 'free']))).toBe('t4 t5')
  expect(await ids('ticket', tier('is_null'))).toBe('t4 t5')
  expect(await ids('ticket', tier('eq', null))).toBe('t4 t5')
  expect(await ids('ticket', tier('in', [null, 'free']))).toBe('t3 t4 t5')
  expect(await ids('ticket', tier('is_not_null'))).toBe('t1 t2 t3')
  expect(await ids('ticket', tier('neq', null))).toBe('t1 t2 t3')
})

test('some and none test all conditions on one linked record', async () => {
  const closed = { rel_type: 'customer', direction: 'incoming', filter: on('data.stage', 'eq', 'closed') }
  expect(await ids('customer', { some: closed })).toBe('ada')
  expect(await ids('customer', { none: closed })).toBe('ben cyd')
  expect(await ids('ticket', { none: { rel_type: 'customer' } })).toBe('t5')
  const both = { and: [on('data.stage', 'eq', 'closed'), on('data.title', 'eq', 't1')] }
  expect(await ids('customer', { some: { ...closed, filter: both } })).toBe('')
  const onEach = [on('~customer.data.stage', 'eq', 'closed'), on('~customer.data.title', 'eq', 't1')]
  expect(await ids('customer', { and: onEach })).toBe('ada')
  const nested = { some: { rel_type: 'works_at', filter: on('data.country', 'eq', 'DE') } }
  expect(await ids('ticket', { some: { rel_type: 'customer', filter: nested } })).toBe('t1 t2')
  expect(await ids('ticket', { some: { rel_type: 'about' } })).toBe('t1 t2')
  expect(await ids('ticket', { some: { rel_type: 'about', record_type: 'customer' } })).toBe('t2')
  expect(await ids('ticket', { some: { rel_type: 'about', filter: on('data.word', 'eq', 'xyzzy') } })).toBe(
    't1',
  )
  expect(await ids('customer', on('~customer.data', 'search', 't3'))).toBe('ben')
})

test('aggregates, claims, related records and waits take the conditions, reads of the past do not', async () => {
  const filter = tier('eq', 'pro')
  const counted = await world.call('POST', '/v1/crm/records/ticket/aggregate', {
    filter,
    aggregations: [{ fn: 'count' }],
  })
  expect(counted.body.data).toEqual([{ count: 2 }])
  const of = encodeURIComponent(JSON.stringify(filter))
  const related = `/v1/crm/records/customer/ada/related?direction=incoming&record_type=ticket&filter=${of}`
  expect((await world.call('GET', related)).body.data).toHaveLength(2)
  const waited = await world.call('GET', `/v1/crm/wait/ticket?timeout=1&filter=${of}`)
  expect(waited.body.data).toHaveLength(2)
  const claimed = await world.call('POST', '/v1/crm/records/ticket/claim', { filter, limit: 5 })
  expect(claimed.body.data.map(({ record }: Body) => record.id).sort()).toEqual(['t1', 't2'])
  const paged = await query('ticket', filter, { limit: 1, include_total: true })
  expect(paged.body.meta).toMatchObject({ total: 2, has_more: true })
  const rest = await query('ticket', filter, { limit: 1, cursor: paged.body.meta.next_cursor })
  expect(rest.body.data).toEqual([{ id: 't2' }])

  const past = await query('ticket', filter, { as_of: new Date().toISOString() })
  expect(past.body.error.details[0]).toMatchObject({ path: '/filter', code: 'not_available' })
  const across = await world.call('POST', '/v1/accounts/default/query', {
    ...{ bases: ['crm'], record_type: 'ticket', filter: { some: { rel_type: 'customer' } } },
  })
  expect(across.body.error.details[0]).toMatchObject({ path: '/filter/some', code: 'not_available' })
})

test('a trigger and the policy of an endpoint have no conditions on linked records', async () => {
  const filter = { some: { rel_type: 'customer' } }
  const trigger = await world.call('PUT', '/v1/crm/triggers/t', {
    ...{ record_types: ['ticket'], events: ['create'], url: 'https://example.com/', condition: filter },
  })
  expect(trigger.status).toBe(400)
  const endpoint = await world.call('PUT', '/v1/crm/endpoints/e', {
    tools: [{ record_type: 'ticket', operations: ['list'], filter }],
  })
  expect(endpoint.status).toBe(400)
  expect(endpoint.body.error.details[0].code).toBe('not_available')
})

test('errors name the place and say what to send', async () => {
  const unknown = await refused('ticket', { some: { rel_type: 'custmer' } })
  expect(unknown).toMatchObject({
    path: '/filter/some/rel_type',
    code: 'unknown_relationship_type',
    hint: 'customer',
  })
  const turned = await refused('ticket', { some: { rel_type: 'customer', direction: 'incoming' } })
  expect(turned).toMatchObject({ path: '/filter/some/direction', code: 'wrong_direction', hint: 'outgoing' })
  const path = await refused('ticket', { not: on('~customer.data.tier', 'eq', 'pro') })
  expect(path).toMatchObject({ path: '/filter/not/field', code: 'wrong_direction', hint: 'customer' })
  const property = await refused('ticket', on('customer.data.teir', 'eq', 'pro'))
  expect(property).toMatchObject({ path: '/filter/field', code: 'unknown_field', hint: 'customer.data.tier' })
  const notRelated = await refused('ticket', on('nothing.data.tier', 'eq', 'pro'))
  expect(notRelated).toMatchObject({ path: '/filter/field', code: 'unknown_field' })
  expect(notRelated['message']).toContain('"<relationship type>.data.<name>", with "~" before it')
  const key = await refused('ticket', { some: { rel_type: 'customer', where: {} } })
  expect(key).toMatchObject({ path: '/filter/some/where', code: 'unknown_key' })
  const empty = await refused('ticket', { some: { rel_type: 'customer', filter: {} } })
  expect(empty).toMatchObject({ path: '/filter/some/filter', code: 'type' })
  const many = { or: Array.from({ length: 11 }, () => ({ some: { rel_type: 'customer' } })) }
  expect(await refused('ticket', many)).toMatchObject({ path: '/filter/or/10/some', code: 'too_many' })
  const deep = ['customer', '~customer', 'customer', '~customer'].reduceRight(
    (filter: object, step) => ({
      some: { rel_type: 'customer', direction: step === 'customer' ? 'outgoing' : 'incoming', filter },
    }),
    on('id', 'eq', 'x'),
  )
  expect(await refused('ticket', deep)).toMatchObject({ code: 'too_deep' })
})

test('a token cannot filter by what it may not read', async () => {
  const { call } = await world.newToken([{ record_type: ['ticket', 'customer'], permission: 'read' }])
  expect(await ids('ticket', tier('eq', 'pro'), call)).toBe('t1 t2')
  const missing = await refused('ticket', { some: { rel_type: 'nothing_at_all' } }, call)
  const hidden = await refused('ticket', { some: { rel_type: 'hides' } }, call)
  expect(hidden['message']).toBe(missing['message'].replace('nothing_at_all', 'hides'))
  expect(hidden['allowed']).not.toContain('hides')
  // Links to secrets do not count, whatever the filter.
  expect(await ids('ticket', { some: { rel_type: 'about' } }, call)).toBe('t2')
  expect(await ids('ticket', { none: { rel_type: 'about' } }, call)).toBe('t1 t3 t4 t5')
  expect(await ids('ticket', on('about.data.word', 'eq', 'xyzzy'), call)).toBe('')
  const named = await refused('ticket', { some: { rel_type: 'about', record_type: 'secret' } }, call)
  expect(named).toMatchObject({ code: 'unknown_record_type', allowed: ['customer'] })
  const further = on('customer.works_at.data.country', 'eq', 'DE')
  expect(await refused('ticket', further, call)).toMatchObject({ code: 'unknown_field' })
})

test('a tool of an endpoint for one type cannot filter by another', async () => {
  await world.call('PUT', '/v1/crm/endpoints/bounded', {
    tools: [{ record_type: 'ticket', operations: ['list'] }],
  })
  const { body } = await world.call('POST', '/mcp/crm/e/bounded', {
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name: 'list_ticket', arguments: { filter: tier('eq', 'pro') } },
  })
  expect(JSON.stringify(body)).toContain('unknown_field')
  expect(JSON.stringify(body)).not.toContain('t1')
})

test('a condition on linked records reads links and records by their indexes', async () => {
  const statements = await statementsOf(() =>
    query('ticket', tier('eq', 'pro'), { sort: '-created_at', limit: 10 }),
  )
  const [listed] = statements.filter(({ text }) => text.includes('plinth.relationship'))
  const { scans } = await explain(world.database, listed as NonNullable<typeof listed>)
  expect(scans).not.toContain('relationship')
})

/** `ticketChanges` of `/graphql/{base}`: the change log as server-sent events. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import type { Body } from '../support/server.ts'
import { openStream } from '../support/sse.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World

const follow = (
  args = '',
  token = world.adminToken,
  fields = 'seq operation id version actor { via } diff record { title customer { name } }',
) =>
  openStream(world, '/graphql/crm', {
    token,
    body: { query: `subscription { ticketChanges${args && `(${args})`} { ${fields} } }` },
  })
const put = async (type: string, id: string, data: object) =>
  expect((await world.call('PUT', `/v1/crm/records/${type}/${id}`, { data })).status).toBeLessThan(300)
const eventsOf = (stream: Awaited<ReturnType<typeof follow>>) =>
  stream.events.map(({ data }) => data.data?.ticketChanges as Body)

beforeAll(async () => {
  world = await openWorld()
  const properties = { title: { type: 'string' }, stage: { type: 'string' } }
  await world.call('PUT', '/v1/crm/record-types/ticket', { json_schema: { type: 'object', properties } })
  await world.call('PUT', '/v1/crm/record-types/customer', {
    json_schema: { type: 'object', properties: { name: { type: 'string' } } },
  })
  await world.call('PUT', '/v1/crm/relationship-types/customer', {
    ...{ source_record_types: ['ticket'], target_record_types: ['customer'], cardinality: 'many_to_one' },
  })
})
afterAll(() => world.close())

test('a subscription has the changes of its type, with the record as it is now', {
  tags: 'full',
}, async () => {
  await put('customer', 'c1', { name: 'Ada' })
  const stream = await follow()
  await put('ticket', 'a', { title: 'One' })
  const [created] = await stream.until(1).then(() => eventsOf(stream))
  expect(created).toMatchObject({
    ...{ operation: 'create', id: 'a', version: 1, actor: { via: 'rest' } },
    record: { title: 'One', customer: null },
  })
  succeed(
    await world.call('POST', '/v1/crm/relationships', {
      ...{ rel_type: 'customer', source_record_type: 'ticket', source_id: 'a' },
      ...{ target_record_type: 'customer', target_id: 'c1' },
    }),
    201,
  )
  await put('customer', 'c1', { name: 'Ada L.' })
  await put('ticket', 'a', { title: 'Two' })
  await stream.until(2)
  expect(eventsOf(stream)[1]).toMatchObject({
    operation: 'update',
    diff: [{ op: 'replace', path: '/data/title', value: 'Two' }],
    record: { title: 'Two', customer: { name: 'Ada L.' } },
  })
  await world.call('DELETE', '/v1/crm/records/ticket/a')
  await stream.until(3)
  expect(eventsOf(stream)[2]).toMatchObject({ operation: 'delete', id: 'a', record: null })
  stream.cut()
})

test('a subscription resumes after an entry, and skips none', { tags: 'full' }, async () => {
  const first = await follow()
  for (const n of [1, 2, 3]) await put('ticket', `r${n}`, { title: `R${n}` })
  await first.until(3)
  const [{ seq }] = eventsOf(first) as [Body]
  first.cut()
  const resumed = await follow(`after: ${seq}`)
  await resumed.until(2)
  expect(eventsOf(resumed).map(({ id }) => id)).toEqual(['r2', 'r3'])
  resumed.cut()
})

test('where keeps the changes of records that match before or after, id and operation those of one kind', {
  tags: 'full',
}, async () => {
  const open = await follow('where: { stage: { eq: "open" } }')
  const one = await follow('id: "w2", operation: update')
  await put('ticket', 'w1', { stage: 'open' })
  await put('ticket', 'w2', { stage: 'new' })
  await put('ticket', 'w2', { stage: 'old' })
  await put('ticket', 'w1', { stage: 'closed' })
  await put('ticket', 'w1', { stage: 'gone' })
  await open.until(2)
  await one.until(1)
  expect(eventsOf(open).map(({ id, version }) => `${id}.${version}`)).toEqual(['w1.1', 'w1.2'])
  expect(eventsOf(one).map(({ id, version }) => `${id}.${version}`)).toEqual(['w2.2'])
  open.cut()
  one.cut()
})

test('a filter at fault is refused before the first change, at its argument', async () => {
  const details = async (args: string) => {
    const stream = await follow(args)
    await stream.ended
    return stream.events[0]?.data.errors[0].extensions.details[0]
  }
  expect(await details('where: { stage: { like: "a\\\\" } }')).toMatchObject({ path: '/where/stage/like' })
  expect(await details('where: { customer: { name: { eq: "Ada" } } }')).toMatchObject({
    path: '/where/customer',
    code: 'not_available',
  })
})

test('a token has no subscription to types that it may not read, and loses its stream when it is revoked', {
  tags: 'full',
}, async () => {
  const { id, token } = await world.newToken([{ record_type: ['customer'], permission: 'read' }])
  const refused = await follow('', token)
  await refused.ended
  expect(refused.events[0]?.data.errors[0].extensions.code).toBe('VALIDATION_ERROR')
  const customers = await openStream(world, '/graphql/crm', {
    token,
    body: { query: 'subscription { customerChanges { id record { name } } }' },
  })
  await put('ticket', 'hidden', { title: 'canary' })
  await put('customer', 'c2', { name: 'Ben' })
  await customers.until(1)
  expect(customers.events[0]?.data.data.customerChanges).toEqual({ id: 'c2', record: { name: 'Ben' } })
  expect(JSON.stringify(customers.events)).not.toContain('canary')
  succeed(await world.call('DELETE', `/v1/tokens/${id}`))
  await customers.ended
})

test('a subscription needs a stream, and has the limits of queries', async () => {
  const { body } = await world.call('POST', '/graphql/crm', {
    query: 'subscription { ticketChanges { id } }',
  })
  expect(body.errors[0].message).toContain('text/event-stream')
  const aliases = Array.from({ length: 60 }, (_, n) => `a${n}: id`).join(' ')
  const over = await follow('', world.adminToken, aliases)
  await over.ended
  expect(over.events[0]?.data.errors[0].message).toContain('aliases')
})

// @module-tag full
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import type { Body } from '../support/server.ts'
import { openStream } from '../support/sse.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const FOLLOW = `subscription Follow($after: Float, $recordType: String) {
  changes(base: "crm", after: $after, recordType: $recordType) { seq kind recordType id operation actor { via } diff }
}`
const follow = (variables: object = {}, token = world.adminToken) =>
  openStream(world, '/graphql', { token, body: { query: FOLLOW, variables } })
const ask = async (query: string, headers: Record<string, string> = {}): Promise<Body> =>
  (await world.call('POST', '/graphql', { query }, headers)).body
const put = async (type: string, id: string, data: object) =>
  expect((await world.call('PUT', `/v1/crm/records/${type}/${id}`, { data })).status).toBeLessThan(300)

test('the changes query returns a page, and the subscription the entries after it', async () => {
  const type = await world.newType()
  await put(type, 'a', { n: 1 })
  const list = `{ changes(base: "crm", recordType: "${type}", limit: 1) {
    data { seq at kind recordType id operation version requestId cause actor { tokenId name via } diff } hasMore limit nextAfter } }`
  const { changes } = (await ask(list)).data
  expect(changes.data).toMatchObject([{ kind: 'record', recordType: type, id: 'a', operation: 'create' }])
  expect(changes).toMatchObject({ hasMore: false, limit: 1 })

  const stream = await follow({ after: changes.nextAfter, recordType: type })
  expect(stream.type).toMatch(/^text\/event-stream/)
  await put(type, 'a', { n: 2 })
  const [event] = await stream.until(1)
  expect(event).toMatchObject({ event: 'next' })
  expect(event?.data).toEqual({
    data: {
      changes: {
        seq: expect.any(Number),
        kind: 'record',
        recordType: type,
        id: 'a',
        operation: 'update',
        actor: { via: 'rest' },
        diff: [{ op: 'replace', path: '/data/n', value: 2 }],
      },
    },
  })
  stream.cut()
})

test('the changes query takes its order as an enum, in both cases', async () => {
  const type = await world.newType()
  await put(type, 'a', { n: 1 })
  await put(type, 'b', { n: 1 })
  for (const order of ['DESC', 'desc']) {
    const last = `{ changes(base: "crm", recordType: "${type}", limit: 1, order: ${order}) { data { id } } }`
    expect((await ask(last)).data.changes.data).toEqual([{ id: 'b' }])
  }
})

test('a changes subscription returns only entries that the token may read', async () => {
  const [open, shut] = [await world.newType(), await world.newType()]
  const { token } = await world.newToken([{ record_type: open, permission: 'read' }])
  const stream = await follow({}, token)
  await put(shut, 's', { secret: 'canary' })
  await put(open, 'o', { n: 1 })
  const [event] = await stream.until(1)
  expect(event?.data.data.changes.id).toBe('o')
  expect(JSON.stringify(stream.events)).not.toContain('canary')
  const refused = await follow({ recordType: shut }, token)
  await refused.ended
  expect(refused.events[0]?.data.errors[0].extensions.code).toBe('FORBIDDEN')
  stream.cut()
})

test('a subscription requires a stream, a valid token and the GraphQL limits', async () => {
  const { errors } = await ask('subscription { changes(base: "crm") { seq } }')
  expect(errors[0].extensions.code).toBe('VALIDATION_ERROR')
  expect(errors[0].message).toContain('text/event-stream')
  const aliases = Array.from({ length: 60 }, (_, n) => `a${n}: seq`).join(' ')
  const over = await openStream(world, '/graphql', {
    body: { query: `subscription { changes(base: "crm") { ${aliases} } }` },
  })
  await over.ended
  expect(over.events[0]?.data.errors[0].message).toContain('aliases')
  const unknown = await openStream(world, '/graphql', { token: 'plt_nobody', body: { query: FOLLOW } })
  expect(unknown.status).toBe(401)
  await unknown.ended
})

test('recordTypeChanges returns readable types, and endpoint changes only with read permission or its id', async () => {
  const type = await world.newType()
  const { token } = await world.newToken([{ record_type: type, permission: 'read' }])
  const endpoint = (id: string, description: string) =>
    world.call('PUT', `/v1/crm/endpoints/${id}`, {
      description,
      tools: [{ record_type: type, operations: ['get'] }],
    })
  for (const id of ['own', 'other']) succeed(await endpoint(id, 'Before.'), 201)
  const types = (at: string, as?: string) =>
    openStream(world, '/graphql', {
      ...(as && { token: as }),
      body: { query: `subscription { recordTypeChanges(base: "crm"${at}) { recordType } }` },
    })
  const [limited, there, admin] = [
    await types('', token),
    await types(', endpoint: "own"', token),
    await types(''),
  ]
  succeed(await endpoint('other', 'After.'))
  await admin.until(1)
  succeed(await endpoint('own', 'After.'))
  await there.until(1)
  succeed(await world.call('PATCH', `/v1/crm/record-types/${type}`, { description: 'Last.' }))
  const seenBy = ({ events }: Awaited<ReturnType<typeof types>>) =>
    events.map(({ data }) => data.data.recordTypeChanges.recordType)
  await limited.until(1)
  await there.until(2)
  expect(seenBy(limited)).toEqual([type])
  expect(seenBy(there)).toEqual([null, type])
  for (const stream of [limited, there, admin]) stream.cut()
})

test('a subscription ends when its token is revoked', async () => {
  const { id, token } = await world.newToken([{ permission: 'read' }])
  const stream = await follow({}, token)
  succeed(await world.call('DELETE', `/v1/tokens/${id}`))
  await stream.ended
  expect(stream.events).toEqual([])
})

test('subscriptions end on graceful shutdown, and the server closes', async () => {
  const other = await openWorld()
  const stream = await openStream(other, '/graphql', { body: { query: FOLLOW } })
  await other.close()
  await stream.ended
  expect(stream.events).toEqual([])
})

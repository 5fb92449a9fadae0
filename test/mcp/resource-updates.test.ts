// @module-tag full
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed, times } from '../support/answers.ts'
import { DIALECTS, type Dialect } from '../support/mcp.ts'
import { type Following, followWith } from '../support/mcp-following.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const put = async (type: string, id: string, data: object) =>
  expect((await world.call('PUT', `/v1/crm/records/${type}/${id}`, { data })).status).toBeLessThan(300)
const recordUri = (type: string, id: string) => `plinth://crm/records/${type}/${id}`
const listUri = (type: string, filter?: object) =>
  `plinth://crm/records/${type}${filter ? `?filter=${encodeURIComponent(JSON.stringify(filter))}` : ''}`
const isN = (n: number) => ({ field: 'data.n', op: 'eq', value: n })

const opened: Following[] = []
async function following(
  uris: string[],
  { dialect = 'v1' as Dialect, path = '/mcp/crm', token = world.adminToken } = {},
) {
  const found = await followWith(world.url, token, dialect, path, uris)
  opened.push(found)
  return found
}
afterAll(() => Promise.all(opened.map((each) => each.close())))

/** Two types: one with records to follow, and one whose record is changed last, as a marker in the stream. */
async function types() {
  const [type, other] = [await world.newType(), await world.newType()]
  await put(type, 'a', { n: 1 })
  await put(type, 'b', { n: 1 })
  await put(other, 'last', { n: 1 })
  return { type, other, last: recordUri(other, 'last'), finish: () => put(other, 'last', { n: 2 }) }
}

for (const dialect of DIALECTS)
  describe(`a ${dialect} client`, () => {
    test('is notified of the subscribed record, and not of others', async () => {
      const { type, last, finish } = await types()
      const client = await following([recordUri(type, 'a'), last], { dialect })
      await put(type, 'b', { n: 2 })
      await put(type, 'a', { n: 2 })
      await client.until(recordUri(type, 'a'))
      await put(type, 'b', { n: 3 })
      await finish()
      await client.until(last)
      expect(new Set(client.resourceEvents())).toEqual(new Set([recordUri(type, 'a'), last]))
    })

    test('is notified of a subscribed list when a changed record matches before or after the change', {
      tags: 'full',
    }, async () => {
      const { type, last, finish } = await types()
      const [nines, all] = [listUri(type, isN(9)), listUri(type)]
      const client = await following([nines, last], { dialect })
      await put(type, 'a', { n: 2 })
      await finish()
      await client.until(last)
      expect(client.resourceEvents()).toEqual([last])
      for (const n of [9, 10]) {
        await put(type, 'a', { n })
        await client.until(nines)
      }
      await put(type, 'a', { n: 9 })
      await client.until(nines)
      succeed(await world.call('DELETE', `/v1/crm/records/${type}/a`))
      await client.until(nines)
      const whole = await following([all], { dialect })
      await put(type, 'b', { n: 7 })
      await whole.until(all)
    })

    test('is notified of changes that meet the condition of a list only', async () => {
      const { type, last, finish } = await types()
      const condition = {
        and: [isN(9), { field: 'previous.data.n', op: 'neq', value: 9 }],
      }
      const became = `${listUri(type)}?condition=${encodeURIComponent(JSON.stringify(condition))}`
      const id = { field: 'id', op: 'eq', value: 'a' }
      const ofA = `${listUri(type, id)}&condition=${encodeURIComponent(JSON.stringify(condition))}`
      const client = await following([became, ofA, last], { dialect })
      await put(type, 'a', { n: 2 })
      await put(type, 'b', { n: 9 })
      await client.until(became)
      await put(type, 'b', { n: 9, more: true })
      await finish()
      await client.until(last)
      expect(new Set(client.resourceEvents())).toEqual(new Set([became, last]))
      await put(type, 'a', { n: 9 })
      await client.until(ofA)
    })

    test('is notified of the subscribed type', async () => {
      const { type, last } = await types()
      const uri = `plinth://crm/types/${type}`
      const client = await following([uri, last], { dialect })
      await put(type, 'a', { n: 5 })
      succeed(await world.call('PATCH', `/v1/crm/record-types/${type}`, { description: 'Another.' }))
      await client.until(uri)
      expect(client.resourceEvents().filter((each) => each !== last)).toEqual([uri])
    })
  })

test('a subscription outside the grants is refused with the same error whether or not it exists', async () => {
  const { type, other } = await types()
  const { token } = await world.newToken([{ record_type: other, permission: 'read' }])
  const client = await following([], { token })
  const refusals = [
    recordUri(type, 'a'),
    recordUri('absent', 'a'),
    `plinth://crm/types/${type}`,
    listUri(type, isN(1)),
  ]
  for (const uri of refusals) await expect(client.follow(uri)).rejects.toMatchObject({ code: -32002 })
  const messages = await Promise.all(refusals.map((uri) => client.follow(uri).catch((e: Error) => e.message)))
  expect(new Set(messages).size).toBe(1)
})

test('changes of types outside the grants cause no notifications', async () => {
  const { type, other, last, finish } = await types()
  const { token } = await world.newToken([{ record_type: other, permission: 'read' }])
  const client = await following([listUri(other), last], { token })
  await put(type, 'a', { n: 1000 })
  await finish()
  await client.until(last)
  expect(client.resourceEvents().every((uri) => uri === last || uri === listUri(other))).toBe(true)
})

test('an unsubscribed client gets no more notifications; other subscribers still do', async () => {
  const { type, other, last, finish } = await types()
  const uri = recordUri(type, 'a')
  const [leaving, staying] = [await following([uri, last]), await following([uri])]
  // Earlier notifications may still be under way; the last record marks their end.
  await finish()
  await leaving.until(last)
  const toldOf = () => leaving.resourceEvents().filter((each) => each === uri).length
  const before = toldOf()
  await leaving.unfollow(uri)
  await put(type, 'a', { n: 3 })
  await staying.until(uri)
  await put(other, 'last', { n: 3 })
  await leaving.until(last)
  expect(toldOf()).toBe(before)
})

for (const dialect of DIALECTS)
  test(`a ${dialect} client with a revoked token gets no more notifications`, async () => {
    const { type } = await types()
    const { id, token } = await world.newToken([{ record_type: type, permission: 'read' }])
    const client = await following([recordUri(type, 'a')], { token, dialect })
    succeed(await world.call('DELETE', `/v1/tokens/${id}`))
    await client.ended
    const before = client.resourceEvents().length
    await put(type, 'a', { n: 8 })
    const witness = await following([recordUri(type, 'a')])
    await put(type, 'a', { n: 9 })
    await witness.until(recordUri(type, 'a'))
    expect(client.resourceEvents()).toHaveLength(before)
  })

test('a client with 91 subscriptions is notified only of the record that changed', {
  tags: 'full',
}, async () => {
  const { type, last, finish } = await types()
  const ids = times(90, (n) => `r${n}`)
  for (const id of ids) await put(type, id, { n: 0 })
  await put(type, 'r50', { n: 1 })
  const client = await following([...ids.map((id) => recordUri(type, id)), last])
  await finish()
  await client.until(last)
  const before = client.resourceEvents().length
  await put(type, 'r77', { n: 1 })
  await client.until(recordUri(type, 'r77'))
  expect(client.resourceEvents().slice(before)).toEqual([recordUri(type, 'r77')])
})

test('a change of a type or prompt is notified as a changed list', async () => {
  const client = await following([])
  succeed(await world.call('PUT', '/v1/crm/record-types/prompt', {}), 201)
  await client.untilList('resources')
  await client.untilList('prompts')
  await put('prompt', 'p', { name: 'new', template: 'x' })
  await client.untilList('prompts')
})

test('a session on a narrowed URL refuses hidden resources, and its stream stays open', {
  tags: 'full',
}, async () => {
  const { type, other, last, finish } = await types()
  const path = `/mcp/crm?readonly=1&types=${other}`
  const client = await following([last], { path })
  await expect(client.follow(recordUri(type, 'a'))).rejects.toMatchObject({ code: -32002 })
  // Longer than the interval of the access check, which would have ended the stream.
  const witness = await world.newToken([{ permission: 'read' }])
  const revoked = await following([last], { token: witness.token })
  succeed(await world.call('DELETE', `/v1/tokens/${witness.id}`))
  await revoked.ended
  const before = client.resourceEvents().length
  await finish()
  await client.until(last)
  expect(client.resourceEvents().length).toBeGreaterThanOrEqual(before)
})

/** `nodeId` of `/graphql` tells objects apart that have the same `id`. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { link } from '../support/links.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
async function ask(query: string, variables?: object): Promise<Body> {
  const { body, text } = await world.call('POST', '/graphql', { query, ...(variables && { variables }) })
  expect(body.errors, text).toBeUndefined()
  return body.data
}

beforeAll(async () => {
  world = await openWorld()
  const { call } = world
  succeed(await call('PUT', '/v1/bases/other', {}), 201)
  for (const base of ['crm', 'other']) {
    for (const type of ['ticket', 'customer']) {
      succeed(await call('PUT', `/v1/${base}/record-types/${type}`, {}), 201)
      succeed(await call('PUT', `/v1/${base}/records/${type}/1`, { data: { base } }), 201)
    }
    succeed(await call('PUT', `/v1/${base}/relationship-types/about`, {}), 201)
    const about = link('about', ['ticket', '1'], ['customer', '1'])
    succeed(await call('PUT', `/v1/${base}/relationships/l1`, about), 201)
  }
})
afterAll(() => world.close())

test('objects of other types, bases and times have other ids', async () => {
  const found = await ask(
    `query($base: String!, $now: String!) {
      a: record(base: "crm", recordType: "ticket", id: "1") { id nodeId }
      b: record(base: "crm", recordType: "customer", id: "1") { id nodeId }
      c: record(base: $base, recordType: "ticket", id: "1") { id nodeId }
      d: record(base: "crm", recordType: "ticket", id: "1", asOf: $now) { id nodeId }
      e: recordType(base: "crm", id: "ticket") { nodeId }
      f: recordType(base: "other", id: "ticket") { nodeId }
      g: recordType(base: "crm", id: "ticket", version: 1) { nodeId }
      h: relationship(base: "crm", id: "l1") { nodeId }
      i: relationship(base: "other", id: "l1") { nodeId }
      ...More
    }
    fragment More on Query { j: relationshipType(base: "crm", id: "about") { nodeId } }`,
    { base: 'other', now: new Date().toISOString() },
  )
  const ids = Object.values(found as Record<string, { nodeId: string }>).map(({ nodeId }) => nodeId)
  expect(new Set(ids).size).toBe(10)
})

test('an object has the same id wherever it is read', async () => {
  const at = 'base: "crm", recordType: "ticket"'
  const { one, list, related, patched } = {
    ...(await ask(`{
      one: record(${at}, id: "1") { nodeId }
      list: records(${at}) { data { nodeId } }
      related(base: "crm", recordType: "customer", id: "1", direction: incoming) { data { record { nodeId } } }
    }`)),
    ...(await ask(`mutation { patched: patchRecord(${at}, id: "1", merge: { data: { x: 1 } }) { nodeId } }`)),
  }
  expect([list.data[0].nodeId, related.data[0].record.nodeId, patched.nodeId]).toEqual(
    Array(3).fill(one.nodeId),
  )
})

/** What the plan of an undo shows: the values of now and then, titles, and what followed. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../../support/answers.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let type: string
beforeAll(async () => {
  world = await openWorld()
  type = await world.newType({ json_schema: { type: 'object', properties: { name: {} } } })
})
afterAll(() => world.close())

const batch = async (request: string, operations: object[]) =>
  succeed(await world.call('POST', '/v1/crm/batch', { operations }, { 'x-request-id': request }))
const planOf = async (body: object): Promise<Body> =>
  succeed(await world.call('POST', '/v1/crm/revert?dry_run=true', body))
const at = (id: string) => ({ record_type: type, id })

test('each item of a plan says what it changes, from now to then', async () => {
  await batch(
    'made',
    ['a', 'b', 'c'].map((id) => ({ type: 'create_record', ...at(id), data: { name: `Name ${id}`, v: 1 } })),
  )
  await batch('changed', [
    { type: 'patch_record', ...at('a'), data: { v: 2, extra: true } },
    { type: 'delete_record', ...at('b') },
    { type: 'create_record', ...at('d'), data: { name: 'New' } },
    { type: 'cancel_record', ...at('c') },
  ])
  const plan = await planOf({ request_id: 'changed', include: ['titles'] })
  const items: Body = Object.fromEntries(plan.data.map(({ id, diff, title }: Body) => [id, { diff, title }]))
  expect(items.a).toEqual({
    title: 'Name a',
    diff: [
      { op: 'remove', path: '/data/extra', before: true },
      { op: 'replace', path: '/data/v', value: 1, before: 2 },
    ],
  })
  const state = { data: { name: 'Name b', v: 1 }, status: 'active', external_id: null, external_source: null }
  expect(items.b).toEqual({ title: 'Name b', diff: [{ op: 'add', path: '', value: state }] })
  expect(items.c).toEqual({
    title: 'Name c',
    diff: [{ op: 'replace', path: '/status', value: 'active', before: 'cancelled' }],
  })
  expect(items.d).toMatchObject({
    title: 'New',
    diff: [{ op: 'remove', path: '', before: { data: { name: 'New' } } }],
  })
  expect(plan.effects).toEqual({ changes: 0, deliveries: [], runs: [] })
  // Nothing happened, and the undo itself says less.
  expect(succeed(await world.call('GET', `/v1/crm/records/${type}/a`)).data.v).toBe(2)
  const done = succeed(await world.call('POST', '/v1/crm/revert', { request_id: 'changed' }))
  expect(done.count).toBe(4)
  expect(done.data[0]).not.toHaveProperty('diff')
  expect(done.data[0]).not.toHaveProperty('title')
  expect(done).not.toHaveProperty('effects')
})

test('several changes of a record are steps back, and what came after is shown too', async () => {
  const put = async (v: number, request: string) =>
    succeed(
      await world.call('PATCH', `/v1/crm/records/${type}/a`, { data: { v } }, { 'x-request-id': request }),
    )
  await put(10, 'mine')
  await put(11, 'mine')
  await put(12, 'theirs')
  const step = (value: number, before: number) => [{ op: 'replace', path: '/data/v', value, before }]
  const forced = await planOf({ request_id: 'mine', on_conflict: 'force', include: ['titles'] })
  expect(forced.also).toMatchObject([{ id: 'a', title: 'Name a', diff: step(11, 12) }])
  expect(forced.data.map(({ diff }: Body) => diff)).toEqual([step(10, 11), step(1, 10)])
  const skipped = await planOf({ request_id: 'mine', on_conflict: 'skip', include: ['titles'] })
  expect(skipped).toMatchObject({ data: [], skipped: [{ id: 'a', title: 'Name a', code: 'overtaken' }] })
})

test('links and configuration have their diffs', async () => {
  succeed(
    await world.call('PUT', '/v1/crm/relationship-types/next', {
      source_record_types: ['*'],
      target_record_types: ['*'],
    }),
    201,
  )
  const link = {
    rel_type: 'next',
    source_record_type: type,
    source_id: 'a',
    target_record_type: type,
    target_id: 'c',
  }
  succeed(await world.call('POST', '/v1/crm/relationships', link, { 'x-request-id': 'link' }), 201)
  const [linked] = (await planOf({ request_id: 'link', include: ['titles'] })).data
  expect(linked).toMatchObject({
    kind: 'relationship',
    title: null,
    diff: [{ op: 'remove', path: '', before: { source_id: 'a' } }],
  })
  succeed(
    await world.call(
      'PATCH',
      `/v1/crm/record-types/${type}`,
      { name: 'Renamed' },
      { 'x-request-id': 'named' },
    ),
  )
  const [named] = (await planOf({ request_id: 'named' })).data
  expect(named.diff).toContainEqual({ op: 'replace', path: '/name', value: type, before: 'Renamed' })
})

test('an approved plan is the one that was shown, with its diffs or without', async () => {
  succeed(
    await world.call(
      'PATCH',
      `/v1/crm/records/${type}/c`,
      { data: { v: 5 } },
      { 'x-request-id': 'approved' },
    ),
  )
  const revert = async (more: string): Promise<Body> => {
    const query = `mutation { revertChanges(base: "crm", requestId: "approved", withDiffs: true${more}) { count rows plan { token } } }`
    const { body } = await world.call('POST', '/graphql', { query })
    expect(body.errors).toBeUndefined()
    return body.data.revertChanges
  }
  const planned = await revert(', askFirst: true')
  expect(planned.rows).toMatchObject([{ id: 'c', diff: [{ op: 'replace', path: '/data/v', before: 5 }] }])
  expect((await revert(`, planToken: "${planned.plan.token}"`)).count).toBe(1)
})

test('a seq that no entry can have is refused by its name', async () => {
  for (const seq of ['1e308', '0.5', '-1']) {
    const query = `mutation { revertChanges(base: "crm", seq: ${seq}, dryRun: true) { count } }`
    const { body } = await world.call('POST', '/graphql', { query })
    expect(body.errors[0].extensions).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: '/seq', code: 'out_of_range' }],
    })
  }
})

test('a dry run and an idempotency key go with the last request in GraphQL too', async () => {
  const { call } = await world.newToken([{ permission: 'write' }])
  succeed(await call('PUT', `/v1/crm/records/${type}/own`, { data: { v: 1 } }), 201)
  const query = `mutation($dry: Boolean) {
    revertChanges(base: "crm", last: true, dryRun: $dry, idempotencyKey: "once") { count data { id operation } }
  }`
  for (const dry of [true, false]) {
    const { body } = await call('POST', '/graphql', { query, variables: { dry } })
    expect(body.data?.revertChanges, JSON.stringify(body)).toEqual({
      count: 1,
      data: [{ id: 'own', operation: 'delete' }],
    })
  }
})

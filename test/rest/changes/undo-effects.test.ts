// @module-tag full
/** Undos that also take back what followed from the changes, or what others changed since. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure, succeed } from '../../support/answers.ts'
import { callTool } from '../../support/mcp.ts'
import type { Body, Call } from '../../support/server.ts'
import { eventually } from '../../support/until.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ PLINTH_RATE_LIMIT: '0' })
})
afterAll(() => world.close())

let serial = 0
const at = (type: string, id: string) => `/v1/crm/records/${type}/${id}`
const get = (type: string, id: string) => world.call('GET', at(type, id))
const put = async (type: string, id: string, data: object, request: string, call: Call = world.call) =>
  expect((await call('PUT', at(type, id), { data }, { 'x-request-id': request })).status).toBeLessThan(300)
const undo = (body: object, call: Call = world.call, query = '') =>
  call('POST', `/v1/crm/revert${query}`, body)

/** A ticket, and requests whose trigger runs an action that escalates it and deletes a note with its link. */
async function newDesk() {
  const n = ++serial
  const [ask, ticket, note] = [await world.newType(), await world.newType(), await world.newType()]
  const steps = [
    { name: 't', type: 'patch_record', record_type: ticket, id: 't', data: { priority: 'high' } },
    { name: 'n', type: 'delete_record', record_type: note, id: 'n' },
  ]
  succeed(await world.call('PUT', `/v1/crm/actions/escalate${n}`, { steps }), 201)
  succeed(
    await world.call('PUT', `/v1/crm/triggers/asked${n}`, { record_types: [ask], action: `escalate${n}` }),
    201,
  )
  succeed(await world.call('PUT', `/v1/crm/relationship-types/about${n}`, {}), 201)
  await put(ticket, 't', { priority: 'normal' }, `setup${n}`)
  await put(note, 'n', { text: 'x' }, `setup${n}`)
  const link = {
    ...{ rel_type: `about${n}`, source_record_type: note, source_id: 'n' },
    ...{ target_record_type: ticket, target_id: 't' },
  }
  succeed(await world.call('POST', '/v1/crm/relationships', link), 201)
  const links = async () => succeed(await get(note, 'n/related')).data.length
  const ran = () =>
    eventually(async () => succeed(await world.call('GET', `/v1/crm/actions/escalate${n}/runs`)).data[0])
  return { n, ask, ticket, note, links, ran, request: `ask${n}` }
}

test('with_effects takes back what triggers and actions did, and a dry run shows it', {
  tags: 'full',
}, async () => {
  const { n, ask, ticket, note, links, ran, request } = await newDesk()
  const agent = await world.newToken([{ record_type: ask, permission: 'write' }], { name: `agent${n}` })
  await put(ask, 'a', { wants: 'help' }, request, agent.call)
  await ran()
  expect((await get(note, 'n')).status).toBe(404)
  const plain = succeed(await undo({ request_id: request }, world.call, '?dry_run=true'))
  // What would be undone with its effects too.
  const effects = { changes: 3, deliveries: [], runs: [{ of: `escalate${n}` }] }
  expect(plain).toMatchObject({ count: 1, data: [{ id: 'a' }], effects })
  const asked = { request_id: request, with_effects: true }
  const plan = succeed(await undo(asked, world.call, '?dry_run=true'))
  expect(plan).toMatchObject({
    ...{ count: 4, also: [], skipped: [], dry_run: true },
    effects: { changes: 3, deliveries: [], runs: [{ of: `escalate${n}`, status: 'succeeded' }] },
  })
  expect((await get(ticket, 't')).body.data).toEqual({ priority: 'high' })
  // Without rights on what followed, nothing of it is seen, and it is left alone.
  const own = succeed(await undo(asked, agent.call, '?dry_run=true'))
  expect(own).toMatchObject({ count: 1, effects: { changes: 0, deliveries: [], runs: [] } })
  expect(succeed(await undo(asked)).count).toBe(4)
  expect((await get(ticket, 't')).body.data).toEqual({ priority: 'normal' })
  expect((await get(note, 'n')).body.data).toEqual({ text: 'x' })
  expect(await links()).toBe(1)
  expect((await get(ask, 'a')).status).toBe(404)
  expect(succeed(await undo(asked)).count).toBe(0)
})

test('the tool undo takes with_effects, and its plan says so', { tags: 'full' }, async () => {
  const { ask, ticket, ran, request } = await newDesk()
  await put(ask, 'a', {}, request)
  await ran()
  const { body } = await callTool(world, '/mcp/crm', 'undo', { request_id: request, with_effects: true })
  expect(body.plan.what).toContain('Undoes 4 changes')
  expect(body.plan.what).toContain('3 of them followed from the others.')
  const done = await callTool(world, '/mcp/crm', 'undo', { plan_token: body.plan_token })
  expect(done.body.count).toBe(4)
  expect((await get(ticket, 't')).body.data).toEqual({ priority: 'normal' })
})

test('on_conflict force takes back what others changed since, and lists it', async () => {
  const type = await world.newType()
  const { call } = await world.newToken([{ permission: 'write' }])
  for (const [i, by] of [world.call, world.call, call].entries())
    await put(type, 'a', { n: i }, `force${i}`, by)
  const asked = { request_id: 'force1' }
  const { message, details } = expectFailure(await undo(asked), 'CONFLICT')
  expect(details[0]).toMatchObject({ code: 'overtaken' })
  expect(message).toContain('on_conflict=force')
  const forced = { ...asked, on_conflict: 'force' }
  const plan = succeed(await undo(forced, world.call, '?dry_run=true'))
  const [last, own] = succeed(await world.call('GET', `/v1/crm/changes?order=desc&record_type=${type}`)).data
  expect(plan).toMatchObject({ count: 2, data: [{ reverts: own.seq }], also: [{ reverts: last.seq }] })
  expect(succeed(await undo(forced))).toMatchObject({ count: 2, skipped: [] })
  expect((await get(type, 'a')).body.data).toEqual({ n: 0 })
  const reader = await world.newToken([{ permission: 'read' }])
  expectFailure(await undo({ request_id: 'force0', on_conflict: 'force' }, reader.call), 'FORBIDDEN')
  const query =
    'mutation { revertChanges(base: "crm", requestId: "force0", force: true, skipConflicts: true) { count } }'
  const { errors } = (await world.call('POST', '/graphql', { query })).body as Body
  expect(errors[0].extensions.details[0]).toMatchObject({ path: '/force', code: 'exclusive' })
})

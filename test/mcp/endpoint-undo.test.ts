// @module-tag full
/** The undo of an endpoint: a caller takes back its own requests there, within the policies. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure, succeed } from '../support/answers.ts'
import { callTool, rpc } from '../support/mcp.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const OPEN = { field: 'data.state', op: 'eq', value: 'open' }

async function open(more: object = {}) {
  const type = await world.newType()
  const put = async (path: string, body: object, status = 201) =>
    succeed(await world.call('PUT', `/v1/crm/${path}`, body), status)
  for (const id of ['a', 'b'])
    await put(`records/${type}/${id}`, { data: { state: 'open', n: 1, secret: 'canary' } })
  const selection = {
    ...{ record_type: type, name_override: 'ticket', filter: OPEN, write_filter: {} },
    ...{ operations: ['get', 'update', 'create', 'delete', 'attach'], fields: ['data.state', 'data.n'] },
  }
  const endpoint = { tools: [selection], undo: true, batch: { enabled: true }, ...more }
  for (const id of [type, `${type}-other`]) await put(`endpoints/${id}`, endpoint)
  const grants = [type, `${type}-other`].map((id) => ({
    ...{ base: 'crm', endpoint: id, environment: '*', permission: 'write' },
  }))
  const [one, other] = [await world.newToken(grants), await world.newToken(grants)]
  const as = (token: string, id: string) => (name: string, args: Body) =>
    callTool(world, `/mcp/crm/e/${id}`, name, args, { token })
  const tool = as(one.token, type)
  const read = async (id: string) => (await world.call('GET', `/v1/crm/records/${type}/${id}`)).body
  /** Asks for the plan, and confirms it. */
  const undo = async (args: Body = {}, by = tool) => {
    const { body, error } = await by('undo', args)
    if (error || !body.plan_token) return { body, error }
    return by('undo', { plan_token: body.plan_token })
  }
  return { type, put, endpoint, one, other, as, tool, read, undo }
}

test('takes back the last request, out of sight too, and the next undo goes further back', {
  tags: 'full',
}, async () => {
  const { type, tool, read, undo } = await open()
  expect((await tool('update_ticket', { id: 'a', n: 2 })).error).toBeUndefined()
  expect((await tool('update_ticket', { id: 'a', state: 'closed' })).error).toBeUndefined()
  expect((await tool('get_ticket', { id: 'a' })).error.code).toBe('NOT_FOUND')
  const plan = (await tool('undo', {})).body
  expect(plan.plan).toMatchObject({ count: 1, of: { tool: 'update_ticket' }, samples: [`${type}/a`] })
  expect(plan).not.toHaveProperty('recent')
  expect((await read('a')).data.state).toBe('closed')
  expect((await tool('undo', { plan_token: plan.plan_token })).body).toMatchObject({ count: 1 })
  expect((await read('a')).data).toEqual({ state: 'open', n: 2, secret: 'canary' })
  expect((await undo()).body.count).toBe(1)
  expect((await read('a')).data).toEqual({ state: 'open', n: 1, secret: 'canary' })
  expect((await undo()).error.code).toBe('NOT_FOUND')
  const operations = [
    { type: 'create_record', record_type: type, id: 'new', data: { state: 'open' } },
    { type: 'delete_record', record_type: type, id: 'b' },
  ]
  expect((await tool('batch', { operations })).error).toBeUndefined()
  expect((await tool('attach_ticket', { id: 'a', filename: 'n.txt', text: 'x' })).error).toBeUndefined()
  expect((await undo()).body.count).toBe(2)
  expect((await read('b')).data).toEqual({ state: 'open', n: 1, secret: 'canary' })
  expect((await read('new')).error.code).toBe('NOT_FOUND')
})

test('takes back nothing of other callers, of other addresses, or that others have changed since', async () => {
  const { type, tool, as, one, other, read, put } = await open()
  const requestOf = async () =>
    succeed(await world.call('GET', '/v1/crm/changes?order=desc&limit=1')).data[0].request_id
  const theirs = as(other.token, type)
  expect((await theirs('update_ticket', { id: 'a', n: 5 })).error).toBeUndefined()
  for (const args of [{}, { request_id: await requestOf() }])
    expect((await tool('undo', args)).error.code).toBe('NOT_FOUND')
  const elsewhere = as(one.token, `${type}-other`)
  expect((await elsewhere('update_ticket', { id: 'a', n: 6 })).error).toBeUndefined()
  for (const args of [{}, { request_id: await requestOf() }])
    expect((await tool('undo', args)).error.code).toBe('NOT_FOUND')
  expect((await read('a')).data.n).toBe(6)
  for (const args of [
    { seq: 1 },
    { actor: one.id, since: '1h' },
    { with_effects: true },
    { on_conflict: 'force' },
  ])
    expect((await tool('undo', args)).error.code, JSON.stringify(args)).toBe('VALIDATION_ERROR')
  expect((await tool('update_ticket', { id: 'b', n: 7 })).error).toBeUndefined()
  await put(`records/${type}/b`, { data: { state: 'open', n: 8 } }, 200)
  const { body } = await tool('undo', {})
  expect(body).toMatchObject({ count: 0, skipped_count: 1 })
  expect((await read('b')).data.n).toBe(8)
  expectFailure(await one.call('POST', '/v1/crm/revert', { last: true }), 'FORBIDDEN')
})

test('writes no state that its tools may not write, and is there only where it is configured', {
  tags: 'full',
}, async () => {
  const { type, tool, put, endpoint, read, one } = await open()
  expect((await tool('update_ticket', { id: 'a', n: 2 })).error).toBeUndefined()
  const [selection] = endpoint.tools
  const stricter = { field: 'data.n', op: 'gte', value: 2 }
  await put(`endpoints/${type}`, { ...endpoint, tools: [{ ...selection, write_filter: stricter }] }, 200)
  const { body } = await tool('undo', {})
  expect(body).toMatchObject({ count: 0, skipped_count: 1 })
  expect(body.skipped[0].message).toBe('This address cannot write the state before it.')
  expect((await read('a')).data.n).toBe(2)
  await put(`endpoints/${type}`, { ...endpoint, undo: false }, 200)
  const { result } = (await rpc(world, `/mcp/crm/e/${type}`, 'tools/list', {}, { token: one.token })).body
  expect(result.tools.map(({ name }: Body) => name)).not.toContain('undo')
  expect(succeed(await world.call('GET', `/v1/crm/endpoints/${type}`)).undo).toBe(false)
  const reader = await world.newToken([{ base: 'crm', endpoint: type, environment: '*', permission: 'read' }])
  await put(`endpoints/${type}`, endpoint, 200)
  const listed = (await rpc(world, `/mcp/crm/e/${type}`, 'tools/list', {}, { token: reader.token })).body
  expect(listed.result.tools.map(({ name }: Body) => name)).not.toContain('undo')
})

test('is a mutation of the GraphQL schema of the endpoint, for requests of both', async () => {
  const { type, tool, one, read } = await open()
  const path = `/graphql/crm/e/${type}`
  const ask = async (query: string) => {
    const { body, text } = await one.call('POST', path, { query })
    expect(body.errors, text).toBeUndefined()
    return body.data
  }
  const { text: sdl } = await one.call('GET', `${path}/schema.graphql`)
  const name = /update(\w+)\(/.exec(sdl)?.[1] ?? ''
  expect((await tool('update_ticket', { id: 'a', n: 2 })).error).toBeUndefined()
  await ask(`mutation { update${name}(id: "a", data: { _more: { n: 3 } }) { operation } }`)
  const dry = await ask('mutation { _undo(dryRun: true) { count undone dryRun } }')
  expect(dry._undo).toEqual({ count: 1, undone: [`${type}/a`], dryRun: true })
  expect((await ask('mutation { _undo { count skipped } }'))._undo).toEqual({ count: 1, skipped: [] })
  expect((await read('a')).data.n).toBe(2)
  expect((await ask('mutation { _undo { count } }'))._undo.count).toBe(1)
  expect((await read('a')).data.n).toBe(1)
})

/** Actions as tools of an endpoint: what is listed, what a call does, and how far it reaches. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed } from '../support/answers.ts'
import { callTool, rpc } from '../support/mcp.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let receiver: Receiver
/** Has one grant each on the endpoint, with this permission. */
let writer: string
let reader: string
const AT = '/mcp/crm/e/counter'

const put = async (path: string, body: object) =>
  succeed(await world.call('PUT', `/v1/crm/${path}`, body), 201)
const tool = (name: string, args: Body, token = writer, path = AT) =>
  callTool(world, path, name, args, { token })
const listed = async (token: string, path = AT): Promise<Body[]> =>
  (await rpc(world, path, 'tools/list', {}, { token })).body.result.tools
const deals = async (): Promise<Body[]> =>
  succeed(await world.call('GET', '/v1/crm/records/deal?sort=id')).data

beforeAll(async () => {
  receiver = await openReceiver()
  world = await openWorld({ PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1' })
  await put('record-types/deal', { json_schema: { properties: { title: { type: 'string' } } } })
  await put('record-types/note', {})
  await put('actions/win.deal', {
    name: 'Win a deal',
    description: 'Marks a deal as won.',
    input_schema: {
      properties: { deal: { type: 'string' }, dry_run: { type: 'string' } },
      required: ['deal'],
      additionalProperties: false,
    },
    steps: [
      { name: 'd', type: 'upsert_record', record_type: 'deal', id: '{{input.deal}}', data: { title: 'won' } },
    ],
    output: { id: '{{steps.d.id}}' },
  })
  await put('actions/find', {
    steps: [{ name: 'q', type: 'query', record_type: 'deal' }],
    output: '{{steps.q.data}}',
  })
  await put('actions/hidden', { steps: [{ name: 'q', type: 'query', record_type: 'note' }] })
  await put('endpoints/counter', {
    actions: ['win.deal', 'find'],
    tools: [{ record_type: 'note', operations: ['get'] }],
  })
  const grant = (permission: string) => ({ base: 'crm', endpoint: 'counter', environment: '*', permission })
  writer = (await world.newToken([grant('write')])).token
  reader = (await world.newToken([grant('read')])).token
})
afterAll(async () => {
  await world.close()
  await receiver.close()
})

test('an endpoint lists its actions with their input schema, within the grants', async () => {
  const tools = await listed(writer)
  expect(tools.map(({ name }) => name).sort()).toEqual(['find', 'get_note', 'win_deal'])
  const win = tools.find(({ name }) => name === 'win_deal')
  expect(win).toMatchObject({
    description: 'Marks a deal as won.',
    annotations: { title: 'Win a deal', readOnlyHint: false, destructiveHint: true, openWorldHint: false },
    inputSchema: { required: ['deal'], additionalProperties: false },
  })
  // A property keeps its name; the option of the tool has another.
  expect(Object.keys(win?.['inputSchema'].properties).sort()).toEqual([
    '_dry_run',
    'deal',
    'dry_run',
    'idempotency_key',
  ])
  expect((await listed(reader)).map(({ name }) => name).sort()).toEqual(['find', 'get_note'])
  expect((await listed(writer, `${AT}?readonly=true`)).map(({ name }) => name).sort()).toEqual([
    'find',
    'get_note',
  ])
  const { tools: resolved } = succeed(await world.call('GET', '/v1/crm/endpoints/counter/resolved'))
  expect(resolved.map(({ name, operation }: Body) => [name, operation])).toContainEqual(['win_deal', 'run'])
})

test('a call runs the action, and each change names the run and the call', async () => {
  const done = await tool('win_deal', { deal: 'd1' })
  expect(done.body).toMatchObject({ status: 'succeeded', output: { id: 'd1' } })
  const { data } = succeed(await world.call('GET', '/v1/crm/changes?record_type=deal&id=d1'))
  expect(data.at(-1)).toMatchObject({
    cause: done.body.run_id,
    actor: { via: 'action' },
    call: { tool: 'win_deal', endpoint: 'counter' },
  })
  const { data: runs } = succeed(await world.call('GET', '/v1/crm/actions/win.deal/runs'))
  expect(runs[0]).toMatchObject({ id: done.body.run_id, actor: { via: 'mcp' } })
  const found = await tool('find', {}, reader)
  expect(found.body.output.map(({ id }: Body) => id)).toEqual(['d1'])
})

test('a key makes repeats safe, and a dry run writes nothing', async () => {
  const one = await tool('win_deal', { deal: 'd2', idempotency_key: 'k1' })
  const again = await tool('win_deal', { deal: 'd2', idempotency_key: 'k1' })
  expect(again.body).toEqual(one.body)
  const dry = await tool('win_deal', { deal: 'd3', _dry_run: true })
  expect(dry.body).toMatchObject({ dry_run: true })
  expect((await deals()).map(({ id }) => id)).toEqual(['d1', 'd2'])
})

test('faults of the input are at the arguments', async () => {
  const missing = await tool('win_deal', {})
  expect(missing.error.details[0]).toMatchObject({ path: '/deal', code: 'required' })
})

test('the grant reaches the actions of the endpoint, and their types by no other way', async () => {
  const count = (await deals()).length
  for (const [name, token] of [
    ['hidden', writer],
    ['win_deal', reader],
  ] as const) {
    const refused = await rpc(world, AT, 'tools/call', { name, arguments: { deal: 'x' } }, { token })
    expect(refused.body.error ?? refused.body.result.isError).toBeTruthy()
  }
  for (const name of ['get_deal', 'list_deal', 'create_deal', 'batch', 'sql_query']) {
    const refused = await rpc(world, AT, 'tools/call', { name, arguments: { id: 'd1' } }, { token: writer })
    expect(refused.body.error ?? refused.body.result.isError).toBeTruthy()
  }
  const as = world.as(writer)
  expectFailure(await as('POST', '/v1/crm/actions/win.deal/run', { input: { deal: 'x' } }), 'FORBIDDEN')
  expectFailure(await as('GET', '/v1/crm/records/deal'), 'FORBIDDEN')
  expect(await deals()).toHaveLength(count)
})

test('a policy of the endpoint bounds what its actions read', async () => {
  await put('record-types/ticket', {})
  for (const [id, state] of [
    ['t1', 'open'],
    ['t2', 'secret'],
  ] as const)
    await put(`records/ticket/${id}`, { data: { state } })
  await put('actions/tickets', {
    steps: [{ name: 'q', type: 'query', record_type: 'ticket' }],
    output: '{{steps.q.data}}',
  })
  const filter = { field: 'data.state', op: 'eq', value: 'open' }
  await put('endpoints/bounded', {
    actions: ['tickets'],
    tools: [{ record_type: 'ticket', operations: ['get'], filter }],
  })
  const found = await tool('tickets', {}, world.adminToken, '/mcp/crm/e/bounded')
  expect(found.body.output.map(({ id }: Body) => id)).toEqual(['t1'])
})

test('a query whose record type is a template reaches what the endpoint lists, under its policy, and nothing else', async () => {
  for (const id of ['lead', 'shown', 'got']) await put(`record-types/${id}`, {})
  for (const type of ['lead', 'shown', 'got'])
    for (const state of ['open', 'secret']) await put(`records/${type}/${state}`, { data: { state, pin: 1 } })
  await put('actions/pick', {
    input_schema: { properties: { type: { type: 'string' } } },
    steps: [
      { name: 'own', type: 'query', record_type: 'lead' },
      { name: 'q', type: 'query', record_type: '{{input.type}}' },
    ],
    output: '{{steps.q.data}}',
  })
  await put('actions/write_any', {
    steps: [{ name: 'w', type: 'upsert_record', record_type: '{{input.type}}', id: 'x', data: {} }],
  })
  const filter = { field: 'data.state', op: 'eq', value: 'open' }
  await put('endpoints/picking', {
    actions: ['pick', 'write_any'],
    tools: [
      { record_type: 'shown', operations: ['list'], filter, fields: ['data.state'] },
      { record_type: 'got', operations: ['get'] },
    ],
  })
  const at = '/mcp/crm/e/picking'
  const grant = { base: 'crm', endpoint: 'picking', environment: '*', permission: 'write' }
  for (const token of [world.adminToken, (await world.newToken([grant])).token]) {
    const shown = (await tool('pick', { type: 'shown' }, token, at)).body.output
    expect(shown.map(({ id, data }: Body) => [id, data])).toEqual([['open', { state: 'open' }]])
    expect((await tool('pick', { type: 'lead' }, token, at)).body.output).toHaveLength(2)
    for (const type of ['got', 'deal', 'absent']) {
      const { error } = await tool('pick', { type }, token, at)
      expect(error.code).toBe('FORBIDDEN')
      expect(error.message).toContain(`does not list records of type "${type}"`)
      expect(error.details.at(-1)).toMatchObject({
        ...{ path: '/steps/q/record_type', code: 'out_of_reach', allowed: ['lead', 'shown'] },
      })
    }
    for (const type of ['shown', 'got', 'lead'])
      expect((await tool('write_any', { type }, token, at)).error.code).toBe('FORBIDDEN')
  }
})

test('an action that only sends requests is offered, and reaches no records', async () => {
  await put('actions/ping', {
    steps: [{ name: 'p', type: 'http', method: 'POST', url: receiver.url, body: { a: 1 } }],
    output: '{{steps.p.status}}',
  })
  await put('endpoints/pings', { actions: ['ping'] })
  const grant = { base: 'crm', endpoint: 'pings', environment: '*', permission: 'write' }
  const { token } = await world.newToken([grant])
  const at = '/mcp/crm/e/pings'
  expect((await listed(token, at)).map(({ name }) => name)).toEqual(['ping'])
  expect((await tool('ping', {}, token, at)).body).toMatchObject({ status: 'succeeded', output: 204 })
  for (const each of [token, world.adminToken]) {
    const refused = await rpc(
      world,
      at,
      'tools/call',
      { name: 'get_deal', arguments: { id: 'd1' } },
      { token: each },
    )
    expect(refused.body.error ?? refused.body.result.isError).toBeTruthy()
  }
  expectFailure(await world.as(token)('GET', '/v1/crm/records/deal'), 'FORBIDDEN')
})

test('an action in use is not deleted, and an unknown one, or one with the name of a tool, is refused', async () => {
  const used = expectFailure(await world.call('DELETE', '/v1/crm/actions/find'), 'CONFLICT')
  expect(used.details[0]).toMatchObject({ code: 'in_use', samples: [{ endpoint: 'counter' }] })
  const set = (actions: string[]) =>
    world.call('PUT', '/v1/crm/endpoints/other', { actions, sql_query: true })
  expect(expectFault(await set(['fnd']), '/actions/0')).toMatchObject({
    code: 'unknown_action',
    hint: 'find',
  })
  await put('actions/sql_query', { steps: [{ name: 'q', type: 'query', record_type: 'note' }] })
  const clash = expectFailure(await set(['sql_query']), 'VALIDATION_ERROR')
  expect(clash.details[0].path).toMatch(/^\/(actions\/0|sql_query)$/)
})

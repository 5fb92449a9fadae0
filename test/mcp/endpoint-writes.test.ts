/** What an endpoint lets a limited agent write: out of its filter, and by actions with rights of their own. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed } from '../support/answers.ts'
import { callTool, rpc } from '../support/mcp.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const put = async (path: string, body: object, status = 201) =>
  succeed(await world.call('PUT', `/v1/crm/${path}`, body), status)
const grantOn = (endpoint: string, permission = 'write') =>
  world.newToken([{ base: 'crm', endpoint, environment: '*', permission }])
const at = (endpoint: string, token: string) => ({
  tool: (name: string, args: Body) => callTool(world, `/mcp/crm/e/${endpoint}`, name, args, { token }),
  names: async (): Promise<string[]> =>
    (await rpc(world, `/mcp/crm/e/${endpoint}`, 'tools/list', {}, { token })).body.result.tools.map(
      ({ name }: Body) => name,
    ),
})
const OPEN = { field: 'data.state', op: 'eq', value: 'open' }
const ticket = async (type: string, id: string) =>
  succeed(await world.call('GET', `/v1/crm/records/${type}/${id}`)).data

describe('A filter for writes', () => {
  const open = async (write_filter: object | null, more: object = {}) => {
    const type = await world.newType()
    for (const id of ['a', 'b']) await put(`records/${type}/${id}`, { data: { state: 'open' } })
    await put(`records/${type}/shut`, { data: { state: 'closed' } })
    const operations = ['get', 'list', 'create', 'update', 'upsert', 'cancel']
    const tools = [{ record_type: type, operations, name_override: 'ticket', filter: OPEN, write_filter }]
    await put(`endpoints/${type}`, { tools, batch: { enabled: true }, ...more })
    return { type, ...at(type, (await grantOn(type)).token) }
  }

  test('lets a tool write a record out of its own sight, and shows what it wrote', async () => {
    const { type, tool } = await open({})
    const closed = await tool('update_ticket', { id: 'a', state: 'closed' })
    expect(closed.body).toMatchObject({ id: 'a', data: { state: 'closed' }, version: 2 })
    expect((await tool('get_ticket', { id: 'a' })).error.code).toBe('NOT_FOUND')
    expect((await tool('update_ticket', { id: 'a', state: 'open' })).error.code).toBe('NOT_FOUND')
    expect((await tool('update_ticket', { id: 'shut', state: 'open' })).error.code).toBe('NOT_FOUND')
    expect((await tool('list_ticket', {})).body.data.map(({ id }: Body) => id)).toEqual(['b'])
    // The same in a batch: an operation after the one that closed it does not find it.
    const patch = (id: string, state: string) => ({
      type: 'patch_record',
      record_type: type,
      id,
      data: { state },
    })
    const both = await tool('batch', { operations: [patch('b', 'closed'), patch('b', 'open')] })
    expect(both.error.code).toBe('NOT_FOUND')
    expect(await ticket(type, 'b')).toEqual({ state: 'open' })
    expect((await tool('batch', { operations: [patch('b', 'closed')] })).error).toBeUndefined()
    expect(await ticket(type, 'b')).toEqual({ state: 'closed' })
  })

  test('is the filter where it is left out, and holds in every write where it is given', async () => {
    const plain = await open(null)
    expect((await plain.tool('update_ticket', { id: 'a', state: 'closed' })).error.code).toBe('FORBIDDEN')
    expect(await ticket(plain.type, 'a')).toEqual({ state: 'open' })
    const { type, tool } = await open({ field: 'data.state', op: 'in', value: ['open', 'closed'] })
    const refused = async (name: string, args: Body) => {
      const { error } = await tool(name, args)
      expect([error.code, error.details[0].code], name).toEqual(['FORBIDDEN', 'out_of_bounds'])
    }
    await refused('update_ticket', { id: 'a', state: 'lost' })
    await refused('create_ticket', { state: 'lost' })
    await refused('upsert_ticket', { id: 'a', state: 'lost' })
    await refused('batch', {
      operations: [{ type: 'create_record', record_type: type, data: { state: 'lost' } }],
    })
    expect(await ticket(type, 'a')).toEqual({ state: 'open' })
    expect((await tool('create_ticket', { state: 'closed' })).body.data).toEqual({ state: 'closed' })
    // What is kept or the same is not a write.
    const keep = {
      type: 'upsert_record',
      record_type: type,
      id: 'b',
      data: { state: 'lost' },
      on_existing: 'keep',
    }
    expect((await tool('batch', { operations: [keep] })).body.data[0].operation).toBe('unchanged')
    const hidden = { ...keep, id: 'shut' }
    expect((await tool('batch', { operations: [hidden] })).error.code).toBe('NOT_FOUND')
  })

  test('is checked as the filter is', async () => {
    const type = await world.newType({
      json_schema: { properties: { state: {} }, additionalProperties: false },
    })
    const tools = (write_filter: object) => [{ record_type: type, operations: ['update'], write_filter }]
    const fault = async (filter: object) =>
      expectFault(
        await world.call('PUT', '/v1/crm/endpoints/bad', { tools: tools(filter) }),
        '/tools/0/write_filter/field',
      )
    await fault({ field: 'data.stat', op: 'eq', value: 1 })
  })
})

describe('An action with rights of its own', () => {
  const open = async (run_as: 'caller' | 'action', steps?: object[], permission = 'write') => {
    const [type, log] = [await world.newType(), await world.newType()]
    const id = `escalate-${type}`
    await put(`records/${type}/a`, { data: { state: 'open', owner: 'ann', note: 'secret' } })
    await put(`actions/${id}`, {
      input_schema: { properties: { id: { type: 'string' } }, required: ['id'], additionalProperties: false },
      steps: steps ?? [
        {
          name: 'ticket',
          type: 'patch_record',
          record_type: type,
          id: '{{input.id}}',
          data: { owner: 'boss' },
        },
        { name: 'log', type: 'create_record', record_type: log, id: 'l', data: { of: '{{input.id}}' } },
      ],
      output: { by: '{{steps.ticket.record.data.owner}}' },
    })
    const tools = [{ record_type: type, operations: ['get'], fields: ['data.state'], filter: OPEN }]
    const made = await put(`endpoints/${type}`, { tools, actions: [{ id, run_as }] })
    const token = await grantOn(type, permission)
    return { type, log, id, made, token, ...at(type, token.token) }
  }

  test('does what its caller cannot, and shows the output only', async () => {
    const { type, log, id, made, tool } = await open('action')
    expect(made.meta).toBeUndefined()
    expect(made.actions).toEqual([{ id, run_as: 'action' }])
    const ran = await tool(id, { id: 'a' })
    expect(ran.body.output).toEqual({ by: 'boss' })
    expect(ran.body.steps).toEqual([
      { name: 'ticket', type: 'patch_record' },
      { name: 'log', type: 'create_record' },
    ])
    expect(JSON.stringify(ran.body)).not.toContain('secret')
    expect(await ticket(type, 'a')).toEqual({ state: 'open', owner: 'boss', note: 'secret' })
    expect(await ticket(log, 'l')).toEqual({ of: 'a' })
    expect((await tool(`get_${type}`, { id: 'a' })).body.data).toEqual({ state: 'open' })
    // A failure names the step, and the log of runs has the rest.
    const failed = await tool(id, { id: 'a' })
    expect(failed.error).toMatchObject({
      code: 'CONFLICT',
      message: 'Step "log" failed. Nothing was written.',
    })
    expect(JSON.stringify(failed.error)).not.toContain('"l"')
    const [run] = succeed(await world.call('GET', `/v1/crm/actions/${id}/runs?status=failed`)).data
    expect(run.error.message).toContain('"l"')
    expect(failed.error.details[0].run_id).toBe(run.run_id ?? run.id)
    expect((await tool(id, {})).error.details[0].path).toBe('/id')
  })

  test('is for tokens of the endpoint, and for those with as many rights as it has', async () => {
    const { type, id, token } = await open('action')
    const names = async (permission: string, record_type: string) =>
      at(type, (await world.newToken([{ record_type, permission }])).token).names()
    expect(await names('write', type)).not.toContain(id)
    expect(await names('read', '*')).not.toContain(id)
    expect(await names('write', '*')).toContain(id)
    expect(await at(type, (await grantOn(type, 'read')).token).names()).not.toContain(id)
    const partly = at(type, (await world.newToken([{ record_type: type, permission: 'write' }])).token)
    expect((await partly.tool(id, { id: 'a' })).error.code).toBe('FORBIDDEN')
    // It gives no rights beside its tool.
    expectFailure(await token.call('POST', `/v1/crm/actions/${id}/run`, { input: { id: 'a' } }), 'FORBIDDEN')
    expectFailure(await token.call('GET', `/v1/crm/records/${type}/a`), 'FORBIDDEN')
    expect(await ticket(type, 'a')).toMatchObject({ owner: 'ann' })
  })

  test('is warned of where a step can never succeed, by those who may read the base only', async () => {
    const { type, id, made, tool, token } = await open('caller')
    const warning = expect.stringMatching(
      /Step "ticket" of action "escalate-.*" can never succeed here: it uses "owner"/,
    )
    expect(made.meta.warnings).toEqual([warning])
    expect((await tool(id, { id: 'a' })).error.details.length).toBeGreaterThan(0)
    const resolved = `/v1/crm/endpoints/${type}/resolved`
    expect(succeed(await world.call('GET', resolved)).meta.warnings).toEqual([warning])
    expect(succeed(await token.call('GET', resolved))).not.toHaveProperty('meta')
    const shut = { name: 's', type: 'patch_record', record_type: type, id: 'a', data: { state: 'closed' } }
    await put(`actions/${id}`, { steps: [shut] }, 200)
    expect(succeed(await world.call('GET', resolved)).meta.warnings[0]).toContain(
      'sets "state" to a value outside the filter',
    )
    const own = await put(
      `endpoints/${type}`,
      { tools: made.tools, actions: [{ id, run_as: 'action' }] },
      200,
    )
    expect(own.meta?.warnings ?? []).toEqual([])
  })
})

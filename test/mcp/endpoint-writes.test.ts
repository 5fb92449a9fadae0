// @module-tag full
/** What an endpoint lets a limited agent write: out of its filter, and by actions with rights of their own. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, times } from '../support/answers.ts'
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

test('The bounds of an endpoint follow a property that is renamed', async () => {
  const type = await world.newType()
  const json_schema = {
    properties: { title: { type: 'string' }, secret: {}, place: { properties: { zip: { type: 'string' } } } },
  }
  await put(`record-types/${type}`, { json_schema }, 200)
  await put(`records/${type}/plain`, { data: { title: 'Plain', place: { zip: '1' } } })
  await put(`records/${type}/hidden`, { data: { title: 'Hidden', secret: 'x' } })
  const filter = {
    and: [
      { field: 'data.secret', op: 'is_null' },
      { not: { field: 'data["place"].zip', op: 'eq', value: '2' } },
    ],
  }
  const tools = [
    {
      ...{ record_type: type, operations: ['get', 'list', 'create'], name_override: 'item', filter },
      ...{ fields: ['data.title'], defaults: { title: 'New' } },
    },
  ]
  await put(`endpoints/${type}`, { tools })
  const { tool } = at(type, (await grantOn(type)).token)
  const seen = async () => (await tool('list_item', {})).body.data.map(({ id }: Body) => id)
  expect(await seen()).toEqual(['plain'])
  const rename = async (field: string, to: string) =>
    succeed(
      await world.call('PATCH', `/v1/crm/record-types/${type}`, { migration: [{ op: 'rename', field, to }] }),
    )
  await rename('data.secret', 'data.private')
  expect(await seen()).toEqual(['plain'])
  expect((await tool('get_item', { id: 'hidden' })).error.code).toBe('NOT_FOUND')
  await rename('data.private', 'data["odd.key"]')
  await put(`records/${type}/plain`, { data: { title: 'Plain', place: { zip: '2' } } }, 200)
  await rename('data.place.zip', 'data.place.code')
  await rename('data.title', 'data.name')
  expect(await seen()).toEqual([])
  const made = await tool('create_item', {})
  expect(made.body.data).toEqual({ name: 'New' })
})

describe('A filter of an endpoint', () => {
  const SECRET = { field: 'data.secret', op: 'is_null' }
  /** An endpoint on records of which one is hidden. */
  const bounded = async (filter: object = SECRET) => {
    const type = await world.newType({ json_schema: { properties: { title: {}, secret: {}, place: {} } } })
    await put(`records/${type}/plain`, { data: { title: 'Plain' } })
    await put(`records/${type}/hidden`, { data: { title: 'Hidden', secret: 'x', other: 'y' } })
    const operations = ['list', 'history', 'aggregate']
    await put(`toolsets/${type}`, {
      tools: [{ record_type: type, operations, name_override: 'item', filter }],
    })
    await put(`endpoints/${type}`, { toolsets: [type] })
    const { tool } = at(type, (await grantOn(type)).token)
    const change = (method: 'PUT' | 'PATCH', body: object) =>
      world.call(method, `/v1/crm/record-types/${type}`, body)
    return {
      type,
      tool,
      change,
      migrate: (...migration: object[]) => change('PATCH', { migration }),
      seen: async () => (await tool('list_item', {})).body.data.map(({ id }: Body) => id),
    }
  }
  const rename = (field: string, to: string) => ({ op: 'rename', field, to })
  const RENAMED = rename('data.secret', 'data.private')

  const CANNOT_FOLLOW: Record<string, [object[], 'PUT' | 'PATCH', object]> = {
    'is dropped': [[], 'PATCH', { migration: [{ op: 'drop', field: 'data.secret' }] }],
    'moves into another object': [[], 'PATCH', { migration: [rename('data.secret', 'data.place.secret')] }],
    'loses its former names': [[RENAMED], 'PUT', { json_schema: { properties: { private: {} } } }],
    'gives its former name away': [[RENAMED], 'PATCH', { json_schema: { properties: { secret: {} } } }],
    'has former names that no migration made': [
      [],
      'PUT',
      { json_schema: { properties: { private: { 'x-former-names': ['secret'] } } } },
    ],
    'swaps names with another': [
      [],
      'PATCH',
      {
        migration: [
          rename('data.secret', 'data.a'),
          rename('data.title', 'data.secret'),
          rename('data.a', 'data.title'),
        ],
      },
    ],
  }
  test.each(Object.entries(CANNOT_FOLLOW))('refuses a change by which its property %s', async (_, change) => {
    const [before, method, body] = change
    const { type, seen, migrate, change: send } = await bounded()
    if (before.length > 0) succeed(await migrate(...before))
    const {
      details: [detail],
    } = expectFailure(await send(method, body), 'CONFLICT')
    expect(detail).toMatchObject({ path: '/json_schema', code: 'in_use', received: 'data.secret' })
    expect(detail?.message).toContain(`toolset "${type}"`)
    expect(await seen()).toEqual(['plain'])
    const manager = await world.newToken([{ record_type: type, permission: 'manage' }])
    const other = await manager.call(method, `/v1/crm/record-types/${type}`, body)
    expect(expectFailure(other, 'CONFLICT').message).toContain('A filter of an endpoint reads')
  })

  test('refuses the move of a property that no schema declares, until it requires the same of both places', async () => {
    const both = (...fields: string[]) => ({
      not: { or: fields.map((field) => ({ field, op: 'eq', value: 'y' })) },
    })
    const { type, seen, migrate } = await bounded(both('data.other'))
    const move = rename('data.other', 'data.place.other')
    expectFailure(await migrate(move), 'CONFLICT')
    const filter = both('data.other', 'data.place.other')
    const tools = [{ record_type: type, operations: ['list'], name_override: 'item', filter }]
    await put(`toolsets/${type}`, { tools }, 200)
    succeed(await migrate(move))
    expect(await seen()).toEqual(['plain'])
  })

  test('is applied to what records have under a former name', async () => {
    const { type, tool, seen, migrate } = await bounded()
    await put(`records/${type}/merged`, { data: { secret: 'x', private: null } })
    await put(`records/${type}/open`, { data: { secret: 'x' } })
    await put(`records/${type}/open`, { data: {} }, 200)
    succeed(await world.call('DELETE', `/v1/crm/records/${type}/hidden`))
    succeed(await migrate(RENAMED))
    succeed(await world.call('POST', `/v1/crm/records/${type}/hidden/restore`, {}))
    expect(await seen()).toEqual(['open', 'plain'])
    const counted = await tool('aggregate_item', { aggregations: [{ fn: 'count' }] })
    expect(counted.body.data).toMatchObject([{ count: 2 }])
    const { data } = (await tool('history_item', { id: 'open' })).body
    expect(data.map(({ version }: Body) => version)).toEqual([2])
  })
})

test('A filter on a field with more former names than can be read lets nothing pass', async () => {
  const names = times(50, (n) => `former${n}`)
  const nested = (levels: number): object =>
    levels === 0 ? {} : { properties: { deep: { ...nested(levels - 1), 'x-former-names': names } } }
  const type = await world.newType({ json_schema: nested(6) })
  await put(`records/${type}/plain`, { data: {} })
  const seenBy = async (filter: object) => {
    const tools = [{ record_type: type, operations: ['list'], name_override: 'list_item', filter }]
    succeed(await world.call('PUT', `/v1/crm/endpoints/${type}`, { tools }))
    const { tool } = at(type, (await grantOn(type)).token)
    return (await tool('list_item', {})).body.data.map(({ id }: Body) => id)
  }
  const filter = { field: `data.${times(6, () => 'deep').join('.')}`, op: 'is_null' }
  await put(`endpoints/${type}`, { tools: [] })
  expect(await seenBy({ field: 'data.deep', op: 'is_null' })).toEqual(['plain'])
  expect(await seenBy(filter)).toEqual([])
  expect(await seenBy({ not: { ...filter, op: 'is_not_null' } })).toEqual([])
})

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

  test('is the filter where it is left out, and holds in every write where it is given', {
    tags: 'full',
  }, async () => {
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

describe('History and claims of an endpoint', () => {
  const open = async (operations: string[]) => {
    const type = await world.newType()
    const ids = ['a', 'b', 'c']
    for (const id of ids) await put(`records/${type}/${id}`, { data: { state: 'draft', secret: `s-${id}` } })
    for (const id of ids)
      await put(
        `records/${type}/${id}`,
        { data: { state: id === 'c' ? 'closed' : 'open', secret: `t-${id}` } },
        200,
      )
    const tools = [
      {
        record_type: type,
        operations,
        name_override: 'job',
        filter: OPEN,
        write_filter: {},
        fields: ['data.state', 'data.note'],
      },
    ]
    await put(`endpoints/${type}`, { tools })
    return { type, ...at(type, (await grantOn(type)).token) }
  }

  test('the history has the visible properties, back to where the record was out of reach', async () => {
    const { type, tool, names } = await open(['history', 'update'])
    expect(await names()).toEqual(['history_job', 'update_job'])
    expect((await tool('update_job', { id: 'a', note: 'seen' })).body.version).toBe(3)
    const { body } = await tool('history_job', { id: 'a' })
    expect(body.data.map(({ version, diff }: Body) => [version, diff])).toEqual([
      [3, [{ op: 'add', path: '/data/note', value: 'seen' }]],
      [
        2,
        [expect.objectContaining({ path: '', value: expect.objectContaining({ data: { state: 'open' } }) })],
      ],
    ])
    expect(JSON.stringify(body)).not.toMatch(/secret|s-a|t-a|draft/)
    for (const id of ['c', 'none'])
      expect((await tool('history_job', { id })).error.code, id).toBe('NOT_FOUND')
    succeed(await world.call('DELETE', `/v1/crm/records/${type}/b`))
    expect((await tool('history_job', { id: 'b' })).error.code).toBe('NOT_FOUND')
  })

  test('claims are of records within the filter, and of this token', async () => {
    const { type, tool, names } = await open(['claim', 'update'])
    expect(await names()).toEqual(['claim_job', 'complete_job', 'release_job', 'update_job'])
    const claimed = await tool('claim_job', { limit: 9, patch: { note: 'mine' } })
    expect(claimed.body.data.map(({ record }: Body) => [record.id, record.data])).toEqual([
      ['a', { state: 'open', note: 'mine' }],
      ['b', { state: 'open', note: 'mine' }],
    ])
    expect(await ticket(type, 'a')).toEqual({ state: 'open', note: 'mine', secret: 't-a' })
    expect(
      (await tool('claim_job', { filter: { field: 'data.secret', op: 'eq', value: 't-c' } })).error.details[0]
        .code,
    ).toBe('unknown_field')
    expect((await tool('claim_job', { patch: { secret: 'x' } })).body.data).toEqual([])
    expect((await tool('claim_job', { filter: { field: 'id', op: 'eq', value: 'c' } })).body.data).toEqual([])
    const [one, other] = claimed.body.data.map(({ claim }: Body) => claim.id)
    // Its work may take the record out of its sight. The claim is its own all the same.
    expect((await tool('update_job', { id: 'a', state: 'closed' })).error).toBeUndefined()
    expect((await tool('complete_job', { claim_id: one })).body).toMatchObject({
      status: 'completed',
      record_id: 'a',
    })
    expect((await tool('release_job', { claim_ids: [other] })).body.data[0].status).toBe('released')
    expect((await tool('release_job', { claim_id: other })).error.details[0].code).toBe('claim_lost')
    expect((await tool('complete_job', {})).error.details[0].path).toBe('/claim_id')
    // The claim of another token looks like one that never existed.
    const foreign = succeed(await world.call('POST', `/v1/crm/records/${type}/claim`, {})).data[0].claim.id
    const answers = await Promise.all([foreign, 'none'].map((claim_id) => tool('release_job', { claim_id })))
    expect(answers.map(({ error }) => error.details[0].code)).toEqual(['claim_not_found', 'claim_not_found'])
    expect((await tool('heartbeat_job', { claim_id: other })).error ?? 'unknown').toBeDefined()
  })

  test('a claim waits for a record to be free, and is empty after its time', { tags: 'full' }, async () => {
    const { type, tool } = await open(['claim'])
    const taken = succeed(await world.call('POST', `/v1/crm/records/${type}/claim`, { limit: 3 })).data
    expect((await tool('claim_job', { timeout: 1 })).body.data).toEqual([])
    const waiting = tool('claim_job', { timeout: 30 })
    succeed(await world.call('POST', `/v1/crm/claims/${taken[0].claim.id}/release`))
    expect((await waiting).body.data[0].record.id).toBe('a')
    expect((await tool('claim_job', { timeout: 1, idempotency_key: 'k' })).error.details[0].path).toBe(
      '/idempotency_key',
    )
  })
})

test('a read of a record expands the relationships that the endpoint follows, within its policies', async () => {
  const [type, far, hidden] = [await world.newType(), await world.newType(), await world.newType()]
  for (const [name, end] of [
    ['of', far],
    ['in', far],
    ['on', hidden],
  ] as const)
    await put(`relationship-types/${name}-${type}`, {
      source_record_types: [type],
      target_record_types: [end],
    })
  await put(`records/${far}/shown`, { data: { state: 'open', secret: 'x' } })
  await put(`records/${far}/shut`, { data: { state: 'closed' } })
  await put(`records/${hidden}/h`, { data: {} })
  const to = (rel: string, record_type: string, id: string) => ({
    rel_type: `${rel}-${type}`,
    record_type,
    id,
  })
  await put(`records/${type}/a`, {
    data: {},
    relationships: [
      to('of', far, 'shown'),
      to('of', far, 'shut'),
      to('in', far, 'shown'),
      to('on', hidden, 'h'),
    ],
  })
  const tools = [
    { record_type: type, operations: ['get'], name_override: 'get_it' },
    { record_type: far, operations: ['get'], filter: OPEN, fields: ['data.state'] },
  ]
  const relationships = [{ rel_type: `of-${type}`, operations: ['related'] }]
  await put(`endpoints/${type}`, { tools, relationships })
  const { tool } = at(type, (await grantOn(type)).token)
  const { body } = await tool('get_it', { id: 'a', expand: [`of-${type}`] })
  const linked = body._expanded[`of-${type}`]
  expect(linked.map(({ record }: Body) => [record.id, record.data])).toEqual([['shown', { state: 'open' }]])
  for (const expand of [`in-${type}`, `on-${type}`, 'attachments', `of-${type}.in-${type}`, `~on-${type}`])
    expect((await tool('get_it', { id: 'a', expand: [expand] })).error.details[0].path, expand).toBe(
      '/expand',
    )
  expect((await tool('get_it', { id: 'a' })).body).not.toHaveProperty('_expanded')
})

describe('Attachments of an endpoint', () => {
  const open = async (operations: string[], permission = 'write') => {
    const type = await world.newType()
    for (const [id, state] of [
      ['a', 'open'],
      ['shut', 'closed'],
    ] as const)
      await put(`records/${type}/${id}`, { data: { state, secret: 'x' } })
    const tools = [
      {
        ...{ record_type: type, operations, name_override: 'ticket' },
        ...{ filter: OPEN, write_filter: {}, fields: ['data.state'] },
      },
    ]
    await put(`endpoints/${type}`, { tools })
    const { token } = await grantOn(type, permission)
    return { type, token, ...at(type, token) }
  }

  test('are written and read within its rows, as texts and by links', async () => {
    const { type, tool, names } = await open(['attach', 'get', 'update'])
    expect(await names()).toEqual(['attach_ticket', 'attachments_ticket', 'get_ticket', 'update_ticket'])
    const made = await tool('attach_ticket', { id: 'a', filename: 'note.txt', text: 'Signed.' })
    expect(made.body).toMatchObject({ filename: 'note.txt', content_type: 'text/plain', status: 'ready' })
    const list = await tool('attachments_ticket', { id: 'a' })
    expect(list.body.data.map(({ filename, size }: Body) => [filename, size])).toEqual([['note.txt', 7]])
    const one = (await tool('attachments_ticket', { id: 'a', filename: 'note.txt' })).body
    expect(one).toMatchObject({ text: 'Signed.', url: expect.stringContaining('/attachments/') })
    expect(await (await fetch(new URL(new URL(one.url).pathname, world.url))).text()).toBe('Signed.')
    const read = await tool('get_ticket', { id: 'a', expand: ['attachments'] })
    expect(read.body._expanded.attachments).toMatchObject([{ filename: 'note.txt' }])
    expect(read.body.data).toEqual({ state: 'open' })
    // Without a content, the link takes it.
    const { upload_url } = (await tool('attach_ticket', { id: 'a', filename: 'b.bin' })).body
    const sent = { method: 'PUT', body: Buffer.from([0, 1]) }
    expect((await fetch(new URL(new URL(upload_url).pathname, world.url), sent)).status).toBe(200)
    const binary = (await tool('attachments_ticket', { id: 'a', filename: 'b.bin' })).body
    expect(binary).toMatchObject({ size: 2, status: 'ready' })
    expect(binary).not.toHaveProperty('text')
    // A record outside the filter looks like one that is absent, also once the tool has written it there.
    const refusals = async (id: string) => [
      (await tool('attach_ticket', { id, filename: 'x.txt', text: 'x' })).error.code,
      (await tool('attachments_ticket', { id })).error.code,
      (await tool('attachments_ticket', { id, filename: 'note.txt' })).error.code,
    ]
    for (const id of ['shut', 'none']) expect(await refusals(id), id).toEqual(Array(3).fill('NOT_FOUND'))
    expect((await tool('update_ticket', { id: 'a', state: 'closed' })).error).toBeUndefined()
    expect(await refusals('a')).toEqual(Array(3).fill('NOT_FOUND'))
    const kept = succeed(await world.call('GET', `/v1/crm/records/${type}/a/attachments`)).data
    expect(kept.map(({ filename }: Body) => filename)).toEqual(['b.bin', 'note.txt'])
    expect(succeed(await world.call('GET', `/v1/crm/records/${type}/shut/attachments`)).data).toEqual([])
  })

  test('are out of reach where no selection offers them, and read only for a reader', async () => {
    const { type, tool, names, token } = await open(['get', 'update'])
    expect(await names()).toEqual(['get_ticket', 'update_ticket'])
    expect((await tool('get_ticket', { id: 'a', expand: ['attachments'] })).error.details[0].path).toBe(
      '/expand',
    )
    expectFailure(
      await world.call('GET', `/v1/crm/records/${type}/a/attachments`, undefined, {
        authorization: `Bearer ${token}`,
      }),
      'FORBIDDEN',
    )
    const reader = await open(['attach', 'get'], 'read')
    expect(await reader.names()).toEqual(['attachments_ticket', 'get_ticket'])
    expect((await reader.tool('attachments_ticket', { id: 'a' })).body.data).toEqual([])
    const refused = await reader.tool('attach_ticket', { id: 'a', filename: 'x.txt', text: 'x' })
    expect(refused.error.code).toBe('FORBIDDEN')
  })
})

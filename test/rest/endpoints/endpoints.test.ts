import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, TIME } from '../../support/answers.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  const schema = {
    type: 'object',
    properties: { title: { type: 'string' }, stage: { type: 'string' }, amount: { type: 'number' } },
    additionalProperties: false,
  }
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', { json_schema: schema }), 201)
  succeed(await world.call('PUT', '/v1/crm/record-types/note', {}), 201)
  succeed(await world.call('PUT', '/v1/crm/relationship-types/about', {}), 201)
  const ends = { source_record_types: ['deal'], target_record_types: ['note'] }
  succeed(await world.call('PUT', '/v1/crm/relationship-types/cites', ends), 201)
})
afterAll(() => world.close())

const put = (id: string, body: object, headers = {}) =>
  world.call('PUT', `/v1/crm/endpoints/${id}`, body, headers)
const putToolset = (id: string, body: object) => world.call('PUT', `/v1/crm/toolsets/${id}`, body)
const tool = (more: object) => ({ tools: [{ record_type: 'deal', operations: ['get'], ...more }] })

const WHOLE = {
  name: 'Sales desk',
  description: 'For the assistant of sales.',
  instructions: 'Deals are in euros.',
  toolsets: ['reading'],
  tools: [
    {
      record_type: 'deal',
      operations: ['create', 'update'],
      name_override: 'open_deal',
      description_override: 'A deal that is open.',
      fields: ['data.title', 'data.amount'],
      filter: { field: 'data.stage', op: 'eq', value: 'open' },
      defaults: { stage: 'open' },
    },
  ],
  relationships: [{ rel_type: 'about', operations: ['link', 'unlink', 'related'] }],
  batch: { enabled: true, operations: ['create_record'] },
  actions: [],
  sql_query: true,
  undo: true,
  resources: true,
  enabled: false,
}

describe('endpoints', () => {
  beforeAll(async () => {
    succeed(
      await putToolset('reading', { tools: [{ record_type: 'note', operations: ['get', 'list'] }] }),
      201,
    )
  })

  test('are created, read, replaced and deleted, and each write logs a change', {
    tags: 'full',
  }, async () => {
    const made = await put('sales.desk', WHOLE)
    expect(succeed(made, 201)).toEqual({
      id: 'sales.desk',
      ...WHOLE,
      version: 1,
      created_at: expect.stringMatching(TIME),
      updated_at: made.body.created_at,
    })
    expect(made.headers.get('location')).toBe('/v1/crm/endpoints/sales.desk')
    expect(made.headers.get('etag')).toBe('"1"')
    expect(succeed(await world.call('GET', '/v1/crm/endpoints/sales.desk'))).toEqual(made.body)
    expect(succeed(await put('sales.desk', { ...WHOLE, id: 'sales.desk' }))).toEqual(made.body)
    expect(succeed(await put('sales.desk', {}))).toMatchObject({
      name: 'sales.desk',
      description: null,
      instructions: null,
      toolsets: [],
      tools: [],
      relationships: [],
      batch: { enabled: false },
      actions: [],
      sql_query: false,
      undo: false,
      resources: false,
      enabled: true,
      version: 2,
    })
    const stale = await put('sales.desk', WHOLE, { 'if-match': '"1"' })
    expect(expectFailure(stale, 'CONFLICT').details[0].code).toBe('version_mismatch')
    const list = succeed(await world.call('GET', '/v1/crm/endpoints?include_total=true'))
    expect(list.meta).toMatchObject({ total: 1, has_more: false })
    expect(succeed(await world.call('DELETE', '/v1/crm/endpoints/sales.desk'))).toEqual({
      id: 'sales.desk',
      deleted: true,
    })
    expectFailure(await world.call('DELETE', '/v1/crm/endpoints/sales.desk'), 'NOT_FOUND')
    expectFailure(await world.call('GET', '/v1/crm/endpoints/sales.desk'), 'NOT_FOUND')
    const log = await world.database.query<{ kind: string; operation: string; version: number }>(
      `SELECT kind, operation, version FROM plinth.change WHERE kind = 'endpoint' AND id = 'sales.desk' ORDER BY seq`,
    )
    expect(log.map(({ operation, version }) => `${operation} ${version}`)).toEqual([
      'create 1',
      'update 2',
      'delete 3',
    ])
    const { data } = succeed(await world.call('GET', '/v1/crm/changes?kind=endpoint'))
    expect(data.map((change: Body) => change.kind)).toEqual(['endpoint', 'endpoint', 'endpoint'])
  })

  test.each([
    [
      'a type that is not there',
      tool({ record_type: 'dael' }),
      '/tools/0/record_type',
      'unknown_record_type',
    ],
    ['an operation that is not there', tool({ operations: ['gett'] }), '/tools/0/operations/0', 'enum'],
    ['no operations', tool({ operations: [] }), '/tools/0/operations', 'too_small'],
    ['an unknown key', tool({ feilds: ['data.title'] }), '/tools/0/feilds', 'unknown_key'],
    ['an action that does not exist', { actions: ['none'] }, '/actions/0', 'unknown_action'],
    [
      'a name that clients refuse',
      tool({ name_override: 'a b' }),
      '/tools/0/name_override',
      'invalid_format',
    ],
    [
      'a name that is too long with its operation',
      tool({ operations: ['get', 'list'], name_override: 'x'.repeat(60) }),
      '/tools/0/name_override',
      'invalid',
    ],
    ['a field that the type has not', tool({ fields: ['data.titel'] }), '/tools/0/fields/0', 'unknown_field'],
    ['a field that is no property', tool({ fields: ['status'] }), '/tools/0/fields/0', 'invalid_field'],
    ['a field twice', tool({ fields: ['data.title', 'data.title'] }), '/tools/0/fields/1', 'duplicate'],
    [
      'a filter with an unknown operator',
      tool({ filter: { field: 'data.title', op: 'equals', value: 1 } }),
      '/tools/0/filter/op',
      'unknown_operator',
    ],
    [
      'a filter on what the type has not',
      tool({ filter: { field: 'data.nope', op: 'eq', value: 1 } }),
      '/tools/0/filter/field',
      'unknown_field',
    ],
    [
      'a filter that searches',
      tool({ filter: { field: 'data.title', op: 'search', value: 'x' } }),
      '/tools/0/filter',
      'unsupported',
    ],
    [
      'a default that the type has not',
      tool({ defaults: { nope: 1 } }),
      '/tools/0/defaults/nope',
      'unknown_field',
    ],
    [
      'a default of another type',
      tool({ defaults: { stage: 'open', amount: 'much' } }),
      '/tools/0/defaults/amount',
      'invalid_default',
    ],
    ['an operation twice', tool({ operations: ['get', 'get'] }), '/tools/0/operations/1', 'duplicate'],
    ['an unknown toolset', { toolsets: ['readng'] }, '/toolsets/0', 'unknown_toolset'],
    ['a toolset twice', { toolsets: ['reading', 'reading'] }, '/toolsets/1', 'duplicate'],
    [
      'an unknown relationship type',
      { relationships: [{ rel_type: 'abuot', operations: ['link'] }] },
      '/relationships/0/rel_type',
      'unknown_relationship_type',
    ],
    [
      'a relationship type with an end that no tool has',
      { ...tool({}), relationships: [{ rel_type: 'cites', operations: ['link'] }] },
      '/relationships/0/rel_type',
      'no_tools_for_end',
    ],
    [
      'a relationship type without any tools',
      { relationships: [{ rel_type: 'about', operations: ['related'] }] },
      '/relationships/0/rel_type',
      'no_tools_for_end',
    ],
    ['instructions that clients would cut', { instructions: 'é'.repeat(701) }, '/instructions', 'custom'],
    ['a batch without a word of whether', { batch: {} }, '/batch/enabled', 'required'],
  ])('refuse %s', async (_what, body, path, code) => {
    expect(expectFault(await put('bad', body), path).code).toBe(code)
    expectFailure(await world.call('GET', '/v1/crm/endpoints/bad'), 'NOT_FOUND')
  })

  test('are refused with a hint for misspelt names', async () => {
    expect(expectFault(await put('bad', tool({ record_type: 'dael' })), '/tools/0/record_type').hint).toBe(
      'deal',
    )
    expect(expectFault(await put('bad', { toolsets: ['readng'] }), '/toolsets/0').hint).toBe('reading')
  })

  test('are refused with the faults of all defaults at once, and no others', async () => {
    const defaults = { nope: 1, stage: 7, amount: 'much', title: 'fine' }
    const refused = expectFailure(await put('bad', tool({ defaults })), 'VALIDATION_ERROR')
    expect(refused.details.map(({ path, code }: Body) => [path, code])).toEqual([
      ['/tools/0/defaults/nope', 'unknown_field'],
      ['/tools/0/defaults/stage', 'invalid_default'],
      ['/tools/0/defaults/amount', 'invalid_default'],
    ])
  })

  test('refuse two tools of one name, from the endpoint, its toolsets or the batch tool', async () => {
    const get = { record_type: 'note', operations: ['get'] }
    const own = await put('twice', { tools: [get, get] })
    expect(expectFault(own, '/tools/1')).toMatchObject({ code: 'duplicate', received: 'get_note' })
    const shared = await put('twice', { tools: [get], toolsets: ['reading'] })
    expect(expectFault(shared, '/toolsets/0')).toMatchObject({ code: 'duplicate', received: 'get_note' })
    const overridden = await put('twice', {
      tools: [{ record_type: 'deal', operations: ['get'], name_override: 'get_note' }],
      toolsets: ['reading'],
    })
    expect(expectFault(overridden, '/toolsets/0').code).toBe('duplicate')
    const fixed = { tools: [{ ...get, name_override: 'batch' }], batch: { enabled: true } }
    expect(expectFault(await put('twice', fixed), '/batch').received).toBe('batch')
  })
})

describe('toolsets', () => {
  test('are created, read, replaced and deleted', { tags: 'full' }, async () => {
    const body = { name: 'Reading', description: 'All that reads.', ...tool({ operations: ['get', 'list'] }) }
    const made = await putToolset('all', body)
    expect(succeed(made, 201)).toMatchObject({ id: 'all', ...body, version: 1 })
    expect(made.headers.get('location')).toBe('/v1/crm/toolsets/all')
    expect(succeed(await world.call('GET', '/v1/crm/toolsets/all'))).toEqual(made.body)
    expect(succeed(await putToolset('all', {}))).toMatchObject({ tools: [], version: 2 })
    expect(succeed(await world.call('DELETE', '/v1/crm/toolsets/all'))).toEqual({ id: 'all', deleted: true })
    expectFailure(await world.call('GET', '/v1/crm/toolsets/all'), 'NOT_FOUND')
  })

  test('that an endpoint uses cannot be deleted, or add a tool name that the endpoint has', {
    tags: 'full',
  }, async () => {
    succeed(await putToolset('shared', tool({})), 201)
    const own = { tools: [{ record_type: 'note', operations: ['list'] }], toolsets: ['shared'] }
    succeed(await put('user', own), 201)
    const refused = expectFailure(await world.call('DELETE', '/v1/crm/toolsets/shared'), 'CONFLICT')
    expect(refused.details[0]).toMatchObject({ code: 'in_use', count: 1, samples: [{ endpoint: 'user' }] })
    const clash = expectFailure(
      await putToolset('shared', { tools: [{ record_type: 'note', operations: ['list'] }] }),
      'CONFLICT',
    )
    expect(clash.details[0]).toMatchObject({ code: 'duplicate', received: 'list_note' })
    expect(clash.message).toContain('"user"')
    expect(succeed(await world.call('GET', '/v1/crm/toolsets/shared')).version).toBe(1)
    succeed(await world.call('DELETE', '/v1/crm/endpoints/user'))
    succeed(await world.call('DELETE', '/v1/crm/toolsets/shared'))
  })

  test('refuse unknown record types and the fields of endpoints', async () => {
    expect(
      expectFault(await putToolset('bad', tool({ record_type: 'nope' })), '/tools/0/record_type').code,
    ).toBe('unknown_record_type')
    expect(expectFault(await putToolset('bad', { instructions: 'x' }), '/instructions').code).toBe(
      'unknown_key',
    )
  })
})

describe('access to endpoints and toolsets', () => {
  test('needs read on the whole base to read, and manage to write', { tags: 'full' }, async () => {
    const ofType = (await world.newToken([{ record_type: 'deal', permission: 'manage' }])).call
    const reader = (await world.newToken([{ permission: 'write' }])).call
    const manager = (await world.newToken([{ permission: 'manage' }])).call
    for (const noun of ['endpoints', 'toolsets']) {
      const at = `/v1/crm/${noun}`
      for (const [method, path, body] of [
        ['GET', at],
        ['GET', `${at}/p`],
        ['PUT', `${at}/p`, {}],
        ['DELETE', `${at}/p`],
      ] as const)
        expectFailure(await ofType(method, path, body), 'FORBIDDEN')
      succeed(await reader('GET', at))
      expectFailure(await reader('PUT', `${at}/p`, {}), 'FORBIDDEN')
      succeed(await manager('PUT', `${at}/p`, {}), 201)
      expectFailure(await reader('DELETE', `${at}/p`), 'FORBIDDEN')
      succeed(await manager('DELETE', `${at}/p`))
    }
  })

  test('is refused for writes in a base with schema_changes preview_only', async () => {
    succeed(
      await world.call('PUT', '/v1/bases/guarded', { settings: { schema_changes: 'preview_only' } }),
      201,
    )
    expectFailure(await world.call('PUT', '/v1/guarded/endpoints/e', {}), 'FORBIDDEN')
    expectFailure(await world.call('PUT', '/v1/guarded/toolsets/e', {}), 'FORBIDDEN')
    expectFailure(await world.call('PUT', '/v1/absent/toolsets/e', {}), 'NOT_FOUND')
    expectFailure(await world.call('GET', '/v1/absent/endpoints'), 'NOT_FOUND')
  })
})

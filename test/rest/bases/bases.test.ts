import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, TIME, times } from '../../support/answers.ts'
import { type LogRow, openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const DEFAULTS = {
  schema_changes: 'direct',
  history_days: null,
  trash_days: 30,
  calls_days: 7,
  call_arguments: false,
  change_sets: { approvals: 0, self_approval: true, expire_days: 30 },
}

describe('PUT of a base', () => {
  test('creates a base with defaults: 201, Location, ETag', async () => {
    const made = await world.call('PUT', '/v1/bases/first', {})
    const base = succeed(made, 201)
    expect(made.headers.get('location')).toBe('/v1/bases/first')
    expect(made.headers.get('etag')).toBe('"1"')
    expect(base).toEqual({
      id: 'first',
      name: 'first',
      description: null,
      environment: 'production',
      production_base: null,
      change_set: null,
      settings: DEFAULTS,
      version: 1,
      created_at: expect.stringMatching(TIME),
      updated_at: base.created_at,
    })
    expect(succeed(await world.call('GET', '/v1/bases/first'))).toEqual(base)
  })

  test('with the same content is 200 and writes nothing', async () => {
    const body = { name: 'Same', settings: { trash_days: 7 } }
    const made = succeed(await world.call('PUT', '/v1/bases/same', body), 201)
    const again = await world.call('PUT', '/v1/bases/same', { ...body, id: 'same' })
    expect(succeed(again)).toEqual(made)
    expect(again.headers.get('location')).toBeNull()
    expect(await logOf('same')).toHaveLength(1)
  })

  test('replaces the base: omitted fields return to their defaults', async () => {
    const settings = {
      ...{ trash_days: 7, history_days: 90, schema_changes: 'preview_only' },
      ...{
        calls_days: 1,
        call_arguments: true,
        change_sets: { approvals: 2, self_approval: false, expire_days: 9 },
      },
    }
    const body = { name: 'One', description: 'text', settings }
    const made = succeed(await world.call('PUT', '/v1/bases/whole', body), 201)
    expect(made.settings).toEqual(settings)
    const bare = succeed(await world.call('PUT', '/v1/bases/whole', { name: 'Two' }))
    expect(bare).toMatchObject({ name: 'Two', description: null, settings: DEFAULTS, version: 2 })
    expect(bare.created_at).toBe(made.created_at)
  })

  test.each(['7', `q${'x'.repeat(46)}q`, 'a-b-c', 'records'])('accepts the id %s', async (id) => {
    succeed(await world.call('PUT', `/v1/bases/${id}`, {}), 201)
  })

  test.each([
    ...['A', 'a--b--c', '-a', 'a-', 'a_b', 'a.b', 'x'.repeat(49), 'a%20b', 'a%2Fb', '%C3%A9', 'a%00'],
    ...['bases', 'workspaces', 'databases', 'tokens', 'vault', 'accounts'],
  ])('refuses the id %s', async (id) => {
    expectFault(await world.call('PUT', `/v1/bases/${id}`, {}), 'path/id')
  })

  test('with the id of a preview is 400', async () => {
    expectFailure(await world.call('PUT', '/v1/bases/crm--x', {}), 'VALIDATION_ERROR')
    expectFailure(await world.call('GET', '/v1/bases/crm--x'), 'NOT_FOUND')
  })

  test.each([
    [{ nmae: 'x' }, '/nmae', 'name'],
    [{ settings: { trash_day: 3 } }, '/settings/trash_day', 'trash_days'],
    [{ settings: { schema_changes: 'direkt' } }, '/settings/schema_changes', 'direct'],
    [{ name: 5 }, '/name', undefined],
    [{ name: '' }, '/name', undefined],
    [{ settings: { trash_days: -1 } }, '/settings/trash_days', undefined],
    [{ settings: { history_days: 1.5 } }, '/settings/history_days', undefined],
    [{ settings: [] }, '/settings', undefined],
    [{ id: 'other' }, '/id', undefined],
    [{ version: 3 }, '/version', undefined],
    [{ created_at: '2026-01-01T00:00:00.000Z' }, '/created_at', undefined],
    [{ expected_version: '1' }, '/expected_version', undefined],
  ])('refuses %j at %s', async (body, path, hint) => {
    const fault = expectFault(await world.call('PUT', '/v1/bases/refused', body), path)
    if (hint) expect(fault.hint).toBe(hint)
    expectFailure(await world.call('GET', '/v1/bases/refused'), 'NOT_FOUND')
  })

  test('is refused when If-Match, If-None-Match or expected_version does not match', async () => {
    const put = (name: string, headers = {}, more = {}) =>
      world.call('PUT', '/v1/bases/cond', { name, ...more }, headers)
    const [absent] = expectFailure(await put('A', { 'if-match': '"1"' }), 'NOT_FOUND').details
    expect(absent).toMatchObject({ path: 'header/If-Match', code: 'nothing_to_match' })
    succeed(await put('A', { 'if-none-match': '*' }), 201)
    expectFailure(await put('B', { 'if-none-match': '*' }), 'CONFLICT')
    const [detail] = expectFailure(await put('B', { 'if-match': '"9"' }), 'CONFLICT').details
    expect(detail).toMatchObject({ code: 'version_mismatch', expected: 1, received: 9 })
    expectFailure(await put('B', {}, { expected_version: 9 }), 'CONFLICT')
    expect(succeed(await put('B', { 'if-match': '"1"' })).version).toBe(2)
    expect(succeed(await put('C', {}, { expected_version: 2 })).version).toBe(3)
  })
})

describe('GET of bases', () => {
  test('pages the list, newest first, with a total only on request', async () => {
    const ids = ['page-1', 'page-2', 'page-3']
    for (const id of ids) succeed(await world.call('PUT', `/v1/bases/${id}`, {}), 201)
    const two = succeed(await world.call('GET', '/v1/bases?limit=2&offset=1'))
    expect(two.data.map((base: { id: string }) => base.id)).toEqual(['page-2', 'page-1'])
    expect(two.meta).toEqual({ has_more: true, limit: 2, offset: 1, next_cursor: expect.any(String) })
    const all = succeed(await world.call('GET', '/v1/bases?limit=1000&include_total=true'))
    expect(all.meta).toEqual({ has_more: false, limit: 1000, offset: 0, total: all.data.length })
    expect(all.data[0]).not.toHaveProperty('counts')
  })

  test('counts record types and records only on request', async () => {
    const type = await world.newType()
    for (const id of ['a', 'b']) await world.call('PUT', `/v1/crm/records/${type}/${id}`, { data: {} })
    const { counts } = succeed(await world.call('GET', '/v1/bases/crm?include=counts'))
    expect(counts).toEqual({ record_types: 1, records: 2 })
    const list = succeed(await world.call('GET', '/v1/bases?include=counts&limit=1000'))
    const listed = list.data.find((base: { id: string }) => base.id === 'crm')
    expect(listed.counts).toEqual(counts)
    expectFault(await world.call('GET', '/v1/bases/crm?include=count'), 'query/include')
  })

  test('with the current ETag in If-None-Match is 304', async () => {
    const { headers } = await world.call('GET', '/v1/bases/crm')
    const tag = headers.get('etag') ?? ''
    const again = await world.call('GET', '/v1/bases/crm', undefined, { 'if-none-match': tag })
    expect([again.status, again.text]).toEqual([304, ''])
    const head = await world.call('HEAD', '/v1/bases/crm', undefined, { 'if-none-match': tag })
    expect([head.status, head.headers.get('etag')]).toEqual([304, tag])
    const older = await world.call('HEAD', '/v1/bases/crm', undefined, { 'if-none-match': '"0"' })
    expect(older.status).toBe(200)
  })
})

describe('DELETE of a base', () => {
  test('without records needs no confirmation, and a second one is 404', async () => {
    succeed(await world.call('PUT', '/v1/bases/gone', {}), 201)
    expect(succeed(await world.call('DELETE', '/v1/bases/gone'))).toEqual({ id: 'gone', deleted: true })
    expectFailure(await world.call('GET', '/v1/bases/gone'), 'NOT_FOUND')
    expectFailure(await world.call('DELETE', '/v1/bases/gone'), 'NOT_FOUND')
    const account = await world.database.query<LogRow>(
      `SELECT * FROM plinth.change WHERE base_id = '' AND kind = 'base' AND id = 'gone'`,
    )
    expect(account.map((row) => row.operation)).toEqual(['delete'])
  })

  test('with records needs confirm equal to its id', async () => {
    succeed(await world.call('PUT', '/v1/bases/full', {}), 201)
    succeed(await world.call('PUT', '/v1/full/record-types/task', {}), 201)
    for (const i of times(3, String)) await world.call('PUT', `/v1/full/records/task/${i}`, { data: {} })
    const { details } = expectFailure(await world.call('DELETE', '/v1/bases/full'), 'CONFLICT')
    expect(details[0]).toMatchObject({ path: 'query/confirm', code: 'confirm_required', expected: 'full' })
    expectFailure(await world.call('DELETE', '/v1/bases/full?confirm=crm'), 'CONFLICT')
    succeed(await world.call('GET', '/v1/full/records/task/0'))
    succeed(await world.call('DELETE', '/v1/bases/full?confirm=full'))
    expectFailure(await world.call('GET', '/v1/full/records/task/0'), 'NOT_FOUND')
    succeed(await world.call('PUT', '/v1/bases/full', {}), 201)
    expect(succeed(await world.call('GET', '/v1/full/record-types')).data).toEqual([])
  })

  test('with If-Match of another version is 409', async () => {
    succeed(await world.call('PUT', '/v1/bases/kept', {}), 201)
    const stale = await world.call('DELETE', '/v1/bases/kept', undefined, { 'if-match': '"2"' })
    expectFailure(stale, 'CONFLICT')
    succeed(await world.call('DELETE', '/v1/bases/kept', undefined, { 'if-match': '"1"' }))
  })

  test('deletes its previews, and needs confirm when only these have records', async () => {
    succeed(await world.call('PUT', '/v1/bases/live', {}), 201)
    await addPreview('live', 'x')
    succeed(await world.call('PUT', '/v1/live--x/record-types/task', {}), 201)
    succeed(await world.call('PUT', '/v1/live--x/records/task/a', { data: {} }), 201)
    expectFailure(await world.call('DELETE', '/v1/bases/live'), 'CONFLICT')
    succeed(await world.call('DELETE', '/v1/bases/live?confirm=live'))
    expectFailure(await world.call('GET', '/v1/bases/live--x'), 'NOT_FOUND')
    expectFailure(await world.call('GET', '/v1/live--x/records/task/a'), 'NOT_FOUND')
  })
})

const addPreview = (base: string, name: string) =>
  world.database.query(
    `INSERT INTO plinth.base (id, name, environment, production_base, settings)
     SELECT $1 || '--' || $2, $2, 'preview', id, settings FROM plinth.base WHERE id = $1`,
    [base, name],
  )

const logOf = (base: string) =>
  world.database.query<LogRow>(`SELECT * FROM plinth.change WHERE base_id = $1 ORDER BY seq`, [base])

test('an unknown base is named at its place in the path', async () => {
  const missing = async (method: string, path: string) =>
    expectFailure(await world.call(method, path), 'NOT_FOUND').details[0].path
  expect(await missing('GET', '/v1/bases/absent')).toBe('path/id')
  expect(await missing('DELETE', '/v1/workspaces/absent')).toBe('path/id')
  expect(await missing('GET', '/v1/absent/record-types')).toBe('path/base_id')
  expect(await missing('GET', '/v1/first/mcp/tools?endpoint=absent')).toBe('query/endpoint')
})

test('an unknown base is answered with the nearest one that the token sees', async () => {
  for (const id of ['shop', 'other']) succeed(await world.call('PUT', `/v1/bases/${id}`, {}), 201)
  for (const path of ['record-types', 'records/deal', 'changes', 'openapi.json']) {
    const error = expectFailure(await world.call('GET', `/v1/shopp/${path}`), 'NOT_FOUND')
    expect([path, error.message, error.details[0].hint]).toEqual([
      path,
      'There is no base "shopp". Did you mean "shop"?',
      'shop',
    ])
  }
  const other = await world.newToken([{ base: 'other', permission: 'read' }])
  expect((await other.call('GET', '/v1/shopp/record-types')).text).not.toContain('"shop"')
})

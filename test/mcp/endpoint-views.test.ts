// @module-tag full
/** Views at an endpoint: which tools open one, what a view calls there, and that it can do no more than the tools. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import type { Body } from '../support/server.ts'
import { openPublic, type World } from '../support/world.ts'
import { errorIn, viewing } from './fixture/viewing.ts'

const PATH = '/mcp/crm/e/desk'
let world: World
let { ask, call, pageKey } = {} as ReturnType<typeof viewing>
const put = async (path: string, body: object, status = 201) =>
  succeed(await world.call('PUT', `/v1/crm/${path}`, body), status)

const OPERATIONS = ['get', 'list', 'create', 'update', 'delete', 'history']
const FILTER = { field: 'data.team', op: 'eq', value: 'a' }
const TICKET = {
  record_type: 'ticket',
  operations: OPERATIONS,
  filter: FILTER,
  fields: ['data.team', 'data.n'],
}
const DESK = {
  tools: [TICKET, { record_type: 'note', operations: ['list', 'delete'] }],
  batch: { enabled: true },
  undo: true,
}

beforeAll(async () => {
  world = await openPublic()
  ;({ ask, call, pageKey } = viewing(world, PATH))
  for (const type of ['ticket', 'note']) await put(`record-types/${type}`, {})
  await put('endpoints/desk', DESK)
})
afterAll(() => world.close())
let serial = 0
let ids: string[]
beforeEach(async () => {
  ids = [`a${++serial}`, `b${serial}`]
  for (const id of ids) await put(`records/ticket/${id}`, { data: { team: 'a', n: 1, secret: 'canary' } })
})
const dataOf = async (id: string, type = 'ticket') =>
  (await world.call('GET', `/v1/crm/records/${type}/${id}`)).body.data
const deletions = () => ({
  operations: ids.map((id) => ({ type: 'delete_record', record_type: 'ticket', id })),
})
const listed = async (path = PATH): Promise<Map<string, Body>> =>
  new Map((await ask('tools/list', {}, { path })).result.tools.map((tool: Body) => [tool.name, tool]))

test('tools have the views of what they are, and views call tools that no model is shown', async () => {
  const tools = await listed()
  const views = [...tools].map(([name, { _meta }]) => [name, _meta?.ui])
  expect(Object.fromEntries(views)).toEqual({
    get_ticket: { resourceUri: 'ui://plinth/records' },
    list_ticket: { resourceUri: 'ui://plinth/records' },
    create_ticket: undefined,
    update_ticket: undefined,
    delete_ticket: { resourceUri: 'ui://plinth/decide' },
    history_ticket: { resourceUri: 'ui://plinth/changes' },
    list_note: { resourceUri: 'ui://plinth/records' },
    delete_note: { resourceUri: 'ui://plinth/decide' },
    batch: { resourceUri: 'ui://plinth/decide' },
    undo: { resourceUri: 'ui://plinth/decide' },
    decide: { resourceUri: 'ui://plinth/decide', visibility: ['app'] },
    update_record: { resourceUri: 'ui://plinth/records', visibility: ['app'] },
  })
  for (const [name, { annotations }] of tools)
    expect([name, annotations.title, typeof annotations.readOnlyHint]).toEqual([
      ...[name, expect.any(String), 'boolean'],
    ])
  const plain = (await ask('tools/list', {}, { capabilities: {} })).result.tools
  expect(JSON.stringify(plain)).not.toMatch(/_meta|ui:\/\/|"decide"|"update_record"/)
  const { tools: reading } = (await ask('tools/list', {}, { path: `${PATH}?readonly=1` })).result
  const names = reading.map(({ name }: Body) => name)
  expect(names.sort()).toEqual(['get_ticket', 'history_ticket', 'list_note', 'list_ticket'])
})

test('a view is told the tools of its place', async () => {
  const placeOf = async (name: string, args: object, path = PATH) =>
    (await call(name, args, { path }))._meta['plinth/view']
  const { token_id: undoes } = (await call('history_ticket', { id: ids[0] })).structuredContent.data[0].actor
  const update_record = 'update_record'
  expect(await placeOf('list_ticket', {})).toEqual({
    tools: { query_records: 'list_ticket', update_record, undo: 'undo' },
    record_type: 'ticket',
    undoes,
    url: `${world.url}/b/crm/review`,
  })
  expect(await placeOf('list_note', {})).toMatchObject({
    tools: { query_records: 'list_note', undo: 'undo' },
  })
  expect((await placeOf('list_note', {})).tools).not.toHaveProperty(update_record)
  expect(await placeOf('get_ticket', { id: ids[0] }, `${PATH}?readonly=1`)).toMatchObject({ tools: {} })
  expect((await call('create_ticket', { team: 'a' }))._meta?.['plinth/view']).toBeUndefined()
})

test('a plan reaches the model without its token, and the view decides it there and nowhere else', async () => {
  const planned = await call('batch', deletions())
  expect(planned.structuredContent.plan).toMatchObject({ records: { count: 2 } })
  expect(JSON.stringify([planned.structuredContent, planned.content])).not.toContain('plan_token')
  const decision = planned._meta['plinth/decision']
  const choice = 'accept'
  for (const sent of [
    { decision, page: decision, choice },
    { decision, page: await pageKey({ path: '/mcp/crm' }), choice },
  ])
    expect(errorIn(await call('decide', sent)).details[0].code).toBe('not_of_view')
  const elsewhere = { path: '/mcp/crm' }
  const moved = await call('decide', { decision, page: await pageKey(elsewhere), choice }, elsewhere)
  expect(errorIn(moved).code).toBe('FORBIDDEN')
  expect(await dataOf(ids[0] ?? '')).toBeDefined()
  const done = await call('decide', { decision, page: await pageKey(), choice })
  expect(done.structuredContent.data).toMatchObject([{ operation: 'deleted' }, { operation: 'deleted' }])
  const { tools, request_id } = done._meta['plinth/view']
  expect(tools.undo).toBe('undo')
  expect(await dataOf(ids[0] ?? '')).toBeUndefined()
  const { data } = (await world.call('GET', `/v1/crm/changes?request_id=${request_id}`)).body
  expect(data).toMatchObject([
    { operation: 'delete', call: { tool: 'decide', endpoint: 'desk' } },
    { operation: 'delete', call: { tool: 'decide', endpoint: 'desk' } },
  ])
  const undoing = await call('undo', { request_id })
  await call('decide', { decision: undoing._meta['plinth/decision'], page: await pageKey(), choice })
  expect(await dataOf(ids[0] ?? '')).toEqual({ team: 'a', n: 1, secret: 'canary' })
})

test('a form saves what the tool of the type could, and no more', { tags: 'full' }, async () => {
  const [id = ''] = ids
  const save = (args: object, send = {}) =>
    call('update_record', { record_type: 'ticket', id, ...args }, send)
  expect((await save({ data: { n: 2 }, expected_version: 1 })).structuredContent.data).toEqual({
    ...{ team: 'a', n: 2 },
  })
  expect(errorIn(await save({ data: { n: 3 }, expected_version: 1 })).code).toBe('CONFLICT')
  await put(
    'records/ticket/theirs',
    { data: { team: 'b' } },
    serial > 0 && (await dataOf('theirs')) ? 200 : 201,
  )
  await put('records/note/n', { data: { n: 1 } })
  const refused: [args: object, code: string][] = [
    [{ data: { secret: 'x' } }, 'VALIDATION_ERROR'],
    [{ data: { team: 'b' } }, 'FORBIDDEN'],
    [{ id: 'theirs', data: { n: 9 } }, 'NOT_FOUND'],
    [{ record_type: 'note', id: 'n', data: { n: 9 } }, 'FORBIDDEN'],
    [{ record_type: 'other', data: { n: 9 } }, 'FORBIDDEN'],
    [{ claim_id: 'c', data: { n: 9 } }, 'VALIDATION_ERROR'],
  ]
  for (const [args, code] of refused) expect([args, errorIn(await save(args)).code]).toEqual([args, code])
  const grant = { base: 'crm', endpoint: 'desk', environment: '*' }
  const reader = await world.newToken([{ ...grant, permission: 'read' }])
  const sent = { name: 'update_record', arguments: { record_type: 'ticket', id, data: { n: 9 } } }
  const outcomes: unknown[] = []
  for (const send of [{ token: reader.token }, { capabilities: {} }, { path: `${PATH}?readonly=1` }]) {
    const { error, result } = await ask('tools/call', sent, send)
    outcomes.push(error?.code ?? errorIn(result).code)
  }
  expect(outcomes).toEqual(['FORBIDDEN', -32602, -32602])
  expect(await dataOf(id)).toEqual({ team: 'a', n: 2, secret: 'canary' })
  expect(await dataOf('n', 'note')).toEqual({ n: 1 })
  const proposing = await world.newToken([{ permission: 'write', writes: 'propose' }])
  const proposed = await save({ data: { n: 7 } }, { token: proposing.token })
  expect(proposed.structuredContent.change_set).toMatch(/^crm--p-/)
  // A change-set takes deletions without a plan: its promotion is the plan. The view says where that is decided.
  const deleted = await call('batch', deletions(), { token: proposing.token })
  expect(deleted.structuredContent.change_set).toBe(proposed.structuredContent.change_set)
  expect(deleted._meta['plinth/view']).toMatchObject({ tools: {}, url: `${world.url}/b/crm/review` })
  expect(await dataOf(id)).toMatchObject({ n: 2 })
})

test('where the author named tools as those of views, they keep their names, and plans have their tokens', async () => {
  await put('endpoints/named', {
    tools: [
      { record_type: 'note', operations: ['list'], name_override: 'decide' },
      { ...TICKET, operations: ['update'], name_override: 'update_record' },
      { ...TICKET, operations: ['get', 'delete'] },
    ],
    batch: { enabled: true },
  })
  const path = '/mcp/crm/e/named'
  const tools = await listed(path)
  expect([...tools].map(([name, { _meta }]) => [name, _meta?.ui.resourceUri])).toEqual([
    ['decide', 'ui://plinth/records'],
    ['update_record', undefined],
    ['get_ticket', 'ui://plinth/records'],
    ['delete_ticket', undefined],
    ['batch', undefined],
  ])
  const [id = ''] = ids
  expect((await call('get_ticket', { id }, { path }))._meta['plinth/view'].tools).toEqual({})
  expect((await call('decide', {}, { path })).structuredContent).toHaveProperty('data')
  expect((await call('update_record', { id, n: 5 }, { path })).isError).toBeUndefined()
  await put(
    'endpoints/named',
    { tools: [{ ...TICKET, operations: ['list'], name_override: 'tickets' }] },
    200,
  )
  await put('endpoints/named', { tools: [{ ...TICKET, operations: ['list'], name_override: 'open' }] }, 200)
  const former = await call('tickets', {}, { path })
  expect(former._meta['plinth/view'].tools).toEqual({ query_records: 'tickets' })
  await put(
    'endpoints/named',
    {
      tools: [{ record_type: 'note', operations: ['list'], name_override: 'decide' }, TICKET],
      batch: { enabled: true },
    },
    200,
  )
  const planned = await call('batch', deletions(), { path })
  expect(planned.structuredContent).toHaveProperty('plan_token')
  expect(planned._meta?.['plinth/decision']).toBeUndefined()
})

test('who proposes here sees that as the endpoint shows it, and decides nothing', async () => {
  const [id = '', other = ''] = ids
  await put('records/ticket/out', { data: { team: 'b', n: 1 } })
  const all = await world.newToken([{ permission: 'write', writes: 'propose' }])
  const send = { token: all.token }
  const none = await call('proposal', {}, send)
  expect(none.isError).not.toBe(true)
  expect(none.structuredContent).toMatchObject({
    ...{ from: null, changes: [] },
    next: expect.stringContaining('proposed nothing'),
  })
  for (const [type, at, data] of [
    ['ticket', id, { n: 5, secret: 'changed canary' }],
    ['ticket', other, { team: 'b' }],
    ['ticket', 'out', { team: 'a' }],
    ['note', 'n2', {}],
    ['other', 'o1', {}],
  ] as const) {
    if (type === 'other') await put('record-types/other', {})
    succeed(
      await all.call(type === 'ticket' ? 'PATCH' : 'PUT', `/v1/crm/records/${type}/${at}`, { data }),
      type === 'ticket' ? 200 : 201,
    )
  }
  const tool = (await ask('tools/list', {}, send)).result.tools.find(({ name }: Body) => name === 'proposal')
  expect(tool).toMatchObject({
    annotations: { readOnlyHint: true },
    _meta: { ui: { resourceUri: 'ui://plinth/decide' } },
  })
  const shown = await call('proposal', {}, send)
  expect(shown.structuredContent.changes).toEqual([
    { kind: 'record', id: 'note/n2', op: 'create' },
    { kind: 'record', id: `ticket/${id}`, op: 'update' },
  ])
  const { changes, url } = shown._meta['plinth/view']
  expect(url).toBe(`${world.url}/b/crm/review`)
  expect(changes.changes[1].diff).toEqual([{ op: 'replace', path: '/data/n', before: 1, value: 5 }])
  expect(JSON.stringify(shown)).not.toMatch(/canary|plinth.decision|ticket.out|other/)
  expect(JSON.stringify(shown)).not.toContain(`ticket/${other}`)
  // Nobody else has it: who writes directly, who shows no views, and whose address has not named it.
  for (const others of [{}, { ...send, capabilities: {} }, { ...send, path: `${PATH}?tools=list_note` }]) {
    const tools = (await ask('tools/list', {}, others)).result.tools.map(({ name }: Body) => name)
    expect(tools).not.toContain('proposal')
    const { error } = await ask('tools/call', { name: 'proposal', arguments: {} }, others)
    expect(error.code).toBe(-32602)
  }
  expect(await dataOf(id)).toMatchObject({ n: 1 })
})

/** Titles of records and other resources in the lists that name them by their ids. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFault, succeed } from '../../support/answers.ts'
import { callTool } from '../../support/mcp.ts'
import type { Body, Call } from '../../support/server.ts'
import { openStream } from '../../support/sse.ts'
import { eventually } from '../../support/until.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  await define('ticket', { display: { title: 'about' }, json_schema: schemaOf('about', 'name') })
  await define('person', { json_schema: schemaOf('label', 'name') })
  await define('press', { json_schema: schemaOf('summary', 'label', 'subject') })
  await define('note', { json_schema: schemaOf('text') })
  const ends = { source_record_types: ['ticket'], target_record_types: ['*'] }
  succeed(await world.call('PUT', '/v1/crm/relationship-types/owner', ends), 201)
})
afterAll(() => world.close())

const schemaOf = (...names: string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, {}])),
})
const define = async (id: string, body: object) =>
  succeed(await world.call('PUT', `/v1/crm/record-types/${id}`, body), 201)
const put = async (path: string, data: object, request = 'any', more: object = {}) =>
  succeed(
    await world.call('PUT', `/v1/crm/records/${path}`, { data, ...more }, { 'x-request-id': request }),
    201,
  )
const read = async (path: string, call: Call = world.call): Promise<Body> =>
  succeed(await call('GET', `/v1/crm/${path}`))
const changesOf = async (request: string, more = '', call: Call = world.call) =>
  (await read(`changes?request_id=${request}&include=titles${more}`, call)).data.map(
    ({ title }: Body) => title,
  )

test('search names a record by the usual property that changes name it by', async () => {
  await put('press/x1', { summary: 'no', label: 'no', subject: 'Okapi born' }, 'usual')
  expect(await changesOf('usual')).toEqual(['Okapi born'])
  const { body } = await callTool(world, '/mcp/crm?tools=search,fetch', 'fetch', { id: 'press/x1' })
  expect(body.title).toBe('Okapi born')
})

test('changes and groups of one have the title that the type names, or the first usual property', {
  tags: 'full',
}, async () => {
  await put('ticket/t1', { about: 'Refund', name: 'no' }, 'one')
  await put('person/p1', { label: 'no', name: 'Mara' }, 'two')
  await put('note/n1', { text: 'no title' }, 'three')
  expect(await changesOf('one')).toEqual(['Refund'])
  expect(await changesOf('two')).toEqual(['Mara'])
  expect(await changesOf('three')).toEqual([null])
  const [group] = (await read('changes?group=request&request_id=one&include=titles')).data
  expect(group).toMatchObject({ count: 1, id: 't1', title: 'Refund' })
  expect((await read('changes?request_id=one')).data[0]).not.toHaveProperty('title')
  expect((await read('changes?request_id=one&include=before,titles')).data[0].title).toBe('Refund')
  const many = {
    operations: ['a', 'b'].map((id) => ({ type: 'create_record', record_type: 'note', id, data: {} })),
  }
  succeed(await world.call('POST', '/v1/crm/batch', many, { 'x-request-id': 'several' }))
  const [several] = (await read('changes?group=request&request_id=several&include=titles')).data
  expect(several).toMatchObject({ count: 2, id: null, title: null })
  const { body } = await callTool(world, '/mcp/crm', 'changes', { request_id: 'one', include: 'titles' })
  expect(body.data[0].title).toBe('Refund')
})

test('a title is the present one, at most 120 characters, and no object', { tags: 'full' }, async () => {
  await put('ticket/long', { about: '🙂'.repeat(200) }, 'long')
  await put('ticket/object', { about: { a: 1 } }, 'object')
  await put('ticket/number', { about: 12.5 }, 'number')
  expect(await changesOf('long')).toEqual(['🙂'.repeat(120)])
  expect(await changesOf('object')).toEqual([null])
  expect(await changesOf('number')).toEqual(['12.5'])
  await put('ticket/moved', { about: 'before' }, 'moved')
  succeed(await world.call('PATCH', '/v1/crm/records/ticket/moved', { data: { about: 'after' } }))
  expect(await changesOf('moved')).toEqual(['after'])
  succeed(await world.call('PATCH', '/v1/crm/records/ticket/moved', { data: { about: null } }))
  expect(await changesOf('moved'), 'no title of the past').toEqual([null])
})

test('a deleted record keeps its title in changes and in the trash', async () => {
  await put('ticket/gone', { about: 'Gone' }, 'gone')
  succeed(await world.call('DELETE', '/v1/crm/records/ticket/gone'))
  expect(await changesOf('gone')).toEqual(['Gone'])
  const trash = await read('trash?record_type=ticket&include=titles')
  expect(trash.data.map(({ id, title }: Body) => [id, title])).toEqual([['gone', 'Gone']])
  expect((await read('trash?record_type=ticket')).data[0]).not.toHaveProperty('title')
})

test('other resources have their names, and files that of their path', async () => {
  const send = { 'content-type': 'text/plain', 'x-request-id': 'file' }
  const at = '/v1/crm/file-types/document'
  succeed(await world.call('PUT', at, {}), 201)
  succeed(await world.call('PUT', '/v1/crm/files/document/a/b/plan.txt', 'text', send), 201)
  expect(await changesOf('file')).toEqual(['plan.txt'])
  succeed(
    await world.call('PUT', '/v1/crm/record-types/named', { name: 'A type' }, { 'x-request-id': 'type' }),
    201,
  )
  expect(await changesOf('type')).toEqual(['A type'])
})

test('an attachment has its file name, also once it is gone', async () => {
  await put('note/with', { text: 'x' })
  const body = { filename: 'plan.pdf', content_type: 'text/plain', content: 'text' }
  const at = '/v1/crm/records/note/with/attachments'
  const { id } = succeed(await world.call('POST', at, body, { 'x-request-id': 'attached' }), 201)
  expect(await changesOf('attached')).toEqual(['plan.pdf'])
  succeed(await world.call('DELETE', `${at}/${id}`))
  expect(await changesOf('attached')).toEqual(['plan.pdf'])
})

test('deliveries and the stream of changes have titles', { tags: 'full' }, async () => {
  const trigger = { record_types: ['person'], url: 'https://receiver.invalid/hook', enabled: true }
  succeed(await world.call('PUT', '/v1/crm/triggers/told', trigger), 201)
  const stream = await openStream(world, '/v1/crm/changes/stream?record_type=person&include=titles')
  await put('person/p9', { name: 'Nia' })
  expect((await stream.until(1))[0]?.data).toMatchObject({ id: 'p9', title: 'Nia' })
  stream.cut()
  const delivery = await eventually(async () => (await read('deliveries?of=told&include=titles')).data[0])
  expect(delivery).toMatchObject({ record_id: 'p9', title: 'Nia' })
  expect((await read('deliveries?of=told')).data[0]).not.toHaveProperty('title')
})

test('related records, claims and expansions have titles', { tags: 'full' }, async () => {
  const owner = [{ rel_type: 'owner', record_type: 'person', id: 'p2' }]
  await put('person/p2', { name: 'Jonas' })
  await put('ticket/t2', { about: 'Linked' }, 'linked', { relationships: owner })
  const related = await read('records/ticket/t2/related?include=titles&fields=id')
  expect(related.data).toMatchObject([{ record: { id: 'p2' }, title: 'Jonas' }])
  expect((await read('records/ticket/t2/related')).data[0]).not.toHaveProperty('title')
  const shown = [
    {
      relationship: expect.objectContaining({ rel_type: 'owner' }),
      record: { id: 'p2', record_type: 'person', title: 'Jonas' },
    },
  ]
  expect((await read('records/ticket/t2?expand=owner:title'))._expanded.owner).toEqual(shown)
  const filter = { field: 'id', op: 'eq', value: 't2' }
  const asked = { record_type: 'ticket', filter, expand: ['owner:title'] }
  expect((await callTool(world, '/mcp/crm', 'query_records', asked)).body.data[0]._expanded.owner).toEqual(
    shown,
  )
  for (const expand of ['owner:title.owner', 'owner,owner:title', 'owner:name', 'attachments:title'])
    expectFault(await world.call('GET', `/v1/crm/records/ticket/t2?expand=${expand}`), 'query/expand')
  succeed(await world.call('POST', '/v1/crm/records/ticket/claim', { filter }))
  expect((await read('claims?record_type=ticket&include=titles')).data[0].title).toBe('Linked')
})

test('nobody gets a title of a type that the token may not read', async () => {
  const { call } = await world.newToken([{ record_type: 'note', permission: 'read' }])
  await put('ticket/secret', { about: 'Secret' }, 'secret')
  expect(await changesOf('secret', '', call)).toEqual([])
  succeed(await world.call('PUT', '/v1/bases/other', {}), 201)
  const elsewhere = await world.call('GET', '/v1/other/changes?include=titles&kind=record')
  expect(succeed(elsewhere).data).toEqual([])
})

test('display.title must be a property, follows a rename, and ends with a drop', {
  tags: 'full',
}, async () => {
  const type = await world.newType({
    json_schema: schemaOf('head', 'body'),
    display: { title: 'head', icon: 'x' },
  })
  const at = `/v1/crm/record-types/${type}`
  for (const title of ['heads', '__proto__', 'toString', '', 7, null, ['head']])
    expectFault(
      await world.call('PUT', at, { json_schema: schemaOf('head'), display: { title } }),
      '/display/title',
    )
  const fault = expectFault(await world.call('PATCH', at, { display: { title: 'hed' } }), '/display/title')
  expect(fault).toMatchObject({ code: 'unknown_field', hint: 'head' })
  const migrate = async (step: object) =>
    succeed(await world.call('PATCH', at, { migration: [step] })).display
  expect(await migrate({ op: 'rename', field: 'data.head', to: 'data.heading' })).toEqual({
    title: 'heading',
    icon: 'x',
  })
  expect(await migrate({ op: 'drop', field: 'data.heading' })).toEqual({ icon: 'x' })
})

test('include names what there is', async () => {
  for (const path of [
    'changes?include=title',
    'changes?include=titles,',
    'trash?include=before',
    'claims?include=x',
  ])
    expectFault(await world.call('GET', `/v1/crm/${path}`), 'query/include')
})

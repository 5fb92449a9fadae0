/** `group=request&include=fields`: what the updates of a group changed. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFault, succeed, times } from '../../support/answers.ts'
import { callTool } from '../../support/mcp.ts'
import type { Body, Call } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let type: string
beforeAll(async () => {
  world = await openWorld()
  type = await world.newType()
})
afterAll(() => world.close())

const batch = async (request: string, operations: object[]) =>
  succeed(await world.call('POST', '/v1/crm/batch', { operations }, { 'x-request-id': request }))
const create = (id: string, data: object, of = type) => ({ type: 'create_record', record_type: of, id, data })
const patch = (id: string, data: object, of = type) => ({ type: 'patch_record', record_type: of, id, data })
const groupsOf = async (query: string, call: Call = world.call): Promise<Body[]> =>
  succeed(await call('GET', `/v1/crm/changes?group=request&include=fields&${query}`)).data
const fieldsOf = async (request: string, more = '') =>
  (await groupsOf(`request_id=${request}${more}`))[0]?.fields

test('counts the properties that updates changed, with the values that all share', {
  tags: 'full',
}, async () => {
  await batch('made', [
    create('a', { stage: 'open', owner: 'x', n: 1, tags: ['a'] }),
    create('b', { stage: 'open', owner: 'y', n: 1, tags: ['a'] }),
    create('c', { stage: 'new', owner: 'z', n: 1, tags: [] }),
  ])
  expect(await fieldsOf('made'), 'what is new has no former value').toEqual([])
  await batch('changed', [
    patch('a', { stage: 'solved', owner: null, tags: ['b'], 'a/b~c': true }),
    patch('b', { stage: 'solved', owner: null, tags: ['b'] }),
    patch('c', { stage: 'solved', n: 2 }),
  ])
  const field = (path: string, count: number, values: object) => ({
    record_type: type,
    path,
    count,
    ...values,
  })
  expect(await fieldsOf('changed')).toEqual([
    field('/data/stage', 3, { to: 'solved' }),
    field('/data/owner', 2, { to: null }),
    field('/data/tags', 2, { from: ['a'], to: ['b'] }),
    field('/data/a~1b~0c', 1, { from: null, to: true }),
    field('/data/n', 1, { from: 1, to: 2 }),
  ])
  const [group] = await groupsOf('request_id=changed')
  expect(group).toMatchObject({ count: 3 })
  const { body } = await callTool(world, '/mcp/crm', 'changes', {
    group: 'request',
    include: 'fields',
    request_id: 'changed',
  })
  expect(body.data[0].fields).toEqual(group?.fields)
})

test('shows null as no value, and tells it from values that differ', async () => {
  await batch('nulls', [create('n1', { v: null }), create('n2', {}), create('n3', { v: 1 })])
  await batch('set', [patch('n1', { v: 'x' }), patch('n2', { v: 'x' })])
  expect(await fieldsOf('set')).toMatchObject([{ path: '/data/v', count: 2, to: 'x' }])
  await batch('mixed', [patch('n1', { v: 7 }), patch('n3', { v: 8 })])
  const [mixed] = (await fieldsOf('mixed')) ?? []
  expect(mixed).toEqual({ record_type: type, path: '/data/v', count: 2 })
})

test('cuts long values, and compares the whole', async () => {
  const long = (end: string) => `${'🙂'.repeat(300)}${end}`
  await batch('long', [create('l1', { text: long('1') }), create('l2', { text: long('2') })])
  await batch('longer', [patch('l1', { text: long('3') }), patch('l2', { text: long('3') })])
  expect(await fieldsOf('longer')).toEqual([
    { record_type: type, path: '/data/text', count: 2, to: '🙂'.repeat(120) },
  ])
  const parts = times(50, (n) => `part ${n}`)
  await batch('lists', [create('l3', { list: ['a'], of: { a: [1] } }), create('l4', { list: parts, of: {} })])
  await batch('listed', [patch('l3', { list: parts, of: { a: [2] } })])
  expect(await fieldsOf('listed')).toEqual([
    { record_type: type, path: '/data/list', count: 1, from: ['a'], to: expect.any(String) },
    { record_type: type, path: '/data/of', count: 1, from: { a: [1] }, to: { a: [2] } },
  ])
  const [{ to }] = (await fieldsOf('listed')) as Body[]
  expect(to).toMatch(/^\["part 0", "part 1", /)
  expect(to).toHaveLength(120)
})

test('lists the eight most frequent, of each record type', async () => {
  const other = await world.newType()
  const wide = Object.fromEntries(times(12, (n) => [`p${String(n).padStart(2, '0')}`, 0]))
  await batch('wide', [create('w1', wide), create('w2', wide), create('o', { p00: 0 }, other)])
  const changed = Object.fromEntries(Object.keys(wide).map((name) => [name, 1]))
  await batch('widely', [patch('w1', changed), patch('w2', { p11: 1 }), patch('o', { p00: 1 }, other)])
  const fields = (await fieldsOf('widely')) as Body[]
  expect(fields).toHaveLength(8)
  expect(fields[0]).toMatchObject({ path: '/data/p11', count: 2, from: 0, to: 1 })
  expect(await fieldsOf('widely', `&record_type=${other}`)).toEqual([
    { record_type: other, path: '/data/p00', count: 1, from: 0, to: 1 },
  ])
})

test('shows a token the types that it may read only, and groups alone have fields', {
  tags: 'full',
}, async () => {
  const secret = await world.newType()
  await batch('both', [create('s', { v: 1 }, secret), create('t', { v: 1 })])
  await batch('both-2', [patch('s', { v: 2 }, secret), patch('t', { v: 3 })])
  const { call } = await world.newToken([{ record_type: type, permission: 'read' }])
  const [group] = await groupsOf('request_id=both-2', call)
  expect(group?.fields).toEqual([{ record_type: type, path: '/data/v', count: 1, from: 1, to: 3 }])
  expectFault(await world.call('GET', '/v1/crm/changes?include=fields'), 'query/include')
  const plain = succeed(await world.call('GET', '/v1/crm/changes?group=request&request_id=both-2')).data
  expect(plain[0]).not.toHaveProperty('fields')
  const { error } = await callTool(world, '/mcp/crm', 'changes', { include: 'fields' })
  expect(error.details[0].path).toBe('/include')
})

test('neither an external id nor a status is a property', async () => {
  const at = `/v1/crm/records/${type}/e`
  succeed(await world.call('PUT', at, { data: {}, external_id: 'one' }), 201)
  succeed(await world.call('PUT', at, { data: {}, external_id: 'two' }, { 'x-request-id': 'pair' }))
  expect(await fieldsOf('pair')).toEqual([])
  succeed(await world.call('POST', `${at}/cancel`, undefined, { 'x-request-id': 'cancelled' }))
  expect(await fieldsOf('cancelled')).toEqual([])
})

test('a page ends before it would compare more than 2,000 changes, and goes on', {
  tags: 'full',
}, async () => {
  const many = await world.newType()
  const ids = times(700, (n) => `m${n}`)
  await batch(
    'm0',
    ids.map((id) => create(id, { v: 0 }, many)),
  )
  for (const v of [1, 2, 3])
    await batch(
      `m${v}`,
      ids.map((id) => patch(id, { v }, many)),
    )
  const pages: Body[][] = []
  for (let before = ''; before !== undefined && pages.length < 9; ) {
    const { data, meta } = succeed(
      await world.call('GET', `/v1/crm/changes?group=request&include=fields&record_type=${many}${before}`),
    )
    pages.push(data)
    if (!meta.has_more) break
    before = `&before=${meta.next_before}`
  }
  const sums = pages.map((page) => page.reduce((sum, { count }) => sum + count, 0))
  expect([pages.length > 1, Math.max(...sums) <= 2000]).toEqual([true, true])
  expect(pages.flat().map(({ request_id, fields }) => [request_id, fields[0]?.count, fields[0]?.to])).toEqual(
    [...[3, 2, 1].map((v) => [`m${v}`, 700, v]), ['m0', undefined, undefined]],
  )
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, TIME } from '../../support/answers.ts'
import { link, linksOf } from '../../support/links.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let links: ReturnType<typeof linksOf>
beforeAll(async () => {
  world = await openWorld()
  links = linksOf(world)
  for (const type of ['person', 'company', 'note']) {
    succeed(await world.call('PUT', `/v1/crm/record-types/${type}`, {}), 201)
    for (const id of ['a', 'b', 'c'])
      succeed(await world.call('PUT', `/v1/crm/records/${type}/${id}`, { data: {} }), 201)
  }
})
afterAll(() => world.close())

const path = (id: string) => `/v1/crm/relationship-types/${id}`
const put = (id: string, body: object, query = '', headers = {}) =>
  world.call('PUT', `${path(id)}${query}`, body, headers)
const STARS = { type: 'object', properties: { stars: { type: 'integer' } }, required: ['stars'] }

describe('PUT, GET and PATCH of a relationship type', () => {
  test('create, return and change a type: 201, Location, ETag, every field', { tags: 'full' }, async () => {
    const body = {
      name: 'Works at',
      description: 'employment',
      data_schema: { type: 'object', properties: { z: {}, a: { type: 'integer' } } },
      source_record_types: ['person'],
      target_record_types: ['company', 'note'],
      cardinality: 'many_to_one',
      on_delete: 'cascade',
    }
    const made = await put('Works.at', body)
    expect(succeed(made, 201)).toEqual({
      id: 'Works.at',
      ...body,
      version: 1,
      created_at: expect.stringMatching(TIME),
      updated_at: made.body.created_at,
    })
    expect(made.headers.get('location')).toBe(path('Works.at'))
    expect(made.headers.get('etag')).toBe('"1"')
    const read = await world.call('GET', path('Works.at'))
    expect(succeed(read)).toEqual(made.body)
    expect(read.text).toContain('{"z":{},"a":{"type":"integer"}}')
    expect(succeed(await put('Works.at', { ...body, id: 'Works.at' }))).toEqual(made.body)
    const patched = succeed(await world.call('PATCH', path('Works.at'), { description: null }))
    expect(patched).toMatchObject({ ...body, description: null, version: 2 })
    expect(succeed(await put('Works.at', {}))).toMatchObject({
      name: 'Works.at',
      data_schema: {},
      source_record_types: ['*'],
      target_record_types: ['*'],
      cardinality: 'many_to_many',
      on_delete: 'unlink',
      version: 3,
    })
    const log = await links.logOf('relationship_type', 'Works.at')
    expect(log.map(({ operation, version }) => [operation, version])).toEqual([
      ['create', 1],
      ['update', 2],
      ['update', 3],
    ])
  })

  test('obey If-Match, If-None-Match and expected_version', { tags: 'full' }, async () => {
    expectFailure(await put('cond', {}, '', { 'if-match': '*' }), 'NOT_FOUND')
    succeed(await put('cond', {}, '', { 'if-none-match': '*' }), 201)
    expectFailure(await put('cond', {}, '', { 'if-none-match': '*' }), 'CONFLICT')
    expectFailure(await put('cond', { name: 'x', expected_version: 2 }), 'CONFLICT')
    succeed(await put('cond', { name: 'x', expected_version: 1 }))
    expectFailure(await world.call('PATCH', path('none'), { name: 'x' }), 'NOT_FOUND')
  })

  test.each<[object, string, string?]>([
    [{ cardinality: 'many_to_mony' }, '/cardinality', 'many_to_many'],
    [{ on_delete: 'explode' }, '/on_delete'],
    [{ source_record_type: ['person'] }, '/source_record_type', 'source_record_types'],
    [{ source_record_types: ['persn'] }, '/source_record_types/0', 'person'],
    [{ target_record_types: ['person', '*'] }, '/target_record_types', '["*"]'],
    [{ target_record_types: ['person', 'person'] }, '/target_record_types/1'],
    [{ target_record_types: [] }, '/target_record_types'],
    [{ data_schema: { type: 'array' } }, '/data_schema/type'],
    [{ data_schema: [] }, '/data_schema'],
    [{ id: 'other' }, '/id'],
    [{ version: 1 }, '/version'],
    [{ name: '' }, '/name'],
  ])('refuse %j at %s', async (body, at, hint) => {
    const fault = expectFault(await put('refused', body), at)
    if (hint) expect(fault.hint).toBe(hint)
    expectFailure(await world.call('GET', path('refused')), 'NOT_FOUND')
  })

  test('the list is paged, newest first; an absent base is 404', { tags: 'full' }, async () => {
    succeed(await world.call('PUT', '/v1/bases/listed', {}), 201)
    for (const id of ['a', 'b', 'c'])
      succeed(await world.call('PUT', `/v1/listed/relationship-types/${id}`, {}), 201)
    const first = succeed(await world.call('GET', '/v1/listed/relationship-types?limit=2&include_total=true'))
    expect(first.data.map(({ id }: Body) => id)).toEqual(['c', 'b'])
    expect(first.meta).toMatchObject({ has_more: true, total: 3 })
    const rest = await world.call('GET', `/v1/listed/relationship-types?cursor=${first.meta.next_cursor}`)
    expect(succeed(rest).data.map(({ id }: Body) => id)).toEqual(['a'])
    for (const at of ['/v1/absent/relationship-types', '/v1/absent/relationship-types/a'])
      expectFailure(await world.call('GET', at), 'NOT_FOUND')
    expectFailure(await world.call('PUT', '/v1/absent/relationship-types/a', {}), 'NOT_FOUND')
  })
})

describe('A change of a relationship type that existing links violate', () => {
  test('to its schema is refused with count and samples, or flags the links with on_invalid=allow', {
    tags: 'full',
  }, async () => {
    await links.newRelType('rated')
    for (const id of ['a', 'b'])
      succeed(await links.put(`r${id}`, link('rated', ['person', id], ['company', 'a'])), 201)
    const body = { data: { stars: 3 } }
    succeed(await links.put('rc', link('rated', ['person', 'c'], ['company', 'a'], body)), 201)
    const refused = await put('rated', { data_schema: STARS })
    const [fault] = expectFailure(refused, 'CONFLICT').details
    expect(fault).toMatchObject({ path: '/data_schema', code: 'relationships_invalid', count: 2 })
    expect(fault.samples.map(({ id }: Body) => id)).toEqual(['ra', 'rb'])
    expect(succeed(await links.get('ra')).valid).toBeUndefined()
    expect(succeed(await put('rated', { data_schema: STARS }, '?on_invalid=allow')).version).toBe(2)
    expect(succeed(await links.get('ra')).valid).toBe(false)
    expect(succeed(await links.get('rc')).valid).toBeUndefined()
    expectFault(await links.put('ra', link('rated', ['person', 'a'], ['company', 'a'])), '/data/stars')
    succeed(await links.put('ra', link('rated', ['person', 'a'], ['company', 'a'], body)))
    expect(succeed(await links.get('ra')).valid).toBeUndefined()
    succeed(await put('rated', {}))
    expect(succeed(await links.get('rb')).valid).toBeUndefined()
  })

  test('to its record types is refused', { tags: 'full' }, async () => {
    await links.newRelType('about')
    succeed(await links.put('ab', link('about', ['note', 'a'], ['person', 'a'])), 201)
    const narrow = { source_record_types: ['note'], target_record_types: ['company'] }
    const [fault] = expectFailure(await put('about', narrow), 'CONFLICT').details
    expect(fault).toMatchObject({ path: '/target_record_types', code: 'relationships_invalid', count: 1 })
    expect(fault.samples).toEqual([{ id: 'ab', target_record_type: 'person', target_id: 'a' }])
    succeed(await put('about', { ...narrow, target_record_types: ['company', 'person'] }))
    expectFault(await links.put('ac', link('about', ['note', 'a'], ['note', 'b'])), '/target_record_type')
  })

  test('to its cardinality is refused; an accepted cardinality applies to later links', {
    tags: 'full',
  }, async () => {
    await links.newRelType('owns')
    succeed(await links.put('o1', link('owns', ['person', 'a'], ['company', 'a'])), 201)
    succeed(await links.put('o2', link('owns', ['person', 'a'], ['company', 'b'])), 201)
    const [fault] = expectFailure(await put('owns', { cardinality: 'many_to_one' }), 'CONFLICT').details
    expect(fault).toMatchObject({ path: '/cardinality', count: 1 })
    expect(fault.samples).toEqual([
      { source_record_type: 'person', source_id: 'a', links: 2, ids: ['o1', 'o2'] },
    ])
    succeed(await put('owns', { cardinality: 'one_to_many' }))
    const second = link('owns', ['person', 'b'], ['company', 'a'])
    expectFailure(await links.put('o3', second), 'CONFLICT')
    succeed(await put('owns', { cardinality: 'many_to_many' }))
    succeed(await links.put('o3', second), 201)
  })
})

describe('DELETE of a relationship type', () => {
  test('needs confirm if it has links, and logs the deletion of each link before that of the type', {
    tags: 'full',
  }, async () => {
    await links.newRelType('used')
    succeed(await links.put('u1', link('used', ['person', 'a'], ['company', 'a'])), 201)
    const [fault] = expectFailure(await world.call('DELETE', path('used')), 'CONFLICT').details
    expect(fault).toMatchObject({ code: 'confirm_required', hint: 'confirm=used' })
    expectFailure(await world.call('DELETE', `${path('used')}?confirm=other`), 'CONFLICT')
    succeed(await links.get('u1'))
    const gone = await world.call('DELETE', `${path('used')}?confirm=used`)
    expect(succeed(gone)).toEqual({ id: 'used', deleted: true })
    expectFailure(await links.get('u1'), 'NOT_FOUND')
    const [, ended] = await links.logOf('relationship', 'u1')
    const [, typeEnded] = await links.logOf('relationship_type', 'used')
    expect(ended).toMatchObject({ operation: 'delete', version: 2 })
    expect(typeEnded).toMatchObject({ operation: 'delete', version: 2, data: { id: 'used' } })
    expect(BigInt(ended?.seq ?? 0)).toBeLessThan(BigInt(typeEnded?.seq ?? 0))
    expectFailure(await world.call('DELETE', path('used')), 'NOT_FOUND')
  })

  test('DELETE of a base deletes its relationship types and links', { tags: 'full' }, async () => {
    succeed(await world.call('PUT', '/v1/bases/doomed', {}), 201)
    succeed(await world.call('PUT', '/v1/doomed/record-types/t', {}), 201)
    succeed(await world.call('PUT', '/v1/doomed/relationship-types/r', {}), 201)
    succeed(await world.call('PUT', '/v1/doomed/records/t/a', { data: {} }), 201)
    succeed(await world.call('PUT', '/v1/doomed/relationships/l', link('r', ['t', 'a'], ['t', 'a'])), 201)
    succeed(await world.call('DELETE', '/v1/bases/doomed?confirm=doomed'))
    const left = await world.database.query(
      "SELECT FROM plinth.relationship WHERE base_id = 'doomed' UNION ALL SELECT FROM plinth.relationship_type WHERE base_id = 'doomed'",
    )
    expect(left).toEqual([])
  })
})

test('writing a relationship type needs manage on the whole base; reading needs read on a type at each end', {
  tags: 'full',
}, async () => {
  await links.newRelType('joins', {
    source_record_types: ['person', 'note'],
    target_record_types: ['company'],
  })
  await links.newRelType('open')
  const limited = await world.newToken([{ permission: 'manage', record_type: ['person', 'company'] }])
  expectFailure(await limited.call('PUT', path('joins'), {}), 'FORBIDDEN')
  expectFailure(await limited.call('DELETE', path('none')), 'FORBIDDEN')
  expect(succeed(await limited.call('GET', path('joins')))).toMatchObject({
    source_record_types: ['person'],
    target_record_types: ['company'],
  })
  const seen = succeed(await limited.call('GET', '/v1/crm/relationship-types?include_total=true&limit=1000'))
  expect(seen.meta.total).toBe(seen.data.length)
  expect(seen.data.map(({ id }: Body) => id)).toEqual(expect.arrayContaining(['joins', 'open']))
  const blind = await world.newToken([{ permission: 'read', record_type: 'person' }])
  const hidden = expectFailure(await blind.call('GET', path('joins')), 'NOT_FOUND')
  expect(hidden.details).toEqual(expectFailure(await blind.call('GET', path('none')), 'NOT_FOUND').details)
  const few = succeed(await blind.call('GET', '/v1/crm/relationship-types?include_total=true'))
  expect(few.data.map(({ id }: Body) => id)).not.toContain('joins')
  expect(few.meta.total).toBe(few.data.length)
  const stranger = await world.newToken([{ permission: 'read', base: 'listed' }])
  expectFailure(await stranger.call('GET', path('joins')), 'FORBIDDEN')
})

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectFailure, succeed, times } from '../support/answers.ts'
import { callTool } from '../support/mcp.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let type: string
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())
const list = { type: 'array', items: {} }
const SCHEMA = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    tags: list,
    address: { type: 'object', properties: { phones: list } },
  },
  additionalProperties: false,
}
beforeEach(async () => {
  type = await world.newType({ json_schema: SCHEMA })
  succeed(
    await world.call('PUT', `/v1/crm/records/${type}/a`, {
      data: { title: 'A', tags: ['x', { n: 1, m: 2 }] },
    }),
    201,
  )
})
const call = (name: string, args: Body, path = '/mcp/crm') =>
  callTool(world, path, name, args, { token: world.adminToken })
const patch = (body: object, query = '') => world.call('PATCH', `/v1/crm/records/${type}/a${query}`, body)
const held = async () => succeed(await world.call('GET', `/v1/crm/records/${type}/a`))

describe('a patch that appends and removes members of lists', () => {
  test('works on REST, update_record, update_<type> and in a batch', { tags: 'full' }, async () => {
    const rest = succeed(await patch({ data: { title: 'B' }, append: { tags: ['y'] } }))
    expect(rest).toMatchObject({
      operation: 'updated',
      data: { title: 'B', tags: ['x', { n: 1, m: 2 }, 'y'] },
    })
    const one = { record_type: type, id: 'a' }
    const generic = await call('update_record', { ...one, remove: { tags: [{ m: 2, n: 1 }] } })
    expect(generic.body.data.tags).toEqual(['x', 'y'])
    const typed = await call(`update_${type}`, {
      id: 'a',
      append: { address: { phones: ['1', '2'] } },
      remove: { tags: ['y'] },
    })
    expect(typed.body.data).toEqual({ title: 'B', tags: ['x'], address: { phones: ['1', '2'] } })
    const operation = { type: 'patch_record', record_type: type, id: 'a' }
    const { data } = succeed(
      await world.call('POST', '/v1/crm/batch', {
        operations: [
          { ...operation, append: { tags: ['z', 'x'] } },
          { ...operation, remove: { tags: ['x'] }, append: { tags: ['last'] } },
        ],
      }),
    )
    expect(data[1].record.data.tags).toEqual(['z', 'last'])
    const query = `mutation { patchRecord(base: "crm", recordType: "${type}", id: "a", append: {tags: [1]}) { data } }`
    const graphql = await world.call('POST', '/graphql', { query })
    expect(graphql.body.data.patchRecord.data.tags).toEqual(['z', 'last', 1])
    expect((await held()).version).toBe(7)
  })

  test('changes nothing where there is nothing to do, and writes nothing as a dry run', async () => {
    for (const body of [
      { remove: { tags: ['absent'], address: { phones: ['1'] } } },
      { append: { tags: [] } },
      { append: { address: {} } },
      { append: {}, remove: {} },
    ])
      expect(succeed(await patch(body))).toMatchObject({ operation: 'unchanged', version: 1 })
    const shown = succeed(await patch({ append: { tags: ['y'] } }, '?dry_run=true'))
    expect(shown).toMatchObject({ data: { tags: ['x', { n: 1, m: 2 }, 'y'] }, dry_run: true })
    expect((await held()).version).toBe(1)
  })

  test.each([
    [{ append: { tags: 'y' } }, '/append/tags', 'type'],
    [{ append: { title: ['y'] } }, '/append/title', 'not_a_list'],
    [{ remove: { title: { deep: ['y'] } } }, '/remove/title', 'not_a_list'],
    [{ remove: { tags: null } }, '/remove/tags', 'type'],
    [{ append: { constructor: ['y'] } }, '/data/constructor', 'additional_properties'],
    [{ append: ['y'] }, '/append', 'type'],
  ])('is refused as %j', async (body, path, code) => {
    const { details } = expectFailure(await patch(body), 'VALIDATION_ERROR')
    expect(details[0]).toMatchObject({ path, code })
    const typed = await call(`update_${type}`, { id: 'a', ...body })
    expect(typed.error.code).toBe('VALIDATION_ERROR')
    expect((await held()).version).toBe(1)
  })

  test('is atomic: concurrent ones lose nothing', { tags: 'full' }, async () => {
    const answers = await Promise.all(times(20, (n) => patch({ append: { tags: [n] } })))
    for (const answer of answers) succeed(answer)
    const { data } = await held()
    expect(data.tags.slice(2).toSorted((a: number, b: number) => a - b)).toEqual(times(20, (n) => n))
  })

  test('takes published names of properties, and moves aside for a property of its name', {
    tags: 'full',
  }, async () => {
    const own = await world.newType({
      json_schema: {
        type: 'object',
        properties: {
          append: list,
          größe: list,
          relationships: { type: 'string' },
          claim_id: { type: 'string' },
        },
        additionalProperties: false,
      },
    })
    succeed(await world.call('PUT', `/v1/crm/records/${own}/a`, { data: {} }), 201)
    const { body } = await world.call('GET', `/v1/crm/mcp/tools?types=${own}`)
    const tool = body.data.find(({ name }: Body) => name === `update_${own}`)
    const properties = Object.keys(tool.input_schema.properties)
    expect(properties).toEqual(expect.arrayContaining(['append', '_append', 'remove', '_claim_id']))
    const renamed = properties.find((name) => name.startsWith('gr') && name !== 'größe') ?? ''
    const written = await call(`update_${own}`, { id: 'a', append: ['mine'], _append: { [renamed]: [1] } })
    expect(written.body.data).toEqual({ append: ['mine'], größe: [1] })
    const created = await call(`create_${own}`, {
      relationships: 'own',
      _relationships: [{ rel_type: 'none', record_type: own, id: 'a' }],
    })
    expect(created.error.details[0]).toMatchObject({ path: '/_relationships/0/rel_type' })
  })
})

test('update_<type> writes under a claim_id, and not under a lost one', async () => {
  const claimed = await call('work', { action: 'claim', record_type: type })
  const [{ claim }] = claimed.body.data
  const written = await call(`update_${type}`, { id: 'a', title: 'mine', claim_id: claim.id })
  expect(written.body.data.title).toBe('mine')
  await call('work', { action: 'release', claim_id: claim.id })
  const { error } = await call(`update_${type}`, { id: 'a', title: 'late', claim_id: claim.id })
  expect(error).toMatchObject({ code: 'CONFLICT', details: [{ path: '/claim_id', code: 'claim_lost' }] })
  expect((await held()).data.title).toBe('mine')
})

test('create_<type> writes its relationships with the record, or neither', { tags: 'full' }, async () => {
  const relType = `of_${type}`
  const cardinality = { cardinality: 'one_to_many' }
  succeed(await world.call('PUT', `/v1/crm/relationship-types/${relType}`, cardinality), 201)
  const links = [{ rel_type: relType, record_type: type, id: 'a' }]
  const { body } = await call(`create_${type}`, { title: 'child', relationships: links })
  const related = await call('get_related', { record_type: type, id: body.id, fields: ['data.title'] })
  expect(related.body.data).toMatchObject([{ record: { id: 'a', data: { title: 'A' } } }])
  const second = await call(`create_${type}`, { title: 'second', relationships: JSON.stringify(links) })
  expect(second.error).toMatchObject({
    code: 'CONFLICT',
    details: [{ path: '/relationships/0/id', code: 'cardinality' }],
  })
  const bad = await call(`create_${type}`, { title: 'third', relationships: [{ rel_type: relType }] })
  expect(bad.error.details[0].path).toBe('/relationships/0/record_type')
  const { data } = succeed(await world.call('GET', `/v1/crm/records/${type}`))
  expect(data).toHaveLength(2)
})

test('a read of MCP shows the id whatever fields says; REST keeps to fields', async () => {
  const { body } = await call('query_records', { record_type: type, fields: ['data.title'] })
  expect(body.data).toEqual([{ id: 'a', data: { title: 'A' } }])
  const rest = succeed(await world.call('GET', `/v1/crm/records/${type}?fields=data.title`))
  expect(rest.data).toEqual([{ data: { title: 'A' } }])
})

test('a tool of an endpoint takes neither links nor claims, and appends to no hidden property', {
  tags: 'full',
}, async () => {
  const tools = [{ record_type: type, operations: ['create', 'update'], fields: ['data.tags'] }]
  succeed(await world.call('PUT', '/v1/crm/endpoints/narrow', { tools }), 201)
  const path = '/mcp/crm/e/narrow'
  const written = await call(`update_${type}`, { id: 'a', append: { tags: ['y'] } }, path)
  expect(written.body.data).toEqual({ tags: ['x', { n: 1, m: 2 }, 'y'] })
  for (const more of [
    { append: { title: ['t'] } },
    { remove: { address: { phones: [1] } } },
    { claim_id: 'c' },
  ])
    expect((await call(`update_${type}`, { id: 'a', ...more }, path)).error.code).toBe('VALIDATION_ERROR')
  const linked = await call(`create_${type}`, { tags: [], relationships: [] }, path)
  expect(linked.error).toMatchObject({ code: 'VALIDATION_ERROR' })
  expect((await held()).version).toBe(2)
})

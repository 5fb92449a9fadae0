import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { estimateTokens } from '../../src/mcp/budget/fit.ts'
import { callTool, rpc } from '../support/mcp.ts'
import { type Body, openServer, type TestServer } from '../support/server.ts'

let server: TestServer
let base: string
let bases = 0

beforeAll(async () => {
  server = await openServer()
})
afterAll(() => server.close())
beforeEach(async () => {
  base = `b${++bases}`
  await server.call('PUT', `/v1/bases/${base}`, {})
})

const put = async (id: string, json_schema: object = {}, more: object = {}) => {
  const made = await server.call('PUT', `/v1/${base}/record-types/${id}`, { json_schema, ...more })
  expect(made.status, made.text).toBe(201)
}
const list = async (): Promise<Body[]> => (await rpc(server, `/mcp/${base}`, 'tools/list')).body.result.tools
const names = async () => (await list()).map((tool) => tool.name as string)
const typedNames = async () => (await names()).filter((name) => /^(create|update)_(?!record$)/.test(name))
const tool = (name: string, args: Record<string, unknown> = {}) =>
  callTool(server, `/mcp/${base}`, name, args)

test('typed tools are listed after a type is created, updated as it changes, and removed with it', {
  tags: 'full',
}, async () => {
  expect(await typedNames()).toEqual([])
  await put('task', { type: 'object', properties: { a: { type: 'string' } } })
  expect(await typedNames()).toEqual(['create_task'])
  await server.call('PATCH', `/v1/${base}/record-types/task`, {
    json_schema: { properties: { a: null, b: { type: 'integer' } } },
    description: 'Work to do.',
  })
  const create = (await list()).find((each) => each.name === 'create_task')
  expect(create.inputSchema.properties).toHaveProperty('b')
  expect(create.inputSchema.properties).not.toHaveProperty('a')
  expect(create.description).toContain('Work to do.')
  await server.call('DELETE', `/v1/${base}/record-types/task`)
  expect(await typedNames()).toEqual([])
  expect((await tool('create_task', {})).rpcError).toMatchObject({ code: -32602 })
})

test('the tool of a type can be called as soon as the type exists, also after a call that found none', {
  tags: 'full',
}, async () => {
  await put('task')
  expect((await tool('create_note', { title: 'x' })).rpcError).toMatchObject({ code: -32602 })
  await put('note')
  const note = await tool('create_note', { title: 'x' })
  expect(note.error ?? note.rpcError).toBeUndefined()
  expect(await typedNames()).toEqual(['create_note', 'create_task'])
  await put('plan')
  const plan = await tool('create_plan', { title: 'x' })
  expect(plan.error ?? plan.rpcError).toBeUndefined()
})

test('a base created again with the id of a deleted base has no typed tools', { tags: 'full' }, async () => {
  await put('task')
  expect(await typedNames()).toHaveLength(1)
  await server.call('DELETE', `/v1/bases/${base}`)
  await server.call('PUT', `/v1/bases/${base}`, {})
  expect(await typedNames()).toEqual([])
  expect((await tool('create_task', {})).rpcError).toMatchObject({ code: -32602 })
})

test('typed tools are sorted by type id, independent of creation order', { tags: 'full' }, async () => {
  for (const id of ['zebra', 'apple', 'Mango', 'mango.2']) await put(id)
  const order = await typedNames()
  expect(order).toEqual([...order])
  expect(order.filter((name) => name.startsWith('create_'))).toEqual([
    'create_Mango',
    'create_apple',
    'create_mango_2',
    'create_zebra',
  ])
  for (let i = 0; i < 3; i++) expect(await typedNames()).toEqual(order)
})

test('when tool names of two types collide, the newer gets a suffix and keeps it', {
  tags: 'full',
}, async () => {
  await put('a.b')
  await put('a_b')
  const creates = (await typedNames()).filter((name) => name.startsWith('create_'))
  expect(creates).toHaveLength(2)
  const [second] = creates.filter((name) => name !== 'create_a_b')
  expect(second).toMatch(/^create_a_b_[0-9a-f]+$/)
  expect((await tool('create_a_b', { of: 'first' })).body.record_type).toBe('a.b')
  expect((await tool(String(second), { of: 'second' })).body.record_type).toBe('a_b')
  await server.call('DELETE', `/v1/${base}/record-types/a.b?confirm=a.b`)
  expect((await typedNames()).filter((name) => name.startsWith('create_'))).toEqual([second])
  expect((await tool(String(second), { of: 'second' })).body.record_type).toBe('a_b')
  expect((await tool('create_a_b', { of: 'nobody' })).rpcError).toMatchObject({ code: -32602 })
})

test('types named like generic tools do not replace these tools', { tags: 'full' }, async () => {
  for (const id of ['record', 'records', 'base', 'type', 'record_type', 'batch']) await put(id)
  const all = await names()
  expect(new Set(all).size).toBe(all.length)
  const { body } = await tool('update_record', { record_type: 'record', id: 'x', data: {} })
  expect(body).toBeUndefined()
  const made = await tool('upsert_record', { record_type: 'record', id: 'x', data: { of: 'generic' } })
  expect(made.body).toMatchObject({ id: 'x', record_type: 'record' })
  const own = all.find((name) => /^create_record_[0-9a-f]/.test(name))
  expect((await tool(String(own), { of: 'typed' })).body).toMatchObject({ record_type: 'record' })
})

test('a type id of 64 characters has tool names of at most 64 portable characters', async () => {
  const long = `${'Long.name-'.repeat(6)}1234`
  await put(long)
  const made = await typedNames()
  for (const name of made) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
  const create = made.find((name) => name.startsWith('create_'))
  expect((await tool(String(create), {})).body.record_type).toBe(long)
})

test('all typed tools or none are listed; unlisted tools can be called', { tags: 'full' }, async () => {
  await Promise.all(Array.from({ length: 15 }, (_, i) => put(`type${i}`)))
  expect(await typedNames()).toHaveLength(15)
  await Promise.all(Array.from({ length: 80 }, (_, i) => put(`more${i}`)))
  expect(await typedNames()).toEqual([])
  expect((await tool('create_more9', { n: 1 })).body).toMatchObject({ record_type: 'more9', data: { n: 1 } })
  const { body } = await tool('create_type3', {})
  expect((await tool('update_type3', { id: body.id, n: 2 })).body.data).toEqual({ n: 2 })
  const near = await tool('create_tipe3', {})
  expect(near.rpcError.message).toContain('create_type3')
  for (let i = 0; i < 80; i++)
    await server.call('DELETE', `/v1/${base}/record-types/more${i}?confirm=more${i}`)
  expect(await typedNames()).toHaveLength(15)
})

test('no typed tools are listed when all of them exceed the token budget', { tags: 'full' }, async () => {
  const wide = (count: number) => ({
    type: 'object',
    properties: Object.fromEntries(
      Array.from({ length: count }, (_, i) => [
        `p${i}`,
        { type: 'string', description: `The property ${i}.` },
      ]),
    ),
  })
  await put('small', wide(3))
  await put('large', wide(60))
  const typed = (await list()).filter((each) => /_(small|large)$/.test(each.name))
  expect(typed).toHaveLength(2)
  expect(estimateTokens(typed)).toBeLessThanOrEqual(8000)
  await put('larger', wide(500))
  expect(await typedNames()).toEqual([])
  expect((await tool('create_larger', { p199: 'x' })).body.data).toEqual({ p199: 'x' })
})

test('a type of 5,000 properties has a typed tool that accepts all of them', { tags: 'full' }, async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 5000 }, (_, i) => [`p${i}`, { type: i % 2 ? 'integer' : 'string' }]),
  )
  await put('huge', { type: 'object', properties, additionalProperties: false })
  expect(await typedNames()).toEqual([])
  const made = await tool('create_huge', { p0: 'a', p4999: 5 })
  expect(made.body.data).toEqual({ p0: 'a', p4999: 5 })
  const wrong = await tool('create_huge', { p4999: 'no', p5000: 1 })
  expect(wrong.error.details.map((detail: Body) => detail.path).sort()).toEqual(['/p4999', '/p5000'])
})

test('published names are mapped to the original names in data and in errors', async () => {
  await put('names', {
    type: 'object',
    properties: { 'größe in cm': { type: 'number' }, 'a b': {}, a_b: {} },
    required: ['größe in cm'],
  })
  const create = (await list()).find((each) => each.name === 'create_names')
  const publishedNames = Object.keys(create.inputSchema.properties)
  const height = publishedNames.find((name) => /^gr/.test(name)) ?? ''
  expect(create.inputSchema.required).toEqual([height])
  const made = await tool('create_names', { [height]: 4.5, a_b: 1 })
  expect(made.body.data).toEqual({ 'größe in cm': 4.5, a_b: 1 })
  const wrong = await tool('create_names', { [height]: 'tall' })
  expect(wrong.error.details).toMatchObject([{ path: `/${height}` }])
  const missing = await tool('create_names', {})
  expect(missing.error.details).toMatchObject([{ path: `/${height}`, code: 'required' }])
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { callTool, rpc } from '../support/mcp.ts'
import { type Body, openServer, type TestServer } from '../support/server.ts'

let server: TestServer
const text = { type: 'string' }

beforeAll(async () => {
  server = await openServer()
  succeed(await server.call('PUT', '/v1/bases/crm', {}), 201)
  const types = {
    task: {
      properties: { title: text, note: text, 名前: text },
      required: ['title'],
      additionalProperties: false,
    },
    open: { properties: { clear: text, note: text } },
  }
  for (const [id, schema] of Object.entries(types)) {
    const json_schema = { type: 'object', ...schema }
    succeed(await server.call('PUT', `/v1/crm/record-types/${id}`, { json_schema }), 201)
  }
})
afterAll(() => server.close())

const tool = (name: string, args: Body) => callTool(server, '/mcp/crm', name, args)
const newTask = async (data: Body): Promise<string> =>
  succeed(await server.call('POST', '/v1/crm/records/task', { data: { title: 't', ...data } }), 201).id
const schemaOf = async (name: string): Promise<Body> => {
  const { body } = await rpc(server, `/mcp/crm?tools=${name}`, 'tools/list')
  return body.result.tools[0].inputSchema.properties
}

test('clear empties properties, in update_<type> and in update_record, as null does', async () => {
  const [one, two, three] = [
    await newTask({ note: 'x' }),
    await newTask({ note: 'x' }),
    await newTask({ note: 'x' }),
  ]
  const typed = await tool('update_task', { id: one, title: 'new', clear: ['note'] })
  expect([typed.error, typed.rpcError]).toEqual([undefined, undefined])
  expect(typed.body.data).toEqual({ title: 'new' })
  const generic = await tool('update_record', { record_type: 'task', id: two, clear: ['note'] })
  expect(generic.body.data).toEqual({ title: 't' })
  const nulled = await tool('update_task', { id: three, note: null })
  expect(nulled.body.data).toEqual({ title: 't' })
})

test('clear takes the published name of a property, whose description begins with its own name', async () => {
  const properties = await schemaOf('update_task')
  const [published = ''] =
    Object.entries<Body>(properties).find(([, { description }]) => /^名前/.test(description)) ?? []
  expect(published).toMatch(/^[A-Za-z0-9_.-]+$/)
  const id = await newTask({ 名前: 'x' })
  expect((await tool('update_task', { id, clear: [published] })).body.data).toEqual({ title: 't' })
})

test('a property of the name clear keeps its name, and the option has a prefix', async () => {
  const { id } = succeed(
    await server.call('POST', '/v1/crm/records/open', { data: { clear: 'c', note: 'n' } }),
    201,
  )
  const { body } = await tool('update_open', { id, clear: 'mine', _clear: ['note'] })
  expect(body.data).toEqual({ clear: 'mine' })
})

test.each<[Body, string, string]>([
  [{ clear: ['titel'] }, '/clear/0', 'unknown_key'],
  [{ clear: ['title'] }, '/title', 'required'],
  [{ clear: ['note'], note: 'x' }, '/clear/0', 'exclusive'],
  [{ clear: 'note' }, '/clear', 'type'],
])('update_task with %j is refused at %s', async (args, path, code) => {
  const id = await newTask({ note: 'kept' })
  const { error } = await tool('update_task', { id, ...args })
  expect(error, JSON.stringify(error)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path, code }] })
  expect(succeed(await server.call('GET', `/v1/crm/records/task/${id}`)).data.note).toBe('kept')
})

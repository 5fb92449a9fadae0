import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { callTool, rpc } from '../support/mcp.ts'
import { type Body, openServer, type TestServer } from '../support/server.ts'

let server: TestServer

beforeAll(async () => {
  server = await openServer()
  succeed(await server.call('PUT', '/v1/bases/crm', {}), 201)
  const json_schema = {
    type: 'object',
    properties: {
      any: {},
      scalar: { type: ['string', 'integer', 'null'] },
      object_or_number: { type: ['object', 'number'] },
      list_or_text: { type: ['array', 'string'] },
      text: { type: 'string' },
    },
  }
  succeed(await server.call('PUT', '/v1/crm/record-types/mixed', { json_schema }), 201)
})
afterAll(() => server.close())

const stored = async (args: Body): Promise<Body> => {
  const { body } = await callTool(server, '/mcp/crm', 'create_mixed', args)
  return succeed(await server.call('GET', `/v1/crm/records/mixed/${body.id}`)).data
}

test('a property of several scalar types is an anyOf, and one that takes objects too has only words', async () => {
  const { body } = await rpc(server, '/mcp/crm?tools=create_mixed,update_mixed', 'tools/list')
  for (const { inputSchema } of body.result.tools)
    expect(inputSchema.properties).toMatchObject({
      any: { description: 'Any JSON value.' },
      scalar: { anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] },
      object_or_number: { description: 'A number or an object.' },
      list_or_text: { description: 'A string or an array.' },
      text: { type: 'string' },
    })
  for (const name of ['any', 'object_or_number', 'list_or_text'])
    expect(body.result.tools[0].inputSchema.properties[name]).not.toHaveProperty('type')
})

test('JSON text is decoded where the property takes its kind, and is text everywhere else', async () => {
  const sent = {
    any: '{"z":1}',
    scalar: '{"z":1}',
    object_or_number: '{"z":[2]}',
    list_or_text: '["a"]',
    text: '["a"]',
  }
  expect(await stored(sent)).toEqual({
    ...sent,
    any: { z: 1 },
    object_or_number: { z: [2] },
    list_or_text: ['a'],
  })
})

test('text that is no JSON of a kind that the property takes stays text', async () => {
  const sent = { any: '{z:1}', list_or_text: '{"z":1}', scalar: 3 }
  expect(await stored(sent)).toEqual(sent)
})

test('the items of relationships are typed and closed, and calls may send what REST takes besides', async () => {
  const ends = { source_record_types: ['mixed'], target_record_types: ['mixed'] }
  succeed(await server.call('PUT', '/v1/crm/relationship-types/of', ends), 201)
  succeed(
    await server.call('PUT', '/v1/crm/records/mixed/m1', {
      data: {},
      external_id: 'x',
      external_source: 's',
    }),
    201,
  )
  const { body } = await rpc(server, '/mcp/crm?tools=create_mixed', 'tools/list')
  const text = { type: 'string' }
  expect(body.result.tools[0].inputSchema.properties.relationships.items).toEqual({
    type: 'object',
    properties: { rel_type: text, record_type: text, id: text },
    required: ['rel_type', 'record_type', 'id'],
    additionalProperties: false,
  })
  const to = { rel_type: 'of', record_type: 'mixed' }
  const relationships = [
    { ...to, id: 'm1' },
    { ...to, external_id: 'x', external_source: 's', direction: 'incoming' },
  ]
  const made = await callTool(server, '/mcp/crm', 'create_mixed', { text: 'a', relationships })
  expect(made.body).toMatchObject({ data: { text: 'a' } })
  const related = await server.call('GET', `/v1/crm/records/mixed/${made.body.id}/related?direction=both`)
  expect(succeed(related).data).toHaveLength(1)
  const links = succeed(await server.call('GET', '/v1/crm/relationships')).data
  expect(links).toHaveLength(2)
  const unknown = await callTool(server, '/mcp/crm', 'create_mixed', {
    relationships: [{ ...to, id: 'm1', role: 'x' }],
  })
  expect(unknown.text).toContain('/relationships/0/role')
})

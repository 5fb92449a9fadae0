import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect } from '../support/mcp.ts'
import { type Body, openServer, type TestServer } from '../support/server.ts'
import { tokensOfTools } from '../support/tokens.ts'
import { lintTools } from '../support/tool-lint.ts'

let server: TestServer

beforeAll(async () => {
  server = await openServer()
  await server.call('PUT', '/v1/bases/plain', {})
})
afterAll(() => server.close())

async function toolsAt(path: string): Promise<Body[]> {
  const client = await connect(server.url, server.adminToken, 'v1', path)
  const { tools } = await client.listTools()
  await client.close()
  return tools
}

test.each([
  ['/mcp/plain', 3000],
  ['/mcp', 3900],
])('the tools of %s are portable and have at most %i tokens', async (path, budget) => {
  const tools = await toolsAt(path)
  expect(lintTools(tools)).toEqual([])
  expect(tokensOfTools(tools)).toBeLessThanOrEqual(budget)
  expect(new Set(tools.map((tool) => tool.name)).size).toBe(tools.length)
})

const READS = /^(list|describe|query|get|aggregate|sql)_|^record_history$/

test('the annotations and inputs of a tool agree with its name', async () => {
  for (const { name, annotations, outputSchema, inputSchema } of await toolsAt('/mcp')) {
    expect(annotations.readOnlyHint, name).toBe(READS.test(name))
    expect(annotations.destructiveHint, name).toBe(READS.test(name) ? undefined : true)
    expect(annotations.openWorldHint, name).toBe(false)
    expect(annotations.title, name).toMatch(/^[A-Z]/)
    expect(outputSchema.type, name).toBe('object')
    expect(inputSchema.additionalProperties, name).toBe(false)
    expect('dry_run' in inputSchema.properties, name).toBe(!annotations.readOnlyHint)
    expect('idempotency_key' in inputSchema.properties, name).toBe(!annotations.readOnlyHint)
  }
})

/** Valid schemas that clients fail on when they are published unchanged. */
const NASTY: Record<string, object> = {
  choice: {
    type: 'object',
    oneOf: [{ properties: { a: { const: 1 } }, required: ['a'] }, { properties: { b: {} } }],
  },
  recursive: {
    type: 'object',
    $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' }, v: true } } },
    properties: { root: { $ref: '#/$defs/node' } },
  },
  names: {
    type: 'object',
    properties: {
      'größe in cm': { type: 'number' },
      'a/b': { type: 'string' },
      'a~b': {},
      '': {},
      'a b': {},
      a_b: {},
    },
    required: ['größe in cm'],
  },
  objects: {
    type: 'object',
    properties: { toString: { type: 'string' }, constructor: {}, hasOwnProperty: { type: 'integer' } },
  },
  unions: {
    type: 'object',
    properties: {
      x: { type: ['string', 'null', 'integer'] },
      y: { anyOf: [{ type: 'array' }, { enum: [1, null] }] },
    },
  },
  tuple: {
    type: 'object',
    properties: {
      t: { type: 'array', prefixItems: [{ type: 'string' }, {}], items: false },
      l: { type: 'array' },
    },
  },
  conditional: {
    type: 'object',
    if: { required: ['a'] },
    // biome-ignore lint/suspicious/noThenProperty: the keyword's name.
    then: { required: ['b'] },
    dependentRequired: { c: ['d'] },
    not: { required: ['z'] },
  },
  patterns: {
    type: 'object',
    patternProperties: { '^x-': { type: 'string' } },
    propertyNames: { maxLength: 20 },
    additionalProperties: { type: 'number' },
  },
  draft7: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    definitions: { s: { type: 'string' } },
    properties: { a: { $ref: '#/definitions/s' } },
  },
  hidden: {
    type: 'object',
    description: 'Be\u202egood\u0007',
    properties: { a: { type: 'string', description: 'x\u200by\u{e0041}' } },
  },
  deep: Array.from({ length: 20 }).reduce<object>(
    (inner) => ({ type: 'object', properties: { in: inner } }),
    { type: 'object' },
  ),
  reserved: {
    type: 'object',
    properties: {
      id: {},
      _id: {},
      external_id: { type: 'integer' },
      idempotency_key: {},
      dry_run: { type: 'string' },
      expected_version: {},
    },
  },
  empty: {},
  never: { type: 'object', properties: { a: false, b: true }, required: ['b'] },
}

test('the typed tools of schemas with every kind of keyword are portable', async () => {
  const all = Object.entries(NASTY)
  // Divided over two bases, as clients take at most 128 tools.
  for (const [base, part] of [
    ['nasty1', all.slice(0, 7)],
    ['nasty2', all.slice(7)],
  ] as const) {
    await server.call('PUT', `/v1/bases/${base}`, {})
    for (const [id, schema] of part) {
      const type = {
        json_schema: schema,
        name: `The\u202e ${id} \u0007<b>`,
        description: `About\u200b ${id}.`,
      }
      expect((await server.call('PUT', `/v1/${base}/record-types/${id}`, type)).status, id).toBe(201)
    }
    const tools = await toolsAt(`/mcp/${base}?types=${part.map(([id]) => id).join(',')}`)
    expect(tools.filter((each) => /^(create|update)_/.test(each.name))).toHaveLength(part.length * 2 + 1)
    expect(lintTools(tools)).toEqual([])
  }
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect } from '../support/mcp.ts'
import { NASTY_SCHEMAS } from '../support/nasty-schemas.ts'
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

const READS = /^(list|describe|query|get|aggregate)_|^(sql_query|record_history|changes)$/

test('the annotations and inputs of a tool agree with its name', async () => {
  for (const { name, annotations, outputSchema, inputSchema } of await toolsAt('/mcp')) {
    expect(annotations.readOnlyHint, name).toBe(READS.test(name))
    expect(annotations.destructiveHint, name).toBe(READS.test(name) ? undefined : true)
    expect(annotations.openWorldHint, name).toBe(false)
    expect(annotations.title, name).toMatch(/^[A-Z]/)
    expect(outputSchema.type, name).toBe('object')
    expect(inputSchema.additionalProperties, name).toBe(false)
    // `work` takes it too. The lean list has no room for it.
    if (name !== 'work') expect('dry_run' in inputSchema.properties, name).toBe(!annotations.readOnlyHint)
    expect('idempotency_key' in inputSchema.properties, name).toBe(!annotations.readOnlyHint)
  }
})

test('the typed tools of schemas with every kind of keyword are portable', { tags: 'full' }, async () => {
  const all = Object.entries(NASTY_SCHEMAS)
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

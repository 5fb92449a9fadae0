import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CRM_TYPES, createCrm } from '../support/crm.ts'
import { callTool, rpc } from '../support/mcp.ts'
import { type Body, openServer, type TestServer } from '../support/server.ts'
import { tokensOfTools } from '../support/tokens.ts'
import { lintTools } from '../support/tool-lint.ts'

let server: TestServer

beforeAll(async () => {
  server = await openServer()
  await createCrm(server, 'crm')
  await createCrm(server, 'wide', 60)
})
afterAll(() => server.close())

const list = async (path: string): Promise<Body[]> => {
  const { body } = await rpc(server, path, 'tools/list')
  return body.result.tools
}
const namesOf = (tools: Body[]): string[] => tools.map((tool) => tool.name)
const typed = (names: string[]) => names.filter((name) => /^(create|update)_(?!record$)/.test(name))

describe('the default list', () => {
  test('of five types has the generic tools and create_<type>, in under 3,900 tokens', {
    tags: 'full',
  }, async () => {
    const tools = await list('/mcp/crm')
    expect(typed(namesOf(tools))).toEqual(
      Object.keys(CRM_TYPES)
        .sort()
        .map((id) => `create_${id}`),
    )
    expect(tokensOfTools(tools)).toBeLessThan(3900)
    expect(lintTools(tools)).toEqual([])
  })

  test('has generic tools of at most 3,000 tokens, and of 3,900 with the administration on /mcp', {
    tags: 'full',
  }, async () => {
    expect(tokensOfTools(await list('/mcp/wide'))).toBeLessThanOrEqual(3000)
    expect(tokensOfTools(await list('/mcp'))).toBeLessThanOrEqual(3900)
  })

  test('has no create_<type> when they exceed the limit, and they stay callable', {
    tags: 'full',
  }, async () => {
    expect(typed(namesOf(await list('/mcp/wide')))).toEqual([])
    const call = { name: 'create_task', arguments: { title: 'x' } }
    const { body } = await rpc(server, '/mcp/wide', 'tools/call', call)
    expect(body.result.structuredContent).toMatchObject({ record_type: 'task', data: { title: 'x' } })
  })
})

describe('?profile=lean', () => {
  const LEAN = ['sql_query', 'sql_write', 'define', 'undo', 'work', 'search']

  test('lists at most six tools, in at most 880 tokens, whatever the types', async () => {
    for (const base of ['crm', 'wide']) {
      const tools = await list(`/mcp/${base}?profile=lean`)
      expect(LEAN).toEqual(expect.arrayContaining(namesOf(tools)))
      expect(namesOf(tools)).toEqual(expect.arrayContaining(['sql_query', 'work', 'search']))
      expect(tokensOfTools(tools)).toBeLessThanOrEqual(880)
    }
  })

  test('lists the bases too on /mcp', async () => {
    const names = namesOf(await list('/mcp?profile=lean'))
    expect(names).toEqual(expect.arrayContaining(['list_bases', 'sql_query', 'work']))
    expect([...LEAN, 'list_bases']).toEqual(expect.arrayContaining(names))
  })

  test('lists only what the token may use, and takes ?types= and ?readonly=', async () => {
    const names = namesOf(await list('/mcp/crm?profile=lean&readonly=1&types=deal'))
    expect(names).toEqual(['sql_query', 'work', 'search'])
  })

  test('hides no tool from calls', async () => {
    const call = { name: 'query_records', arguments: { record_type: 'deal' } }
    const { body } = await rpc(server, '/mcp/crm?profile=lean', 'tools/call', call)
    expect(body.result.isError).toBeUndefined()
  })

  test('an error about the arguments of a tool that is not listed shows them', async () => {
    const at = '/mcp/crm?profile=lean'
    const faults = async (name: string, args: object, path = at) =>
      (await callTool(server, path, name, { ...args })).error.details
    const [own, usage] = await faults('batch', {})
    expect(own.path).toBe('/operations')
    expect(usage).toMatchObject({ code: 'usage', message: expect.stringMatching(/^batch: .*upsert_record/s) })
    const cancel = await faults('cancel_record', {})
    expect(cancel.at(-1).message).toContain('"record_type":{"type":"string"}')
    // Neither inside an argument, nor of a tool that the client has seen.
    const inside = await faults('batch', { operations: [{ type: 'upsert' }] })
    for (const details of [inside, await faults('sql_query', {}), await faults('batch', {}, '/mcp/crm')])
      expect(JSON.stringify(details)).not.toContain('usage')
  })

  test.each([
    ['profile=leen', 'enum', 'query/profile'],
    ['profile=lean&tools=sql_query', 'exclusive', 'query/profile'],
    ['profil=lean', 'unknown_key', 'query/profil'],
  ])('?%s is refused with %s', async (query, code, path) => {
    const { status, body } = await rpc(server, `/mcp/crm?${query}`, 'tools/list')
    expect(status).toBe(400)
    expect(body.error.data.error.details).toMatchObject([{ path, code }])
  })

  test('is unknown at an endpoint, whose author chooses the tools', async () => {
    const made = { tools: [{ record_type: 'deal', operations: ['list'] }] }
    await server.call('PUT', '/v1/crm/endpoints/desk', made)
    const { status, body } = await rpc(server, '/mcp/crm/e/desk?profile=lean', 'tools/list')
    expect(status).toBe(400)
    expect(body.error.data.error.details[0].allowed).toEqual(['types', 'readonly', 'tools'])
  })
})

describe('an address that names types or tools', () => {
  test('lists create_<type> and update_<type> of the types, whatever they cost', {
    tags: 'full',
  }, async () => {
    const ids = Array.from({ length: 55 }, (_, i) => `${Object.keys(CRM_TYPES)[i % 5]}_${i + 5}`)
    const names = typed(namesOf(await list(`/mcp/wide?types=${ids.join(',')}`)))
    expect(names).toHaveLength(2 * ids.length)
    expect(names).toEqual(expect.arrayContaining(ids.map((id) => `update_${id}`)))
  })

  test('lists the named tools and no others', async () => {
    const named = ['query_records', 'create_deal', 'update_ticket']
    expect(namesOf(await list(`/mcp/wide?tools=${named.join(',')}`))).toEqual(named)
  })

  test('lists the last of very large tools without the properties of their types', {
    tags: 'full',
  }, async () => {
    const big = Object.fromEntries(
      Array.from({ length: 300 }, (_, i) => [`field_${i}`, { type: 'string', description: 'x'.repeat(240) }]),
    )
    const ids = Array.from({ length: 6 }, (_, i) => `big${i}`)
    await server.call('PUT', '/v1/bases/big', {})
    for (const id of ids)
      await server.call('PUT', `/v1/big/record-types/${id}`, {
        json_schema: { type: 'object', properties: big, additionalProperties: false },
      })
    const tools = await list(`/mcp/big?types=${ids.join(',')}`)
    expect(typed(namesOf(tools))).toHaveLength(12)
    const [first, last] = [tools.find(({ name }) => name === 'create_big0'), tools.at(-1)]
    expect(first?.inputSchema.properties).toHaveProperty('field_9')
    expect(last).toMatchObject({ name: 'update_big5', inputSchema: { required: ['id'] } })
    expect(last?.inputSchema.properties).not.toHaveProperty('field_9')
    expect(last?.description).toContain('describe_type')
    expect(lintTools(tools)).toEqual([])
    const made = { name: 'create_big5', arguments: { field_9: 'x' } }
    const { body } = await rpc(server, '/mcp/big', 'tools/call', made)
    expect(body.result.structuredContent.data).toEqual({ field_9: 'x' })
  })
})

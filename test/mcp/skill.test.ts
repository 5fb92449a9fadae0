/** The skill: what it says works as it is written, and clients of both eras find it. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { callTool, connect, DIALECTS, rpc } from '../support/mcp.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

const TEXT = readFileSync('skills/plinth/SKILL.md', 'utf8')
const URI = 'skill://plinth/SKILL.md'
const modern = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}

let world: World
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/crm/endpoints/desk', { tools: [] }), 201)
})
afterAll(() => world.close())

test('it has 900 words at most, and names tools that exist', async () => {
  expect(TEXT.split(/\s+/).filter(Boolean).length).toBeLessThanOrEqual(900)
  const all = Object.values<Body[]>(JSON.parse(readFileSync('schema/tools.json', 'utf8'))).flat()
  const names = new Set(all.map(({ name }) => name))
  const said = [...TEXT.matchAll(/^```json\n\{ "name": "(\w+)"/gm)].map(([, name = '']) => name)
  expect(said.length).toBeGreaterThan(6)
  expect(said.filter((name) => !names.has(name))).toEqual([])
})

test('each call that it prints succeeds, in its order', { tags: 'full' }, async () => {
  const base = 'shop'
  succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
  const { token } = await world.newToken([{ base, permission: 'manage' }])
  const proposing = await world.newToken([{ base, permission: 'write', writes: 'propose' }])
  const answers = new Map<string, Body>()
  for (const [, call = ''] of TEXT.matchAll(/```json\n([\s\S]*?)\n```/g)) {
    const { name, arguments: args } = JSON.parse(call)
    if (name === 'propose')
      args.from = succeed(
        await proposing.call('PUT', `/v1/${base}/records/customer/cy`, { data: { name: 'Cy' } }),
        201,
      ).change_set
    const send = { token: name === 'propose' ? proposing.token : token }
    const { error, rpcError, body } = await callTool(world, `/mcp/${base}`, name, args, send)
    expect([name, error ?? rpcError]).toEqual([name, undefined])
    answers.set(name, body)
  }
  expect(answers.get('sql_query').data).toEqual([{ name: 'Ada', open: 1 }])
  expect(answers.get('query_records').data).toMatchObject([{ id: 't1', data: { urgency: 3 } }])
  expect(answers.get('work').data).toMatchObject([{ record: { id: 't1' } }])
  expect(answers.get('propose')).toMatchObject({ review_request: { state: 'open' } })
})

test.each(DIALECTS)('a %s client lists and reads it as a resource', async (dialect) => {
  const client = await connect(world.url, world.adminToken, dialect, '/mcp/crm')
  const [first] = (await client.listResources()).resources
  expect(first).toMatchObject({ uri: URI, name: 'plinth', mimeType: 'text/markdown' })
  expect((await client.readResource({ uri: URI })).contents).toMatchObject([{ uri: URI, text: TEXT }])
  await client.close()
})

test.each([
  ['legacy', {}, {}],
  ['modern', modern, { 'mcp-protocol-version': '2026-07-28' }],
] as const)('the %s era has the extension of skills', async (_, meta, headers) => {
  const ask = (method: string, params: object = {}, path = '/mcp/crm') =>
    rpc(world, path, method, { ...params, _meta: meta }, { headers: { ...headers, 'mcp-method': method } })
  const { skills } = (await ask('skills/list')).body.result
  const digest = `sha256:${createHash('sha256').update(TEXT).digest('hex')}`
  expect(skills).toMatchObject([
    {
      uri: URI,
      frontmatter: { name: 'plinth' },
      resources: [{ uri: URI, digest, size: Buffer.byteLength(TEXT) }],
    },
  ])
  const [entry] = skills
  expect(entry.frontmatter.description.length).toBeLessThanOrEqual(1024)
  expect((await ask('skills/get', { uri: URI })).body.result.skill).toEqual(entry)
  expect((await ask('skills/get', { uri: 'skill://other/SKILL.md' })).body.error.code).toBeLessThan(-32000)
  expect((await ask('skills/get')).body.error.code).toBe(-32602)
  expect((await ask('skills/list', {}, '/mcp/crm/e/desk')).body.result.skills).toEqual([])
})

test('GET /skill returns it without a token', async () => {
  const { status, headers, text } = await world.as(null)('GET', '/skill')
  expect([status, headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8'])
  expect(text).toBe(TEXT)
})

// @module-tag frameworks
/** Agent frameworks accept every tool definition, and their calls arrive as they were sent. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { rpc } from '../support/mcp.ts'
import { NASTY_SCHEMAS } from '../support/nasty-schemas.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

const RUN = join(import.meta.dirname, 'run-framework.mjs')
const AT = `/mcp/nasty?types=${Object.keys(NASTY_SCHEMAS).join(',')}`

let world: World
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/bases/nasty', {}), 201)
  for (const [id, json_schema] of Object.entries(NASTY_SCHEMAS))
    succeed(await world.call('PUT', `/v1/nasty/record-types/${id}`, { json_schema }), 201)
})
afterAll(() => world.close())

const run = promisify(execFile)
type Played = { tools: string[]; strict: string[]; answers: string[] }
async function play(framework: string, calls: object[], at = AT): Promise<Played> {
  const args = [RUN, framework, `${world.url}${at}`, world.adminToken, JSON.stringify(calls)]
  const { stdout } = await run(process.execPath, args, { maxBuffer: 2 ** 24, timeout: 600_000 })
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
}

/** The record of a type with an external id. */
async function storedAs(type: string, externalId: string): Promise<unknown> {
  const filter = encodeURIComponent(JSON.stringify({ field: 'external_id', op: 'eq', value: externalId }))
  const { data } = succeed(await world.call('GET', `/v1/nasty/records/${type}?filter=${filter}`))
  return data[0]?.data
}
const FRAMEWORKS = ['langchain', 'google-genai', 'openai-agents', 'openai-agents-strict', 'mastra', 'genkit']

test.each(FRAMEWORKS)('%s converts all tools, and creates, updates and clears', async (framework) => {
  const id = `of-${framework}`
  const at = `/v1/nasty/records/enums/${id}`
  succeed(await world.call('PUT', at, { data: { amount: 3, choice: 'a' } }), 201)
  const { tools, answers } = await play(framework, [
    { name: 'create_tuple', arguments: { t: [framework, 'b'], l: ['1', '2'], external_id: id } },
    { name: 'update_enums', arguments: { id, due: '2026-01-31', amount: 4 } },
    { name: 'update_enums', arguments: { id, clear: ['choice', 'amount'] } },
  ])
  const listed: Body[] = (await rpc(world, AT, 'tools/list')).body.result.tools
  expect(tools.sort()).toEqual(listed.map(({ name }) => name).sort())
  expect(answers.filter((answer) => /failed|"error"/.test(answer))).toEqual([])

  expect(await storedAs('tuple', id)).toEqual({ t: [framework, 'b'], l: ['1', '2'] })
  expect(succeed(await world.call('GET', at)).data).toEqual({ due: '2026-01-31' })
})

/** Values of properties of several types, each as the client sends it. */
const MIXED = [
  { any: { z: 1 }, scalar: 3, either: 2.5, nested: { a: 4 } },
  { any: [1, { z: 1 }], scalar: 'three', either: 'x', nested: 4 },
  { any: 3, scalar: null, either: 2 },
  { any: 'text' },
]

test.each(FRAMEWORKS)('%s sends each type that a property of several takes', async (framework) => {
  const calls = MIXED.map((data, n) => ({
    name: 'create_mixed',
    arguments: { ...data, external_id: `${framework}-${n}` },
  }))
  const { answers } = await play(framework, calls)
  expect(answers.filter((answer) => /failed|"error"/.test(answer))).toEqual([])
  const stored = await Promise.all(MIXED.map((_, n) => storedAs('mixed', `${framework}-${n}`)))
  expect(stored).toEqual(MIXED)
})

test('the Agents SDK makes strict every create_<type> whose type is closed in full', async () => {
  const closed = { type: 'object', properties: { title: { type: 'string' } }, additionalProperties: false }
  succeed(await world.call('PUT', '/v1/nasty/record-types/closed', { json_schema: closed }), 201)
  const { strict } = await play('openai-agents-strict', [], '/mcp/nasty?types=closed')
  expect(strict).toContain('create_closed')
})

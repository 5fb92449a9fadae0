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
async function play(framework: string, calls: object[]): Promise<{ tools: string[]; answers: string[] }> {
  const args = [RUN, framework, `${world.url}${AT}`, world.adminToken, JSON.stringify(calls)]
  const { stdout } = await run(process.execPath, args, { maxBuffer: 2 ** 24, timeout: 600_000 })
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
}

test.each(['langchain', 'google-genai', 'openai-agents', 'mastra', 'genkit'])(
  '%s converts all tools, and creates, updates and clears',
  async (framework) => {
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

    const filter = encodeURIComponent(JSON.stringify({ field: 'external_id', op: 'eq', value: id }))
    const { data } = succeed(await world.call('GET', `/v1/nasty/records/tuple?filter=${filter}`))
    expect(data[0].data).toEqual({ t: [framework, 'b'], l: ['1', '2'] })
    expect(succeed(await world.call('GET', at)).data).toEqual({ due: '2026-01-31' })
  },
)

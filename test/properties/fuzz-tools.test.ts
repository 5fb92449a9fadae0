// @module-tag full
// @module-tag sampled
/** Changed calls of every MCP tool, by clients of both eras, are answered without a fault of the server; unknown arguments by their names. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { CASES_TIMEOUT, sampleOf } from '../support/cases.ts'
import { changed, faultIn, fuzz, odd, replacedEach, TEXTLESS } from '../support/fuzz.ts'
import { rpc } from '../support/mcp.ts'
import { type McpSession, openSession } from '../support/mcp-session.ts'
import { fillForTools, TOOL_NAMES, type ToolRow, toolRows } from '../support/tool-samples.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
const rows = toolRows('shop')
const sessions = new Map<string, McpSession>()
beforeAll(async () => {
  world = await openWorld()
  await fillForTools(world, 'shop')
  for (const more of [{ name: 'drafts', copy: 'on_write' }, { name: 'dev' }])
    succeed(await world.call('POST', '/v1/shop/preview', more), 201)
  for (const path of new Set(rows.map((row) => row.path)))
    sessions.set(path, await openSession(world, { path }))
})
afterAll(() => world.close())

const META = 'io.modelcontextprotocol'
const MODERN = '2026-07-28'
/** The result of a call, or the error of the protocol. */
async function call({ path, tool }: ToolRow, args: unknown, isModern: boolean) {
  const params = { name: tool, arguments: args }
  if (!isModern) return (sessions.get(path) as McpSession).request('tools/call', params)
  const _meta = {
    [`${META}/protocolVersion`]: MODERN,
    [`${META}/clientInfo`]: { name: 'test', version: '1.0.0' },
    [`${META}/clientCapabilities`]: {},
  }
  const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': tool }
  return rpc(world, path, 'tools/call', { ...params, _meta }, { headers })
}

const rowOf = (n: number) => rows[n % rows.length] as ToolRow
type Change = { row: number; isModern: boolean; path: number[]; by: unknown; how: number }
const changes: fc.Arbitrary<Change> = fc.record({
  row: fc.nat(),
  isModern: fc.boolean(),
  path: fc.array(fc.nat(5), { minLength: 1, maxLength: 4 }),
  by: odd,
  how: fc.nat(4),
})

test('every tool has a row', () => {
  expect([...new Set(rows.map(({ tool }) => tool))]).toEqual(expect.arrayContaining([...TOOL_NAMES]))
})

test(
  'every changed call is answered, without what only the server knows',
  async () => {
    const send = async ({ row: n, isModern, path, by, how }: Change) => {
      const row = rowOf(n)
      const args = changed(row.dry, path, by, how)
      const { status, text, body } = await call(row, args, isModern)
      const isError = body?.result?.isError === true || body?.error !== undefined
      const found = faultIn(/INTERNAL_ERROR|-32603/.test(text) ? 500 : isError ? 400 : status, text, by)
      return found && `${row.tool} at ${row.path} ${found}`
    }
    expect(await fuzz(changes, 1000, send)).toEqual([])
    succeed(await world.call('GET', '/v1/shop/records/deal/d2'))
  },
  CASES_TIMEOUT,
)

test('an argument that no tool has is refused by its name', async () => {
  const wrong: string[] = []
  for (const row of rows)
    for (const isModern of [false, true]) {
      const { body, text } = await call(row, { ...row.dry, bogus_q: 1 }, isModern)
      const isRefused = body.result?.isError === true && text.includes('bogus_q')
      // A type without a schema of its own takes any field.
      if (!isRefused && row.tool !== 'create_deal')
        wrong.push(`${row.tool} at ${row.path}: ${text.slice(0, 300)}`)
    }
  expect(wrong).toEqual([])
})

test(
  'an object that has no text is refused at each place of an argument, or kept as a value',
  async () => {
    const wrong: string[] = []
    for (const row of sampleOf(rows))
      for (const args of replacedEach(row.dry, TEXTLESS)) {
        const { status, text } = await call(row, args, true)
        if (status >= 500 || /INTERNAL_ERROR|-32603/.test(text))
          wrong.push(`${row.tool} ${JSON.stringify(args)}`)
      }
    expect(wrong).toEqual([])
  },
  CASES_TIMEOUT,
)

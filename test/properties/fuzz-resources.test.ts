// @module-tag full
// @module-tag sampled
/** Changed requests about MCP resources, prompts and completions are answered without a fault of the server. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CASES_TIMEOUT } from '../support/cases.ts'
import { changed, faultIn, fuzz, odd } from '../support/fuzz.ts'
import { type McpSession, openSession } from '../support/mcp-session.ts'
import { fillForResources, type ResourceRow, resourceRows } from '../support/resource-samples.ts'
import { openWorld, type World } from '../support/world.ts'

const PATHS = ['/mcp', '/mcp/shop', '/mcp/shop/e/desk']
let world: World
let rows: ResourceRow[]
const sessions = new Map<string, McpSession>()
beforeAll(async () => {
  world = await openWorld()
  const uris = await fillForResources(world, 'shop')
  rows = PATHS.flatMap((path) => resourceRows(path, uris))
  for (const path of PATHS) sessions.set(path, await openSession(world, { path }))
})
afterAll(() => world.close())

type Change = { row: number; path: number[]; at: number; by: unknown; how: number }
const changes: fc.Arbitrary<Change> = fc.record({
  row: fc.nat(),
  path: fc.array(fc.nat(5), { minLength: 1, maxLength: 3 }),
  at: fc.nat(80),
  by: odd,
  how: fc.nat(6),
})

/** The params with the text of a URI broken in one place. */
function brokenUri(params: object, at: number, by: unknown): object {
  if (!('uri' in params)) return params
  const uri = String(params.uri)
  return {
    uri: `${uri.slice(0, at)}${typeof by === 'string' ? by.slice(0, 50) : JSON.stringify(by)}${uri.slice(at + 1)}`,
  }
}

test(
  'every changed request is answered, without what only the server knows',
  async () => {
    const send = async ({ row: n, path, at, by, how }: Change) => {
      const row = rows[n % rows.length] as ResourceRow
      const params = how > 3 ? brokenUri(row.params, at, by) : changed(row.params, path, by, how)
      const { status, text, body } = await (sessions.get(row.path) as McpSession).request(
        row.method,
        params as object,
      )
      const found = faultIn(/-32603/.test(text) ? 500 : body?.error ? 400 : status, text, by)
      return found && `${row.name} at ${row.path} ${found}`
    }
    expect(await fuzz(changes, 1000, send)).toEqual([])
  },
  CASES_TIMEOUT,
)

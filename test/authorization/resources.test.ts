// @module-tag full
// @module-tag sampled
/** MCP resources, prompts and completions with every kind of token. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { templatesOf } from '../../src/mcp/protocol/resource-uri.ts'
import { succeed } from '../support/answers.ts'
import { firstEvent } from '../support/first-event.ts'
import { openSession } from '../support/mcp-session.ts'
import { type Holder, holders } from '../support/oracle.ts'
import { fillForResources, LISTEN, type ResourceRow, resourceRows } from '../support/resource-samples.ts'
import { openWorld, type World } from '../support/world.ts'
import { CANARY, isAllowed, type Question, type Rule, wrongAnswers } from './matrix.ts'
import { RESOURCE_NEEDS } from './needs-of-resources.ts'

let world: World
let all: Holder[]
let uris: Record<string, string>
let rows: ResourceRow[]
beforeAll(async () => {
  world = await openWorld()
  uris = await fillForResources(world, 'shop')
  rows = [...RESOURCE_NEEDS.keys()].flatMap((path) => resourceRows(path, uris))
  succeed(await world.call('PUT', '/v1/bases/other', {}), 201)
  succeed(await world.call('PUT', '/v1/shop/record-types/hidden', { description: CANARY }), 201)
  succeed(await world.call('PUT', '/v1/shop/record-types/collections', {}), 201)
  const prompt = { name: CANARY, template: CANARY }
  succeed(await world.call('PUT', '/v1/shop/records/prompt/canary', { data: prompt }), 201)
  succeed(await world.call('POST', '/v1/shop/preview', { name: 'dev' }), 201)
  all = await holders(world, 'shop', 'other', 'deal')
})
afterAll(() => world.close())

/** An unknown resource, and an unknown prompt. */
const isUnknown = (error?: { code?: number; message?: string }) =>
  error?.code === -32002 || /^There is no prompt /.test(error?.message ?? '')

const [META, MODERN] = ['io.modelcontextprotocol', '2026-07-28']
const _meta = {
  [`${META}/protocolVersion`]: MODERN,
  [`${META}/clientInfo`]: { name: 'test', version: '1.0.0' },
  [`${META}/clientCapabilities`]: {},
}
/** Listens to resources. What a token may not follow is left out of what the stream says to follow. */
async function heard(path: string, token: string | null, params: object) {
  const headers = {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': MODERN,
    'mcp-method': LISTEN,
  }
  const body = { jsonrpc: '2.0', id: 1, method: LISTEN, params: { ...params, _meta } }
  const { status, text } = await firstEvent(world, path, { token, headers, body, quietMs: 10_000 })
  const refused = status === 401 ? 'UNAUTHORIZED' : status === 403 ? 'FORBIDDEN' : null
  const said = JSON.parse(/^data: ?(.+)$/m.exec(text)?.[1] ?? 'null')
  const followed: unknown[] | undefined = said?.params?.notifications?.resourceSubscriptions
  return { code: refused ?? (said ? null : `${status}`), text, hasNone: !followed?.length }
}

const questionOf = ({ path, name, method, params }: ResourceRow): Question => ({
  name: `${name} at ${path}`,
  base: 'shop',
  rule: RESOURCE_NEEDS.get(path)?.get(name) as Rule,
  ask: async ({ call, token }) => {
    if (method === LISTEN) return heard(path, token, params)
    // Only sessions follow resources by a request.
    const session =
      method === 'resources/subscribe' ? await openSession(world, { token: token ?? '', path }) : null
    const { status, body, text } = session
      ? await session.request(method, params)
      : await call('POST', path, { jsonrpc: '2.0', id: 1, method, params })
    await session?.end()
    const { result, error } = body
    const refused = status === 401 ? 'UNAUTHORIZED' : status === 403 ? 'FORBIDDEN' : null
    const failed = error?.code === -32603 ? 'INTERNAL_ERROR' : isUnknown(error) ? 'NOT_FOUND' : error?.code
    return { code: refused ?? failed ?? null, text, hasNone: result?.completion?.values.length === 0 }
  },
})

test('every kind of resource has a sample, and every sample a need', () => {
  expect(Object.keys(uris).sort()).toEqual(Object.keys(templatesOf(null)).sort())
  for (const [path, needs] of RESOURCE_NEEDS)
    expect(
      rows
        .filter((row) => row.path === path)
        .map(({ name }) => name)
        .sort(),
    ).toEqual([...needs.keys()].sort())
})

test('every sample succeeds', async () => {
  const everything = { base: '*', record_type: '*', environment: '*', permission: 'admin' } as const
  const admin = { name: 'admin', grants: [everything], call: world.call, token: world.adminToken }
  for (const question of rows.map(questionOf)) {
    const { code, hasNone } = await question.ask(admin, true)
    // What no token has, an endpoint does not serve.
    const isServed = isAllowed(question, admin)
    expect([question.name, code === null && !hasNone]).toEqual([question.name, isServed])
  }
})

test('a token reads what its grants say, and the rest is unknown to it', async () => {
  expect(await wrongAnswers(world, rows.map(questionOf), all, 3)).toEqual([])
})

// @module-tag full
// @module-tag sampled
/** Every MCP tool with every kind of token. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { type Holder, holders } from '../support/oracle.ts'
import { fillForTools, type ToolRow, toolRows } from '../support/tool-samples.ts'
import { openWorld, type World } from '../support/world.ts'
import { CANARY, type Question, type Rule, wrongAnswers } from './matrix.ts'
import { TOOL_NEEDS } from './needs-of-tools.ts'

const rows = toolRows('shop')
let world: World
let all: Holder[]
beforeAll(async () => {
  world = await openWorld()
  await fillForTools(world, 'shop')
  succeed(await world.call('PUT', '/v1/bases/other', {}), 201)
  succeed(await world.call('PUT', '/v1/shop/record-types/hidden', { description: CANARY }), 201)
  succeed(await world.call('PUT', '/v1/shop/records/hidden/h', { data: { CANARY } }), 201)
  succeed(await world.call('PUT', '/v1/shop/record-types/collections', {}), 201)
  for (const more of [{ name: 'drafts', copy: 'on_write' }, { name: 'dev' }])
    succeed(await world.call('POST', '/v1/shop/preview', more), 201)
  all = await holders(world, 'shop', 'other', 'deal')
  // The first write of a token that proposes opens its change-set, which later ones only write to.
  for (const { grants, call } of all)
    if (grants.some(({ writes }) => writes !== undefined))
      succeed(await call('PATCH', '/v1/shop/records/deal/d1', { data: { amount: 5 } }))
})
afterAll(() => world.close())

const questionOf = ({ path, tool, args, dry }: ToolRow): Question => ({
  name: `${tool} at ${path}`,
  base: 'shop',
  rule: TOOL_NEEDS.get(tool) as Rule,
  ask: async ({ call }, isAllowed) => {
    const params = { name: tool, arguments: isAllowed ? dry : args }
    const { status, body, text } = await call('POST', path, {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params,
    })
    const { result, error } = body
    const refused = status === 401 ? 'UNAUTHORIZED' : status === 403 ? 'FORBIDDEN' : null
    const failed = result?.isError ? JSON.parse(result.content[0].text).error.code : (error?.code ?? null)
    return { code: refused ?? (failed === -32603 ? 'INTERNAL_ERROR' : failed), text }
  },
})

test('every tool has a need, and every need a tool', () => {
  expect([...TOOL_NEEDS.keys()].sort()).toEqual([...new Set(rows.map(({ tool }) => tool))].sort())
})

test('a token can call what its grants say, and what it is refused changes nothing', async () => {
  expect(await wrongAnswers(world, rows.map(questionOf), all, 7)).toEqual([])
})

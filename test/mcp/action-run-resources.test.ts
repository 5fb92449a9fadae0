/** Runs of actions as MCP resources. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed, times } from '../support/answers.ts'
import { connect, DIALECTS, type Dialect, type McpClient } from '../support/mcp.ts'
import { followWith } from '../support/mcp-following.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
/** Ids of the runs of `find`, oldest first; the last one failed. */
const runs: string[] = []
/** Reads one type only. */
let limited: string

const LIST = 'plinth://crm/actions/find/runs'

beforeAll(async () => {
  world = await openWorld()
  const put = async (path: string, body: object) =>
    succeed(await world.call('PUT', `/v1/crm/${path}`, body), 201)
  await put('record-types/deal', {})
  await put('actions/find', {
    name: 'Find deals',
    input_schema: { properties: { n: { type: 'number' } } },
    steps: [{ name: 'q', type: 'query', record_type: 'deal' }],
  })
  for (const n of times(51, (n) => n))
    runs.push(succeed(await world.call('POST', '/v1/crm/actions/find/run', { input: { n } })).run_id)
  const failed = await world.call('POST', '/v1/crm/actions/find/run', { input: { n: 'many' } })
  expect(failed.status).toBe(400)
  limited = (await world.newToken([{ record_type: 'deal', permission: 'write' }])).token
})
afterAll(() => world.close())

const at = (dialect: Dialect = 'v1', token = world.adminToken) =>
  connect(world.url, token, dialect, '/mcp/crm')
const read = async (client: McpClient, uri: string): Promise<Body> =>
  JSON.parse((await client.readResource({ uri })).contents[0].text)
const refusal = (act: Promise<unknown>): Promise<Body> =>
  act.then(
    () => undefined,
    (thrown: unknown) => thrown as Body,
  ) as Promise<Body>

describe.each(DIALECTS)('a %s client', (dialect) => {
  test('reads a run as REST returns it', async () => {
    const client = await at(dialect)
    const uri = `${LIST}/${runs[0]}`
    const run = await read(client, uri)
    expect(run).toMatchObject({ id: runs[0], status: 'succeeded', input: { n: 0 } })
    expect(run).toEqual((await world.call('GET', `/v1/crm/actions/find/runs/${runs[0]}`)).body)
    await client.close()
  })

  test('reads the runs of an action in pages, newest first', async () => {
    const client = await at(dialect)
    const first = await read(client, `${LIST}?status=succeeded`)
    expect(first.data.map(({ id }: Body) => id)).toEqual(runs.slice(1).reverse())
    const second = await read(client, first.meta.next)
    expect(second.data.map(({ id }: Body) => id)).toEqual([runs[0]])
    expect(second.meta.next).toBeUndefined()
    await client.close()
  })
})

test('the runs of each action are listed', { tags: 'full' }, async () => {
  const client = await at()
  const { resources } = await client.listResources()
  expect(resources.map(({ uri, title }: Body) => [uri, title])).toContainEqual([LIST, 'Runs of Find deals'])
  const { completion } = await client.complete({
    ref: { type: 'ref/resource', uri: 'plinth://crm/actions/{action}/runs{?status,cursor}' },
    argument: { name: 'action', value: 'f' },
  })
  expect(completion.values).toEqual(['find'])
  await client.close()
})

test('a token without a grant on the whole base finds no run', async () => {
  const client = await at('v1', limited)
  const { resources } = await client.listResources()
  expect(resources.map(({ uri }: Body) => uri)).toEqual([
    'skill://plinth/SKILL.md',
    'plinth://crm/types/deal',
  ])
  const { resourceTemplates } = await client.listResourceTemplates()
  expect(JSON.stringify(resourceTemplates)).not.toContain('actions')
  for (const uri of [LIST, `${LIST}/${runs[0]}`, 'plinth://crm/actions/absent/runs'])
    expect(await refusal(client.readResource({ uri }))).toMatchObject({ code: -32002 })
  await client.close()
})

test('an unknown run, parameter or status is an error that names it', async () => {
  const client = await at()
  const reading = (uri: string) => refusal(client.readResource({ uri }))
  expect(await reading(`${LIST}/absent`)).toMatchObject({ code: -32002 })
  expect((await reading(`${LIST}?state=failed`)).message).toMatch(/"state".*status and cursor/)
  expect((await reading(`${LIST}?status=done`)).message).toMatch(/status/)
  await client.close()
})

test('subscribing to runs is refused with what to do instead', async () => {
  const client = await followWith(world.url, world.adminToken, 'v1', '/mcp/crm', [])
  const error = await refusal(client.follow(LIST))
  expect(error.code).toBe(-32602)
  expect(error.message).toContain('read the runs again')
  await client.close()
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed, times } from '../support/answers.ts'
import { connect, DIALECTS, type McpClient } from '../support/mcp.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

const TEMPLATES = {
  type: 'plinth://{base}/types/{type}',
  record: 'plinth://{base}/records/{type}/{id}',
  ofBase: 'plinth://crm/records/{type}/{id}',
  records: 'plinth://{base}/records/{type}{?filter,condition,cursor}',
}
const SHUT = 'taskshut'

let world: World
let limited: string
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/bases/crew', {}), 201)
  for (const type of ['task', 'person', SHUT, 'prompt'])
    succeed(await world.call('PUT', `/v1/crm/record-types/${type}`, {}), 201)
  const put = async (type: string, id: string, data: object = {}) =>
    succeed(await world.call('PUT', `/v1/crm/records/${type}/${id}`, { data }), 201)
  for (const n of times(105, (n) => n)) await put('task', `t-${String(n).padStart(3, '0')}`)
  for (const id of ['T-upper', 't', 't:colon']) await put('task', id)
  await put(SHUT, 't-shut')
  const prompt = (name: string, record_type: string) => ({
    name,
    arguments: [
      { name: 'which', record_type },
      { name: 'how', enum: ['kindly', 'Keenly', 'curtly'] },
      { name: 'free' },
    ],
    template: '{{which}}',
  })
  await put('prompt', 'p1', prompt('do', 'task'))
  await put('prompt', 'p2', prompt('shut', SHUT))
  const grant = { record_type: ['task', 'prompt'], permission: 'read' }
  limited = (await world.newToken([grant])).token
})
afterAll(() => world.close())

const at = (path = '/mcp', token = world.adminToken) => connect(world.url, token, 'v1', path)
type Values = { values: string[]; hasMore?: boolean; total?: number }
async function complete(
  client: McpClient,
  ref: Body,
  name: string,
  value: string,
  known?: object,
): Promise<Values> {
  const context = known && { context: { arguments: known } }
  return (await client.complete({ ref, argument: { name, value }, ...context })).completion
}
const template = (uri: string) => ({ type: 'ref/resource', uri })
const prompt = (name: string) => ({ type: 'ref/prompt', name })

describe.each(DIALECTS)('a %s client', (dialect) => {
  test('completes the base, the type and the id of a resource template in turn', async () => {
    const client = await connect(world.url, world.adminToken, dialect, '/mcp')
    const record = template(TEMPLATES.record)
    expect((await complete(client, record, 'base', 'cr')).values).toEqual(['crew', 'crm'])
    expect((await complete(client, record, 'type', 'ta', { base: 'crm' })).values).toEqual(['task', SHUT])
    const ids = await complete(client, record, 'id', 't-10', { base: 'crm', type: 'task' })
    expect(ids).toMatchObject({ values: times(5, (n) => `t-10${n}`), hasMore: false })
    await client.close()
  })
})

test('a completion returns at most 100 ids, in order, with hasMore', async () => {
  const client = await at('/mcp/crm')
  const all = await complete(client, template(TEMPLATES.ofBase), 'id', 't', { type: 'task' })
  expect(all.values).toEqual(['t', ...times(99, (n) => `t-${String(n).padStart(3, '0')}`)])
  expect(all.hasMore).toBe(true)
  const colon = await complete(client, template(TEMPLATES.ofBase), 'id', 't:', { type: 'task' })
  expect(colon).toMatchObject({ values: ['t:colon'], hasMore: false })
  await client.close()
})

test('the URL of a base completes templates with a {base} placeholder and with the base id in them', async () => {
  const client = await at('/mcp/crm')
  expect((await complete(client, template(TEMPLATES.type), 'base', '')).values).toEqual(['crm'])
  expect((await complete(client, template(TEMPLATES.type), 'type', 'per')).values).toEqual(['person'])
  expect((await complete(client, template(TEMPLATES.ofBase), 'base', '')).values).toEqual([])
  await client.close()
})

test('prompt arguments are completed from their enum or with ids of their record type', async () => {
  const client = await at('/mcp/crm')
  expect((await complete(client, prompt('do'), 'how', 'k')).values).toEqual(['kindly', 'Keenly'])
  expect((await complete(client, prompt('do'), 'which', 't:')).values).toEqual(['t:colon'])
  expect((await complete(client, prompt('do'), 'free', '')).values).toEqual([])
  await client.close()
  const all = await at('/mcp')
  expect((await complete(all, prompt('crm/do'), 'how', 'c')).values).toEqual(['curtly'])
  await all.close()
})

test('an unknown template, argument, prompt or type has no completions', async () => {
  const client = await at('/mcp')
  const none: [ref: Body, name: string, known?: object][] = [
    [template('test://anything/{id}'), 'id'],
    [template(TEMPLATES.type), 'id', { base: 'crm', type: 'task' }],
    [template(TEMPLATES.records), 'filter', { base: 'crm', type: 'task' }],
    [template(TEMPLATES.record), 'type'],
    [template(TEMPLATES.record), 'type', { base: 'absent' }],
    [template(TEMPLATES.record), 'id', { base: 'crm' }],
    [template(TEMPLATES.record), 'id', { base: 'crm', type: 'absent' }],
    [prompt('absent'), 'how'],
    [prompt('crm/absent'), 'how'],
    [prompt('crm/do'), 'absent'],
  ]
  for (const [ref, name, known] of none)
    expect((await complete(client, ref, name, '', known)).values).toEqual([])
  await client.close()
})

test('completions contain only what the token may read', async () => {
  const client = await at('/mcp', limited)
  const record = template(TEMPLATES.record)
  expect((await complete(client, record, 'base', '')).values).toEqual(['crm'])
  expect(await complete(client, record, 'type', '', { base: 'crm' })).toMatchObject({
    values: ['prompt', 'task'],
    total: 2,
  })
  const shut = await complete(client, record, 'id', '', { base: 'crm', type: SHUT })
  expect(shut).toEqual(await complete(client, record, 'id', '', { base: 'crm', type: 'absent' }))
  expect(shut.values).toEqual([])
  expect((await complete(client, prompt('crm/shut'), 'which', '')).values).toEqual([])
  expect((await complete(client, record, 'type', '', { base: 'crew' })).values).toEqual([])
  await client.close()
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { connect, DIALECTS, type Dialect, type McpClient } from '../support/mcp.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

const GREET = {
  name: 'greet',
  description: 'Greets somebody.',
  arguments: [
    { name: 'who', description: 'Whom.', required: true, record_type: 'person' },
    { name: 'how', enum: ['kindly', 'curtly'] },
  ],
  template: 'Greet {{who}}, {{ how }}. {{ who }}! {{unknown}} {who}',
}
/** Records of the type `prompt` that are not valid prompts. */
const BAD = {
  none: {},
  number: { name: 5, template: 'x' },
  untemplated: { name: 'untemplated' },
  twice: { name: 'twice', template: 'x', arguments: [{ name: 'a' }, { name: 'a' }] },
  odd: { name: 'odd', template: 'x', arguments: 'who' },
  spaced: { name: 'spaced', template: 'x', arguments: [{ name: 'a b' }] },
}

let world: World
beforeAll(async () => {
  world = await openWorld()
  succeed(await world.call('PUT', '/v1/bases/other', {}), 201)
  for (const base of ['crm', 'other'])
    succeed(await world.call('PUT', `/v1/${base}/record-types/prompt`, {}), 201)
  succeed(await world.call('PUT', '/v1/crm/record-types/person', {}), 201)
  const put = async (id: string, data: object, base = 'crm') =>
    succeed(await world.call('PUT', `/v1/${base}/records/prompt/${id}`, { data }), 201)
  for (const [id, data] of Object.entries(BAD)) await put(id, data)
  await put('p1', GREET)
  await put('p2', { name: 'greet', template: 'Another.' })
  await put('p3', { name: 'plain', description: '', template: 'Nothing to fill.' })
  await put('p4', { name: 'gone', template: 'x' })
  succeed(await world.call('POST', '/v1/crm/records/prompt/p4/cancel'))
  await put('o1', { name: 'greet', template: 'From another base.' }, 'other')
})
afterAll(() => world.close())

const at = (path: string, dialect: Dialect = 'v1', token = world.adminToken) =>
  connect(world.url, token, dialect, path)
const textOf = async (
  client: McpClient,
  name: string,
  args: Record<string, string> = {},
): Promise<string> => {
  const { messages } = await client.getPrompt({ name, arguments: args })
  expect(messages).toMatchObject([{ role: 'user', content: { type: 'text' } }])
  return messages[0].content.text
}
const refused = (client: McpClient, name: string, args: Record<string, string> = {}) =>
  expect(client.getPrompt({ name, arguments: args })).rejects

describe.each(DIALECTS)('a %s client', (dialect) => {
  test('lists the valid records of type prompt, each with a description', async () => {
    const client = await at('/mcp/crm', dialect)
    const { prompts } = await client.listPrompts()
    expect(prompts.map(({ name }: Body) => name)).toEqual(['greet', 'greet-p2', 'plain'])
    expect(prompts[0]).toMatchObject({ description: 'Greets somebody.' })
    expect(prompts[0].arguments).toMatchObject([
      { name: 'who', required: true, description: expect.stringMatching(/^Whom\. .*"person"/) },
      { name: 'how', required: false, description: expect.stringContaining('kindly, curtly') },
    ])
    for (const { description } of prompts) expect(description).toMatch(/\S/)
    await client.close()
  })

  test('gets a prompt with values inserted once; placeholders in values are kept', async () => {
    const client = await at('/mcp/crm', dialect)
    expect(await textOf(client, 'greet', { who: '{{how}}$&', how: 'kindly' })).toBe(
      'Greet {{how}}$&, kindly. {{how}}$&! {{unknown}} {who}',
    )
    expect(await textOf(client, 'greet', { who: 'p7' })).toBe('Greet p7, . p7! {{unknown}} {who}')
    expect(await textOf(client, 'greet-p2')).toBe('Another.')
    await client.close()
  })

  test('gets an error that names the missing, unknown or invalid argument', async () => {
    const client = await at('/mcp/crm', dialect)
    await refused(client, 'greet').toMatchObject({ code: -32602, message: expect.stringMatching(/"who"/) })
    await refused(client, 'greet', { who: 'a', whoo: 'b' }).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/"whoo".*"who"/),
    })
    await refused(client, 'greet', { who: 'a', how: 'loudly' }).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/"how".*kindly, curtly/),
    })
    await refused(client, 'gret').toMatchObject({ code: -32602, message: expect.stringMatching(/"greet"/) })
    await client.close()
  })
})

test('of two prompts with the same name the newer has its id appended to its name', async () => {
  const client = await at('/mcp/crm')
  expect(await textOf(client, 'greet', { who: 'x' })).toContain('Greet x')
  expect(await textOf(client, 'greet-p2')).toBe('Another.')
  await client.close()
})

test('getting an invalid prompt by name returns the reason', { tags: 'full' }, async () => {
  const client = await at('/mcp/crm')
  await refused(client, 'untemplated').toMatchObject({
    message: expect.stringMatching(/"untemplated".*template/),
  })
  await refused(client, 'twice').toMatchObject({ message: expect.stringMatching(/arguments/) })
  await refused(client, 'gone').toMatchObject({ message: expect.stringMatching(/There is no prompt/) })
  await client.close()
})

test('on /mcp a prompt name starts with its base id', async () => {
  const client = await at('/mcp')
  const { prompts } = await client.listPrompts()
  expect(prompts.map(({ name }: Body) => name).sort()).toEqual([
    'crm/greet',
    'crm/greet-p2',
    'crm/plain',
    'other/greet',
  ])
  expect(await textOf(client, 'other/greet')).toBe('From another base.')
  await refused(client, 'greet').toMatchObject({ code: -32602 })
  await refused(client, 'absent/greet').toMatchObject({ code: -32602 })
  await client.close()
})

test('a token without read permission on type prompt gets the same errors as without prompts', async () => {
  const { token } = await world.newToken([{ record_type: 'person', permission: 'write' }])
  const client = await at('/mcp/crm', 'v1', token)
  expect(await client.listPrompts()).toEqual({ prompts: [] })
  await refused(client, 'greet', { who: 'x' }).toMatchObject({
    code: -32602,
    message: expect.not.stringMatching(/Did you mean|greet-p2/),
  })
  await client.close()
})

test('a filled prompt of more than 200,000 characters is refused', async () => {
  succeed(
    await world.call('PUT', '/v1/other/records/prompt/long', {
      data: { name: 'long', arguments: [{ name: 'a' }], template: '{{a}}'.repeat(1000) },
    }),
    201,
  )
  const client = await at('/mcp/other')
  expect(await textOf(client, 'long', { a: 'x'.repeat(200) })).toHaveLength(200_000)
  await refused(client, 'long', { a: 'x'.repeat(300) }).toMatchObject({ code: -32602 })
  await client.close()
})

/** Resources, prompts and completions at an endpoint with row checks and fields show nothing beyond them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { connect, type McpClient } from '../support/mcp.ts'
import { openWorld, type World } from '../support/world.ts'

const CANARY = 'canary'
const OURS = { field: 'data.team', op: 'eq', value: 'ours' }
const prompt = (name: string, team: string, record_type: string) => ({
  ...{ name, team, description: team === 'ours' ? 'Fine.' : CANARY },
  arguments: [{ name: 'which', record_type }],
  template: team === 'ours' ? 'About {{which}}.' : CANARY,
})

let world: World
let token: string
beforeAll(async () => {
  world = await openWorld()
  const properties = Object.fromEntries(['title', 'team', 'secret'].map((name) => [name, { type: 'string' }]))
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', { json_schema: { properties } }), 201)
  for (const type of ['prompt', 'note'])
    succeed(await world.call('PUT', `/v1/crm/record-types/${type}`, {}), 201)
  const put = async (type: string, id: string, data: object) =>
    succeed(await world.call('PUT', `/v1/crm/records/${type}/${id}`, { data }), 201)
  for (const team of ['ours', 'theirs'])
    await put('deal', `${team}-1`, { title: team === 'ours' ? 'Fine' : CANARY, team, secret: CANARY })
  await put('note', 'note-1', { title: CANARY })
  await put('prompt', 'p1', prompt('about', 'ours', 'deal'))
  await put('prompt', 'p2', prompt('hidden', 'theirs', 'deal'))
  await put('prompt', 'p3', prompt('noting', 'ours', 'note'))
  const reads = { operations: ['get', 'list'], filter: OURS }
  const endpoint = (fields: string[]) => ({
    tools: [
      { record_type: 'deal', ...reads, fields: ['data.title'] },
      { record_type: 'prompt', ...reads, fields: fields.map((name) => `data.${name}`) },
    ],
    resources: true,
  })
  const whole = endpoint(['name', 'description', 'arguments', 'template'])
  succeed(await world.call('PUT', '/v1/crm/endpoints/desk', whole), 201)
  succeed(await world.call('PUT', '/v1/crm/endpoints/names', endpoint(['name', 'description'])), 201)
  token = (
    await world.newToken([
      ...['desk', 'names'].map((endpoint) => ({ endpoint, permission: 'read' as const })),
    ])
  ).token
})
afterAll(() => world.close())

const outcome = (asked: Promise<object>) =>
  asked.then(
    (answer) => ({ answer }),
    ({ code, message }: { code: number; message: string }) => ({ code, message }),
  )

describe.each(['v1', 'modern'] as const)('a client of kind %s', (dialect) => {
  const at = async (endpoint: string, run: (client: McpClient) => Promise<void>) => {
    const client = await connect(world.url, token, dialect, `/mcp/crm/e/${endpoint}`)
    await run(client)
    await client.close()
  }
  const completed = async (client: McpClient, ref: object, name: string, known = {}) =>
    (await client.complete({ ref, argument: { name, value: '' }, context: { arguments: known } }))[
      'completion'
    ]

  test('lists and gets the prompts that its rows are, and completes their arguments within them', () =>
    at('desk', async (client) => {
      const { prompts } = await client.listPrompts()
      expect(prompts.map(({ name }: { name: string }) => name).sort()).toEqual(['about', 'noting'])
      const got = await client.getPrompt({ name: 'about', arguments: { which: 'ours-1' } })
      expect(got['messages'][0].content.text).toBe('About ours-1.')
      const hidden = await outcome(client.getPrompt({ name: 'hidden' }))
      const absent = await outcome(client.getPrompt({ name: 'nowhere' }))
      expect(JSON.stringify(hidden)).toBe(JSON.stringify(absent).replace('nowhere', 'hidden'))
      const of = (name: string) => completed(client, { type: 'ref/prompt', name }, 'which')
      expect((await of('about')).values).toEqual(['ours-1'])
      for (const name of ['hidden', 'noting'])
        expect(await of(name)).toMatchObject({ values: [], hasMore: false })
      expect(JSON.stringify([prompts, hidden])).not.toContain(CANARY)
    }))

  test('gets no template that its fields leave out', () =>
    at('names', async (client) => {
      const { prompts } = await client.listPrompts()
      const got = await outcome(client.getPrompt({ name: 'about', arguments: { which: 'ours-1' } }))
      expect(got).not.toHaveProperty('answer')
      expect(JSON.stringify([prompts, got])).not.toMatch(/canary|About/)
    }))

  test('reads and completes the records that its rows are, with its fields', () =>
    at('desk', async (client) => {
      const { resourceTemplates } = await client.listResourceTemplates()
      const { resources } = await client.listResources()
      const at = 'plinth://crm/records/deal'
      const read = (uri: string) => outcome(client.readResource({ uri }))
      const [own, list] = [await read(`${at}/ours-1`), await read(at)]
      for (const shown of [own, list]) expect(JSON.stringify(shown)).toContain('Fine')
      const refused = await read(`${at}/theirs-1`)
      expect(JSON.stringify(refused)).toBe(
        JSON.stringify(await read(`${at}/absent-1`)).replaceAll('absent-1', 'theirs-1'),
      )
      const secret = JSON.stringify({ field: 'data.secret', op: 'starts_with', value: 'c' })
      for (const uri of [
        `${at}?filter=${encodeURIComponent(secret)}`,
        `${at}?condition=${encodeURIComponent("data.secret = 'c'")}`,
        'plinth://crm/records/note',
        'plinth://crm/records/note/note-1',
        'plinth://crm/types/deal',
        'plinth://crm/types/note',
      ])
        expect(await read(uri), uri).not.toHaveProperty('answer')
      const template = resourceTemplates.find(({ uriTemplate }: { uriTemplate: string }) =>
        uriTemplate.includes('{id}'),
      )
      const ref = { type: 'ref/resource', uri: template.uriTemplate }
      expect((await completed(client, ref, 'id', { type: 'deal' })).values).toEqual(['ours-1'])
      expect((await completed(client, ref, 'id', { type: 'note' })).values).toEqual([])
      expect((await completed(client, ref, 'type')).values).toEqual(['deal', 'prompt'])
      expect(JSON.stringify([own, list, refused, resources])).not.toContain(CANARY)
    }))
})

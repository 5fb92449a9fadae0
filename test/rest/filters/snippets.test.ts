import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFault, succeed, times } from '../../support/answers.ts'
import { callTool } from '../../support/mcp.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let type: string
const put = async (id: string, data: object, of = type) =>
  succeed(await world.call('PUT', `/v1/crm/records/${of}/${id}`, { data }), 201)
const search = (value: string, field = 'data') => ({ field, op: 'search', value })
const query = (body: object, of = type) =>
  world.call('POST', `/v1/crm/records/${of}/query`, { snippets: true, ...body })
const snippets = async (body: object, of = type): Promise<Record<string, Body>> =>
  Object.fromEntries(succeed(await query(body, of)).data.map(({ id, _snippets }: Body) => [id, _snippets]))

const LONG = `${'Lorem ipsum dolor sit amet. '.repeat(40)}The zephyr contract ends in May. ${'Sed do eiusmod tempor. '.repeat(40)}`

beforeAll(async () => {
  world = await openWorld()
  type = await world.newType({})
  await put('short', { title: 'Zephyr renewal', tags: ['blue', 'zephyrs'] })
  await put('long', { title: 'Other', notes: [{ body: 'nothing' }, { body: LONG }] })
  await put('apart', { title: 'Contract', 'odd.key': 'a zephyr' })
  await put('typo', { title: 'Das Zéphir Haus' })
  await put('marked', { title: '<b>zephyr</b> … [[zephyr]]' })
  await put('cjk', { title: '今日は東京タワーへ行く' })
})
afterAll(() => world.close())

describe('snippets', () => {
  test('show the text as it is stored, its field, and the words that match beside it', async () => {
    const found = await snippets({ filter: search('zephyr') })
    expect(found['short']).toEqual([{ field: 'data.title', text: 'Zephyr renewal', matches: ['Zephyr'] }])
    expect(found['typo']).toEqual([{ field: 'data.title', text: 'Das Zéphir Haus', matches: ['Zéphir'] }])
    expect(found['marked']).toEqual([
      { field: 'data.title', text: '<b>zephyr</b> … [[zephyr]]', matches: ['zephyr'] },
    ])
    expect(found['apart']).toEqual([{ field: 'data["odd.key"]', text: 'a zephyr', matches: ['zephyr'] }])
  })

  test('show a part of a long text around the match, cut between words', async () => {
    const { long } = await snippets({ filter: search('zephyr contract') })
    expect(long).toMatchObject([
      { field: 'data.notes[1].body', matches: ['zephyr', 'contract'], truncated: true },
    ])
    const { text } = long[0]
    expect(text.length).toBeLessThanOrEqual(160)
    expect(text).toContain('The zephyr contract ends in May.')
    expect(LONG).toContain(` ${text} `)
  })

  test('show words that are in different fields, at most three parts', async () => {
    const { apart } = await snippets({ filter: search('zephyr contract') })
    expect(apart.map(({ field }: Body) => field).sort()).toEqual(['data.title', 'data["odd.key"]'])
    await put('many', { a: 'one', b: 'two', c: 'three', d: 'four' })
    const { many } = await snippets({ filter: search('one two three four') })
    expect(many).toHaveLength(3)
  })

  test('find the letters of scripts without spaces', async () => {
    const { cjk } = await snippets({ filter: search('東京') })
    expect(cjk).toEqual([{ field: 'data.title', text: '今日は東京タワーへ行く', matches: ['東', '京'] }])
  })

  test('come from the searched field alone, and not from a search below a not', async () => {
    const found = await snippets({ filter: search('zephyr', 'data.tags[]') })
    expect(found).toEqual({ short: [{ field: 'data.tags[1]', text: 'zephyrs', matches: ['zephyrs'] }] })
    const both = { and: [search('zephyr', 'data.title'), { not: search('blue') }] }
    expect((await snippets({ filter: both }))['short']).toBeUndefined()
    const only = await query({ filter: { not: search('zephyr') } })
    expect(expectFault(only, '/snippets')).toMatchObject({ code: 'needs_search' })
  })

  test('are there without the data, which `fields` leaves out', async () => {
    const { data } = succeed(await query({ filter: search('renewal'), fields: ['id'] }))
    expect(data).toEqual([
      {
        id: 'short',
        _search_score: expect.any(Number),
        _snippets: [{ field: 'data.title', text: 'Zephyr renewal', matches: ['renewal'] }],
      },
    ])
  })

  test('are the same through a text index, in the past, and after a cursor', { tags: 'full' }, async () => {
    const indexed = await world.newType({ indexes: [{ fields: ['data.title'], type: 'text' }] })
    for (const i of times(3, (i) => i)) await put(`r${i}`, { title: `zephyr number ${i}` }, indexed)
    const filter = search('zephyr', 'data.title')
    const page = succeed(await query({ filter, limit: 2 }, indexed))
    const rest = succeed(await query({ filter, limit: 2, cursor: page.meta.next_cursor }, indexed))
    const all = [...page.data, ...rest.data].map(({ _snippets }: Body) => _snippets[0].text).sort()
    expect(all).toEqual(times(3, (i) => `zephyr number ${i}`))
    const as_of = new Date().toISOString()
    succeed(await world.call('PATCH', `/v1/crm/records/${indexed}/r1`, { data: { title: 'gone' } }))
    expect((await snippets({ filter, as_of }, indexed))['r1'][0].text).toBe('zephyr number 1')
  })

  test('need a search and at most 100 records', async () => {
    expect(expectFault(await query({}), '/snippets')).toMatchObject({ code: 'needs_search' })
    const many = await query({ filter: search('zephyr'), limit: 101 })
    expect(expectFault(many, '/limit')).toMatchObject({ code: 'out_of_range', received: 101 })
    succeed(await query({ filter: search('zephyr'), limit: 100 }))
  })

  test('never cut a character in two, and hold hostile text', { tags: 'full' }, async () => {
    const hostile = await world.newType({})
    await put('emoji', { v: `zephyr${'😀'.repeat(300)}` }, hostile)
    await put('run', { v: `zephyr${'a'.repeat(70_000)}` }, hostile)
    await put('same', { v: 'zephyr '.repeat(9000) }, hostile)
    await put('list', { v: times(5000, (i) => `zephyr${i}`) }, hostile)
    const found = await snippets({ filter: search('zephyr', 'data.v') }, hostile)
    expect(Object.keys(found).sort()).toEqual(['emoji', 'list', 'run', 'same'])
    for (const [snippet] of Object.values(found) as Body[]) {
      expect(snippet.text.length).toBeLessThanOrEqual(160)
      expect(snippet.text.isWellFormed()).toBe(true)
      expect(snippet.matches).toHaveLength(1)
    }
  })
})

describe('snippets elsewhere', () => {
  const filter = encodeURIComponent(JSON.stringify(search('renewal')))
  const expected = [{ field: 'data.title', text: 'Zephyr renewal', matches: ['renewal'] }]

  test('the list takes them as a parameter, and not without being asked', async () => {
    const at = `/v1/crm/records/${type}?filter=${filter}`
    expect(succeed(await world.call('GET', `${at}&snippets=true`)).data[0]._snippets).toEqual(expected)
    expect(succeed(await world.call('GET', at)).data[0]).not.toHaveProperty('_snippets')
    expectFault(await world.call('GET', `/v1/crm/records/${type}?snippets=true`), 'query/snippets')
  })

  test('GraphQL and the MCP tools have them', { tags: 'full' }, async () => {
    const { data } = succeed(
      await world.call('POST', '/graphql', {
        query: `query ($type: String!, $filter: JSON) { records(base: "crm", recordType: $type, filter: $filter, snippets: true) {
          data { id snippets { field text matches truncated } } } }`,
        variables: { type, filter: search('renewal') },
      }),
    )
    expect(data.records.data).toEqual([
      { id: 'short', snippets: expected.map((each) => ({ ...each, truncated: null })) },
    ])
    const args = { record_type: type, filter: search('renewal'), snippets: true, fields: ['data.none'] }
    const { body } = await callTool(world, '/mcp/crm', 'query_records', args)
    expect(body.data).toEqual([{ id: 'short', _search_score: expect.any(Number), _snippets: expected }])
    const searched = await callTool(world, '/mcp/crm?profile=lean', 'search', {
      query: 'renewal',
      snippets: true,
    })
    expect(searched.body.results).toMatchObject([{ id: `${type}/short`, snippets: expected }])
    const plain = await callTool(world, '/mcp/crm?profile=lean', 'search', { query: 'renewal' })
    expect(plain.body.results[0]).not.toHaveProperty('snippets')
  })

  test('an endpoint shows none of the fields that it hides', { tags: 'full' }, async () => {
    const hidden = await world.newType({
      json_schema: { type: 'object', properties: { title: { type: 'string' }, note: { type: 'string' } } },
    })
    await put('x', { title: 'zephyr seen', note: 'zephyr hidden' }, hidden)
    const tools = [{ record_type: hidden, operations: ['list'], fields: ['data.title'] }]
    succeed(await world.call('PUT', '/v1/crm/endpoints/desk', { tools }), 201)
    const { body, text } = await callTool(world, '/mcp/crm/e/desk', `list_${hidden}`, {
      filter: search('zephyr'),
      snippets: true,
    })
    expect(body.data[0]._snippets).toEqual([
      { field: 'data.title', text: 'zephyr seen', matches: ['zephyr'] },
    ])
    expect(text).not.toContain('hidden')
    const of = await callTool(world, '/mcp/crm/e/desk', `list_${hidden}`, {
      filter: search('hidden', 'data.note'),
      snippets: true,
    })
    expect(of.error.code).toBe('VALIDATION_ERROR')
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { callTool, jsonOf } from '../support/mcp.ts'
import { type Body, openServer, type TestServer } from '../support/server.ts'

let server: TestServer

const tool = async (name: string, args: Record<string, unknown> = {}, path = '/mcp/crm') => {
  const answer = await callTool(server, path, name, args)
  if (!answer.error && !answer.rpcError) expect(jsonOf(answer.text)).toEqual(answer.body)
  return answer
}
const tokens = (text: string) => Math.ceil(Buffer.byteLength(text) / 4)
const put = async (type: string, id: string, data: object) =>
  expect((await server.call('PUT', `/v1/crm/records/${type}/${id}`, { data })).status).toBeLessThan(300)
const linksIn = ({ content }: Body): Body[] => content.slice(1)

const LONG = 'Straße 🏔 "quoted" \\ '.repeat(2000)

beforeAll(async () => {
  server = await openServer()
  await server.call('PUT', '/v1/bases/crm', {})
  for (const type of ['note', 'page', 'job', 'list'])
    await server.call('PUT', `/v1/crm/record-types/${type}`, {})
  for (let n = 0; n < 40; n++)
    await put('note', `n${String(n).padStart(2, '0')}`, { n: n % 7, text: `${n} `.repeat(150) })
  for (const id of ['p1', 'p2', 'p3', 'p4', 'p5', 'p6'])
    await put('page', id, { title: `Page ${id}`, body: id + LONG, tags: ['a', 'b'] })
  await put('list', 'l1', { numbers: Array.from({ length: 20_000 }, (_, i) => i) })
})
afterAll(() => server.close())

describe('a list longer than max_tokens', () => {
  test.each([
    ['the order of ids', { sort: 'id' }],
    ['a sort with ties', { sort: '-data.n' }],
    ['the default order', {}],
    ['a filter and long pages', { filter: { field: 'data.n', op: 'lt', value: 9 }, limit: 1000 }],
  ])(
    'is read page by page with cursors in %s, with each record once and complete',
    { tags: 'full' },
    async (_, query) => {
      const seen: Body[] = []
      let cursor: string | undefined
      let pages = 0
      do {
        const asked = { record_type: 'note', ...query, max_tokens: 1000, ...(cursor && { cursor }) }
        const { body, text, result } = await tool('query_records', asked)
        expect(tokens(text)).toBeLessThanOrEqual(1000)
        expect(linksIn(result)).toEqual([])
        expect(body.meta).not.toHaveProperty('truncated')
        seen.push(...body.data)
        cursor = body.meta.next_cursor
        expect(body.meta.has_more).toBe(cursor !== undefined)
        if (cursor) expect(body.meta.hint).toMatch(/^\d+ of \d+ rows fit into.*next_cursor/)
        pages++
      } while (cursor && pages < 100)
      const all = (await server.call('POST', '/v1/crm/records/note/query', { ...query, limit: 1000 })).body
        .data
      expect(seen).toEqual(all)
      expect(pages).toBeGreaterThan(5)
    },
  )

  test('continues by cursor after its last row when the first page was read by offset', async () => {
    const first = await tool('query_records', {
      record_type: 'note',
      sort: 'id',
      offset: 10,
      max_tokens: 800,
    })
    const { data, meta } = first.body
    const next = await tool('query_records', {
      record_type: 'note',
      sort: 'id',
      cursor: meta.next_cursor,
      limit: 1,
    })
    expect(data[0].id).toBe('n10')
    expect(next.body.data[0].id).toBe(`n${10 + data.length}`)
  })

  test('has 4,000 tokens at most by default', async () => {
    const { body, text } = await tool('query_records', { record_type: 'note', limit: 1000 })
    expect(tokens(text)).toBeLessThanOrEqual(4000)
    expect(tokens(text)).toBeGreaterThan(3500)
    expect(body.meta.has_more).toBe(true)
    const whole = await tool('query_records', { record_type: 'note', limit: 1000, max_tokens: 100_000 })
    expect(whole.body).toEqual((await server.call('GET', '/v1/crm/records/note?limit=1000')).body)
  })

  test('of record types, bases or versions has max_tokens at most per page and continues by cursor', {
    tags: 'full',
  }, async () => {
    for (let n = 0; n < 12; n++) {
      succeed(await server.call('PUT', `/v1/bases/other-${n}`, { description: 'x'.repeat(300) }), 201)
      await put('note', 'n00', { n, text: 'y'.repeat(300) })
    }
    for (const [name, args, path, key] of [
      ['list_types', {}, '/mcp/crm', 'id'],
      ['list_bases', {}, '/mcp', 'id'],
      ['record_history', { record_type: 'note', id: 'n00' }, '/mcp/crm', 'version'],
    ] as const) {
      const whole = (await tool(name, { ...args, max_tokens: 50_000 }, path)).body
      const seen: unknown[] = []
      let cursor: string | undefined
      for (let pages = 0; pages < 30 && (pages === 0 || cursor); pages++) {
        const { body, text } = await tool(name, { ...args, max_tokens: 300, ...(cursor && { cursor }) }, path)
        expect(tokens(text), name).toBeLessThanOrEqual(300)
        seen.push(...body.data.map((row: Body) => row[key]))
        cursor = body.meta.next_cursor
      }
      expect(seen, name).toEqual(whole.data.map((row: Body) => row[key]))
      expect(whole.data.length, name).toBeGreaterThan(3)
    }
  })

  test('of groups, which has no cursor, continues by next_offset', async () => {
    const grouped = {
      record_type: 'note',
      aggregations: [{ fn: 'count' }],
      group_by: ['data.text'],
      sort: 'data.text',
    }
    const { body, text } = await tool('aggregate_records', { ...grouped, max_tokens: 500 })
    expect(tokens(text)).toBeLessThanOrEqual(500)
    expect(body.meta).toMatchObject({ has_more: true, next_offset: body.data.length })
    const next = await tool('aggregate_records', {
      ...grouped,
      offset: body.meta.next_offset,
      max_tokens: 9000,
    })
    const whole = await server.call('POST', '/v1/crm/records/note/aggregate', {
      ...grouped,
      record_type: undefined,
    })
    expect([...body.data, ...next.body.data]).toEqual(whole.body.data)
  })

  test('of SQL rows is cut, with the number of rows and a hint to use LIMIT and OFFSET', {
    tags: 'full',
  }, async () => {
    const query = 'SELECT id, data FROM note ORDER BY id'
    const { body, text } = await tool('sql_query', { query, max_tokens: 1000 })
    expect(tokens(text)).toBeLessThanOrEqual(1000)
    expect(body.meta).toMatchObject({ has_more: true, rows: body.data.length })
    expect(body.meta.hint).toContain('LIMIT and OFFSET')
  })

  test('of related records continues by next_offset, with each record once', { tags: 'full' }, async () => {
    succeed(await server.call('PUT', '/v1/crm/relationship-types/has', {}), 201)
    const operations = Array.from({ length: 15 }, (_, n) => ({
      type: 'upsert_relationship',
      rel_type: 'has',
      source_record_type: 'list',
      source_id: 'l1',
      target_record_type: 'note',
      target_id: `n${n + 10}`,
    }))
    succeed(await server.call('POST', '/v1/crm/batch', { operations }))
    const seen: string[] = []
    let offset: number | undefined = 0
    while (offset !== undefined) {
      const { body, text }: Body = await tool('get_related', {
        ...{ record_type: 'list', id: 'l1', max_tokens: 1500 },
        offset,
      })
      expect(tokens(text)).toBeLessThanOrEqual(1500)
      seen.push(...body.data.map(({ record }: Body) => record.id))
      offset = body.meta.next_offset
    }
    expect(new Set(seen).size).toBe(15)
    expect(seen).toHaveLength(15)
  })
})

describe('a value longer than max_tokens', () => {
  test('is cut between characters, named in `truncated`, and linked to the complete resource', async () => {
    const { body, text, result } = await tool('get_record', {
      record_type: 'page',
      id: 'p1',
      max_tokens: 400,
    })
    expect(tokens(text)).toBeLessThanOrEqual(400)
    expect(tokens(text)).toBeGreaterThan(350)
    expect(body.truncated).toEqual(['/data/body'])
    expect(`p1${LONG}`.startsWith(body.data.body)).toBe(true)
    expect(body.data.body.isWellFormed()).toBe(true)
    expect(body).toMatchObject({ id: 'p1', version: 1, data: { title: 'Page p1', tags: ['a', 'b'] } })
    expect(body.hint).toContain('max_tokens 400')
    expect(linksIn(result)).toEqual([
      {
        type: 'resource_link',
        uri: 'plinth://crm/records/page/p1',
        name: 'p1',
        mimeType: 'application/json',
      },
    ])
  })

  test('is cut in each row of a list, and the list continues with the next row', async () => {
    const { body, text, result } = await tool('query_records', { record_type: 'page', sort: 'id' })
    expect(tokens(text)).toBeLessThanOrEqual(4000)
    expect(body.data.length).toBeGreaterThanOrEqual(3)
    expect(body.meta.truncated).toEqual(body.data.map((_: Body, i: number) => `/data/${i}/data/body`))
    expect(linksIn(result).map(({ uri }) => uri)).toEqual(
      body.data.map(({ id }: Body) => `plinth://crm/records/page/${id}`),
    )
    const rest = await tool('query_records', {
      record_type: 'page',
      sort: 'id',
      cursor: body.meta.next_cursor,
    })
    expect(rest.body.data[0].id).toBe(`p${body.data.length + 1}`)
  })

  test('of type array is cut to its first items', async () => {
    const { body, text } = await tool('get_record', { record_type: 'list', id: 'l1', max_tokens: 300 })
    expect(tokens(text)).toBeLessThanOrEqual(300)
    expect(body.truncated).toEqual(['/data/numbers'])
    expect(body.data.numbers.slice(0, 50)).toEqual(Array.from({ length: 50 }, (_, i) => i))
  })

  test('of an SQL row is cut, with no resource link and no hint about one', { tags: 'full' }, async () => {
    const query = "SELECT data->>'body' AS body FROM page WHERE id = 'p1'"
    const { body, result } = await tool('sql_query', { query, max_tokens: 300 })
    expect(body.meta.truncated).toEqual(['/data/0/body'])
    expect(body.meta.hint).toMatch(/send a larger one[.]$/)
    expect(linksIn(result)).toEqual([])
  })

  test('is cut in describe_type, record_history and list_types too', { tags: 'full' }, async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 200 }, (_, n) => [`field_${n}`, { type: 'string', description: 'z'.repeat(80) }]),
    )
    await server.call('PUT', '/v1/crm/record-types/wide', { json_schema: { type: 'object', properties } })
    for (const [name, args] of [
      ['describe_type', { record_type: 'wide' }],
      ['record_history', { record_type: 'page', id: 'p1', version: 1 }],
      ['list_types', { limit: 1 }],
    ] as const) {
      const { body, text } = await tool(name, { ...args, max_tokens: 500 })
      expect(tokens(text), name).toBeLessThanOrEqual(500)
      expect(body.truncated ?? body.meta.truncated, name).not.toEqual([])
    }
  })
})

describe('the work tool with a small max_tokens', () => {
  test('returns all claimed records and cuts only their data', { tags: 'full' }, async () => {
    for (let n = 0; n < 8; n++) await put('job', `j${n}`, { text: LONG, n })
    const { body, text, result } = await tool('work', {
      action: 'claim',
      record_type: 'job',
      limit: 8,
      max_tokens: 1500,
    })
    expect(tokens(text)).toBeLessThanOrEqual(1500)
    expect(body.data).toHaveLength(8)
    expect(body.meta.count).toBe(8)
    for (const { record, claim } of body.data) {
      expect(record).toMatchObject({ record_type: 'job', version: 1, status: 'active' })
      expect(record.data.n).toBeTypeOf('number')
      expect(LONG.startsWith(record.data.text)).toBe(true)
      expect((await tool('work', { action: 'heartbeat', claim_id: claim.id })).error).toBeUndefined()
    }
    expect(body.meta.truncated).toEqual(body.data.map((_: Body, i: number) => `/data/${i}/record/data/text`))
    expect(linksIn(result)).toHaveLength(8)
  })

  test('returns all claim ids even if these alone exceed max_tokens', { tags: 'full' }, async () => {
    for (let n = 0; n < 30; n++) await put('job', `k${n}`, { text: LONG })
    const claim = { action: 'claim', record_type: 'job', limit: 30, max_tokens: 200 }
    const { body } = await tool('work', claim)
    expect(new Set(body.data.map(({ claim }: Body) => claim.id)).size).toBe(30)
    expect(body.data[0].record.data).toEqual({})
    expect(body.meta.hint).toContain('and 10 more')
  })

  test('cuts the matches of a wait to max_tokens', async () => {
    const asked = { action: 'wait', record_type: 'page', max_tokens: 600 }
    const { body, text } = await tool('work', asked)
    expect(tokens(text)).toBeLessThanOrEqual(600)
    expect(body.data.length).toBeGreaterThan(0)
    expect(body.meta.has_more).toBe(true)
  })
})

test('max_tokens is 200 to 100,000 and is refused by tools that write', async () => {
  for (const max_tokens of [199, 100_001, 1.5, '500']) {
    const { error } = await tool('query_records', { record_type: 'note', max_tokens })
    expect(error, String(max_tokens)).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: '/max_tokens' }],
    })
  }
  const written = await tool('upsert_record', { record_type: 'note', data: {}, max_tokens: 500 })
  expect(written.error.details[0]).toMatchObject({ path: '/max_tokens', code: 'unknown_key' })
  const released = await tool('work', { action: 'release', claim_id: 'x', max_tokens: 500 })
  expect(released.error.details[0]).toMatchObject({ path: '/max_tokens', code: 'unknown_key' })
})

test('GraphQL returns the cursor after each row of a page', async () => {
  const query = `query ($cursor: String) {
    records(base: "crm", recordType: "note", sort: "-data.n", limit: 5, cursor: $cursor) { data { id } cursors nextCursor }
  }`
  const ask = async (cursor?: string) =>
    (await server.call('POST', '/graphql', { query, variables: { cursor } })).body.data.records
  const first = await ask()
  expect(first.cursors).toHaveLength(5)
  expect(first.cursors[4]).toBe(first.nextCursor)
  expect((await ask(first.cursors[1])).data.slice(0, 3)).toEqual(first.data.slice(2))
})

/** External sources through MCP, at the addresses of a base and of an endpoint. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { callTool } from '../support/mcp.ts'
import { json, openUpstream, type Upstream } from '../support/upstream.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
let upstream: Upstream
beforeAll(async () => {
  upstream = await openUpstream()
  world = await openWorld({ PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1' })
  const deals = Array.from({ length: 200 }, (_, n) => ({ id: n, title: `Deal ${n} ${'x'.repeat(200)}` }))
  upstream.on('/deals', ({ url, method }, response) => {
    const limit = Number(url.searchParams.get('limit'))
    const offset = Number(url.searchParams.get('offset'))
    const found = method === 'POST' ? { id: 'new', title: 'New' } : deals.slice(offset, offset + limit)
    json(found)({} as never, response)
  })
  upstream.on('/deals/7', json(deals[7]))
  const url = `${upstream.url}/deals`
  const source = {
    ...{ name: 'erp', get: { url: `${url}/{{external_id}}` }, create: { url } },
    list: { url: `${url}?limit={{limit}}&offset={{offset}}` },
    field_mapping: { to_plinth: { external_id: '$.id', title: '$.title' } },
  }
  const type = {
    json_schema: { type: 'object', properties: { title: { type: 'string' } } },
    sources: [source],
  }
  succeed(await world.call('PUT', '/v1/crm/record-types/deal', type), 201)
})
afterAll(async () => {
  await world.close()
  await upstream.close()
})

const call = (name: string, args: object, path = '/mcp/crm') =>
  callTool(world, path, name, { record_type: 'deal', ...args })

test('describe_type lists the sources of a type', { tags: 'full' }, async () => {
  for (const detail of ['brief', 'standard', 'full'])
    expect((await call('describe_type', { detail })).body.sources).toEqual([
      { external_source: 'erp', operations: ['get', 'list', 'create'] },
    ])
})

test('query_records reads a page of a source, cut to its budget of tokens', async () => {
  const { body } = await call('query_records', { external_source: 'erp', limit: 3, fields: ['data.title'] })
  expect(body.data.map(({ id }: { id: string }) => id)).toEqual(['0', '1', '2'])
  const cut = (await call('query_records', { external_source: 'erp', limit: 100, max_tokens: 1000 })).body
  expect(cut.meta).toMatchObject({ has_more: true, next_offset: cut.data.length })
  expect(cut.data.length).toBeLessThan(100)
  const next = await call('query_records', { external_source: 'erp', limit: 1, offset: cut.meta.next_offset })
  expect(next.body.data[0].id).toBe(String(cut.data.length))
  const { error } = await call('query_records', {
    external_source: 'erp',
    filter: { field: 'id', op: 'eq', value: 'a' },
  })
  expect(error.details[0]).toMatchObject({ path: '/filter', code: 'not_of_source' })
})

test('get_record and the tools that create read and write a source', { tags: 'full' }, async () => {
  expect((await call('get_record', { id: '7', external_source: 'erp' })).body).toMatchObject({
    ...{ id: '7', external_source: 'erp', version: null },
  })
  const absent = await call('get_record', { id: '8', external_source: 'erp' })
  expect(absent.error.code).toBe('NOT_FOUND')
  const upserted = await call('upsert_record', { data: { title: 'New' }, external_source: 'erp' })
  expect(upserted.body).toMatchObject({ id: 'new', operation: 'created' })
  const typed = await callTool(world, '/mcp/crm', 'create_deal', { title: 'New', external_source: 'erp' })
  expect(typed.body).toMatchObject({ id: 'new', operation: 'created' })
  const changed = await call('update_record', { id: '7', data: { title: 'x' }, external_source: 'erp' })
  expect(changed.error.details[0]).toMatchObject({ code: 'not_of_source' })
  const { rows } = succeed(
    await world.call('POST', '/v1/crm/sql', { query: 'SELECT count(*)::int AS rows FROM deal' }),
  ).data[0]
  expect(rows).toBe(0)
})

test('at an endpoint with a policy on the type, its sources are refused and not asked', {
  tags: 'full',
}, async () => {
  const tools = [
    { record_type: 'deal', operations: ['create', 'get', 'list', 'upsert'], fields: ['data.title'] },
  ]
  succeed(await world.call('PUT', '/v1/crm/endpoints/desk', { tools }), 201)
  const asked = upstream.asked.length
  for (const name of ['create_deal', 'upsert_deal']) {
    const { error } = await callTool(world, '/mcp/crm/e/desk', name, {
      title: 'New',
      external_source: 'erp',
      external_id: 'a',
    })
    expect([name, error.code]).toEqual([name, 'FORBIDDEN'])
  }
  expect(upstream.asked).toHaveLength(asked)
})

test('a source that fails is logged as a warning without a stack, and not as an error of the server', async () => {
  upstream.on('/deals/broken', json({ error: 'down' }, 503))
  const { length } = world.log
  const { error } = await call('get_record', { id: 'broken', external_source: 'erp' })
  expect(error).toMatchObject({ code: 'INTERNAL_ERROR', details: [{ code: 'source_refused' }] })
  const written = world.log.slice(length).map((line) => JSON.parse(line))
  expect(written.filter(({ level }) => level >= 50)).toEqual([])
  expect(written.filter(({ level }) => level === 40)).toEqual([
    expect.objectContaining({ details: [expect.objectContaining({ code: 'source_refused' })] }),
  ])
  expect(world.log.slice(length).join('')).not.toMatch(/stack/)
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed, times } from '../support/answers.ts'
import { connect, DIALECTS, type Dialect, type McpClient } from '../support/mcp.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

const SCHEMA = {
  type: 'object',
  properties: { n: { type: 'number' }, text: { type: 'string' } },
  $defs: { unused: { oneOf: [{ const: 1 }] } },
}
const SHUT = 'shutcanary'
const SKILL = 'skill://plinth/SKILL.md'

let world: World
/** May read the type `task` of `crm` and nothing else. */
let limited: string
beforeAll(async () => {
  world = await openWorld()
  for (const base of ['other', 'bare']) succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
  const put = async (path: string, body: object) => succeed(await world.call('PUT', `/v1/${path}`, body), 201)
  await put('crm/record-types/task', { name: 'Task', description: 'What is to do.', json_schema: SCHEMA })
  await put(`crm/record-types/${SHUT}`, { description: SHUT })
  await put(`other/record-types/thing`, {})
  await put('crm/relationship-types/blocks', { source_record_types: ['task'], target_record_types: ['task'] })
  for (const n of times(3, (n) => n)) await put(`crm/records/task/t${n}`, { data: { n, text: `text ${n}` } })
  await put('crm/records/task/a:b', { data: { n: 10 } })
  await put(`crm/records/${SHUT}/s1`, { data: { n: 1, text: SHUT } })
  limited = (await world.newToken([{ record_type: 'task', permission: 'read' }])).token
})
afterAll(() => world.close())

const at = (path: string, dialect: Dialect = 'v1', token = world.adminToken) =>
  connect(world.url, token, dialect, path)
const read = async (client: McpClient, uri: string): Promise<Body> =>
  JSON.parse((await client.readResource({ uri })).contents[0].text)
const refusal = (client: McpClient, uri: string): Promise<Body> =>
  client.readResource({ uri }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
const PREVIOUS_SEARCH = encodeURIComponent('{"field":"previous.data.n","op":"search","value":"a"}')
const list = (type: string, filter?: object) =>
  `plinth://crm/records/${type}${filter ? `?filter=${encodeURIComponent(JSON.stringify(filter))}` : ''}`

describe.each(DIALECTS)('a %s client', (dialect) => {
  test('lists the types of the base as resources and reads each completely', async () => {
    const client = await at('/mcp/crm', dialect)
    const { resources } = await client.listResources()
    expect(resources.map(({ uri }: Body) => uri).sort()).toEqual([
      `plinth://crm/types/${SHUT}`,
      'plinth://crm/types/task',
      SKILL,
    ])
    const task = resources.find(({ name }: Body) => name === 'task')
    expect(task).toMatchObject({ title: 'Task', mimeType: 'application/json' })
    expect(task.description).toContain('What is to do.')
    const { examples, relationships, ...type } = await read(client, task.uri)
    expect(type).toEqual((await world.call('GET', '/v1/crm/record-types/task')).body)
    expect(type.json_schema).toEqual(SCHEMA)
    expect(JSON.stringify(relationships)).toContain('blocks')
    expect(examples.length).toBeGreaterThan(0)
    await client.close()
  })

  test('reads a record as REST returns it, with or without percent-encoding in the URI', async () => {
    const client = await at('/mcp/crm', dialect)
    const stored = (await world.call('GET', '/v1/crm/records/task/a:b')).body
    for (const uri of [
      'plinth://crm/records/task/a:b',
      'plinth://crm/records/task/a%3Ab',
      'PLINTH://CRM/records/task/%61:b',
    ]) {
      const { contents } = await client.readResource({ uri })
      expect(contents).toMatchObject([{ uri, mimeType: 'application/json' }])
      expect(JSON.parse(contents[0].text)).toEqual(stored)
      expect(contents[0]._meta['plinth/notice']).toMatch(/untrusted/i)
    }
    await client.close()
  })

  test('reads a filtered list of records', async () => {
    const client = await at('/mcp/crm', dialect)
    const few = await read(client, list('task', { field: 'data.n', op: 'lt', value: 2 }))
    expect(few.data.map(({ id }: Body) => id)).toEqual(['t1', 't0'])
    expect(few.meta).toMatchObject({ has_more: false })
    expect(few.meta.next).toBeUndefined()
    expect((await read(client, list('task'))).data).toHaveLength(4)
    await client.close()
  })

  test('gets the same not-found error for absent resources and those outside the grants', async () => {
    const client = await at('/mcp/crm', dialect, limited)
    const uris = [
      'plinth://crm/types/absent',
      `plinth://crm/types/${SHUT}`,
      `plinth://crm/records/${SHUT}/s1`,
      `plinth://crm/records/${SHUT}/absent`,
      'plinth://crm/records/task/absent',
      list(SHUT, { field: 'data.n', op: 'eq', value: 1 }),
      list('absent'),
      'plinth://other/types/thing',
      'plinth://absent/types/thing',
      'test://anything',
    ]
    const errors = await Promise.all(uris.map((uri) => refusal(client, uri)))
    for (const error of errors) {
      // SDK v2 maps both error codes to the newer one.
      expect(error.code).toBe(dialect === 'v1' ? -32002 : -32602)
      expect(error.message).toBe(errors[0].message)
      expect(error.message).toContain('resources/list')
    }
    await client.close()
  })

  test('gets an unknown URI back in the error, cut to 300 characters', async () => {
    const client = await at('/mcp/crm', dialect)
    const longest = `plinth://crm/records/${'t'.repeat(64)}/${'i'.repeat(128)}`
    expect((await refusal(client, longest)).data).toEqual({ uri: longest })
    const { data } = await refusal(client, `plinth://crm/${'x'.repeat(10_000)}`)
    expect(data.uri).toMatch(/^plinth:\/\/crm\/x+$/)
    expect(data.uri.length).toBeLessThanOrEqual(300)
    await client.close()
  })

  test('gets an error that names a faulty filter, option or cursor of a list', async () => {
    const client = await at('/mcp/crm', dialect)
    const wrong: [uri: string, words: RegExp][] = [
      [list('task', { field: 'data.n', op: 'eqq', value: 1 }), /filter\/op.*"eq"/],
      ['plinth://crm/records/task?filter=%7B', /filter.*malformed/],
      ['plinth://crm/records/task?condition=%7B', /condition.*malformed/],
      [`plinth://crm/records/task?condition=${PREVIOUS_SEARCH}`, /condition.*previous state/],
      ['plinth://crm/records/task?filtre=1', /"filtre".*"filter"/],
      ['plinth://crm/records/task?cursor=abc', /cursor/],
    ]
    for (const [uri, words] of wrong) {
      const error = await refusal(client, uri)
      expect(error.code).toBe(-32602)
      expect(error.message).toMatch(words)
    }
    await client.close()
  })
})

test('/mcp lists the types of all bases, with the base id in each name', async () => {
  const client = await at('/mcp')
  const { resources } = await client.listResources()
  expect(resources.map(({ name }: Body) => name).sort()).toEqual([
    `crm/${SHUT}`,
    'crm/task',
    'other/thing',
    'plinth',
  ])
  expect(await read(client, 'plinth://other/types/thing')).toMatchObject({ id: 'thing' })
  await client.close()
})

test('the URL of a base does not read resources of other bases', async () => {
  const client = await at('/mcp/crm')
  expect((await refusal(client, 'plinth://other/types/thing')).code).toBe(-32002)
  await client.close()
})

test('resource templates contain {base} on /mcp and the base id on the URL of a base', async () => {
  const [all, one] = await Promise.all([at('/mcp'), at('/mcp/crm')])
  const templates = async (client: McpClient) =>
    (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }: Body) => uriTemplate)
  expect(await templates(all)).toEqual([
    'plinth://{base}/types/{type}',
    'plinth://{base}/records/{type}/{id}',
    'plinth://{base}/records/{type}{?filter,condition,cursor}',
    'plinth://{base}/files/{file_type}/{+path}',
    'plinth://{base}/files/{file_type}{?prefix,cursor}',
    'plinth://{base}/actions/{action}/runs/{run_id}',
    'plinth://{base}/actions/{action}/runs{?status,cursor}',
  ])
  expect(await templates(one)).toEqual([
    'plinth://crm/types/{type}',
    'plinth://crm/records/{type}/{id}',
    'plinth://crm/records/{type}{?filter,condition,cursor}',
    'plinth://crm/files/{file_type}/{+path}',
    'plinth://crm/files/{file_type}{?prefix,cursor}',
    'plinth://crm/actions/{action}/runs/{run_id}',
    'plinth://crm/actions/{action}/runs{?status,cursor}',
  ])
  await Promise.all([all.close(), one.close()])
})

test('resources outside the grants are not listed', { tags: 'full' }, async () => {
  for (const path of ['/mcp', '/mcp/crm']) {
    const client = await at(path, 'v1', limited)
    const { resources } = await client.listResources()
    expect(resources.map(({ uri }: Body) => uri)).toEqual([SKILL, 'plinth://crm/types/task'])
    const shown = JSON.stringify([
      await client.listResourceTemplates(),
      await read(client, 'plinth://crm/types/task'),
    ])
    expect(shown).not.toContain(SHUT)
    await client.close()
  }
})

test('types are listed in pages of 100, and the cursor of another list is refused', {
  tags: 'full',
}, async () => {
  const bases = ['many', 'more']
  for (const base of bases) succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
  const operations = times(70, (n) => ({ type: 'upsert_record_type', id: `t${n}` }))
  for (const base of bases) succeed(await world.call('POST', `/v1/${base}/batch`, { operations }))
  const { token } = await world.newToken([{ base: bases, permission: 'read' }])
  const client = await at('/mcp', 'v1', token)
  const first = await client.listResources()
  // The skill comes with the first page.
  expect(first.resources.shift().uri).toBe(SKILL)
  expect(first.resources).toHaveLength(100)
  const second = await client.listResources({ cursor: first.nextCursor })
  const names = [...first.resources, ...second.resources].map(({ name }: Body) => name)
  expect(second.nextCursor).toBeUndefined()
  expect(new Set(names).size).toBe(140)
  for (const cursor of ['abc', first.nextCursor.slice(0, -8), Buffer.from('["a","b"]').toString('base64url')])
    await expect(client.listResources({ cursor })).rejects.toMatchObject({ code: -32602 })
  const other = await at('/mcp')
  await expect(other.listResources({ cursor: first.nextCursor })).rejects.toMatchObject({ code: -32602 })
  await Promise.all([client.close(), other.close()])
})

test('a list of large records has at most 256 KiB per page and continues by meta.next', {
  tags: 'full',
}, async () => {
  const type = await world.newType()
  const text = 'x'.repeat(60_000)
  for (const n of times(8, (n) => n))
    succeed(await world.call('PUT', `/v1/crm/records/${type}/r${n}`, { data: { text } }), 201)
  const huge = 'y'.repeat(400_000)
  succeed(await world.call('PUT', `/v1/crm/records/${type}/huge`, { data: { text: huge } }), 201)
  const client = await at('/mcp/crm')
  const seen: string[] = []
  for (let uri: string | undefined = list(type); uri !== undefined; ) {
    const { data, meta }: Body = await read(client, uri)
    expect(Buffer.byteLength(JSON.stringify(data)) <= 256 * 1024 || data.length === 1).toBe(true)
    expect(meta.has_more).toBe(meta.next !== undefined)
    seen.push(...data.map(({ id }: Body) => id))
    uri = meta.next
  }
  expect(seen).toEqual(['huge', ...times(8, (n) => `r${7 - n}`)])
  await client.close()
})

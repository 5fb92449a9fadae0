import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, TIME, times } from '../../support/answers.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const typePath = (id: string) => `/v1/crm/record-types/${id}`
const put = (id: string, body: object, query = '') => world.call('PUT', `${typePath(id)}${query}`, body)
const NUMBER = { type: 'object', properties: { v: { type: 'number' } } }

describe('PUT and GET of a record type', () => {
  test('create and return a type: 201, Location, ETag, every field', async () => {
    const body = {
      name: 'Task',
      description: 'text',
      icon: '🧱',
      color: '#aa0000',
      json_schema: { type: 'object', properties: { z: {}, a: { type: 'integer' } } },
      timezone: 'Europe/Zurich',
      display: { z: 1, order: [1, 2] },
    }
    const made = await put('Task.v1-x_y', body)
    const type = succeed(made, 201)
    expect(made.headers.get('location')).toBe(typePath('Task.v1-x_y'))
    expect(made.headers.get('etag')).toBe('"1"')
    const times = { created_at: expect.stringMatching(TIME), updated_at: type.created_at }
    expect(type).toEqual({ id: 'Task.v1-x_y', ...body, indexes: [], sources: [], version: 1, ...times })
    const read = await world.call('GET', typePath('Task.v1-x_y'))
    expect(succeed(read)).toEqual(type)
    expect(read.text).toContain('{"z":{},"a":{"type":"integer"}}')
    expectFailure(await world.call('GET', typePath('task.v1-x_y')), 'NOT_FOUND')
  })

  test('an identical PUT changes nothing; a PUT of {} resets all fields to their defaults', async () => {
    const body = { name: 'N', description: 'd', json_schema: NUMBER, timezone: 'Asia/Tokyo' }
    const made = succeed(await put('again', body), 201)
    expect(succeed(await put('again', { ...body, id: 'again', indexes: [], sources: [] }))).toEqual(made)
    expect(succeed(await put('again', {}))).toMatchObject({
      name: 'again',
      description: null,
      json_schema: {},
      timezone: 'UTC',
      version: 2,
    })
  })

  test('the list is paged, newest first, and contains no types of other bases', {
    tags: 'full',
  }, async () => {
    succeed(await world.call('PUT', '/v1/bases/listed', {}), 201)
    for (const id of ['a', 'b', 'c']) await world.call('PUT', `/v1/listed/record-types/${id}`, {})
    const list = succeed(await world.call('GET', '/v1/listed/record-types?limit=2&include_total=true'))
    expect(list.data.map((type: Body) => type.id)).toEqual(['c', 'b'])
    expect(list.meta).toEqual({
      has_more: true,
      limit: 2,
      offset: 0,
      total: 3,
      next_cursor: expect.any(String),
    })
    expectFailure(await world.call('GET', '/v1/absent/record-types'), 'NOT_FOUND')
  })

  test.each(['_x', '.x', '-x', 'x'.repeat(65), 'a%20b', 'a:b', 'a%2Fb', '__proto__', '%C3%A9'])(
    'refuse the id %s',
    async (id) => {
      expectFault(await put(id, {}), 'path/id')
    },
  )

  test.each<[object, string, string?]>([
    [{ json_shema: {} }, '/json_shema', 'json_schema'],
    [{ id: 'other' }, '/id'],
    [{ timezone: 'Europe/Zurch' }, '/timezone', 'Europe/Zurich'],
    [{ timezone: '+02:00' }, '/timezone'],
    [{ display: [] }, '/display'],
    [{ name: 3 }, '/name'],
    [{ version: 1 }, '/version'],
    [{ portable_id: 'x' }, '/portable_id'],
    [{ json_schema: { type: 'array' } }, '/json_schema/type'],
    [{ json_schema: [] }, '/json_schema'],
    [
      { json_schema: { type: 'object', properties: { a: { type: 'strng' } } } },
      '/json_schema/properties/a/type',
    ],
    [{ indexes: [{ fields: ['data.a'], uniqe: true }] }, '/indexes/0/uniqe', 'unique'],
    [{ indexes: [{ fields: ['data.a[]'] }] }, '/indexes/0/fields/0'],
    [{ sources: [{ name: 'x' }] }, '/sources/0'],
    [{ migration: [{ op: 'drop' }] }, '/migration/0/field'],
  ])('refuse %j at %s', async (body, path, hint) => {
    const fault = expectFault(await put('refused', body), path)
    if (hint) expect(fault.hint).toBe(hint)
    expectFailure(await world.call('GET', typePath('refused')), 'NOT_FOUND')
  })

  test('a schema over 256 KiB and a remote $ref are refused', async () => {
    const json_schema = { type: 'object', description: 'x'.repeat(257 * 1024) }
    expectFailure(await put('huge', { json_schema }), 'VALIDATION_ERROR')
    const remote = { type: 'object', properties: { a: { $ref: 'http://127.0.0.1:1/x.json' } } }
    expectFailure(await put('remote', { json_schema: remote }), 'VALIDATION_ERROR')
  })

  test('an $id that is no string is refused', async () => {
    const properties = { place: { $id: { toString: 1 } } }
    const answer = await world.call('PUT', '/v1/crm/record-types/odd', { json_schema: { properties } })
    expectFault(answer, '/json_schema/properties/place/$id')
  })

  test('obey If-Match', async () => {
    const held = (tag: string) => ({ 'if-match': tag })
    const call = (tag: string) => world.call('PUT', typePath('cond'), { name: tag }, held(tag))
    expectFailure(await call('*'), 'NOT_FOUND')
    succeed(await put('cond', {}), 201)
    expectFailure(await call('"2"'), 'CONFLICT')
    succeed(await call('"7", "1"'))
    succeed(await call('*'))
  })
})

describe('PATCH of a record type', () => {
  test('changes the given fields and keeps the others', async () => {
    succeed(await put('patched', { description: 'old', icon: 'i', json_schema: NUMBER }), 201)
    const patched = await world.call('PATCH', typePath('patched'), { description: null, name: 'N' })
    expect(succeed(patched)).toMatchObject({
      name: 'N',
      description: null,
      icon: 'i',
      json_schema: NUMBER,
      version: 2,
    })
    expectFault(await world.call('PATCH', typePath('patched'), { descripton: 'x' }), '/descripton')
    expectFailure(await world.call('PATCH', typePath('absent'), { name: 'x' }), 'NOT_FOUND')
    const stale = { 'if-match': '"1"' }
    expectFailure(await world.call('PATCH', typePath('patched'), { name: 'x' }, stale), 'CONFLICT')
  })

  test('with an empty body changes nothing', async () => {
    succeed(await put('still', {}), 201)
    expect(succeed(await world.call('PATCH', typePath('still'), {})).version).toBe(1)
  })
})

describe('DELETE of a record type', () => {
  test('a confirm that names another id deletes nothing, also where none is needed', {
    tags: 'full',
  }, async () => {
    succeed(await put('bare', {}), 201)
    for (const confirm of ['other', 'BARE', '']) {
      const { details } = expectFailure(
        await world.call('DELETE', `${typePath('bare')}?confirm=${confirm}`),
        'CONFLICT',
      )
      expect(details[0]).toMatchObject({ path: 'query/confirm', code: 'confirm_required', expected: 'bare' })
    }
    succeed(await world.call('DELETE', `${typePath('bare')}?confirm=bare`))

    succeed(await world.call('PUT', '/v1/bases/bare', {}), 201)
    expectFailure(await world.call('DELETE', '/v1/bases/bare?confirm=crm'), 'CONFLICT')
    succeed(await world.call('DELETE', '/v1/bases/bare?confirm=bare'))
  })

  test('needs confirm if it has records, and logs the deletion of each record before that of the type', {
    tags: 'full',
  }, async () => {
    succeed(await put('full', {}), 201)
    for (const id of times(3, (i) => `r${i}`))
      succeed(await world.call('PUT', `/v1/crm/records/full/${id}`, { data: { id } }), 201)
    const { details } = expectFailure(await world.call('DELETE', typePath('full')), 'CONFLICT')
    expect(details[0]).toMatchObject({ path: 'query/confirm', expected: 'full' })
    expectFailure(await world.call('DELETE', `${typePath('full')}?confirm=other`), 'CONFLICT')
    succeed(await world.call('GET', '/v1/crm/records/full/r0'))

    const gone = await world.call('DELETE', `${typePath('full')}?confirm=full`)
    expect(succeed(gone)).toEqual({ id: 'full', deleted: true })
    expectFailure(await world.call('GET', '/v1/crm/records/full/r0'), 'NOT_FOUND')
    expectFailure(await world.call('GET', typePath('full')), 'NOT_FOUND')
    expectFailure(await world.call('DELETE', typePath('full')), 'NOT_FOUND')
    const rows = await world.database.query<{ kind: string; id: string; version: number }>(
      `SELECT kind, id, version FROM plinth.change WHERE base_id = 'crm' AND request_id = $1 ORDER BY seq`,
      [gone.headers.get('x-request-id')],
    )
    expect(rows.slice(0, 3).map((row) => [row.kind, row.version])).toEqual(times(3, () => ['record', 2]))
    expect(rows.at(-1)).toEqual({ kind: 'record_type', id: 'full', version: 2 })
  })

  test('followed by a PUT makes a new type, and its records continue their version numbers', async () => {
    succeed(await put('again2', {}), 201)
    succeed(await world.call('PUT', '/v1/crm/records/again2/a', { data: {} }), 201)
    succeed(await world.call('DELETE', `${typePath('again2')}?confirm=again2`))
    expectFailure(await world.call('PUT', '/v1/crm/records/again2/a', { data: {} }), 'NOT_FOUND')
    succeed(await put('again2', {}), 201)
    expect(succeed(await world.call('PUT', '/v1/crm/records/again2/a', { data: {} }), 201).version).toBe(3)
  })
})

describe('A preview_only base', () => {
  test('refuses every configuration change but the PUT of the base, and accepts records', {
    tags: 'full',
  }, async () => {
    succeed(await world.call('PUT', '/v1/bases/guarded', {}), 201)
    succeed(await world.call('PUT', '/v1/guarded/record-types/task', {}), 201)
    const settings = { schema_changes: 'preview_only' }
    succeed(await world.call('PUT', '/v1/bases/guarded', { settings }))
    const at = '/v1/guarded/record-types'
    const tool = { name: 'x', inputSchema: { type: 'object' } }
    for (const [method, path, body] of [
      ['PUT', `${at}/task`, { name: 'x' }],
      ['PUT', `${at}/other`, {}],
      ['PUT', `${at}/other?dry_run=true`, {}],
      ['PATCH', `${at}/task`, { name: 'x' }],
      ['DELETE', `${at}/task`, undefined],
      ['POST', '/v1/guarded/providers/mcp/import', { tools: [tool] }],
    ] as const) {
      const { details } = expectFailure(await world.call(method, path, body), 'FORBIDDEN')
      expect(details[0].code, `${method} ${path}`).toBe('preview_only')
    }
    expect(succeed(await world.call('GET', at)).data).toHaveLength(1)
    succeed(await world.call('PUT', '/v1/guarded/records/task/a', { data: {} }), 201)
    succeed(await world.call('PUT', '/v1/bases/guarded', {}))
    succeed(await world.call('PUT', `${at}/other`, {}), 201)
  })
})

describe('The portable id of a record type', () => {
  test('is assigned once and differs from that of every other type', { tags: 'full' }, async () => {
    for (const id of ['send.mail', 'send_mail', 'record', `x${'y'.repeat(63)}`])
      succeed(await put(id, {}), 201)
    const rows = await world.database.query<{ id: string; portable_id: string }>(
      `SELECT id, portable_id FROM plinth.record_type WHERE base_id = 'crm'`,
    )
    const ids = Object.fromEntries(rows.map((row) => [row.id, row.portable_id]))
    expect(ids['send.mail']).toBe('send_mail')
    expect(ids['send_mail']).toMatch(/^send_mail_[0-9a-f]{6}$/)
    expect(ids['record']).toMatch(/^record_[0-9a-f]{6}$/)
    expect(Math.max(...rows.map((row) => row.portable_id.length))).toBeLessThanOrEqual(54)
    expect(new Set(rows.map((row) => row.portable_id)).size).toBe(rows.length)
    succeed(await put('send_mail', { name: 'new' }))
    const [kept] = await world.database.query<{ portable_id: string }>(
      `SELECT portable_id FROM plinth.record_type WHERE base_id = 'crm' AND id = 'send_mail'`,
    )
    expect(kept?.portable_id).toBe(ids['send_mail'])
  })
})

test('a PUT or PATCH that removes properties of the schema warns with their names', {
  tags: 'full',
}, async () => {
  const path = `/v1/crm/record-types/${await world.newType({
    json_schema: {
      type: 'object',
      properties: {
        a: {},
        b: { type: 'object', properties: { c: {}, d: {} } },
        list: { type: 'array', items: { type: 'object', properties: { e: {} } } },
      },
    },
  })}`
  const next = { type: 'object', properties: { b: { type: 'object', properties: { d: {} } }, list: {} } }
  const { meta } = succeed(await world.call('PUT', path, { json_schema: next }))
  const clients = meta.warnings.pop()
  expect(meta.warnings.map((text: string) => /"([^"]+)"/.exec(text)?.[1])).toEqual(['a', 'b.c', 'list[].e'])
  expect(clients).toMatch(
    /: (\w+)\.a was removed\. \1\.list changed type from \S+ to JSON\. \1__b\.c was removed\.$/,
  )
  expect(succeed(await world.call('PATCH', path, { name: 'New' }))).not.toHaveProperty('meta')
  expect(succeed(await world.call('PUT', path, {})).meta.warnings).toHaveLength(3)
})

test.each(Object.getOwnPropertyNames(Object.prototype))(
  'a schema with "%s", which each object has, is answered as with any other unknown name',
  async (name) => {
    const putProperty = (property: object) =>
      put('inherited', { json_schema: { type: 'object', properties: { a: property } } })
    for (const type of [name, ['string', name]]) {
      const { status, body } = await putProperty({ type })
      expect([status, body.error?.details[0].code], `${type}`).toEqual([400, 'enum'])
    }
    const { status } = await putProperty({ type: 'string', format: name })
    expect([200, 201]).toContain(status)
  },
)

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, times } from '../../support/answers.ts'
import { callTool } from '../../support/mcp.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const NUMBER = { type: 'object', properties: { v: { type: 'number' } } }
const typePath = (id: string) => `/v1/crm/record-types/${id}`
const recordPath = (type: string, id: string) => `/v1/crm/records/${type}/${id}`
const put = (type: string, id: string, data: object) => world.call('PUT', recordPath(type, id), { data })
const get = async (type: string, id: string) => succeed(await world.call('GET', recordPath(type, id)))

test('a schema that 13 of 17 records violate is 409 with count and ten samples, and changes nothing', {
  tags: 'full',
}, async () => {
  const type = await world.newType()
  const ids = times(17, (i) => `r-${String.fromCharCode(97 + i)}`)
  for (const [i, id] of ids.entries()) succeed(await put(type, id, { v: i < 13 ? 'text' : i }), 201)
  for (const method of ['PUT', 'PATCH']) {
    const { details } = expectFailure(
      await world.call(method, typePath(type), { json_schema: NUMBER }),
      'CONFLICT',
    )
    expect(details[0]).toMatchObject({ path: '/json_schema', code: 'records_invalid', count: 13 })
    expect(details[0].samples.map((sample: Body) => sample.id)).toEqual(ids.slice(0, 10))
    expect(details[0].samples[0].path).toBe('/data/v')
  }
  expect(succeed(await world.call('GET', typePath(type)))).toMatchObject({ version: 1, json_schema: {} })
  succeed(await put(type, ids[0] ?? '', { v: 'still text' }))
  expect(await get(type, ids[1] ?? '')).not.toHaveProperty('valid')
})

test.each([3, 2500])(
  'a change of %d properties finds the records that break one, short and long',
  async (count) => {
    const type = await world.newType()
    const text = 'long '.repeat(1000)
    const all = [{ p0: 1 }, { p1: 'x' }, { p2: 2, text }, { p1: 'x', text }, { q: 1 }, { q: 1, text }]
    for (const [n, data] of all.entries()) succeed(await put(type, `r${n}`, data), 201)
    const properties = Object.fromEntries(times(count, (n) => [`p${n}`, { type: 'string' }]))
    const refused = await world.call('PUT', typePath(type), { json_schema: { type: 'object', properties } })
    const [{ count: broken, samples }] = expectFailure(refused, 'CONFLICT').details
    expect([broken, samples.map((sample: Body) => sample.id)]).toEqual([2, ['r0', 'r2']])
  },
)

describe('A schema change with on_invalid=allow', () => {
  test('keeps invalid records readable and flags them; their next write must be valid', {
    tags: 'full',
  }, async () => {
    const type = await world.newType()
    succeed(await put(type, 'bad', { v: 'text' }), 201)
    succeed(await put(type, 'good', { v: 1 }), 201)
    const allowed = await world.call('PUT', `${typePath(type)}?on_invalid=allow`, { json_schema: NUMBER })
    expect(succeed(allowed)).toMatchObject({ version: 2, json_schema: NUMBER })

    expect(await get(type, 'bad')).toMatchObject({ valid: false, version: 1, data: { v: 'text' } })
    expect(await get(type, 'good')).not.toHaveProperty('valid')
    const { data } = succeed(await world.call('GET', `/v1/crm/records/${type}?sort=id`))
    expect(data.map((record: Body) => record.valid)).toEqual([false, undefined])
    expect(await world.logOf(type, 'bad')).toHaveLength(1)

    expectFault(await put(type, 'bad', { v: 'text' }), '/data/v')
    expectFailure(await world.call('PATCH', recordPath(type, 'bad'), { data: { w: 1 } }), 'VALIDATION_ERROR')
    const cancelled = succeed(await world.call('POST', `${recordPath(type, 'bad')}/cancel`))
    expect(cancelled).toMatchObject({ valid: false, status: 'cancelled' })
    expect(succeed(await put(type, 'bad', { v: 2 }))).not.toHaveProperty('valid')
    expect(await get(type, 'bad')).not.toHaveProperty('valid')
  })

  test('leaves records that a filter on valid finds, on each surface', async () => {
    const type = await world.newType()
    for (const [id, v] of Object.entries({ bad: 'text', good: 1, worse: true }))
      succeed(await put(type, id, { v }), 201)
    succeed(await world.call('PUT', `${typePath(type)}?on_invalid=allow`, { json_schema: NUMBER }))
    const at = `/v1/crm/records/${type}`
    const listed = async (filter: object, more = {}) => {
      const { data } = succeed(await world.call('POST', `${at}/query`, { filter, sort: 'id', ...more }))
      return data.map(({ id }: Body) => id)
    }
    const invalid = { field: 'valid', op: 'eq', value: false }
    expect(await listed(invalid)).toEqual(['bad', 'worse'])
    expect(await listed({ and: [{ not: invalid }, { field: 'data.v', op: 'gt', value: 0 }] })).toEqual([
      'good',
    ])
    const counted = await world.call('POST', `${at}/aggregate`, {
      aggregations: [{ fn: 'count' }],
      filter: { field: 'valid', op: 'neq', value: true },
    })
    expect(succeed(counted).data).toEqual([{ count: 2 }])
    const { body } = await callTool(world, '/mcp/crm', 'query_records', {
      record_type: type,
      filter: invalid,
    })
    expect(body.data.map(({ id }: Body) => id).sort()).toEqual(['bad', 'worse'])
    const query = `{ ${type}Records(where: { _valid: { eq: false } }, sort: [{ id: ASC }]) { nodes { id _valid } } }`
    const graph = succeed(await world.call('POST', '/graphql/crm', { query }))
    expect(Object.values(graph.data)).toEqual([
      {
        nodes: [
          { id: 'bad', _valid: false },
          { id: 'worse', _valid: false },
        ],
      },
    ])
    const past = { filter: invalid, as_of: '0s' }
    expectFault(await world.call('POST', `${at}/query`, past), '/filter/field')
    expectFault(await world.call('POST', `${at}/query`, { sort: 'valid' }), '/sort')
    const linked = { field: 'near.valid', op: 'eq', value: false }
    succeed(
      await world.call('PUT', '/v1/crm/relationship-types/near', {
        source_record_types: [type],
        target_record_types: [type],
      }),
      201,
    )
    const link = {
      rel_type: 'near',
      source_record_type: type,
      source_id: 'good',
      target_record_type: type,
      target_id: 'bad',
    }
    succeed(await world.call('PUT', '/v1/crm/relationships/l1', link), 201)
    expect(await listed(linked)).toEqual(['good'])
  })

  test('is undone by a looser schema, which removes the flags', async () => {
    const type = await world.newType()
    succeed(await put(type, 'bad', { v: 'text' }), 201)
    succeed(await world.call('PUT', `${typePath(type)}?on_invalid=allow`, { json_schema: NUMBER }))
    expect(await get(type, 'bad')).toMatchObject({ valid: false })
    succeed(await world.call('PUT', typePath(type), {}))
    expect(await get(type, 'bad')).not.toHaveProperty('valid')
  })

  test('refuses any other value of on_invalid', async () => {
    const type = await world.newType()
    const fault = expectFault(
      await world.call('PUT', `${typePath(type)}?on_invalid=alow`, {}),
      'query/on_invalid',
    )
    expect(fault.hint).toBe('allow')
  })
})

describe('A schema change with migrate=true', () => {
  const migrate = (type: string, json_schema: object, migration: unknown, method = 'PUT') =>
    world.call(method, `${typePath(type)}?migrate=true`, { json_schema, migration })

  test.each<[string, object, unknown, object, object]>([
    [
      'default',
      { type: 'object', required: ['s'] },
      [{ op: 'default', field: 'data.s', value: 'new' }],
      { a: 1 },
      { a: 1, s: 'new' },
    ],
    [
      'default, in an object that is not there yet',
      { type: 'object', required: ['o'] },
      [{ op: 'default', field: 'o.p', value: null }],
      {},
      { o: { p: null } },
    ],
    [
      'rename',
      { type: 'object', properties: { b: {} }, additionalProperties: false },
      [{ op: 'rename', field: 'data.a', to: 'data.b' }],
      { a: [1] },
      { b: [1] },
    ],
    ['cast to number', NUMBER, [{ op: 'cast', field: 'data.v', type: 'number' }], { v: '1.5' }, { v: 1.5 }],
    [
      'cast to number, signed',
      NUMBER,
      [{ op: 'cast', field: 'v', type: 'number' }],
      { v: ' +1e3 ' },
      { v: 1000 },
    ],
    [
      'cast to boolean',
      { type: 'object', properties: { v: { type: 'boolean' } } },
      [{ op: 'cast', field: 'data["v"]', type: 'boolean' }],
      { v: 'true' },
      { v: true },
    ],
    [
      'replace',
      { type: 'object', properties: { v: { enum: ['normal', 'high'] } } },
      [{ op: 'replace', field: 'data.v', from: 'low', value: 'normal' }],
      { v: 'low' },
      { v: 'normal' },
    ],
    [
      'replace a list',
      { type: 'object', properties: { v: { maxItems: 1 }, w: { type: 'string' } } },
      [
        { op: 'replace', field: 'v', from: [1, { a: null }], value: [1] },
        { op: 'replace', field: 'w', from: null, value: 'none' },
      ],
      { v: [1, { a: null }], w: null },
      { v: [1], w: 'none' },
    ],
    [
      'drop',
      { type: 'object', properties: { keep: {} }, additionalProperties: false },
      [{ op: 'drop', field: 'data.a' }],
      { keep: 1, a: 2 },
      { keep: 1 },
    ],
  ])(
    'applies the step "%s" and logs each changed record',
    async (_name, schema, migration, before, after) => {
      const type = await world.newType()
      succeed(await put(type, 'a', before), 201)
      succeed(await put(type, 'same', after), 201)
      const changed = await migrate(type, schema, migration)
      expect(succeed(changed).version).toBe(2)
      expect(await get(type, 'a')).toMatchObject({ data: after, version: 2 })
      expect(await get(type, 'same')).toMatchObject({ data: after, version: 1 })

      const log = await world.logOf(type)
      expect(log.map((row) => [row.id, row.operation, row.version])).toEqual([
        ['a', 'create', 1],
        ['same', 'create', 1],
        ['a', 'update', 2],
      ])
      expect(log.at(-1)).toMatchObject({
        data: after,
        via: 'rest',
        actor_name: 'admin',
        request_id: changed.headers.get('x-request-id'),
      })
      const [typeRow] = await world.database.query<{ xid: string }>(
        `SELECT xid FROM plinth.change WHERE kind = 'record_type' AND id = $1 AND version = 2`,
        [type],
      )
      expect(typeRow?.xid).toBe(log.at(-1)?.xid)
    },
  )

  test.each(['9007199254740993', '0.1234567890123456789', '1e999', '0x10', ' '])(
    'does not cast the text "%s", which a number would not keep',
    async (v) => {
      const type = await world.newType()
      succeed(await put(type, 'a', { v }), 201)
      const cast = [{ op: 'cast', field: 'data.v', type: 'number' }]
      const { details } = expectFailure(await migrate(type, NUMBER, cast), 'CONFLICT')
      expect(details[0]).toMatchObject({ count: 1, samples: [{ id: 'a', path: '/data/v' }] })
      expect((await get(type, 'a')).data).toEqual({ v })
    },
  )

  test('is 409 if records stay invalid, and changes none', async () => {
    const type = await world.newType()
    succeed(await put(type, 'a', { v: '1' }), 201)
    succeed(await put(type, 'b', { v: 'one' }), 201)
    const cast = [{ op: 'cast', field: 'data.v', type: 'number' }]
    const { details } = expectFailure(await migrate(type, NUMBER, cast), 'CONFLICT')
    expect(details[0]).toMatchObject({ count: 1, samples: [{ id: 'b' }] })
    expect(await get(type, 'a')).toMatchObject({ data: { v: '1' }, version: 1 })
    expect(await world.logOf(type)).toHaveLength(2)
  })

  test('puts no value of one record into another, where a step writes into the value of a default', async () => {
    const type = await world.newType()
    const before: Record<string, object> = { a: { z: 1 }, b: {}, c: { z: 3 } }
    for (const [id, data] of Object.entries(before)) succeed(await put(type, id, data), 201)
    const open = [{ op: 'default', field: 'data.x', value: {} }]
    succeed(await migrate(type, {}, [...open, { op: 'rename', field: 'data.z', to: 'data.x.z' }]))
    const after = await Promise.all(Object.keys(before).map(async (id) => (await get(type, id)).data))
    expect(after).toEqual([{ x: { z: 1 } }, { x: {} }, { x: { z: 3 } }])
  })

  test('repairs records that an earlier schema change left invalid', async () => {
    const type = await world.newType()
    succeed(await put(type, 'a', { v: '1' }), 201)
    succeed(await world.call('PATCH', `${typePath(type)}?on_invalid=allow`, { json_schema: NUMBER }))
    const cast = [{ op: 'cast', field: 'data.v', type: 'number' }]
    succeed(await migrate(type, NUMBER, cast))
    const repaired = await get(type, 'a')
    expect(repaired).toMatchObject({ data: { v: 1 }, version: 2 })
    expect(repaired).not.toHaveProperty('valid')
  })

  test('changes no record as a dry run', async () => {
    const type = await world.newType()
    succeed(await put(type, 'a', { v: '1' }), 201)
    const body = { json_schema: NUMBER, migration: [{ op: 'cast', field: 'v', type: 'number' }] }
    const dry = await world.call('PUT', `${typePath(type)}?migrate=true&dry_run=true`, body)
    expect(succeed(dry)).toMatchObject({ version: 2, dry_run: true })
    expect(await get(type, 'a')).toMatchObject({ data: { v: '1' }, version: 1 })
    expect(succeed(await world.call('GET', typePath(type))).version).toBe(1)
    succeed(await put(type, 'a', { v: 'still free' }))
  })

  test('a rename in a PUT or a batch renames the property and its indexes too, if what is sent has the old name', {
    tags: 'full',
  }, async () => {
    const json_schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
    const body = { json_schema, indexes: [{ fields: ['data.a'] }] }
    const migration = [{ op: 'rename', field: 'data.a', to: 'data.b' }]
    const operation = { type: 'upsert_record_type', migrate: true, body: { ...body, migration } }
    for (const change of [
      (type: string) => world.call('PUT', `${typePath(type)}?migrate=true`, { ...body, migration }),
      (type: string) => world.call('POST', '/v1/crm/batch', { operations: [{ ...operation, id: type }] }),
    ]) {
      const type = await world.newType(body)
      succeed(await put(type, 'x', { a: 'one' }), 201)
      succeed(await change(type))
      expect(await get(type, 'x')).toMatchObject({ data: { b: 'one' }, version: 2 })
      expect(succeed(await world.call('GET', typePath(type)))).toMatchObject({
        json_schema: { properties: { b: { type: 'string', 'x-former-names': ['a'] } }, required: ['b'] },
        indexes: [{ fields: ['data.b'] }],
        version: 2,
      })
    }
  })

  test.each<[unknown, string]>([
    [undefined, '/migration'],
    [[{ op: 'rname', field: 'a' }], '/migration/0/op'],
    [[{ op: 'rename', field: 'a' }], '/migration/0/to'],
    [[{ op: 'default', field: 'a' }], '/migration/0/value'],
    [[{ op: 'rename', field: 'a', to: 'a.b' }], '/migration/0/to'],
    [[{ op: 'cast', field: 'a', type: 'float' }], '/migration/0/type'],
    [[{ op: 'replace', field: 'a', value: 1 }], '/migration/0/from'],
    [[{ op: 'replace', field: 'a', from: 1 }], '/migration/0/value'],
    [[{ op: 'default', field: 'a', from: 1, value: 2 }], '/migration/0/from'],
    [[{ op: 'toString', field: 'a' }], '/migration/0/op'],
    [[{ op: 'drop', field: 'a', value: 1 }], '/migration/0/value'],
    [[{ op: 'drop', field: 'a', fild: 1 }], '/migration/0/fild'],
    [[{ op: 'drop', field: 'a[0]' }], '/migration/0/field'],
    [[{ op: 'default', field: 'data.__proto__', value: { polluted: 1 } }], '/migration/0/field'],
    [[{ op: 'default', field: 'data.__proto__.polluted', value: 1 }], '/migration/0/field'],
    [[{ op: 'default', field: 'data["a\\u0000"]', value: 1 }], '/migration/0/field'],
  ])('with the steps %j is refused at %s', async (migration, path) => {
    const type = await world.newType()
    succeed(await put(type, 'a', { a: 1 }), 201)
    expectFault(await migrate(type, NUMBER, migration), path)
    expect(succeed(await world.call('GET', typePath(type))).version).toBe(1)
    expect((await get(type, 'a')).data).toEqual({ a: 1 })
    expect(Object.prototype).not.toHaveProperty('polluted')
  })

  test('says which rename or drop found nothing, and not of one that is sent again or that records hold', {
    tags: 'full',
  }, async () => {
    const type = await world.newType({ json_schema: NUMBER })
    succeed(await put(type, 'a', { v: 1, loose: 1 }), 201)
    const patch = async (...migration: object[]) => {
      const { version, meta } = succeed(await world.call('PATCH', typePath(type), { migration }))
      const warnings = (meta?.warnings ?? []).filter((each: string) => each.startsWith('The step'))
      return { version, warnings }
    }
    const nothing = (op: string, name: string) =>
      expect.stringMatching(`The step "${op}" of the migration changed nothing.*property "${name}"`)
    const wrong = await patch({ op: 'drop', field: 'data.w' }, { op: 'rename', field: 'x.y', to: 'x.z' })
    expect(wrong).toEqual({ version: 1, warnings: [nothing('drop', 'w'), nothing('rename', 'x.y')] })
    const rename = { op: 'rename', field: 'data.v', to: 'data.n' }
    expect(await patch(rename)).toEqual({ version: 2, warnings: [] })
    expect(await patch(rename)).toEqual({ version: 2, warnings: [] })
    expect((await patch({ op: 'drop', field: 'data.loose' })).warnings).toEqual([])
    expect((await get(type, 'a')).data).toEqual({ n: 1 })
  })

  test('replaces only the value that it names', { tags: 'full' }, async () => {
    const type = await world.newType()
    for (const [id, v] of Object.entries({ a: 'low', b: 'high', c: 'lower' }))
      succeed(await put(type, id, { v }), 201)
    succeed(await put(type, 'd', {}), 201)
    const migration = [{ op: 'replace', field: 'data.v', from: 'low', value: 'normal' }]
    const { meta } = succeed(
      await migrate(type, { type: 'object', properties: { v: { type: 'string' } } }, migration),
    )
    expect(meta.records_rewritten).toBe(1)
    const values = await Promise.all(['a', 'b', 'c', 'd'].map(async (id) => (await get(type, id)).data))
    expect(values).toEqual([{ v: 'normal' }, { v: 'high' }, { v: 'lower' }, {}])
  })

  test('is refused without migration steps and with on_invalid, and steps need no migrate=true', {
    tags: 'full',
  }, async () => {
    const type = await world.newType()
    const step = [{ op: 'drop', field: 'a' }]
    expectFault(await world.call('PUT', `${typePath(type)}?migrate=true`, {}), '/migration')
    expectFailure(
      await world.call('PUT', `${typePath(type)}?migrate=true&on_invalid=allow`, { migration: step }),
      'VALIDATION_ERROR',
    )
    const both = await world.call('PUT', `${typePath(type)}?on_invalid=allow`, { migration: step })
    expect(expectFault(both, '/migration').code).toBe('exclusive')
    expect(succeed(await world.call('GET', typePath(type))).version).toBe(1)
    succeed(await put(type, 'a', { a: 1, b: 2 }), 201)
    const query = `mutation { patchRecordType(base: "crm", id: "${type}", migration: [{ op: "drop", field: "b" }]
      input: { name: "N" }) { recordsRewritten } }`
    expect((await world.call('POST', '/graphql', { query })).body.data.patchRecordType.recordsRewritten).toBe(
      1,
    )
    succeed(await world.call('PUT', typePath(type), { migration: step }))
    expect((await get(type, 'a')).data).toEqual({})
  })
})

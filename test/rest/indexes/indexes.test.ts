import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, times } from '../../support/answers.ts'
import { entriesOf, outOfTrue, settled } from '../../support/indexes.ts'
import { callTool } from '../../support/mcp.ts'
import type { Answer, Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const typePath = (id: string) => `/v1/crm/record-types/${id}`
const recordPath = (type: string, id: string) => `/v1/crm/records/${type}/${id}`
const put = (type: string, id: string, data: object, headers = {}) =>
  world.call('PUT', recordPath(type, id), { data }, headers)
const declare = (type: string, indexes: unknown, more: object = {}) =>
  world.call('PATCH', typePath(type), { indexes, ...more })
const built = (type: string) => settled(world, type)

/** Checks that the write was refused for a duplicate value; returns the detail. */
function expectDuplicate(answer: Answer, path: string): Body {
  const { details } = expectFailure(answer, 'CONFLICT')
  expect(details).toHaveLength(1)
  expect(details[0]).toMatchObject({ path, code: 'duplicate_value' })
  return details[0]
}

describe('An index declaration', () => {
  test('is returned in canonical form with its status', { tags: 'full' }, async () => {
    const type = await world.newType({
      indexes: [
        { fields: ['data.status', { field: 'data.due', direction: 'desc' }] },
        { fields: [{ field: 'data.email', direction: 'asc' }], unique: true, type: 'btree' },
        { fields: ['data.title'], type: 'text' },
      ],
    })
    const shown = [
      {
        fields: ['data.status', { field: 'data.due', direction: 'desc' }],
        unique: false,
        type: 'btree',
        status: 'ready',
      },
      { fields: ['data.email'], unique: true, type: 'btree', status: 'ready' },
      { fields: ['data.title'], unique: false, type: 'text', status: 'ready' },
    ]
    expect(succeed(await world.call('GET', typePath(type))).indexes).toEqual(shown)
    const { body } = await world.call('GET', '/v1/crm/record-types')
    expect(body.data.find((each: Body) => each.id === type).indexes).toEqual(shown)
  })

  test('is replaced by PUT, unchanged by a PATCH of other fields, and removed by []', {
    tags: 'full',
  }, async () => {
    const indexes = [{ fields: ['data.a'] }, { fields: ['data.b'] }]
    const type = await world.newType({ indexes })
    expect(succeed(await world.call('PATCH', typePath(type), { name: 'x' })).indexes).toHaveLength(2)
    expect(succeed(await world.call('PUT', typePath(type), { name: 'x', indexes }))).toMatchObject({
      version: 2,
    })
    const fewer = succeed(await declare(type, [{ fields: ['data.b'] }]))
    expect(fewer).toMatchObject({ version: 3, indexes: [{ fields: ['data.b'] }] })
    expect(succeed(await world.call('PUT', typePath(type), {}))).toMatchObject({ version: 4, indexes: [] })
  })

  test('makes a version and a log entry, which has the declaration without its status', {
    tags: 'full',
  }, async () => {
    const type = await world.newType()
    succeed(await put(type, 'a', { n: 1 }), 201)
    expect(succeed(await declare(type, [{ fields: ['data.n'] }]))).toMatchObject({ version: 2 })
    const entries = await world.database.query<{ version: number; data: Body }>(
      `SELECT version, data FROM plinth.change WHERE kind = 'record_type' AND id = $1 ORDER BY seq`,
      [type],
    )
    expect(entries.at(-1)).toMatchObject({
      version: 2,
      data: { indexes: [{ fields: ['data.n'], unique: false, type: 'btree' }] },
    })
    expect(entries.at(-1)?.data.indexes[0]).not.toHaveProperty('status')
    await built(type)
    expect(succeed(await world.call('GET', typePath(type)))).toMatchObject({ version: 2 })
  })

  test.each([
    [[{ fields: ['data.a'], uniqe: true }], '/indexes/0/uniqe', 'unknown_key'],
    [[{ fields: ['data.a'], status: 'ready' }], '/indexes/0/status', 'unknown_key'],
    [[{ fields: [] }], '/indexes/0/fields', 'too_small'],
    [[{ fields: ['data.items[].sku'] }], '/indexes/0/fields/0', 'invalid_field'],
    [[{ fields: ['data'] }], '/indexes/0/fields/0', 'invalid_field'],
    [[{ fields: ['statsu'] }], '/indexes/0/fields/0', 'unknown_field'],
    [[{ fields: ['data.a', 'data.nmae'] }], '/indexes/0/fields/1', 'unknown_field'],
    [[{ fields: ['data.a', { field: 'data.a', direction: 'desc' }] }], '/indexes/0/fields/1', 'duplicate'],
    [[{ fields: ['data.a'] }, { fields: [{ field: 'data.a' }] }], '/indexes/1', 'duplicate'],
    [[{ fields: ['id', 'status', 'version', 'data.a'] }], '/indexes/0/fields', 'too_many'],
    [times(17, () => ({ fields: ['data.a'] })), '/indexes', 'too_big'],
    [[{ fields: ['data.a'], type: 'text', unique: true }], '/indexes/0/unique', 'disagrees'],
    [[{ fields: ['status'], type: 'text' }], '/indexes/0/fields/0', 'invalid_field'],
    [[{ fields: [{ field: 'data.a', direction: 'down' }] }], '/indexes/0/fields/0/direction', 'enum'],
  ])('%j is refused at %s as %s, and nothing is changed', async (indexes, path, code) => {
    const json_schema = {
      type: 'object',
      properties: { a: { type: 'string' }, name: {}, items: {} },
      additionalProperties: false,
    }
    const type = await world.newType({ json_schema })
    expect(expectFault(await declare(type, indexes), path).code).toBe(code)
    expect(succeed(await world.call('GET', typePath(type)))).toMatchObject({ version: 1, indexes: [] })
  })

  test('refuses a schema that no longer declares its field', async () => {
    const type = await world.newType({ indexes: [{ fields: ['data.a'] }] })
    const json_schema = { type: 'object', properties: { b: {} }, additionalProperties: false }
    expectFault(await world.call('PATCH', typePath(type), { json_schema }), '/indexes/0/fields/0')
    succeed(await world.call('PATCH', typePath(type), { json_schema, indexes: [{ fields: ['data.b'] }] }))
  })

  test('as a dry run builds nothing', { tags: 'full' }, async () => {
    const type = await world.newType()
    succeed(await put(type, 'a', { n: 1 }), 201)
    const dry = await world.call('PATCH', `${typePath(type)}?dry_run=true`, {
      indexes: [{ fields: ['data.n'] }],
    })
    expect(succeed(dry)).toMatchObject({ dry_run: true, indexes: [{ status: 'building' }] })
    expect(succeed(await world.call('GET', typePath(type))).indexes).toEqual([])
    expect(await entriesOf(world, type)).toEqual([])
  })
})

describe('The entries of an index', () => {
  const INDEXES = [
    { fields: ['data.n', { field: 'data.s', direction: 'desc' }, 'status'] },
    { fields: [{ field: 'updated_at', direction: 'desc' }] },
    { fields: ['external_source', 'external_id'], unique: true },
  ]

  test('are updated by every kind of write', { tags: 'full' }, async () => {
    const type = await world.newType({ indexes: INDEXES })
    const holds = async (records: number) => {
      expect(await outOfTrue(world, type)).toEqual([])
      expect(await entriesOf(world, type)).toHaveLength(records * INDEXES.length)
    }
    succeed(await put(type, 'a', { n: 1, s: 'x' }), 201)
    succeed(await world.call('POST', `/v1/crm/records/${type}`, { data: { n: 2 } }), 201)
    succeed(await world.call('POST', `/v1/crm/records/${type}`, { data: { n: 2 }, external_id: 'p' }), 201)
    await holds(3)
    succeed(await put(type, 'a', { n: null, s: ['list'] }))
    succeed(await world.call('PATCH', recordPath(type, 'a'), { data: { n: { deep: true } } }))
    succeed(await world.call('PUT', `/v1/crm/records/${type}`, { data: { n: 3 }, external_id: 'p' }))
    await holds(3)
    succeed(await world.call('POST', `${recordPath(type, 'a')}/cancel`))
    await holds(3)
    succeed(await world.call('POST', `${recordPath(type, 'a')}/restore`))
    await holds(3)
    succeed(await world.call('DELETE', recordPath(type, 'a')))
    await holds(2)
    succeed(await put(type, 'a', { n: 9 }), 201)
    await holds(3)
  })

  test('are not written by a dry run or a failed write', { tags: 'full' }, async () => {
    const type = await world.newType({ indexes: INDEXES })
    succeed(await put(type, 'a', { n: 1 }), 201)
    const before = await entriesOf(world, type)
    succeed(await world.call('PUT', `${recordPath(type, 'a')}?dry_run=true`, { data: { n: 2 } }))
    succeed(await world.call('PUT', `${recordPath(type, 'b')}?dry_run=true`, { data: { n: 2 } }), 201)
    succeed(await world.call('DELETE', `${recordPath(type, 'a')}?dry_run=true`))
    expectFailure(await put(type, 'a', { n: 2 }, { 'if-match': '"9"' }), 'CONFLICT')
    expect(await entriesOf(world, type)).toEqual(before)
  })

  test('are written once under an idempotency key', async () => {
    const type = await world.newType({ indexes: INDEXES })
    const key = { 'idempotency-key': 'entries-once' }
    succeed(await put(type, 'a', { n: 1 }, key), 201)
    succeed(await put(type, 'a', { n: 1 }, key), 201)
    expect(await entriesOf(world, type)).toHaveLength(INDEXES.length)
    expect(await outOfTrue(world, type)).toEqual([])
  })

  test('are updated when a migration repairs the records', { tags: 'full' }, async () => {
    const type = await world.newType({ indexes: [{ fields: ['data.v'] }, { fields: ['version'] }] })
    for (const i of times(20, (n) => n)) succeed(await put(type, `r${i}`, { v: String(i) }), 201)
    const json_schema = { type: 'object', properties: { v: { type: 'number' } } }
    const migration = [{ op: 'cast', field: 'data.v', type: 'number' }]
    succeed(await world.call('PATCH', `${typePath(type)}?migrate=true`, { json_schema, migration }))
    expect(await entriesOf(world, type)).toHaveLength(40)
    expect(await outOfTrue(world, type)).toEqual([])
  })

  test('are rebuilt when the time zone or a format changes the meaning of values', {
    tags: 'full',
  }, async () => {
    const json_schema = { type: 'object', properties: { due: { type: 'string', format: 'date' } } }
    const type = await world.newType({
      json_schema,
      indexes: [{ fields: ['data.due'] }, { fields: ['data.n'] }],
    })
    succeed(await put(type, 'a', { due: '2026-06-01', n: 1 }), 201)
    const before = await entriesOf(world, type)
    succeed(await world.call('PATCH', typePath(type), { timezone: 'Asia/Tokyo' }))
    await built(type)
    const moved = await entriesOf(world, type)
    expect(moved.map(({ k1 }) => k1)).not.toEqual(before.map(({ k1 }) => k1))
    expect(moved.filter(({ index_id }) => before.some((entry) => entry.index_id === index_id))).toHaveLength(
      1,
    )
    succeed(await world.call('PATCH', typePath(type), { json_schema: null }))
    await built(type)
    expect((await entriesOf(world, type)).map(({ k1 }) => k1)).toContain('a2026-06-01')
    expect(await outOfTrue(world, type)).toEqual([])
  })

  test('have the order of the records by their fields, scanned in the direction of the last field', {
    tags: 'full',
  }, async () => {
    const json_schema = { type: 'object', properties: { due: { format: 'date-time' } } }
    const down = (field: string) => ({ field, direction: 'desc' })
    const type = await world.newType({
      json_schema,
      indexes: [
        { fields: ['data.v'] },
        { fields: [down('data.v')] },
        { fields: ['data.g', down('data.due')] },
      ],
    })
    const values = [
      '',
      'B',
      'a',
      '\u{1F600}',
      -1e300,
      -2,
      -0.5,
      0,
      1e-9,
      3,
      20,
      false,
      true,
      [1],
      { a: 1 },
      null,
    ]
    for (const [i, v] of values.entries()) {
      const due = i % 4 === 3 ? null : `2026-01-01T0${i % 8}:00:00${i % 2 ? 'Z' : '+14:00'}`
      succeed(await put(type, `r${String(i).padStart(2, '0')}`, { v, g: i >> 2, due }), 201)
    }
    const scan = async (position: number, direction: string) => {
      const rows = await world.database.query<{ id: string }>(
        `SELECT x.id FROM plinth.record_index x JOIN plinth.record_type_index d ON d.id = x.index_id
         WHERE d.record_type = $1 AND d.position = $2
         ORDER BY k1 ${direction}, k2 ${direction}, k3 ${direction}, x.id ${direction}`,
        [type, position],
      )
      return rows.map(({ id }) => Number(id.slice(1)))
    }
    const all = times(values.length, (i) => i)
    expect(await scan(0, 'ASC')).toEqual(all)
    expect(await scan(1, 'DESC')).toEqual([...all.slice(0, -1).reverse(), values.length - 1])
    // Within a group: hours in Z are later than the same hours in +14:00, and null is last.
    const group = (g: number) => [1, 2, 0, 3].map((i) => 4 * g + i)
    expect(await scan(2, 'DESC')).toEqual([0, 1, 2, 3].flatMap(group))
  })

  test('of long strings are truncated and marked, but differ for different values', {
    tags: 'full',
  }, async () => {
    const type = await world.newType({ indexes: [{ fields: ['data.s'], unique: true }] })
    const long = '\u{1F600}'.repeat(3000)
    succeed(await put(type, 'a', { s: `${long}a` }), 201)
    succeed(await put(type, 'b', { s: `${long}b` }), 201)
    expectDuplicate(await put(type, 'c', { s: `${long}a` }), '/data/s')
    const [index] = await world.database.query<{ has_cut: boolean }>(
      'SELECT has_cut FROM plinth.record_type_index WHERE record_type = $1',
      [type],
    )
    expect(index?.has_cut).toBe(true)
    expect(await outOfTrue(world, type)).toEqual([])
  })

  test.each(['asc', 'desc'])(
    'find a value of any length and type, with the next field %s',
    async (direction) => {
      const type = await world.newType({ indexes: [{ fields: ['data.v', { field: 'data.n', direction }] }] })
      const euros = [99, 100, 140].map((count) => '€'.repeat(count))
      const values = ['', 'a', ...euros, '\u{1F600}'.repeat(70), 5, -0.5, 0, true, false]
      for (const [n, v] of values.entries()) succeed(await put(type, `r${n}`, { v, n }), 201)
      await built(type)
      for (const [n, value] of values.entries()) {
        const filter = encodeURIComponent(JSON.stringify({ field: 'data.v', op: 'eq', value }))
        const { data } = succeed(await world.call('GET', `/v1/crm/records/${type}?filter=${filter}`))
        expect(data.map(({ id }: Body) => id)).toEqual([`r${n}`])
      }
    },
  )
})

describe('A unique index', () => {
  test('refuses a duplicate on every kind of write, and the error names the field', {
    tags: 'full',
  }, async () => {
    const type = await world.newType({ indexes: [{ fields: ['data.email'], unique: true }] })
    succeed(await put(type, 'a', { email: 'x' }), 201)
    succeed(await put(type, 'b', { email: 'y' }), 201)
    const post = { data: { email: 'x' } }
    for (const refused of [
      await put(type, 'c', { email: 'x' }),
      await put(type, 'b', { email: 'x' }),
      await world.call('POST', `/v1/crm/records/${type}`, post),
      await world.call('PATCH', recordPath(type, 'b'), post),
      await put(type, 'c', { email: 'x' }, { 'idempotency-key': `unique-${type}` }),
      await world.call('PUT', `${recordPath(type, 'c')}?dry_run=true`, post),
    ]) {
      const { message, samples } = expectDuplicate(refused, '/data/email')
      expect(message).toContain('data.email')
      expect(message).toContain('the record "a" has this value')
      expect(samples).toEqual(['a'])
    }
    expect(await world.logOf(type)).toHaveLength(2)
    succeed(await put(type, 'a', { email: 'x', more: 1 }))
    succeed(await world.call('DELETE', recordPath(type, 'a')))
    succeed(await put(type, 'c', { email: 'x' }), 201)
  })

  test('names the record in the way in a batch, in a replay, and of several fields with commas', {
    tags: 'full',
  }, async () => {
    const type = await world.newType({
      indexes: [
        { fields: ['data.n'], unique: true },
        { fields: ['data.a', 'data.b'], unique: true },
      ],
    })
    succeed(await put(type, 'first', { n: 1, a: 'x, y', b: ', ' }), 201)
    const key = { 'idempotency-key': `holder-${type}` }
    for (const refused of [
      await put(type, 'second', { n: 2, a: 'x, y', b: ', ' }, key),
      await put(type, 'second', { n: 2, a: 'x, y', b: ', ' }, key),
    ])
      expect(expectDuplicate(refused, '/data/a')).toMatchObject({ samples: ['first'] })
    const create = (id: string, n: number) => ({ type: 'create_record', record_type: type, id, data: { n } })
    const batch = { operations: [create('b1', 7), create('b2', 1)] }
    const { message, details } = expectFailure(await world.call('POST', '/v1/crm/batch', batch), 'CONFLICT')
    expect(message).toContain('the record "first" has this value')
    expect(details[0]).toMatchObject({ path: '/operations/1/data/n', samples: ['first'] })
    const own = { operations: [create('b1', 7), create('b2', 7)] }
    const among = expectFailure(await world.call('POST', '/v1/crm/batch', own), 'CONFLICT').details[0]
    expect(among.message).toContain('another record has this value')
    expect(await world.logOf(type)).toHaveLength(1)
  })

  test('does not name the record in the way to an endpoint', { tags: 'full' }, async () => {
    const type = await world.newType({ indexes: [{ fields: ['data.email'], unique: true }] })
    succeed(await put(type, 'hidden', { email: 'x', open: false }), 201)
    const filter = { field: 'data.open', op: 'eq', value: true }
    const tools = [{ record_type: type, operations: ['create'], filter }]
    succeed(await world.call('PUT', '/v1/crm/endpoints/narrow', { tools }), 201)
    const args = { email: 'x', open: true }
    const { error } = await callTool(world, '/mcp/crm/e/narrow', `create_${type}`, args)
    expect(error.code).toBe('CONFLICT')
    expect(JSON.stringify(error)).not.toContain('hidden')
  })

  test('accepts one of sixteen concurrent duplicates', { tags: 'full' }, async () => {
    const type = await world.newType({ indexes: [{ fields: ['data.email'], unique: true }] })
    const race = await Promise.all(times(16, (i) => put(type, `r${i}`, { email: 'same' })))
    expect(race.map(({ status }) => status).sort()).toEqual([201, ...times(15, () => 409)])
    expect(await world.logOf(type)).toHaveLength(1)
  })

  test('ignores records without a value in one of its fields, and distinguishes lists', {
    tags: 'full',
  }, async () => {
    const type = await world.newType({ indexes: [{ fields: ['data.a', 'data.b'], unique: true }] })
    const datas = [
      {},
      {},
      { a: 1 },
      { a: 1 },
      { a: 1, b: null },
      { a: 1, b: [1] },
      { a: 1, b: [2] },
      { a: 1, b: {} },
    ]
    for (const [i, data] of datas.entries()) succeed(await put(type, `r${i}`, data), 201)
    expectFailure(await put(type, 'again', { a: 1, b: [2] }), 'CONFLICT')
  })

  test('refuses a restore that makes a duplicate', async () => {
    const type = await world.newType({ indexes: [{ fields: ['data.seat', 'status'], unique: true }] })
    succeed(await put(type, 'a', { seat: 1 }), 201)
    succeed(await world.call('POST', `${recordPath(type, 'a')}/cancel`))
    succeed(await put(type, 'b', { seat: 1 }), 201)
    expectDuplicate(await world.call('POST', `${recordPath(type, 'a')}/restore`), '/data/seat')
    expect(succeed(await world.call('GET', recordPath(type, 'a'))).status).toBe('cancelled')
  })

  test('declared over duplicates fails with ten groups of them, removes its entries and refuses no writes', {
    tags: 'full',
  }, async () => {
    const type = await world.newType()
    for (const i of times(24, (n) => n)) succeed(await put(type, `r${i}`, { email: `mail-${i >> 1}` }), 201)
    succeed(await declare(type, [{ fields: ['data.email'], unique: true }]))
    const [index] = await built(type)
    expect(index.status).toBe('failed')
    expect(index.duplicates).toHaveLength(10)
    for (const { values, ids } of index.duplicates) {
      expect(ids).toHaveLength(2)
      for (const id of ids) expect(`mail-${Number(id.slice(1)) >> 1}`).toBe(values[0])
    }
    succeed(await put(type, 'new', { email: 'mail-1' }), 201)
    await expect.poll(() => entriesOf(world, type)).toEqual([])

    succeed(await world.call('DELETE', recordPath(type, 'new')))
    for (const i of times(12, (n) => n)) succeed(await world.call('DELETE', recordPath(type, `r${2 * i}`)))
    succeed(await world.call('PATCH', typePath(type), { name: 'still failed' }))
    expect((await built(type))[0].status).toBe('failed')
    succeed(await declare(type, [{ fields: ['data.email'], unique: true }]))
    expect(await built(type)).toEqual([
      { fields: ['data.email'], unique: true, type: 'btree', status: 'ready' },
    ])
    expectFailure(await put(type, 'new', { email: 'mail-1' }), 'CONFLICT')
  })
})

test('removal of indexes, of a type or of a base deletes all index entries', { tags: 'full' }, async () => {
  const base = 'leaving'
  succeed(await world.call('PUT', `/v1/bases/${base}`, {}), 201)
  const path = `/v1/${base}/record-types/t`
  const indexes = [{ fields: ['data.n'] }, { fields: ['data.s'], type: 'text' }]
  const rows = async () => {
    const counted = await world.database.query<{ n: number }>(
      times(4, (i) => ['record_index', 'record_text', 'record_word', 'record_type_index'][i])
        .map((table) => `SELECT count(*)::int AS n FROM plinth.${table} WHERE base_id = '${base}'`)
        .join(' UNION ALL '),
    )
    return counted.map(({ n }) => n)
  }
  const fill = async () => {
    succeed(await world.call('PUT', path, { indexes }), 201)
    for (const i of times(5, (n) => n))
      succeed(
        await world.call('PUT', `/v1/${base}/records/t/r${i}`, { data: { n: i, s: 'some words' } }),
        201,
      )
    expect((await rows()).every((count) => count > 0)).toBe(true)
  }
  await fill()
  succeed(await world.call('PATCH', path, { indexes: [] }))
  await expect.poll(rows).toEqual([0, 0, 0, 0])
  succeed(await world.call('PATCH', path, { indexes }))
  await settled(world, 't', base)
  expect((await rows()).slice(0, 2)).toEqual([5, 5])
  succeed(await world.call('DELETE', `${path}?confirm=t`))
  await expect.poll(rows).toEqual([0, 0, 0, 0])
  await fill()
  succeed(await world.call('DELETE', `/v1/bases/${base}?confirm=${base}`))
  await expect.poll(rows).toEqual([0, 0, 0, 0])
})

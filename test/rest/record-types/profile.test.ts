import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { estimateTokens } from '../../../src/mcp/budget/fit.ts'
import { plinth } from '../../cli/plinth.ts'
import { COUNTRY, countries } from '../../demo/country.ts'
import { expectFailure, succeed, times } from '../../support/answers.ts'
import { callTool, rpc } from '../../support/mcp.ts'
import type { Body } from '../../support/server.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

/** Creates a type with these records, under ids that sort in the given order. */
async function typeWith(records: readonly object[], body: object = {}): Promise<string> {
  const type = await world.newType(body)
  for (const [i, data] of records.entries())
    succeed(await world.call('PUT', `/v1/crm/records/${type}/r${String(i).padStart(4, '0')}`, { data }), 201)
  return type
}

/** Inserts many records at once, directly into the table. */
const insert = (type: string, records: readonly object[], base = 'crm') =>
  world.database.query(
    `INSERT INTO plinth.record (base_id, record_type, id, data, version)
     SELECT $1, $2, 'r' || lpad(n::text, 8, '0'), d, 1 FROM jsonb_array_elements($3::jsonb) WITH ORDINALITY AS t (d, n)`,
    [base, type, JSON.stringify(records)],
  )

const profileOf = async (type: string): Promise<Body> =>
  succeed(await world.call('GET', `/v1/crm/record-types/${type}/profile`))
const fieldOf = (profile: Body, name: string): Body =>
  profile.fields.find((each: Body) => each.field === name)
const named = (profile: Body): string[] => profile.fields.map((each: Body) => each.field)

/** Sends every example of a profile to the endpoint that it names, and returns the rows of each. */
async function rowsOfExamples(type: string, { examples }: Body): Promise<Body[][]> {
  expect(examples).toHaveLength(3)
  const found: Body[][] = []
  for (const { description, query } of examples) {
    const verb = 'aggregations' in query ? 'aggregate' : 'query'
    expect(description).toContain(`${verb}: `)
    const answer = await world.call('POST', `/v1/crm/records/${type}/${verb}`, query)
    found.push(succeed(answer).data)
  }
  return found
}
async function expectExamplesToFind(type: string, profile: Body): Promise<void> {
  for (const rows of await rowsOfExamples(type, profile)) expect(rows.length).toBeGreaterThan(0)
}

describe('The profile of a small type', () => {
  const RECORDS = [
    { status: 'open', amount: 10, tags: ['red', 'blue'], address: { city: 'Rom' } },
    { status: 'open', amount: 2.5, tags: ['red'], address: { city: 'Ulm' } },
    { status: 'closed', amount: -3, tags: [], address: null },
    { status: 'open', amount: 10, done: true },
  ]

  test('has the exact figures of each field, the most frequent fields first', { tags: 'full' }, async () => {
    const profile = await profileOf(await typeWith(RECORDS))
    expect(Object.keys(profile)).toEqual(['count', 'sampled', 'fields', 'relationships', 'examples'])
    expect(profile).toMatchObject({ count: 4, sampled: false, relationships: [] })
    const none = { top: [], min: null, max: null }
    expect(
      profile.fields
        .slice(0, 2)
        .map((each: Body) => each.field)
        .sort(),
    ).toEqual(['data.amount', 'data.status'])
    expect(fieldOf(profile, 'data.status')).toEqual({
      field: 'data.status',
      types: ['string'],
      null_share: 0,
      distinct: 2,
      top: [
        { value: 'open', count: 3 },
        { value: 'closed', count: 1 },
      ],
      min: 'closed',
      max: 'open',
    })
    expect(fieldOf(profile, 'data.amount')).toEqual({
      field: 'data.amount',
      types: ['number'],
      null_share: 0,
      distinct: 3,
      top: [
        { value: 10, count: 2 },
        { value: -3, count: 1 },
        { value: 2.5, count: 1 },
      ],
      min: -3,
      max: 10,
    })
    expect(fieldOf(profile, 'data.tags')).toEqual({
      field: 'data.tags',
      types: ['array'],
      null_share: 0.25,
      distinct: 3,
      ...none,
    })
    expect(fieldOf(profile, 'data.tags[]')).toEqual({
      field: 'data.tags[]',
      types: ['string'],
      null_share: 0.5,
      distinct: 2,
      top: [
        { value: 'red', count: 2 },
        { value: 'blue', count: 1 },
      ],
      min: 'blue',
      max: 'red',
    })
    expect(fieldOf(profile, 'data.address')).toEqual({
      field: 'data.address',
      types: ['object', 'null'],
      null_share: 0.5,
      distinct: 2,
      ...none,
    })
    expect(fieldOf(profile, 'data.address.city')).toMatchObject({ null_share: 0.5, min: 'Rom', max: 'Ulm' })
    expect(fieldOf(profile, 'data.done')).toMatchObject({
      types: ['boolean'],
      null_share: 0.75,
      top: [{ value: true, count: 1 }],
    })
    expect(named(profile)).toHaveLength(7)
  })

  test('has null shares that agree with the is_null filter', { tags: 'full' }, async () => {
    const type = await typeWith(RECORDS)
    const profile = await profileOf(type)
    for (const { field, null_share } of profile.fields) {
      const filter = { field, op: 'is_null' }
      const found = succeed(await world.call('POST', `/v1/crm/records/${type}/query`, { filter }))
      expect(found.data.length / RECORDS.length, field).toBe(null_share)
    }
  })

  test('has a minimum and a maximum that agree with sorting, across all types of values', {
    tags: 'full',
  }, async () => {
    const values = ['b', 'a', '\u{1f600}', '\uffee', 3, -1, 1e300, false, true, null, 'Z', 0.5]
    const type = await typeWith(values.map((v) => ({ v })))
    const field = fieldOf(await profileOf(type), 'data.v')
    const ends = await Promise.all(
      ['data.v', '-data.v'].map(async (sort) => {
        const page = await world.call('POST', `/v1/crm/records/${type}/query`, { sort, limit: 1 })
        return succeed(page).data[0].data.v
      }),
    )
    expect([field.min, field.max]).toEqual(ends)
    expect(field.types).toEqual(['string', 'number', 'boolean', 'null'])
    expect(field.distinct).toBe(11)
  })

  test('quotes keys as filters do, and a filter accepts every field name', { tags: 'full' }, async () => {
    const odd = {
      'odd.key': 1,
      'a b': 2,
      'x[0]': 3,
      '"quoted"': 4,
      '': 5,
      'c,d': 6,
      größe: 7,
      '\\': 8,
      'line\nbreak': 9,
      data: { id: 10 },
      constructor: 11,
    }
    const type = await typeWith([{ list: [[{ 'n.m': 1 }]], ...odd }])
    const profile = await profileOf(type)
    expect(named(profile)).toContain('data["odd.key"]')
    expect(named(profile)).toContain('data.größe')
    expect(named(profile)).toContain('data.list[][]["n.m"]')
    expect(named(profile)).toHaveLength(Object.keys(odd).length + 5)
    for (const field of named(profile)) {
      const filter = { field, op: 'is_not_null' }
      const found = succeed(await world.call('POST', `/v1/crm/records/${type}/query`, { filter }))
      expect(found.data, field).toHaveLength(1)
    }
    await expectExamplesToFind(type, profile)
  })

  test('compares times as instants, in the timezone of the type', { tags: 'full' }, async () => {
    const at = { type: 'string', format: 'date-time' }
    const type = await typeWith(
      [
        // The first and the second are one instant; the third is an earlier instant, though it sorts after them as text.
        { at: '2026-01-01T00:30:00+01:00' },
        { at: '2025-12-31T23:30:00Z' },
        { at: '2026-01-01T02:00:00+09:00' },
        { at: '2026-03-01T08:00:00Z' },
      ],
      { json_schema: { type: 'object', properties: { at } }, timezone: 'Europe/Berlin' },
    )
    const profile = await profileOf(type)
    const field = fieldOf(profile, 'data.at')
    expect(field).toMatchObject({
      distinct: 3,
      min: '2026-01-01T02:00:00+09:00',
      max: '2026-03-01T08:00:00Z',
    })
    expect(field.top[0].count).toBe(2)
    await expectExamplesToFind(type, profile)
  })

  test('omits long values instead of truncating them', async () => {
    const long = 'x'.repeat(500)
    const type = await typeWith([{ t: long }, { t: long }, { t: 'a' }])
    const profile = await profileOf(type)
    expect(fieldOf(profile, 'data.t')).toMatchObject({
      distinct: 2,
      top: [{ value: 'a', count: 1 }],
      min: 'a',
      max: null,
    })
    expect(JSON.stringify(profile)).not.toContain('xx')
  })

  test('describes fields down to six levels', async () => {
    const profile = await profileOf(await typeWith([{ a: { b: { c: { d: { e: { f: { g: 1 } } } } } } }]))
    expect(named(profile)).toHaveLength(6)
    expect(named(profile)).toContain('data.a.b.c.d.e.f')
  })

  test('says how many fields it omits, and never omits a field of the schema', { tags: 'full' }, async () => {
    const wide = (from: number) => Object.fromEntries(times(90, (i) => [`k${from + i}`, i]))
    const json_schema = { type: 'object', properties: { rare: { type: 'string' } } }
    const type = await typeWith([{ ...wide(0) }, { ...wide(50), rare: 'x' }], { json_schema })
    const profile = await profileOf(type)
    expect(profile.fields).toHaveLength(100)
    expect(profile.omitted_fields).toBe(141 - 100)
    expect(named(profile).slice(0, 40).sort()).toEqual(times(40, (i) => `data.k${50 + i}`).sort())
    expect(named(profile)).toContain('data.rare')
  })
})

test('The profile of a type whose records share few keys has a bounded number of fields', {
  tags: 'full',
}, async () => {
  const records = times(4, (r) => Object.fromEntries(times(1500, (i) => [`k${r}_${i}`, i])))
  const profile = await profileOf(await typeWith(records.map((each) => ({ ...each, always: 'here' }))))
  expect(profile.fields).toHaveLength(100)
  expect(profile.fields[0]).toMatchObject({ field: 'data.always', null_share: 0 })
  expect(profile.omitted_fields).toBeGreaterThanOrEqual(2000)
})

describe('The profile of a type without records', () => {
  test('has the fields of its schema, and examples that the server accepts', { tags: 'full' }, async () => {
    const json_schema = {
      type: 'object',
      additionalProperties: false,
      $defs: { place: { type: 'object', properties: { city: { type: 'string' } } } },
      properties: {
        stage: { enum: ['new', 'won'] },
        amount: { type: 'number' },
        due: { type: ['string', 'null'], format: 'date' },
        lines: { type: 'array', items: { type: 'object', properties: { qty: { type: 'integer' } } } },
        place: { $ref: '#/$defs/place' },
      },
    }
    const type = await world.newType({ json_schema })
    const profile = await profileOf(type)
    expect(profile).toMatchObject({ count: 0, sampled: false, relationships: [] })
    const wanted = ['stage', 'amount', 'due', 'lines', 'lines[]', 'lines[].qty', 'place', 'place.city']
    expect(named(profile).sort()).toEqual(wanted.map((name) => `data.${name}`).sort())
    for (const { field, ...figures } of profile.fields)
      expect(figures, field).toEqual({
        types: [],
        null_share: null,
        distinct: 0,
        top: [],
        min: null,
        max: null,
      })
    expect(profile.examples[0].query.filter).toEqual({ field: 'data.stage', op: 'eq', value: 'new' })
    expect(await rowsOfExamples(type, profile)).toEqual([[], [], []])
  })

  test('has examples that the server accepts even without a schema', async () => {
    const type = await world.newType()
    const profile = await profileOf(type)
    expect(profile.fields).toEqual([])
    expect(await rowsOfExamples(type, profile)).toEqual([[], [], []])
  })

  test('is finite for a recursive schema', async () => {
    const node = { type: 'object', properties: { v: { type: 'string' }, next: { $ref: '#/$defs/node' } } }
    const json_schema = { type: 'object', $defs: { node }, properties: { root: { $ref: '#/$defs/node' } } }
    const profile = await profileOf(await world.newType({ json_schema }))
    expect(named(profile)).toHaveLength(11)
  })
})

describe('The profile of a large type', () => {
  test('has the exact count and is sampled evenly', { tags: 'full' }, async () => {
    const type = await world.newType()
    await insert(
      type,
      times(9000, (i) => ({ i, half: i < 4500 ? 'first' : 'second', kind: `k${i % 3}` })),
    )
    const profile = await profileOf(type)
    expect(profile).toMatchObject({ count: 9000, sampled: true })
    const field = fieldOf(profile, 'data.i')
    expect(field.distinct).toBe(2000)
    expect(field.min).toBeLessThan(9)
    expect(field.max).toBeGreaterThan(8990)
    for (const { count } of fieldOf(profile, 'data.half').top) expect(Math.abs(count - 1000)).toBeLessThan(20)
    await expectExamplesToFind(type, profile)
  })

  test('of large records reads only some of them and is marked as sampled', { tags: 'full' }, async () => {
    const type = await world.newType()
    const text = 'x'.repeat(1_000_000)
    for (const i of times(12, (n) => n))
      succeed(await world.call('PUT', `/v1/crm/records/${type}/r${i}`, { data: { i, text } }), 201)
    const profile = await profileOf(type)
    expect(profile).toMatchObject({ count: 12, sampled: true })
    const { distinct } = fieldOf(profile, 'data.i')
    expect(distinct).toBeGreaterThanOrEqual(2)
    expect(distinct).toBeLessThan(12)
  })

  test('skips records larger than the API accepts', { tags: 'full' }, async () => {
    const type = await typeWith([{ v: 1 }])
    await insert(type, [{ huge: 'x'.repeat(3_000_000) }])
    const profile = await profileOf(type)
    expect(profile).toMatchObject({ count: 2, sampled: true })
    expect(named(profile)).toEqual(['data.v'])
  })
})

describe('The profile of the countries of the world', () => {
  let type: string
  beforeAll(async () => {
    type = await world.newType(COUNTRY)
    await insert(type, countries)
  })

  test('describes their fields, and its examples find rows', { tags: 'full' }, async () => {
    const profile = await profileOf(type)
    expect(profile).toMatchObject({ count: countries.length, sampled: false })
    expect(profile.fields).toHaveLength(100)
    expect(profile.omitted_fields).toBeGreaterThan(500)
    const regions = fieldOf(profile, 'data.region')
    const ofAfrica = countries.filter(({ region }) => region === 'Africa').length
    expect(regions).toMatchObject({ distinct: 6, null_share: 0, min: 'Africa', max: 'Oceania' })
    expect(regions.top).toContainEqual({ value: 'Africa', count: ofAfrica })
    expect(fieldOf(profile, 'data.borders[]')).toBeDefined()
    await expectExamplesToFind(type, profile)
  })

  test('fits in few tokens as the describe_type tool shows it', { tags: 'full' }, async () => {
    const { body } = await callTool(world, '/mcp/crm', 'describe_type', { record_type: type })
    expect(body.profile.fields).toHaveLength(40)
    expect(body.profile.omitted_fields).toBeGreaterThan(500)
    expect(estimateTokens(body.profile)).toBeLessThan(3000)
    expect(body.json_schema).toEqual(COUNTRY.json_schema)
  })
})

describe('A cached profile', () => {
  test('is served until the type changes', { tags: 'full' }, async () => {
    const type = await typeWith([{ v: 1 }])
    const first = await profileOf(type)
    succeed(await world.call('PUT', `/v1/crm/records/${type}/another`, { data: { v: 2 } }), 201)
    expect(await profileOf(type)).toEqual(first)
    const json_schema = { type: 'object', properties: { w: { type: 'string' } } }
    succeed(await world.call('PATCH', `/v1/crm/record-types/${type}`, { json_schema }))
    const second = await profileOf(type)
    expect(second.count).toBe(2)
    expect(named(second)).toEqual(['data.v', 'data.w'])
  })

  test('is not served after the type was deleted', { tags: 'full' }, async () => {
    const type = await typeWith([{ v: 1 }])
    await profileOf(type)
    succeed(await world.call('DELETE', `/v1/crm/record-types/${type}?confirm=${type}`))
    const path = `/v1/crm/record-types/${type}`
    expectFailure(await world.call('GET', `${path}/profile`), 'NOT_FOUND')
    succeed(await world.call('PUT', path, {}), 201)
    expect(await profileOf(type)).toMatchObject({ count: 0, fields: [] })
  })

  test('is not shown to a token without a grant on the type', { tags: 'full' }, async () => {
    const type = await typeWith([{ v: 'seen' }])
    await profileOf(type)
    const path = `/v1/crm/record-types/${type}/profile`
    const { call: stranger } = await world.newToken([{ record_type: 'elsewhere', permission: 'read' }])
    const { text } = await stranger('GET', path)
    expectFailure(await stranger('GET', path), 'FORBIDDEN')
    expect(text).not.toContain('seen')
    const unknown = await stranger('GET', '/v1/crm/record-types/nowhere/profile')
    const { message } = expectFailure(unknown, 'FORBIDDEN')
    expect(message.replace('nowhere', type)).toBe(JSON.parse(text).error.message)
    const { call: reader } = await world.newToken([{ record_type: type, permission: 'read' }])
    expect(succeed(await reader('GET', path)).count).toBe(1)
  })
})

describe('The profile of a type', () => {
  test('has no values of the same type in another base, and none of another type in the base', {
    tags: 'full',
  }, async () => {
    succeed(await world.call('PUT', '/v1/bases/other', {}), 201)
    const type = await typeWith([{ v: 'own' }])
    const sibling = await typeWith([{ v: 'canary-sibling', canaryKey: 1 }])
    succeed(await world.call('PUT', `/v1/other/record-types/${type}`, {}), 201)
    await insert(type, [{ v: 'canary-neighbour', canaryKey: 1 }], 'other')
    const answer = await world.call('GET', `/v1/crm/record-types/${type}/profile`)
    expect(succeed(answer)).toMatchObject({ count: 1, fields: [{ field: 'data.v', distinct: 1 }] })
    expect(answer.text).not.toContain('canary')
    expect((await world.call('GET', `/v1/crm/record-types/${sibling}/profile`)).text).toContain('canary')
    const other = succeed(await world.call('GET', `/v1/other/record-types/${type}/profile`))
    expect(fieldOf(other, 'data.v').min).toBe('canary-neighbour')
  })

  test('is 404 for an absent type or base, and refuses unknown parameters', { tags: 'full' }, async () => {
    expectFailure(await world.call('GET', '/v1/crm/record-types/nowhere/profile'), 'NOT_FOUND')
    expectFailure(await world.call('GET', '/v1/nobase/record-types/x/profile'), 'NOT_FOUND')
    const type = await world.newType()
    expectFailure(await world.call('GET', `/v1/crm/record-types/${type}/profile?depth=2`), 'VALIDATION_ERROR')
  })
})

test('examples of a profile name no field that a later schema forbids', { tags: 'full' }, async () => {
  const type = await typeWith([
    { old: 'a', kept: 'x' },
    { old: 'a', kept: 'y' },
  ])
  const json_schema = {
    type: 'object',
    additionalProperties: false,
    properties: { kept: { type: 'string' } },
  }
  succeed(await world.call('PATCH', `/v1/crm/record-types/${type}?on_invalid=allow`, { json_schema }))
  const profile = await profileOf(type)
  expect(named(profile)).toEqual(['data.kept', 'data.old'])
  expect(JSON.stringify(profile.examples)).not.toContain('old')
  await expectExamplesToFind(type, profile)
})

test.each([
  ['of one boolean', [{ b: true }, { b: false }]],
  ['of numbers alone', [{ n: 1 }, { n: 2.5 }]],
  ['of lists alone', [{ l: ['a'] }, { l: ['b', 'a'] }]],
  [
    'of many types in one field',
    [{ v: 1 }, { v: 'a' }, { v: true }, { v: [1] }, { v: { a: 1 } }, { v: null }],
  ],
  ['of long texts', [{ t: 'x'.repeat(200) }, { t: 'y'.repeat(200) }]],
  ['of nothing', [{}, {}]],
  ['of nulls', [{ a: null }, { a: null }]],
])('examples of a profile find rows in records %s', async (_what, records) => {
  const type = await typeWith(records)
  await expectExamplesToFind(type, await profileOf(type))
})

test('GraphQL, MCP and the command line show the same profile', { tags: 'full' }, async () => {
  const type = await typeWith([{ status: 'open', n: 1 }, { status: 'open', n: 2 }, { status: 'shut' }])
  const profile = await profileOf(type)

  const query = `query ($id: String!) { recordTypeProfile(base: "crm", id: $id) {
    count sampled fields { field types null_share: nullShare distinct top { value count } min max }
    relationships examples { description query } } }`
  const graphql = succeed(await world.call('POST', '/graphql', { query, variables: { id: type } }))
  expect(graphql.data.recordTypeProfile).toEqual(profile)

  const { body, text } = await callTool(world, '/mcp', 'describe_type', { base_id: 'crm', record_type: type })
  expect(text).toMatch(/^Untrusted data/)
  expect(body).toMatchObject({ id: type, json_schema: {}, indexes: [], timezone: 'UTC' })
  const { fields, ...rest } = profile
  expect(body.profile).toMatchObject(rest)
  expect(body.profile.fields).toHaveLength(fields.length)
  for (const field of body.profile.fields) expect(fieldOf(profile, field.field)).toMatchObject(field)

  const settings = { PLINTH_URL: world.url, PLINTH_TOKEN: world.adminToken, PLINTH_BASE: 'crm' }
  const { code, out } = await plinth(['record-type', 'profile', type, '--json'], settings)
  expect({ code, out: JSON.parse(out) }).toEqual({ code: 0, out: profile })
})

test('the describe_type tool is short in tools/list, is marked read-only, and is refused without a grant', {
  tags: 'full',
}, async () => {
  const type = await typeWith([{ v: 'secret' }])
  const { body } = await rpc(world, '/mcp/crm', 'tools/list')
  const tool = body.result.tools.find(({ name }: Body) => name === 'describe_type')
  expect(estimateTokens(tool)).toBeLessThanOrEqual(130)
  expect(tool.annotations).toMatchObject({ readOnlyHint: true, openWorldHint: false })
  const { token } = await world.newToken([{ record_type: 'elsewhere', permission: 'read' }])
  const { error } = await callTool(world, '/mcp/crm', 'describe_type', { record_type: type }, { token })
  expect(error.code).toBe('FORBIDDEN')
  expect(JSON.stringify(error)).not.toContain('secret')
})

test('a profile counts the links of the type by relationship type, where the token may read both ends', {
  tags: 'full',
}, async () => {
  const [own, near, far] = await Promise.all([typeWith([{}, {}]), typeWith([{}]), typeWith([{}])])
  const ids = async (type: string): Promise<string[]> =>
    succeed(await world.call('GET', `/v1/crm/records/${type}?sort=id`)).data.map(({ id }: Body) => id)
  const put = async (id: string, source_record_types: string[], target_record_types: string[]) =>
    succeed(
      await world.call('PUT', `/v1/crm/relationship-types/${id}`, {
        source_record_types,
        target_record_types,
      }),
      201,
    )
  await put('profiled-to', [own], [near, far])
  await put('profiled-any', ['*'], ['*'])
  await put('profiled-hidden', [own], [far])
  const [[first = '', second = ''], [nearId = ''], [farId = '']] = await Promise.all([
    ids(own),
    ids(near),
    ids(far),
  ])
  const link = async (rel_type: string, source: [string, string], target: [string, string]) =>
    succeed(
      await world.call('POST', '/v1/crm/relationships', {
        rel_type,
        ...{ source_record_type: source[0], source_id: source[1] },
        ...{ target_record_type: target[0], target_id: target[1] },
      }),
      201,
    )
  await link('profiled-to', [own, first], [near, nearId])
  await link('profiled-to', [own, second], [far, farId])
  await link('profiled-any', [far, farId], [own, first])
  await link('profiled-any', [own, first], [own, second])
  const along = (rel_type: string, direction: string, count: number, record_types: string[]) => ({
    ...{ rel_type, direction, record_types, count },
  })
  const mentioned = ({ relationships }: Body) =>
    relationships.filter(({ rel_type }: Body) => rel_type.startsWith('profiled-'))
  expect(mentioned(await profileOf(own))).toEqual([
    along('profiled-any', 'outgoing', 1, [own]),
    along('profiled-any', 'incoming', 2, [own, far].sort()),
    along('profiled-hidden', 'outgoing', 0, [far]),
    along('profiled-to', 'outgoing', 2, [near, far]),
  ])
  const { call } = await world.newToken([{ record_type: [own, near], permission: 'read' }])
  expect(mentioned(succeed(await call('GET', `/v1/crm/record-types/${own}/profile`)))).toEqual([
    along('profiled-any', 'outgoing', 1, [own]),
    along('profiled-any', 'incoming', 1, [own]),
    along('profiled-to', 'outgoing', 1, [near]),
  ])
})

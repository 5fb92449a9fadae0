import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { estimateTokens } from '../../src/mcp/budget/fit.ts'
import { succeed } from '../support/answers.ts'
import { callTool } from '../support/mcp.ts'
import type { Body } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
const text = { type: 'string', description: 'Words about what this is for, as authors write them.' }
const STAGES = ['lead', 'won', 'lost']
const DEAL = {
  type: 'object',
  description: 'A sale.',
  additionalProperties: false,
  required: ['title', 'stage', 'code'],
  properties: {
    title: { ...text, minLength: 1 },
    stage: { enum: STAGES, description: 'Where it stands.' },
    code: { type: 'integer' },
    due: { type: ['string', 'null'], format: 'date', default: null },
    // A property may have the name of a keyword.
    description: { type: 'string', maxLength: 10 },
    lines: { type: 'array', items: { $ref: '#/$defs/line' } },
    ...Object.fromEntries(Array.from({ length: 14 }, (_, n) => [`extra_${n}`, text])),
  },
  $defs: { line: { type: 'object', required: ['sku'], properties: { sku: text, n: { minimum: 1 } } } },
}

beforeAll(async () => {
  world = await openWorld()
  const put = async (at: string, body: object) => succeed(await world.call('PUT', `/v1/crm/${at}`, body), 201)
  const indexes = [{ fields: ['data.code'], unique: true }]
  await put('record-types/deal', { json_schema: DEAL, indexes })
  await put('record-types/company', { json_schema: { type: 'object', properties: { name: text } } })
  await put('records/company/acme', { data: { name: 'Acme' } })
  const ends = { source_record_types: ['deal'], target_record_types: ['company'] }
  await put('relationship-types/sold_to', { ...ends, cardinality: 'many_to_one', description: 'Who buys.' })
  await put('relationship-types/owned_by', { ...ends, cardinality: 'one_to_one' })
  for (const n of [1, 2, 3, 4]) {
    const extra = Object.fromEntries(Array.from({ length: 14 }, (_, i) => [`extra_${i}`, `word ${n % 2}`]))
    const data = {
      title: `T${n}`,
      stage: n > 2 ? 'won' : 'lead',
      code: n,
      ...extra,
      lines: [{ sku: 'S', n }],
    }
    const relationships = [{ rel_type: 'sold_to', record_type: 'company', id: 'acme' }]
    await put(`records/deal/d${n}`, { data, relationships })
  }
})
afterAll(() => world.close())

const as = (args: object, path = '/mcp/crm', token = world.adminToken) =>
  callTool(world, path, 'describe_type', { record_type: 'deal', ...args }, { token })

describe('describe_type', () => {
  test('brief has at most a third of the tokens of standard, and full at most 1.6 times as many', {
    tags: 'full',
  }, async () => {
    const cost = async (detail: string) => estimateTokens((await as({ detail, max_tokens: 50_000 })).body)
    const [brief, standard, full] = [await cost('brief'), await cost('standard'), await cost('full')]
    console.info(`describe_type of 20 fields, in tokens: brief ${brief}, standard ${standard}, full ${full}`)
    expect(brief * 3).toBeLessThan(standard)
    expect(full).toBeLessThan(standard * 1.6)
    expect(full).toBeLessThan(4000)
  })

  test('brief has names, types, formats, enums, defaults and required properties, and no data', async () => {
    const { body } = await as({ detail: 'brief' })
    const { id, version, json_schema, ...rest } = body
    expect({ id, version }).toEqual({ id: 'deal', version: 1 })
    expect(Object.keys(rest).sort()).toEqual(['description', 'name'])
    const { properties, ...root } = json_schema
    expect(root).toEqual({
      type: 'object',
      required: DEAL.required,
      additionalProperties: false,
      $defs: { line: { type: 'object', required: ['sku'], properties: { sku: { type: 'string' }, n: {} } } },
    })
    expect(properties).toMatchObject({
      title: { type: 'string' },
      stage: { enum: STAGES },
      due: { type: ['string', 'null'], format: 'date' },
      description: { type: 'string' },
      lines: { type: 'array', items: { $ref: '#/$defs/line' } },
    })
    expect(Object.keys(properties)).toHaveLength(20)
    expect(JSON.stringify(body)).not.toMatch(/Words about|minLength|maxLength|"T1"/)
  })

  test('standard is the default level', { tags: 'full' }, async () => {
    const { body } = await as({})
    expect(body).toEqual((await as({ detail: 'standard' })).body)
    expect(body).toMatchObject({ id: 'deal', json_schema: DEAL, profile: { count: 4 } })
    expect(body.profile.examples).toHaveLength(3)
    expect(body).not.toHaveProperty('calls')
  })

  test.each(['/mcp/crm', '/mcp'])('full contains example calls that succeed on %s', async (path) => {
    const { body } = await as({ detail: 'full', ...(path === '/mcp' && { base_id: 'crm' }) }, path)
    const { calls } = body
    const tools = calls.map((call: Body) => call.tool)
    const reads = ['query_records', 'query_records', 'aggregate_records', 'query_records']
    expect(tools).toEqual([...(path === '/mcp' ? [] : ['create_deal']), 'upsert_record', ...reads])
    for (const { tool, arguments: args } of calls) {
      const dry = /create|upsert/.test(tool) ? { dry_run: true } : {}
      const { body: answer, error } = await callTool(world, path, tool, { ...args, ...dry })
      expect(error, tool).toBeUndefined()
      expect(answer.operation ?? answer.data.length, tool).not.toBe(0)
    }
    const [upsert] = calls.filter(({ tool }: Body) => tool === 'upsert_record')
    // The example uses existing values, a unique code and a link that the cardinality allows.
    expect(STAGES.slice(0, 2)).toContain(upsert.arguments.data.stage)
    expect(upsert.arguments.data.code).toBe(5)
    expect(upsert.arguments.relationships).toEqual([
      { rel_type: 'sold_to', record_type: 'company', id: 'acme' },
    ])
    const filters = calls.map((call: Body) => call.arguments.filter?.field)
    expect(filters).toContain('data.stage')
    expect(calls.at(-1).arguments.expand).toEqual(['sold_to'])
  })

  test('full contains the relationship types with their ends and cardinality', async () => {
    const { relationship_types, profile } = (await as({ detail: 'full' })).body
    expect(relationship_types).toEqual([
      expect.objectContaining({ id: 'owned_by', cardinality: 'one_to_one', on_delete: 'unlink' }),
      expect.objectContaining({ id: 'sold_to', target_record_types: ['company'], description: 'Who buys.' }),
    ])
    expect(profile.relationships).toContainEqual(expect.objectContaining({ rel_type: 'sold_to', count: 4 }))
    expect(profile).not.toHaveProperty('examples')
  })

  test('full contains only the calls, links and records that the token has access to', {
    tags: 'full',
  }, async () => {
    const reader = await world.newToken([{ permission: 'read' }])
    const { calls } = (await as({ detail: 'full' }, '/mcp/crm', reader.token)).body
    expect(calls.every(({ tool }: Body) => /^(query|aggregate)_records$/.test(tool))).toBe(true)
    expect((await as({ detail: 'full' }, '/mcp/crm?readonly=1')).body.calls).toEqual(calls)
    const writer = await world.newToken([{ record_type: 'deal', permission: 'write' }])
    const { body } = await as({ detail: 'full' }, '/mcp/crm', writer.token)
    expect(body.relationship_types).toEqual([])
    expect(JSON.stringify(body)).not.toMatch(/acme|company|sold_to/)
    expect(body.calls[0].tool).toBe('create_deal')
    for (const detail of ['brief', 'full']) {
      const elsewhere = await world.newToken([{ record_type: 'company', permission: 'write' }])
      expect((await as({ detail }, '/mcp/crm', elsewhere.token)).error.code).toBe('FORBIDDEN')
    }
  })

  test('each level has max_tokens at most and names what was cut', async () => {
    for (const detail of ['brief', 'standard', 'full']) {
      const { text: said, body } = await as({ detail, max_tokens: 200 })
      expect(Math.ceil(Buffer.byteLength(said) / 4), detail).toBeLessThanOrEqual(200)
      expect(body.truncated, detail).not.toEqual([])
      expect(body.hint, detail).toMatch(/max_tokens/)
    }
  })

  test('an unknown level is refused with the known levels', async () => {
    const { error } = await as({ detail: 'ful' })
    expect(error.details[0]).toMatchObject({
      path: '/detail',
      allowed: ['brief', 'standard', 'full', 'inferred'],
      hint: 'full',
    })
  })
})

/** Schemas with constraints of each kind. */
const DEMANDING: Record<string, object> = {
  formats: {
    type: 'object',
    properties: Object.fromEntries(
      ['date-time', 'date', 'time', 'duration', 'email', 'uri', 'uuid', 'ipv4', 'ipv6', 'hostname'].map(
        (format) => [format, { type: 'string', format }],
      ),
    ),
    required: ['date-time', 'date', 'time', 'duration', 'email', 'uri', 'uuid', 'ipv4', 'ipv6', 'hostname'],
  },
  numbers: {
    type: 'object',
    properties: {
      a: { type: 'integer', minimum: 7, multipleOf: 5 },
      b: { type: 'number', exclusiveMinimum: 2, maximum: 2.5 },
      c: { type: 'boolean' },
      d: { const: 'x' },
    },
    required: ['a', 'b', 'c', 'd'],
  },
  nested: {
    type: 'object',
    required: ['in', 'list'],
    properties: {
      in: {
        allOf: [
          { $ref: '#/$defs/n' },
          { properties: { b: { type: 'string', minLength: 9 } }, required: ['b'] },
        ],
      },
      list: { type: 'array', minItems: 2, items: { anyOf: [{ type: 'integer' }, { type: 'null' }] } },
    },
    $defs: { n: { type: 'object', properties: { a: { enum: [null, 'p'] } }, required: ['a'] } },
  },
  open: {},
}

test.each(Object.keys(DEMANDING))(
  'the example call that creates a record is valid for the schema %s without existing records',
  async (id) => {
    succeed(await world.call('PUT', `/v1/crm/record-types/${id}`, { json_schema: DEMANDING[id] }), 201)
    const { body } = await as({ record_type: id, detail: 'full' })
    const [write] = body.calls
    expect(write.tool).toBe(`create_${id}`)
    const { error } = await callTool(world, '/mcp/crm', write.tool, { ...write.arguments, dry_run: true })
    expect(error).toBeUndefined()
  },
)

test('describe_type has no example call that writes when no valid example is found', {
  tags: 'full',
}, async () => {
  const json_schema = {
    type: 'object',
    properties: { code: { type: 'string', pattern: '^Q[0-9]{7}$' } },
    required: ['code'],
  }
  succeed(await world.call('PUT', '/v1/crm/record-types/puzzle', { json_schema }), 201)
  const { body } = await as({ record_type: 'puzzle', detail: 'full' })
  expect(body.calls.map(({ tool }: Body) => tool)).not.toContain('create_puzzle')
  succeed(await world.call('PUT', '/v1/crm/records/puzzle/p', { data: { code: 'Q1234567' } }), 201)
  succeed(await world.call('PATCH', '/v1/crm/record-types/puzzle', { description: 'Codes.' }))
  const [write] = (await as({ record_type: 'puzzle', detail: 'full' })).body.calls
  expect(write).toEqual({ tool: 'create_puzzle', arguments: { code: 'Q1234567' } })
})

test('the example call that creates a record has what a stored record has, with long texts cut', async () => {
  const one = (kind: string, name: string) => ({
    properties: { kind: { const: kind }, [name]: { type: 'string' } },
    required: ['kind', name],
  })
  const json_schema = { type: 'object', oneOf: [one('call', 'phone'), one('mail', 'address')] }
  succeed(await world.call('PUT', '/v1/crm/record-types/contact', { json_schema }), 201)
  const data = { kind: 'mail', address: 'a@example.com', note: '😀'.repeat(200), log: Array(200).fill('x') }
  succeed(await world.call('PUT', '/v1/crm/records/contact/c', { data }), 201)
  const [write] = (await as({ record_type: 'contact', detail: 'full' })).body.calls
  const { note, ...rest } = write.arguments
  expect(rest).toEqual({ kind: 'mail', address: 'a@example.com' })
  expect(data.note.startsWith(note)).toBe(true)
  expect(note.length).toBeLessThan(data.note.length)
})

test('example calls use only the tools that ?tools= and ?readonly= leave', { tags: 'full' }, async () => {
  const named = async (tools: string) => {
    const path = `/mcp/crm?tools=describe_type${tools}`
    const { body } = await as({ detail: 'full', record_type: 'company' }, path)
    return body.calls.map(({ tool }: Body) => tool)
  }
  expect(await named('')).toEqual([])
  expect(await named(',upsert_record')).toEqual(['upsert_record'])
  expect(await named(',create_company')).toEqual(['create_company'])
  expect(new Set(await named(',query_records'))).toEqual(new Set(['query_records']))
  expect(await named(',aggregate_records&readonly=1')).toEqual(['aggregate_records'])
})

test('a schema that expands to millions of nodes is described within the budget of examples', {
  tags: 'full',
}, async () => {
  const parts = Array.from({ length: 20 }, (_, n) => `p${n}`)
  const last = { type: 'object', properties: { name: { type: 'string' } } }
  const levels = (level: (next: object) => object) => {
    const named = Array.from({ length: 6 }, (_, n) => [`d${n}`, n < 5 ? level(to(n + 1)) : last])
    return { type: 'object', ...level(to(0)), $defs: Object.fromEntries(named) }
  }
  const to = (n: number) => ({ $ref: `#/$defs/d${n}` })
  const shapes = {
    made_of: levels((next) => ({ type: 'object', allOf: parts.map(() => next) })),
    asks_for: levels((next) => ({
      type: 'object',
      required: parts,
      properties: Object.fromEntries(parts.map((name) => [name, next])),
    })),
    lists: {
      type: 'object',
      required: parts,
      properties: Object.fromEntries(
        parts.map((name) => [
          name,
          [1, 2, 3, 4, 5].reduce<object>((items) => ({ type: 'array', minItems: 10, items }), {
            type: 'string',
          }),
        ]),
      ),
    },
  }
  for (const [id, json_schema] of Object.entries(shapes)) {
    succeed(await world.call('PUT', `/v1/crm/record-types/${id}`, { json_schema }), 201)
    const { body } = await as({ record_type: id, detail: 'full' })
    expect(body.id).toBe(id)
    expect(body.calls.length).toBeGreaterThan(0)
  }
})

test('the example call is upsert_record when argument names differ from property names', async () => {
  const json_schema = { type: 'object', properties: { 'größe in cm': { type: 'number' } } }
  succeed(await world.call('PUT', '/v1/crm/record-types/odd', { json_schema }), 201)
  succeed(await world.call('PUT', '/v1/crm/records/odd/o', { data: { 'größe in cm': 3 } }), 201)
  const [write] = (await as({ record_type: 'odd', detail: 'full' })).body.calls
  expect(write).toEqual({
    tool: 'upsert_record',
    arguments: { record_type: 'odd', data: { 'größe in cm': 3 } },
  })
})

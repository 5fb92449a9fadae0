/** Schemas with formats and patterns that Plinth does not check. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { expectFault, succeed } from '../../support/answers.ts'
import { callTool } from '../../support/mcp.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const ODD = {
  properties: {
    email: { type: 'string', format: 'email', pattern: '^(?!x)[^@]+@[^@]+$' },
    colour: { type: 'string', format: 'color-hex' },
    day: { type: 'string', format: 'datetime' },
  },
}
const WARNINGS = [
  expect.stringMatching(
    /^The pattern .* cannot run .*negative lookahead.*at \/properties\/email\/pattern\)\.$/,
  ),
  expect.stringMatching(/^The format "color-hex" is not known.*at \/properties\/colour\/format\)\.$/),
  expect.stringMatching(/^The format "datetime" .*Did you mean "date-time"\?/),
]

describe('A format that is not known and a pattern that cannot run', () => {
  const path = '/v1/crm/record-types/odd'

  test('are kept as they were sent, named in meta.warnings, and not checked', async () => {
    const made = succeed(await world.call('PUT', path, { json_schema: ODD }), 201)
    expect(made.meta.warnings).toEqual(WARNINGS)
    expect(succeed(await world.call('GET', path)).json_schema).toEqual(ODD)
    const data = { email: 'x@example.com', colour: 'red', day: 'x' }
    succeed(await world.call('POST', '/v1/crm/records/odd', { data }), 201)
    // What is known beside them is checked.
    expectFault(await world.call('POST', '/v1/crm/records/odd', { data: { email: 'y' } }), '/data/email')
  })

  test('are named by each kind of PATCH, a merge patch keeps them', async () => {
    const merge = { 'content-type': 'application/merge-patch+json' }
    const body = { json_schema: { properties: { size: { type: 'number' } } } }
    const patched = succeed(await world.call('PATCH', path, body, merge))
    expect(patched.meta.warnings).toEqual(WARNINGS)
    expect(patched.json_schema.properties.email).toEqual(ODD.properties.email)
    expect(succeed(await world.call('PATCH', path, { description: 'd' })).meta.warnings).toEqual(WARNINGS)
  })

  test('are named alike by GraphQL, MCP, a batch and a provider import', async () => {
    const mutation = `mutation($s: JSON) { putRecordType(base: "crm", id: "odd2", input: { jsonSchema: $s }) { warnings } }`
    const { data } = (await world.call('POST', '/graphql', { query: mutation, variables: { s: ODD } })).body
    expect(data.putRecordType.warnings).toEqual(WARNINGS)
    const args = { record_type: 'odd3', json_schema: ODD }
    expect((await callTool(world, '/mcp/crm', 'define', args)).body['meta'].warnings).toEqual(WARNINGS)
    const operations = [{ type: 'upsert_record_type', id: 'odd4', body: { json_schema: ODD } }]
    expect(succeed(await world.call('POST', '/v1/crm/batch', { operations })).data[0].warnings).toEqual(
      WARNINGS,
    )
    const tools = [{ name: 'odd5', input_schema: { type: 'object', ...ODD } }]
    const imported = succeed(await world.call('POST', '/v1/crm/providers/anthropic/import', { tools }))
    expect(imported.data[0].warnings).toEqual(WARNINGS)
    const stored = succeed(await world.call('GET', '/v1/crm/record-types/odd5'))
    expect(stored.json_schema).toEqual({ type: 'object', ...ODD })
  })

  test('of a relationship type are named, too', async () => {
    const body = {
      source_record_types: ['odd'],
      target_record_types: ['odd'],
      data_schema: { properties: { c: { format: 'color-hex' } } },
    }
    const made = succeed(await world.call('PUT', '/v1/crm/relationship-types/near', body), 201)
    expect(made.meta.warnings).toEqual([expect.stringContaining('"color-hex"')])
  })

  test('the warnings of a schema with very many are the first twenty, and a count', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [`p${i}`, { format: `f${i}` }]),
    )
    const { meta } = succeed(await world.call('PUT', path, { json_schema: { properties } }))
    expect(meta.warnings.filter((text: string) => text.startsWith('The format'))).toHaveLength(20)
    expect(meta.warnings.slice(-2)).toEqual([
      'There are 480 more warnings.',
      expect.stringContaining('/graphql/crm may break: '),
    ])
  })
})

describe('Schemas as generators print them', () => {
  const put = (id: string, json_schema: unknown) =>
    world.call('PUT', `/v1/crm/record-types/${id}`, { json_schema })

  test('of Zod are taken, and the formats are checked', async () => {
    const shape = z.object({
      email: z.email(),
      site: z.url(),
      icon: z.emoji(),
      id: z.uuidv7(),
      nano: z.nanoid(),
      cuid: z.cuid(),
      cuid2: z.cuid2(),
      ulid: z.ulid(),
      xid: z.xid(),
      ksuid: z.ksuid(),
      net: z.cidrv4(),
      net6: z.cidrv6(),
      bytes: z.base64(),
      token: z.base64url(),
      phone: z.e164(),
      jwt: z.jwt(),
      hex: z.hex(),
      host: z.hostname(),
      took: z.iso.duration(),
      at: z.iso.datetime(),
      count: z.int().default(1),
    })
    const made = succeed(await put('zod', z.toJSONSchema(shape)), 201)
    const texts = made.meta.warnings.join('\n')
    expect(texts).not.toContain('The format')
    const data = {
      email: 'ada@example.com',
      site: 'https://example.com',
      icon: '🎉',
      id: '01958f2e-7a3b-7c41-9d2e-5f60718293a4',
      nano: 'V1StGXR8_Z5jdHi6B-myT',
      cuid: 'cjld2cjxh0000qzrmn831i7rn',
      cuid2: 'tz4a98xxat96iws9zmbrgj3a',
      ulid: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
      xid: '9m4e2mr0ui3e8a215n4g',
      ksuid: '0ujsswThIGTUYm2K8FjOOfXtY1K',
      net: '192.0.2.0/24',
      net6: '2001:db8::/32',
      bytes: 'YQ==',
      token: 'YQ',
      phone: '+41443210000',
      jwt: `${btoa('{"alg":"none"}')}.e30.x`,
      hex: 'c0ffee',
      host: 'example.com',
      took: 'P1D',
      at: '2026-01-01T00:00:00Z',
    }
    // Zod lists a property with a default as required.
    const record = succeed(await world.call('POST', '/v1/crm/records/zod', { data }), 201)
    expect(record.data).toEqual({ ...data, count: 1 })
    const wrong = Object.fromEntries(Object.keys(data).map((name) => [name, '!']))
    // The patterns that Zod prints beside the formats would refuse most of these values, too.
    const bare = JSON.parse(
      JSON.stringify(z.toJSONSchema(shape)).replace(/,"pattern":"(\\\\.|[^"\\\\])*"/g, ''),
    )
    const type = await world.newType({ json_schema: bare })
    const { body } = await world.call('POST', `/v1/crm/records/${type}`, { data: wrong })
    expect(body.error.details.map(({ path }: { path: string }) => path).sort()).toEqual(
      Object.keys(data)
        .map((name) => `/data/${name}`)
        .sort(),
    )
  })

  test.each<[string, object]>([
    [
      'Pydantic',
      {
        $defs: { Address: { properties: { zip: { default: '8000', type: 'string' } }, type: 'object' } },
        properties: {
          price: {
            anyOf: [
              { type: 'number' },
              { pattern: '^(?!^[-+.]*$)[+-]?0*\\d*\\.?\\d*$', type: 'string' },
              { type: 'null' },
            ],
            default: null,
          },
          path: { format: 'file-path', type: 'string' },
          uid: { format: 'uuid4', type: 'string' },
          home: { anyOf: [{ $ref: '#/$defs/Address' }, { type: 'null' }], default: null },
          work: { $ref: '#/$defs/Address', default: {} },
        },
        title: 'Order',
        type: 'object',
      },
    ],
    [
      'TypeBox',
      {
        $id: 'Point',
        type: 'object',
        properties: {
          at: { type: 'array', items: [{ type: 'number' }, { type: 'number' }], additionalItems: false },
          mode: {
            anyOf: [
              { const: 'a', type: 'string' },
              { const: 'b', type: 'string' },
            ],
            default: 'a',
          },
        },
        $schema: 'http://json-schema.org/draft-07/schema#',
      },
    ],
    [
      'ArkType',
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: {
          day: {
            type: 'string',
            pattern: '^([+-]?\\d{4}(?!\\d{2}\\b))((-?)((0[1-9]|1[0-2])(\\3([12]\\d|0[1-9]|3[01]))?))?$',
          },
          digits: { type: 'string', pattern: '^\\d*$' },
        },
      },
    ],
  ])('of %s are taken', async (name, schema) => {
    const made = succeed(await put(name.toLowerCase(), schema), 201)
    const { data } = succeed(
      await world.call('POST', `/v1/crm/records/${name.toLowerCase()}`, { data: {} }),
      201,
    )
    if (name === 'Pydantic') {
      expect(made.meta.warnings).toEqual([
        expect.stringContaining('negative lookahead'),
        expect.stringContaining('"file-path"'),
      ])
      expect(data).toEqual({ price: null, home: null, work: { zip: '8000' } })
    }
    if (name === 'TypeBox') expect(data).toEqual({ mode: 'a' })
    if (name === 'ArkType') expect(made.meta.warnings).toHaveLength(1)
  })
})

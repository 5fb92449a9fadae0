import { describe, expect, test } from 'vitest'
import { createInput, splitArguments, updateInput } from '../../src/mcp/tool/tool-inputs.ts'
import { projectSchema } from '../../src/schema-shape/portable-schema.ts'
import { lintTool, lintTools } from '../support/tool-lint.ts'

const deal = projectSchema({
  type: 'object',
  additionalProperties: false,
  required: ['title'],
  minProperties: 1,
  properties: {
    title: { type: 'string', description: 'What it is about' },
    due: { type: ['string', 'null'], format: 'date' },
    stage: { type: 'string', default: 'new' },
    address: { type: 'object', required: ['city'], properties: { city: { type: 'string' } } },
    tags: {
      type: 'array',
      items: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
    },
  },
})

describe('the arguments of a create tool', () => {
  test('are the properties of the type and the reserved arguments', () => {
    const { schema } = createInput(deal)
    expect(Object.keys(schema.properties ?? {})).toEqual([
      ...['title', 'due', 'stage', 'address', 'tags'],
      ...['external_id', 'external_source', 'relationships', 'idempotency_key', 'dry_run'],
    ])
    expect(schema).toMatchObject({ type: 'object', required: ['title'], additionalProperties: false })
    expect(schema).not.toHaveProperty('minProperties')
  })

  test('rename a reserved argument that has the name of a property', () => {
    const properties = { dry_run: {}, _dry_run: {}, 'external id': {}, external_id: {} }
    const input = createInput(projectSchema({ type: 'object', properties }))
    expect(input.reserved.get('dry_run')).toBe('__dry_run')
    expect(input.reserved.get('external_id')).toBe('_external_id')
    expect(input.reserved.get('idempotency_key')).toBe('idempotency_key')
    expect(splitArguments(input, { dry_run: 1, __dry_run: true, 'external id': 2, other: 3 })).toEqual({
      reserved: { dry_run: true },
      data: { dry_run: 1, 'external id': 2, other: 3 },
    })
  })
})

describe('the arguments of an update tool', () => {
  const { schema } = updateInput(deal)

  test('require only the id', () => {
    expect(schema.required).toEqual(['id'])
    expect(Object.keys(schema.properties ?? {})[0]).toBe('id')
    expect(schema.properties).toMatchObject({
      expected_version: { type: 'integer' },
      dry_run: { type: 'boolean' },
    })
  })

  test('describe no null: clear empties a property', () => {
    expect(schema.properties?.['title']?.description).toBe('What it is about.')
    expect(schema.properties?.['due']?.description).toBe('A date (YYYY-MM-DD).')
  })

  test('are a merge patch: objects partial, arrays complete, no defaults', () => {
    expect(schema.properties?.['address']).not.toHaveProperty('required')
    expect(schema.properties?.['tags']?.items).toHaveProperty('required', ['name'])
    expect(schema.properties?.['stage']).not.toHaveProperty('default')
  })

  test('rename the id argument when the type has a property "id"', () => {
    const input = updateInput(projectSchema({ type: 'object', properties: { id: { type: 'number' } } }))
    expect(input.schema.required).toEqual(['_id'])
    expect(splitArguments(input, { _id: 'r1', id: 7 })).toEqual({ reserved: { id: 'r1' }, data: { id: 7 } })
  })
})

describe('the tool linter', () => {
  const tool = {
    name: 'create_deal',
    description: 'Creates a deal.',
    inputSchema: createInput(deal).schema,
    annotations: {
      title: 'Create deal',
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: false,
      openWorldHint: false,
    },
  }

  const property = (schema: object) => ({
    ...tool,
    inputSchema: { type: 'object', properties: { a: schema } },
  })

  test('accepts a portable tool', () => {
    expect(lintTools([tool])).toEqual([])
  })

  test('reports names that differ only in case or punctuation', () => {
    expect(
      lintTools([
        { ...tool, name: 'a-b' },
        { ...tool, name: 'A_b' },
      ]),
    ).not.toEqual([])
  })

  test.each<[string, unknown]>([
    ['a name', { ...tool, name: 'create.deal' }],
    ['no description', { ...tool, description: '' }],
    ['a missing hint', { ...tool, annotations: { title: 'Create deal' } }],
    ['an output that is no object', { ...tool, outputSchema: { type: 'array', items: { type: 'string' } } }],
    ['a root of branches', { ...tool, inputSchema: { oneOf: [] } }],
    ['a reference', { ...tool, inputSchema: { type: 'object', properties: { a: { $ref: '#' } } } }],
    [
      'a list of types',
      { ...tool, inputSchema: { type: 'object', properties: { a: { type: ['string'] } } } },
    ],
    ['true as a schema', { ...tool, inputSchema: { type: 'object', properties: { a: true } } }],
    ['an empty schema', { ...tool, inputSchema: { type: 'object', properties: { a: {} } } }],
    [
      'an array without items',
      { ...tool, inputSchema: { type: 'object', properties: { a: { type: 'array' } } } },
    ],
    [
      'a property name',
      { ...tool, inputSchema: { type: 'object', properties: { 'a b': { type: 'string' } } } },
    ],
    ['an unknown keyword', property({ type: 'string', 'x-mine': 1 })],
    ['a schema by its dialect', { ...tool, inputSchema: { ...tool.inputSchema, $schema: 'x' } }],
    ['a tuple', property({ type: 'array', items: { type: 'string' }, prefixItems: [] })],
    ['a keyword of another type', property({ type: 'string', maximum: 1 })],
    ['values of another type', property({ type: 'integer', enum: ['a'] })],
    ['a value twice', property({ type: 'string', enum: ['a', 'a'] })],
    ['a value that hides characters', property({ type: 'string', enum: ['a\u202e'] })],
    ['a default of another type', property({ type: 'boolean', default: 'yes' })],
    ['a pattern that does not compile', property({ type: 'string', pattern: '(' })],
    ['a bound that is none', property({ type: 'string', minLength: '1' })],
    ['a title that hides characters', { ...tool, annotations: { ...tool.annotations, title: 'a\u200b' } }],
    ['a required unknown', { ...tool, inputSchema: { type: 'object', properties: {}, required: ['a'] } }],
  ])('reports %s', (_fault, faulty) => {
    expect(lintTool(faulty as typeof tool)).not.toEqual([])
  })
})

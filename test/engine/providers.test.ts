import { describe, expect, test } from 'vitest'
import type { ExportedType, ToolDefinition } from '../../src/engine/analytics/providers/codec.ts'
import { acceptedNames } from '../../src/engine/analytics/providers/export.ts'
import { readTools } from '../../src/engine/analytics/providers/import.ts'
import { provider } from '../../src/engine/analytics/providers/registry.ts'
import {
  anthropic,
  anthropicTool,
  chatTool,
  exportFrom,
  faults,
  google,
  googleDeclaration,
  handMade,
  importInto,
  mcp,
  mcpTool,
  openai,
  responsesTool,
  stored,
} from '../support/providers.ts'

describe('the provider name', () => {
  test('gemini is an alias of google', () => expect(provider('gemini').id).toBe('google'))
  test('is refused with the most similar name when it is unknown', () => {
    expect(faults(() => provider('antropic'))[0]).toMatchObject({
      path: 'path/provider',
      hint: 'anthropic',
      allowed: ['openai', 'anthropic', 'google', 'gemini', 'mcp'],
    })
    expect(faults(() => provider('__proto__'))[0]).toMatchObject({ path: 'path/provider' })
  })
})

describe('an import followed by an export returns the same definition', () => {
  test.each([
    ['a Chat Completions tool', openai, chatTool, 'chat'],
    [
      'a Chat Completions tool without parameters',
      openai,
      { type: 'function', function: { name: 'ping' } },
      'chat',
    ],
    ['a Responses tool', openai, responsesTool, 'responses'],
    ['an Anthropic tool', anthropic, anthropicTool, 'chat'],
    ['an Anthropic tool of type custom', anthropic, { ...anthropicTool, type: 'custom' }, 'chat'],
    ['an MCP tool', mcp, mcpTool, 'chat'],
  ] as const)('for %s', async (_what, codec, tool, shape) => {
    const before = structuredClone(tool)
    const types = importInto(codec, tool).map(stored)
    expect(await exportFrom(codec, types, shape)).toEqual({
      provider: codec.id,
      tools: [before],
      warnings: expect.any(Array),
    })
    expect(tool).toEqual(before)
  })

  test('for Google declarations, in one list', async () => {
    const other = { name: 'ping', parametersJsonSchema: { type: 'object', properties: { n: { const: 1 } } } }
    const types = importInto(google, { function_declarations: [googleDeclaration] }, other).map(stored)
    const { tools, warnings } = await exportFrom(google, types)
    expect(tools).toEqual([{ functionDeclarations: [googleDeclaration, other] }])
    expect(warnings).toEqual([])
  })

  test('with the changes that were made in between', async () => {
    const [type] = importInto(anthropic, anthropicTool).map(stored) as [ExportedType]
    const changed = { ...type, description: null, jsonSchema: { ...type.jsonSchema, required: [] } }
    const { description: _gone, ...rest } = anthropicTool
    const { tools, warnings } = await exportFrom(anthropic, [changed])
    expect(tools).toEqual([{ ...rest, input_schema: { ...anthropicTool.input_schema, required: [] } }])
    expect(warnings).toEqual([
      'create_ticket: "input_examples" are as imported, though the schema has changed.',
    ])
  })

  test('with strict off if the changed schema does not allow strict', async () => {
    const [type] = importInto(openai, chatTool).map(stored) as [ExportedType]
    const loose = { ...type, jsonSchema: { type: 'object', properties: { location: { type: 'string' } } } }
    const { tools, warnings } = await exportFrom(openai, [loose])
    expect(tools).toMatchObject([{ function: { strict: false, parameters: loose.jsonSchema } }])
    expect(warnings[0]).toContain('"strict" is off')
  })

  test('without the stored source if it is not valid for the provider', async () => {
    const display = { source: { provider: 'openai', definition: { type: 'web_search' } } }
    const { tools } = await exportFrom(openai, [{ ...handMade({ type: 'object' }), display }])
    expect(tools).toEqual([{ type: 'function', function: { name: 'note', parameters: { type: 'object' } } }])
  })
})

describe('an import to JSON Schema', () => {
  test('converts the schema dialect of Google', () => {
    const [tool] = importInto(google, googleDeclaration)
    expect(tool?.jsonSchema).toEqual({
      type: 'object',
      properties: {
        attendees: { type: 'array', items: { type: 'string' }, minItems: 1 },
        room: { type: ['string', 'null'], format: 'enum', enum: ['north', 'south', null] },
        floor: { type: 'integer', format: 'enum', enum: [1, 2] },
        start: { type: 'string', format: 'date-time' },
        cost: { anyOf: [{ type: 'number', format: 'double' }, { type: 'string' }, { type: 'null' }] },
      },
      required: ['attendees'],
      propertyOrdering: ['attendees', 'room', 'floor', 'start', 'cost'],
    })
    expect(tool?.warnings).toEqual([])
    expect(tool?.source).toEqual({ provider: 'google', definition: googleDeclaration })
  })

  test('keeps unknown formats and patterns that cannot run as they are', async () => {
    const [tool] = importInto(anthropic, anthropicTool)
    expect(tool?.jsonSchema).toMatchObject({
      properties: { phone: { type: 'string', format: 'phone', pattern: '^(?=\\d)' } },
    })
    expect((await exportFrom(openai, [stored(tool as ToolDefinition)])).tools).toMatchObject([
      { function: { parameters: { properties: { phone: { format: 'phone', pattern: '^(?=\\d)' } } } } },
    ])
  })

  test('removes a $schema other than 2020-12 and draft-07 with a warning', () => {
    const $schema = 'https://json-schema.org/draft/2019-09/schema'
    const [tool] = importInto(mcp, { name: 'a', inputSchema: { $schema, type: 'object' } })
    expect(tool?.jsonSchema).toEqual({ type: 'object' })
    expect(tool?.warnings[0]).toContain('/tools/0/inputSchema/$schema')
    expect(importInto(mcp, mcpTool)[0]?.jsonSchema).toHaveProperty('$schema')
  })

  test('requires an object at the root', () => {
    const read = (inputSchema?: unknown) =>
      importInto(mcp, { name: 'a', ...(inputSchema ? { inputSchema } : {}) })[0]
    expect(read()?.jsonSchema).toEqual({ type: 'object', properties: {} })
    expect(read({ type: ['object', 'null'] })?.jsonSchema).toEqual({ type: 'object' })
    expect(faults(() => read({ type: 'array' }))[0]).toMatchObject({
      path: '/tools/0/inputSchema/type',
      received: 'array',
    })
    expect(faults(() => read(true))[0]?.path).toBe('/tools/0/inputSchema')
  })
})

describe('an import refuses', () => {
  const examples = { openai: chatTool, anthropic: anthropicTool, google: googleDeclaration, mcp: mcpTool }
  test.each(Object.keys(examples))('definitions of other providers in %s', (name) => {
    for (const [other, tool] of Object.entries(examples).filter(([each]) => each !== name)) {
      const [fault] = faults(() => importInto(provider(name), tool))
      expect(fault).toMatchObject({
        path: '/tools/0',
        code: 'other_provider',
        received: other,
        expected: name,
      })
      expect(fault?.hint).toBe(`providers/${other}/import`)
    }
  })

  test('tools that the provider runs itself', () => {
    expect(faults(() => importInto(openai, { type: 'web_search' }))[0]?.path).toBe('/tools/0/type')
    expect(faults(() => importInto(anthropic, { type: 'bash_20250124', name: 'bash' }))[0]?.path).toBe(
      '/tools/0/type',
    )
    expect(faults(() => importInto(google, { googleSearch: {} }))[0]).toMatchObject({
      path: '/tools/0/googleSearch',
    })
    const both = { functionDeclarations: [], codeExecution: {} }
    expect(faults(() => importInto(google, both))[0]).toMatchObject({
      path: '/tools/0/codeExecution',
      code: 'unsupported',
    })
  })

  test('invalid names, with a valid name as hint', () => {
    const tool = { type: 'function', function: { name: 'files/read me' } }
    expect(faults(() => importInto(openai, chatTool, tool))).toMatchObject([
      {
        path: '/tools/1/function/name',
        code: 'invalid_id',
        received: 'files/read me',
        hint: 'files_read_me',
      },
    ])
    expect(faults(() => importInto(mcp, { name: '_x' }))[0]).toMatchObject({ hint: 'x' })
    expect(faults(() => importInto(mcp, { name: 7 }))[0]).toMatchObject({
      path: '/tools/0/name',
      code: 'type',
    })
    expect(faults(() => importInto(mcp, { title: 'x' }))[0]).toMatchObject({
      path: '/tools/0/name',
      code: 'required',
    })
  })

  test('a duplicate name, also across Google lists', () => {
    const list = { functionDeclarations: [{ name: 'b' }, { name: 'a' }] }
    expect(faults(() => importInto(google, { name: 'a' }, list))[0]).toMatchObject({
      path: '/tools/1/functionDeclarations/1/name',
      code: 'duplicate',
    })
  })

  test('unknown keys and types, with the most similar one as hint', () => {
    expect(faults(() => importInto(anthropic, { ...anthropicTool, cache_contrl: {} }))[0]).toMatchObject({
      path: '/tools/0/cache_contrl',
      hint: 'cache_control',
    })
    expect(faults(() => importInto(google, { name: 'a', parameters: { type: 'STRNG' } }))[0]).toMatchObject({
      path: '/tools/0/parameters/type',
      hint: 'STRING',
    })
  })

  test('all faulty tools in one response', () => {
    const bad = [{ name: '/' }, null, { name: 'ok' }, { name: 'x', description: 1 }]
    const paths = faults(() => importInto(mcp, ...bad)).map(({ path }) => path)
    expect(paths.sort()).toEqual(['/tools/0/name', '/tools/1', '/tools/3/description'])
  })

  test('more than 200 tools', () => {
    const many = Array.from({ length: 201 }, (_, i) => ({ name: `t${i}` }))
    expect(faults(() => importInto(google, { functionDeclarations: many }))[0]).toMatchObject({
      path: '/tools',
      received: 201,
    })
    expect(faults(() => readTools(mcp, {}))[0]).toMatchObject({ path: '/tools' })
  })
})

describe('an export', () => {
  test('writes both OpenAI formats from either', async () => {
    const types = importInto(openai, chatTool, responsesTool).map(stored)
    expect((await exportFrom(openai, types, 'responses')).tools).toEqual([
      { type: 'function', ...chatTool.function },
      responsesTool,
    ])
    const chat = await exportFrom(openai, types)
    expect(chat.tools).toEqual([
      chatTool,
      { type: 'function', function: { name: 'place_order', parameters: responsesTool.parameters } },
    ])
    expect(chat.warnings).toEqual(['place_order: Chat Completions has no "defer_loading".'])
  })

  test('sets strict to false for the Responses API', async () => {
    expect((await exportFrom(openai, [handMade({ type: 'object' })], 'responses')).tools).toEqual([
      { type: 'function', name: 'note', parameters: { type: 'object' }, strict: false },
    ])
  })

  test('warns of the keys of another provider that it omits', async () => {
    const types = importInto(mcp, mcpTool).map(stored)
    const { tools, warnings } = await exportFrom(anthropic, types)
    expect(tools).toMatchObject([
      { description: 'Adds a contact.', input_schema: { properties: { phone: { type: 'string' } } } },
    ])
    expect(tools[0]?.['input_schema']).not.toHaveProperty('oneOf')
    expect(warnings.join('\n')).toMatch(/"annotations" exists for MCP only/)
    expect(warnings.join('\n')).toMatch(/"outputSchema" exists for MCP only/)
    expect(warnings.join('\n')).toMatch(/Anthropic takes no "oneOf" at the root/)
  })

  test('uses the name of a type as the title in MCP', async () => {
    const type = { ...handMade({ type: 'object' }), name: 'A note' }
    expect((await exportFrom(mcp, [type])).tools).toEqual([
      { name: 'note', title: 'A note', inputSchema: { type: 'object' } },
    ])
  })

  test('uses an alias that depends only on the id', async () => {
    const exported = await exportFrom(openai, [
      handMade({ type: 'object' }, 'a.b_c'),
      handMade({ type: 'object' }, 'a_b.c'),
    ])
    const names = exported.tools.map((tool) => (tool['function'] as { name: string }).name)
    expect(names[0]).toMatch(/^a_b_c_[0-9a-f]{8}$/)
    expect(names[1]).not.toBe(names[0])
    expect(exported.warnings[0]).toContain(names[0])
    expect(acceptedNames(openai, { id: 'a.b_c' })).toEqual(['a.b_c', names[0]])
    expect(acceptedNames(google, { id: '3d.print' })[1]).toMatch(/^_3d_print_[0-9a-f]{8}$/)
    expect(acceptedNames(mcp, { id: 'a.b' })).toEqual(['a.b'])
    for (const name of acceptedNames(anthropic, { id: `${'x'.repeat(63)}.` }).slice(1))
      expect(name).toHaveLength(64)
  })

  test('converts JSON Schema to the schema dialect of Google', async () => {
    const type = handMade({
      type: 'object',
      $defs: {
        A: { allOf: [{ type: 'object' }, { properties: { a: { type: 'string' } }, required: ['a'] }] },
        B: { properties: { b: { type: 'boolean' } }, required: ['b'] },
        Node: { type: 'object', properties: { child: { $ref: '#/$defs/Node' }, tag: { const: 'x' } } },
      },
      properties: {
        tree: { $ref: '#/$defs/Node' },
        many: { type: ['string', 'integer', 'null'], minLength: 2, minimum: 0 },
        one: { oneOf: [{ type: 'string', format: 'email' }, { type: 'null' }], description: 'Mail' },
        whole: { allOf: [{ type: 'integer', exclusiveMinimum: 0 }, { maximum: 9 }] },
        size: { enum: [1, 2] },
        list: { type: 'array' },
        both: { allOf: [{ $ref: '#/$defs/A' }, { $ref: '#/$defs/B' }] },
        none: { const: null },
      },
      required: ['tree', 'ghost'],
      additionalProperties: false,
    })
    const { tools, warnings } = await exportFrom(google, [type])
    const node = (properties: object) => ({ type: 'OBJECT', properties })
    const tag = { type: 'STRING', enum: ['x'] }
    expect(tools[0]).toEqual({
      functionDeclarations: [
        {
          name: 'note',
          parameters: {
            type: 'OBJECT',
            properties: {
              tree: node({ child: node({ child: { type: 'OBJECT' }, tag }), tag }),
              many: {
                nullable: true,
                anyOf: [
                  { type: 'STRING', minLength: 2 },
                  { type: 'INTEGER', minimum: 0 },
                ],
              },
              one: { type: 'STRING', nullable: true, description: 'Mail (format: email)' },
              whole: { type: 'INTEGER', minimum: 1, maximum: 9 },
              size: { type: 'INTEGER', description: 'One of: 1, 2.' },
              list: { type: 'ARRAY', items: { type: 'STRING' } },
              both: { ...node({ a: { type: 'STRING' }, b: { type: 'BOOLEAN' } }), required: ['a', 'b'] },
              none: { type: 'NULL' },
            },
            required: ['tree'],
          },
        },
      ],
    })
    expect(warnings.join('\n')).toMatch(/"additionalProperties" \(at the root\)/)
    expect(warnings.join('\n')).toMatch(
      /cut off \(at \/properties\/tree\/properties\/child\/properties\/child\)/,
    )
  })

  test('limits the expansion of references that multiply', { tags: 'full' }, async () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => {
        const next = { $ref: `#/$defs/d${i + 1}` }
        return [`d${i}`, { type: 'object', properties: { a: next, b: next } }]
      }),
    )
    const type = handMade({
      type: 'object',
      $defs,
      properties: { x: { $ref: '#/$defs/d0' }, y: { anyOf: [{ $ref: '#/properties/y' }] } },
    })
    expect(JSON.stringify((await exportFrom(google, [type])).tools).length).toBeLessThan(1_000_000)
  })

  test('of no types is an empty list', async () => expect((await exportFrom(google, [])).tools).toEqual([]))
})

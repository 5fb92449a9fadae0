import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ExportedType, ProviderCodec, Shape, ToolDefinition } from '../../src/engine/providers/codec.ts'
import { acceptedNames, bundle, requireCallName, writeTool } from '../../src/engine/providers/export.ts'
import { readTools } from '../../src/engine/providers/import.ts'
import { exportedNames } from '../../src/engine/providers/property-names.ts'
import { provider } from '../../src/engine/providers/registry.ts'
import { type Detail, DomainError } from '../../src/foundation/errors.ts'

const importInto = (codec: ProviderCodec, ...tools: unknown[]) => readTools(codec, tools)
const stored = (tool: ToolDefinition): ExportedType => ({
  id: tool.name,
  name: tool.title ?? tool.name,
  description: tool.description,
  jsonSchema: tool.jsonSchema,
  display: { source: tool.source },
})
const exportFrom = (codec: ProviderCodec, types: ExportedType[], shape: Shape = 'chat') =>
  bundle(
    codec,
    types.map((type) => writeTool(codec, type, shape)),
  )
const handMade = (jsonSchema: Record<string, unknown>, id = 'note'): ExportedType => ({
  id,
  name: id,
  description: null,
  jsonSchema,
  display: null,
})

function faults(act: () => unknown): readonly Detail[] {
  try {
    act()
  } catch (error) {
    if (error instanceof DomainError && error.code === 'VALIDATION_ERROR') return error.details
    throw error
  }
  throw new Error('Nothing was refused')
}

const openai = provider('openai')
const anthropic = provider('anthropic')
const google = provider('google')
const mcp = provider('mcp')

const chatTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Get the weather.',
    strict: true,
    parameters: {
      type: 'object',
      properties: {
        location: { type: 'string' },
        units: { type: ['string', 'null'], enum: ['c', 'f', null] },
      },
      required: ['location', 'units'],
      additionalProperties: false,
    },
  },
}
const responsesTool = {
  type: 'function',
  name: 'place_order',
  description: null,
  strict: null,
  parameters: {
    $ref: '#/$defs/Order',
    $defs: { Order: { type: 'object', properties: { sku: { type: 'string' } } } },
  },
  defer_loading: true,
}
const anthropicTool = {
  name: 'create_ticket',
  description: 'Open a support ticket.',
  input_schema: {
    type: 'object',
    properties: {
      title: { type: 'string', minLength: 3 },
      tags: { type: 'array', items: { type: 'array', items: { enum: ['bug', 'idea'] } } },
      phone: { type: 'string', format: 'phone', pattern: '^(?=\\d)' },
    },
    required: ['title'],
  },
  cache_control: { type: 'ephemeral', ttl: '1h' },
  input_examples: [{ title: 'It broke' }],
}
const mcpTool = {
  name: 'crm.contact-Create',
  title: 'Create a contact',
  description: 'Adds a contact.',
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { email: { type: 'string', format: 'email' } },
    oneOf: [{ required: ['email'] }, { properties: { phone: { type: 'string' } }, required: ['phone'] }],
  },
  outputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  annotations: { readOnlyHint: false, idempotentHint: true },
  _meta: { 'example.com/owner': 'sales' },
}
const googleDeclaration = {
  name: 'schedule_meeting',
  description: 'Schedules a meeting.',
  parameters: {
    type: 'OBJECT',
    properties: {
      attendees: { type: 'ARRAY', items: { type: 'STRING' }, minItems: '1' },
      room: { type: 'STRING', format: 'enum', enum: ['north', 'south'], nullable: true },
      floor: { type: 'INTEGER', format: 'enum', enum: ['1', '2'] },
      start: { type: 'STRING', format: 'date-time' },
      cost: { anyOf: [{ type: 'NUMBER', format: 'double' }, { type: 'STRING' }], nullable: true },
    },
    required: ['attendees'],
    propertyOrdering: ['attendees', 'room', 'floor', 'start', 'cost'],
  },
  response: { type: 'OBJECT', properties: { id: { type: 'STRING' } } },
}

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
  ] as const)('for %s', (_what, codec, tool, shape) => {
    const before = structuredClone(tool)
    const types = importInto(codec, tool).map(stored)
    expect(exportFrom(codec, types, shape)).toEqual({
      provider: codec.id,
      tools: [before],
      warnings: expect.any(Array),
    })
    expect(tool).toEqual(before)
  })

  test('for Google declarations, in one list', () => {
    const other = { name: 'ping', parametersJsonSchema: { type: 'object', properties: { n: { const: 1 } } } }
    const types = importInto(google, { function_declarations: [googleDeclaration] }, other).map(stored)
    const { tools, warnings } = exportFrom(google, types)
    expect(tools).toEqual([{ functionDeclarations: [googleDeclaration, other] }])
    expect(warnings).toEqual([])
  })

  test('with the changes that were made in between', () => {
    const [type] = importInto(anthropic, anthropicTool).map(stored) as [ExportedType]
    const changed = { ...type, description: null, jsonSchema: { ...type.jsonSchema, required: [] } }
    const { description: _gone, ...rest } = anthropicTool
    const { tools, warnings } = exportFrom(anthropic, [changed])
    expect(tools).toEqual([{ ...rest, input_schema: { ...anthropicTool.input_schema, required: [] } }])
    expect(warnings).toEqual([
      'create_ticket: "input_examples" are as imported, though the schema has changed.',
    ])
  })

  test('with strict off if the changed schema does not allow strict', () => {
    const [type] = importInto(openai, chatTool).map(stored) as [ExportedType]
    const loose = { ...type, jsonSchema: { type: 'object', properties: { location: { type: 'string' } } } }
    const { tools, warnings } = exportFrom(openai, [loose])
    expect(tools).toMatchObject([{ function: { strict: false, parameters: loose.jsonSchema } }])
    expect(warnings[0]).toContain('"strict" is off')
  })

  test('without the stored source if it is not valid for the provider', () => {
    const display = { source: { provider: 'openai', definition: { type: 'web_search' } } }
    const { tools } = exportFrom(openai, [{ ...handMade({ type: 'object' }), display }])
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

  test('keeps unknown formats and patterns that cannot run as they are', () => {
    const [tool] = importInto(anthropic, anthropicTool)
    expect(tool?.jsonSchema).toMatchObject({
      properties: { phone: { type: 'string', format: 'phone', pattern: '^(?=\\d)' } },
    })
    expect(exportFrom(openai, [stored(tool as ToolDefinition)]).tools).toMatchObject([
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
  test('writes both OpenAI formats from either', () => {
    const types = importInto(openai, chatTool, responsesTool).map(stored)
    expect(exportFrom(openai, types, 'responses').tools).toEqual([
      { type: 'function', ...chatTool.function },
      responsesTool,
    ])
    const chat = exportFrom(openai, types)
    expect(chat.tools).toEqual([
      chatTool,
      { type: 'function', function: { name: 'place_order', parameters: responsesTool.parameters } },
    ])
    expect(chat.warnings).toEqual(['place_order: Chat Completions has no "defer_loading".'])
  })

  test('sets strict to false for the Responses API', () => {
    expect(exportFrom(openai, [handMade({ type: 'object' })], 'responses').tools).toEqual([
      { type: 'function', name: 'note', parameters: { type: 'object' }, strict: false },
    ])
  })

  test('warns of the keys of another provider that it omits', () => {
    const types = importInto(mcp, mcpTool).map(stored)
    const { tools, warnings } = exportFrom(anthropic, types)
    expect(tools).toMatchObject([
      { description: 'Adds a contact.', input_schema: { properties: { phone: { type: 'string' } } } },
    ])
    expect(tools[0]?.['input_schema']).not.toHaveProperty('oneOf')
    expect(warnings.join('\n')).toMatch(/"annotations" exists for MCP only/)
    expect(warnings.join('\n')).toMatch(/"outputSchema" exists for MCP only/)
    expect(warnings.join('\n')).toMatch(/Anthropic takes no "oneOf" at the root/)
  })

  test('uses the name of a type as the title in MCP', () => {
    const type = { ...handMade({ type: 'object' }), name: 'A note' }
    expect(exportFrom(mcp, [type]).tools).toEqual([
      { name: 'note', title: 'A note', inputSchema: { type: 'object' } },
    ])
  })

  test('uses an alias that depends only on the id', () => {
    const exported = exportFrom(openai, [
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

  test('converts JSON Schema to the schema dialect of Google', () => {
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
    const { tools, warnings } = exportFrom(google, [type])
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

  test('limits the expansion of references that multiply', () => {
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
    expect(JSON.stringify(exportFrom(google, [type]).tools).length).toBeLessThan(1_000_000)
  })

  test('of no types is an empty list', () => expect(exportFrom(google, []).tools).toEqual([]))
})

describe('a provider tool call', () => {
  const cases = [
    [
      openai,
      {
        id: 'call_1',
        type: 'function',
        function: { name: 'get_weather', arguments: '{"location":"Bogotá"}' },
      },
      '/function/arguments',
    ],
    [
      openai,
      {
        type: 'function_call',
        id: 'fc_1',
        status: 'completed',
        call_id: 'call_1',
        name: 'get_weather',
        arguments: '{"location":"Bogotá"}',
      },
      '/arguments',
    ],
    [
      anthropic,
      {
        type: 'tool_use',
        id: 'call_1',
        name: 'get_weather',
        input: { location: 'Bogotá' },
        caller: { type: 'direct' },
      },
      '/input',
    ],
    [
      google,
      {
        functionCall: { id: 'call_1', name: 'get_weather', args: { location: 'Bogotá' } },
        thoughtSignature: 'x',
      },
      '/functionCall/args',
    ],
    [
      google,
      { function_call: { id: 'call_1', name: 'get_weather', args: { location: 'Bogotá' } } },
      '/function_call/args',
    ],
    [mcp, { name: 'get_weather', arguments: { location: 'Bogotá' }, _meta: {} }, '/arguments'],
  ] as const

  test.each(cases)('of $id is parsed', (codec, call, argumentsAt) => {
    const read = codec.readCall(call)
    expect(read).toMatchObject({
      provider: codec.id,
      name: 'get_weather',
      arguments: { location: 'Bogotá' },
      argumentsAt,
    })
    expect(read.callId).toBe(codec === mcp ? null : 'call_1')
  })

  test("of another provider is refused with the provider's name", () => {
    for (const [codec, call] of cases) {
      for (const other of [openai, anthropic, google, mcp].filter((each) => each !== codec)) {
        expect(faults(() => other.readCall(call))[0]).toMatchObject({
          path: '',
          code: 'other_provider',
          received: codec.id,
        })
      }
    }
  })

  test('gets its result in the same format', () => {
    const outcome = { id: 'r1', record_type: 'get_weather', operation: 'created', record: { id: 'r1' } }
    const text = JSON.stringify(outcome)
    expect(cases.map(([codec, call]) => codec.toolResult(codec.readCall(call), outcome))).toEqual([
      { role: 'tool', tool_call_id: 'call_1', content: text },
      { type: 'function_call_output', call_id: 'call_1', output: text },
      { type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'text', text }] },
      { functionResponse: { id: 'call_1', name: 'get_weather', response: outcome } },
      { function_response: { id: 'call_1', name: 'get_weather', response: outcome } },
      { content: [{ type: 'text', text }], structuredContent: outcome },
    ])
    const anonymous = google.readCall({ functionCall: { name: 'get_weather' } })
    expect(anonymous).toMatchObject({ callId: null, arguments: {} })
    expect(google.toolResult(anonymous, outcome)).toEqual({
      functionResponse: { name: 'get_weather', response: outcome },
    })
  })

  test('is refused with paths from the root of the call', () => {
    const chat = (text: unknown, id: unknown = 'c') => ({
      id,
      type: 'function',
      function: { name: 'f', arguments: text },
    })
    const first = (codec: ProviderCodec, call: unknown) => faults(() => codec.readCall(call))[0]?.path
    expect(first(openai, chat('{"a":'))).toMatch(/^\/function\/arguments/)
    expect(first(openai, chat('[1]'))).toBe('/function/arguments')
    expect(first(openai, chat({ a: 1 }))).toBe('/function/arguments')
    expect(first(openai, chat('{}', 'a\nb'))).toBe('/id')
    expect(first(openai, chat('{}', 'x'.repeat(513)))).toBe('/id')
    expect(first(openai, { ...chat('{}'), idd: 1 })).toBe('/idd')
    expect(first(openai, { id: 'c', type: 'custom', custom: {} })).toBe('/type')
    expect(first(anthropic, { type: 'tool_use', id: 'c', name: 'f' })).toBe('/input')
    expect(first(anthropic, { type: 'tool_use', name: 'f', input: {} })).toBe('/id')
    expect(first(google, { functionCall: { name: 'f', args: [] } })).toBe('/functionCall/args')
    expect(first(google, { name: 'f', args: {} })).toBe('/functionCall')
    expect(first(mcp, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'f' } })).toBe('/params')
    expect(openai.readCall(chat('')).arguments).toEqual({})
  })

  test('with another function name is refused', () => {
    const call = mcp.readCall({ name: 'get_wether' })
    expect(faults(() => requireCallName(mcp, call, { id: 'get_weather' }))[0]).toMatchObject({
      path: '/name',
      allowed: ['get_weather'],
      hint: 'get_weather',
    })
    expect(() =>
      requireCallName(
        openai,
        { ...call, name: acceptedNames(openai, { id: 'a.b' })[1] ?? '' },
        { id: 'a.b' },
      ),
    ).not.toThrow()
  })
})

describe('for any generated schema', () => {
  const { schema } = fc.letrec<{ schema: Record<string, unknown> }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.record(
        { type: fc.constantFrom('string', 'integer', 'boolean'), description: fc.string() },
        { requiredKeys: ['type'] },
      ),
      fc.record({
        type: fc.constantFrom(['string', 'null']),
        format: fc.constantFrom('email', 'phone', 'date-time', 'enum'),
      }),
      fc.record(
        {
          type: fc.constant('string'),
          pattern: fc.constantFrom('^a', '^(?=a)'),
          enum: fc.uniqueArray(fc.string(), { minLength: 1 }),
        },
        { requiredKeys: ['type'] },
      ),
      fc.record({ type: fc.constant('array'), items: tie('schema') }),
      fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
      fc.record({ not: tie('schema') }),
      tie('schema').map((each) => ({
        type: 'object',
        properties: { a: each, 'b/c~': each },
        required: ['a'],
        additionalProperties: false,
      })),
    ),
  }))
  const root = fc.record({ a: schema, b: schema }).map((properties) => ({ type: 'object', properties }))
  const codecs = fc.constantFrom(openai, anthropic, google, mcp)
  const id = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/)
  const shape = fc.constantFrom<Shape>('chat', 'responses')

  test('an exported definition is unchanged after import and export', () => {
    fc.assert(
      fc.property(root, id, codecs, codecs, shape, (jsonSchema, name, from, to, form) => {
        const made = exportFrom(from, [handMade(jsonSchema, name)], form).tools
        const first = readTools(from, made).map(stored)
        expect(exportFrom(from, first, form).tools).toEqual(made)
        const abroad = exportFrom(to, first, form).tools
        const second = readTools(to, abroad).map(stored)
        expect(second.map((type) => type.id)).toEqual([name])
        expect(exportFrom(to, second, form).tools).toEqual(abroad)
      }),
    )
  })

  test('a second import changes nothing', () => {
    fc.assert(
      fc.property(root, (inputSchema) => {
        const frozen = JSON.stringify(inputSchema)
        const [once] = importInto(mcp, { name: 'a', inputSchema })
        const [twice] = importInto(mcp, { name: 'a', inputSchema: once?.jsonSchema })
        expect(twice?.jsonSchema).toEqual(once?.jsonSchema)
        expect(twice?.warnings).toEqual([])
        expect(JSON.stringify(inputSchema)).toBe(frozen)
      }),
    )
  })

  test('an imported schema is unchanged after export and import with JSON Schema dialects', () => {
    fc.assert(
      fc.property(root, fc.constantFrom(openai, anthropic, mcp), shape, (jsonSchema, codec, form) => {
        const [made] = importInto(mcp, { name: 'a', inputSchema: jsonSchema }).map(stored) as [ExportedType]
        const { propertyPattern } = codec
        fc.pre(!propertyPattern || exportedNames(made.jsonSchema, propertyPattern).size === 0)
        const [again] = readTools(codec, exportFrom(codec, [made], form).tools)
        expect(again?.jsonSchema).toEqual(made.jsonSchema)
      }),
    )
  })

  test('a schema within the Google dialect is unchanged after export and import', () => {
    const { node } = fc.letrec<{ node: Record<string, unknown> }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        fc.record({ type: fc.constantFrom('string', 'number', 'boolean', 'integer'), title: fc.string() }),
        fc.record({ type: fc.constant(['string', 'null']), enum: fc.constant(['a', 'b', null]) }),
        fc.record({ type: fc.constant('string'), format: fc.constant('date-time') }),
        fc.record({ type: fc.constant('array'), items: tie('node'), maxItems: fc.nat() }),
        fc.record({
          type: fc.constant('object'),
          properties: fc.record({ x: tie('node'), y: tie('node') }),
          required: fc.constant(['y']),
        }),
      ),
    }))
    fc.assert(
      fc.property(node, (each) => {
        const jsonSchema = { type: 'object', properties: { a: each } }
        const { tools, warnings } = exportFrom(google, [handMade(jsonSchema)])
        expect(warnings).toEqual([])
        expect(readTools(google, tools)[0]?.jsonSchema).toEqual(jsonSchema)
      }),
    )
  })
})

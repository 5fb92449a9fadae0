import { describe, expect, test } from 'vitest'
import type { ProviderCodec } from '../../src/engine/analytics/providers/codec.ts'
import { acceptedNames, requireCallName } from '../../src/engine/analytics/providers/export.ts'
import { anthropic, faults, google, mcp, openai } from '../support/providers.ts'

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

import { expect, test } from 'vitest'
import type { PortableSchema } from '../../src/mcp/schema-projection/publish.ts'
import { decodeStringified } from '../../src/mcp/tool/decode-arguments.ts'

const schema: PortableSchema = {
  type: 'object',
  properties: {
    object: { type: 'object', properties: { tags: { type: 'array', items: { type: 'object' } } } },
    array: { type: 'array', items: { type: 'integer' } },
    text: { type: 'string' },
    any: { additionalProperties: true },
  },
  additionalProperties: { type: 'array', items: { type: 'string' } },
}

test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  ['an object sent as a string', { object: ' {"a":1}' }, { object: { a: 1 } }],
  ['an array sent as a string', { array: '[1,2]' }, { array: [1, 2] }],
  ['strings inside', { object: '{"tags":"[\\"{}\\"]"}' }, { object: { tags: [{}] } }],
  ['an additional property', { other: '["a"]' }, { other: ['a'] }],
])('decodeStringified decodes %s', (_name, args, decoded) => {
  expect(decodeStringified(args, schema)).toEqual(decoded)
})

test.each<[string, Record<string, unknown>]>([
  ['text', { text: '{"a":1}' }],
  ['any value', { any: '{"a":1}' }],
  ['the other kind', { object: '[1]', array: '{}' }],
  ['what is not JSON', { object: '{a:1}', array: '' }],
  ['JSON the server would refuse', { object: '{"__proto__":1}' }],
  ['numbers and null', { array: ['1'], object: null }],
])('decodeStringified keeps %s unchanged', (_name, args) => {
  expect(decodeStringified(args, schema)).toEqual(args)
})

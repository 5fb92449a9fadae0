import { expect, test } from 'vitest'
import { decodeStringified } from '../../src/mcp/tool/decode-arguments.ts'
import { type PortableSchema, TAKES } from '../../src/schema-shape/publish.ts'

const schema: PortableSchema = {
  type: 'object',
  properties: {
    object: { type: 'object', properties: { tags: { type: 'array', items: { type: 'object' } } } },
    array: { type: 'array', items: { type: 'integer' } },
    text: { type: 'string' },
    any: { [TAKES]: ['object', 'array'] },
    textOrList: { [TAKES]: ['array'] },
    scalar: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
  },
  additionalProperties: { type: 'array', items: { type: 'string' } },
}

test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  ['an object sent as a string', { object: ' {"a":1}' }, { object: { a: 1 } }],
  ['an array sent as a string', { array: '[1,2]' }, { array: [1, 2] }],
  ['strings inside', { object: '{"tags":"[\\"{}\\"]"}' }, { object: { tags: [{}] } }],
  ['an object and an array where both may stand', { any: '{"a":1}' }, { any: { a: 1 } }],
  ['a list where text may stand too', { textOrList: '[1]' }, { textOrList: [1] }],
  ['an additional property', { other: '["a"]' }, { other: ['a'] }],
])('decodeStringified decodes %s', (_name, args, decoded) => {
  expect(decodeStringified(args, schema)).toEqual(decoded)
})

test.each<[string, Record<string, unknown>]>([
  ['text', { text: '{"a":1}' }],
  ['text that is no object or array', { any: '3', textOrList: 'null' }],
  ['an object where only a list or text may stand', { textOrList: '{"a":1}' }],
  ['scalars of several types', { scalar: '[1]' }],
  ['the other kind', { object: '[1]', array: '{}' }],
  ['what is not JSON', { object: '{a:1}', array: '' }],
  ['JSON the server would refuse', { object: '{"__proto__":1}' }],
  ['numbers and null', { array: ['1'], object: null }],
])('decodeStringified keeps %s unchanged', (_name, args) => {
  expect(decodeStringified(args, schema)).toEqual(args)
})

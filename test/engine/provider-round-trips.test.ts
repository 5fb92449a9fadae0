import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ExportedType, Shape } from '../../src/engine/analytics/providers/codec.ts'
import { portableForm } from '../../src/engine/analytics/providers/export.ts'
import { readTools } from '../../src/engine/analytics/providers/import.ts'
import {
  anthropic,
  exportFrom,
  google,
  handMade,
  importInto,
  mcp,
  openai,
  stored,
} from '../support/providers.ts'

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

  test('an exported definition is unchanged after import and export', { tags: 'full' }, async () => {
    await fc.assert(
      fc.asyncProperty(root, id, codecs, codecs, shape, async (jsonSchema, name, from, to, form) => {
        const made = (await exportFrom(from, [handMade(jsonSchema, name)], form)).tools
        const first = readTools(from, made).map(stored)
        expect((await exportFrom(from, first, form)).tools).toEqual(made)
        const abroad = (await exportFrom(to, first, form)).tools
        const second = readTools(to, abroad).map(stored)
        expect(second.map((type) => type.id)).toEqual([name])
        expect((await exportFrom(to, second, form)).tools).toEqual(abroad)
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

  test('an imported schema is unchanged after export and import with JSON Schema dialects', {
    tags: 'full',
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        root,
        fc.constantFrom(openai, anthropic, mcp),
        shape,
        async (jsonSchema, codec, form) => {
          const [made] = importInto(mcp, { name: 'a', inputSchema: jsonSchema }).map(stored) as [ExportedType]
          fc.pre((await portableForm(codec, made.jsonSchema)) === undefined)
          const [again] = readTools(codec, (await exportFrom(codec, [made], form)).tools)
          expect(again?.jsonSchema).toEqual(made.jsonSchema)
        },
      ),
    )
  })

  test('a schema within the Google dialect is unchanged after export and import', async () => {
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
    await fc.assert(
      fc.asyncProperty(node, async (each) => {
        const jsonSchema = { type: 'object', properties: { a: each } }
        const { tools, warnings } = await exportFrom(google, [handMade(jsonSchema)])
        expect(warnings).toEqual([])
        expect(readTools(google, tools)[0]?.jsonSchema).toEqual(jsonSchema)
      }),
    )
  })
})

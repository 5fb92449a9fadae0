/** Properties that the projection of every schema has. */

import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormatsModule from 'ajv-formats'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createInput, splitArguments, updateInput } from '../../src/mcp/tool/tool-inputs.ts'
import { type Projection, projectSchema, restoreNames } from '../../src/schema-shape/portable-schema.ts'
import type { Names } from '../../src/schema-shape/rename-properties.ts'
import { CASES_TIMEOUT, cases } from '../support/cases.ts'
import { lintSchema } from '../support/tool-lint.ts'

const addFormats = addFormatsModule.default

const NAMES = ['a', 'b', 'a b', 'a_b', 'größe', '$ref', 'dry_run', 'id', 'constructor', '', 'x'.repeat(70)]
const name = fc.constantFrom(...NAMES)
/** ajv ignores a required property with an empty name. */
const requirable = fc.constantFrom(...NAMES.filter((name) => name !== ''))
const scalar = fc.constantFrom<unknown>('a', 'b', '2026-01-31', '', 0, 1, 2.5, -3, true, false)
const target = fc.constantFrom('#', '#/$defs/one', '#/$defs/two', '#/properties/a', '#here', '#/nowhere')

const leaf = fc.oneof(
  fc.boolean(),
  fc.record({ type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'object', 'array') }),
  fc.record({ const: scalar }),
  fc.record({
    enum: fc.uniqueArray(fc.oneof(scalar, fc.constantFrom(null, { a: 1 }, [1])), { minLength: 1 }),
  }),
  fc.record({ $ref: target }),
  fc.record({
    type: fc.constantFrom(['string', 'null'], ['integer', 'string'], ['object', 'array', 'null']),
  }),
  fc.record({ type: fc.constant('string'), format: fc.constantFrom('date', 'email'), maxLength: fc.nat(5) }),
  fc.record({ type: fc.constant('string'), pattern: fc.constantFrom('^a', '(?i)a', '[', '^[[:alpha:]]$') }),
)

/** Present in one of five schemas: a schema with all keywords has no valid value. */
const rarely = (arbitrary: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary })
const often = (arbitrary: fc.Arbitrary<unknown>) => fc.option(arbitrary, { nil: undefined, freq: 3 })

function schemaOf(levels: number): fc.Arbitrary<unknown> {
  if (levels === 0) return leaf
  const below = schemaOf(levels - 1)
  const parts = fc.array(below, { minLength: 1, maxLength: 3 })
  const node = fc.record({
    type: often(fc.constantFrom('object', 'object', 'object', 'array', ['object', 'null'])),
    properties: often(fc.dictionary(name, below, { maxKeys: 4 })),
    required: rarely(fc.uniqueArray(requirable, { maxLength: 2 })),
    additionalProperties: rarely(below),
    patternProperties: rarely(fc.dictionary(fc.constantFrom('^a', 'b$'), below, { maxKeys: 1 })),
    unevaluatedProperties: rarely(leaf),
    propertyNames: rarely(fc.record({ maxLength: fc.nat(3) })),
    minProperties: rarely(fc.nat(2)),
    maxProperties: rarely(fc.nat(4)),
    items: rarely(below),
    prefixItems: rarely(parts),
    minItems: rarely(fc.nat(2)),
    maxItems: rarely(fc.nat(3)),
    minimum: rarely(fc.integer({ min: -2, max: 2 })),
    exclusiveMaximum: rarely(fc.integer({ min: -1, max: 3 })),
    multipleOf: rarely(fc.constantFrom(2, 0.5)),
    minLength: rarely(fc.nat(2)),
    allOf: rarely(parts),
    anyOf: rarely(parts),
    oneOf: rarely(parts),
    not: rarely(leaf),
    if: rarely(below),
    // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
    then: rarely(below),
    else: rarely(below),
    dependentSchemas: rarely(fc.dictionary(name, below, { maxKeys: 1 })),
    $ref: rarely(target),
    $anchor: rarely(fc.constant('here')),
    title: rarely(fc.string()),
    description: rarely(fc.oneof(fc.string({ unit: 'binary' }), fc.constant('word '.repeat(400)))),
    default: rarely(fc.jsonValue()),
  })
  const sparse = node.map((all) =>
    Object.fromEntries(Object.entries(all).filter(([, part]) => part !== undefined)),
  )
  return fc.oneof({ weight: 1, arbitrary: leaf }, { weight: 3, arbitrary: sparse })
}

const rootSchema = fc
  .tuple(schemaOf(3), schemaOf(2), schemaOf(1))
  .map(([root, one, two]) => (typeof root === 'object' ? { ...root, $defs: { one, two } } : root))

const nastySchema = fc.oneof(
  rootSchema,
  fc.jsonValue(),
  rootSchema.map((schema) =>
    typeof schema === 'object' ? { ...schema, $schema: 'http://json-schema.org/draft-07/schema#' } : schema,
  ),
)

const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4 }),
  ),
}))
const instances = fc.array(fc.dictionary(name, anyValue, { maxKeys: 4 }), { minLength: 25, maxLength: 25 })

describe('the projection of a generated schema', () => {
  test('and its tool inputs pass the linter', { tags: ['full', 'sampled'] }, () => {
    fc.assert(
      fc.property(nastySchema, (schema) => {
        const projection = projectSchema(schema)
        expect(lintSchema(projection.schema, 'schema')).toEqual([])
        expect(lintSchema(createInput(projection).schema, 'create')).toEqual([])
        expect(lintSchema(updateInput(projection).schema, 'update')).toEqual([])
      }),
      { numRuns: cases(300) },
    )
  })

  test('is deterministic', { tags: 'full' }, () => {
    fc.assert(
      fc.property(nastySchema, (schema) => {
        expect(projectSchema(structuredClone(schema))).toEqual(projectSchema(schema))
      }),
    )
  })

  test('is at most 101,000 bytes', { tags: 'full' }, () => {
    fc.assert(
      fc.property(nastySchema, (schema) => {
        const { schema: published } = projectSchema(schema)
        expect(Buffer.byteLength(JSON.stringify(published))).toBeLessThanOrEqual(101_000)
      }),
    )
  })

  test('accepts every object that the schema accepts', {
    tags: ['full', 'sampled'],
    timeout: CASES_TIMEOUT,
  }, () => {
    let checked = 0
    const takesAll = fc.property(rootSchema, instances, (schema, values) => {
      const original = compiled(schema, true)
      if (!original) return
      const projection = projectSchema(schema)
      const published = compiled(projection.schema)
      const create = createInput(projection)
      for (const value of values.filter((value) => takes(original, value))) {
        const args = publish(value, projection.names)
        if (!args) continue
        checked++
        const faults = faultsOf(published, args)
        if (faults.length > 0) throw new Error(JSON.stringify({ value, args, faults }))
        expect(restoreNames(args, projection)).toEqual(value)
        const reserved = new Set(create.reserved.values())
        if (Object.keys(args).some((name) => reserved.has(name))) continue
        expect(splitArguments(create, { ...args, [create.reserved.get('dry_run') ?? '']: true })).toEqual({
          reserved: { dry_run: true },
          data: value,
        })
      }
    })
    fc.assert(takesAll, { numRuns: cases(600) })
    expect(checked).toBeGreaterThan(cases(400))
  })

  test('accepts as a patch every property of an object that the schema accepts', {
    tags: ['full', 'sampled'],
    timeout: CASES_TIMEOUT,
  }, () => {
    fc.assert(
      fc.property(rootSchema, instances, (schema, values) => {
        const original = compiled(schema, true)
        if (!original) return
        const projection = projectSchema(schema)
        const update = updateInput(projection)
        const id = update.reserved.get('id') ?? ''
        const published = compiled(update.schema)
        const reserved = new Set(update.reserved.values())
        for (const value of values.filter((value) => takes(original, value))) {
          for (const key of Object.keys(value)) {
            const args = publish({ [key]: value[key] }, projection.names)
            if (!args || Object.keys(args).some((name) => reserved.has(name))) continue
            const faults = faultsOf(published, { ...args, [id]: 'r1' })
            if (faults.length > 0) throw new Error(JSON.stringify({ args, faults }))
          }
        }
      }),
      { numRuns: cases(300) },
    )
  })
})

/** A validator of the schema, or undefined when ajv cannot compile it, as with infinite references. */
function compiled(schema: unknown, ownProperties = false) {
  const ajv = new Ajv2020({ strict: false, logger: false, ownProperties, allErrors: true, verbose: true })
  addFormats(ajv)
  try {
    const validate = ajv.compile(schema as object | boolean)
    validate({})
    return validate
  } catch {
    return undefined
  }
}

/** A value of several kinds is published as one of them, and its description names the others. */
const OTHER_KINDS = /Any JSON value|Always null|One of:| or /

/** The faults that a client would see, except for kinds that a description names. */
function faultsOf(validate: ReturnType<typeof compiled>, value: unknown): unknown[] {
  if (!validate) return ['not compiled']
  if (validate(value) === true) return []
  return (validate.errors ?? []).filter(({ keyword, parentSchema }) => {
    const said = String((parentSchema as { description?: unknown } | undefined)?.description ?? '')
    return !(keyword === 'type' && OTHER_KINDS.test(said))
  })
}

const takes = (validate: (value: unknown) => unknown, value: unknown) => {
  try {
    return validate(value) === true
  } catch {
    return false
  }
}

/** The value with published names, or undefined when one of its own names is the published name of another. */
function publish(
  value: Record<string, unknown>,
  names: Projection['names'],
): Record<string, unknown> | undefined {
  try {
    return published(value, names) as Record<string, unknown>
  } catch {
    return undefined
  }
}

function published(value: unknown, names: Names | undefined): unknown {
  if (!names) return value
  if (Array.isArray(value)) return value.map((item) => published(item, names.items))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => {
      const known = names.published.get(key)
      if (known === undefined && names.properties.has(key)) throw new Error('ambiguous')
      const below = known === undefined ? names.additional : names.properties.get(known)?.names
      return [known ?? key, published(part, below)]
    }),
  )
}

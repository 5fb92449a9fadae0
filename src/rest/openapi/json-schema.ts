/** Shapes of routes as schemas of the OpenAPI description. */
import { z } from 'zod'

export type Json = Record<string, unknown>

/** Converts a zod shape to JSON Schema. Shapes with an id become components. */
export function toSchema(shape: z.ZodType, io: 'input' | 'output', schemas: Json): Json {
  const { $defs = {}, ...schema } = bare(
    z.toJSONSchema(shape, {
      io,
      unrepresentable: 'any',
      reused: 'inline',
      override: ({ jsonSchema }) => simplify(jsonSchema as Json),
    }) as Json,
  ) as Json & { $defs?: Json }
  const name = shape.meta()?.id
  const { schema: moved, defs } = relocate(schema, $defs as Json)
  Object.assign(schemas, defs)
  if (!name) return moved
  // zod moves a root with an id to the definitions and leaves a reference.
  if (!Object.hasOwn(defs, name)) schemas[name] = moved
  return { $ref: `#/components/schemas/${name}` }
}

/** The schema of a parameter, without components. */
export const parameterSchema = (shape: z.ZodType): Json =>
  bare(
    z.toJSONSchema(shape, {
      io: 'input',
      unrepresentable: 'any',
      override: ({ jsonSchema }) => simplify(jsonSchema as Json),
    }) as Json,
  )

/** Removes what says nothing, and writes a property `$ref` so that no reader takes it for a reference. */
function simplify(schema: Json): void {
  delete schema['id']
  delete schema['propertyNames']
  // The members of the alternatives are all members.
  if (schema['oneOf'] && isEmpty(schema['additionalProperties'])) delete schema['additionalProperties']
  if (schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum']
  if (schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum']
  const { $ref: reference, ...properties } = (schema['properties'] ?? {}) as Json
  if (reference === undefined) return
  const { properties: _, required: __, ...others } = schema
  for (const name of Object.keys(schema)) delete schema[name]
  Object.assign(schema, others, {
    ...(Object.keys(properties).length > 0 && { properties }),
    patternProperties: { '^\\$ref$': reference },
    minProperties: 1,
  })
}

function relocate(schema: Json, defs: Json): { schema: Json; defs: Json } {
  const point = (value: unknown) =>
    JSON.parse(JSON.stringify(value).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json
  return {
    schema: point(schema),
    defs: Object.fromEntries(Object.entries(defs).map(([name, value]) => [name, point(bare(value as Json))])),
  }
}

const bare = ({ $schema: _, ...schema }: Json): Json => schema

const isEmpty = (value: unknown): boolean => JSON.stringify(value) === '{}'

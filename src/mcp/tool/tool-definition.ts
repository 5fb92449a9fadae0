import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { LIMITS } from '../../foundation/limits.ts'
import type { Permission } from '../../graphql/context.ts'
import { projectSchema } from '../../schema-shape/portable-schema.ts'
import type { PortableSchema } from '../../schema-shape/publish.ts'

/** A tool as clients see it. All meaningful hints are explicit, because clients base approval on them. */
export type ToolDefinition = {
  name: string
  description: string
  inputSchema: PortableSchema
  outputSchema: object
  annotations: {
    /** The title is in the annotations, where clients of every protocol version look for it. */
    title: string
    readOnlyHint: boolean
    /** This and the next hint apply to tools that write. */
    destructiveHint?: boolean
    idempotentHint?: boolean
    openWorldHint: boolean
  }
}

/** The parts of a definition. */
export type Described = {
  title: string
  description: string
  /** Permission that the token must hold somewhere in the base for the tool to be listed. */
  permission: Permission
  /** `openWorld`: the tool may send to other systems. What only reads is neither destructive nor repeated in vain. */
  hints?: { destructive?: boolean; idempotent?: boolean; openWorld?: boolean }
  /** The schema of the answer: by default any object. */
  output?: object
}

const ANSWER = { type: 'object', properties: {} }

/** Builds the definition of a tool. Hints that are not given follow from its permission. */
export const definition = (
  name: string,
  { title, description, permission, hints = {}, output = ANSWER }: Described,
  inputSchema: PortableSchema,
): ToolDefinition => ({
  name,
  description,
  inputSchema: withoutOpen(inputSchema),
  outputSchema: output,
  annotations: {
    title,
    readOnlyHint: permission === 'read',
    ...(permission !== 'read' && {
      destructiveHint: hints.destructive ?? false,
      idempotentHint: hints.idempotent ?? false,
    }),
    openWorldHint: hints.openWorld ?? false,
  },
})

/**
 * Removes redundant parts of an open schema: `additionalProperties` without `properties`, and that any value is
 * allowed, after other words.
 */
function withoutOpen(schema: PortableSchema): PortableSchema {
  const { additionalProperties, properties, description } = schema
  if (description?.endsWith(ANY)) {
    return { ...schema, description: description.slice(0, -ANY.length).trim() || ANY }
  }
  if (schema.type === 'object' && additionalProperties === true && !properties) {
    const { additionalProperties: _, ...rest } = schema
    return rest
  }
  if (schema.items) return { ...schema, items: withoutOpen(schema.items) }
  if (!properties) return schema
  const lean = Object.entries(properties).map(([name, property]) => [name, withoutOpen(property)])
  return { ...schema, properties: Object.fromEntries(lean) }
}

const ANY = 'Any JSON value.'

/**
 * Converts a zod shape to the portable schema dialect. With `plan_token` among its arguments nothing is
 * required, because that token replaces the others. Members with `listed: false` are accepted and not
 * published, because lists of tools cost tokens.
 */
export function publish(shape: z.ZodObject): PortableSchema {
  const unlisted = Object.entries(shape.shape).filter(([, each]) => metaOf(each)?.['listed'] === false)
  const listed = shape.omit(Object.fromEntries(unlisted.map(([name]) => [name, true])) as never)
  const whole = z.toJSONSchema(listed, { io: 'input', unrepresentable: 'any', override: sparing })
  const { schema } = projectSchema(whole)
  if (!Object.hasOwn(shape.shape, 'plan_token')) return schema
  const { required: _, ...open } = schema
  return open
}

const metaOf = (schema: z.core.$ZodType) => z.globalRegistry.get(schema)

/**
 * Removes noise from zod's JSON Schema to save tokens: default bounds of integers, open objects, bounds that
 * no caller reaches, and defaults, which responses show.
 */
function sparing({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = 0 } = jsonSchema
  delete jsonSchema.default
  if (maximum >= LIMITS.pageMax) delete jsonSchema.maximum
  if (minimum <= LIMITS.answerTokensMin) delete jsonSchema.minimum
  delete jsonSchema.minLength
  delete jsonSchema.maxLength
  if (jsonSchema.propertyNames) delete jsonSchema.propertyNames
  if (isDeepStrictEqual(jsonSchema.additionalProperties, {})) jsonSchema.additionalProperties = true
}

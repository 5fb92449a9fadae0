import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { LIMITS } from '../../foundation/limits.ts'
import type { Permission } from '../../graphql/context.ts'
import { projectSchema } from '../schema-projection/project.ts'
import type { PortableSchema } from '../schema-projection/publish.ts'

/** A tool as clients see it. All hints that mean something are written out: clients approve calls by them. */
export type ToolDefinition = {
  name: string
  description: string
  inputSchema: PortableSchema
  outputSchema: object
  annotations: {
    /** Here and not beside the name: here clients of every protocol version look for it. */
    title: string
    readOnlyHint: boolean
    /** Of a tool that writes, like the next. */
    destructiveHint?: boolean
    idempotentHint?: boolean
    openWorldHint: boolean
  }
}

/** What a definition is written from. */
export type Described = {
  title: string
  description: string
  /** What the token must hold somewhere in the base for the tool to be listed. */
  permission: Permission
  hints: { destructive?: boolean; idempotent?: boolean }
  output: object
}

/** The tool, with every hint that its permission leaves open. */
export const definition = (
  name: string,
  { title, description, permission, hints, output }: Described,
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
    openWorldHint: false,
  },
})

/** That an object may hold anything is what an object without properties says anyhow; that a value may be any, its schema. */
function withoutOpen(schema: PortableSchema): PortableSchema {
  const { additionalProperties, properties, description } = schema
  if (description?.endsWith(ANY) && schema.type === undefined) {
    const { description: _, ...rest } = schema
    const said = description.slice(0, -ANY.length).trim()
    return { ...rest, ...(said && { description: said }) }
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

/** The shape as every client takes it. */
export function publish(shape: z.ZodObject): PortableSchema {
  const whole = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any', override: sparing })
  return projectSchema(whole).schema
}

/**
 * Every list of tools is paid for: what zod says of all integers and objects, bounds no caller meets, and defaults, which
 * the answers tell, go unsaid.
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

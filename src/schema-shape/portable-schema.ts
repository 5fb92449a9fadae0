/** Projects a record type's JSON Schema onto the portable dialect of tool schemas. */

import { nextTurn, turnIsOver } from '../foundation/event-loop-turns.ts'
import { LIMITS } from '../foundation/limits.ts'
import { type PortableSchema, publish } from './publish.ts'
import { fewerLevels, MOST_LEVELS, namesOnly, readRoot } from './read.ts'
import { chooseNames, type Names, restore } from './rename-properties.ts'
import type { Shape } from './shape.ts'

export type Projection = {
  /** The published schema: always an object, and at least as permissive as the type, except for null. */
  schema: PortableSchema
  /** Published name to original name, for root properties. */
  properties: ReadonlyMap<string, string>
  /** The name mapping at every level, for `restoreNames`. */
  names: Names
  /** Whether arguments that are not properties are record data. */
  open: boolean
  /** Rules that the published schema omits and the server enforces. */
  warnings: readonly string[]
}

/** Projects a schema onto the portable dialect. The input may be any JSON. */
export function projectSchema(jsonSchema: unknown): Projection {
  const steps = project(jsonSchema)
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value
}

/** `projectSchema` that yields to the event loop: a large schema takes some hundred milliseconds. */
export async function projectInTurns(jsonSchema: unknown): Promise<Projection> {
  const steps = project(jsonSchema)
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value
    if (turnIsOver()) await nextTurn()
  }
}

/** Yields where the work can pause. */
function* project(jsonSchema: unknown): Generator<void, Projection> {
  const warnings = new Set<string>()
  const warn = (message: string) => {
    if (warnings.size < LIMITS.portableWarnings) warnings.add(message)
  }
  let shape: Shape | undefined
  for (let levels = MOST_LEVELS; levels > 0; ) {
    shape = readRoot(jsonSchema, levels, warn)
    yield
    const projection = shape && (yield* fitting(shape, levels === MOST_LEVELS))
    yield
    if (projection) return { ...projection, warnings: [...warnings] }
    warn('The schema is too large to publish; deep parts and descriptions are omitted.')
    levels = fewerLevels(levels, shape)
  }
  return { ...(yield* shortened(shape ?? namesOnly(jsonSchema))), warnings: [...warnings] }
}

/** Maps arguments with published names to record data with original names. */
export function restoreNames(
  args: Record<string, unknown>,
  { names }: Pick<Projection, 'names'>,
): Record<string, unknown> {
  return restore(args, names) as Record<string, unknown>
}

/** The projection within the size limit; drops the descriptions if necessary. */
function* fitting(shape: Shape, wordy: boolean): Generator<void, Omit<Projection, 'warnings'> | undefined> {
  const names = chooseNames(shape)
  for (const lean of wordy ? [false, true] : [true]) {
    yield
    const schema = rooted(publish(shape, names, lean))
    yield
    if (Buffer.byteLength(JSON.stringify(schema)) <= LIMITS.portableSchemaBytes)
      return projected(schema, names)
  }
  return undefined
}

function projected(schema: PortableSchema, names: Names): Omit<Projection, 'warnings'> {
  const properties = new Map([...names.properties].map(([name, { original }]) => [name, original]))
  return { schema, properties, names, open: schema.additionalProperties !== false }
}

/** The root always states `additionalProperties`. */
function rooted(schema: PortableSchema): PortableSchema {
  return {
    ...schema,
    properties: schema.properties ?? {},
    additionalProperties: schema.additionalProperties ?? true,
  }
}

/** Keeps the first properties that fit, required ones first. The others can be sent but are not listed. */
function* shortened(shape: Shape): Generator<void, Omit<Projection, 'warnings'>> {
  const names = chooseNames(shape)
  yield
  const { properties = {}, required = [], ...schema } = rooted(publish(shape, names, true))
  yield
  const needed = new Set(required)
  const ordered = Object.entries(properties).sort(([a], [b]) => Number(needed.has(b)) - Number(needed.has(a)))
  const kept: [string, PortableSchema][] = []
  let bytes = 1000
  for (const [name, property] of ordered) {
    // A required name is written twice.
    bytes += Buffer.byteLength(JSON.stringify(property)) + 2 * name.length + 8
    if (bytes > LIMITS.portableSchemaBytes) break
    kept.push([name, property])
  }
  const shown = new Set(kept.map(([name]) => name))
  return projected(
    {
      ...schema,
      description: `${ordered.length - kept.length} of ${ordered.length} properties are not shown here.`,
      properties: Object.fromEntries(kept),
      required: required.filter((name) => shown.has(name)),
      additionalProperties: true,
    },
    names,
  )
}

/** Projects a record type's JSON Schema onto the portable dialect of tool schemas. */
import { isObject } from '../../foundation/is-object.ts'
import { nextTurn, turnIsOver } from '../../foundation/turns.ts'
import { intersect } from './combine.ts'
import type { ReadState } from './keywords.ts'
import { type PortableSchema, publish } from './publish.ts'
import { readSchema } from './read.ts'
import { References } from './refs.ts'
import { chooseNames, type Names, restore } from './rename-properties.ts'
import { ANY, Budget, isNever, type Shape, TooBig } from './shape.ts'

/** Maximum nesting depth. Deeper values are open, and the description explains them. */
const LEVELS = 6
/**
 * Work limit of one attempt, in schemas read with references expanded, about 5 µs each. An attempt runs in
 * one event loop pass.
 */
const STEPS = 12_000
const BYTES = 100_000
/** Maximum number of property names taken from a schema that exceeds the work limit. */
const FALLBACK_NAMES = 1000
const WARNINGS = 20

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
    if (warnings.size < WARNINGS) warnings.add(message)
  }
  let shape: Shape | undefined
  for (let levels = LEVELS; levels > 0; ) {
    shape = readRoot(jsonSchema, levels, warn)
    yield
    const projection = shape && (yield* fitting(shape, levels === LEVELS))
    yield
    if (projection) return { ...projection, warnings: [...warnings] }
    warn('The schema is too large to publish; deep parts and descriptions are omitted.')
    // Retry with fewer levels than the shape has. A schema that exceeds the work limit gets three attempts,
    // since each is slow.
    levels = shape ? Math.min(levels, depthOf(shape)) - 1 : levels >> 1
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

/** Nesting depth of a shape. */
function depthOf({ items, object }: Shape): number {
  let depth = items ? depthOf(items) : 0
  for (const property of object.properties.values()) depth = Math.max(depth, 1 + depthOf(property))
  return depth
}

function readRoot(jsonSchema: unknown, levels: number, warn: ReadState['warn']): Shape | undefined {
  const dialect = isObject(jsonSchema) ? jsonSchema['$schema'] : undefined
  const budget = new Budget(STEPS)
  const reading: ReadState = {
    references: new References(jsonSchema),
    draft07: typeof dialect === 'string' && dialect.includes('draft-07'),
    budget,
    levels,
    resource: jsonSchema,
    following: new Set([jsonSchema]),
    around: [],
    warn,
  }
  try {
    const shape = intersect(readSchema(jsonSchema, reading), { ...ANY, kinds: new Set(['object']) }, budget)
    if (!isNever(shape)) return shape
  } catch (error) {
    if (error instanceof TooBig) return undefined
    throw error
  }
  warn('No object satisfies the schema; the tool is published open, and every call will be refused.')
  return { ...ANY, kinds: new Set(['object']) }
}

/** The projection within the size limit; drops the descriptions if necessary. */
function* fitting(shape: Shape, wordy: boolean): Generator<void, Omit<Projection, 'warnings'> | undefined> {
  const names = chooseNames(shape)
  for (const lean of wordy ? [false, true] : [true]) {
    yield
    const schema = rooted(publish(shape, names, lean))
    yield
    if (Buffer.byteLength(JSON.stringify(schema)) <= BYTES) return projected(schema, names)
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
    if (bytes > BYTES) break
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

function namesOnly(jsonSchema: unknown): Shape {
  const declared = isObject(jsonSchema) && isObject(jsonSchema['properties']) ? jsonSchema['properties'] : {}
  const names = Object.keys(declared).filter((name) => name !== '__proto__')
  const properties = new Map(names.slice(0, FALLBACK_NAMES).map((name) => [name, ANY]))
  return { ...ANY, kinds: new Set(['object']), object: { ...ANY.object, properties } }
}

/** Compiles a record type's JSON Schema into the dialect of tool schemas that every client takes. */
import { nextTurn, turnIsOver } from '../../foundation/turns.ts'
import { intersect } from './combine.ts'
import { type PortableSchema, publish } from './publish.ts'
import { readSchema } from './read.ts'
import type { Reading } from './read-state.ts'
import { References } from './refs.ts'
import { chooseNames, type Names, restore } from './rename-properties.ts'
import { ANY, Budget, isNever, isObject, type Shape, TooBig } from './shape.ts'

/** Levels of nesting below the root; deeper values are open and told in words. */
const LEVELS = 6
/** Schemas read in one attempt, references expanded. An attempt is one turn of the event loop, of some five microseconds each. */
const STEPS = 12_000
const BYTES = 100_000
/** The most names a schema is asked for once it is too large to be read. */
const FALLBACK_NAMES = 1000
const WARNINGS = 20

export type Projection = {
  /** What to publish: always an object, and never tighter than the type but for null. */
  schema: PortableSchema
  /** Published name to the record's own, of all properties at the root. */
  properties: ReadonlyMap<string, string>
  /** The same at every level, for `restoreNames`. */
  names: Names
  /** True where arguments without a property of their own are data too. */
  open: boolean
  /** What the published schema leaves to the server to say. */
  warnings: readonly string[]
}

/** The portable projection of a schema, which may be any JSON. */
export function projectSchema(jsonSchema: unknown): Projection {
  const steps = project(jsonSchema)
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value
}

/** The same in turns of the event loop: that of a large schema takes some hundred milliseconds. */
export async function projectInTurns(jsonSchema: unknown): Promise<Projection> {
  const steps = project(jsonSchema)
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value
    if (turnIsOver()) await nextTurn()
  }
}

/** Yields where the work may pause. */
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
    warn('The schema is too large to publish whole; deep parts and descriptions are left out.')
    // Only fewer levels than it has change something. What cannot even be read is tried three times: it takes long.
    levels = shape ? Math.min(levels, depthOf(shape)) - 1 : levels >> 1
  }
  return { ...(yield* shortened(shape ?? namesOnly(jsonSchema))), warnings: [...warnings] }
}

/** Arguments under a projection's published names as data under the record's own. */
export function restoreNames(
  args: Record<string, unknown>,
  { names }: Pick<Projection, 'names'>,
): Record<string, unknown> {
  return restore(args, names) as Record<string, unknown>
}

/** The levels of properties and items that a shape has. */
function depthOf({ items, object }: Shape): number {
  let depth = items ? depthOf(items) : 0
  for (const property of object.properties.values()) depth = Math.max(depth, 1 + depthOf(property))
  return depth
}

function readRoot(jsonSchema: unknown, levels: number, warn: Reading['warn']): Shape | undefined {
  const dialect = isObject(jsonSchema) ? jsonSchema['$schema'] : undefined
  const budget = new Budget(STEPS)
  const reading: Reading = {
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

/** The projection of a shape within the size limit, without its words where it takes that. */
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

/** The root always says whether it is open. */
function rooted(schema: PortableSchema): PortableSchema {
  return {
    ...schema,
    properties: schema.properties ?? {},
    additionalProperties: schema.additionalProperties ?? true,
  }
}

/** The first properties that fit, required ones before others; the rest can be sent but is not shown. */
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

/** Reads the schema of a record type into a shape, within a budget. */
import { isObject } from '../foundation/is-object.ts'
import { intersect } from './combine.ts'
import type { ReadState } from './keywords.ts'
import { readSchema } from './read.ts'
import { References } from './refs.ts'
import { ANY, Budget, isNever, type Shape, TooBig } from './shape.ts'

/** Maximum nesting depth. Deeper values are open, and the description explains them. */
export const MOST_LEVELS = 6
/**
 * Work limit of one attempt, in schemas read with references expanded, about 5 µs each. An attempt runs in
 * one event loop pass.
 */
const STEPS = 12_000
/** Maximum number of property names taken from a schema that exceeds the work limit. */
const FALLBACK_NAMES = 1000

/** The shape of a schema, with fewer levels if it is large. The input may be any JSON. */
export function shapeOf(jsonSchema: unknown): Shape {
  for (let levels = MOST_LEVELS; levels > 0; levels = fewerLevels(levels, undefined)) {
    const shape = readRoot(jsonSchema, levels)
    if (shape) return shape
  }
  return namesOnly(jsonSchema)
}

/** One attempt with so many levels; undefined if it exceeds the work limit. */
export function readRoot(
  jsonSchema: unknown,
  levels: number,
  warn: ReadState['warn'] = () => {},
): Shape | undefined {
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

/**
 * The levels of the next attempt: fewer than the shape has. A schema that exceeds the work limit gets three
 * attempts, since each is slow.
 */
export const fewerLevels = (levels: number, shape: Shape | undefined): number =>
  shape ? Math.min(levels, depthOf(shape)) - 1 : levels >> 1

/** Nesting depth of a shape. */
function depthOf({ items, object }: Shape): number {
  let depth = items ? depthOf(items) : 0
  for (const property of object.properties.values()) depth = Math.max(depth, 1 + depthOf(property))
  return depth
}

/** The shape of a schema that exceeds the work limit: its first properties, of any value. */
export function namesOnly(jsonSchema: unknown): Shape {
  const declared = isObject(jsonSchema) && isObject(jsonSchema['properties']) ? jsonSchema['properties'] : {}
  const names = Object.keys(declared).filter((name) => name !== '__proto__')
  const properties = new Map(names.slice(0, FALLBACK_NAMES).map((name) => [name, ANY]))
  return { ...ANY, kinds: new Set(['object']), object: { ...ANY.object, properties } }
}

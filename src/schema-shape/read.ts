/** Reads the schema of a record type into a shape, within a budget. */

import { isObject } from '../foundation/is-object.ts'
import { LIMITS } from '../foundation/limits.ts'
import { combineAll, intersect, union } from './combine.ts'
import { clean, phrase } from './descriptions.ts'
import { type ReadState, readOwn } from './keywords.ts'
import { isResource, References } from './refs.ts'
import { ANY, Budget, isNever, isOf, NEVER, type Shape, TooBig, UNKNOWN } from './shape.ts'

/** Maximum nesting depth. Deeper values are open, and the description explains them. */
export const MOST_LEVELS = 6

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
  const budget = new Budget(LIMITS.shapeSteps)
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
  const properties = new Map(names.slice(0, LIMITS.shapeFallbackNames).map((name) => [name, ANY]))
  return { ...ANY, kinds: new Set(['object']), object: { ...ANY.object, properties } }
}

// Reads a JSON Schema (2020-12 or draft-07) into a shape: resolves references and merges composition.

/** Reads a schema into a shape that admits at least what the schema admits. */
function readSchema(schema: unknown, reading: ReadState): Shape {
  reading.budget.spend()
  if (schema === false) return NEVER
  if (!isObject(schema)) return ANY
  const here = isResource(schema) ? { ...reading, resource: schema } : reading
  const own = readOwn(schema, here, readBelow(here))
  // draft-07 ignores siblings of `$ref`; only their annotations are kept.
  const parts =
    here.draft07 && typeof schema['$ref'] === 'string'
      ? [{ ...ANY, description: own.description, default: own.default, examples: own.examples }]
      : [own, ...composed(schema, here)]
  const shape = combineAll(intersect, [...parts, ...referenced(schema, here)], here.budget)
  // A default of another type fills nothing.
  const isUsable = shape.default === undefined || isOf(shape, shape.default)
  return sealed(isUsable ? shape : { ...shape, default: undefined }, schema, here)
}

/** Reads the schemas of properties or items, one level down. */
function readBelow(reading: ReadState) {
  // Created once, because there may be thousands of schemas.
  let below: ReadState | undefined
  return (schema: unknown) => {
    below ??= {
      ...reading,
      levels: reading.levels - 1,
      around: [...reading.around, ...reading.following],
      following: new Set(),
    }
    return readSchema(schema, below)
  }
}

function referenced(schema: Record<string, unknown>, reading: ReadState): Shape[] {
  const { $ref, $dynamicRef } = schema
  const { references, resource } = reading
  const follow = (reference: string, place: ReturnType<References['follow']>) => {
    if (!place)
      reading.warn(`The reference ${clean(reference, 100)} is not resolved; any value is accepted there.`)
    if (!place || reading.following.has(place.schema) || reading.following.size > LIMITS.shapeRefHops)
      return UNKNOWN
    const following = new Set([...reading.following, place.schema])
    const recursions = reading.around.filter((schema) => schema === place.schema).length
    const levels = recursions < LIMITS.shapeRecursions ? reading.levels : 0
    return readSchema(place.schema, { ...reading, resource: place.resource, following, levels })
  }
  return [
    ...(typeof $ref === 'string' ? [follow($ref, references.follow($ref, resource))] : []),
    ...(typeof $dynamicRef === 'string' && !reading.draft07
      ? [follow($dynamicRef, references.followDynamic($dynamicRef, resource))]
      : []),
  ]
}

function composed(schema: Record<string, unknown>, reading: ReadState): Shape[] {
  const read = (part: unknown) => readSchema(part, reading)
  const branch = (part: unknown) => {
    // Each branch is also merged with all others.
    reading.budget.spend(2)
    return read(part)
  }
  const many = (keyword: string) => (Array.isArray(schema[keyword]) ? schema[keyword].map(branch) : [])
  const shapes = many('allOf')
  for (const keyword of ['anyOf', 'oneOf']) {
    const branches = many(keyword)
    if (branches.length > 0) shapes.push(oneOf(branches, reading.budget))
  }
  const { if: condition, then: yes, else: no } = schema
  if (condition !== undefined) {
    const met = intersect(namesOf(read(condition)), read(yes ?? true), reading.budget)
    shapes.push(union(met, read(no ?? true), reading.budget))
  }
  for (const keyword of ['dependentSchemas', 'dependencies']) {
    const dependent = isObject(schema[keyword]) ? Object.values(schema[keyword]) : []
    for (const part of dependent) {
      if (!Array.isArray(part)) shapes.push(union(read(part), ANY, reading.budget))
    }
  }
  return shapes
}

/** An `if` schema restricts nothing by itself, but the properties it names count as known. */
function namesOf({ object }: Shape): Shape {
  const properties = new Map([...object.properties.keys()].map((name) => [name, ANY]))
  return { ...ANY, object: { ...ANY.object, properties, more: object.more } }
}

/** Union of the branches; the description explains what the portable schema cannot distinguish. */
function oneOf(branches: readonly Shape[], budget: Budget): Shape {
  const live = branches.filter((branch) => !isNever(branch))
  const values = live.filter((branch) => [...branch.kinds].some((kind) => kind !== 'null'))
  const nullOnly = live.find((branch) => !values.includes(branch))
  const [first] = values
  if (live.length === 0 || !first) return combineAll(union, [...live, NEVER], budget)
  const merged = values.length === 1 ? first : withBranches(combineAll(union, values, budget), values)
  if (!nullOnly) return merged
  const nullable = union(merged, nullOnly, budget)
  return { ...merged, kinds: nullable.kinds, values: nullable.values }
}

function withBranches(merged: Shape, branches: readonly Shape[]): Shape {
  const described = branches.some((branch) => branch.description)
  const plain = merged.values !== undefined || (merged.kinds.size === 1 && !merged.kinds.has('object'))
  if (plain && !described) return merged
  const words = branches.slice(0, 8).map((branch) => {
    const description = branch.description && clean(branch.description, 80)
    return description ? `${phrase(branch)} (${description})` : phrase(branch)
  })
  const more = branches.length > words.length ? `; or ${branches.length - words.length} others` : ''
  return { ...merged, notes: [`One of: ${clean([...new Set(words)].join('; or '), 400)}${more}.`] }
}

/** `unevaluatedProperties: false` closes an object only if all properties that it may evaluate are known. */
function sealed(shape: Shape, schema: Record<string, unknown>, reading: ReadState): Shape {
  if (reading.draft07 || schema['unevaluatedProperties'] === undefined) return shape
  const { object } = shape
  if (schema['unevaluatedProperties'] === false && !object.more) {
    return { ...shape, object: { ...object, additional: NEVER } }
  }
  return { ...shape, object: { ...object, more: true } }
}

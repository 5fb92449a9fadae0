/** Set operations on shapes: intersection (`allOf`, references) and union (`anyOf`, `oneOf`). */

import { isObject } from '../foundation/is-object.ts'
import { phrase } from './descriptions.ts'
import type { Bound, Kind, ObjectShape, Shape, Traits } from './shape.ts'
import { ANY, BOUND_NAMES, BOUNDS, type Budget, isNever, isOf, kindOf, NEVER, TRAITS } from './shape.ts'

type Combine = (a: Shape, b: Shape, budget: Budget) => Shape

/** Combines many shapes pairwise in a balanced tree, so that the cost stays near-linear. */
export function combineAll(combine: Combine, shapes: readonly Shape[], budget: Budget): Shape {
  const half = shapes.length >> 1
  if (half === 0) return shapes[0] ?? ANY
  const [left, right] = [shapes.slice(0, half), shapes.slice(half)]
  return combine(combineAll(combine, left, budget), combineAll(combine, right, budget), budget)
}

/** Intersection of two shapes; may be a superset. */
export function intersect(a: Shape, b: Shape, budget: Budget): Shape {
  if (a === ANY) return b
  if (b === ANY) return a
  budget.spend(1 + ((a.values?.length ?? 0) >> 4) + ((b.values?.length ?? 0) >> 4))
  const values = commonValues(a.values, b.values)?.filter((value) => isOf(a, value) && isOf(b, value))
  const present = values && new Set(values.map(kindOf))
  const kinds = [...a.kinds].filter((kind) => b.kinds.has(kind) && (present?.has(kind) ?? true))
  if (kinds.length === 0) return NEVER
  return {
    kinds: new Set(kinds),
    values,
    bounds: bothBounds(a, b),
    traits: { ...b.traits, ...a.traits },
    items: a.items && b.items ? intersect(a.items, b.items, budget) : (a.items ?? b.items),
    object: bothObjects(a.object, b.object, budget),
    description: a.description ?? b.description,
    notes: [...new Set([...a.notes, ...b.notes])],
    default: a.default === undefined ? b.default : a.default,
    examples: a.examples.length > 0 ? a.examples : b.examples,
  }
}

/**
 * Union of two shapes; may be a superset. Properties that either shape names stay known, even if their value
 * is now open.
 */
export function union(a: Shape, b: Shape, budget: Budget): Shape {
  if (isNever(a)) return b
  if (isNever(b)) return a
  budget.spend(1 + (((a.values?.length ?? 0) + (b.values?.length ?? 0)) >> 4))
  if (a === ANY && b === ANY) return ANY
  const both = (kind: Kind) => a.kinds.has(kind) && b.kinds.has(kind)
  const only = (kind: Kind) => (a.kinds.has(kind) ? a : b)
  return {
    ...ANY,
    kinds: new Set([...a.kinds, ...b.kinds]),
    values: a.values && b.values && unique([...a.values, ...b.values]),
    bounds: eitherBounds(a, b),
    traits: eitherTraits(a, b),
    items: both('array') ? a.items && b.items && union(a.items, b.items, budget) : only('array').items,
    object: both('object') ? eitherObjects(a.object, b.object, budget) : only('object').object,
    description: a.description === b.description ? a.description : undefined,
  }
}

function bothObjects(a: ObjectShape, b: ObjectShape, budget: Budget): ObjectShape {
  if (a === ANY.object) return b
  if (b === ANY.object) return a
  budget.spend((a.properties.size + b.properties.size) >> 2)
  const properties = new Map<string, Shape>()
  for (const name of new Set([...a.properties.keys(), ...b.properties.keys()])) {
    properties.set(name, intersect(propertyOf(a, name), propertyOf(b, name), budget))
  }
  const additional =
    a.additional && b.additional
      ? intersect(a.additional, b.additional, budget)
      : (a.additional ?? b.additional)
  return { properties, required: new Set([...a.required, ...b.required]), additional, more: a.more || b.more }
}

function eitherObjects(a: ObjectShape, b: ObjectShape, budget: Budget): ObjectShape {
  const properties = new Map<string, Shape>()
  for (const name of new Set([...a.properties.keys(), ...b.properties.keys()])) {
    const either = union(propertyOf(a, name), propertyOf(b, name), budget)
    properties.set(name, sometimes(either, a.properties.get(name), b.properties.get(name)))
  }
  const additional = a.additional && b.additional && union(a.additional, b.additional, budget)
  const required = new Set([...a.required].filter((name) => b.required.has(name)))
  return { properties, required, additional, more: a.more || b.more }
}

/**
 * If only one branch names a property and the other allows anything, keeps its meaning in the description.
 */
function sometimes(either: Shape, mine: Shape | undefined, theirs: Shape | undefined): Shape {
  const named = mine && theirs ? undefined : (mine ?? theirs)
  if (!named || named === either || named === ANY || isNever(named)) return either
  const notes = unique([...named.notes, `In some cases ${phrase(named)}.`]) as string[]
  return { ...either, description: named.description, notes }
}

const propertyOf = (object: ObjectShape, name: string) =>
  object.properties.get(name) ?? object.additional ?? ANY

function bothBounds(a: Shape, b: Shape): Shape['bounds'] {
  const bounds: Partial<Record<Bound, number>> = { ...a.bounds, ...b.bounds }
  for (const name of BOUND_NAMES) {
    const [mine, theirs] = [a.bounds[name], b.bounds[name]]
    if (mine !== undefined && theirs !== undefined) bounds[name] = BOUNDS[name].tighter(mine, theirs)
  }
  return bounds
}

const NOTHING = {}
const sayNothing = (a: object, b: object) => Object.keys(a).length === 0 && Object.keys(b).length === 0

function eitherBounds(a: Shape, b: Shape): Shape['bounds'] {
  // Fast path: most shapes have no bounds, and there may be thousands of shapes.
  if (sayNothing(a.bounds, b.bounds)) return NOTHING
  const bounds: Partial<Record<Bound, number>> = {}
  for (const name of BOUND_NAMES) {
    const { kind, looser } = BOUNDS[name]
    // A branch that admits no strings does not affect string bounds.
    const sides = [a, b].filter((shape) => shape.kinds.has(kind)).map((shape) => shape.bounds[name])
    const known = sides.filter((bound) => bound !== undefined)
    if (known.length > 0 && known.length === sides.length) bounds[name] = looser(...known)
  }
  return bounds
}

function eitherTraits(a: Shape, b: Shape): Traits {
  if (sayNothing(a.traits, b.traits)) return NOTHING
  const kept = Object.entries(TRAITS).flatMap(([name, kind]) => {
    const sides = [a, b].filter((shape) => shape.kinds.has(kind))
    const [first, ...rest] = sides.map((shape) => shape.traits[name as keyof Traits])
    return first !== undefined && rest.every((trait) => trait === first) ? [[name, first]] : []
  })
  return Object.fromEntries(kept) as Traits
}

function commonValues(a: Shape['values'], b: Shape['values']): Shape['values'] {
  if (!a || !b) return a ?? b
  const theirs = new Set(b.map(canonical))
  return a.filter((value) => theirs.has(canonical(value)))
}

function unique(values: readonly unknown[]): unknown[] {
  return [...new Map(values.map((value) => [canonical(value), value])).values()]
}

/** JSON with sorted keys. */
function canonical(value: unknown): string {
  const sorted = (_key: string, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part
  return JSON.stringify(value, sorted)
}

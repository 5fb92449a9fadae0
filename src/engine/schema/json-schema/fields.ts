import { isObject } from '../../../foundation/is-object.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { own } from '../../../foundation/own.ts'
import { dereference } from '../../../schema-shape/refs.ts'
import { formerNamesOf, renamedTo } from './property-names.ts'

/**
 * Checks whether data of a schema can have a field at a path. False only where a closed schema
 * (`additionalProperties: false`) excludes it; `allowed` then lists the properties at that level.
 */
export function fieldExists(schema: unknown, path: Path): Existence {
  const { closed, missing = 0 } = follow(schema, path)
  if (!closed) return { exists: true, allowed: [] }
  const properties = propertiesOf(closed)
  const renamed = renamedTo(properties, String(path[missing]))
  return {
    exists: false,
    allowed: Object.keys(properties).slice(0, LIMITS.allowedFieldsShown),
    missing,
    ...(renamed !== undefined && { renamed }),
  }
}

/** `missing`: the index of the segment that is excluded. `renamed`: what the property is called now, if it was renamed. */
type Existence = { exists: boolean; allowed: string[]; missing?: number; renamed?: string }

/** The `format` that the schema declares at a path, if any. */
export function formatAt(schema: unknown, path: Path): string | undefined {
  const format = follow(schema, path).place?.['format']
  return typeof format === 'string' ? format : undefined
}

/** The types that the schema names at a path; none if it leaves them open. */
export const typesAt = (schema: unknown, path: Path): readonly unknown[] => {
  const type = follow(schema, path).place?.['type']
  return Array.isArray(type) ? type : type === undefined ? [] : [type]
}

/** Whether the values at a path are lists; undefined if the schema declares no one type there. */
export function isListAt(schema: unknown, path: Path): boolean | undefined {
  const type = follow(schema, path).place?.['type']
  return typeof type === 'string' ? type === 'array' : undefined
}

/** The values that the schema allows at a path, if they are listed and none is an object or a list. */
export function valuesAt(schema: unknown, path: Path): readonly unknown[] | undefined {
  const place = follow(schema, path).place
  const values = place && (Object.hasOwn(place, 'const') ? [place['const']] : place['enum'])
  return Array.isArray(values) && values.length > 0 && values.every(isScalar) ? values : undefined
}

/**
 * The type that every value at a path of names has in data that the schema accepts, if that is a string or a number. Null too
 * where a reference is on the way: what stands beside one may not count.
 */
export function scalarAt(schema: unknown, path: Path): 'string' | 'number' | null {
  let place = schema
  for (const segment of path) {
    if (typeof segment !== 'string' || !isObject(place) || '$ref' in place) return null
    const properties = propertiesOf(place)
    place = own(properties, segment)
  }
  if (!isObject(place) || '$ref' in place) return null
  const { type } = place
  if (type === 'string') return type
  if (type === 'number' || type === 'integer') return 'number'
  const values = type === undefined ? valuesAt(place, []) : undefined
  const [first] = values ?? []
  const one = typeof first === 'string' ? 'string' : typeof first === 'number' ? 'number' : null
  return one && values?.every((value) => typeof value === one) ? one : null
}

export const isScalar = (value: unknown): boolean => value === null || typeof value !== 'object'

/** The schema of a property of the root; undefined when the schema does not declare it. */
export function ownProperty(schema: unknown, name: string): unknown {
  const properties = rootProperties(schema)
  return own(properties, name)
}

/** Whether the schema declares any property of the root. */
export const hasOwnProperties = (schema: unknown): boolean => Object.keys(rootProperties(schema)).length > 0

/** The properties that the root of a schema declares. */
export const rootProperties = (schema: unknown): Place =>
  propertiesOf(dereference(schema, schema, isClosed) ?? {})

/** At each step of a path, the name that the property has now, and the former ones that no other has. */
function namesAlong(schema: unknown, path: Path): Path[] {
  let place = dereference(schema, schema, isClosed)
  return path.map((segment) => {
    const properties = propertiesOf(place ?? {})
    const now = typeof segment === 'string' ? (renamedTo(properties, segment) ?? segment) : segment
    const below =
      typeof now === 'string'
        ? own(properties, now)
        : itemSchema(place ?? {}, now ?? Number.POSITIVE_INFINITY)
    place = dereference(below, schema, isClosed)
    return [now, ...formerNamesOf(below).filter((name) => !Object.hasOwn(properties, name))]
  })
}

/** A path with the names that its properties have now, where they were renamed since. */
export const currentPath = (schema: unknown, path: Path): Path =>
  namesAlong(schema, path).map(([now]) => now as Path[number])

/** The paths that the field at a path had before its properties were renamed; null for more than `LIMITS.formerPaths`. */
export function formerPaths(schema: unknown, path: Path): Path[] | null {
  let paths: Path[] = [[]]
  for (const names of namesAlong(schema, path)) {
    if (paths.length * names.length > LIMITS.formerPaths) return null
    paths = names.flatMap((name) => paths.map((at) => [...at, name]))
  }
  return paths.slice(1)
}

/** Path steps: a property, an array index, or null for any element. */
type Path = readonly (string | number | null)[]
type Place = Record<string, unknown>

/** Resolves the path: to the schema at its end, to the closed schema that excludes it, or to undefined. */
function follow(
  schema: unknown,
  path: Path,
): { place?: Place | undefined; closed?: Place; missing?: number } {
  // A closed schema needs no reference resolution.
  let place = dereference(schema, schema, isClosed)
  for (const [missing, segment] of path.entries()) {
    if (!place) return {}
    const properties = propertiesOf(place)
    if (typeof segment !== 'string')
      place = dereference(itemSchema(place, segment ?? Number.POSITIVE_INFINITY), schema, isClosed)
    else if (Object.hasOwn(properties, segment)) place = dereference(properties[segment], schema, isClosed)
    else return isClosed(place) ? { closed: place, missing } : {}
  }
  return { place }
}

const propertiesOf = ({ properties }: Place): Place => (isObject(properties) ? properties : {})

function isClosed(schema: Record<string, unknown>): boolean {
  const { additionalProperties, patternProperties } = schema
  return additionalProperties === false && Object.keys(patternProperties ?? {}).length === 0
}

function itemSchema({ items, prefixItems, additionalItems }: Record<string, unknown>, i: number): unknown {
  const tuple = Array.isArray(items) ? items : prefixItems
  if (Array.isArray(tuple) && i < tuple.length) return tuple[i]
  return Array.isArray(items) ? additionalItems : items
}

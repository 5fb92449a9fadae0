import { isObject } from '../../../foundation/is-object.ts'
import { holdsSchemas } from '../../schema/json-schema/subschemas.ts'
import { type Json, pointer } from './input.ts'

type Visit = (child: Json, at: string) => unknown

/** Copies a schema and maps every direct subschema with `visit`. */
export function mapChildren(schema: Json, at: string, visit: Visit): Json {
  // Booleans and invalid subschemas are kept; the validator reports them.
  const one = (value: unknown, place: string) => (isObject(value) ? visit(value, place) : value)
  const child = (keyword: string, value: unknown): unknown => {
    const place = pointer(at, keyword)
    const holds = holdsSchemas(keyword)
    if (!holds) return value
    if (Array.isArray(value)) return value.map((each, i) => one(each, pointer(place, i)))
    if (holds === 'list' || !isObject(value)) return one(value, place)
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, one(each, pointer(place, name))]),
    )
  }
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, child(key, value)]))
}

/** Whether `test` holds for the schema or any subschema. */
export function someSchema(schema: unknown, test: (schema: Json) => boolean): boolean {
  if (Array.isArray(schema)) return schema.some((each) => someSchema(each, test))
  if (!isObject(schema)) return false
  let found = test(schema)
  mapChildren(schema, '', (child) => {
    found ||= someSchema(child, test)
    return child
  })
  return found
}

/** Merges two schemas as `allOf` would; `base` takes precedence. */
export const mergeSchemas = (base: Json, more: Json): Json => mergeAll([base, more])

/** Merges schemas; earlier ones take precedence. Runs in linear time, for lists of thousands. */
export function mergeAll(schemas: readonly Json[]): Json {
  const merged: Json = Object.assign({}, ...schemas.toReversed())
  const properties = schemas.map((schema) => schema['properties']).filter((each) => each !== undefined)
  if (properties.length > 1 && properties.every(isObject)) merged['properties'] = joined(properties)
  const required = schemas.map((schema) => schema['required']).filter((each) => each !== undefined)
  if (required.length > 1 && required.every(Array.isArray)) merged['required'] = [...new Set(required.flat())]
  return merged
}

/** Merges objects; earlier ones take precedence. */
export function joined(objects: readonly Json[]): Json {
  const entries = new Map<string, unknown>()
  for (const object of objects)
    for (const [key, value] of Object.entries(object)) if (!entries.has(key)) entries.set(key, value)
  return Object.fromEntries(entries)
}

/** Copies an object without the given keys. */
export function omit(object: Json, ...keys: readonly string[]): Json {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)))
}

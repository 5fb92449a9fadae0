/** Names of properties for a provider that accepts few characters: in exported schemas, and back in calls. */
import { invalid } from '../../foundation/errors.ts'
import { isObject } from '../../foundation/is-object.ts'
import type { Note } from '../json-schema/schema-warnings.ts'
import { alias } from './alias.ts'
import { type Json, pointer } from './input.ts'
import { mapChildren, someSchema } from './schema-walk.ts'

/** The exported name of each property that the provider refuses. */
export type ExportedNames = ReadonlyMap<string, string>

const known = new WeakMap<Json, Map<RegExp, ExportedNames>>()

/** Depends on the names alone, so it is the same at the export and at each call. */
export function exportedNames(schema: Json, pattern: RegExp): ExportedNames {
  const ofSchema = known.get(schema) ?? new Map<RegExp, ExportedNames>()
  known.set(schema, ofSchema)
  const found = ofSchema.get(pattern) ?? readNames(schema, pattern)
  ofSchema.set(pattern, found)
  return found
}

function readNames(schema: Json, pattern: RegExp): ExportedNames {
  const names = new Map<string, string>()
  someSchema(schema, (each) => {
    for (const name of [...Object.keys(objectOf(each['properties'])), ...listOf(each['required'])])
      if (!pattern.test(name)) names.set(name, alias(name, pattern))
    return false
  })
  return names
}

const objectOf = (value: unknown): Json => (isObject(value) ? value : {})
const listOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []

/** Replaces the names in a schema. The description of a renamed property begins with its own name. */
export function renameProperties(
  schema: Json,
  names: ExportedNames,
  label: string,
  note: Note,
  at = '',
): Json {
  if (names.size === 0) return schema
  const named = (name: string) => names.get(name) ?? name
  const keys = (map: Json, described: boolean) =>
    Object.fromEntries(
      Object.entries(map).map(([name, part]) => [
        named(name),
        described && names.has(name) && isObject(part) ? describedAs(name, part) : part,
      ]),
    )
  for (const name of Object.keys(objectOf(schema['properties'])))
    if (names.has(name))
      note(
        `${label} does not accept the property name: it is exported as "${named(name)}"`,
        pointer(at, 'properties', name),
      )
  const renamed = mapChildren(schema, at, (child, place) =>
    renameProperties(child, names, label, note, place),
  )
  for (const [key, value] of Object.entries(renamed)) {
    if (key === 'properties' && isObject(value)) renamed[key] = keys(value, true)
    else if (OF_NAMES.has(key) && isObject(value))
      renamed[key] = Object.fromEntries(
        Object.entries(keys(value, false)).map(([name, part]) => [
          name,
          Array.isArray(part) ? part.map(rename) : part,
        ]),
      )
    else if (key === 'required') renamed[key] = listOf(value).map(named)
    else if (key === '$ref' && typeof value === 'string') renamed[key] = renameRef(value, names)
    else if (VALUES.has(key)) renamed[key] = renameKeys(value, names)
  }
  return renamed

  function rename(name: unknown): unknown {
    return typeof name === 'string' ? named(name) : name
  }
}

/** Keywords whose members are named by properties. */
const OF_NAMES = new Set(['dependentRequired', 'dependentSchemas', 'dependencies'])
const VALUES = new Set(['default', 'const', 'enum', 'examples', 'example'])

const describedAs = (name: string, schema: Json): Json => ({
  ...schema,
  description: typeof schema['description'] === 'string' ? `${name}: ${schema['description']}` : `${name}.`,
})

/** A reference into `properties`. */
const renameRef = (ref: string, names: ExportedNames): string => {
  const parts = ref.split('/')
  return parts
    .map((part, i) => {
      const exported = parts[i - 1] === 'properties' ? names.get(decoded(part)) : undefined
      return exported ?? part
    })
    .join('/')
}

function decoded(part: string): string {
  const plain = part.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(plain)
  } catch {
    return plain
  }
}

/** Replaces the names in a value of the schema. */
function renameKeys(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((each) => renameKeys(each, names))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [names.get(name) ?? name, renameKeys(part, names)]),
  )
}

/**
 * Puts the original names back into the arguments of a call, which may have either.
 * @throws VALIDATION_ERROR for a property that is sent under both
 */
export function originalArguments(args: Json, names: ExportedNames, at: string): Json {
  if (names.size === 0) return args
  const originals = new Map([...names].map(([original, exported]) => [exported, original]))
  const restore = (value: unknown, place: string): unknown => {
    if (Array.isArray(value)) return value.map((each, i) => restore(each, pointer(place, String(i))))
    if (!isObject(value)) return value
    const restored = new Map<string, unknown>()
    for (const [name, part] of Object.entries(value)) {
      const original = originals.get(name) ?? name
      if (restored.has(original)) throw sentTwice(pointer(place, name), original)
      restored.set(original, restore(part, pointer(place, name)))
    }
    return Object.fromEntries(restored)
  }
  return restore(args, at) as Json
}

const sentTwice = (path: string, original: string) =>
  invalid({
    path,
    code: 'duplicate_argument',
    message: `The property ${JSON.stringify(original.slice(0, 64))} is sent twice, once by its own name and once by its exported name. Send it once.`,
  })

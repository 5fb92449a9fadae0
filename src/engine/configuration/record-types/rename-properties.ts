/** Renames of a migration, in the definition of the type: its schema and its indexes. */
import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../../foundation/is-object.ts'
import { type FieldPath, fieldName } from '../../compiled-types/field-path.ts'
import { FORMER_NAMES, formerNamesOf } from '../../json-schema/former-names.ts'
import type { MigrationStep } from './migration.ts'

type Rename = Extract<MigrationStep, { op: 'rename' }>
type Place = Record<string, unknown>
type Definition = { readonly jsonSchema?: unknown; readonly indexes?: unknown; readonly sources?: unknown }

/**
 * Applies the renames of a migration to sent fields, or to the stored ones where a patch does not send them. A
 * property that the schema still has under its old name moves, with its place in `required`, the indexes on it,
 * and its place in the mappings of external sources. The new one keeps the old name, so that errors can name it. A rename into another object moves data only.
 */
export function renameProperties<T extends Definition>(
  sent: T,
  before: Definition,
  steps: readonly MigrationStep[],
): T {
  const renames = steps.filter((step): step is Rename => step.op === 'rename' && isInPlace(step))
  const schema = sent.jsonSchema ?? before.jsonSchema
  if (renames.length === 0 || !isObject(schema)) return sent
  const jsonSchema = structuredClone(schema)
  const renamed = renames.filter(({ field, to }) => moveProperty(jsonSchema, field, nameOf(to)))
  if (renamed.length === 0) return sent
  const listed = sent.indexes ?? before.indexes
  const indexes = Array.isArray(listed) ? listed.map((index) => moveIndex(index, renamed)) : listed
  const declared = sent.sources ?? before.sources
  const sources = Array.isArray(declared) ? declared.map((source) => moveMapped(source, renamed)) : declared
  return {
    ...{ ...sent, jsonSchema },
    ...(!isDeepStrictEqual(indexes, listed) && { indexes }),
    ...(!isDeepStrictEqual(sources, declared) && { sources }),
  }
}

const isInPlace = ({ field, to }: Rename): boolean =>
  isDeepStrictEqual(field.slice(0, -1), to.slice(0, -1)) && nameOf(field) !== nameOf(to)

const nameOf = (path: FieldPath): string => String(path.at(-1))

/** Renames a property in a schema. False if the schema has neither name. */
function moveProperty(schema: Place, path: FieldPath, to: string): boolean {
  const parent = parentOf(schema, path)
  const properties = parent?.['properties']
  if (!parent || !isObject(properties)) return false
  const from = nameOf(path)
  const of = (name: string) => (Object.hasOwn(properties, name) ? properties[name] : undefined)
  const moved = of(to) ?? of(from)
  if (moved === undefined || moved === false) return false
  const former = [...formerNamesOf(of(from)), ...formerNamesOf(of(to)), from]
  const next = {
    ...(isObject(moved) ? moved : {}),
    [FORMER_NAMES]: [...new Set(former)].filter((name) => name !== to),
  }
  const isDeclared = of(to) !== undefined
  parent['properties'] = Object.fromEntries(
    Object.entries(properties).flatMap(([name, each]) => {
      if (name === to) return [[to, next]]
      if (name !== from) return [[name, each]]
      return isDeclared ? [] : [[to, next]]
    }),
  )
  const { required } = parent
  if (Array.isArray(required))
    parent['required'] = [...new Set(required.map((name: unknown) => (name === from ? to : name)))]
  return true
}

/** The schema of the object that holds the last name of a path. */
function parentOf(schema: Place, path: FieldPath): Place | undefined {
  let place: unknown = schema
  for (const name of path.slice(0, -1)) {
    const properties: unknown = isObject(place) ? place['properties'] : undefined
    place =
      isObject(properties) && Object.hasOwn(properties, String(name)) ? properties[String(name)] : undefined
  }
  return isObject(place) ? place : undefined
}

function moveIndex(index: unknown, renames: readonly Rename[]): unknown {
  if (!isObject(index) || !Array.isArray(index['fields'])) return index
  const fields = index['fields'].map((each: unknown) => {
    if (typeof each === 'string') return moveField(each, renames)
    return isObject(each) && typeof each['field'] === 'string'
      ? { ...each, field: moveField(each['field'], renames) }
      : each
  })
  return { ...index, fields }
}

function moveField(field: string, renames: readonly Rename[]): string {
  let moved = field
  for (const { field: path, to } of renames) {
    const [from, next] = [fieldName(path), fieldName(to)]
    const rest = moved.slice(from.length)
    if (moved.startsWith(from) && (rest === '' || /^[.[]/.test(rest))) moved = next + rest
  }
  return moved
}

/** Renames the properties that the mappings of a source name. They are those at the top of `data`. */
function moveMapped(source: unknown, renames: readonly Rename[]): unknown {
  const mapping = isObject(source) ? source['field_mapping'] : undefined
  if (!isObject(source) || !isObject(mapping)) return source
  const moved = Object.entries(mapping).map(([side, fields]) => {
    if (!isObject(fields)) return [side, fields]
    const entries = Object.entries(fields).map(([name, field]) => {
      // There, external_id is the id of the record, and no property.
      const isId = side === 'to_plinth' && name === 'external_id'
      return [isId ? name : nameAfter(fields, name, renames), field]
    })
    return [side, Object.fromEntries(entries)]
  })
  return { ...source, field_mapping: Object.fromEntries(moved) }
}

function nameAfter(fields: Place, name: string, renames: readonly Rename[]): string {
  let moved = name
  for (const { field, to } of renames)
    if (field.length === 1 && nameOf(field) === moved && !Object.hasOwn(fields, nameOf(to)))
      moved = nameOf(to)
  return moved
}

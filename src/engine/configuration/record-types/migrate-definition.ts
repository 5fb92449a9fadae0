/** What a migration renames and drops, in the definition of the type: its schema, its indexes, its sources and its title. */

import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../../foundation/is-object.ts'
import { own } from '../../../foundation/own.ts'
import { type FieldPath, fieldName } from '../../schema/compiled-types/field-path.ts'
import { FORMER_NAMES, formerNamesOf } from '../../schema/json-schema/property-names.ts'
import type { States } from '../lifecycle/kind.ts'
import type { MigrationStep } from './migration.ts'

type Rename = Extract<MigrationStep, { op: 'rename' }>
type Drop = Extract<MigrationStep, { op: 'drop' }>
type Place = Record<string, unknown>
type Definition = {
  readonly jsonSchema?: unknown
  readonly indexes?: unknown
  readonly sources?: unknown
  readonly display?: unknown
}

/**
 * Applies the renames and drops of a migration to sent fields, or to the stored ones where a patch does not send them. A
 * property that the schema still has under its old name moves, with its place in `required`, the indexes on it,
 * its place in the mappings of external sources, and as the title. The new one keeps the old name, so that errors can name it. A rename into
 * another object moves data only. A dropped property goes with all of these, unless the patch states it; a PUT states all.
 */
export function migrateDefinition<T extends Definition>(
  sent: T,
  before: Definition,
  steps: readonly MigrationStep[],
  states: States = () => true,
): T {
  const due = steps.filter((step): step is Rename | Drop =>
    step.op === 'rename' ? isInPlace(step) : step.op === 'drop' && !states(pathInBody(step.field)),
  )
  const schema = sent.jsonSchema ?? before.jsonSchema
  if (due.length === 0 || !isObject(schema)) return sent
  const jsonSchema = structuredClone(schema)
  const done = due.filter((step) =>
    step.op === 'rename'
      ? moveProperty(jsonSchema, step.field, nameOf(step.to))
      : removeProperty(jsonSchema, step.field),
  )
  if (done.length === 0) return sent
  const listed = sent.indexes ?? before.indexes
  const indexes = Array.isArray(listed) ? done.reduce<unknown[]>(indexesAfter, listed) : listed
  const declared = sent.sources ?? before.sources
  const sources = Array.isArray(declared) ? declared.map((source) => moveMapped(source, done)) : declared
  const shown = sent.display ?? before.display
  const display = moveTitle(shown, done)
  return {
    ...{ ...sent, jsonSchema },
    ...(display !== shown && { display }),
    ...(!isDeepStrictEqual(indexes, listed) && { indexes }),
    ...(!isDeepStrictEqual(sources, declared) && { sources }),
  }
}

const pathInBody = (field: FieldPath) => [
  'json_schema',
  ...field.flatMap((name) => ['properties', String(name)]),
]

const isInPlace = ({ field, to }: Rename): boolean =>
  isDeepStrictEqual(field.slice(0, -1), to.slice(0, -1)) && nameOf(field) !== nameOf(to)

const nameOf = (path: FieldPath): string => String(path.at(-1))

/** Renames a property in a schema. False if the schema has neither name. */
function moveProperty(schema: Place, path: FieldPath, to: string): boolean {
  const parent = parentOf(schema, path)
  const properties = parent?.['properties']
  if (!parent || !isObject(properties)) return false
  const from = nameOf(path)
  const of = (name: string) => own(properties, name)
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

/** The renames and drops of a property that neither schema has, and that was not renamed so before. */
export const stepsWithoutProperty = (
  before: unknown,
  next: unknown,
  steps: readonly MigrationStep[],
): readonly (Rename | Drop)[] =>
  steps.filter(
    (step): step is Rename | Drop =>
      (step.op === 'rename' || step.op === 'drop') &&
      propertyAt(before, step.field) === undefined &&
      propertyAt(next, step.field) === undefined &&
      (step.op === 'drop' || !formerNamesOf(propertyAt(next, step.to)).includes(nameOf(step.field))),
  )

const propertyAt = (schema: unknown, path: FieldPath): unknown => {
  const properties = isObject(schema) ? parentOf(schema, path)?.['properties'] : undefined
  return isObject(properties) ? own(properties, nameOf(path)) : undefined
}

/** Removes a property from a schema. False if the schema has none of that name. */
function removeProperty(schema: Place, path: FieldPath): boolean {
  const parent = parentOf(schema, path)
  const properties = parent?.['properties']
  const name = nameOf(path)
  if (!parent || !isObject(properties) || !Object.hasOwn(properties, name)) return false
  delete properties[name]
  const { required } = parent
  if (Array.isArray(required)) parent['required'] = required.filter((each) => each !== name)
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

/** The indexes after a step: on the renamed property, and without those on a dropped one. */
function indexesAfter(indexes: readonly unknown[], step: Rename | Drop): unknown[] {
  const from = fieldName(step.field)
  const moved = (field: string): string | null => {
    const rest = field.slice(from.length)
    const isOn = field.startsWith(from) && (rest === '' || /^[.[]/.test(rest))
    if (!isOn) return field
    return step.op === 'rename' ? fieldName(step.to) + rest : null
  }
  return indexes.flatMap((index) => {
    if (!isObject(index) || !Array.isArray(index['fields'])) return [index]
    const fields = index['fields'].map((each: unknown) => {
      if (typeof each === 'string') return moved(each)
      if (!isObject(each) || typeof each['field'] !== 'string') return each
      const field = moved(each['field'])
      return field === null ? null : { ...each, field }
    })
    return fields.includes(null) ? [] : [{ ...index, fields }]
  })
}

/** Renames or drops the properties that the mappings of a source name. They are those at the top of `data`. */
function moveMapped(source: unknown, steps: readonly (Rename | Drop)[]): unknown {
  const mapping = isObject(source) ? source['field_mapping'] : undefined
  if (!isObject(source) || !isObject(mapping)) return source
  const moved = Object.entries(mapping).map(([side, fields]) => {
    if (!isObject(fields)) return [side, fields]
    const entries = Object.entries(fields).flatMap(([name, field]) => {
      // There, external_id is the id of the record, and no property.
      const isId = side === 'to_plinth' && name === 'external_id'
      const next = isId ? name : nameAfter(fields, name, steps)
      return next === null ? [] : [[next, field]]
    })
    return [side, Object.fromEntries(entries)]
  })
  return { ...source, field_mapping: Object.fromEntries(moved) }
}

/** `display` after the steps: its title is the renamed property, and none if that was dropped. */
function moveTitle(display: unknown, steps: readonly (Rename | Drop)[]): unknown {
  if (!isObject(display) || typeof display['title'] !== 'string') return display
  const { title, ...rest } = display
  const moved = nameAfter({}, title as string, steps)
  if (moved === title) return display
  return moved === null ? rest : { ...rest, title: moved }
}

/** The name of a mapped property after the steps; null if they drop it. */
function nameAfter(fields: Place, name: string, steps: readonly (Rename | Drop)[]): string | null {
  let moved = name
  for (const step of steps) {
    if (step.field.length !== 1 || nameOf(step.field) !== moved) continue
    if (step.op === 'drop') return null
    if (!Object.hasOwn(fields, nameOf(step.to))) moved = nameOf(step.to)
  }
  return moved
}

/** Turns a `where` into the filter language of the engine, and the paths of its errors back. */
import { toCamel, toSnake } from '../../contract/field-names.ts'
import { OPERATOR_NAMES } from '../../contract/operators.ts'
import { fieldName } from '../../engine/schema/compiled-types/field-path.ts'
import { type Detail, DomainError, invalid, restated } from '../../foundation/errors.ts'
import { isObject } from '../../foundation/is-object.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { Shape } from '../../schema-shape/shape.ts'
import type { LinkView, TypeView } from './base-view.ts'
import { type Property, propertiesOf } from './names.ts'
import { hasFilters } from './where-types.ts'

type Where = Readonly<Record<string, unknown>>
/** What the conditions on records of a type may name. */
type Vocabulary = { names: Names; links: TypeView['links']; budget: Budget }
/** Conditions that may still come. */
type Budget = { left: number }
/** Properties by their fields. */
export type Names = ReadonlyMap<string, Property>
type Condition = { filter: object; at: string; parts?: readonly Condition[] }

const COLUMNS: ReadonlyMap<string, string> = new Map([
  ['id', 'id'],
  ['_version', 'version'],
  ['_status', 'status'],
  ['_valid', 'valid'],
  ['_createdAt', 'created_at'],
  ['_updatedAt', 'updated_at'],
  ['_externalId', 'external_id'],
  ['_externalSource', 'external_source'],
])

/** A filter of the engine. `explained` rewrites the paths of its errors to those of the arguments. */
export type Question = { filter: object | undefined; explained: (thrown: unknown) => unknown }

/** @throws VALIDATION_ERROR for an empty condition */
export function toFilter(where: object | null | undefined, filter: unknown, type: TypeView): Question {
  if (where == null) return { filter: filter as object | undefined, explained: (thrown) => thrown }
  const own = conditionsOf(where as Where, '/where', vocabularyOf(type, { left: MOST }))
  const all = filter == null ? own : [...own, { filter: filter as object, at: '/filter' }]
  const [only, ...others] = all
  const whole: Condition = only && others.length === 0 ? only : group('and', all, '/where')
  const places = new Map(placesOf(whole, '/filter'))
  return { filter: whole.filter, explained: (thrown) => explained(thrown, places) }
}

/** The engine has the exact limit. This one ends the work on a filter that is far beyond it. */
const MOST = 2 * LIMITS.filterConditions

const vocabularyOf = (type: TypeView, budget: Budget): Vocabulary => ({
  names: namesOf(type),
  links: type.links,
  budget,
})

/** @throws VALIDATION_ERROR */
function spend(budget: Budget, at: string): void {
  if (--budget.left >= 0) return
  throw invalid({
    path: at,
    code: 'too_many',
    message: `A filter can have at most ${LIMITS.filterConditions} conditions. Send fewer.`,
    expected: LIMITS.filterConditions,
  })
}

export const namesOf = ({ properties }: Pick<TypeView, 'properties'>): Names =>
  new Map(properties.map((property) => [property.field, property]))

export const namesWithin = (shape: Shape): Names => namesOf({ properties: propertiesOf(shape) })

function conditionsOf(where: Where, at: string, of: Vocabulary): Condition[] {
  const found = Object.entries(where).flatMap(([field, value]): Condition[] => {
    const here = `${at}/${field}`
    if (!isObject(value) && !Array.isArray(value)) throw nothing(here)
    if (field === '_and' || field === '_or') {
      const parts = (value as Where[]).map((each, n) => every(each, `${here}/${n}`, of))
      if (parts.length === 0) throw nothing(here)
      return [group(field === '_and' ? 'and' : 'or', parts, here)]
    }
    if (field === '_not') {
      const part = every(value as Where, here, of)
      return [{ filter: { not: part.filter }, at: here, parts: [part] }]
    }
    const link = of.links.get(field)
    if (link?.far) return onLinked(value as Where, here, link, link.far, of.budget)
    const column = COLUMNS.get(field)
    return column
      ? tests(value as Where, here, column, of.budget)
      : onProperty(value as Where, here, of.names.get(field), [], of.budget)
  })
  if (found.length === 0) throw nothing(at)
  return found
}

/** All conditions of an object as one. */
function every(where: Where, at: string, of: Vocabulary): Condition {
  const found = conditionsOf(where, at, of)
  const [only, ...others] = found
  return only && others.length === 0 ? only : group('and', found, at)
}

const group = (kind: 'and' | 'or', parts: readonly Condition[], at: string): Condition => ({
  filter: { [kind]: parts.map(({ filter }) => filter) },
  at,
  parts,
})

/** Conditions on linked records: those of the one record, or `some` and `none` of several. */
function onLinked(value: Where, at: string, link: LinkView, far: TypeView, budget: Budget): Condition[] {
  spend(budget, at)
  const of = vocabularyOf(far, budget)
  const { relType } = link
  const direction = link.incoming ? 'incoming' : 'outgoing'
  if (link.isOne) {
    const part = every(value, at, of)
    return [{ filter: { some: { rel_type: relType, direction, filter: part.filter } }, at, parts: [part] }]
  }
  const found = Object.entries(value).map(([quantifier, each]): Condition => {
    const here = `${at}/${quantifier}`
    if (!isObject(each)) throw nothing(here)
    // An empty object means any linked record.
    const part = Object.keys(each).length > 0 ? every(each, here, of) : null
    const group = { rel_type: relType, direction, ...(part && { filter: part.filter }) }
    return { filter: { [quantifier]: group }, at: here, ...(part && { parts: [part] }) }
  })
  if (found.length === 0) throw nothing(at)
  return found
}

/** Operators, or the properties of an object within the data. */
function onProperty(
  value: Where,
  at: string,
  property: Property | undefined,
  above: readonly string[],
  budget: Budget,
): Condition[] {
  if (!property) throw new Error(`No property at ${at}`)
  const path = [...above, property.name]
  if (!hasFilters(property.shape)) return tests(value, at, fieldName(path), budget)
  const names = namesWithin(property.shape)
  const found = Object.entries(value).flatMap(([field, each]) => {
    if (!isObject(each)) throw nothing(`${at}/${field}`)
    return onProperty(each, `${at}/${field}`, names.get(field), path, budget)
  })
  if (found.length === 0) throw nothing(at)
  return found
}

function tests(operators: Where, at: string, field: string, budget: Budget): Condition[] {
  const found = Object.entries(operators).map(([name, value]): Condition => {
    const here = `${at}/${name}`
    spend(budget, here)
    if (name === 'isNull') {
      if (value === null) throw nothing(here)
      return { filter: { field, op: value ? 'is_null' : 'is_not_null' }, at: here }
    }
    return { filter: { field, op: toSnake(name), value }, at: here }
  })
  if (found.length === 0) throw nothing(at)
  return found
}

/** The place of each condition in the filter, and in the arguments. */
function placesOf({ filter, at, parts }: Condition, pointer: string): [string, string][] {
  const [kind] = Object.keys(filter)
  const below = parts?.flatMap((part, n) =>
    placesOf(
      part,
      `${pointer}/${kind}${kind === 'not' ? '' : kind === 'and' || kind === 'or' ? `/${n}` : '/filter'}`,
    ),
  )
  return [[pointer, at], ...(below ?? [])]
}

/** The error with the path of the condition in `where`. Hints are in the language of `filter`. */
function explained(thrown: unknown, places: ReadonlyMap<string, string>): unknown {
  if (!(thrown instanceof DomainError)) return thrown
  const details = thrown.details.map(({ hint, ...detail }): Detail => {
    const pointers = [...places.keys()].filter(
      (each) => detail.path === each || detail.path.startsWith(`${each}/`),
    )
    const nearest = pointers.sort((a, b) => b.length - a.length)[0]
    const at = nearest === undefined ? undefined : places.get(nearest)
    if (nearest === undefined || at === undefined) return { ...detail, ...(hint !== undefined && { hint }) }
    if (at === '/filter')
      return { ...detail, path: at + detail.path.slice(nearest.length), ...(hint !== undefined && { hint }) }
    return { ...detail, message: inWhere(detail.message), path: at }
  })
  return restated(thrown, { message: inWhere(thrown.message), details })
}

/** A message with the operators as `where` writes them. */
const inWhere = (message: string): string =>
  OPERATOR_NAMES.reduce(
    (said, op) => said.replaceAll(JSON.stringify(op), JSON.stringify(toCamel(op))),
    message,
  )

const nothing = (path: string): DomainError =>
  invalid({
    path,
    code: 'required',
    message: 'A condition has a value, such as {eq: null} for no value. Send one, or leave the field out.',
  })

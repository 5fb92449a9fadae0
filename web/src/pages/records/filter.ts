/** What a list shows, in the address: conditions, order, columns. All of it can be tested without a browser. */
import type { Json, RecordType } from '../../api/shapes.ts'
import { type Field, fieldsOf, stateField } from '../../parts/record-types.ts'

/** A field, an operator of queries, and its value where it takes one. */
export type Condition = readonly [field: string, op: string, value?: Json]
export type View = { name: string; search: Record<string, string> }

const ALL = '[]'

export const printFilter = (conditions: readonly Condition[]): string => JSON.stringify(conditions)

/** The conditions of an address; undefined where it has none, or none that is sound. */
export function parseFilter(text: string | undefined): Condition[] | undefined {
  if (!text) return undefined
  try {
    const read: unknown = JSON.parse(text)
    return Array.isArray(read) && read.every(isCondition) ? read : undefined
  } catch {
    return undefined
  }
}

const isCondition = (value: unknown): value is Condition =>
  Array.isArray(value) && typeof value[0] === 'string' && typeof value[1] === 'string'

export function filterOf(conditions: readonly Condition[], search?: object): { and: object[] } | undefined {
  const all = conditions.map(([field, op, value]) => ({ field, op, ...(value !== undefined && { value }) }))
  return all.length === 0 && !search ? undefined : { and: [...all, ...(search ? [search] : [])] }
}

/** One value of a field is chosen, or left again. */
export function toggled(conditions: readonly Condition[], field: string, value: Json): Condition[] {
  const rest = conditions.filter((each) => !isChoice(each, field))
  const wanted: Condition = value === null ? [field, 'is_null'] : [field, 'eq', value]
  return isChosen(conditions, field, value) ? rest : [...rest, wanted]
}
export const isChosen = (conditions: readonly Condition[], field: string, value: Json): boolean =>
  conditions.some(
    (each) => isChoice(each, field) && (each[1] === 'is_null' ? value === null : each[2] === value),
  )

/** A condition that a facet makes. It does not narrow the counts of its own facet. */
export const isChoice = ([of, op]: Condition, field: string): boolean =>
  of === field && (op === 'eq' || op === 'is_null')

const FINAL =
  /^(solved|closed|done|won|lost|cancell?ed|rejected|declined|completed?|resolved|archived|finished|paid)$/i
const URGENT = /^(urgent|critical|highest|p0|blocker)$/i
const PERSON = /^(owner|assignee|assigned_to|responsible|reviewer|agent)$/i

/** The word for a value that is absent: a record without an owner has nobody. */
export const isPerson = ({ name }: Pick<Field, 'name'>): boolean => PERSON.test(name)

type Names = { open: string; nobody: string; all: string; deleted: string }

/** Views that the schema suggests: what is open, what nobody has, what is urgent. The first one is shown first. */
export function viewsOf(type: RecordType, names: Names): View[] {
  const fields = fieldsOf(type)
  const state = stateField(type)
  const closed = (state?.values ?? []).filter((value) => typeof value === 'string' && FINAL.test(value))
  const [only] = closed
  const open: Condition[] =
    state === undefined || only === undefined
      ? []
      : [closed.length === 1 ? [state.path, 'neq', only] : [state.path, 'not_in', closed]]
  const owner = fields.find(isPerson)
  const urgency = fields.flatMap(({ path, values = [] }) => {
    const value = values.find((each) => typeof each === 'string' && URGENT.test(each))
    return typeof value === 'string' ? [{ path, value }] : []
  })[0]
  const view = (name: string, conditions: Condition[]): View => ({
    name,
    search: { filter: printFilter(conditions) },
  })
  return [
    ...(open.length > 0 ? [view(names.open, open)] : []),
    { name: names.all, search: { filter: ALL } },
    ...(owner ? [view(names.nobody, [...open, [owner.path, 'is_null']])] : []),
    ...(urgency
      ? [
          view(
            urgency.value.replace(/^./u, (first) => first.toUpperCase()),
            [...open, [urgency.path, 'eq', urgency.value]],
          ),
        ]
      : []),
    { name: names.deleted, search: { view: 'deleted' } },
  ]
}

/** Operators that a field takes, the usual one first. */
export function opsOf({ schema, values, isNumber }: Field): string[] {
  const type = [schema.type ?? []].flat().find((each) => each !== 'null')
  const empty = ['is_null', 'is_not_null']
  if (values || type === 'boolean') return ['eq', 'neq', ...empty]
  if (isNumber || schema.format === 'date' || schema.format === 'date-time')
    return ['gte', 'lte', 'eq', ...empty]
  if (type === 'array') return ['has', ...empty]
  return ['ilike', 'eq', 'neq', 'starts_with', ...empty]
}
export const takesValue = (op: string): boolean => !op.endsWith('null')

/** `contains` is a pattern of queries. */
export const typedOf = (op: string, typed: Json): Json =>
  op === 'ilike' ? `%${String(typed).replace(/[\\%_]/g, '\\$&')}%` : typed
export const shownOf = (op: string, value: Json): Json =>
  op === 'ilike' && typeof value === 'string'
    ? value.replace(/^%|%$/g, '').replace(/\\([\\%_])/g, '$1')
    : value

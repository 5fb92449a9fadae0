import type { FUNCTIONS, INTERVALS } from '../../../contract/aggregate-functions.ts'
import { Aggregations, GroupBy } from '../../../contract/aggregate-shapes.ts'
import { COLUMN_TYPES } from '../../../contract/record-columns.ts'
import { nearest } from '../../../contract/suggest.ts'
import { check, inBody } from '../../../contract/validate.ts'
import { invalid } from '../../../foundation/errors.ts'
import { parseFilter } from '../../data/filter/parse.ts'
import type { Filter } from '../../data/filter/syntax-tree.ts'
import { readFilter } from '../../records/query/compile-query.ts'
import { readSort, type SortTerm } from '../../records/query/sort.ts'
import { type Field, parseField } from '../../schema/compiled-types/field-path.ts'

/** A field of a record, or the id of its base. */
export type AggregateField = Field | { kind: 'base' }
export type Aggregation = {
  fn: (typeof FUNCTIONS)[number]
  field: AggregateField | null
  name: string
  /** JSON Pointers of the item and of its field in the request. */
  at: string
  fieldAt: string
}
export type Interval = (typeof INTERVALS)[number]
export type GroupKey = {
  field: AggregateField
  interval: Interval | null
  name: string
  at: string
  fieldAt: string
}

/** The column of the moments of an aggregate over time. */
export const AT = 'at'

/** Arguments of an aggregate, as unvalidated JSON. */
export type AggregateArgs = {
  filter?: unknown
  aggregations?: unknown
  groupBy?: unknown
  having?: unknown
  sort?: unknown
}
export type AggregateQuery = {
  filter: Filter | null
  aggregations: readonly Aggregation[]
  groups: readonly GroupKey[]
  having: Filter | null
  /** Empty for the order of the group keys. */
  sort: readonly SortTerm[]
}

/**
 * Parses an aggregate request; `base_id` is a field in a cross-base request, and `at` a column over time.
 * @throws VALIDATION_ERROR
 */
export function readAggregate(
  args: AggregateArgs,
  { acrossBases = false, overTime = false, isPast = false } = {},
): AggregateQuery {
  const read = (name: string, at: string): AggregateField => {
    if (acrossBases && name === 'base_id') return { kind: 'base' }
    return checkOneValue(parseField(name, at), at)
  }
  const aggregations = readAggregations(args.aggregations, read)
  const groups = readGroups(args.groupBy ?? [], read)
  const moments = overTime ? [{ name: AT, at: '/over' }] : []
  const names = checkDistinct([...moments, ...groups, ...aggregations])
  const readName = nameReader(names)
  const isGiven = (value: unknown) => value !== undefined && value !== null
  return {
    filter: isGiven(args.filter) ? readFilter(args.filter, isPast) : null,
    aggregations,
    groups,
    having: isGiven(args.having)
      ? parseFilter(args.having, '/having', { read: readName, types: COLUMN_TYPES })
      : null,
    sort: isGiven(args.sort) ? readSort(args.sort, '/sort', readName) : [],
  }
}

type ReadField = (name: string, at: string) => AggregateField

function readAggregations(raw: unknown, read: ReadField): Aggregation[] {
  return check(Aggregations, raw ?? [], inBody('/aggregations')).map(({ fn, field, alias }, n) => {
    const at = `/aggregations/${n}`
    if (field === undefined && fn !== 'count')
      throw invalid({
        path: `${at}/field`,
        code: 'required',
        message: `"${fn}" needs a field, such as "data.amount".`,
      })
    const of = field === undefined ? null : read(field, `${at}/field`)
    return { fn, field: of, name: alias ?? nameOf(fn, of), at, fieldAt: `${at}/field` }
  })
}

function readGroups(raw: unknown, read: ReadField): GroupKey[] {
  return check(GroupBy, raw, inBody('/group_by')).map((term, n) => {
    const at = `/group_by/${n}`
    if (typeof term === 'string')
      return { field: read(term, at), interval: null, name: term, at, fieldAt: at }
    const { field, interval = null, alias = field } = term
    const of = read(field, `${at}/field`)
    if (interval !== null) checkTimes(of, `${at}/interval`)
    return { field: of, interval, name: alias, at, fieldAt: `${at}/field` }
  })
}

function checkOneValue(field: Field, at: string): Field {
  if (field.kind === 'column' || !field.path.includes(null)) return field
  throw invalid({
    path: at,
    code: 'many_values',
    message:
      '"[]" means any element, so there is no one value to aggregate. Name a position, such as [0]; to aggregate every element, use SQL with jsonb_array_elements.',
  })
}

function checkTimes(field: AggregateField, at: string): void {
  if (field.kind === 'data') return
  if (field.kind === 'column' && (field.column === 'created_at' || field.column === 'updated_at')) return
  throw invalid({
    path: at,
    code: 'invalid_field',
    message: 'interval works on time fields only. Leave it out, or group by a field that holds times.',
    allowed: ['created_at', 'updated_at', 'data.<name>'],
  })
}

/**
 * The output column names.
 * @throws VALIDATION_ERROR for a duplicate
 */
function checkDistinct(columns: readonly { name: string; at: string }[]): string[] {
  const names = new Set<string>()
  for (const { name, at } of columns) {
    if (names.has(name))
      throw invalid({
        path: at,
        code: 'duplicate',
        message: `Two columns of the result would have the name "${name.slice(0, 64)}". Give one of them an "alias".`,
      })
    names.add(name)
  }
  return [...names]
}

/** The default name of an aggregation: `count`, or the function and the last segment of its field. */
function nameOf(fn: Aggregation['fn'], field: AggregateField | null): string {
  if (field === null) return fn
  if (field.kind === 'base') return `${fn}_base_id`
  if (field.kind === 'column') return `${fn}_${field.column}`
  return `${fn}_${field.path.at(-1) ?? 'data'}`
}

/** Resolves fields of `having` and `sort` to output columns by name. */
function nameReader(names: readonly string[]) {
  const known = new Set(names)
  /**
   * Resolves to a property of the output row.
   * @throws VALIDATION_ERROR for an unknown column
   */
  return (name: unknown, at: string): Field => {
    if (typeof name === 'string' && known.has(name)) return { kind: 'data', path: [name] }
    const shown = String(name).slice(0, 64)
    const close = typeof name === 'string' ? nearest(name, names) : undefined
    throw invalid({
      path: at,
      code: 'unknown_field',
      message: `The result has no column "${shown}". Name a group key or an alias.`,
      received: shown,
      allowed: names,
      ...(close && { hint: close }),
    })
  }
}

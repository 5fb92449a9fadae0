/** Reference implementation of filter, sort and fields: slow, simple and independent of the server. */
import { isDeepStrictEqual } from 'node:util'
import { instant } from './instants.ts'
import { isObject, type Json, type JsonObject, type Path, pathOf, walk } from './paths.ts'

export type Row = JsonObject & { id: string; data: JsonObject }
/** The properties of a record type that affect comparison: timezone, and which fields are timestamps. */
export type Rules = { timezone: string; json_schema: JsonObject }

export type Condition = { field: string; op: string; value?: Json }
export type Filter = Condition | { and: Filter[] } | { or: Filter[] } | { not: Filter }
export type Sort = { field: string; direction: 'asc' | 'desc' }[]

/** Returns the values of a field, and the timezone for its strings if it is a timestamp field. */
export type Read = (field: string) => { values: Json[]; zone: string | null }

function isTime([head, ...path]: Path, { json_schema }: Rules): boolean {
  if (head !== 'data') return head === 'created_at' || head === 'updated_at'
  const [place] = walk(
    json_schema,
    path.flatMap((step) => (typeof step === 'string' ? ['properties', step] : ['items'])),
  )
  return isObject(place) && (place['format'] === 'date-time' || place['format'] === 'date')
}

/** Creates a field reader for a record. */
export const reader =
  (row: Row, rules: Rules): Read =>
  (field) => {
    const path = pathOf(field)
    return { values: walk(row, path), zone: isTime(path, rules) ? rules.timezone : null }
  }

/**
 * Kinds of values in ascending order. `word` is an invalid timestamp in a timestamp field; it sorts after
 * valid ones.
 */
const ASCENDING = ['instant', 'word', 'string', 'number', 'boolean', 'array', 'object'] as const
export type Term = { kind: (typeof ASCENDING)[number]; value: Json | bigint }

/** The comparison key of a value; null if missing. */
export function term(value: Json | undefined, zone: string | null): Term | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'string' && zone !== null) {
    const at = instant(value, zone)
    return at === null ? { kind: 'word', value } : { kind: 'instant', value: at }
  }
  const kind = Array.isArray(value) ? 'array' : (typeof value as 'string' | 'number' | 'boolean' | 'object')
  return { kind, value }
}

/** The order of sort, min and max: negative, 0 or positive. All arrays are equal, and so are all objects. */
export function order(a: Term, b: Term): number {
  if (a.kind !== b.kind) return ASCENDING.indexOf(a.kind) - ASCENDING.indexOf(b.kind)
  if (a.kind === 'array' || a.kind === 'object') return 0
  // Sort by code point, as UTF-8 does. JavaScript's `<` compares UTF-16 code units.
  if (a.kind === 'string' || a.kind === 'word')
    return Buffer.compare(Buffer.from(String(a.value)), Buffer.from(String(b.value)))
  const [x, y] = [a.value as number | bigint, b.value as number | bigint]
  return x < y ? -1 : x > y ? 1 : 0
}

/** Null and missing values sort last in both directions. */
export function compare(a: Term | null, b: Term | null, direction: 'asc' | 'desc'): number {
  if (!a || !b) return Number(!a) - Number(!b)
  return direction === 'desc' ? -order(a, b) : order(a, b)
}

const equal = (a: Term, b: Term) =>
  a.kind === b.kind && a.kind !== 'word' && order(a, b) === 0 && isDeepStrictEqual(a.value, b.value)

/** Converts a LIKE pattern: % and _ are wildcards, \ escapes. `flags` may ignore case. */
function like(pattern: string, flags: string): RegExp {
  const source = pattern.replace(/\\(.)|[\s\S]/gsu, (all, escaped: string | undefined) => {
    if (escaped === undefined && all === '%') return '.*'
    if (escaped === undefined && all === '_') return '.'
    return (escaped ?? all).replace(/[.*+?^${}()|[\]\\/]/, '\\$&')
  })
  return new RegExp(`^${source}$`, flags)
}

/** Evaluates a filter in two-valued logic, whatever is missing. */
export function matches(filter: Filter, read: Read): boolean {
  if ('and' in filter) return filter.and.every((each) => matches(each, read))
  if ('or' in filter) return filter.or.some((each) => matches(each, read))
  if ('not' in filter) return !matches(filter.not, read)
  return holds(filter, read)
}

function holds({ field, op, value = null }: Condition, read: Read): boolean {
  const { values, zone } = read(field)
  const found = values.flatMap((each) => term(each, zone) ?? [])
  const wanted = term(value, zone)
  const list = Array.isArray(value) ? value : []
  const text = String(value)
  const again = (other: string, wants: Json = value) => holds({ field, op: other, value: wants }, read)
  const compares = (test: (sign: number) => boolean) =>
    wanted !== null &&
    wanted.kind !== 'word' &&
    found.some((each) => each.kind === wanted.kind && test(order(each, wanted)))
  const onText = (test: (text: string) => boolean) =>
    values.some((each) => typeof each === 'string' && test(each))
  const onList = (test: (has: (wants: Json) => boolean) => boolean) =>
    values.some(
      (each) => Array.isArray(each) && test((wants) => each.some((item) => isDeepStrictEqual(item, wants))),
    )
  switch (op) {
    case 'eq':
      return wanted ? found.some((each) => equal(each, wanted)) : again('is_null')
    case 'neq':
      return !again('eq')
    case 'gt':
      return compares((sign) => sign > 0)
    case 'gte':
      return compares((sign) => sign >= 0)
    case 'lt':
      return compares((sign) => sign < 0)
    case 'lte':
      return compares((sign) => sign <= 0)
    case 'in':
      return list.some((each) => again('eq', each))
    case 'not_in':
      return !again('in')
    case 'like':
      return onText((each) => like(text, 'su').test(each))
    case 'ilike':
      return onText((each) => like(text, 'siu').test(each))
    case 'starts_with':
      return onText((each) => each.startsWith(text))
    case 'is_not_null':
      return found.length > 0
    case 'is_null':
      return found.length === 0
    case 'has':
      return onList((has) => has(value))
    case 'has_any':
      return onList((has) => list.some(has))
    case 'has_all':
      return onList((has) => list.every(has))
    default:
      throw new Error(`The reference knows no operator ${op}.`)
  }
}

/** The matching records, sorted; ties by id in the direction of the last term. */
export function select(rows: readonly Row[], rules: Rules, filter: Filter | null, sort: Sort): Row[] {
  const terms = [...sort, { field: 'id', direction: sort.at(-1)?.direction ?? 'asc' }]
  return rows
    .map((row) => ({ row, read: reader(row, rules) }))
    .filter(({ read }) => filter === null || matches(filter, read))
    .map(({ row, read }) => ({ row, keys: terms.map(({ field }) => keyOf(read, field)) }))
    .sort((a, b) =>
      firstDifference(terms, (at, direction) => compare(a.keys[at] ?? null, b.keys[at] ?? null, direction)),
    )
    .map(({ row }) => row)
}

/** The sort and group key of a field. */
export function keyOf(read: Read, field: string): Term | null {
  const { values, zone } = read(field)
  return term(values[0], zone)
}

/** The sign of the first term that distinguishes two items. */
export function firstDifference(sort: Sort, sign: (at: number, direction: 'asc' | 'desc') => number): number {
  for (const [at, { direction }] of sort.entries()) {
    const found = sign(at, direction)
    if (found !== 0) return found
  }
  return 0
}

/** Projects a record to some fields and keeps their nesting. Missing fields are absent. */
export function project(row: Row, fields: readonly string[]): JsonObject {
  const cut: JsonObject = {}
  for (const field of fields) {
    const path = pathOf(field).map(String)
    const [value] = walk(row, path)
    if (value === undefined) continue
    const last = path.pop() ?? ''
    const holder = path.reduce<JsonObject>((at, name) => {
      if (!Object.hasOwn(at, name)) at[name] = {}
      return at[name] as JsonObject
    }, cut)
    holder[last] = structuredClone(value)
  }
  return cut
}

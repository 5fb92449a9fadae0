/** Reference implementation of aggregations. */
import { type Decimal, decimal, difference, over, plus, printed } from './decimals.ts'
import { type Interval, spelt, startOf } from './instants.ts'
import { isObject, type Json, type JsonObject, pathOf } from './paths.ts'
import {
  compare,
  type Filter,
  firstDifference,
  keyOf,
  matches,
  order,
  type Read,
  type Row,
  type Rules,
  reader,
  type Sort,
  type Term,
  term,
} from './reference.ts'

export type Aggregation = {
  fn: 'count' | 'sum' | 'avg' | 'min' | 'max' | 'count_distinct'
  field?: string
  alias?: string
}
export type GroupKey = { field: string; interval?: Interval; alias?: string }
export type AggregateQuery = {
  filter?: Filter
  aggregations: Aggregation[]
  group_by?: (string | GroupKey)[]
  having?: Filter
  sort?: Sort
}

/** The result name of an aggregation. */
export const nameOf = ({ fn, field, alias }: Aggregation): string =>
  alias ?? (field === undefined ? fn : `${fn}_${pathOf(field).at(-1)}`)

export const keysOf = ({ group_by = [] }: AggregateQuery): GroupKey[] =>
  group_by.map((key) => (typeof key === 'string' ? { field: key } : key))

const keyName = ({ field, alias }: GroupKey) => alias ?? field

/** A key that is equal for deeply equal values and for equal instants. */
function identity(found: Term | null): string {
  if (!found) return 'null'
  return `${found.kind} ${typeof found.value === 'bigint' ? found.value : JSON.stringify(sorted(found.value))}`
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, part]) => [name, sorted(part)]))
}

/** Computes the sorted result rows. The order of ties is undefined. */
export function aggregate(rows: readonly Row[], rules: Rules, query: AggregateQuery): JsonObject[] {
  const keys = keysOf(query)
  const { filter, having } = query
  const reads = rows.map((row) => reader(row, rules)).filter((read) => !filter || matches(filter, read))
  const shown = (read: Read, key: GroupKey) => groupValue(read, key, rules.timezone)
  const groups = Map.groupBy(reads, (read) =>
    keys.map((key) => identity(term(shown(read, key), read(key.field).zone))).join('\n'),
  )
  if (keys.length === 0 && groups.size === 0) groups.set('', [])
  const readRow = aggregateReader(query, rules)
  return [...groups.values()]
    .map((members) => ({
      ...Object.fromEntries(keys.map((key) => [keyName(key), shown(members[0] as Read, key)])),
      ...Object.fromEntries(query.aggregations.map((each) => [nameOf(each), compute(each, members)])),
    }))
    .filter((row) => !having || matches(having, readRow(row)))
    .sort(rowOrder(query, rules))
}

/** Compares two result rows by the requested sort, or by the group keys. */
export function rowOrder(query: AggregateQuery, rules: Rules): (a: JsonObject, b: JsonObject) => number {
  const read = aggregateReader(query, rules)
  const { sort = keysOf(query).map((key): Sort[number] => ({ field: keyName(key), direction: 'asc' })) } =
    query
  const sums = new Set(query.aggregations.filter(({ fn }) => fn === 'sum').map(nameOf))
  return (a, b) =>
    firstDifference(sort, (at, direction) => {
      const { field = '' } = sort[at] ?? {}
      const [x, y] = [a[field] as number | string | null, b[field] as number | string | null]
      // Compare sums exactly: different sums may be equal as doubles.
      if (sums.has(field) && x !== null && y !== null)
        return difference(decimal(x), decimal(y)) * (direction === 'desc' ? -1 : 1)
      return compare(keyOf(read(a), field), keyOf(read(b), field), direction)
    })
}

/**
 * The value of a group key; null if missing. Intervals become their start, timestamps their canonical form.
 */
function groupValue(read: Read, { field, interval }: GroupKey, zone: string): Json {
  const value = read(field).values[0] ?? null
  const found = term(value, interval ? zone : read(field).zone)
  if (found?.kind !== 'instant') return interval ? null : value
  const at = found.value as bigint
  return interval ? startOf(interval, at, zone) : spelt(at)
}

/** Reads a result row by name. Timestamps compare by instant. */
export function aggregateReader(query: AggregateQuery, rules: Rules) {
  const ofRecord = reader({ id: '', data: {} }, rules)
  const zones = new Map<string, string | null>()
  for (const key of keysOf(query))
    zones.set(keyName(key), key.interval ? rules.timezone : ofRecord(key.field).zone)
  for (const each of query.aggregations)
    zones.set(nameOf(each), /^m/.test(each.fn) && each.field ? ofRecord(each.field).zone : null)
  const sums = new Set(query.aggregations.filter(({ fn }) => /^(sum|avg)$/.test(fn)).map(nameOf))
  return (row: JsonObject): Read =>
    (name) => {
      const value = row[name] ?? null
      // A sum outside the range of doubles is a string, but compares as a number.
      const values = [sums.has(name) && typeof value === 'string' ? Number(value) : value]
      return { values, zone: zones.get(name) ?? null }
    }
}

function compute({ fn, field }: Aggregation, members: Read[]): Json {
  if (field === undefined) return members.length
  const terms = members.flatMap((read) => keyOf(read, field) ?? [])
  switch (fn) {
    case 'count':
      return terms.length
    case 'count_distinct':
      return new Set(terms.map(identity)).size
    case 'min':
    case 'max': {
      const sign = fn === 'min' ? 1 : -1
      const values = members.flatMap((read) => read(field).values.slice(0, 1))
      const zone = members[0]?.(field).zone ?? null
      return values.reduce((best, value) => {
        const [a, b] = [term(best, zone), term(value, zone)]
        return !a || (b && sign * order(b, a) < 0) ? value : best
      }, null)
    }
    case 'sum':
    case 'avg': {
      const numbers = terms.flatMap(({ value }) => (typeof value === 'number' ? [decimal(value)] : []))
      if (numbers.length === 0) return null
      const sum = numbers.reduce(plus, { units: 0n, scale: 0 } satisfies Decimal)
      return fn === 'sum' ? printed(sum) : over(sum, numbers.length)
    }
  }
}

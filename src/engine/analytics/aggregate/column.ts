import { survivesDouble } from '../../../json/decimal.ts'
import { type FieldContext, type Operand, zoneOf } from '../../data/filter/operand.ts'
import { written } from '../../data/ledger/record.ts'
import type { AggregateField, Aggregation, GroupKey } from './input.ts'
import type { Facet, Source } from './source.ts'

/** An output column: `sql` computes it from the source `s`; in the grouped rows it is `g.<column>`. */
export type Cell = {
  name: string
  column: string
  sql: string
  /** The columns of the source by which a group key groups, if not by `sql`. */
  groupedBy?: string
  /** Of a sum: sums of parts of the rows, and how the columns that have them make it. */
  parts?: Parts
  kind: 'number' | 'instant' | 'text' | 'json'
  /** Timezone for times without an offset; null for `json` without time strings. */
  zone: string | null
  show: Show
}

type Parts = { readonly sql: readonly string[]; readonly joined: (columns: readonly string[]) => string }

/** The record types and row source that fields are resolved against. */
export type Meaning = { types: readonly FieldContext[]; source: Source }

/** The value kind of a field outside `data`. */
function kindOf(field: Exclude<AggregateField, { kind: 'data' }>): 'number' | 'instant' | 'text' {
  if (field.kind === 'base') return 'text'
  if (field.column === 'version') return 'number'
  return field.column === 'created_at' || field.column === 'updated_at' ? 'instant' : 'text'
}

/** The filter operand of the column, for HAVING. Numbers compare exactly, as JSON numbers do. */
export function operandOf({ kind, column, zone }: Cell): Operand {
  const sql = `g.${column}`
  if (kind === 'number') return { kind: 'json', sql: `to_jsonb(${sql})`, zone: null }
  if (kind === 'instant') return { kind, sql, zone: zone ?? 'UTC' }
  return kind === 'json' ? { kind, sql, zone } : { kind, sql }
}

/** Serializes a database value as JSON; null stays null. */
type Show = (value: unknown) => unknown

const asItIs: Show = (value) => value

export const asTime: Show = (value) => (value === null ? null : written(value as Date | string))

/** A JSON number, or a string of digits if a double would change the value. */
const asNumber: Show = (value) => {
  if (value === null) return null
  const digits = String(value)
  if (survivesDouble(digits)) return Number(digits)
  return digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits
}

/** An average as the nearest double, since it rarely is a short decimal. */
const asMean: Show = (value) => (value === null ? null : Number(value))

/** Builds the column of a group key, and adds the source columns it needs. */
export function groupCell({ field, interval, name, fieldAt }: GroupKey, n: number, meaning: Meaning): Cell {
  const { source, types } = meaning
  const timezone = types[0]?.timezone ?? 'UTC'
  const named = { name, column: `k${n}` }
  if (interval !== null)
    return {
      ...named,
      sql: source.column(field, interval, fieldAt),
      kind: 'instant',
      zone: timezone,
      show: asTime,
    }
  const zone =
    field.kind === 'data'
      ? (types.map((type) => zoneOf(field.path, type)).find((each) => each !== null) ?? null)
      : null
  if (zone === null && source.scalarOf(field) === 'string') {
    // Texts are hashed and compared in less than half of the time that jsonb takes.
    const [text, rest] = [source.column(field, 'text', fieldAt), source.column(field, 'rest', fieldAt)]
    const sql = `coalesce(to_jsonb(${text}), ${rest})`
    return { ...named, sql, groupedBy: `${text}, ${rest}`, kind: 'json', zone, show: asItIs }
  }
  const value = source.column(field, 'value', fieldAt)
  if (field.kind !== 'data') {
    const kind = kindOf(field)
    return { ...named, sql: value, kind, zone: timezone, show: kind === 'instant' ? asTime : asItIs }
  }
  const sql = zone === null ? value : oneSpelling(source.column(field, 'instant', fieldAt), value)
  return { ...named, sql, kind: 'json', zone, show: asItIs }
}

/** Groups equal instants under one canonical time string. Instants before year 1 have none. */
const oneSpelling = (instant: string, value: string): string =>
  `CASE WHEN ${instant} >= '0001-01-01 00:00:00+00' THEN to_jsonb(regexp_replace(
    to_char(${instant} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), '000$', '') || 'Z') ELSE ${value} END`

type Made = Pick<Cell, 'sql' | 'kind' | 'zone' | 'show' | 'parts'>
type Column = (facet: Facet) => string

/** Builds the column of an aggregation, and adds the source columns it needs. */
export function aggregationCell(
  { fn, field, name, fieldAt }: Aggregation,
  n: number,
  meaning: Meaning,
): Cell {
  const made =
    field === null
      ? counted('count(*)')
      : computed(fn, field, meaning, (facet) => meaning.source.column(field, facet, fieldAt))
  return { name, column: `a${n}`, ...made }
}

const number = (sql: string, show: Show = asNumber): Made => ({ sql, kind: 'number', zone: null, show })

const counted = (sql: string): Made => ({
  ...number(sql),
  parts: { sql: [sql], joined: ([count]) => `coalesce(sum(${count}), 0)` },
})

function computed(fn: Aggregation['fn'], field: AggregateField, { types }: Meaning, column: Column): Made {
  const zones = field.kind === 'data' ? types.map((type) => zoneOf(field.path, type)) : []
  const zone = zones.find((each) => each !== null) ?? null
  switch (fn) {
    case 'count':
      return counted(`count(${column('value')})`)
    case 'sum': {
      const sql = `sum(${numbers(field, column)})`
      return { ...number(sql), parts: { sql: [sql], joined: ([sum]) => `sum(${sum})` } }
    }
    case 'avg': {
      const of = numbers(field, column)
      const sql = [`sum(${of})`, `count(${of})`]
      const joined: Parts['joined'] = ([sum, count]) => `sum(${sum}) / nullif(sum(${count}), 0)`
      return { ...number(`avg(${of})`, asMean), parts: { sql, joined } }
    }
    case 'count_distinct':
      return number(
        field.kind === 'data' ? distinct(column, zone !== null) : `count(DISTINCT ${column('value')})`,
      )
    case 'min':
    case 'max': {
      if (field.kind === 'data')
        return { sql: extreme(fn, column, zone !== null), kind: 'json', zone, show: asItIs }
      const kind = kindOf(field)
      const show = kind === 'instant' ? asTime : asItIs
      return { sql: `${fn}(${column('value')})`, kind, zone: types[0]?.timezone ?? 'UTC', show }
    }
  }
}

function numbers(field: AggregateField, column: Column): string {
  if (field.kind === 'data') return column('number')
  return kindOf(field) === 'number' ? column('value') : 'NULL::numeric'
}

/** COUNT(DISTINCT) by deep equality, per JSON type: numbers and texts compare faster than jsonb. */
function distinct(column: Column, hasTimes: boolean): string {
  const [value, type] = [column('value'), column('type')]
  const instant = hasTimes ? column('instant') : null
  const counts = [
    `count(DISTINCT ${column('text')})${instant === null ? '' : ` FILTER (WHERE ${instant} IS NULL)`}`,
    `count(DISTINCT ${column('number')})`,
    `count(DISTINCT ${value}) FILTER (WHERE ${type} NOT IN ('string', 'number'))`,
    ...(instant === null ? [] : [`count(DISTINCT ${instant})`]),
  ]
  return counts.join(' + ')
}

/** Length of the sort key of an instant. */
const TIME_KEY_CHARS = 18

/** Minimum or maximum in sort order, per JSON type: the first type with a value wins. */
function extreme(fn: 'min' | 'max', column: Column, hasTimes: boolean): string {
  const [value, type, text] = [column('value'), column('type'), column('text')]
  const of = (sql: string, filter?: string) => `${fn}(${sql})${filter ? ` FILTER (WHERE ${filter})` : ''}`
  const truth = `${fn === 'min' ? 'bool_and' : 'bool_or'}(${value} = 'true') FILTER (WHERE ${type} = 'boolean')`
  const ascending = [
    `to_jsonb(${of(text, hasTimes ? `${column('instant')} IS NULL` : undefined)})`,
    `to_jsonb(${of(column('number'))})`,
    `to_jsonb(${truth})`,
    // Arrays tie, and so do objects; their text makes the result deterministic.
    `(${of(`${value}::text COLLATE "C"`, `${type} IN ('array', 'object')`)})::jsonb`,
  ]
  if (hasTimes) {
    // Times sort before other strings, and are returned as written.
    const keyed = of(`(plinth.time_key(${column('instant')}) || ${text}) COLLATE "C"`)
    ascending.unshift(`to_jsonb(substr(${keyed}, ${TIME_KEY_CHARS + 1}))`)
  }
  return `coalesce(${(fn === 'min' ? ascending : ascending.reverse()).join(', ')})`
}

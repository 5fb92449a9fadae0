import { survivesDouble } from '../../../json/decimal.ts'
import { type FieldContext, type Operand, zoneOf } from '../../filter/operand.ts'
import { written } from '../../record-store/record.ts'
import type { AggregateField, Aggregation, GroupKey } from './query.ts'
import type { Facet, Source } from './source.ts'

/** A column of the answer: `sql` makes it of the source `s`; among the groups it is `g.<column>`. */
export type Cell = {
  name: string
  column: string
  sql: string
  kind: 'number' | 'instant' | 'text' | 'json'
  /** The zone in which times without an offset are read; for `json` null unless its strings may be times. */
  zone: string | null
  show: Show
}

/** What fields mean where records of several types meet. */
export type Meaning = { types: readonly FieldContext[]; source: Source }

/** What a field beside `data` holds. */
function kindOf(field: Exclude<AggregateField, { kind: 'data' }>): 'number' | 'instant' | 'text' {
  if (field.kind === 'base') return 'text'
  if (field.column === 'version') return 'number'
  return field.column === 'created_at' || field.column === 'updated_at' ? 'instant' : 'text'
}

/** What a condition on the column tests. Numbers compare as JSON does, exactly. */
export function operandOf({ kind, column, zone }: Cell): Operand {
  const sql = `g.${column}`
  if (kind === 'number') return { kind: 'json', sql: `to_jsonb(${sql})`, zone: null }
  if (kind === 'instant') return { kind, sql, zone: zone ?? 'UTC' }
  return kind === 'json' ? { kind, sql, zone } : { kind, sql }
}

/** How a value of the database is shown as JSON; null stays null. */
type Show = (value: unknown) => unknown

const asItIs: Show = (value) => value

const asTime: Show = (value) => (value === null ? null : written(value as Date | string))

/** A number, or the string of its digits where a double would be another number. */
const asNumber: Show = (value) => {
  if (value === null) return null
  const digits = String(value)
  if (survivesDouble(digits)) return Number(digits)
  return digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits
}

/** A mean is seldom a short decimal: the nearest double. */
const asMean: Show = (value) => (value === null ? null : Number(value))

/** The column of a group key; it says which columns the source has to have. */
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
  const value = source.column(field, 'value', fieldAt)
  if (field.kind !== 'data') {
    const kind = kindOf(field)
    return { ...named, sql: value, kind, zone: timezone, show: kind === 'instant' ? asTime : asItIs }
  }
  const zone = types.map((type) => zoneOf(field.path, type)).find((each) => each !== null) ?? null
  const sql = zone === null ? value : oneSpelling(source.column(field, 'instant', fieldAt), value)
  return { ...named, sql, kind: 'json', zone, show: asItIs }
}

/** Equal instants are one group, spelt as the API spells times. Those before year 1 have no such spelling. */
const oneSpelling = (instant: string, value: string): string =>
  `CASE WHEN ${instant} >= '0001-01-01 00:00:00+00' THEN to_jsonb(regexp_replace(
    to_char(${instant} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), '000$', '') || 'Z') ELSE ${value} END`

type Made = Pick<Cell, 'sql' | 'kind' | 'zone' | 'show'>
type Column = (facet: Facet) => string

/** The column of an aggregation; it says which columns the source has to have. */
export function aggregationCell(
  { fn, field, name, fieldAt }: Aggregation,
  n: number,
  meaning: Meaning,
): Cell {
  const made =
    field === null
      ? number('count(*)')
      : computed(fn, field, meaning, (facet) => meaning.source.column(field, facet, fieldAt))
  return { name, column: `a${n}`, ...made }
}

const number = (sql: string, show: Show = asNumber): Made => ({ sql, kind: 'number', zone: null, show })

function computed(fn: Aggregation['fn'], field: AggregateField, { types }: Meaning, column: Column): Made {
  const zones = field.kind === 'data' ? types.map((type) => zoneOf(field.path, type)) : []
  const zone = zones.find((each) => each !== null) ?? null
  switch (fn) {
    case 'count':
      return number(`count(${column('value')})`)
    case 'sum':
      return number(`sum(${numbers(field, column)})`)
    case 'avg':
      return number(`avg(${numbers(field, column)})`, asMean)
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

/** Distinct values by deep equality, type by type: numbers and texts compare faster than JSON. */
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

/** How long the key of an instant is. */
const TIME_KEY_CHARS = 18

/** The least or greatest value in the order of sorts, type by type: the first type that has any has it. */
function extreme(fn: 'min' | 'max', column: Column, hasTimes: boolean): string {
  const [value, type, text] = [column('value'), column('type'), column('text')]
  const of = (sql: string, filter?: string) => `${fn}(${sql})${filter ? ` FILTER (WHERE ${filter})` : ''}`
  const truth = `${fn === 'min' ? 'bool_and' : 'bool_or'}(${value} = 'true') FILTER (WHERE ${type} = 'boolean')`
  const ascending = [
    `to_jsonb(${of(text, hasTimes ? `${column('instant')} IS NULL` : undefined)})`,
    `to_jsonb(${of(column('number'))})`,
    `to_jsonb(${truth})`,
    // Lists tie, and so do objects; by their text the answer is the same each time.
    `(${of(`${value}::text COLLATE "C"`, `${type} IN ('array', 'object')`)})::jsonb`,
  ]
  if (hasTimes) {
    // Times come before other strings, and are shown as they are written.
    const keyed = of(`(plinth.time_key(${column('instant')}) || ${text}) COLLATE "C"`)
    ascending.unshift(`to_jsonb(substr(${keyed}, ${TIME_KEY_CHARS + 1}))`)
  }
  return `coalesce(${(fn === 'min' ? ascending : ascending.reverse()).join(', ')})`
}

import { zoneOf } from '../filter/operand.ts'
import { type Cell, kindOf, type Meaning } from './cell.ts'
import type { AggregateField, Aggregation } from './query.ts'
import { asItIs, asMean, asNumber, asTime, type Show } from './show.ts'
import type { Facet } from './source.ts'

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

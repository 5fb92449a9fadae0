import { zoneOf } from '../filter/operand.ts'
import { type Cell, kindOf, type Meaning } from './cell.ts'
import type { GroupKey } from './query.ts'
import { asItIs, asTime } from './show.ts'

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

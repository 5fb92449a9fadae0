/** Advice about fields of an aggregate that no record seems to have: they are no fault, and give null. */
import { INTERVALS } from '../../../contract/aggregate-functions.ts'
import { adviseName, adviseNames } from '../../data/filter/never-matches.ts'
import { type FieldContext, zoneOf } from '../../data/filter/operand.ts'
import { fieldName } from '../../schema/compiled-types/field-path.ts'
import type { AggregateQuery, Aggregation, GroupKey } from './input.ts'

type Row = Readonly<Record<string, unknown>>

/** Names the first field that gave null in every group; null if there is none, or nothing to say about it. */
export function adviseFields(
  { filter, groups, aggregations }: AggregateQuery,
  type: FieldContext,
  rows: readonly Row[],
): string | null {
  const [only, ...others] = rows
  const isEmpty = !only || (others.length === 0 && only['count'] === 0)
  if (isEmpty) return adviseNames(filter, type)
  for (const key of groups) {
    const advice = rows.every((row) => row[key.name] === null) ? adviseKey(key, type) : null
    if (advice) return advice
  }
  for (const each of aggregations) {
    const advice = rows.every((row) => (row[each.name] ?? 0) === 0) ? adviseArgument(each, type) : null
    if (advice) return advice
  }
  return null
}

function adviseKey({ field, interval, name }: GroupKey, type: FieldContext): string | null {
  if (field.kind !== 'data') return null
  const misspelt = adviseName(field.path, type)
  if (misspelt) return misspelt
  const shown = name.slice(0, 80)
  if (interval !== null)
    return zoneOf(field.path, type) === null
      ? `No value of ${shown} is a date or time, so all are in the group null. Group by a property with the format date or date-time, or by created_at.`
      : null
  const last = field.path.at(-1)
  const asked = INTERVALS.find((each) => each === last)
  if (asked === undefined || field.path.length < 2) return null
  const of = fieldName(field.path.slice(0, -1)).slice(0, 80)
  return `No record has ${shown}. To group by ${asked}, write ${JSON.stringify({ field: of, interval: asked })}.`
}

const adviseArgument = ({ field }: Aggregation, type: FieldContext): string | null =>
  field?.kind === 'data' ? adviseName(field.path, type) : null

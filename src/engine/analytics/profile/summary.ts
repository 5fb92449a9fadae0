import type { FieldPath } from '../../schema/compiled-types/field-path.ts'
import { PROFILE_LIMITS } from './profile-limits.ts'
import type { Place, Scalar } from './value-stats.ts'

/** Statistics of one field. */
export type FieldProfile = {
  /** Path in filter syntax. */
  field: string
  /** JSON types by frequency; `number` if there are non-integers, else `integer`. */
  types: string[]
  /** Share of records for which `is_null` holds; null without records. */
  nullShare: number | null
  /** Number of distinct values; times are compared as instants. */
  distinct: number
  /** Most frequent values with counts, without arrays, objects and long values. */
  top: { value: Scalar; count: number }[]
  /** Minimum and maximum in sort order; null without a value or for a long one. */
  min: Scalar | null
  max: Scalar | null
}
/** A sampled value; `instant` is its sort key if it is a time in a time field. */
export type Value = { value: Scalar; count: number; instant: string | null }
/** The profile of a field, with the inputs of example generation. */
export type Summary = {
  profile: FieldProfile
  path: FieldPath
  /** Every value except arrays and objects, ascending. */
  values: readonly Value[]
  isDeclared: boolean
}

/** Summarizes a field. `instants` maps its time strings to sort keys; null if it is not a time field. */
export function summarize(
  place: Place,
  records: number,
  instants: ReadonlyMap<string, string> | null,
): Summary {
  const { values, others } = valuesOf(place, instants)
  const top = values
    .filter(({ value }) => isShort(value))
    // The sort is stable: values of equal frequency stay ordered by value.
    .toSorted((a, b) => b.count - a.count)
    .slice(0, PROFILE_LIMITS.topValues)
    .map(({ value, count }) => ({ value, count }))
  const profile: FieldProfile = {
    field: place.field,
    types: typesOf(place),
    nullShare: records === 0 ? null : Math.round((1 - place.filled / records) * 10_000) / 10_000,
    distinct: values.length + others,
    top,
    min: shown(values[0]),
    max: shown(values.at(-1)),
  }
  return { profile, path: place.path, values, isDeclared: place.isDeclared }
}

function valuesOf(place: Place, instants: ReadonlyMap<string, string> | null) {
  const merged = new Map<string, Value>()
  let others = 0
  for (const [key, { value, count }] of place.values) {
    if (value === undefined) {
      others++
      continue
    }
    const instant = (typeof value === 'string' && instants?.get(value)) || null
    const known = merged.get(instant ?? key)
    if (known) known.count += count
    else merged.set(instant ?? key, { value, count, instant })
  }
  return { values: [...merged.values()].sort(compareValues), others }
}

/** Compares values; instants sort before all other strings. */
function compareValues(a: Value, b: Value): number {
  if (a.instant !== null && b.instant !== null) return compareText(a.instant, b.instant)
  if (a.instant !== null || b.instant !== null) return a.instant === null ? 1 : -1
  return compareScalars(a.value, b.value)
}

function typesOf({ types }: Place): string[] {
  const counts = new Map(types)
  const whole = counts.get('integer')
  if (whole !== undefined && counts.has('number')) {
    counts.set('number', whole + (counts.get('number') ?? 0))
    counts.delete('integer')
  }
  return [...counts].sort((a, b) => b[1] - a[1] || compareText(a[0], b[0])).map(([type]) => type)
}

/** Whether the value is short enough to list. */
export const isShort = (value: Scalar): boolean =>
  typeof value !== 'string' || JSON.stringify(value).length <= PROFILE_LIMITS.valueChars
const shown = (value: Value | undefined): Scalar | null =>
  value && isShort(value.value) ? value.value : null

const rankOf = (value: Scalar): number => (typeof value === 'string' ? 0 : typeof value === 'number' ? 1 : 2)

/** Ascending sort order: strings by code point, numbers, false, true. */
function compareScalars(a: Scalar, b: Scalar): number {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  return rankOf(a) - rankOf(b) || Number(a) - Number(b)
}

/** Compares by code point, which differs from UTF-16 order. */
function compareText(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length)
  for (let i = 0; i < shorter; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x !== y) return placeOf(x) - placeOf(y)
  }
  return a.length - b.length
}

/** Surrogate pairs encode characters above all other code units. */
const placeOf = (unit: number): number =>
  unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit

import type { FieldPath } from '../../compiled-types/field-path.ts'
import { BOUNDS } from './bounds.ts'
import type { Place, Scalar } from './value-stats.ts'

/** What the records of a type have at one place of their data. */
export type FieldProfile = {
  /** As filters write it. */
  field: string
  /** JSON types, the most frequent first: number where whole and other numbers meet, else integer. */
  types: string[]
  /** The share of records for which `is_null` holds; null when there are no records. */
  nullShare: number | null
  /** How many different values there are; times that are one instant are one. */
  distinct: number
  /** The most frequent values and how often they occur; without arrays, objects and what is long. */
  top: { value: Scalar; count: number }[]
  /** The first and the last in the order of a sort; null without any, and for one that is long. */
  min: Scalar | null
  max: Scalar | null
}
/** A value that occurs; `instant` orders it when it is a time in a field of times. */
export type Value = { value: Scalar; count: number; instant: string | null }
/** The profile of a field, with what examples are made from. */
export type Summary = {
  profile: FieldProfile
  path: FieldPath
  /** Every value but arrays and objects, ascending. */
  values: readonly Value[]
  isDeclared: boolean
}

/** `instants` are the keys of the field's texts that are times; null when it is no field of times. */
export function summarize(
  place: Place,
  records: number,
  instants: ReadonlyMap<string, string> | null,
): Summary {
  const { values, others } = valuesOf(place, instants)
  const top = values
    .filter(({ value }) => isShort(value))
    // Sorting keeps the order of equals: of values as frequent as each other the first by value comes first.
    .toSorted((a, b) => b.count - a.count)
    .slice(0, BOUNDS.topValues)
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

/** Instants come before all other strings. */
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

/** Is it one to show? */
export const isShort = (value: Scalar): boolean =>
  typeof value !== 'string' || JSON.stringify(value).length <= BOUNDS.valueChars
const shown = (value: Value | undefined): Scalar | null =>
  value && isShort(value.value) ? value.value : null

const rankOf = (value: Scalar): number => (typeof value === 'string' ? 0 : typeof value === 'number' ? 1 : 2)

/** The order of a sort, ascending: strings by code point, numbers, false, true. */
function compareScalars(a: Scalar, b: Scalar): number {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  return rankOf(a) - rankOf(b) || Number(a) - Number(b)
}

/** The order of code points, which is not quite that of UTF-16. */
function compareText(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length)
  for (let i = 0; i < shorter; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x !== y) return placeOf(x) - placeOf(y)
  }
  return a.length - b.length
}

/** Surrogates stand for what comes after all other characters. */
const placeOf = (unit: number): number =>
  unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit

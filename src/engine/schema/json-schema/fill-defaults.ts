/** Copies of values with absent properties filled in. */
import { isObject } from '../../../foundation/is-object.ts'
import { spend } from './evaluation-cost.ts'
import type { Pattern } from './pattern.ts'

/** Returns the value itself if nothing is absent, else a copy. Charges the budget. */
export type Fill = (data: unknown, filled: Filled) => unknown
/** What a fill has added, in characters of JSON, and the most that it may add. */
export type Filled = { chars: number; readonly most: number }

/** Thrown when a fill adds more than it may. */
export class TooMuch extends Error {}

/** A default together with the defaults of its own absent properties. */
export type Whole = { readonly value: unknown; readonly chars: number }

type ObjectParts = {
  /** The properties that have a default; null for one that cannot be used. */
  absent: readonly (readonly [name: string, whole: () => Whole | null])[]
  below: readonly (readonly [name: string, fill: Fill])[]
  others: ((data: Record<string, unknown>) => readonly (readonly [name: string, fill: Fill])[]) | undefined
}

export function fillObject({ absent, below, others }: ObjectParts): Fill | undefined {
  if (absent.length + below.length === 0 && !others) return undefined
  return (data, filled) => {
    if (!isObject(data)) return data
    spend(absent.length + below.length)
    let copy: Record<string, unknown> | undefined
    const set = (name: string, value: unknown) => {
      if (!copy) spend(Object.keys(data).length)
      copy ??= { ...data }
      copy[name] = value
    }
    for (const [name, wholeOf] of absent) {
      const whole = Object.hasOwn(data, name) ? null : wholeOf()
      if (!whole) continue
      filled.chars += name.length + 4 + whole.chars
      if (filled.chars > filled.most) throw new TooMuch()
      set(name, whole.value)
    }
    for (const [name, fill] of others ? [...below, ...others(data)] : below) {
      if (!Object.hasOwn(data, name)) continue
      const whole = fill(data[name], filled)
      if (whole !== data[name]) set(name, whole)
    }
    return copy ?? data
  }
}

/** The fills of the properties that `patternProperties` and `additionalProperties` describe. */
export function fillOthers(
  named: ReadonlySet<string>,
  rules: readonly (readonly [Pattern | undefined, Fill | undefined])[],
  rest: Fill | undefined,
): ObjectParts['others'] {
  if (!rest && !rules.some(([, fill]) => fill)) return undefined
  return (data) => {
    const names = Object.keys(data)
    spend(names.length * 2)
    return names.flatMap((name): [string, Fill][] => {
      const matching = rules.filter(([pattern]) => pattern?.test(name))
      const fills = matching.flatMap(([, fill]) => fill ?? [])
      if (fills.length > 0) return [[name, fillInOrder(fills)]]
      return rest && matching.length === 0 && !named.has(name) ? [[name, rest]] : []
    })
  }
}

export function fillArray(first: readonly (Fill | undefined)[], rest: Fill | undefined): Fill | undefined {
  if (!rest && !first.some(Boolean)) return undefined
  return (data, filled) => {
    if (!Array.isArray(data)) return data
    spend(data.length)
    let copy: unknown[] | undefined
    for (const [i, item] of data.entries()) {
      const fill = i < first.length ? first[i] : rest
      const whole = fill ? fill(item, filled) : item
      if (whole === item) continue
      copy ??= [...data]
      copy[i] = whole
    }
    return copy ?? data
  }
}

export const fillInOrder =
  (fills: readonly Fill[]): Fill =>
  (data, filled) => {
    spend(1 + fills.length)
    let whole = data
    for (const fill of fills) whole = fill(whole, filled)
    return whole
  }

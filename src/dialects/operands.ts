import { LIMITS } from '../foundation/limits.ts'
import { Unclear } from './filter-ast.ts'

/** A filter in Plinth's own syntax. */
export type FilterJson =
  | { field: string; op: string; value?: unknown }
  | { and: FilterJson[] }
  | { or: FilterJson[] }
  | { not: FilterJson }

/**
 * Translates an operator to a filter on a field, given its value.
 * @throws Unclear for an invalid value
 */
export type Meaning = (field: string, value: unknown) => FilterJson

/** Escapes a text for LIKE. */
export const escaped = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

/** Whether the pattern ends in an unpaired backslash. A manual loop, since /\\+$/ takes quadratic time. */
export function endsInEscape(text: string): boolean {
  let from = text.length
  while (text.charAt(from - 1) === '\\') from--
  return (text.length - from) % 2 === 1
}

const isScalar = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)

/** `eq` or `neq`; null tests for a null value. */
export const equality =
  (op: 'eq' | 'neq', ofNull: 'is_null' | 'is_not_null'): Meaning =>
  (field, value) => {
    if (value === undefined) throw new Unclear()
    return value === null ? { field, op: ofNull } : { field, op, value }
  }

export const ordering =
  (op: 'gt' | 'gte' | 'lt' | 'lte'): Meaning =>
  (field, value) => {
    if (typeof value !== 'string' && !Number.isFinite(value)) throw new Unclear()
    return { field, op, value }
  }

/**
 * Normalizes a value to a list.
 * @throws Unclear
 */
function listOf(value: unknown): unknown[] {
  // "a,b" may be one text or a list.
  const single = isScalar(value) && !(typeof value === 'string' && value.includes(','))
  const list = single ? [value] : value
  if (!Array.isArray(list) || list.length > LIMITS.filterValues) throw new Unclear()
  return list
}

/** `in`; a null in the list becomes a separate null test, since `in` never matches null. */
export const among: Meaning = (field, value) => {
  const list = listOf(value)
  const rest: FilterJson = { field, op: 'in', value: list.filter((each) => each !== null) }
  return list.includes(null) ? { or: [rest, { field, op: 'is_null' }] } : rest
}

export const notAmong: Meaning = (field, value) => {
  const list = listOf(value)
  const rest: FilterJson = { field, op: 'not_in', value: list.filter((each) => each !== null) }
  return list.includes(null) ? { and: [rest, { field, op: 'is_not_null' }] } : rest
}

/** `like` or `ilike` with a pattern derived from the text. */
export const pattern =
  (op: 'like' | 'ilike', make: (text: string) => string): Meaning =>
  (field, value) => {
    if (typeof value !== 'string' || value === '') throw new Unclear()
    const made = make(value)
    if (endsInEscape(made)) throw new Unclear()
    return { field, op, value: made }
  }

export const text =
  (op: 'starts_with' | 'search'): Meaning =>
  (field, value) => {
    if (typeof value !== 'string' || value === '') throw new Unclear()
    return { field, op, value }
  }

export const member: Meaning = (field, value) => {
  if (!isScalar(value)) throw new Unclear()
  return { field, op: 'has', value }
}

export const members =
  (op: 'has_any' | 'has_all'): Meaning =>
  (field, value) => {
    const list = listOf(value)
    if (list.length === 0) throw new Unclear()
    return { field, op, value: list }
  }

/** `is_null` or `is_not_null`; the value false negates it. */
export const nullity =
  (op: 'is_null' | 'is_not_null', other: 'is_null' | 'is_not_null'): Meaning =>
  (field, value) => {
    if (value !== undefined && value !== null && typeof value !== 'boolean') throw new Unclear()
    return { field, op: value === false ? other : op }
  }

/** Substring or array element: languages use the word for both, and no value is both. */
export const contains: Meaning = (field, value) => {
  if (Array.isArray(value)) return members('has_all')(field, value)
  if (typeof value !== 'string') return member(field, value)
  return { or: [pattern('like', (part) => `%${escaped(part)}%`)(field, value), { field, op: 'has', value }] }
}

/** Neither null nor the empty text; with `negate`, one of them. */
export const emptiness =
  (empty: boolean): Meaning =>
  (field, value) => {
    if (value !== undefined && value !== null && typeof value !== 'boolean') throw new Unclear()
    return (value === false) === empty
      ? {
          and: [
            { field, op: 'is_not_null' },
            { field, op: 'neq', value: '' },
          ],
        }
      : {
          or: [
            { field, op: 'is_null' },
            { field, op: 'eq', value: '' },
          ],
        }
  }

export const between: Meaning = (field, value) => {
  const [low, high] = ends(value)
  return { and: [ordering('gte')(field, low), ordering('lte')(field, high)] }
}

export const notBetween: Meaning = (field, value) => {
  const [low, high] = ends(value)
  return { or: [ordering('lt')(field, low), ordering('gt')(field, high)] }
}

function ends(value: unknown): [unknown, unknown] {
  if (!Array.isArray(value) || value.length !== 2 || typeof value[0] !== typeof value[1]) throw new Unclear()
  return [value[0], value[1]]
}

export const negated =
  (meaning: Meaning): Meaning =>
  (field, value) => ({ not: meaning(field, value) })

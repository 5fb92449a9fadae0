/** Recognizes filters of other query languages in object form, for the hint of an error only. */

import { isDeepStrictEqual } from 'node:util'
import { LIMITS } from '../foundation/limits.ts'
import { attempt, condition, type FilterAst, group, orUnclear, Unclear } from './filter-ast.ts'
import { jsonIn } from './literal.ts'
import { normalize } from './normalize.ts'
import { readObject } from './objects.ts'
import type { FilterJson } from './operands.ts'
import { valueAt } from './parameter-names.ts'

/** The hint for a condition in a text form of another product. */
export const FORM = '{"field":"data.property","op":"eq","value":"…"}'

/**
 * Suggests a corrected filter for a rejected one; undefined when the intent is ambiguous or the filter is
 * already correct. `columns` are the fields outside data; record columns by default. Never throws.
 */
export function correctFilter(raw: unknown, columns?: readonly string[]): FilterJson | undefined {
  const corrected = readFilter(raw, columns)
  return corrected === undefined || isDeepStrictEqual(plain(corrected), plain(raw)) ? undefined : corrected
}

/** Normalizes to plain JSON: GraphQL creates objects without a prototype. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** Parses a filter from a value or from JSON text. */
export function readFilter(raw: unknown, columns?: readonly string[]): FilterJson | undefined {
  if (typeof raw === 'string') return readText(raw, columns)
  return normalized(() => readObject(raw), columns)
}

/** One comparison as SQL and shells have it: `stage = "new"`, `amount>=5`. */
const COMPARISON = /^\s*([\w.]+)\s*(=|==|!=|<>|>=|<=|>|<)\s*(?:"([^"]*)"|'([^']*)'|([\w-]+|-?\d+\.\d+))\s*$/

function comparison(text: string): FilterAst {
  const [, field = '', sign, double, single = double, bare = ''] = COMPARISON.exec(text) ?? []
  return condition(field, sign === '=' ? '$eq' : `$${sign}`, single ?? valueAt(field, bare))
}

/** Reads JSON, JSON that was encoded twice, or comparisons that all must hold, or one of them. */
function readText(raw: string, columns: readonly string[] | undefined): FilterJson | undefined {
  if (raw.length > LIMITS.translatedFilterChars) return undefined
  for (const kind of ['and', 'or'] as const) {
    const parts = raw.split(kind === 'and' ? /\s+(?:and|&&)\s+/i : /\s+(?:or|\|\|)\s+/i)
    if (parts.every((part) => COMPARISON.test(part)))
      return normalized(() => group(kind, parts.map(comparison)), columns)
  }
  return normalized(() => {
    const value = jsonIn(raw)
    return readObject(orUnclear(typeof value === 'string' ? jsonIn(value) : value))
  }, columns)
}

const normalized = (read: () => FilterAst, columns: readonly string[] | undefined): FilterJson | undefined =>
  attempt(() => {
    const filter = normalize(read(), columns)
    if (JSON.stringify(filter).length > LIMITS.translatedFilterChars) throw new Unclear()
    return filter
  })

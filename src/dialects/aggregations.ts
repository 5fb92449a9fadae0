import { FUNCTIONS } from '../contract/aggregate-functions.ts'
import { meantValue } from '../contract/suggest.ts'
import { isObject } from '../foundation/is-object.ts'
import { LIMITS } from '../foundation/limits.ts'
import { fieldOf } from './fields.ts'
import { attempt, Unclear } from './filter-ast.ts'

type Aggregation = { fn: string; field?: string }

/** `count`, `count(*)`, `sum(amount)`, `sum:data.amount`, `sum amount`. */
const CALL = /^\s*(?<fn>[a-z_]+)\s*(?:\(\s*(?<operand>[^()]*)\s*\)|[:\s]\s*(?<after>\S+))?\s*$/i
/** What other systems call the function and its operand. */
const FN_KEYS = ['fn', 'function', 'func', 'op', 'operator', 'operation', 'type', 'agg', 'aggregate']
const FIELD_KEYS = ['field', 'column', 'property', 'path', 'of', 'name']

/**
 * Suggests an aggregation of Plinth for one in another form: `"count"`, `"sum(amount)"`, `{"sum":"amount"}`,
 * `{"function":"sum","column":"amount"}`; undefined when the intent is ambiguous. Never throws.
 */
export const correctAggregation = (raw: unknown): Aggregation | undefined => attempt(() => read(raw))

/** Suggests the whole list: for a text such as `count,sum(amount)`, and for an object such as `{"sum":"amount"}`. */
export function correctAggregations(raw: unknown): Aggregation[] | undefined {
  return attempt(() => {
    if (raw === undefined) return [{ fn: 'count' }]
    const items = itemsOf(raw)
    if (items.length === 0 || items.length > LIMITS.translatedAggregations) throw new Unclear()
    return items.map(read)
  })
}

function itemsOf(raw: unknown): readonly unknown[] {
  if (Array.isArray(raw)) return raw
  if (typeof raw === 'string') return raw.length <= LIMITS.translatedAggregationChars ? raw.split(',') : []
  if (!isObject(raw)) return []
  return FN_KEYS.some((key) => key in raw)
    ? [raw]
    : Object.entries(raw).flatMap(([fn, operand]) =>
        Array.isArray(operand) ? operand.map((each) => ({ [fn]: each })) : [{ [fn]: operand }],
      )
}

function read(raw: unknown): Aggregation {
  if (typeof raw === 'string') {
    const { fn, operand, after } =
      (raw.length <= LIMITS.translatedAggregationChars && CALL.exec(raw)?.groups) || {}
    return aggregation(fn, operand ?? after)
  }
  if (!isObject(raw)) throw new Unclear()
  const [fn, field] = [FN_KEYS, FIELD_KEYS].map((keys) => keys.map((key) => raw[key]).find((each) => each))
  if (fn !== undefined) return aggregation(fn, field)
  const [[key, operand] = [], ...others] = Object.entries(raw)
  if (others.length > 0) throw new Unclear()
  return aggregation(key, operand)
}

function aggregation(word: unknown, operand: unknown): Aggregation {
  const fn = typeof word === 'string' ? meantValue(word, FUNCTIONS) : undefined
  if (fn === undefined) throw new Unclear()
  const isAll = operand === undefined || ['*', '', true, 1].includes(operand as never)
  if (isAll && fn === 'count') return { fn }
  if (isAll || typeof operand !== 'string') throw new Unclear()
  return { fn, field: fieldOf(operand) }
}

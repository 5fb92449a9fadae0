import type { Node } from '@pgsql/types'
import { LIMITS } from '../../../../foundation/limits.ts'
import { DAY_MS } from '../../../../foundation/units.ts'
import { type GuardContext, wordsOf } from '../relations/context.ts'
import { constantNumber, constantText } from './patterns.ts'
import { typeNameOf } from './types.ts'

const UNITS: readonly (readonly [pattern: RegExp, milliseconds: number])[] = [
  [/^(s|secs?|seconds?)$/, 1000],
  [/^(m|mins?|minutes?)$/, 60_000],
  [/^(h|hrs?|hours?)$/, 3_600_000],
  [/^(d|days?)$/, DAY_MS],
  [/^(w|weeks?)$/, 7 * DAY_MS],
  [/^(mons?|months?)$/, 30 * DAY_MS],
  [/^(y|yrs?|years?)$/, 365 * DAY_MS],
]

/** A number, a time or an interval; times in milliseconds, with average lengths for months and years. */
type Quantity = { of: 'number' | 'time' | 'span'; value: number }

/**
 * Bounds generate_series: its arguments must be constants, so that the row count is known in advance.
 * @throws VALIDATION_ERROR otherwise
 */
export function checkSeries(context: GuardContext, args: readonly Node[], location?: number): void {
  const [from, to, step] = args.map((arg) => measure(context, arg))
  const stride = step ?? (args.length === 2 ? { of: 'number', value: 1 } : undefined)
  if (from && to && stride && stride.value !== 0) {
    const steps = (to.value - from.value) / stride.value
    if (steps <= LIMITS.sqlSeriesSteps) return
  }
  throw context.source.fault(
    'unsupported',
    `generate_series takes constants, parameters or current_date, and makes at most ${LIMITS.sqlSeriesSteps} steps.`,
    location,
    { expected: LIMITS.sqlSeriesSteps },
  )
}

/**
 * The constant text of a node; undefined for a text too long for a time, since parsing intervals takes
 * quadratic time.
 */
function shortText(context: GuardContext, node: Node): string | undefined {
  const text = constantText(context, node)
  return text === undefined || text.length > LIMITS.sqlSeriesTimeChars ? undefined : text
}

function measure(context: GuardContext, node: Node): Quantity | undefined {
  if ('SQLValueFunction' in node) return { of: 'time', value: Date.now() }
  if ('FuncCall' in node)
    return measureCall(context, node.FuncCall.args, wordsOf(node.FuncCall.funcname).at(-1))
  if ('TypeCast' in node && node.TypeCast.arg) {
    const text = shortText(context, node.TypeCast.arg)
    // In INTERVAL '1' YEAR, the unit is not part of the text.
    if (typeNameOf(node.TypeCast.typeName) === 'interval')
      return text === undefined ? undefined : readSpan(text)
    return measure(context, node.TypeCast.arg)
  }
  if ('A_Expr' in node && node.A_Expr.lexpr && node.A_Expr.rexpr) {
    const [left, right] = [measure(context, node.A_Expr.lexpr), measure(context, node.A_Expr.rexpr)]
    return left && right && combine(left, wordsOf(node.A_Expr.name).join('.'), right)
  }
  const text = shortText(context, node)
  const number = constantNumber(context, node)
  if (number !== undefined) return { of: 'number', value: number }
  return text === undefined ? undefined : (readSpan(text) ?? readTime(text))
}

function measureCall(context: GuardContext, args: readonly Node[] = [], name = ''): Quantity | undefined {
  if (name === 'now') return { of: 'time', value: Date.now() }
  const [unit, time] = args
  const whole = name === 'date_trunc' && time ? measure(context, time) : undefined
  return whole?.of === 'time' ? truncate(whole.value, constantText(context, unit)) : undefined
}

/** Truncates a time to its day, month or year. */
function truncate(time: number, unit: string | undefined): Quantity | undefined {
  const date = new Date(time)
  if (Number.isNaN(date.valueOf())) return undefined
  const iso = date.toISOString()
  if (unit === 'day') return readTime(iso.slice(0, 10))
  if (unit === 'month') return readTime(`${iso.slice(0, 7)}-01`)
  return unit === 'year' ? readTime(`${iso.slice(0, 4)}-01-01`) : undefined
}

function combine(left: Quantity, operator: string, right: Quantity): Quantity | undefined {
  if (operator === '*') return { of: left.of === 'span' ? 'span' : right.of, value: left.value * right.value }
  if (operator !== '+' && operator !== '-') return undefined
  // An integer added to a date is a number of days.
  const value = left.of === 'time' && right.of === 'number' ? right.value * DAY_MS : right.value
  return { of: left.of, value: operator === '+' ? left.value + value : left.value - value }
}

function readTime(text: string): Quantity | undefined {
  const value = Date.parse(text)
  return Number.isNaN(value) ? undefined : { of: 'time', value }
}

function readSpan(text: string): Quantity | undefined {
  const parts = [...text.trim().matchAll(/([+-]?\d+(?:\.\d+)?)\s*([a-z]+)\s*/gi)]
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text.trim()) return undefined
  let value = 0
  for (const [, count, word = ''] of parts) {
    const unit = UNITS.find(([pattern]) => pattern.test(word.toLowerCase()))
    if (!unit) return undefined
    value += Number(count) * unit[1]
  }
  return { of: 'span', value }
}

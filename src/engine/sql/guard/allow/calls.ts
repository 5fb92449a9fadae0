import type { FuncCall, Node } from '@pgsql/types'
import { nearest } from '../../../../contract/suggest.ts'
import { type GuardContext, wordsOf } from '../relations/context.ts'
import { constantNumber, constantText } from './constants.ts'
import { FUNCTIONS, INSTEAD } from './functions.ts'
import { checkSeries } from './generate-series.ts'
import { checkJsonPath, checkPattern } from './patterns.ts'

/** Longest result of a padding function. */
const MOST_PADDED = 1000

/**
 * Checks a function call against the allow-list.
 * @throws VALIDATION_ERROR for a function that is not listed, or for arguments with unbounded cost
 */
export function checkCall(context: GuardContext, call: FuncCall): void {
  const words = wordsOf(call.funcname)
  const name = words.at(-1) ?? ''
  const isPlain = words.length === 1 || (words.length === 2 && words[0] === 'pg_catalog')
  if (!isPlain || !FUNCTIONS.has(name)) throw unknown(context, words.join('.'), call.location)
  const args = (call.args ?? []).map((arg) => ('NamedArgExpr' in arg && arg.NamedArgExpr.arg) || arg)
  const [first, second] = args
  if (name === 'generate_series') checkSeries(context, args, call.location)
  else if (name === 'repeat') checkRepeat(context, first, second, call.location)
  else if (name === 'lpad' || name === 'rpad') checkLength(context, name, second, call.location)
  else if (name.startsWith('regexp_')) checkPattern(context, constantText(context, second), call.location)
  else if (/^jsonb_path_/.test(name)) checkJsonPath(context, constantText(context, second), call.location)
  else if (name === 'substring' && args.length > 1) checkSubstring(context, args, call.location)
}

const AVAILABLE = 'Those of texts, numbers, times, json, arrays, aggregates and windows are.'

function unknown(context: GuardContext, written: string, location: number | undefined) {
  const instead = Object.hasOwn(INSTEAD, written) ? INSTEAD[written] : undefined
  const hint = instead ? undefined : nearest(written, FUNCTIONS)
  const advice = instead ?? (hint ? `Did you mean ${hint}?` : AVAILABLE)
  const message = `The function ${written.slice(0, 64)} is not available here. ${advice}`
  return context.source.fault('unknown_function', message, location, hint ? { hint } : {})
}

function checkRepeat(
  context: GuardContext,
  text: Node | undefined,
  count: Node | undefined,
  location?: number,
): void {
  const repeated = constantText(context, text)
  if (repeated === undefined || repeated.length > MOST_PADDED)
    throw context.source.fault(
      'unsupported',
      'repeat takes a constant text and a constant count here.',
      location,
    )
  checkLength(context, 'repeat', count, location)
}

function checkLength(context: GuardContext, name: string, length: Node | undefined, location?: number): void {
  const count = constantNumber(context, length)
  if (count !== undefined && count <= MOST_PADDED) return
  const message = `${name} takes a constant count of at most ${MOST_PADDED} here.`
  throw context.source.fault('unsupported', message, location)
}

/**
 * `substring` with a text as second argument is a regular expression; an argument of unknown type is treated
 * as one.
 */
function checkSubstring(context: GuardContext, args: readonly Node[], location?: number): void {
  const [, second, third] = args
  const isPosition = second && (constantNumber(context, second) !== undefined || yieldsNumber(second))
  if (isPosition && (!third || constantNumber(context, third) !== undefined || yieldsNumber(third))) return
  const pattern = constantText(context, second)
  if (third || pattern === undefined) {
    const message =
      'substring takes positions or a constant pattern here. For a position of the row use substr.'
    throw context.source.fault('unsupported', message, location)
  }
  checkPattern(context, pattern, location)
}

const POSITIONS = new Set(['position', 'strpos', 'length', 'char_length'])
const ARITHMETIC = new Set(['+', '-'])

function yieldsNumber(node: Node): boolean {
  if ('FuncCall' in node) return POSITIONS.has(wordsOf(node.FuncCall.funcname).at(-1) ?? '')
  if ('TypeCast' in node) return /^int[248]$/.test(wordsOf(node.TypeCast.typeName?.names).at(-1) ?? '')
  return 'A_Expr' in node && ARITHMETIC.has(wordsOf(node.A_Expr.name).join('.'))
}

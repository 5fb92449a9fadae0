import type { Node } from '@pgsql/types'
import { advised } from '../../../../foundation/advised-requests.ts'
import { LIMITS } from '../../../../foundation/limits.ts'
import type { GuardContext } from '../relations/context.ts'

/**
 * Constructs with slow matching or another syntax: back references, look-around, directors, embedded options.
 */
const SLOW = /\\[1-9]|\(\?(?!:)|^\*\*\*/
const REPEATS = /\{(\d+)(?:,(\d*))?\}/g

/**
 * Checks that a regular expression is constant and cheap to match.
 * @throws VALIDATION_ERROR otherwise
 */
export function checkPattern(context: GuardContext, pattern: string | undefined, location?: number): void {
  const fault = (message: string) => context.source.fault('unsupported', message, location)
  if (pattern === undefined)
    throw fault(
      'A regular expression is a constant text or a parameter here. For values of rows use LIKE or strpos.',
    )
  if (pattern.length > LIMITS.sqlPatternChars)
    throw fault(`A regular expression has at most ${LIMITS.sqlPatternChars} characters.`)
  if (SLOW.test(pattern))
    throw fault('Back references, look-around and embedded options are not available in regular expressions.')
  const repeats = [...pattern.matchAll(REPEATS)]
  if (
    repeats.some(([, least, most]) => Math.max(Number(least), Number(most ?? 0)) > LIMITS.sqlPatternRepeats)
  )
    throw fault(`A repetition in a regular expression counts at most to ${LIMITS.sqlPatternRepeats}.`)
  if (repeats.length > 1 && /\{[^}]*\}[^(]*\)\s*[{*+]/.test(pattern))
    throw fault('A counted repetition within a repetition is not available in regular expressions.')
}

/**
 * Checks that a jsonpath is constant.
 * @throws VALIDATION_ERROR otherwise
 */
export function checkJsonPath(context: GuardContext, path: string | undefined, location?: number): void {
  if (path === undefined)
    throw context.source.fault(
      'unsupported',
      `A jsonpath is a constant text or a parameter here. Find words with ${advised('search_records')}, or with ILIKE.`,
      location,
    )
  if (path.length > LIMITS.sqlPathChars)
    throw context.source.fault(
      'unsupported',
      `A jsonpath has at most ${LIMITS.sqlPathChars} characters.`,
      location,
    )
  if (/like_regex/i.test(path))
    throw context.source.fault(
      'unsupported',
      'like_regex is not available: compare the text with ~ outside of the path.',
      location,
    )
}

/** The constant text of a node: a literal or a parameter, optionally cast. Undefined otherwise. */
export function constantText(context: GuardContext, node: Node | undefined): string | undefined {
  const value = constantOf(context, node)
  return typeof value === 'string' ? value : undefined
}

/** The constant number of a node; undefined otherwise. */
export function constantNumber(context: GuardContext, node: Node | undefined): number | undefined {
  const value = constantOf(context, node)
  if (typeof value === 'string' && value.length > LIMITS.sqlNumberChars) return undefined
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

/** The value of a literal or parameter; undefined for any other node. */
function constantOf(context: GuardContext, node: Node | undefined): unknown {
  if (!node) return undefined
  if ('TypeCast' in node) return constantOf(context, node.TypeCast.arg)
  if ('ParamRef' in node) return context.parameters.valueOf(node.ParamRef.number ?? 0)
  if ('A_Expr' in node) {
    const { name, lexpr, rexpr } = node.A_Expr
    const isMinus = !lexpr && name?.[0] && 'String' in name[0] && name[0].String.sval === '-'
    const value = isMinus ? constantNumber(context, rexpr) : undefined
    return value === undefined ? undefined : -value
  }
  if (!('A_Const' in node)) return undefined
  const { ival, fval, sval } = node.A_Const
  if (ival) return ival.ival ?? 0
  if (fval) return Number(fval.fval)
  return sval ? (sval.sval ?? '') : undefined
}

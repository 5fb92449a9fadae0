import type { Node } from '@pgsql/types'
import type { GuardContext } from '../relations/context.ts'

/** A parameter can be one megabyte, and a statement may convert it to a number a thousand times. */
const MOST_NUMBER_CHARS = 1000

/** The constant text of a node: a literal or a parameter, optionally cast. Undefined otherwise. */
export function constantText(context: GuardContext, node: Node | undefined): string | undefined {
  const value = constantOf(context, node)
  return typeof value === 'string' ? value : undefined
}

/** The constant number of a node; undefined otherwise. */
export function constantNumber(context: GuardContext, node: Node | undefined): number | undefined {
  const value = constantOf(context, node)
  if (typeof value === 'string' && value.length > MOST_NUMBER_CHARS) return undefined
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

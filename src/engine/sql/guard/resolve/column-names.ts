import type { Node, SelectStmt } from '@pgsql/types'
import { typeNameOf } from '../allow/types.ts'
import { wordsOf } from '../relations/context.ts'

/** The default name that PostgreSQL gives a column without AS. */
export const outputName = (node: Node): string => named(node).name || '?column?'

/** A column name, and whether an enclosing cast or CASE keeps it. */
type Named = { name: string; firm: boolean }
const firm = (name: string): Named => ({ name, firm: true })
const loose = (name: string): Named => ({ name, firm: false })

function named(node: Node | undefined): Named {
  if (!node) return loose('')
  if ('ColumnRef' in node) return firm(wordsOf(node.ColumnRef.fields).findLast((word) => word !== '*') ?? '')
  if ('A_Indirection' in node) return named(node.A_Indirection.arg)
  if ('FuncCall' in node) return firm(wordsOf(node.FuncCall.funcname).at(-1) ?? '')
  if ('A_Expr' in node) return node.A_Expr.kind === 'AEXPR_NULLIF' ? firm('nullif') : loose('')
  if ('TypeCast' in node) return orElse(named(node.TypeCast.arg), typeNameOf(node.TypeCast.typeName))
  if ('CollateClause' in node) return named(node.CollateClause.arg)
  if ('GroupingFunc' in node) return firm('grouping')
  if ('SubLink' in node) return ofSubLink(node.SubLink.subLinkType, node.SubLink.subselect)
  if ('CaseExpr' in node) return orElse(named(node.CaseExpr.defresult), 'case')
  if ('A_ArrayExpr' in node) return firm('array')
  if ('RowExpr' in node) return firm('row')
  if ('CoalesceExpr' in node) return firm('coalesce')
  if ('MinMaxExpr' in node) return firm(node.MinMaxExpr.op === 'IS_LEAST' ? 'least' : 'greatest')
  if ('SQLValueFunction' in node)
    return firm((node.SQLValueFunction.op ?? '').replace(/^SVFOP_|_N$/g, '').toLowerCase())
  return loose('')
}

const orElse = (inner: Named, name: string): Named => (inner.firm ? inner : loose(name))

function ofSubLink(kind: string | undefined, subselect: Node | undefined): Named {
  if (kind === 'EXISTS_SUBLINK') return firm('exists')
  if (kind === 'ARRAY_SUBLINK') return firm('array')
  if (kind !== 'EXPR_SUBLINK' || !subselect || !('SelectStmt' in subselect)) return loose('')
  const [first] = leftmost(subselect.SelectStmt).targetList ?? []
  if (!first || !('ResTarget' in first)) return loose('')
  return first.ResTarget.name ? firm(first.ResTarget.name) : named(first.ResTarget.val)
}

/** The first arm of a set operation, which names its columns. */
function leftmost(statement: SelectStmt): SelectStmt {
  let arm = statement
  while (arm.larg) arm = arm.larg
  return arm
}

import type { Node } from '@pgsql/types'
import { checkCall } from '../allow/calls.ts'
import { checkOperator } from '../allow/operators.ts'
import { checkType } from '../allow/types.ts'
import { resolveColumn } from '../relations/column-ref.ts'
import type { GuardContext } from '../relations/context.ts'
import type { NameScope } from '../relations/name-scope.ts'
import { checkCaseStatus, checkStatus } from './status-comparison.ts'

/**
 * Resolves an expression recursively.
 * @throws VALIDATION_ERROR
 */
export function resolveExpression(context: GuardContext, node: Node, scope: NameScope): void {
  const [[kind, child] = ['', {}]] = Object.entries<object>(node)
  checkOne(context, node, scope)
  if (kind === 'SelectStmt') context.select(child, scope)
  else for (const part of partsOf(child)) resolveExpression(context, part, scope)
}

/** Checks a single node, without its children. */
function checkOne(context: GuardContext, node: Node, scope: NameScope): void {
  const { source } = context
  if ('ColumnRef' in node) resolveColumn(context, node.ColumnRef, scope)
  else if ('FuncCall' in node) checkCall(context, node.FuncCall)
  else if ('A_Expr' in node) {
    checkOperator(context, node.A_Expr)
    checkStatus(context, node.A_Expr, scope)
  } else if ('CaseExpr' in node) checkCaseStatus(context, node.CaseExpr, scope)
  else if ('TypeCast' in node) checkType(node.TypeCast.typeName, source)
  else if ('SubLink' in node) checkOperator(context, { name: node.SubLink.operName ?? [] })
  else if ('CollateClause' in node) {
    const name = (node.CollateClause.collname ?? []).map((word) => ('String' in word ? word.String.sval : ''))
    if (name.join('.') !== 'C')
      throw source.fault('unsupported', 'Only the collation "C" is available.', node.CollateClause.location)
  } else if ('A_Indirection' in node) {
    // (x).name could be a call of function `name`, so field selection is not supported.
    const named = node.A_Indirection.indirection?.find((step) => !('A_Indices' in step))
    if (named) {
      const message = `(…).${'String' in named ? named.String.sval : '*'} is not available: write alias.column, and give functions of several columns their place in FROM.`
      throw source.fault('unsupported', message)
    }
  }
}

/** The child nodes of a node. Name lists hold no expressions. */
function* partsOf(fields: object): Generator<Node> {
  for (const [name, child] of Object.entries(fields)) {
    if (NAMES.has(name)) continue
    for (const part of Array.isArray(child) ? child : [child]) {
      if (typeof part !== 'object' || part === null) continue
      if (name === 'over') yield { WindowDef: part }
      else if (/^[A-Z]/.test(Object.keys(part)[0] ?? '')) yield part
    }
  }
}

const NAMES = new Set([
  'fields',
  'funcname',
  'name',
  'operName',
  'collname',
  'typeName',
  'ival',
  'fval',
  'sval',
])

import type { Node, SelectStmt } from '@pgsql/types'
import { outputName } from './column-names.ts'
import { type Context, wordsOf } from './context.ts'
import { resolveFrom } from './from.ts'
import { checkGrouping } from './grouping.ts'
import { findAlias, hasColumn, type Item, type Scope } from './scope.ts'
import { resolveWith } from './with.ts'

/** PostgreSQL's own bound on the columns of a row. */
const MOST_COLUMNS = 1664

/** Resolves a SELECT, VALUES or set operation; answers its columns. @throws VALIDATION_ERROR */
export function resolveSelect(
  context: Context,
  statement: SelectStmt,
  around: Scope,
  onLeftArm?: (columns: readonly string[]) => void,
): readonly string[] {
  const outer = statement.withClause ? resolveWith(context, statement.withClause, around) : around
  const { columns, scope } = statement.larg
    ? resolveSetOperation(context, statement, outer, onLeftArm)
    : statement.valuesLists
      ? resolveValues(context, statement, outer)
      : resolvePlain(context, statement, outer)
  if (columns.length > MOST_COLUMNS)
    throw context.source.fault(
      'too_many',
      `A SELECT has at most ${MOST_COLUMNS} columns. Name those you need.`,
    )
  resolveOrdering(context, statement.sortClause, columns, scope)
  context.expressions([statement.limitCount, statement.limitOffset].filter(isThere), scope)
  return columns
}

type Resolved = { columns: readonly string[]; scope: Scope }

function resolveSetOperation(
  context: Context,
  statement: SelectStmt,
  outer: Scope,
  onLeftArm?: (columns: readonly string[]) => void,
): Resolved {
  const columns = statement.larg ? context.select(statement.larg, outer) : []
  onLeftArm?.(columns)
  if (statement.rarg) context.select(statement.rarg, outer)
  return { columns, scope: outer }
}

function resolveValues(context: Context, statement: SelectStmt, outer: Scope): Resolved {
  const rows = (statement.valuesLists ?? []).map((row) => ('List' in row ? (row.List.items ?? []) : []))
  for (const row of rows) context.expressions(row, outer)
  return { columns: (rows[0] ?? []).map((_, index) => `column${index + 1}`), scope: outer }
}

function resolvePlain(context: Context, statement: SelectStmt, outer: Scope): Resolved {
  const items = resolveFrom(context, statement.fromClause, outer)
  const scope: Scope = { items, around: outer }
  const columns = resolveTargets(context, statement.targetList, items, scope)
  context.expressions([statement.whereClause, statement.havingClause].filter(isThere), scope)
  checkGrouping(statement.groupClause, context.source)
  for (const clause of [statement.groupClause, statement.distinctClause?.filter(isThere)])
    resolveNamed(context, clause, columns, scope)
  context.expressions(statement.windowClause, scope)
  return { columns, scope }
}

/** The target list; a column without a name is given the one PostgreSQL would, so that both agree on it. */
function resolveTargets(
  context: Context,
  targets: readonly Node[] | undefined,
  items: readonly Item[],
  scope: Scope,
): string[] {
  return (targets ?? []).flatMap((target) => {
    if (!('ResTarget' in target) || !target.ResTarget.val) return []
    const { val } = target.ResTarget
    const star = starOf(val)
    context.expression(val, scope)
    if (!star) {
      target.ResTarget.name ??= outputName(val)
      return [target.ResTarget.name]
    }
    return star.length === 1
      ? items.flatMap(({ columns }) => columns)
      : (findAlias(scope, star[0] ?? '') ?? [])
  })
}

/** The words of `*` or `t.*`. */
function starOf(node: Node): string[] | undefined {
  const words = 'ColumnRef' in node ? wordsOf(node.ColumnRef.fields) : []
  return words.at(-1) === '*' ? words : undefined
}

/** ORDER BY: each element an output column by name or number, or an expression. */
function resolveOrdering(
  context: Context,
  clause: readonly Node[] | undefined,
  columns: readonly string[],
  scope: Scope,
): void {
  const elements = (clause ?? []).flatMap((sort) => ('SortBy' in sort && sort.SortBy.node) || [])
  resolveNamed(context, elements, columns, scope)
}

/** Clauses in which a bare name may also be that of an output column. */
function resolveNamed(
  context: Context,
  clause: readonly Node[] | undefined,
  columns: readonly string[],
  scope: Scope,
): void {
  for (const node of clause ?? []) {
    if ('GroupingSet' in node) resolveNamed(context, node.GroupingSet.content, columns, scope)
    else if (!isOutput(node, columns, scope)) context.expression(node, scope)
  }
}

function isOutput(node: Node, columns: readonly string[], scope: Scope): boolean {
  const [word, more] = 'ColumnRef' in node ? wordsOf(node.ColumnRef.fields) : []
  return word !== undefined && !more && columns.includes(word) && !hasColumn(scope, word)
}

const isThere = (node: Node | undefined): node is Node => node !== undefined && Object.keys(node).length > 0

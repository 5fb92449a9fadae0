import type { Node, SelectStmt } from '@pgsql/types'
import { LIMITS } from '../../../../foundation/limits.ts'
import { type Columns, columnsOfNames } from '../relations/column-list.ts'
import { type GuardContext, wordsOf } from '../relations/context.ts'
import { findAlias, hasColumn, type Item, type NameScope } from '../relations/name-scope.ts'
import type { Source } from '../syntax/source-map.ts'
import { outputName } from './column-names.ts'
import { resolveFrom } from './from.ts'
import { resolveWith } from './with.ts'

/** PostgreSQL's limit of columns per row. */
const MOST_COLUMNS = 1664

/**
 * Resolves a SELECT, VALUES or set operation; returns its columns.
 * @throws VALIDATION_ERROR
 */
export function resolveSelect(
  context: GuardContext,
  statement: SelectStmt,
  around: NameScope,
  onLeftArm?: (columns: Columns) => void,
): Columns {
  const outer = statement.withClause ? resolveWith(context, statement.withClause, around) : around
  const { columns, scope } = statement.larg
    ? resolveSetOperation(context, statement, outer, onLeftArm)
    : statement.valuesLists
      ? resolveValues(context, statement, outer)
      : resolvePlain(context, statement, outer)
  resolveOrdering(context, statement.sortClause, columns, scope)
  context.expressions([statement.limitCount, statement.limitOffset].filter(isThere), scope)
  return columns
}

type Resolved = { columns: Columns; scope: NameScope }

function resolveSetOperation(
  context: GuardContext,
  statement: SelectStmt,
  outer: NameScope,
  onLeftArm?: (columns: Columns) => void,
): Resolved {
  const columns = statement.larg ? context.select(statement.larg, outer) : columnsOfNames([])
  onLeftArm?.(columns)
  if (statement.rarg) context.select(statement.rarg, outer)
  return { columns, scope: outer }
}

function resolveValues(context: GuardContext, statement: SelectStmt, outer: NameScope): Resolved {
  const rows = (statement.valuesLists ?? []).map((row) => ('List' in row ? (row.List.items ?? []) : []))
  for (const row of rows) context.expressions(row, outer)
  const names = (rows[0] ?? []).map((_, index) => `column${index + 1}`)
  return { columns: bounded(context, names), scope: outer }
}

function resolvePlain(context: GuardContext, statement: SelectStmt, outer: NameScope): Resolved {
  const items = resolveFrom(context, statement.fromClause, outer)
  const scope: NameScope = { items, around: outer }
  const columns = resolveTargets(context, statement.targetList, items, scope)
  context.expressions([statement.whereClause, statement.havingClause].filter(isThere), scope)
  checkGrouping(statement.groupClause, context.source)
  for (const clause of [statement.groupClause, statement.distinctClause?.filter(isThere)])
    resolveNamed(context, clause, columns, scope)
  context.expressions(statement.windowClause, scope)
  return { columns, scope }
}

/**
 * Resolves the target list. An unnamed column gets PostgreSQL's default name explicitly, so that both agree.
 */
function resolveTargets(
  context: GuardContext,
  targets: readonly Node[] | undefined,
  items: readonly Item[],
  scope: NameScope,
): Columns {
  const names: string[] = []
  for (const target of targets ?? []) {
    if (!('ResTarget' in target) || !target.ResTarget.val) continue
    const { val } = target.ResTarget
    const star = starOf(val)
    context.expression(val, scope)
    if (star) {
      const all = star.length === 1 ? items : [findAlias(scope, star[0] ?? '')]
      for (const each of all) {
        checkColumnCount(context, names.length + (each?.columns.count ?? 0))
        names.push(...(each?.columns.list() ?? []))
      }
    } else {
      target.ResTarget.name ??= outputName(val)
      names.push(target.ResTarget.name)
    }
  }
  return bounded(context, names)
}

function bounded(context: GuardContext, names: readonly string[]): Columns {
  checkColumnCount(context, names.length)
  return columnsOfNames(names)
}

function checkColumnCount({ source }: GuardContext, count: number): void {
  if (count > MOST_COLUMNS)
    throw source.fault('too_many', `A SELECT has at most ${MOST_COLUMNS} columns. Name those you need.`)
}

/** The names of a `*` or `t.*` reference. */
function starOf(node: Node): string[] | undefined {
  const words = 'ColumnRef' in node ? wordsOf(node.ColumnRef.fields) : []
  return words.at(-1) === '*' ? words : undefined
}

/** Resolves ORDER BY: each element is an output column by name or number, or an expression. */
function resolveOrdering(
  context: GuardContext,
  clause: readonly Node[] | undefined,
  columns: Columns,
  scope: NameScope,
): void {
  const elements = (clause ?? []).flatMap((sort) => ('SortBy' in sort && sort.SortBy.node) || [])
  resolveNamed(context, elements, columns, scope)
}

/** Resolves clauses in which a bare name can be an output column. */
function resolveNamed(
  context: GuardContext,
  clause: readonly Node[] | undefined,
  columns: Columns,
  scope: NameScope,
): void {
  for (const node of clause ?? []) {
    if ('GroupingSet' in node) resolveNamed(context, node.GroupingSet.content, columns, scope)
    else if (!isOutput(node, columns, scope)) context.expression(node, scope)
  }
}

function isOutput(node: Node, columns: Columns, scope: NameScope): boolean {
  const [word, more] = 'ColumnRef' in node ? wordsOf(node.ColumnRef.fields) : []
  return word !== undefined && !more && columns.has(word) && !hasColumn(scope, word)
}

const isThere = (node: Node | undefined): node is Node => node !== undefined && Object.keys(node).length > 0

/**
 * Checks the product of CUBE, ROLLUP and GROUPING SETS.
 * @throws VALIDATION_ERROR above the maximum
 */
function checkGrouping(clause: readonly Node[] | undefined, source: Source): void {
  const sets = (clause ?? []).reduce((product, node) => product * setsOf(node), 1)
  if (sets <= LIMITS.sqlGroupingSets) return
  const message = `A statement has at most ${LIMITS.sqlGroupingSets} grouping sets: this one has ${sets}. Use fewer columns in CUBE.`
  throw source.fault('too_many', message, undefined, { expected: LIMITS.sqlGroupingSets, received: sets })
}

function setsOf(node: Node): number {
  if (!('GroupingSet' in node)) return 1
  const { kind, content = [] } = node.GroupingSet
  if (kind === 'GROUPING_SET_CUBE') return 2 ** content.length
  if (kind === 'GROUPING_SET_ROLLUP') return content.length + 1
  if (kind === 'GROUPING_SET_EMPTY') return 1
  return content.reduce((sum, each) => sum + setsOf(each), 0)
}

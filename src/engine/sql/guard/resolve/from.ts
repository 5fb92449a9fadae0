import type { Alias, JoinExpr, Node, RangeFunction, RangeSubselect, RangeVar } from '@pgsql/types'
import { LIMITS } from '../../../../foundation/limits.ts'
import { type Columns, columnsOfNames, joinedColumns } from '../relations/column-list.ts'
import { type GuardContext, needEveryColumn, wordsOf } from '../relations/context.ts'
import { findRelation } from '../relations/find-relation.ts'
import { findCte, type Item, type Named, type NameScope } from '../relations/name-scope.ts'
import type { Read } from '../relations/relations.ts'
import { functionColumns } from './from-functions.ts'
import { renamed } from './with.ts'

/**
 * Resolves a FROM clause from left to right.
 * @throws VALIDATION_ERROR
 */
export function resolveFrom(
  context: GuardContext,
  clause: readonly Node[] | undefined,
  outer: NameScope,
): Item[] {
  const items: Item[] = []
  for (const node of clause ?? []) items.push(resolveItem(context, node, outer, items))
  return items
}

/** Resolves one item; `before` holds the preceding items, which LATERAL can reference. */
function resolveItem(context: GuardContext, node: Node, outer: NameScope, before: readonly Item[]): Item {
  if ('RangeVar' in node) return readRelation(context, node, node.RangeVar, outer)
  const lateral: NameScope = { items: before, around: outer }
  if ('RangeSubselect' in node) return readSubselect(context, node.RangeSubselect, outer, lateral)
  if ('RangeFunction' in node) return readFunction(context, node.RangeFunction, lateral)
  if ('JoinExpr' in node) return readJoin(context, node.JoinExpr, outer, before)
  throw context.source.fault('unsupported', 'FROM takes relations, subqueries, joins and a few functions.')
}

function readRelation(context: GuardContext, node: Node, range: RangeVar, outer: NameScope): Item {
  const name = range.relname ?? ''
  const cte = range.schemaname ? undefined : findCte(outer, name)
  if (range.inh !== true)
    throw context.source.fault('unsupported', 'ONLY is not available. Leave it out.', range.location)
  if (cte) return named(range.alias, cte.columns(), [], name)
  const relation = findRelation(context, range, outer)
  const read = { node, range, relation, everyColumn: false }
  context.reads.push(read)
  if (context.reads.length > LIMITS.sqlRelations) {
    const message = `A statement can read at most ${LIMITS.sqlRelations} relations.`
    throw context.source.fault('too_many', message, range.location, { expected: LIMITS.sqlRelations })
  }
  if (range.alias?.colnames) needEveryColumn(context, [read])
  return named(range.alias, relation.columns, [read], name)
}

function readSubselect(
  context: GuardContext,
  select: RangeSubselect,
  outer: NameScope,
  lateral: NameScope,
): Item {
  const { subquery } = select
  // PostgreSQL 15 requires an alias for every subquery.
  select.alias ??= { aliasname: `unnamed ${++context.unnamed}` }
  const columns =
    subquery && 'SelectStmt' in subquery
      ? context.select(subquery.SelectStmt, select.lateral ? lateral : outer)
      : columnsOfNames([])
  return named(select.alias, columns, [])
}

function readFunction(context: GuardContext, range: RangeFunction, scope: NameScope): Item {
  const columns = functionColumns(context, range, scope)
  const [first] = columns.names
  return named(range.alias, columnsOfNames(columns.names), [], columns.functionName ?? first)
}

function readJoin(context: GuardContext, join: JoinExpr, outer: NameScope, before: readonly Item[]): Item {
  const left = join.larg ? resolveItem(context, join.larg, outer, before) : NOTHING
  const right = join.rarg ? resolveItem(context, join.rarg, outer, [...before, left]) : NOTHING
  const shared = sharedColumns(context, join, left, right)
  if (join.quals) context.expression(join.quals, { items: [left, right], around: outer })
  const columns = joinedColumns(shared, left.columns, right.columns)
  const reads = [...left.reads, ...right.reads]
  if (join.alias?.colnames) needEveryColumn(context, reads)
  if (join.alias) return named(join.alias, columns, reads)
  const aliases = new Map<string, Named>([...left.aliases, ...right.aliases])
  const merged = join.join_using_alias?.aliasname
  if (merged) aliases.set(merged, { columns: columnsOfNames(shared), reads: [] })
  return { aliases, columns, reads }
}

/** The columns that USING or NATURAL merges. */
function sharedColumns(context: GuardContext, join: JoinExpr, left: Item, right: Item): string[] {
  if (join.isNatural) {
    needEveryColumn(context, [...left.reads, ...right.reads])
    return left.columns.list().filter((column) => right.columns.has(column))
  }
  const names = wordsOf(join.usingClause)
  for (const name of names) {
    context.mentioned.add(name)
    const missing = [left, right].find(({ columns }) => !columns.has(name))
    if (missing)
      throw context.source.fault('unknown_column', `USING needs "${name}" on both sides of the join.`)
  }
  return names
}

const NOTHING: Item = { aliases: new Map(), columns: columnsOfNames([]), reads: [] }

function named(alias: Alias | undefined, columns: Columns, reads: readonly Read[], name?: string): Item {
  const names = wordsOf(alias?.colnames)
  const own = names.length > 0 ? columnsOfNames(renamed(columns.list(), names)) : columns
  const key = alias?.aliasname ?? name
  return {
    aliases: key === undefined ? new Map() : new Map([[key, { columns: own, reads }]]),
    columns: own,
    reads,
  }
}

import type { Alias, JoinExpr, Node, RangeFunction, RangeSubselect, RangeVar } from '@pgsql/types'
import { LIMITS } from '../../../../foundation/limits.ts'
import { FUNCTIONS, unknownFunction } from '../allow/calls.ts'
import { checkType } from '../allow/types.ts'
import { type Columns, columnsOfNames, joinedColumns } from '../relations/column-list.ts'
import { type GuardContext, needEveryColumn, wordsOf } from '../relations/context.ts'
import { findRelation } from '../relations/find-relation.ts'
import { findCte, type Item, type Named, type NameScope } from '../relations/name-scope.ts'
import type { Read } from '../relations/relations.ts'
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

/** Set-returning functions allowed in FROM, with their column names if these do not follow the alias. */
const SET_FUNCTIONS: Readonly<Record<string, readonly string[] | undefined>> = {
  unnest: undefined,
  generate_series: undefined,
  generate_subscripts: undefined,
  jsonb_object_keys: undefined,
  json_object_keys: undefined,
  jsonb_path_query: undefined,
  regexp_matches: undefined,
  regexp_split_to_table: undefined,
  string_to_table: undefined,
  jsonb_array_elements: ['value'],
  jsonb_array_elements_text: ['value'],
  json_array_elements: ['value'],
  json_array_elements_text: ['value'],
  jsonb_each: ['key', 'value'],
  jsonb_each_text: ['key', 'value'],
  json_each: ['key', 'value'],
  json_each_text: ['key', 'value'],
  jsonb_to_record: [],
  jsonb_to_recordset: [],
  json_to_record: [],
  json_to_recordset: [],
}

type FunctionColumns = { names: string[]; functionName: string | undefined }

/**
 * Resolves the functions of a FROM item and returns their columns.
 * @throws VALIDATION_ERROR
 */
function functionColumns(context: GuardContext, range: RangeFunction, scope: NameScope): FunctionColumns {
  const entries = (range.functions ?? []).map((entry) => ('List' in entry ? (entry.List.items ?? []) : []))
  const single = entries.length === 1
  const names = entries.flatMap(([call, definitions]) => {
    const name = requireSetFunction(context, call)
    if (call) context.expression(call, scope)
    const own = definedColumns(context, definitions && 'List' in definitions ? definitions.List.items : [])
    const defined = own.length > 0 ? own : definedColumns(context, range.coldeflist)
    if (defined.length > 0) return defined
    const fallback = (single && range.alias?.aliasname) || name
    const count = name === 'unnest' ? argumentsOf(call) : 1
    return SET_FUNCTIONS[name] ?? Array.from({ length: count }, () => (count > 1 ? name : fallback))
  })
  if (range.ordinality) names.push('ordinality')
  const [[first] = []] = entries
  return { names, functionName: single ? functionName(first) : undefined }
}

function requireSetFunction(context: GuardContext, call: Node | undefined): string {
  const name = functionName(call)
  if (Object.hasOwn(SET_FUNCTIONS, name)) return name
  const location = call && 'FuncCall' in call ? call.FuncCall.location : undefined
  if (!FUNCTIONS.has(name)) throw unknownFunction(context, name, location)
  const message = `FROM takes no function "${name.slice(0, 64)}" here. Call it in the SELECT list or in a subquery.`
  throw context.source.fault('unknown_function', message, location, { allowed: Object.keys(SET_FUNCTIONS) })
}

function definedColumns(context: GuardContext, definitions: readonly Node[] | undefined): string[] {
  return (definitions ?? []).flatMap((definition) => {
    if (!('ColumnDef' in definition)) return []
    checkType(definition.ColumnDef.typeName, context.source)
    return [definition.ColumnDef.colname ?? '']
  })
}

const functionName = (call: Node | undefined): string =>
  call && 'FuncCall' in call ? (wordsOf(call.FuncCall.funcname).at(-1) ?? '') : ''

const argumentsOf = (call: Node | undefined): number =>
  call && 'FuncCall' in call ? (call.FuncCall.args ?? []).length : 0

import type { Node, RangeFunction } from '@pgsql/types'
import { FUNCTIONS, unknownFunction } from '../allow/calls.ts'
import { checkType } from '../allow/types.ts'
import { type GuardContext, wordsOf } from '../relations/context.ts'
import type { NameScope } from '../relations/name-scope.ts'

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

type Columns = { names: string[]; functionName: string | undefined }

/**
 * Resolves the functions of a FROM item and returns their columns.
 * @throws VALIDATION_ERROR
 */
export function functionColumns(context: GuardContext, range: RangeFunction, scope: NameScope): Columns {
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

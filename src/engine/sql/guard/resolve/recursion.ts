/**
 * Collation of recursive queries. Id columns have the "C" collation, which is not the database default.
 * PostgreSQL gives a recursive query the collation of its first term and rejects a second term with another
 * one: `SELECT 'x'::text UNION SELECT id …`. So texts in the first term get the collation of the ids;
 * elsewhere it takes precedence without a COLLATE clause.
 */
import type { Node, SelectStmt } from '@pgsql/types'
import { typeNameOf } from '../allow/types.ts'
import { type GuardContext, replaceNode, wordsOf } from '../relations/context.ts'
import type { Read } from '../relations/relations.ts'

/** Adds COLLATE to the first terms of all recursive queries in a resolved tree. */
export function collateRecursion(context: GuardContext, tree: unknown): void {
  if (typeof tree !== 'object' || tree === null) return
  if ('recursive' in tree && 'ctes' in tree && Array.isArray(tree.ctes))
    for (const cte of tree.ctes as Node[])
      if ('CommonTableExpr' in cte) collateQuery(context, cte.CommonTableExpr.ctequery)
  for (const part of Object.values(tree)) collateRecursion(context, part)
}

function collateQuery(context: GuardContext, query: Node | undefined): void {
  if (query && 'SelectStmt' in query && query.SelectStmt.larg) collateTerm(context, query.SelectStmt.larg)
}

function collateTerm(context: GuardContext, term: SelectStmt): void {
  for (const arm of [term.larg, term.rarg]) if (arm) collateTerm(context, arm)
  const reads = readsOf(context, term.fromClause ?? [])
  for (const target of term.targetList ?? [])
    if ('ResTarget' in target && target.ResTarget.val) collate(context, target.ResTarget.val, reads)
  for (const row of term.valuesLists ?? [])
    if ('List' in row) for (const item of row.List.items ?? []) collate(context, item, reads)
}

function collate(context: GuardContext, node: Node, reads: readonly Read[]): void {
  if (!isText(context, node, reads)) return
  // COLLATE does not determine the type of a parameter.
  const arg = 'ParamRef' in node ? asText({ ...node }) : { ...node }
  replaceNode(node, { CollateClause: { arg, collname: [{ String: { sval: 'C' } }] } })
}

const asText = (arg: Node): Node => ({
  TypeCast: { arg, typeName: { names: [{ String: { sval: 'text' } }], typemod: -1 } },
})

/**
 * The relations of a FROM clause with relations only; none otherwise, since a name could then be ambiguous.
 */
function readsOf(context: GuardContext, from: readonly Node[]): readonly Read[] {
  const nodes = from.flatMap(leaves)
  const reads = context.reads.filter(({ node }) => nodes.includes(node))
  return reads.length === nodes.length ? reads : []
}

const leaves = (node: Node): Node[] =>
  'JoinExpr' in node
    ? [node.JoinExpr.larg, node.JoinExpr.rarg].flatMap((side) => (side ? leaves(side) : []))
    : [node]

/** Functions that return text for any arguments. */
const TEXTS = new Set(
  `lower upper initcap btrim ltrim rtrim left right substr split_part replace translate concat concat_ws chr md5 overlay
  to_hex repeat lpad rpad regexp_replace regexp_substr to_char string_agg array_to_string jsonb_typeof json_typeof
  jsonb_extract_path_text json_extract_path_text jsonb_pretty`.split(/\s+/),
)
const TEXT_OPERATORS = new Set(['->>', '#>>'])

/** Whether an expression of a first term is certainly text or a text array. A bare literal always is. */
function isText(context: GuardContext, node: Node, reads: readonly Read[]): boolean {
  const all = (nodes: readonly (Node | undefined)[]) =>
    nodes.length > 0 && nodes.every((each) => each === undefined || isText(context, each, reads))
  if ('A_Const' in node) return node.A_Const.sval !== undefined || node.A_Const.isnull === true
  if ('ParamRef' in node) return typeof context.parameters.valueOf(node.ParamRef.number ?? 0) === 'string'
  if ('TypeCast' in node) return /^(text|varchar)$/.test(typeNameOf(node.TypeCast.typeName))
  if ('ColumnRef' in node) return isTextColumn(wordsOf(node.ColumnRef.fields), reads)
  if ('FuncCall' in node) return TEXTS.has(wordsOf(node.FuncCall.funcname).at(-1) ?? '')
  if ('A_ArrayExpr' in node) return all(node.A_ArrayExpr.elements ?? [])
  if ('CoalesceExpr' in node) return all(node.CoalesceExpr.args ?? [])
  if ('CaseExpr' in node) {
    const results = (node.CaseExpr.args ?? []).map((when) =>
      'CaseWhen' in when ? when.CaseWhen.result : undefined,
    )
    return all([...results, node.CaseExpr.defresult])
  }
  if (!('A_Expr' in node) || node.A_Expr.kind !== 'AEXPR_OP') return false
  const operator = wordsOf(node.A_Expr.name).join('.')
  if (operator === '||') return all([node.A_Expr.lexpr, node.A_Expr.rexpr])
  return TEXT_OPERATORS.has(operator)
}

function isTextColumn(words: readonly string[], reads: readonly Read[]): boolean {
  const columns = reads.flatMap(({ relation }) =>
    relation.expressions.filter(({ name }) => name === words.at(-1)),
  )
  return columns.length > 0 && columns.every((column) => column.isText)
}

/** Builders of syntax trees, in the form that the parser gives them. */
import type { Node, RangeVar, SelectStmt, WithClause } from '@pgsql/types'

const words = (names: readonly string[]): Node[] => names.map((sval) => ({ String: { sval } }))

export const column = (...names: readonly string[]): Node => ({ ColumnRef: { fields: words(names) } })

export const asNamed = (val: Node, name: string): Node => ({ ResTarget: { name, val } })

export const call = (name: string, ...args: Node[]): Node => ({
  FuncCall: { funcname: words([name]), args, funcformat: 'COERCE_EXPLICIT_CALL' },
})

/** The parser's names of the types that values are cast to. */
const TYPES = {
  int8: ['pg_catalog', 'int8'],
  numeric: ['pg_catalog', 'numeric'],
  bool: ['pg_catalog', 'bool'],
  jsonb: ['jsonb'],
  text: ['text'],
} as const

export const cast = (arg: Node, type: keyof typeof TYPES): Node => ({
  TypeCast: { arg, typeName: { names: words(TYPES[type]), typemod: -1 } },
})

export const NULL = (): Node => ({ A_Const: { isnull: true } })
export const TRUE = (): Node => ({ A_Const: { boolval: { boolval: true } } })
const ONE = (): Node => ({ A_Const: { ival: { ival: 1 } } })

export const operation = (name: string, lexpr: Node, rexpr: Node): Node => ({
  A_Expr: { kind: 'AEXPR_OP', name: words([name]), lexpr, rexpr },
})

export const combined = (boolop: 'AND_EXPR' | 'OR_EXPR', args: Node[]): Node =>
  args.length === 1 && args[0] ? args[0] : { BoolExpr: { boolop, args } }

export const isNull = (arg: Node): Node => ({ NullTest: { arg, nulltesttype: 'IS_NULL' } })

export const text = (sval: string): Node => ({ A_Const: { sval: { sval } } })

export const relation = (relname: string, aliasname: string): { RangeVar: RangeVar } => ({
  RangeVar: { relname, inh: true, relpersistence: 'p', alias: { aliasname } },
})

/** A subquery in FROM. */
export const subquery = (
  select: SelectStmt,
  aliasname: string,
  { columns, lateral }: { columns?: readonly string[]; lateral?: true } = {},
): Node => ({
  RangeSubselect: {
    ...(lateral && { lateral }),
    subquery: { SelectStmt: select },
    alias: { aliasname, ...(columns && { colnames: words(columns) }) },
  },
})

type Clauses = {
  targets: Node[]
  from: Node[]
  where?: Node | undefined
  withClause?: WithClause | undefined
  isFirst?: true
}

export const select = ({ targets, from, where, withClause, isFirst }: Clauses): SelectStmt => ({
  targetList: targets,
  fromClause: from,
  ...(where && { whereClause: where }),
  ...(isFirst && { limitCount: ONE() }),
  limitOption: isFirst ? 'LIMIT_OPTION_COUNT' : 'LIMIT_OPTION_DEFAULT',
  ...(withClause && { withClause }),
  op: 'SETOP_NONE',
})

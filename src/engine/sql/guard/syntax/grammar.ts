/** Value rule of an AST field: a node, a node list, a scalar, an enumerated word, or an unwrapped node. */
export type Rule = 'node' | 'nodes' | 'string' | 'integer' | 'flag' | readonly string[] | { of: string }

/** The fields of each node, with their rules. */
export type Grammar = Readonly<Record<string, Readonly<Record<string, Rule>>>>

const at = { location: 'integer' } as const
const SELECT = { of: 'SelectStmt' }
const ALIAS = { of: 'Alias' }
const TYPE = { of: 'TypeName' }
const WINDOW = { of: 'WindowDef' }

/**
 * Allow-list of AST nodes and fields. Anything else is rejected, so a construct that a later parser version
 * adds is rejected until it is reviewed.
 */
export const GRAMMAR: Grammar = {
  SelectStmt: {
    distinctClause: 'nodes',
    targetList: 'nodes',
    fromClause: 'nodes',
    whereClause: 'node',
    groupClause: 'nodes',
    havingClause: 'node',
    windowClause: 'nodes',
    valuesLists: 'nodes',
    sortClause: 'nodes',
    limitOffset: 'node',
    limitCount: 'node',
    limitOption: ['LIMIT_OPTION_DEFAULT', 'LIMIT_OPTION_COUNT'],
    withClause: { of: 'WithClause' },
    op: ['SETOP_NONE', 'SETOP_UNION', 'SETOP_INTERSECT', 'SETOP_EXCEPT'],
    all: 'flag',
    larg: SELECT,
    rarg: SELECT,
  },
  WithClause: { ctes: 'nodes', recursive: 'flag', ...at },
  CommonTableExpr: {
    ctename: 'string',
    aliascolnames: 'nodes',
    // NOT MATERIALIZED would let a short statement double in size with each step.
    ctematerialized: ['CTEMaterializeDefault', 'CTEMaterializeAlways'],
    ctequery: 'node',
    ...at,
  },
  ResTarget: { name: 'string', val: 'node', ...at },

  RangeVar: {
    catalogname: 'string',
    schemaname: 'string',
    relname: 'string',
    inh: 'flag',
    relpersistence: ['p'],
    alias: ALIAS,
    ...at,
  },
  RangeSubselect: { lateral: 'flag', subquery: 'node', alias: ALIAS },
  RangeFunction: {
    lateral: 'flag',
    ordinality: 'flag',
    is_rowsfrom: 'flag',
    functions: 'nodes',
    alias: ALIAS,
    coldeflist: 'nodes',
  },
  JoinExpr: {
    jointype: ['JOIN_INNER', 'JOIN_LEFT', 'JOIN_FULL', 'JOIN_RIGHT'],
    isNatural: 'flag',
    larg: 'node',
    rarg: 'node',
    usingClause: 'nodes',
    join_using_alias: ALIAS,
    quals: 'node',
    alias: ALIAS,
    rtindex: 'integer',
  },
  Alias: { aliasname: 'string', colnames: 'nodes' },
  ColumnDef: { colname: 'string', typeName: TYPE, is_local: 'flag', ...at },

  ColumnRef: { fields: 'nodes', ...at },
  A_Star: {},
  String: { sval: 'string' },
  Integer: { ival: 'integer' },
  Float: { fval: 'string' },
  Boolean: { boolval: 'flag' },
  A_Const: {
    ival: { of: 'Integer' },
    fval: { of: 'Float' },
    sval: { of: 'String' },
    boolval: { of: 'Boolean' },
    isnull: 'flag',
    ...at,
  },
  ParamRef: { number: 'integer', ...at },
  List: { items: 'nodes' },

  A_Expr: {
    kind: [
      'AEXPR_OP',
      'AEXPR_OP_ANY',
      'AEXPR_OP_ALL',
      'AEXPR_DISTINCT',
      'AEXPR_NOT_DISTINCT',
      'AEXPR_NULLIF',
      'AEXPR_IN',
      'AEXPR_LIKE',
      'AEXPR_ILIKE',
      'AEXPR_BETWEEN',
      'AEXPR_NOT_BETWEEN',
      'AEXPR_BETWEEN_SYM',
      'AEXPR_NOT_BETWEEN_SYM',
    ],
    name: 'nodes',
    lexpr: 'node',
    rexpr: 'node',
    rexpr_list_start: 'integer',
    rexpr_list_end: 'integer',
    ...at,
  },
  BoolExpr: { boolop: ['AND_EXPR', 'OR_EXPR', 'NOT_EXPR'], args: 'nodes', ...at },
  NullTest: { arg: 'node', nulltesttype: ['IS_NULL', 'IS_NOT_NULL'], ...at },
  BooleanTest: {
    arg: 'node',
    booltesttype: ['IS_TRUE', 'IS_NOT_TRUE', 'IS_FALSE', 'IS_NOT_FALSE', 'IS_UNKNOWN', 'IS_NOT_UNKNOWN'],
    ...at,
  },
  CaseExpr: { arg: 'node', args: 'nodes', defresult: 'node', ...at },
  CaseWhen: { expr: 'node', result: 'node', ...at },
  CoalesceExpr: { args: 'nodes', ...at },
  MinMaxExpr: { op: ['IS_GREATEST', 'IS_LEAST'], args: 'nodes', ...at },
  SubLink: {
    subLinkType: ['EXISTS_SUBLINK', 'ALL_SUBLINK', 'ANY_SUBLINK', 'EXPR_SUBLINK', 'ARRAY_SUBLINK'],
    testexpr: 'node',
    operName: 'nodes',
    subselect: 'node',
    ...at,
  },
  RowExpr: { args: 'nodes', row_format: ['COERCE_EXPLICIT_CALL', 'COERCE_IMPLICIT_CAST'], ...at },
  A_ArrayExpr: { elements: 'nodes', list_start: 'integer', list_end: 'integer', ...at },
  A_Indirection: { arg: 'node', indirection: 'nodes' },
  A_Indices: { is_slice: 'flag', lidx: 'node', uidx: 'node' },
  CollateClause: { arg: 'node', collname: 'nodes', ...at },
  TypeCast: { arg: 'node', typeName: TYPE, ...at },
  TypeName: { names: 'nodes', typmods: 'nodes', typemod: 'integer', arrayBounds: 'nodes', ...at },
  SQLValueFunction: {
    op: [
      'SVFOP_CURRENT_DATE',
      'SVFOP_CURRENT_TIME',
      'SVFOP_CURRENT_TIME_N',
      'SVFOP_CURRENT_TIMESTAMP',
      'SVFOP_CURRENT_TIMESTAMP_N',
      'SVFOP_LOCALTIME',
      'SVFOP_LOCALTIME_N',
      'SVFOP_LOCALTIMESTAMP',
      'SVFOP_LOCALTIMESTAMP_N',
    ],
    typmod: 'integer',
    ...at,
  },

  FuncCall: {
    funcname: 'nodes',
    args: 'nodes',
    agg_order: 'nodes',
    agg_filter: 'node',
    over: WINDOW,
    agg_within_group: 'flag',
    agg_star: 'flag',
    agg_distinct: 'flag',
    funcformat: ['COERCE_EXPLICIT_CALL', 'COERCE_SQL_SYNTAX'],
    ...at,
  },
  NamedArgExpr: { arg: 'node', name: 'string', argnumber: 'integer', ...at },
  WindowDef: {
    name: 'string',
    refname: 'string',
    partitionClause: 'nodes',
    orderClause: 'nodes',
    frameOptions: 'integer',
    startOffset: 'node',
    endOffset: 'node',
    ...at,
  },
  SortBy: {
    node: 'node',
    sortby_dir: ['SORTBY_DEFAULT', 'SORTBY_ASC', 'SORTBY_DESC'],
    sortby_nulls: ['SORTBY_NULLS_DEFAULT', 'SORTBY_NULLS_FIRST', 'SORTBY_NULLS_LAST'],
    ...at,
  },
  GroupingSet: {
    kind: ['GROUPING_SET_EMPTY', 'GROUPING_SET_ROLLUP', 'GROUPING_SET_CUBE', 'GROUPING_SET_SETS'],
    content: 'nodes',
    ...at,
  },
  GroupingFunc: { args: 'nodes', ...at },
}

import { advised } from '../../../../foundation/advised-requests.ts'

const WAY_OUT = `To change records send it to ${advised('write_sql')}.`
const READS = 'SQL here reads: write one SELECT.'

const WRITES = new Set(['InsertStmt', 'UpdateStmt', 'DeleteStmt', 'MergeStmt', 'CopyStmt', 'TruncateStmt'])

const STATEMENTS: Readonly<Record<string, string>> = {
  ExplainStmt: 'Plans are not shown.',
  TransactionStmt: 'Every statement runs in a read-only transaction of its own.',
  VariableSetStmt: 'Settings cannot be changed.',
  VariableShowStmt: 'Settings are not shown. SELECT id FROM record_types lists the types.',
  PrepareStmt: 'Send parameters with the statement instead.',
  ExecuteStmt: 'Send parameters with the statement instead.',
  DeclareCursorStmt: 'Page through the rows with LIMIT and a condition on the last key.',
  CreateStmt: `A record type is made with ${advised('put_record_type')}.`,
  CreateTableAsStmt: 'Keep a result within the statement: WITH name AS (SELECT …) SELECT ….',
}

/** The hint for a rejected statement kind. */
export function hintForStatement(kind: string): string {
  if (WRITES.has(kind)) return `${READS} ${WAY_OUT}`
  return [READS, STATEMENTS[kind]].filter(Boolean).join(' ')
}

const NODES: Readonly<Record<string, string>> = {
  RangeTableSample: 'TABLESAMPLE is not available: every read is whole.',
  RangeTableFunc: 'XMLTABLE is not available.',
  JsonTable: 'JSON_TABLE is not available. Use jsonb_to_recordset(x) AS t(name text, …) in FROM.',
  JsonFuncExpr: 'JSON_VALUE, JSON_QUERY and JSON_EXISTS are not available. Use ->, ->> or jsonb_path_query.',
  JsonObjectConstructor: 'Use jsonb_build_object(key, value, …).',
  JsonArrayConstructor: 'Use jsonb_build_array(value, …).',
  JsonArrayQueryConstructor: 'Use SELECT jsonb_agg(…).',
  JsonObjectAgg: 'Use jsonb_object_agg(key, value).',
  JsonArrayAgg: 'Use jsonb_agg(value).',
  JsonParseExpr: 'Cast to jsonb instead: x::jsonb.',
  JsonScalarExpr: 'Use to_jsonb(x).',
  JsonSerializeExpr: 'Cast to text instead: x::text.',
  JsonIsPredicate: 'IS JSON is not available. Use jsonb_typeof(x).',
  XmlExpr: 'XML is not available.',
  XmlSerialize: 'XML is not available.',
  BitString: 'Bit strings are not available.',
  SetToDefault: 'DEFAULT has no meaning in a read.',
  CurrentOfExpr: 'Cursors are not available.',
}

const NESTED_WRITE = `A statement that writes cannot be inside another one or in WITH. Send each as a separate statement to ${advised('write_sql')}: a later one sees what it wrote.`

/** The hint for a rejected AST node. */
export function hintForNode(kind: string): string {
  if (WRITES.has(kind)) return NESTED_WRITE
  return NODES[kind] ?? `${kind.replace(/(Stmt|Expr|Clause)$/, '')} is not available here.`
}

const FIELDS: Readonly<Record<string, string>> = {
  'SelectStmt.intoClause': `INTO would write. ${READS}`,
  'SelectStmt.lockingClause': `FOR UPDATE and FOR SHARE would lock rows: leave them out. ${advised('claim_records')} takes records for one worker at a time.`,
  'SelectStmt.limitOption': 'WITH TIES is not available: keep the rows with rank() OVER (…) <= n.',
  'SelectStmt.groupDistinct': 'GROUP BY DISTINCT is not available: write the grouping sets out.',
  'CommonTableExpr.search_clause': 'SEARCH is not available: build the sort key in the recursive query.',
  'CommonTableExpr.cycle_clause': 'CYCLE is not available: keep the path in an array and test it.',
  'CommonTableExpr.ctematerialized': 'NOT MATERIALIZED is not available: leave it out.',
  'A_Const.bsval': 'Bit strings are not available.',
  'A_Expr.kind': 'SIMILAR TO is not available. Use LIKE or ~ with a constant pattern.',
  'SortBy.sortby_dir': 'ORDER BY … USING is not available. Use ASC or DESC.',
  'SQLValueFunction.op':
    'Names of the session are not available: SQL reads the data of the base only. Write a column of that name in double quotes, such as "user".',
  'TypeName.setof': 'SETOF is not a type to cast to.',
  'TypeName.pct_type': '%TYPE is not available.',
  'FuncCall.func_variadic': 'VARIADIC is not available: pass the values one by one.',
}

/** The hint for a rejected field value. */
export const hintForField = (kind: string, field: string): string =>
  FIELDS[`${kind}.${field}`] ??
  `This form of ${kind.replace(/(Stmt|Expr|Clause)$/, '')} is not available here.`

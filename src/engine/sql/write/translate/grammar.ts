import { GRAMMAR, type Grammar } from '../../guard/syntax/grammar.ts'

const at = { location: 'integer' } as const
const TARGET = {
  relation: { of: 'RangeVar' },
  withClause: { of: 'WithClause' },
  returningClause: { of: 'ReturningClause' },
} as const

/** The statements that write, by the names of their nodes. */
const STATEMENTS = {
  UpdateStmt: { ...TARGET, targetList: 'nodes', fromClause: 'nodes', whereClause: 'node' },
  InsertStmt: {
    ...TARGET,
    cols: 'nodes',
    selectStmt: 'node',
    onConflictClause: { of: 'OnConflictClause' },
    override: ['OVERRIDING_NOT_SET'],
  },
  DeleteStmt: { ...TARGET, usingClause: 'nodes', whereClause: 'node' },
} as const satisfies Grammar

export type Writing = keyof typeof STATEMENTS

export const isWriting = (kind: string): kind is Writing => Object.hasOwn(STATEMENTS, kind)

/** The parts of statements that write, beside those of reads. */
const PARTS: Grammar = {
  ...GRAMMAR,
  ResTarget: { ...GRAMMAR['ResTarget'], indirection: 'nodes' },
  ReturningClause: { exprs: 'nodes' },
  OnConflictClause: {
    action: ['ONCONFLICT_NOTHING', 'ONCONFLICT_UPDATE'],
    infer: { of: 'InferClause' },
    targetList: 'nodes',
    whereClause: 'node',
    ...at,
  },
  InferClause: { indexElems: 'nodes', ...at },
  IndexElem: {
    name: 'string',
    ordering: ['SORTBY_DEFAULT'],
    nulls_ordering: ['SORTBY_NULLS_DEFAULT'],
  },
  MultiAssignRef: { source: 'node', colno: 'integer', ncolumns: 'integer' },
  SetToDefault: at,
}

/** The allow-list of a statement that writes. Writing is allowed at its top only. */
export const grammarOf = (kind: Writing): Grammar => ({ ...PARTS, [kind]: STATEMENTS[kind] })

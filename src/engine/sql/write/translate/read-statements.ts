import type { Node, SelectStmt } from '@pgsql/types'
import { advised } from '../../../../foundation/advised-requests.ts'
import { nextTurn, turnIsOver } from '../../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../../foundation/limits.ts'
import { GRAMMAR, type Grammar } from '../../guard/syntax/grammar.ts'
import { checkStructure } from '../../guard/syntax/node-allowlist.ts'
import { type Parser, parseAll } from '../../guard/syntax/parse-statement.ts'
import type { Source } from '../../guard/syntax/source-map.ts'
import { type Delete, translateDelete } from './delete.ts'
import { type Insert, translateInsert } from './insert.ts'
import { translateUpdate, type Update } from './update.ts'
import type { Translation } from './written-relation.ts'

type Read = { readonly operation: 'select'; readonly select: SelectStmt }

/** A statement, and the SELECT that reads for it. */
export type Translated = Read | Insert | Update | Delete

const OTHERS: Readonly<Record<string, string>> = {
  MergeStmt: 'Write INSERT … ON CONFLICT (id) DO UPDATE SET … in place of MERGE.',
  TransactionStmt: 'The statements of a request are one transaction already. Leave it out.',
  TruncateStmt: 'DELETE FROM removes the records of a type.',
  CreateStmt: `Record types are made with ${advised('put_record_type')}.`,
  AlterTableStmt: `Record types are changed with ${advised('put_record_type')}.`,
  RenameStmt: `Record types are changed with ${advised('put_record_type')}.`,
  IndexStmt: `Indexes are declared with ${advised('put_record_type')}.`,
  CreateTableAsStmt: 'Keep a result within the statement: WITH name AS (SELECT …).',
  CopyStmt: 'INSERT … SELECT … FROM jsonb_to_recordset(:rows) AS r (…) inserts many rows.',
}

/**
 * Parses the statements of a text.
 * @throws VALIDATION_ERROR for none or too many
 */
export function parseStatements(parser: Parser, source: Source): readonly Node[] {
  const statements = withoutTransaction(parseAll(parser, source))
  const most = LIMITS.sqlWriteStatements
  if (statements.length >= 1 && statements.length <= most) return statements
  throw source.fault(
    statements.length === 0 ? 'required' : 'too_many',
    `Send 1 to ${most} statements, separated by semicolons.`,
    undefined,
    { expected: most, received: statements.length },
  )
}

/** Leaves out a plain BEGIN at the start with its COMMIT at the end: the statements are one transaction. */
function withoutTransaction(statements: readonly Node[]): readonly Node[] {
  const begins = /^TRANS_STMT_(BEGIN|START)$/.test(transactionOf(statements[0]))
  return begins && transactionOf(statements.at(-1)) === 'TRANS_STMT_COMMIT'
    ? statements.slice(1, -1)
    : statements
}

const transactionOf = (node: Node | undefined): string =>
  node && 'TransactionStmt' in node && !node.TransactionStmt.options ? (node.TransactionStmt.kind ?? '') : ''

/**
 * Checks the structure of a statement, and translates it.
 * @throws VALIDATION_ERROR, FORBIDDEN
 */
export async function translate(translation: Translation, node: Node): Promise<Translated> {
  const { source } = translation
  const [[kind, statement] = ['', {}]] = Object.entries(node)
  if (kind === 'SelectStmt') return { operation: 'select', select: statement }
  if (!isWriting(kind)) {
    const advice = Object.hasOwn(OTHERS, kind) ? ` ${OTHERS[kind]}` : ''
    throw source.fault('unsupported', `A statement is INSERT, UPDATE, DELETE or SELECT.${advice}`)
  }
  checkStructure(statement, source, { kind, grammar: grammarOf(kind) })
  if (turnIsOver()) await nextTurn()
  if (kind === 'UpdateStmt') return translateUpdate(translation, statement)
  if (kind === 'InsertStmt') return translateInsert(translation, statement)
  return translateDelete(translation, statement)
}

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

type Writing = keyof typeof STATEMENTS

const isWriting = (kind: string): kind is Writing => Object.hasOwn(STATEMENTS, kind)

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
const grammarOf = (kind: Writing): Grammar => ({ ...PARTS, [kind]: STATEMENTS[kind] })

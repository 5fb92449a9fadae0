/**
 * Rewrites relations as subqueries of the columns and rows that the token may read. The tree gets a random
 * placeholder name for each relation, and the printed text gets the subqueries. A wide type is thus not
 * printed and parsed with every statement.
 */
import { randomBytes } from 'node:crypto'
import type { SelectStmt } from '@pgsql/types'
import { LRUCache } from 'lru-cache'
import { nextTurn, turnIsOver } from '../../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../../foundation/limits.ts'
import type { SqlColumn } from '../relations/columns.ts'
import { type GuardContext, replaceNode, tooManyColumns } from '../relations/context.ts'
import type { Read, Relation } from '../relations/relations.ts'
import { quoteName } from '../syntax/names.ts'
import type { Parser } from '../syntax/parse-statement.ts'

/** Another FROM clause for a relation, with the same columns; undefined for its own. */
export type SourceOf = (relation: Relation) => string | undefined

/** Inserts placeholders into the tree; the returned function replaces them in the printed text. */
export function nameRelations(
  context: GuardContext,
  parser: Parser,
): (text: string, sourceOf: SourceOf) => Promise<string> {
  const prefix = `r${randomBytes(16).toString('hex')}_`
  for (const [index, { node, range, relation }] of context.reads.entries()) {
    const alias = range.alias ?? { aliasname: range.relname ?? relation.name }
    const name = `${prefix}${index}`
    replaceNode(node, { RangeVar: { relname: name, inh: true, relpersistence: 'p', alias } })
  }
  const bodies = bodiesOf(context)
  return async (text, sourceOf) => {
    for (const { columns, relation } of bodies) await verify(parser, columns, relation.from)
    const [start = '', ...parts] = text.split(prefix)
    if (parts.length !== bodies.length)
      throw new Error('A relation has lost its place in the printed statement.')
    return start + parts.map((part) => fill(part, bodies, sourceOf)).join('')
  }
}

/** Replaces one placeholder: the text after the prefix starts with the number of the relation. */
function fill(part: string, bodies: readonly Body[], sourceOf: SourceOf): string {
  const number = /^\d+/.exec(part)?.[0] ?? ''
  const body = bodies[Number(number)]
  if (!body) throw new Error('A relation of the printed statement is unknown.')
  const { columns, relation } = body
  return `(${bodyText(columns, sourceOf(relation) ?? relation.from)})${part.slice(number.length)}`
}

type Body = { columns: readonly SqlColumn[]; relation: Relation }

/**
 * Builds the subqueries.
 * @throws VALIDATION_ERROR for too many columns
 */
function bodiesOf(context: GuardContext): Body[] {
  let count = 0
  return context.reads.map((read) => {
    const columns = wanted(context, read)
    count += columns.length
    if (count > LIMITS.sqlColumns) throw tooManyColumns(context)
    return { columns, relation: read.relation }
  })
}

const wanted = ({ mentioned }: GuardContext, { relation, everyColumn }: Read): readonly SqlColumn[] =>
  everyColumn ? relation.expressions : relation.expressions.filter(({ name }) => mentioned.has(name))

function bodyText(columns: readonly SqlColumn[], from: string): string {
  const list = columns.map(({ name, expression }) => `${expression} AS ${quoteName(name)}`)
  // A row without columns is valid, but a SELECT list with one is easier to read back.
  return `SELECT ${list.length > 0 ? list.join(', ') : 'NULL'} ${from}`
}

const verifiedColumns = new WeakSet<SqlColumn>()
const verifiedSources = new LRUCache<string, true>({ max: 200 })

/**
 * Parses the generated SQL, which contains names chosen by callers, once as a defense against quoting errors.
 */
async function verify(parser: Parser, columns: readonly SqlColumn[], from: string): Promise<void> {
  if (!verifiedSources.has(from)) {
    assertSelect(parser, [], from)
    verifiedSources.set(from, true)
  }
  const fresh = columns.filter((column) => !verifiedColumns.has(column))
  for (let at = 0; at < fresh.length; at += LIMITS.sqlColumnsAtOnce) {
    const some = fresh.slice(at, at + LIMITS.sqlColumnsAtOnce)
    if (turnIsOver()) await nextTurn()
    assertSelect(parser, some, from)
    for (const column of some) verifiedColumns.add(column)
  }
}

const PARTS = new Set(['targetList', 'fromClause', 'whereClause', 'limitOption', 'op'])

function assertSelect(parser: Parser, columns: readonly SqlColumn[], from: string): void {
  const [statement, another] = parser.parse(bodyText(columns, from))
  if (!another && statement && 'SelectStmt' in statement && isBody(statement.SelectStmt, columns)) return
  throw new Error('The text of a relation is not the SELECT that it should be.')
}

function isBody(select: SelectStmt, columns: readonly SqlColumn[]): boolean {
  const { targetList = [], fromClause: [relation, another] = [] } = select
  return (
    Object.keys(select).every((name) => PARTS.has(name)) &&
    targetList.length === Math.max(1, columns.length) &&
    columns.every((column, index) => nameOfTarget(targetList[index]) === column.name) &&
    relation !== undefined &&
    !another &&
    'RangeVar' in relation &&
    relation.RangeVar.schemaname === 'plinth_sql'
  )
}

const nameOfTarget = (target: NonNullable<SelectStmt['targetList']>[number] | undefined) =>
  target && 'ResTarget' in target ? target.ResTarget.name : undefined

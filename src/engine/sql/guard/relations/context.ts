import type { Node, SelectStmt } from '@pgsql/types'
import { LIMITS } from '../../../../foundation/limits.ts'
import type { Parameters } from '../parameters/parameters.ts'
import type { Source } from '../syntax/source-map.ts'
import type { Columns } from './column-list.ts'
import type { NameScope } from './name-scope.ts'
import type { Read, Relations } from './relations.ts'

/**
 * Shared state of name resolution for one statement. Its methods connect the resolvers of expressions
 * and SELECT.
 */
export type GuardContext = {
  readonly source: Source
  readonly relations: Relations
  readonly parameters: Parameters
  readonly reads: Read[]
  /** Numbers of the parameters that the request's statements use. */
  readonly used: Set<number>
  /** What the caller should know of the statement. */
  readonly advice: Set<string>
  /** Whether the statement compares the own status of a record with one that it can have. */
  knowsStatus: boolean
  /** All names used as columns; the generated relations include only these. */
  readonly mentioned: Set<string>
  /** Number of columns of relations that are read in full. */
  wholeColumns: number
  /** Number of generated subquery aliases. */
  unnamed: number
  /**
   * Resolves an expression recursively.
   * @throws VALIDATION_ERROR for a disallowed part
   */
  expression(node: Node, scope: NameScope): void
  expressions(nodes: readonly Node[] | undefined, scope: NameScope): void
  /**
   * Resolves a SELECT and returns its column names, which are also added to unnamed columns. `onLeftArm`
   * receives the columns of a set operation's first arm before the second is resolved.
   */
  select(statement: SelectStmt, scope: NameScope, onLeftArm?: (columns: Columns) => void): Columns
}

/**
 * Marks relations as read in full, by `*`, NATURAL or a whole-row reference.
 * @throws VALIDATION_ERROR for too many columns, since each is an expression to print and plan
 */
export function needEveryColumn(context: GuardContext, reads: readonly Read[]): void {
  for (const read of reads) {
    if (read.everyColumn) continue
    read.everyColumn = true
    context.wholeColumns += read.relation.columns.count
    if (context.wholeColumns > LIMITS.sqlColumns) throw tooManyColumns(context, read.range.location)
  }
}

export function tooManyColumns({ source }: GuardContext, location?: number) {
  const message = `A statement can read at most ${LIMITS.sqlColumns} columns over all its relations. Name the columns you need instead of whole rows and *, or join fewer relations.`
  return source.fault('too_many', message, location, { expected: LIMITS.sqlColumns })
}

/** The strings of a list of string nodes. */
export const wordsOf = (nodes: readonly Node[] | undefined): string[] =>
  (nodes ?? []).map((node) => ('String' in node ? (node.String.sval ?? '') : '*'))

/** Replaces a node in place, so that every reference sees the new one. */
export function replaceNode(node: Node, by: Node): void {
  for (const key of Object.keys(node)) Reflect.deleteProperty(node, key)
  Object.assign(node, by)
}

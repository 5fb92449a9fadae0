import type { Node, SelectStmt } from '@pgsql/types'
import { LIMITS } from '../../../../foundation/limits.ts'
import type { Parameters } from '../parameters/parameters.ts'
import type { Source } from '../syntax/source-map.ts'
import type { Columns } from './column-list.ts'
import type { Read, Relations } from './relations.ts'
import type { NameScope } from './scope.ts'

/** What the resolution of one statement knows and gathers; its parts call each other through it. */
export type GuardContext = {
  readonly source: Source
  readonly relations: Relations
  readonly parameters: Parameters
  readonly reads: Read[]
  /** Names that occur as columns anywhere: a relation needs to yield no others. */
  readonly mentioned: Set<string>
  /** Columns of the relations that are read whole. */
  wholeColumns: number
  /** How many subqueries without an alias were given one. */
  unnamed: number
  /** Resolves an expression and all within it. @throws VALIDATION_ERROR at what it may not hold */
  expression(node: Node, scope: NameScope): void
  expressions(nodes: readonly Node[] | undefined, scope: NameScope): void
  /**
   * Resolves a SELECT and answers the names of its columns, which are given to it where it had left them open.
   * `onLeftArm` hears those of a set operation's first arm before the second is looked at.
   */
  select(statement: SelectStmt, scope: NameScope, onLeftArm?: (columns: Columns) => void): Columns
}

/**
 * Notes that `*`, NATURAL, a whole row or the like needs every column of these relations.
 * @throws VALIDATION_ERROR when they have too many together: each is an expression that is written out and planned
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

/** The words of a list of string nodes. */
export const wordsOf = (nodes: readonly Node[] | undefined): string[] =>
  (nodes ?? []).map((node) => ('String' in node ? (node.String.sval ?? '') : '*'))

/** Puts another node in the place of this one, for every holder of it. */
export function replaceNode(node: Node, by: Node): void {
  for (const key of Object.keys(node)) Reflect.deleteProperty(node, key)
  Object.assign(node, by)
}

import type { Node, RangeVar, SelectStmt } from '@pgsql/types'
import type { Parameters } from './parameters.ts'
import type { Relation, Relations } from './relations.ts'
import type { Scope } from './scope.ts'
import type { Source } from './source.ts'

/** A place in FROM where a relation stands, to be replaced by the SELECT that reads it. */
type Read = { node: Node; range: RangeVar; relation: Relation }

/** What the resolution of one statement knows and gathers; its parts call each other through it. */
export type Context = {
  readonly source: Source
  readonly relations: Relations
  readonly parameters: Parameters
  readonly reads: Read[]
  /** Names that occur as columns anywhere: a relation needs to yield no others. */
  readonly mentioned: Set<string>
  /** Set by `*`, NATURAL and the like, which need every column. */
  everyColumn: boolean
  /** How many subqueries without an alias were given one. */
  unnamed: number
  /** Resolves an expression and all within it. @throws VALIDATION_ERROR at what it may not hold */
  expression(node: Node, scope: Scope): void
  expressions(nodes: readonly Node[] | undefined, scope: Scope): void
  /**
   * Resolves a SELECT and answers the names of its columns, which are given to it where it had left them open.
   * `onLeftArm` hears those of a set operation's first arm before the second is looked at.
   */
  select(
    statement: SelectStmt,
    scope: Scope,
    onLeftArm?: (columns: readonly string[]) => void,
  ): readonly string[]
}

/** The words of a list of string nodes. */
export const wordsOf = (nodes: readonly Node[] | undefined): string[] =>
  (nodes ?? []).map((node) => ('String' in node ? (node.String.sval ?? '') : '*'))

/** Puts another node in the place of this one, for every holder of it. */
export function replaceNode(node: Node, by: Node): void {
  for (const key of Object.keys(node)) Reflect.deleteProperty(node, key)
  Object.assign(node, by)
}

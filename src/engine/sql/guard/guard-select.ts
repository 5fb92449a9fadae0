import type { Node, SelectStmt } from '@pgsql/types'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import type { Parameters } from './parameters/parameters.ts'
import { type GuardContext, replaceNode, wordsOf } from './relations/context.ts'
import { OUTERMOST } from './relations/name-scope.ts'
import type { Relation, Relations } from './relations/relations.ts'
import { resolveExpression } from './resolve/expression.ts'
import { castParameters, type Slot } from './resolve/parameter-casts.ts'
import { collateRecursion } from './resolve/recursion.ts'
import { nameRelations } from './resolve/rewrite.ts'
import { resolveSelect } from './resolve/select.ts'
import { adviseStatus } from './resolve/status-comparison.ts'
import { checkStructure } from './syntax/node-allowlist.ts'
import type { Parser } from './syntax/parse-statement.ts'
import { print } from './syntax/print.ts'
import type { Source } from './syntax/source-map.ts'

/** What a SELECT is checked with. */
export type GuardOptions = {
  readonly parser: Parser
  readonly source: Source
  readonly parameters: Parameters
  readonly relations: Relations
  /** Collects the numbers of the parameters that the statement uses. */
  readonly used: Set<number>
  /** Whether `now()` is a value that the request binds, the same in all its statements. */
  readonly bindsNow?: boolean
}

/** Binds a value to a rendered statement; returns its `$n`. */
export type Bind = (value: string) => string

export type RenderOptions = {
  /** Another FROM clause for a relation, with the same columns; undefined for its own. */
  readonly sourceOf?: (relation: Relation, bind: Bind) => string | undefined
  /** The value of `now()`, where the request binds it. */
  readonly now?: string
}

/** A checked SELECT. `render` gives the text that is executed, and its bind values. */
export type Guarded = {
  readonly relations: readonly string[]
  readonly reads: readonly Relation[]
  /** The number of its columns. */
  readonly columns: number
  /** What the caller should know, such as a comparison that never holds. */
  readonly advice: readonly string[]
  render(options?: RenderOptions): Promise<Rendered>
}

/** The text that is executed, its bind values, and the parameters of the caller that the first of them are. */
export type Rendered = {
  readonly text: string
  readonly values: readonly (string | null)[]
  readonly slots: readonly Omit<Slot, 'value'>[]
}

/**
 * Checks that a SELECT only reads the given relations, and rewrites it with only the allowed constructs. The
 * tree is changed.
 * @throws VALIDATION_ERROR with details at `/query`, or at `/params/<index or name>`
 */
export async function guardSelect(statement: SelectStmt, options: GuardOptions): Promise<Guarded> {
  const { parser, source, parameters, relations, used } = options
  if (turnIsOver()) await nextTurn()
  const relationNames = checkStructure(statement, source)
  for (const name of relationNames) {
    if (turnIsOver()) await nextTurn()
    relations.find(name)
  }
  const context: GuardContext = {
    source,
    parameters,
    relations,
    reads: [],
    used,
    advice: new Set(),
    mentioned: new Set(),
    knowsStatus: false,
    wholeColumns: 0,
    unnamed: 0,
    expression: (node, scope) => resolveExpression(context, node, scope),
    expressions: (nodes, scope) => {
      for (const node of nodes ?? []) resolveExpression(context, node, scope)
    },
    select: (select, scope, onLeftArm) => resolveSelect(context, select, scope, onLeftArm),
  }
  if (turnIsOver()) await nextTurn()
  const { count: columns } = context.select(statement, OUTERMOST)
  if (turnIsOver()) await nextTurn()
  collateRecursion(context, statement)
  adviseStatus(context)
  const own = castParameters(context, statement)
  const usesNow = options.bindsNow === true && bindNow(statement, own.length + 1)
  const fillIn = nameRelations(context, parser)
  const printed = await print(parser, statement, source)
  const reads = [...new Set(context.reads.map(({ relation }) => relation))]
  return {
    relations: [...new Set(reads.map(({ name }) => name))],
    reads,
    columns,
    advice: [...context.advice],
    render: async ({ sourceOf, now } = {}) => {
      const values = own.map(({ value }) => value)
      if (usesNow) values.push(now ?? null)
      const bind: Bind = (value) => `$${values.push(value)}`
      const text = await fillIn(printed, (relation) => sourceOf?.(relation, bind))
      if (turnIsOver()) await nextTurn()
      return { text, values, slots: own }
    },
  }
}

const NOW = /^(now|(transaction|statement)_timestamp)$/

/**
 * Replaces the present time in a checked tree by a parameter, so that all statements of a request agree.
 * Returns whether the tree reads it.
 */
function bindNow(tree: object, number: number): boolean {
  let isUsed = false
  const visit = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return
    const time = timeOf(part as Node)
    if (time) {
      isUsed = true
      const now = cast({ ParamRef: { number } }, ['pg_catalog', 'timestamptz'])
      replaceNode(part as Node, time === 'day' ? cast(now, ['date']) : now)
    } else for (const child of Object.values(part)) visit(child)
  }
  visit(tree)
  return isUsed
}

function timeOf(node: Node): 'instant' | 'day' | undefined {
  if ('FuncCall' in node)
    return NOW.test(wordsOf(node.FuncCall?.funcname).at(-1) ?? '') ? 'instant' : undefined
  if (!('SQLValueFunction' in node)) return undefined
  const { op } = node.SQLValueFunction
  return op === 'SVFOP_CURRENT_TIMESTAMP' ? 'instant' : op === 'SVFOP_CURRENT_DATE' ? 'day' : undefined
}

const cast = (arg: Node, words: readonly string[]): Node => ({
  TypeCast: { arg, typeName: { names: words.map((sval) => ({ String: { sval } })), typemod: -1 } },
})

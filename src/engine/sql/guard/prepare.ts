/** SQL sandbox: parses a query, checks it against an allow-list, resolves its names and rewrites it. */
import { nextTurn, turnIsOver } from '../../../foundation/turns.ts'
import { readParameters } from './parameters/parameters.ts'
import type { Catalog } from './relations/catalog.ts'
import type { GuardContext } from './relations/context.ts'
import { relationsOf } from './relations/relations.ts'
import { OUTERMOST } from './relations/scope.ts'
import { resolveExpression } from './resolve/expression.ts'
import { castParameters } from './resolve/parameter-casts.ts'
import { collateRecursion } from './resolve/recursion.ts'
import { nameRelations } from './resolve/rewrite.ts'
import { resolveSelect } from './resolve/select.ts'
import { checkStructure } from './syntax/node-allowlist.ts'
import { loadParser, parseOne, readText } from './syntax/parse-statement.ts'
import { print } from './syntax/print.ts'

/** A checked and rewritten statement. */
export type Prepared = {
  /** The rewritten statement, the only text that is executed. Requires `standard_conforming_strings = on`. */
  text: string
  /** Bind values of `$1…$n`: texts and nulls. */
  values: readonly (string | null)[]
  /** Distinct names of the relations read. */
  relations: readonly string[]
  /** Fingerprint of the statement without constants. */
  fingerprint: string
}

/**
 * Checks that a statement only reads relations of the catalog, and rewrites it with only the allowed
 * constructs.
 * @throws VALIDATION_ERROR with details at `/query`, or at `/params/<index or name>`
 */
export async function prepareSql(query: unknown, params: unknown, catalog: Catalog): Promise<Prepared> {
  const text = readText(query)
  const parser = await loadParser()
  if (turnIsOver()) await nextTurn()
  const { source, parameters } = readParameters(parser, text, params)
  const statement = parseOne(parser, source)
  if (turnIsOver()) await nextTurn()
  const relationNames = checkStructure(statement, source)
  const relations = relationsOf(catalog)
  for (const name of relationNames) {
    if (turnIsOver()) await nextTurn()
    relations.find(name)
  }
  const context: GuardContext = {
    source,
    parameters,
    relations,
    reads: [],
    mentioned: new Set(),
    wholeColumns: 0,
    unnamed: 0,
    expression: (node, scope) => resolveExpression(context, node, scope),
    expressions: (nodes, scope) => {
      for (const node of nodes ?? []) resolveExpression(context, node, scope)
    },
    select: (select, scope, onLeftArm) => resolveSelect(context, select, scope, onLeftArm),
  }
  if (turnIsOver()) await nextTurn()
  context.select(statement, OUTERMOST)
  if (turnIsOver()) await nextTurn()
  collateRecursion(context, statement)
  const values = castParameters(context, statement)
  const fillIn = nameRelations(context, parser)
  const printed = await print(parser, statement, source)
  const rewritten = await fillIn(printed)
  if (turnIsOver()) await nextTurn()
  return {
    text: rewritten,
    values,
    relations: [...new Set(context.reads.map(({ relation }) => relation.name))],
    fingerprint: parser.fingerprint(source.parsed),
  }
}

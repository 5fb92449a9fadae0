import type { Catalog } from './catalog.ts'
import type { Context } from './context.ts'
import { resolveExpression } from './expression.ts'
import { castParameters } from './parameter-casts.ts'
import { readParameters } from './parameters.ts'
import { parseOne } from './parse.ts'
import { loadParser } from './parser.ts'
import { print } from './print.ts'
import { relationsOf } from './relations.ts'
import { replaceRelations } from './rewrite.ts'
import { OUTERMOST } from './scope.ts'
import { resolveSelect } from './select.ts'
import { checkStructure } from './structure.ts'
import { readText } from './text.ts'

/** A statement that has passed, as it is to be executed. */
export type Prepared = {
  /** The rewritten statement: the only text that is ever executed. It relies on `standard_conforming_strings = on`. */
  text: string
  /** Texts and nulls for `$1…$n`, in order. */
  values: readonly (string | null)[]
  /** The names of the relations read, each once. */
  relations: readonly string[]
  /** A name for the statement's shape with constants taken out. */
  fingerprint: string
}

/**
 * Holds a statement to a pure read of what the catalog lists, and rewrites it so that it can be nothing else.
 * @throws VALIDATION_ERROR with details at `/query`, or at `/params/<index or name>`
 */
export async function prepareSql(query: unknown, params: unknown, catalog: Catalog): Promise<Prepared> {
  const text = readText(query)
  const parser = await loadParser()
  const { source, parameters } = readParameters(parser, text, params)
  const statement = parseOne(parser, source)
  checkStructure(statement, source)
  const context: Context = {
    source,
    parameters,
    relations: relationsOf(catalog),
    reads: [],
    mentioned: new Set(),
    everyColumn: false,
    unnamed: 0,
    expression: (node, scope) => resolveExpression(context, node, scope),
    expressions: (nodes, scope) => {
      for (const node of nodes ?? []) resolveExpression(context, node, scope)
    },
    select: (select, scope, onLeftArm) => resolveSelect(context, select, scope, onLeftArm),
  }
  context.select(statement, OUTERMOST)
  const values = castParameters(context, statement)
  replaceRelations(context, parser)
  return {
    text: print(parser, statement, source),
    values,
    relations: [...new Set(context.reads.map(({ relation }) => relation.name))],
    fingerprint: parser.fingerprint(source.parsed),
  }
}

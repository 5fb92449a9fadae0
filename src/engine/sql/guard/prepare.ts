/** SQL sandbox: parses a query, checks it against an allow-list, resolves its names and rewrites it. */
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { conversionsOf, type FindConversions } from './conversions.ts'
import { guardSelect, type Rendered } from './guard-select.ts'
import { readParameters } from './parameters/parameters.ts'
import type { Catalog } from './relations/catalog.ts'
import { relationsOf } from './relations/relations.ts'
import { refuseUnused } from './resolve/parameter-casts.ts'
import { loadParser, parseOne, readText } from './syntax/parse-statement.ts'

/** A checked and rewritten statement. */
export type Prepared = Rendered & {
  /** Distinct names of the relations read. */
  relations: readonly string[]
  /** Fingerprint of the statement without constants. */
  fingerprint: string
  /** What the caller should know, such as a comparison that never holds. */
  advice: readonly string[]
  /** The parts of the caller's text that convert values. */
  conversions: FindConversions
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
  const used = new Set<number>()
  const how = { parser, source, parameters, relations: relationsOf(catalog), used }
  const guarded = await guardSelect(statement, how)
  refuseUnused(parameters, used)
  return {
    ...(await guarded.render()),
    relations: guarded.relations,
    advice: guarded.advice,
    fingerprint: parser.fingerprint(source.parsed),
    conversions: (unfit) => conversionsOf(parser, source, 0, unfit),
  }
}

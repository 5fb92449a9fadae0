import type { SelectStmt } from '@pgsql/types'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Access } from '../../storage/access/access.ts'
import { conversionsOf, type FindConversions } from '../guard/conversions.ts'
import { type Guarded, type GuardOptions, guardSelect } from '../guard/guard-select.ts'
import { readParameters } from '../guard/parameters/parameters.ts'
import type { Catalog } from '../guard/relations/catalog.ts'
import { type Relations, relationsOf } from '../guard/relations/relations.ts'
import { refuseUnused } from '../guard/resolve/parameter-casts.ts'
import { loadParser, readText } from '../guard/syntax/parse-statement.ts'
import { inStatement, inText } from './faults.ts'
import { type Insert, unevenRow } from './translate/insert.ts'
import { parseStatements, type Translated, translate } from './translate/read-statements.ts'
import type { Returning } from './translate/returning.ts'
import type { Update } from './translate/update.ts'
import type { Translation } from './translate/written-relation.ts'

/** A checked statement: what it reads, and its RETURNING. */
export type Checked = {
  readonly statement: Translated
  readonly read: Guarded
  readonly returning: { readonly of: Returning; readonly read: Guarded } | undefined
  /** The parts of the caller's text that convert values. */
  readonly conversions: FindConversions
  /** Translates the statement again, and guards another SELECT of it: one of fewer values or rows. */
  again(reshape: (statement: Insert | Update) => SelectStmt): Promise<Guarded>
}

export type CheckedText = {
  readonly statements: readonly Checked[]
  readonly fingerprint: string
  readonly relations: readonly string[]
}

const TEXT = {
  field: 'statements',
  what: 'one or more of INSERT, UPDATE, DELETE and SELECT',
  example: "UPDATE deal SET stage = 'won' WHERE id = 'd1' RETURNING id",
  mostBytes: LIMITS.sqlWriteTextBytes,
  mostWords: LIMITS.sqlWriteWords,
}

/**
 * Parses the statements, translates each to a SELECT, and guards all of these before any of them runs.
 * @throws VALIDATION_ERROR with details at `/statements`, `/statements/<n>` or `/params/<index or name>`; FORBIDDEN
 */
export async function prepareStatements(
  text: unknown,
  params: unknown,
  { catalog, access }: { catalog: Catalog; access: Access },
): Promise<CheckedText> {
  const { parser, source, parameters, nodes } = await inText(async () => {
    const read = readText(text, TEXT)
    const parser = await loadParser()
    if (turnIsOver()) await nextTurn()
    const { source, parameters } = readParameters(parser, read, params)
    if (turnIsOver()) await nextTurn()
    return { parser, source, parameters, nodes: parseStatements(parser, source) }
  })
  const relations = relationsOf(catalog)
  const used = new Set<number>()
  const options = { parser, source, parameters, relations, used, bindsNow: true }
  const translation = { source, relations, catalog, access, parameter: parameters.valueOf }
  const statements: Checked[] = []
  for (const [index, node] of nodes.entries()) {
    if (turnIsOver()) await nextTurn()
    statements.push(
      await inStatement(index, async () => ({
        ...(await check(await translate(translation, node), translation, options)),
        conversions: (unfit) => conversionsOf(parser, source, index, unfit),
        again: async (reshape) => {
          const fresh = parseStatements(parser, source)[index]
          const statement = fresh && (await translate(translation, fresh))
          if (statement?.operation !== 'update' && statement?.operation !== 'insert')
            throw new Error('Only statements with values are read in parts.')
          return guardSelect(reshape(statement), options)
        },
      })),
    )
  }
  refuseUnused(parameters, used)
  if (turnIsOver()) await nextTurn()
  return {
    statements,
    fingerprint: parser.fingerprint(source.parsed),
    relations: [...new Set(statements.flatMap(({ read }) => read.relations))],
  }
}

async function check(
  statement: Translated,
  translation: Translation,
  options: GuardOptions,
): Promise<Omit<Checked, 'conversions' | 'again'>> {
  if (statement.operation === 'insert') await checkArity(statement, translation, options)
  const read = await guardSelect(statement.select, options)
  const of = 'returning' in statement ? statement.returning : undefined
  if (!of) return { statement, read, returning: undefined }
  const relations = withRelation(options.relations, of)
  return { statement, read, returning: { of, read: await guardSelect(of.select, { ...options, relations }) } }
}

/** The rows of INSERT … SELECT have one value for each column: PostgreSQL would leave out further ones here. */
async function checkArity({ rows, columns }: Insert, translation: Translation, options: GuardOptions) {
  if (!rows) return
  const { columns: count } = await guardSelect(rows, options)
  if (count !== columns.length) throw unevenRow(translation, columns.length, count)
}

/** The relations, and the written rows of one statement under a name that no statement can know. */
const withRelation = (relations: Relations, { relation, relationName }: Returning): Relations => ({
  names: relations.names,
  find: (name) => (name === relationName ? relation : relations.find(name)),
})

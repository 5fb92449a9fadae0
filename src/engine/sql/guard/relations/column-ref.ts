import type { ColumnRef } from '@pgsql/types'
import { meantColumn, nearest } from '../../../../contract/suggest.ts'
import { LIMITS } from '../../../../foundation/limits.ts'
import { columnRenamedFrom } from './columns.ts'
import { type GuardContext, needEveryColumn, wordsOf } from './context.ts'
import { spell, suggest } from './find-relation.ts'
import { findAlias, hasColumn, type NameScope, visibleAliases, visibleColumns } from './name-scope.ts'

/**
 * Resolves a column reference. The match must be exact: PostgreSQL reads `t.name` as a call of function
 * `name` if `t` has no such column.
 * @throws VALIDATION_ERROR with the nearest column
 */
export function resolveColumn(
  context: GuardContext,
  { fields, location }: ColumnRef,
  scope: NameScope,
): void {
  const words = wordsOf(fields)
  const [first = '', second, more] = words
  if (more !== undefined) throw tooManyParts(context, words, location)
  if (second !== undefined) resolveQualified(context, first, second, scope, location)
  else if (first === '*') for (const { reads } of scope.items) needEveryColumn(context, reads)
  else if (hasColumn(scope, first)) context.mentioned.add(first)
  else resolveRow(context, first, scope, location)
}

/** A bare alias is a whole-row reference. */
function resolveRow(
  context: GuardContext,
  name: string,
  scope: NameScope,
  location: number | undefined,
): void {
  const found = findAlias(scope, name)
  if (!found) throw unknownColumn(context, name, visibleColumns(scope), location)
  needEveryColumn(context, found.reads)
}

function resolveQualified(
  context: GuardContext,
  alias: string,
  name: string,
  scope: NameScope,
  location: number | undefined,
): void {
  const found = findAlias(scope, alias)
  if (!found) {
    const aliases = visibleAliases(scope)
    const hint = suggest(alias, aliases) ?? nearest(alias, aliases)
    const isJson = hasColumn(scope, alias)
    const advice = isJson
      ? ` A value inside "${alias}" is read with ${alias}->>'${name}'.`
      : hint
        ? ` Did you mean ${spell(hint)}?`
        : ''
    throw context.source.fault(
      'unknown_relation',
      `Nothing in FROM is called "${alias.slice(0, 64)}".${advice}`,
      location,
      { allowed: aliases.slice(0, LIMITS.sqlColumnsAllowed), ...(hint && !isJson && { hint: spell(hint) }) },
    )
  }
  if (name === '*') needEveryColumn(context, found.reads)
  else if (found.columns.has(name)) context.mentioned.add(name)
  else throw unknownColumn(context, name, found.columns.list(), location, alias)
}

/** The present name of a renamed property, if its column is among those that are in scope. */
const renamedColumn = ({ reads }: GuardContext, name: string, columns: readonly string[]) =>
  reads
    .map(({ relation }) => columnRenamedFrom(relation.expressions, name))
    .find((column) => column !== undefined && columns.includes(column))

function unknownColumn(
  context: GuardContext,
  name: string,
  columns: readonly string[],
  location: number | undefined,
  alias?: string,
) {
  const renamed = renamedColumn(context, name, columns)
  const hint = renamed ?? suggest(name, columns) ?? meantColumn(name, columns) ?? nearest(name, columns)
  const isQuoted = location !== undefined && context.source.from(location).startsWith('"')
  const advice = [
    renamed ? ` It is called ${spell(renamed)} now.` : hint ? ` Did you mean ${spell(hint)}?` : '',
    hint === undefined && /._id$/.test(name)
      ? ' Links between records are rows of relationships: rel_type, source_id, target_id.'
      : '',
    isQuoted && !alias ? ` String literals need single quotes: '${name.slice(0, 64)}'.` : '',
  ].join('')
  return context.source.fault(
    'unknown_column',
    `There is no column "${(alias ? `${alias}.${name}` : name).slice(0, 130)}" here.${advice}`,
    location,
    { allowed: [...new Set(columns)].slice(0, LIMITS.sqlColumnsAllowed), ...(hint && { hint: spell(hint) }) },
  )
}

function tooManyParts(context: GuardContext, words: readonly string[], location: number | undefined) {
  const message = `"${words.join('.').slice(0, 130)}" has too many parts: write alias.column.`
  return context.source.fault('unknown_column', message, location)
}

import type { RangeVar } from '@pgsql/types'
import { isClose, nearest } from '../../../../contract/suggest.ts'
import { LIMITS } from '../../../../foundation/limits.ts'
import { own } from '../../../../foundation/own.ts'
import { quoteName } from '../syntax/names.ts'
import type { GuardContext } from './context.ts'
import { type NameScope, visibleCtes } from './name-scope.ts'
import type { Relation } from './relations.ts'

/**
 * Resolves a relation in FROM.
 * @throws VALIDATION_ERROR with the nearest name for an unknown relation
 */
export function findRelation(context: GuardContext, range: RangeVar, scope: NameScope): Relation {
  const { relations, source } = context
  const name = range.relname ?? ''
  const written = [range.catalogname, range.schemaname, name].filter(Boolean).join('.')
  const found = range.schemaname ? undefined : relations.find(name)
  if (found === 'ambiguous') {
    const message = `Several record types begin with these 63 bytes: read them through records with record_type = '…'.`
    throw source.fault('unknown_relation', message, range.location)
  }
  if (found) return found
  const names = [...relations.names, ...visibleCtes(scope)]
  const same = suggest(written, names) ?? (range.schemaname ? undefined : synonymOf(name, names))
  const near = range.schemaname ? undefined : nearest(name, names)
  const hint = same ?? near
  const otherwise = range.schemaname
    ? 'Write relations without a schema: records, or the id of a record type. SELECT id FROM record_types lists the types.'
    : UNKNOWN_NAME
  const isSure = hint !== undefined && (hint === same || isClose(name, hint))
  const advice = [...(hint ? [`Did you mean ${spell(hint)}?`] : []), ...(isSure ? [] : [otherwise])].join(' ')
  throw source.fault(
    'unknown_relation',
    `There is no relation "${written.slice(0, 130)}" that the token may read. ${advice}`,
    range.location,
    { allowed: names.slice(0, LIMITS.sqlRelationsAllowed), ...(hint && { hint: spell(hint) }) },
  )
}

/** Advice for a name that is like no other. */
export const UNKNOWN_NAME =
  "SELECT id FROM record_types lists the types. Links are rows of relationships: rel_type = 'works_at', source_id, target_id."

/** What other databases call a built-in relation. */
const SYNONYMS: Readonly<Record<string, string>> = {
  history: 'changes',
  audit: 'changes',
  audit_log: 'changes',
  change_log: 'changes',
  versions: 'changes',
  links: 'relationships',
  edges: 'relationships',
}
const synonymOf = (name: string, names: readonly string[]): string | undefined => {
  const meant = own(SYNONYMS, name)
  return meant !== undefined && names.includes(meant) ? meant : undefined
}

/** A name that differs only in case. */
export const suggest = (written: string, names: readonly string[]): string | undefined =>
  names.find((name) => name.toLowerCase() === written.toLowerCase())

/** Quotes a name if needed. */
export const spell = (name: string): string => (/^[a-z_][a-z0-9_$]*$/.test(name) ? name : quoteName(name))

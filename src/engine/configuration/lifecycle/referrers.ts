/** What refers to resources that are deleted: they stay while something does. */
import { productionOf } from '../../../contract/ids.ts'
import { DomainError } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Scope } from '../../core/scope.ts'
import { fieldsOf, viewOf } from './fields.ts'
import { type Kind, type Loaded, nounOf, type Stored } from './kind.ts'
import { rightsTo } from './read.ts'

/** Kind and id of what refers to a resource; null where the token may not see it. */
type Referrer = { readonly kind: Kind; readonly id: string } | null

/**
 * Finds what refers to the resources, by their ids. Kinds come after those that they refer to, so that a deletion of
 * both has deleted the referrers by then.
 */
export async function referrersOf(
  loaded: Loaded,
  kind: Kind,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly Referrer[]>> {
  const found = new Map<string, Referrer[]>()
  const { scope, baseId } = loaded
  const kinds = scope.kinds as readonly Kind[]
  const place = kinds.indexOf(kind)
  // A kind that can be referred to has a code for a reference to one that is absent.
  if (kind.codes.unknown === undefined || place < 0) return found
  const wanted = new Set(ids)
  for (const other of kinds.slice(place + 1)) {
    // What production cannot change has no say in what it deletes.
    if (!other.references || (other.isPreviewOnly && productionOf(baseId) === baseId)) continue
    for (const row of (await loaded.rows(other)).values()) {
      if (turnIsOver()) await nextTurn()
      const references = other.references(fieldsOf(other, row))
      const named = new Set(references.flatMap(({ kind: { name }, id }) => (name === kind.name ? id : [])))
      for (const id of named)
        if (wanted.has(id)) found.set(id, [...(found.get(id) ?? []), referrer(scope, other, row)])
    }
  }
  return found
}

function referrer(scope: Scope, kind: Kind, row: Stored): Referrer {
  const rights = rightsTo(kind)
  try {
    rights.read(scope, row.baseId, row.id)
    return rights.shown(scope, viewOf(kind, row)) && { kind, id: row.id }
  } catch (thrown) {
    if (thrown instanceof DomainError && thrown.code === 'FORBIDDEN') return null
    throw thrown
  }
}

/** CONFLICT with what refers to the resource, as far as the token may see it. */
export function inUse(
  kind: Kind,
  id: string,
  referrers: readonly Referrer[],
  takesConfirm: boolean,
): DomainError {
  const seen = referrers.filter((each) => each !== null)
  const shown = seen.slice(0, LIMITS.samples)
  const names = shown.map((each) => `${nounOf(each.kind)} "${each.id}"`)
  if (seen.length > shown.length) names.push(`${seen.length - shown.length} more`)
  if (seen.length < referrers.length) names.push('configuration that this token cannot read')
  const noun = nounOf(kind)
  const anyway = takesConfirm ? `, or send confirm=${id} to delete it all the same` : ''
  const message = `${noun.charAt(0).toUpperCase()}${noun.slice(1)} "${id}" is in use by ${names.join(', ')}. Change or delete that first${anyway}.`
  const samples = shown.map((each) => ({ [each.kind.name]: each.id }))
  return new DomainError('CONFLICT', message, {
    details: [
      { path: '/id', code: 'in_use', message, ...(samples.length > 0 && { count: seen.length, samples }) },
    ],
  })
}

/** Deletions in a transaction that has the configuration of the base locked, or in a trial. */

import { productionOf } from '../../../contract/ids.ts'
import { DomainError, oneFault } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Scope } from '../../core/scope.ts'
import { checkConfirm, checkVersion, type Expectation } from '../../core/write/preconditions.ts'
import { at, finish, type Located } from './change.ts'
import { fieldsOf, viewOf } from './fields.ts'
import { type DeleteOptions, type Kind, type Loaded, nounOf, type Stored } from './kind.ts'
import { missing, rightsTo } from './read.ts'

/** A resource to delete. */
export type Removal = Located & {
  readonly id: string
  readonly options: DeleteOptions & { readonly expected: Expectation }
}

/**
 * Deletes one resource and its dependents.
 * @throws NOT_FOUND; CONFLICT while other resources need it
 */
export async function removeOne<F extends object, R extends Stored>(
  loaded: Loaded,
  kind: Kind<F, R>,
  removal: Removal,
): Promise<{ id: string; deleted: boolean; version: number }> {
  const [row] = await removeAll(loaded, kind, [removal])
  if (!row) throw new Error('A deletion without a row')
  return { id: row.id, deleted: true, version: row.version }
}

/**
 * Deletes resources of one kind and their dependents. Those that are free are deleted together.
 * Returns the rows with the versions of their deletions.
 * @throws NOT_FOUND; CONFLICT while other resources need one
 */
export async function removeAll<F extends object, R extends Stored>(
  loaded: Loaded,
  kind: Kind<F, R>,
  removals: readonly Removal[],
): Promise<R[]> {
  const { scope, baseId } = loaded
  const ids = removals.map(({ id }) => id)
  const rows = await loaded.rows(kind, ids)
  const referrers = await referrersOf(loaded, kind as Kind, ids)
  const isMany = removals.length > 1 && !loaded.isTrial
  const free = isMany ? await kind.lockUnused?.(scope, baseId, [...rows.values()]) : undefined
  const gone: R[] = []
  for (const removal of removals) {
    if (turnIsOver()) await nextTurn()
    const { id, options } = removal
    const deletion = await at(removal, async () => {
      const current = rows.get(id)
      if (!current) throw await missing({ kind, scope, baseId, id })
      checkVersion(options.expected, current.version, `${nounOf(kind)} "${id}"`)
      const users = referrers.get(id)
      if (users && !options.leavesReferences)
        throw inUse(kind as Kind, id, users, options.leavesReferences === false)
      checkConfirm(options.confirm, id, `${nounOf(kind)} "${id}"`)
      if (!free?.has(id) && !loaded.isTrial) await kind.beforeDelete?.(scope, current, options)
      return { row: current, last: (await kind.lastVersion?.(scope, current)) ?? current.version }
    })
    if (deletion) gone.push({ ...deletion.row, version: deletion.last + 1 })
  }
  for (const id of ids) loaded.wrote(kind as Kind, id, null)
  if (loaded.isTrial) return gone
  await kind.table(scope.db).deleteMany({ where: { baseId, id: { in: ids } } })
  await finish(
    kind,
    scope,
    baseId,
    gone.map((row) => ({ row, operation: 'delete' })),
  )
  return gone
}

// What refers to resources that are deleted: they stay while something does.

/** Kind and id of what refers to a resource; null where the token may not see it. */
type Referrer = { readonly kind: Kind; readonly id: string } | null

/**
 * Finds what refers to the resources, by their ids. Kinds come after those that they refer to, so that a deletion of
 * both has deleted the referrers by then.
 */
async function referrersOf(
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
function inUse(kind: Kind, id: string, referrers: readonly Referrer[], takesConfirm: boolean): DomainError {
  const seen = referrers.filter((each) => each !== null)
  const shown = seen.slice(0, LIMITS.samples)
  const names = shown.map((each) => `${nounOf(each.kind)} "${each.id}"`)
  if (seen.length > shown.length) names.push(`${seen.length - shown.length} more`)
  if (seen.length < referrers.length) names.push('configuration that this token cannot read')
  const noun = nounOf(kind)
  const anyway = takesConfirm ? `, or send confirm=${id} to delete it all the same` : ''
  const message = `${noun.charAt(0).toUpperCase()}${noun.slice(1)} "${id}" is in use by ${names.join(', ')}. Change or delete that first${anyway}.`
  const samples = shown.map((each) => ({ [each.kind.name]: each.id }))
  return oneFault('CONFLICT', message, {
    path: '/id',
    code: 'in_use',
    ...(samples.length > 0 && { count: seen.length, samples }),
  })
}

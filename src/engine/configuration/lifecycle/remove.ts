/** Deletions in a transaction that has the configuration of the base locked, or in a trial. */
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { checkConfirm, checkVersion, type Expectation } from '../../core/write/preconditions.ts'
import { at, finish, type Located } from './change.ts'
import { type DeleteOptions, type Kind, type Loaded, nounOf, type Stored } from './kind.ts'
import { missing } from './read.ts'
import { inUse, referrersOf } from './referrers.ts'

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

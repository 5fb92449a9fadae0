/** Changes and deletions in a transaction that has the configuration of the base locked. */
import { invalid } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/turns.ts'
import { ACCOUNT, appendChanges } from '../../core/append-change.ts'
import { announce, type Topic } from '../../core/cache-notices.ts'
import { checkVersion, type Expectation } from '../../write/preconditions.ts'
import type { WriteScope } from '../../write/write.ts'
import { isSameDefinition } from './definition.ts'
import { fieldsOf, stateOf, viewOf } from './fields.ts'
import {
  type Checked,
  type DeleteOptions,
  type Kind,
  type Loaded,
  nounOf,
  type PutOptions,
  type Stored,
  type View,
} from './kind.ts'
import { missing } from './read.ts'
import { unknownReferences } from './references.ts'
import { keepSecrets, type Secrets } from './secrets.ts'
import { storeRows } from './store.ts'

/** The fields to store, given those that are; null when the resource must exist and does not. */
export type Changed<F extends object> = (before: F | null) => { input: object; next: F } | null

/** A resource to create or change. */
export type Change<F extends object> = {
  readonly id: string
  readonly options: PutOptions
  readonly changed: Changed<F>
  /** Rewrites a failure, to say which resource failed. */
  readonly located?: (thrown: unknown) => unknown
}

/**
 * Creates or changes one resource.
 * @throws VALIDATION_ERROR; NOT_FOUND; CONFLICT
 */
export async function changeOne<F extends object, R extends Stored>(
  loaded: Loaded,
  kind: Kind<F, R>,
  change: Change<F>,
): Promise<View<F>> {
  const { views, checkDependents } = await changeAll(loaded, kind, [change])
  await checkDependents()
  const [view] = views
  if (!view) throw new Error('A change without a result')
  return view
}

/**
 * Creates or changes resources of one kind: checks all, then writes all. `checkDependents` is for when all is
 * written. `made` has the new secrets of each resource that got some.
 * @throws VALIDATION_ERROR; NOT_FOUND; CONFLICT
 */
export async function changeAll<F extends object, R extends Stored>(
  loaded: Loaded,
  kind: Kind<F, R>,
  changes: readonly Change<F>[],
): Promise<{
  views: View<F>[]
  made: { id: string; secrets: Secrets }[]
  checkDependents: () => Promise<void>
}> {
  const { scope, baseId } = loaded
  await loaded.rows(
    kind,
    changes.map(({ id }) => id),
  )
  const decided: Decided<F, R>[] = []
  for (const change of changes) {
    if (turnIsOver()) await nextTurn()
    decided.push(await at(change, () => decide(loaded, kind, change)))
  }
  const due = decided.filter((each) => !each.isSame)
  const rows = (await storeRows(scope.db, kind as Kind, baseId, due)) as unknown as R[]
  const written = new Map<Decided<F, R>, R>()
  for (const [n, each] of due.entries()) {
    const row = rows[n]
    if (!row) continue
    const whole = (await each.checked.stored?.(row)) ?? row
    loaded.wrote(kind as Kind, each.id, whole)
    written.set(each, whole)
  }
  await finish(
    kind,
    scope,
    baseId,
    [...written].map(([{ current }, row]) => ({ row, operation: current ? 'update' : 'create' })),
  )
  return {
    views: decided.map((each): View<F> => {
      const { current, warnings } = each
      const row = written.get(each) ?? current
      if (!row) throw new Error('A resource that is the same as none')
      const operation = each.isSame ? 'unchanged' : current ? 'updated' : 'created'
      return { ...viewOf(kind, row), ...each.made, operation, warnings }
    }),
    made: decided.flatMap(({ id, made }) => (Object.keys(made).length > 0 ? [{ id, secrets: made }] : [])),
    checkDependents: async () => {
      for (const [each, row] of written) await at(each.change, async () => each.checked.dependents?.(row))
    },
  }
}

async function at<F extends object, T>({ located }: Change<F>, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    throw located ? located(thrown) : thrown
  }
}

type Decided<F extends object, R extends Stored> = {
  readonly id: string
  readonly change: Change<F>
  readonly current: R | null
  readonly checked: Checked<R>
  readonly isSame: boolean
  readonly columns: object
  /** New secrets, by field. */
  readonly made: Secrets
  readonly warnings: readonly string[]
}

/** Checks one change against what is stored, records included. */
async function decide<F extends object, R extends Stored>(
  loaded: Loaded,
  kind: Kind<F, R>,
  change: Change<F>,
): Promise<Decided<F, R>> {
  const { scope, baseId } = loaded
  const { id, options, changed } = change
  const current = (await loaded.rows(kind, [id])).get(id) ?? null
  const before = current && fieldsOf(kind, current)
  const meant = changed(before)
  if (!meant) throw await missing({ kind, scope, baseId, id })
  const { fields: next, made } = keepSecrets(scope, { kind, baseId, id }, meant.next, before)
  const unknown = await unknownReferences(kind, loaded, next)
  const edit = { baseId, id, current, before, ...meant, next, options }
  const checked = (await kind.check?.(loaded, edit)) ?? {}
  const [fault, ...more] = [...unknown, ...(checked.faults ?? [])]
  if (fault) throw invalid(fault, ...more)
  checkVersion(options.expected, current?.version, `${nounOf(kind)} "${id}"`)
  await checked.existing?.()
  const warnings = kind.warnings?.(before, next) ?? []
  const isSame = before !== null && !checked.isForced && isSameDefinition(next, before)
  const columns = isSame ? {} : { ...next, ...(await checked.columns?.()) }
  return { id, change, current, checked, isSame, columns, made, warnings }
}

/**
 * Deletes a resource and its dependents.
 * @throws NOT_FOUND; CONFLICT while other resources need it
 */
export async function removeIn<F extends object, R extends Stored>(
  loaded: Loaded,
  { kind, id }: { kind: Kind<F, R>; id: string },
  { expected, ...options }: DeleteOptions & { expected: Expectation },
): Promise<{ id: string; deleted: boolean; version: number }> {
  const { scope, baseId } = loaded
  const current = (await loaded.rows(kind, [id])).get(id)
  if (!current) throw await missing({ kind, scope, baseId, id })
  checkVersion(expected, current.version, `${nounOf(kind)} "${id}"`)
  await kind.beforeDelete?.(scope, current, options)
  await kind.table(scope.db).delete({ where: { baseId_id: { baseId, id } } as never })
  loaded.wrote(kind as Kind, id, null)
  const version = current.version + 1
  await finish(kind, scope, baseId, [{ row: { ...current, version }, operation: 'delete' }])
  return { id, deleted: true, version }
}

type Written<R> = { readonly row: R; readonly operation: 'create' | 'update' | 'delete' }

/** Logs the changes and invalidates the caches of all processes. */
export async function finish<F extends object, R extends Stored>(
  kind: Kind<F, R>,
  scope: WriteScope,
  baseId: string,
  written: readonly Written<R>[],
): Promise<void> {
  const [first] = written
  if (!first) return
  await kind.written?.(scope, first.row)
  const inAccount = kind.hasOwnLog && first.operation === 'delete'
  await appendChanges(
    scope,
    { baseId: inAccount ? ACCOUNT : baseId, kind: kind.name },
    written.map(({ row, operation }) => ({
      ...{ id: row.id, operation, version: row.version },
      state: stateOf(kind, row),
    })),
  )
  const topics = written.map(({ row }): Topic => kind.topic?.(row) ?? `${kind.name}:${baseId}/${row.id}`)
  await announce(scope.db, ...topics)
  scope.onCommit(() => {
    for (const topic of topics) scope.caches.forget(topic)
  })
}

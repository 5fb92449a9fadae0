/** Changes and deletions in a transaction that has the configuration of the base locked. */
import { invalid } from '../../../foundation/errors.ts'
import { ACCOUNT, appendChange } from '../../core/append-change.ts'
import { announce } from '../../core/cache-notices.ts'
import { checkVersion, type Expectation } from '../../write/preconditions.ts'
import type { WriteScope } from '../../write/write.ts'
import { isSameDefinition } from './definition.ts'
import { fieldsOf, stateOf, viewOf } from './fields.ts'
import {
  type DeleteOptions,
  type Kind,
  type Loaded,
  nounOf,
  type PutOptions,
  type Stored,
  type Target,
  type View,
} from './kind.ts'
import { lastVersion } from './past.ts'
import { missing } from './read.ts'
import { unknownReferences } from './references.ts'
import { keepSecrets } from './secrets.ts'

type Named<F extends object, R extends Stored> = Pick<Target<F, R>, 'kind' | 'id'>

/** The fields to store, given those that are; null when the resource must exist and does not. */
export type Changed<F extends object> = (before: F | null) => { input: object; next: F } | null

/**
 * Creates or changes a resource. With `later`, the check of its dependents is left to the caller, for when all
 * is written.
 * @throws VALIDATION_ERROR; NOT_FOUND; CONFLICT
 */
export async function changeIn<F extends object, R extends Stored>(
  loaded: Loaded,
  { kind, id }: Named<F, R>,
  options: PutOptions,
  changed: Changed<F>,
  later?: (() => Promise<void>)[],
): Promise<View<F>> {
  const { scope, baseId } = loaded
  const current = (await loaded.rows(kind, [id])).get(id) ?? null
  const before = current && fieldsOf(kind, current)
  const meant = changed(before)
  if (!meant) throw await missing({ kind, scope, baseId, id })
  const next = keepSecrets(kind, meant.next, before)
  const edit = { baseId, id, current, before, ...meant, next, options }
  const unknown = await unknownReferences(kind, loaded, next)
  const checked = (await kind.check?.(loaded, edit)) ?? {}
  const [fault, ...more] = [...unknown, ...(checked.faults ?? [])]
  if (fault) throw invalid(fault, ...more)
  checkVersion(options.expected, current?.version, `${nounOf(kind)} "${id}"`)
  await checked.existing?.()
  const warnings = kind.warnings?.(before, next) ?? []
  if (current && before && !checked.isForced && isSameDefinition(next, before))
    return { ...viewOf(kind, current), operation: 'unchanged', warnings }
  const row = await store(kind, scope, edit, { ...next, ...(await checked.columns?.()) })
  loaded.wrote(kind as Kind, id, row)
  const checkDependents = async () => checked.dependents?.(row)
  if (later) later.push(checkDependents)
  else await checkDependents()
  await finish(kind, scope, row, current ? 'update' : 'create')
  return { ...viewOf(kind, row), operation: current ? 'updated' : 'created', warnings }
}

type Row = { baseId: string; id: string; current: Stored | null }

async function store<F extends object, R extends Stored>(
  kind: Kind<F, R>,
  { db }: WriteScope,
  { baseId, id, current }: Row,
  columns: object,
): Promise<R> {
  const table = kind.table(db)
  if (!current) {
    // Versions continue after a deletion, so that an old ETag never matches a recreated resource.
    const version = (await lastVersion(db, kind as Kind, baseId, id)) + 1
    return table.create({ data: { baseId, id, version, ...columns } as never })
  }
  const data = { ...columns, version: { increment: 1 }, updatedAt: new Date() }
  return table.update({ where: { baseId_id: { baseId, id } } as never, data: data as never })
}

/**
 * Deletes a resource and its dependents.
 * @throws NOT_FOUND; CONFLICT while other resources need it
 */
export async function removeIn<F extends object, R extends Stored>(
  loaded: Loaded,
  { kind, id }: Named<F, R>,
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
  await finish(kind, scope, { ...current, version }, 'delete')
  return { id, deleted: true, version }
}

/** Logs the change and invalidates the caches of all processes. */
export async function finish<F extends object, R extends Stored>(
  kind: Kind<F, R>,
  scope: WriteScope,
  row: R,
  operation: 'create' | 'update' | 'delete',
): Promise<void> {
  await kind.written?.(scope, row)
  const { id, version } = row
  const baseId = operation === 'delete' && kind.hasOwnLog ? ACCOUNT : row.baseId
  await appendChange(scope, { baseId, kind: kind.name, id, operation, version, state: stateOf(kind, row) })
  const topic = kind.topic?.(row) ?? (`${kind.name}:${baseId}/${id}` as const)
  await announce(scope.db, topic)
  scope.onCommit(() => scope.caches.forget(topic))
}

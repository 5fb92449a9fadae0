/** Put, patch and delete of configuration, generic over its kinds. */
import { invalid } from '../../../foundation/errors.ts'
import { appendChange } from '../../core/append-change.ts'
import { announce } from '../../core/cache-notices.ts'
import { checkVersion, type Expectation } from '../../write/preconditions.ts'
import { runPlanned } from '../../write/run-planned.ts'
import type { WriteScope } from '../../write/write.ts'
import { isSameDefinition } from './definition.ts'
import { fieldsOf, readFields, stateOf, viewOf } from './fields.ts'
import { type Kind, nounOf, type PutOptions, type Stored, type Target, type View } from './kind.ts'
import { loadedIn } from './load.ts'
import { lockConfiguration } from './lock.ts'
import { lastVersion } from './past.ts'
import { type Patch, readPatch } from './patch.ts'
import { missing, requireManage } from './read.ts'
import { unknownReferences } from './references.ts'

type Writing<F extends object, R extends Stored> = Target<F, R, WriteScope>

/**
 * Creates or replaces the resource. Omitted fields get their defaults.
 * @throws CONFLICT; VALIDATION_ERROR
 */
export async function put<F extends object, R extends Stored>(
  target: Writing<F, R>,
  input: object,
  options: PutOptions,
): Promise<View<F>> {
  requireManage(target)
  // Validate before taking the lock, so that malformed requests do not wait.
  const next = readFields(target, input, null)
  return change(target, options, () => ({ input, next }))
}

/**
 * Changes the stored resource: replaces the sent fields, or applies a merge patch or JSON Patch.
 * @throws as put; NOT_FOUND
 */
export async function patch<F extends object, R extends Stored>(
  target: Writing<F, R>,
  patch: Patch,
  options: PutOptions,
): Promise<View<F>> {
  requireManage(target)
  const changesOf = readPatch(target.kind, patch)
  return change(target, options, (before) => {
    if (!before) return null
    const input = changesOf(before)
    return { input, next: readFields(target, input, before) }
  })
}

async function change<F extends object, R extends Stored>(
  { kind, scope, baseId, id }: Writing<F, R>,
  options: PutOptions,
  changed: (before: F | null) => { input: object; next: F } | null,
): Promise<View<F>> {
  return scope.db.transaction(async (tx) => {
    const within: WriteScope = { ...scope, db: tx }
    await lockConfiguration(within, baseId)
    const loaded = loadedIn(within, baseId)
    const current = (await loaded.rows(kind, [id])).get(id) ?? null
    const before = current && fieldsOf(kind, current)
    const meant = changed(before)
    if (!meant) throw await missing({ kind, scope: within, baseId, id })
    const { next } = meant
    const edit = { baseId, id, current, before, ...meant, options }
    const unknown = await unknownReferences(kind, loaded, next)
    const checked = (await kind.check?.(loaded, edit)) ?? {}
    const [fault, ...more] = [...unknown, ...(checked.faults ?? [])]
    if (fault) throw invalid(fault, ...more)
    checkVersion(options.expected, current?.version, `${nounOf(kind)} "${id}"`)
    await checked.existing?.()
    const warnings = kind.warnings?.(before, next) ?? []
    if (current && before && !checked.isForced && isSameDefinition(next, before))
      return { ...viewOf(kind, current), operation: 'unchanged', warnings }
    const row = await store(kind, within, edit, { ...next, ...(await checked.columns?.()) })
    loaded.wrote(kind as Kind, id, row)
    await checked.dependents?.(row)
    await finish(kind, within, row, current ? 'update' : 'create')
    return { ...viewOf(kind, row), operation: current ? 'updated' : 'created', warnings }
  })
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
 * Deletes the resource and its dependents.
 * @throws NOT_FOUND; CONFLICT while other resources need it
 */
export async function remove<F extends object, R extends Stored>(
  target: Writing<F, R>,
  { confirm = null, expected }: { confirm?: string | null; expected: Expectation },
): Promise<{ id: string; deleted: boolean; version: number }> {
  requireManage(target)
  const { kind, scope, baseId, id } = target
  return runPlanned(scope, async (within, checkPlan) => {
    await lockConfiguration(within, baseId)
    const current = (await loadedIn(within, baseId).rows(kind, [id])).get(id)
    if (!current) throw await missing({ ...target, scope: within })
    checkVersion(expected, current.version, `${nounOf(kind)} "${id}"`)
    await kind.beforeDelete?.(within, current, { confirm, checkPlan })
    await kind.table(within.db).delete({ where: { baseId_id: { baseId, id } } as never })
    const version = current.version + 1
    await finish(kind, within, { ...current, version }, 'delete')
    return { id, deleted: true, version }
  })
}

/** Logs the change and invalidates the caches of all processes. */
async function finish<F extends object, R extends Stored>(
  kind: Kind<F, R>,
  scope: WriteScope,
  row: R,
  operation: 'create' | 'update' | 'delete',
): Promise<void> {
  await kind.written?.(scope, row)
  const { baseId, id, version } = row
  await appendChange(scope, { baseId, kind: kind.name, id, operation, version, state: stateOf(kind, row) })
  const topic = `${kind.name}:${baseId}/${id}` as const
  await announce(scope.db, topic)
  scope.onCommit(() => scope.caches.forget(topic))
}

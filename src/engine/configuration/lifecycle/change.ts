/** Changes in a transaction that has the configuration of the base locked. */
import { DomainError, invalid } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { ACCOUNT, appendChanges } from '../../core/append-change.ts'
import { announce, type Topic } from '../../core/cache-notices.ts'
import type { TypeEdit } from '../../core/scope.ts'
import { checkVersion } from '../../core/write/preconditions.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { isSameDefinition } from './definition.ts'
import { fieldsOf, stateOf, viewOf } from './fields.ts'
import {
  type Checked,
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
import { storeRows, trialRow } from './store.ts'

/** The fields to store, given those that are; null when the resource must exist and does not. */
type Meant<F extends object> = { input: object; next: F } | null
export type Changed<F extends object> = (before: F | null) => Meant<F> | Promise<Meant<F>>

/** A resource to create or change. */
export type Change<F extends object> = Located & {
  readonly id: string
  readonly options: PutOptions
  readonly changed: Changed<F>
}

/**
 * `located` rewrites a failure, to say which resource failed. `onFault` receives faults instead of the caller, and the other
 * resources go on, so that a dry run finds all faults.
 */
export type Located = {
  readonly located?: (thrown: unknown) => unknown
  readonly onFault?: (fault: DomainError) => void
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
  const { views, edits, checkDependents } = await changeAll(loaded, kind, [change])
  await checkDependents()
  const [view] = views
  if (!view) throw new Error('A change without a result')
  const { scope, baseId } = loaded
  const breaks = await scope.breakingChanges(scope, baseId, edits)
  return { ...view, warnings: [...(view.warnings ?? []), ...breaks] }
}

/**
 * Creates or changes resources of one kind: checks all, then writes all. `checkDependents` is for when all is
 * written. `made` has the new secrets of each resource that got some, `edits` what was changed.
 * @throws VALIDATION_ERROR; NOT_FOUND; CONFLICT
 */
export async function changeAll<F extends object, R extends Stored>(
  loaded: Loaded,
  kind: Kind<F, R>,
  changes: readonly Change<F>[],
): Promise<{
  views: View<F>[]
  made: { id: string; secrets: Secrets }[]
  edits: TypeEdit[]
  checkDependents: () => Promise<void>
}> {
  const { scope, baseId } = loaded
  const { decided, faulty } = await decideAll(loaded, kind, changes)
  if (!loaded.isTrial) await checkExisting(loaded, kind, decided)
  const due = decided.filter((each) => !each.isSame)
  const rows = loaded.isTrial ? trialRows(kind, baseId, due) : await store(kind, scope, baseId, due)
  // A resource that refers to a faulty one is not faulty for that.
  for (const { change, current, next } of faulty)
    loaded.wrote(
      kind as Kind,
      change.id,
      trialRow(baseId, { id: change.id, current, columns: { ...next, ...formerParts(kind, current) } }),
    )
  const written = new Map<Decided<F, R>, R>()
  for (const [n, each] of due.entries()) {
    const row = rows[n]
    if (!row) continue
    loaded.wrote(kind as Kind, each.id, row)
    written.set(each, row)
  }
  for (const { id, made } of due)
    for (const secret of Object.values(made)) scope.onSecret?.(kind.name, id, secret)
  if (!loaded.isTrial)
    await finish(
      kind,
      scope,
      baseId,
      [...written].map(([{ current, checked }, row]) => ({
        ...{ row, operation: current ? 'update' : 'create', logged: checked.logged },
      })),
    )
  return {
    views: decided.map((each): View<F> => {
      const { current, warnings } = each
      const row = written.get(each) ?? current
      if (!row) throw new Error('A resource that is the same as none')
      const operation = each.isSame ? 'unchanged' : current ? 'updated' : 'created'
      const { warnings: more = [], ...effect } = each.checked.effect?.() ?? {}
      return { ...viewOf(kind, row), ...each.made, operation, ...effect, warnings: [...more, ...warnings] }
    }),
    edits: due.map(({ id, before, next }) => ({ kind: kind.name, id, before, next })),
    made: decided.flatMap(({ id, made }) => (Object.keys(made).length > 0 ? [{ id, secrets: made }] : [])),
    checkDependents: async () => {
      for (const { change, checked } of decided) await at(change, async () => checked.dependents?.())
    },
  }
}

/** Reads and checks the changes. In a dry run, those with faults are `faulty`. */
async function decideAll<F extends object, R extends Stored>(
  loaded: Loaded,
  kind: Kind<F, R>,
  changes: readonly Change<F>[],
): Promise<{ decided: Decided<F, R>[]; faulty: Requested<F, R>[] }> {
  await loaded.rows(
    kind,
    changes.map(({ id }) => id),
  )
  const requested: Requested<F, R>[] = []
  for (const change of changes) {
    if (turnIsOver()) await nextTurn()
    const read = await at(change, () => readChange(loaded, kind, change))
    if (read) requested.push(read)
  }
  await kind.preload?.(
    loaded,
    requested.map(({ next }) => next),
  )
  const decided: Decided<F, R>[] = []
  const faulty: Requested<F, R>[] = []
  for (const each of requested) {
    if (turnIsOver()) await nextTurn()
    const done = await at(each.change, () => decide(loaded, kind, each))
    if (done) decided.push(done)
    else faulty.push(each)
  }
  return { decided, faulty }
}

/** Runs a step of a change, and says which resource failed. Null for a fault that `onFault` has received. */
export async function at<T>({ located, onFault }: Located, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (thrown) {
    const fault = located ? located(thrown) : thrown
    if (!onFault || !(fault instanceof DomainError)) throw fault
    onFault(fault)
    return null
  }
}

async function store<F extends object, R extends Stored>(
  kind: Kind<F, R>,
  scope: WriteScope,
  baseId: string,
  due: readonly Decided<F, R>[],
): Promise<R[]> {
  const bare = (await storeRows(scope.db, kind as Kind, baseId, due)) as unknown as R[]
  return withParts(kind, scope, baseId, due, bare)
}

const trialRows = <F extends object, R extends Stored>(
  kind: Kind<F, R>,
  baseId: string,
  due: readonly Decided<F, R>[],
): R[] =>
  due.map((each) => {
    const row = trialRow(baseId, each) as unknown as R
    const { parts } = each.checked
    return parts && kind.withParts ? kind.withParts(row, each.current, parts) : row
  })

const formerParts = <F extends object, R extends Stored>({ parts = [] }: Kind<F, R>, current: R | null) =>
  Object.fromEntries(parts.map((name) => [name, current?.[name as keyof R] ?? []]))

async function withParts<F extends object, R extends Stored>(
  kind: Kind<F, R>,
  scope: WriteScope,
  baseId: string,
  due: readonly Decided<F, R>[],
  rows: R[],
): Promise<R[]> {
  const stored = due.flatMap(({ current, checked: { parts } }, n) => {
    const row = rows[n]
    return row && parts ? [{ row, current, parts }] : []
  })
  return stored.length === rows.length && kind.storeParts ? kind.storeParts(scope, baseId, stored) : rows
}

type Decided<F extends object, R extends Stored> = {
  readonly id: string
  readonly change: Change<F>
  readonly current: R | null
  readonly before: F | null
  readonly next: F
  readonly checked: Checked
  readonly isSame: boolean
  readonly columns: object
  /** New secrets, by field. */
  readonly made: Secrets
  readonly warnings: readonly string[]
}

type Requested<F extends object, R extends Stored> = {
  readonly change: Change<F>
  readonly current: R | null
  readonly before: F | null
  readonly input: object
  readonly next: F
  readonly made: Secrets
}

/** Finds what is stored, and the fields to store. */
async function readChange<F extends object, R extends Stored>(
  loaded: Loaded,
  kind: Kind<F, R>,
  change: Change<F>,
): Promise<Requested<F, R>> {
  const { scope, baseId } = loaded
  const { id, changed } = change
  const current = (await loaded.rows(kind, [id])).get(id) ?? null
  const before = current && fieldsOf(kind, current)
  const meant = await changed(before)
  if (!meant) throw await missing({ kind, scope, baseId, id })
  const { fields: next, made } = keepSecrets(scope, { kind, baseId, id }, meant.next, before)
  return { change, current, before, input: meant.input, next, made }
}

/** Checks one change against the configuration that is stored. */
async function decide<F extends object, R extends Stored>(
  loaded: Loaded,
  kind: Kind<F, R>,
  meant: Requested<F, R>,
): Promise<Decided<F, R>> {
  const { change, current, before, next, made } = meant
  const { id, options } = change
  const unknown = options.leavesReferences ? [] : await unknownReferences(kind, loaded, next)
  const edit = { baseId: loaded.baseId, id, current, before, input: meant.input, next, options }
  const checked = (await kind.check?.(loaded, edit)) ?? {}
  const [fault, ...more] = [...unknown, ...(checked.faults ?? [])]
  if (fault) throw invalid(fault, ...more)
  checkVersion(options.expected, current?.version, `${nounOf(kind)} "${id}"`)
  const warnings = kind.warnings?.(before, next, options) ?? []
  const isSame = before !== null && !checked.isForced && isSameDefinition(next, before)
  const columns = isSame ? {} : { ...next, ...(await checked.columns?.()) }
  return { id, change, current, before, next, checked, isSame, columns, made, warnings }
}

/** Checks records and links against changes that have passed all else. Writers of them wait from here on. */
async function checkExisting<F extends object, R extends Stored>(
  { scope, baseId }: Loaded,
  kind: Kind<F, R>,
  decided: readonly Decided<F, R>[],
): Promise<void> {
  const toLock = decided.flatMap(({ checked }) => checked.toLock ?? [])
  const locked = toLock.length > 0 ? await kind.lockData?.(scope, baseId, toLock) : undefined
  for (const { id, change, checked } of decided)
    await at(change, async () => {
      const fault = locked?.faults.get(id)
      if (fault) throw fault
      await checked.existing?.(locked?.settled.has(id) ?? false)
    })
}

type Written<R> = {
  readonly row: R
  readonly operation: 'create' | 'update' | 'delete'
  readonly logged?: object | undefined
}

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
    written.map(({ row, operation, logged }) => ({
      ...{ baseId: inAccount ? ACCOUNT : baseId, kind: kind.name },
      ...{ id: row.id, operation, version: row.version },
      state: { ...stateOf(kind, row), ...logged },
    })),
  )
  const topics = written.map(({ row }): Topic => kind.topic?.(row) ?? `${kind.name}:${baseId}/${row.id}`)
  await announce(scope.db, ...topics)
  scope.onCommit(() => {
    for (const topic of topics) scope.caches.forget(topic)
  })
}

/** Applies differences between configurations, or tries them in a dry run. */
import { camelFields } from '../../contract/field-names.ts'
import type { DomainError } from '../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { KINDS } from '../configuration/kinds.ts'
import { type Change, changeAll } from '../configuration/lifecycle/change.ts'
import type { Definition } from '../configuration/lifecycle/definition.ts'
import { openIdentityMap } from '../configuration/lifecycle/identity-map.ts'
import type { DataCheck, Found, Kind, PutOptions } from '../configuration/lifecycle/kind.ts'
import { type Removal, removeAll } from '../configuration/lifecycle/remove.ts'
import type { Scope } from '../core/scope.ts'
import { NO_EXPECTATION } from '../core/write/preconditions.ts'
import type { WriteScope } from '../core/write/write.ts'
import { type Edit, nextOf } from './edits.ts'

/** An edit whose fields are read and checked, ready to be applied. */
export type Prepared<E extends Edit> = {
  readonly edit: E
  readonly input: object
  /** Null for a deletion. */
  readonly next: object | null
  readonly options: PutOptions
}

type PrepareOptions<E extends Edit> = {
  /** Rewrites a failure, to say which edit failed. */
  located: (thrown: unknown, edit: E) => unknown
  /** What the log says of the origin of a resource, beyond its definition. */
  originOf?: (edit: E) => object
  /** How existing records are treated. */
  optionsOf?: (edit: E) => Partial<PutOptions>
}

/**
 * Reads the fields of edits. With `against`, checks the data of a base against them while others write, so that
 * little is left to check under the lock.
 * @throws as a PUT of one of the resources
 */
export async function prepareEdits<E extends Edit>(
  edits: readonly E[],
  { located, originOf, optionsOf }: PrepareOptions<E>,
  against?: { scope: Scope; baseId: string },
): Promise<Prepared<E>[]> {
  const prepared: Prepared<E>[] = []
  for (const edit of edits) {
    if (turnIsOver()) await nextTurn()
    const options: PutOptions = { expected: NO_EXPECTATION, ...optionsOf?.(edit) }
    try {
      const next = nextOf(edit)
      const input = next ? { ...camelFields(edit.after ?? {}), ...originOf?.(edit) } : {}
      prepared.push({ edit, input, next, options })
    } catch (thrown) {
      throw located(thrown, edit)
    }
  }
  if (!against) return prepared
  const due = prepared.filter(({ next, options }) => next && options.onInvalid === undefined)
  const data = await checkData(against.scope, against.baseId, due)
  return prepared.map((each) => {
    const { found, fault } = data.get(each.edit) ?? {}
    if (fault) throw located(fault, each.edit)
    return { ...each, options: { ...each.options, found } }
  })
}

/** How many records migrations rewrite, by record type. */
export type RecordsRewritten = Readonly<Record<string, number>>

/** A secret that was made for a new resource. */
export type NewSecret = { readonly kind: string; readonly id: string; readonly secret: string }

type ApplyOptions<E extends Edit> = Pick<PrepareOptions<E>, 'located'> & {
  /** Whether types are deleted with all of their records. */
  readonly isForced: boolean
  /** Receives each fault of a dry run, which stores nothing, takes no lock and does not check the data of the base. */
  readonly onFault?: (fault: DomainError, edit: E) => void
}

/**
 * Applies edits in a transaction that has the configuration of the base locked. With `onFault`, it is a dry run. Resources that
 * others refer to are written first and deleted last; what depends on others is checked when all is written. Returns the secrets
 * that it made, and how many records of each type migrations rewrote.
 * @throws as a PUT or DELETE of one of the resources
 */
export async function applyEdits<E extends Edit>(
  scope: WriteScope,
  baseId: string,
  prepared: readonly Prepared<E>[],
  { isForced, located, onFault }: ApplyOptions<E>,
): Promise<{ secrets: readonly NewSecret[]; recordsRewritten: RecordsRewritten }> {
  const loaded = openIdentityMap(scope, baseId, onFault !== undefined)
  const checks: (() => Promise<void>)[] = []
  const secrets: NewSecret[] = []
  const recordsRewritten: [id: string, records: number][] = []
  const reporting = (edit: E) => onFault && { onFault: (fault: DomainError) => onFault(fault, edit) }
  for (const kind of KINDS) {
    const changes = prepared.flatMap(({ edit, input, next, options }): Change<object>[] => {
      if (edit.kind !== kind || next === null) return []
      const changed = () => ({ input, next })
      return [
        { id: edit.id, options, changed, located: (thrown) => located(thrown, edit), ...reporting(edit) },
      ]
    })
    if (changes.length === 0) continue
    const done = await changeAll(loaded, kind, changes)
    checks.push(done.checkDependents)
    for (const { id, recordsRewritten: records } of done.views)
      if (records !== undefined) recordsRewritten.push([id, records])
    for (const { id, secrets: made } of done.made)
      for (const secret of Object.values(made)) secrets.push({ kind: kind.name, id, secret })
  }
  for (const kind of [...KINDS].reverse()) {
    const gone = prepared.flatMap(({ edit }) => (edit.kind === kind && edit.after === null ? [edit] : []))
    const removals = gone.reverse().map(
      (edit): Removal => ({
        id: edit.id,
        options: { confirm: isForced ? edit.id : null, checkPlan: () => {}, expected: NO_EXPECTATION },
        located: (thrown) => located(thrown, edit),
        ...reporting(edit),
      }),
    )
    if (removals.length > 0) await removeAll(loaded, kind, removals)
  }
  for (const check of checks) await check()
  return { secrets, recordsRewritten: Object.fromEntries(recordsRewritten) }
}

// Checks what a base holds against edits of its configuration, all edits of a kind together.

/** An edit as far as it is checked. */
type CheckedEdit = { readonly kind: Kind; readonly id: string; readonly before: Definition | null }

/** An edit with its fields as they are stored; null for a deletion. */
type Checkable<E extends CheckedEdit> = {
  readonly edit: E
  readonly next: object | null
  /** Steps that would migrate the records first. */
  readonly migration?: unknown
}

/** Checks the data of a base against edits, without locks that writers wait for. */
export async function checkData<E extends CheckedEdit>(
  scope: Scope,
  baseId: string,
  edits: readonly Checkable<E>[],
): Promise<ReadonlyMap<E, Found>> {
  const found = new Map<E, Found>()
  for (const kind of KINDS) {
    const own = edits.filter(({ edit }) => edit.kind === kind && edit.before !== null)
    if (own.length === 0 || !kind.checkData) continue
    const checks = own.map(({ edit: { id, before }, next, migration }): DataCheck<object> => {
      const fields = { ...kind.defaults(id), ...camelFields(before ?? {}) }
      return { id, before: fields, next, migration }
    })
    const answers = await kind.checkData(scope, baseId, checks)
    for (const [n, { edit }] of own.entries()) found.set(edit, answers[n] ?? {})
  }
  return found
}
